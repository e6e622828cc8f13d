// Any cell opens: a panel shows the arithmetic of the number, and each number in it opens in turn.
//
// It stands beside the page, at its foot on small screens, and leaves the page usable. What is open
// is part of the state, so that a link opens it; walking on inside the panel replaces it.
(function (Article) {
  "use strict";

  const { make } = Article.cellView;
  const CLOSE = "\u00d7", BACK = "\u2190", FORWARD = "\u2192";
  const TRAIL = 6;

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
  /** A number as the snapshot has it. */
  const stored = ({ key, value, isGradient }) => Article.number.stored(value, !isGradient && run.tensors[key].isWeight);
  /** @type {any[]} operands of the open cell, and the cells on the page that are marked or pointed at */
  let operands = [], marked = [], pointed = [];
  /** Address of the cell that the panel shows. */
  let rendered = "";
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
    document.addEventListener("article:scene", () => panel && !panel.hidden && guarded(followScene));
    document.addEventListener("article:rest", () => panel && !panel.hidden && guarded(markAll));
    Article.state.subscribe(({ cell }, change) => "cell" in change && guarded(() => follow(cell)));
  }

  /** A cell of a table is clicked or entered, a number in a sentence, or a link to a cell: open it, or close the panel that shows it. */
  function chosen(event, isKeyboard) {
    const target = /** @type {Element} */ (event.target);
    const td = target.closest?.("figure.matrix[data-stage] tbody td");
    const link = event.type === "click" && !isElsewhere(event) ? target.closest?.('a[href^="#?cell="]:not(.cell-operand)') : null;
    const number = target.closest?.(".value[role=button]");
    const source = td ?? link ?? number;
    if (!source) return;
    if (!td) event.preventDefault(); // following a link would drop the rest of the state, and a key moves the page
    if (source === origin && panel && !panel.hidden) return close();
    const mine = ++choice;
    guarded(async () => {
      run ??= await Article.passes.load();
      if (mine !== choice) return; // another cell was chosen, or none after all
      const place = td ? ofCell(td) : link ? ofLink(link) : ofNumber(number);
      if (!place) return; // the problem that is looked at has no such cell
      origin = /** @type {HTMLElement} */ (source);
      open([place], 0);
      if (isKeyboard || (link && event.detail === 0)) focusTitle();
      uncover(source);
    });
  }

  /** @returns {boolean} whether the reader wants the link in another tab or window */
  function isElsewhere({ ctrlKey, metaKey, shiftKey }) {
    return ctrlKey || metaKey || shiftKey;
  }

  function ofCell(td) {
    return { ...Article.cellNames.ofTable(td, run, pageProblem()), isPages: isPages(td.closest("figure")) };
  }

  function ofNumber(value) {
    const plain = { run, problem: pageProblem(), position: null, layer: null, head: null };
    const place = Article.prose.placeIn(value, Article.scene.current() ?? plain);
    return place && { ...place, isPages: isPages(value) };
  }

  /** Whether what an element shows goes with the page's problem. */
  function isPages({ dataset: { follows = "", problem } }) {
    return !problem || follows.includes("problem");
  }

  /** The cell that a link names, of the problem that the page shows. */
  function ofLink(link) {
    const { cell } = Article.state.parse(link.getAttribute("href")).state;
    return { ...Article.cellNames.parse(cell, run), problem: pageProblem(), isPages: true };
  }

  /** @returns {string} the problem of a weight's cells */
  function pageProblem() {
    return Article.scene.problem() || run.dataset.problems[0].problem;
  }

  /** The page shows other numbers; cells of its own problem go with it. */
  function followScene() {
    const problem = pageProblem();
    const moved = walk.map((place) => (place.isPages && place.problem !== problem ? { ...place, problem } : place));
    const isThere = (place) => Article.cellNames.parse(Article.cellNames.address(place, run), run) !== null;
    if (moved.every((place, i) => place === walk[i])) return render();
    if (!isThere(moved[index])) return close();
    index = moved.slice(0, index + 1).filter(isThere).length - 1;
    open(moved.filter(isThere), index);
  }

  /** A place as the panel walks through it; `isPages` says that it goes with the page's problem. */
  function placed(place) {
    return { ...place, isPages: walk[index]?.isPages ?? place.problem === pageProblem() };
  }

  /** Show what the address asks for, when it was not this panel that wrote it. */
  async function follow(text) {
    if (text === null) {
      hide();
      return;
    }
    if (index >= 0 && run && Article.cellNames.address(walk[index], run) === text) return;
    run ??= await Article.passes.load();
    if (Article.state.get().cell !== text) return; // another came in between
    const place = Article.cellNames.parse(text, run);
    if (!place) {
      Article.state.set({ cell: null }, { replace: true });
      Article.bar.note(Article.text("address_not_understood"));
      return;
    }
    [walk, index, origin] = [[{ ...place, isPages: place.problem === pageProblem() }], 0, null];
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
    // The address first: to write it, the browser lays out a page that has changed.
    Article.state.set({ cell: Article.cellNames.address(walk[index], run) }, { replace: isOpen });
    render();
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
    back?.closest("figure")?.dispatchEvent(new CustomEvent("article:release")); // what the focus has lit, too
  }

  function render() {
    panel ??= build();
    const place = walk[index];
    const opened = look(place);
    const [head, ...rest] = Article.cellView.view(opened);
    const parts = make("div", {}, ...rest);
    const address = Article.cellNames.address(place, run);
    const body = panel.querySelector(".cell-body"), edit = body.querySelector(".cell-edit");
    if (address === rendered && edit) { // what is being typed or drawn there stays
      edit.previousElementSibling.replaceWith(head);
      edit.nextElementSibling.replaceWith(parts);
      Article.editView.update(edit, opened);
    } else {
      const fresh = [head, Article.editView.section(opened), parts].filter(Boolean);
      body.replaceWith(make("div", { className: "cell-body" }, ...fresh)); // a new one starts at its top
    }
    rendered = address;
    trail();
    panel.hidden = false;
    document.body.classList.add("has-cell-panel");
    operands = opened.made.terms.flatMap((term) => term.operands);
    markAll();
  }

  /** Mark on the page the open cell and its operands. */
  function markAll() {
    const place = walk[index];
    const figures = Article.cellNames.figures();
    const shown = (cell) => Article.cellNames.onPage({ ...place, cell }, run, figures);
    mark(shown(place.cell), operands.flatMap(shown));
  }

  /** Everything there is to show of a place. */
  function look(place) {
    const { cell, stage } = place;
    const where = { ...place, position: cell.isGradient ? place.position : null };
    const numbers = Article.passes.at(where);
    const made = Article.engine.explain(numbers, cell);
    const users = Article.engine.users(numbers.model, cell).filter((user) => Boolean(user.isGradient) === Boolean(cell.isGradient));
    const edits = stage === "trained" ? Article.scene.current()?.edits : null;
    const isOverwritten = !cell.isGradient && Boolean(edits?.places.has(Article.edits.name(cell)));
    const before = isOverwritten ? Article.engine.valueOf(Article.passes.at(where, true), cell) : 0;
    if (isOverwritten) made.terms = [];
    return {
      place, run, numbers, made, users, step: numbers.step, isUnrounded, isOverwritten, before,
      hasOverwritten: (edits?.cells.size ?? 0) > 0, stored, href: href(), later,
    };
  }

  /** The address of this page and state, up to that of a cell. */
  function href() {
    const rest = Article.state.withState(location.hash, { ...Article.state.get(), cell: null }) || "#";
    return `${rest}${rest.includes("?") ? "&" : "?"}cell=`;
  }

  /** What takes long comes in a task of its own, so that none holds the page up. */
  function later(element, fill) {
    element.setAttribute("aria-busy", "true");
    setTimeout(() => guarded(() => {
      if (!element.isConnected) return; // another cell is open
      fill(element);
      element.removeAttribute("aria-busy");
    }));
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
    made.addEventListener("click", (event) => guarded(() => pressed(/** @type {Element} */ (event.target).closest("button, [data-cell]"), event)));
    made.addEventListener("change", (event) => guarded(() => {
      const { value } = /** @type {HTMLSelectElement} */ (event.target);
      if (!(/** @type {Element} */ (event.target).closest(".cell-gradient"))) return;
      open([...walk.slice(0, index), placed(Article.cellNames.parse(value, run))], index);
      /** @type {HTMLElement} */ (made.querySelector(".cell-gradient select")).focus();
    }));
    for (const type of ["pointerover", "focusin"]) made.addEventListener(type, point);
    document.body.append(made);
    return made;
  }

  /**
   * @param {HTMLElement | null} button or link
   * @param {MouseEvent} event
   */
  function pressed(button, event) {
    if (!button || button.closest(".cell-edit") || isElsewhere(event)) return;
    event.preventDefault();
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
    else if (cell) open([...walk.slice(0, index + 1), placed(Article.cellNames.parse(cell, run))], index + 1);
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
    const { cell } = event.target.closest("[data-cell]")?.dataset ?? {};
    for (const td of pointed) td.classList.remove("pointed");
    pointed = cell ? Article.cellNames.onPage(Article.cellNames.parse(cell, run), run) : [];
    for (const td of pointed) td.classList.add("pointed");
  }

  /** Give the marks to these cells, and to no others. */
  function mark(opened, sources = []) {
    for (const td of [...marked, ...pointed]) td.classList.remove("opened", "operand", "pointed");
    [marked, pointed] = [[...opened, ...sources], []];
    for (const td of opened) td.classList.add("opened");
    for (const td of sources) td.classList.add("operand");
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
      Article.bar.note(Article.text("cell_failed"));
    }
  }

  Article.cell = { mount };
})((window.Article ??= {}));
