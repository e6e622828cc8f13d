// The steps of the laboratory: a column for each token that is written, with what could have been.
//
// The build has written those of one problem; they are filled anew for others, and more are copied.
(function (Article) {
  "use strict";

  /**
   * @typedef {object} Step
   * @property {number} position of the last token that was read
   * @property {string[]} read all tokens that were
   * @property {ArrayLike<number>} probs of the next token [d_vocab]
   * @property {number | null} written id of the token that follows
   * @property {boolean} canChoose whether another can follow
   * @property {((id: number) => string) | null} cell address of a probability's cell, if it has one
   */

  const TOP_DECIMALS = 4;
  /** Milliseconds from one token that comes out to the next. */
  const BEAT = 450;

  /** @type {HTMLElement} */
  let list;
  /** @type {string[]} tokens as readers see them, by id */
  let labels;
  /** @type {Map<HTMLElement, Step>} steps whose folded table is not up to date */
  const folded = new Map();

  /**
   * @param {HTMLElement} element
   * @param {{labels: string[], choose: (position: number, id: number) => void}} options `choose` is
   *   called when the reader wants a token to follow a position
   */
  function mount(element, { labels: given, choose }) {
    [list, labels] = [element, given];
    Article.matrix.watchOverflow(/** @type {HTMLElement} */ (list.parentElement));
    list.addEventListener("click", (event) => {
      const button = /** @type {Element} */ (event.target).closest("button.laboratory-choose");
      if (!button) return;
      const { position } = /** @type {HTMLElement} */ (button.closest(".laboratory-step")).dataset;
      choose(Number(position), Number(/** @type {HTMLElement} */ (button).dataset.token));
      if (event.detail === 0) focusAfter(Number(position)); // by a key
    });
    for (const [type, target] of [["toggle", list], ["beforeprint", window]]) target.addEventListener(type, unfold, true);
    Article.state.subscribe((_, change) => "cell" in change && mark());
  }

  /** Go on with the keyboard where the next token is to be chosen. */
  function focusAfter(position) {
    const next = list.querySelector(`[data-position="${position + 1}"] .laboratory-top button`);
    /** @type {HTMLElement | null} */ (next)?.focus();
  }

  /** @returns {(position: number) => number[]} the probabilities that the build wrote into the page */
  function probsOfPage() {
    const found = [...list.children].map((step) => [...step.querySelectorAll("td [data-value]")].map((value) => (
      Number(/** @type {HTMLElement} */ (value).dataset.value)
    )));
    const first = Number(/** @type {HTMLElement} */ (list.firstElementChild).dataset.position);
    return (position) => found[position - first];
  }

  /**
   * @param {Step[]} steps
   * @param {number} from index of the first step whose token comes out now
   */
  function show(steps, from) {
    for (const animation of list.getAnimations({ subtree: true })) animation.cancel();
    folded.clear();
    if (steps.length > list.children.length) setTimeout(showLast, Article.REST); // where layout is known anyway
    while (list.children.length > steps.length) list.lastElementChild.remove();
    while (list.children.length < steps.length) list.append(another());
    steps.forEach((step, i) => fill(/** @type {HTMLElement} */ (list.children[i]), step));
    mark();
    if (from < steps.length) write(from);
  }

  function showLast() {
    const scroll = /** @type {HTMLElement} */ (list.parentElement);
    scroll.scrollLeft = scroll.scrollWidth;
  }

  function another() {
    const made = /** @type {HTMLElement} */ (list.firstElementChild.cloneNode(true));
    made.querySelector("details").open = false;
    return made;
  }

  /**
   * @param {HTMLElement} element
   * @param {Step} step
   */
  function fill(element, step) {
    const { probs, written } = step;
    const values = Array.from(probs, Article.number.rounded);
    const order = ranked(values);
    element.dataset.position = String(step.position);
    Article.setText(element.querySelector(".laboratory-read"), step.read.join(""));
    const token = /** @type {HTMLElement} */ (element.querySelector(".laboratory-token"));
    Article.setText(token, written === null ? "?" : labels[written]);
    token.classList.toggle("is-open", written === null);
    token.classList.toggle("is-own", written !== null && written !== order[0]);
    if (token.matches(".is-own")) token.append(Article.make("small", {}, Article.text("laboratory_own")));
    element.querySelectorAll(".laboratory-top li").forEach((item, rank) => entry(item, order[rank], values, step, TOP_DECIMALS));
    const details = element.querySelector("details");
    details.ariaBusy = "true";
    folded.set(element, step);
    if (details.open) unfold();
    else if (folded.size === 1) setTimeout(unfold, Article.REST);
  }

  /** @returns {number[]} ids, the likeliest first */
  function ranked(values) {
    return values.map((_, id) => id).sort((a, b) => values[b] - values[a] || a - b);
  }

  /** Fill the tables that are folded away, when there is time for it or when they are needed. */
  function unfold() {
    for (const [element, step] of folded) {
      const values = Array.from(step.probs, Article.number.rounded);
      element.querySelectorAll(".laboratory-all tr").forEach((row, id) => entry(row, id, values, step, 2));
      element.querySelector("details").ariaBusy = null;
    }
    folded.clear();
    mark();
  }

  /** One token that could follow, and its probability; the token is chosen, the number opens. */
  function entry(element, id, values, { read, written, canChoose, cell }, decimals) {
    const value = values[id];
    element.classList.toggle("is-written", id === written);
    element.style.setProperty("--v", value.toFixed(3));
    const token = as(canChoose ? "button" : "span", element.querySelector(".laboratory-choose"), labels[id]);
    token.dataset.token = String(id);
    if (canChoose) token.ariaLabel = Article.text("laboratory_choose", { token: labels[id] });
    const number = as(cell ? "a" : "span", element.querySelector(".laboratory-number"), Article.number.display(value, decimals));
    number.dataset.value = String(value);
    if (!cell) return;
    number.setAttribute("href", `#?cell=${cell(id)}`);
    number.ariaLabel = `${number.textContent}, P[${read.at(-1)}, ${labels[id]}]`;
  }

  /**
   * @param {"button" | "a" | "span"} tag
   * @param {HTMLElement} element
   * @param {string} text
   * @returns {HTMLElement} the element, or one with another tag in its place
   */
  function as(tag, element, text) {
    const made = element.localName === tag ? element : Article.make(tag, { className: element.className });
    if (made !== element) element.replaceWith(made);
    if (tag === "button") made.type = "button";
    Article.setText(made, text);
    return made;
  }

  /** Mark the number whose cell is open. */
  function mark() {
    const { cell } = Article.state.get();
    for (const number of list.querySelectorAll("a")) {
      number.classList.toggle("opened", number.getAttribute("href") === `#?cell=${cell}`);
    }
  }

  /** Let tokens come out one after the other; everything stands at its place from the start. */
  function write(from) {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const appear = (element, delay) => (
      element.animate([{ opacity: 0 }, { opacity: 1 }], { duration: 180, delay, fill: "backwards" })
    );
    [...list.children].slice(from).forEach((step, i) => {
      if (i > 0) appear(step, i * BEAT - BEAT / 2);
      appear(step.querySelector(".laboratory-token"), i * BEAT);
    });
  }

  Article.laboratorySteps = { mount, probsOfPage, show };
})((window.Article ??= {}));
