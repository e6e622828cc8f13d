// Any cell opens: a panel shows the arithmetic of the number, and each number in it opens in turn.
//
// It stands beside the page, at its foot on small screens, and leaves the page usable. What is open
// is part of the state, so that a link opens it; walking on inside the panel replaces it.
(function (Article) {
  "use strict";

  const { make } = Article.cellView;
  const CLOSE = "\u00d7", BACK = "\u2190", FORWARD = "\u2192";
  const TRAIL = 6;
  const MARKS = ["opened", "operand"];

  /** @type {HTMLElement | undefined} */
  let panel;
  /** @type {any[]} places walked through, the one in view at `index` */
  let walk = [];
  let index = -1;
  let isUnrounded = false;
  /** @type {HTMLElement | null} the cell of the page that was opened */
  let origin = null;
  /** @type {any} */
  let run;
  /** Counts choices of a cell; Escape ends one whose numbers are still loading. */
  let choice = 0;

  function mount() {
    document.addEventListener("click", (event) => chosen(event, false));
    document.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") chosen(event, true);
      else if (event.key === "Escape") {
        choice++;
        if (panel && !panel.hidden) close();
      }
    });
    document.addEventListener("article:weights", () => panel && !panel.hidden && render());
    Article.state.subscribe(({ cell }, change) => "cell" in change && guarded(() => follow(cell)));
  }

  /** A cell of a table is clicked or entered, or a link to one: open it, or close the panel that shows it. */
  function chosen(event, isKeyboard) {
    const target = /** @type {Element} */ (event.target);
    const td = target.closest?.("figure.matrix td[data-row]");
    const link = event.type === "click" && !isElsewhere(event) ? target.closest?.('a[href^="#?cell="]') : null;
    const source = td ?? link;
    if (!source) return;
    if (link) event.preventDefault(); // following it would drop the rest of the state
    if (source === origin && panel && !panel.hidden) return close();
    const mine = ++choice;
    guarded(async () => {
      run ??= await Article.data.run();
      if (mine !== choice) return; // another cell was chosen, or none after all
      origin = /** @type {HTMLElement} */ (source);
      open([td ? Article.cellNames.ofTable(td, run, pageProblem()) : ofLink(link)], 0);
      if (isKeyboard || (link && event.detail === 0)) focusTitle();
      uncover(source);
    });
  }

  /** @returns {boolean} whether the reader wants the link in another tab or window */
  function isElsewhere({ ctrlKey, metaKey, shiftKey }) {
    return ctrlKey || metaKey || shiftKey;
  }

  /** The cell that a link names, of the problem that the page shows. */
  function ofLink(link) {
    const { cell } = Article.state.parse(link.getAttribute("href")).state;
    const place = Article.cellNames.parse(cell, run);
    return { ...place, problem: Article.state.get().problem ?? place.problem };
  }

  /** @returns {string} the problem of a weight's cells: the page's first */
  function pageProblem() {
    const figure = /** @type {HTMLElement | null} */ (document.querySelector("figure.matrix[data-problem]"));
    return figure?.dataset.problem || run.dataset.problems[0].problem;
  }

  /** Show what the address asks for, when it was not this panel that wrote it. */
  async function follow(text) {
    if (text === null) {
      hide();
      return;
    }
    if (index >= 0 && run && Article.cellNames.address(walk[index], run) === text) return;
    run ??= await Article.data.run();
    if (Article.state.get().cell !== text) return; // another came in between
    const place = Article.cellNames.parse(text, run);
    if (!place) {
      Article.state.set({ cell: null }, { replace: true });
      Article.bar.say(Article.text("address_not_understood"));
      return;
    }
    [walk, index, origin] = [[place], 0, null];
    render();
    Article.cellNames.onPage(place, run)[0]?.scrollIntoView({ block: "center" });
  }

  /**
   * @param {any[]} places
   * @param {number} at
   */
  function open(places, at) {
    const isOpen = panel && !panel.hidden;
    [walk, index] = [places, at];
    render();
    Article.state.set({ cell: Article.cellNames.address(walk[index], run) }, { replace: isOpen });
  }

  function close() {
    Article.state.set({ cell: null }, { replace: true });
  }

  function hide() {
    if (!panel || panel.hidden) return;
    const hadFocus = panel.contains(document.activeElement);
    panel.hidden = true;
    document.body.classList.remove("has-cell-panel");
    mark([]);
    const back = origin;
    [walk, index, origin] = [[], -1, null];
    if (hadFocus) back?.focus();
    back?.closest("figure").dispatchEvent(new CustomEvent("article:release")); // what the focus has lit, too
  }

  function render() {
    panel ??= build();
    const place = walk[index];
    const numbers = pass(place);
    const made = Article.engine.explain(numbers, place.cell);
    const users = Article.engine.users(numbers.model, place.cell).filter((cell) => Boolean(cell.isGradient) === Boolean(place.cell.isGradient));
    const parts = Article.cellView.view({ place, run, made, users, step: numbers.step, isUnrounded, stored });
    panel.querySelector(".cell-body").replaceWith(make("div", { className: "cell-body" }, ...parts)); // a new one starts at its top
    trail();
    panel.hidden = false;
    document.body.classList.add("has-cell-panel");
    const operands = made.terms.flatMap((term) => term.operands);
    mark(Article.cellNames.onPage(place, run), Article.cellNames.allOnPage(operands, place, run));
  }

  /** @type {{of: any[], numbers: any} | undefined} */
  let latest;

  /** The numbers that a place belongs to: of its stage, or of the step that figures show. */
  function pass({ cell, problem, stage, position: asked }) {
    const shown = stage === "trained" ? Article.weights.current() : null;
    const position = cell.isGradient ? asked : null;
    const of = [shown?.weights ?? run[stage], problem, position];
    if (!latest?.of.every((part, i) => part === of[i])) {
      latest = { of, numbers: { ...compute(new Float64Array(of[0]), problem, position), step: shown?.step ?? null } };
    }
    return latest.numbers;
  }

  /** Forward through a problem; or forward to a position, and back from the loss of what follows it. */
  function compute(weights, problem, position) {
    const { engine } = Article;
    const { sizes, dataset } = run;
    const ids = dataset.problems.find((known) => known.problem === problem).tokens.map((token) => dataset.vocab.indexOf(token));
    const given = ids.slice(0, position === null ? -1 : position + 1);
    const model = new engine.Transformer(sizes, engine.sequence(given, sizes.n_ctx));
    model.forward(weights);
    if (position === null) return { model, weights };
    const gradient = new Float64Array(weights.length), token = ids[position + 1];
    const counts = new Float64Array(given.length * sizes.d_vocab), totals = new Float64Array(given.length);
    counts[position * sizes.d_vocab + token] = totals[position] = 1;
    engine.crossEntropy(model, { counts, totals, n: 1 });
    model.backward(weights, gradient);
    return { model, weights, gradient, target: { position, token } };
  }

  /** A number as the snapshot has it: 7 digits, a weight as the shortest decimal that reads back. */
  function stored({ key, value, isGradient }) {
    if (isGradient || !run.tensors[key].isWeight || Math.fround(value) !== value) return Article.number.rounded(value);
    let digits = 1;
    while (Math.fround(Number(value.toPrecision(digits))) !== value) digits++;
    return Number(halfToEven(value.toPrecision(digits), value.toPrecision(digits + 1), value));
  }

  /** Of two decimals that are equally near, the one that ends even. */
  function halfToEven(decimal, longer, value) {
    const isHalf = /^[^e]*5$/.test(longer) && Number(longer) === value;
    const last = Number(decimal.at(-1));
    return isHalf && last % 2 === 1 ? `${decimal.slice(0, -1)}${last - 1}` : decimal;
  }

  function build() {
    const button = (command, text) => {
      const made = make("button", { type: "button", className: "cell-command", title: Article.text(`cell_${command}`) }, text);
      made.dataset.command = command;
      made.setAttribute("aria-label", Article.text(`cell_${command}`));
      return made;
    };
    const path = make("ol", { className: "cell-trail" });
    path.setAttribute("aria-label", Article.text("cell_trail"));
    const made = make("aside", { className: "cell-panel", hidden: true },
      make("div", { className: "cell-bar" }, button("back", BACK), button("forward", FORWARD), path, button("close", CLOSE)),
      make("div", { className: "cell-body" }));
    made.setAttribute("aria-label", Article.text("cell_panel"));
    made.addEventListener("click", (event) => guarded(() => pressed(/** @type {Element} */ (event.target).closest("button"))));
    made.addEventListener("change", (event) => guarded(() => {
      const { value } = /** @type {HTMLSelectElement} */ (event.target);
      open([...walk.slice(0, index), Article.cellNames.parse(value, run)], index);
      /** @type {HTMLElement} */ (made.querySelector("select")).focus();
    }));
    for (const type of ["pointerover", "focusin"]) made.addEventListener(type, point);
    document.body.append(made);
    return made;
  }

  /** @param {HTMLButtonElement | null} button */
  function pressed(button) {
    if (!button) return;
    const { command, cell, place } = button.dataset;
    if (command === "close") return close();
    if (button.matches(".cell-unrounded")) {
      isUnrounded = !isUnrounded;
      render();
      return /** @type {HTMLElement} */ (panel.querySelector(".cell-unrounded")).focus();
    }
    if (command === "back") open(walk, index - 1);
    else if (command === "forward") open(walk, index + 1);
    else if (place !== undefined) open(walk, Number(place));
    else if (cell) open([...walk.slice(0, index + 1), Article.cellNames.parse(cell, run)], index + 1);
    focusTitle();
  }

  /** Where the walk has led, and the way back. */
  function trail() {
    const path = /** @type {HTMLElement} */ (panel.querySelector(".cell-trail"));
    const first = Math.max(0, index - TRAIL + 1);
    path.replaceChildren(...walk.slice(first, index + 1).map((place, i) => {
      const name = Article.cellNames.letter(run, place.cell);
      const button = make("button", { type: "button", disabled: first + i === index, title: Article.cellNames.name(place, run) }, name);
      button.dataset.place = String(first + i);
      return make("li", {}, button);
    }));
    path.classList.toggle("is-cut", first > 0);
    path.hidden = walk.length < 2;
    const command = (name) => /** @type {HTMLButtonElement} */ (panel.querySelector(`[data-command="${name}"]`));
    command("back").disabled = index === 0;
    command("forward").disabled = index === walk.length - 1;
  }

  function focusTitle() {
    /** @type {HTMLElement} */ (panel.querySelector(".cell-title")).focus({ preventScroll: true });
  }

  /** Pointing at an operand shows it on the page. */
  function point(event) {
    const { cell } = event.target.closest("button")?.dataset ?? {};
    for (const td of document.querySelectorAll("td.pointed")) td.classList.remove("pointed");
    if (!cell) return;
    for (const td of Article.cellNames.onPage(Article.cellNames.parse(cell, run), run)) td.classList.add("pointed");
  }

  /** Mark on the page the open cell and its operands. */
  function mark(opened, operands = []) {
    for (const name of [...MARKS, "pointed"]) {
      for (const td of document.querySelectorAll(`td.${name}`)) td.classList.remove(name);
    }
    for (const td of opened) td.classList.add("opened");
    for (const td of operands) td.classList.add("operand");
  }

  /** On small screens the panel lies over the page: bring the cell out from under it. */
  function uncover(td) {
    const [cell, own] = [td.getBoundingClientRect(), panel.getBoundingClientRect()];
    const isCovered = cell.right > own.left && cell.bottom > own.top && cell.top < own.bottom;
    if (isCovered && own.left === 0) scrollBy({ top: cell.bottom - own.top + 24 });
  }

  /** @param {() => any} work what may fail without taking the page along */
  async function guarded(work) {
    try {
      await work();
    } catch (error) {
      reportError(error);
      Article.bar.say(Article.text("cell_failed"));
    }
  }

  Article.cell = { mount };
})((window.Article ??= {}));
