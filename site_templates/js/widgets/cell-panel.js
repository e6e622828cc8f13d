// The panel that shows an open cell: where the walk has led, the way back, and its marks on the page.
//
// It stands beside the page, at its foot on small screens, and leaves the page usable. What is open
// it is told; what is pressed in it, it tells.
(function (Article) {
  "use strict";

  const { make } = Article;
  const CLOSE = "\u00d7", BACK = "\u2190", FORWARD = "\u2192";
  const TRAIL = 6;

  /** @type {HTMLElement | undefined} */
  let panel;
  /** @type {import("./cell-view").Opened} what it shows */
  let opened;
  /** @type {{press: (button: HTMLElement | null, event: MouseEvent) => void, ask: (address: string) => void}} */
  let told;
  /** @type {any[]} cells on the page that are marked or pointed at */
  let marked = [], pointed = [];
  /** Address of the cell that the panel shows, and whether the reader has scrolled in it. */
  let rendered = "", isScrolled = false;

  /** @param {typeof told} handlers of a button or link, and of the choice of a gradient's loss */
  function mount(handlers) {
    told = handlers;
  }

  /** @returns {boolean} */
  function isOpen() {
    return Boolean(panel && !panel.classList.contains("is-closed"));
  }

  /**
   * Lay out unseen what will soon be shown: whatever is done first takes much longer.
   *
   * @param {typeof opened} next
   */
  function prepare(next) {
    panel ??= build();
    fill(next);
  }

  /**
   * @param {typeof opened} next
   * @param {any[]} walk places walked through
   * @param {number} index of the one in view
   */
  function show(next, walk, index) {
    panel ??= build();
    fill(next);
    trail(walk, index);
    panel.classList.remove("is-closed");
    document.body.classList.add("has-cell-panel");
    markAll();
  }

  /** Put in what there is to show of a cell. */
  function fill(next) {
    const isNewlyOverwritten = next.isOverwritten && !opened?.isOverwritten;
    opened = next;
    const [head, ...rest] = Article.cellView.view(opened);
    const parts = make("div", {}, ...rest);
    const address = Article.cellNames.address(opened.place, opened.run);
    const body = panel.querySelector(".cell-body"), edit = body.querySelector(".cell-edit");
    const { activeElement: focused } = document, isHeld = body.contains(focused);
    if (address === rendered && edit) { // what is being typed or drawn there stays
      edit.previousElementSibling.replaceWith(head);
      edit.nextElementSibling.replaceWith(parts);
      Article.editView.update(edit, opened);
      edit.open ||= isNewlyOverwritten;
    } else {
      body.replaceChildren(...[head, Article.editView.section(opened), parts].filter(Boolean));
      if (isScrolled) body.scrollTop = 0;
    }
    if (isHeld && !focused.isConnected) (body.querySelector(selectorOf(focused)) ?? body.querySelector(".cell-title")).focus({ preventScroll: true });
    rendered = address;
  }

  /** How what had the focus is found again, when it is made anew. */
  const selectorOf = ({ dataset: { cell }, name, classList: [kind] }) => (cell ? `[data-cell="${cell}"]` : name ? `[name="${name}"]` : `.${kind ?? "cell-title"}`);

  /** @returns {boolean} whether it had the focus */
  function hide() {
    const hadFocus = panel.contains(document.activeElement);
    panel.classList.add("is-closed");
    document.body.classList.remove("has-cell-panel");
    mark([]);
    return hadFocus;
  }

  function build() {
    const button = (command, text) => {
      const name = Article.text(`cell_${command}`);
      const made = make("button", { type: "button", className: "cell-command", title: name, ariaLabel: name }, text);
      made.dataset.command = command;
      return made;
    };
    const path = make("ol", { className: "cell-trail", ariaLabel: Article.text("cell_trail") });
    const made = make("aside", { className: "cell-panel is-closed", ariaLabel: Article.text("cell_panel") },
      make("div", { className: "cell-bar" }, button("back", BACK), button("forward", FORWARD), path, button("close", CLOSE)),
      make("div", { className: "cell-body" }));
    made.addEventListener("click", (event) => told.press(event.target.closest("button, [data-cell]"), event));
    made.addEventListener("change", ({ target }) => target.closest(".cell-gradient") && told.ask(target.value));
    made.lastElementChild.addEventListener("scroll", ({ target }) => (isScrolled = target.scrollTop > 0));
    for (const type of ["pointerover", "focusin"]) made.addEventListener(type, point);
    document.body.append(made);
    return made;
  }

  /** Where the walk has led, and the way back. */
  function trail(walk, index) {
    const path = panel.querySelector(".cell-trail");
    const first = Math.max(0, index - TRAIL + 1);
    path.replaceChildren(...walk.slice(first, index + 1).map((place, i) => {
      const name = Article.cellNames.letter(opened.run, place.cell);
      const button = make("button", { type: "button", disabled: first + i === index, title: Article.cellNames.name(place, opened.run) }, name);
      button.dataset.place = String(first + i);
      return make("li", {}, button);
    }));
    path.classList.toggle("is-cut", first > 0);
    path.hidden = walk.length < 2;
    const enable = (command, can) => (panel.querySelector(`[data-command="${command}"]`).disabled = !can);
    enable("back", index > 0);
    enable("forward", index < walk.length - 1);
  }

  /**
   * @param {string} selector
   * @param {FocusOptions} [options]
   */
  function focus(selector, options) {
    panel.querySelector(selector).focus(options);
  }

  /** Mark on the page the open cell and its operands. */
  function markAll() {
    const { place, run, made } = opened;
    const figures = Article.cellNames.figures();
    const shown = (cell) => Article.cellNames.onPage({ ...place, cell }, run, figures);
    mark(shown(place.cell), made.terms.flatMap((term) => term.operands).flatMap(shown));
  }

  /** Pointing at an operand shows it on the page. */
  function point(event) {
    const { cell } = event.target.closest("[data-cell]")?.dataset ?? {};
    const before = pointed;
    for (const td of before) td.classList.remove("pointed");
    pointed = cell ? Article.cellNames.onPage(Article.cellNames.parse(cell, opened.run), opened.run) : [];
    for (const td of pointed) td.classList.add("pointed");
    draw([...before, ...pointed]);
  }

  /** Give the marks to these cells, and to no others. */
  function mark(cells, sources = []) {
    const before = [...marked, ...pointed];
    for (const td of before) td.classList.remove("opened", "operand", "pointed");
    [marked, pointed] = [[...cells, ...sources], []];
    for (const td of cells) td.classList.add("opened");
    for (const td of sources) td.classList.add("operand");
    draw([...before, ...marked]);
  }

  /** Charts show the marks of their cells. */
  function draw(cells) {
    for (const figure of new Set(cells.map((td) => td.closest("figure")))) Article.live.mark(figure);
  }

  /** On small screens it lies over the page: bring a cell out from under it. */
  function uncover(td) {
    const [cell, own] = [td.getBoundingClientRect(), panel.getBoundingClientRect()];
    const isCovered = cell.right > own.left && cell.bottom > own.top && cell.top < own.bottom;
    if (isCovered && own.left === 0) scrollBy({ top: cell.bottom - own.top + 24 });
  }

  Article.cellPanel = { mount, isOpen, prepare, show, hide, focus, markAll, uncover };
})((window.Article ??= {}));
