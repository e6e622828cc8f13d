// Any cell opens: a panel shows the arithmetic of the number, and each number in it opens in turn.
//
// What is open is part of the state, so that a link opens it; walking on inside the panel replaces it.
(function (Article) {
  "use strict";

  const panel = Article.cellPanel, names = Article.cellNames;

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
  /** Counts choices of a cell; Escape ends one whose numbers are still loading. */
  let choice = 0;

  function mount() {
    panel.mount({
      press: (button, event) => guarded(() => pressed(button, event)),
      ask: (address) => guarded(() => asked(address)),
    });
    document.addEventListener("pointerover", near);
    document.addEventListener("click", chosen);
    document.addEventListener("keydown", (event) => {
      if (["Enter", " "].includes(event.key)) chosen(event);
      if (event.key !== "Escape") return;
      choice++;
      if (panel.isOpen()) close();
    });
    document.addEventListener("article:scene", () => panel.isOpen() && guarded(followScene));
    document.addEventListener("article:rest", () => panel.isOpen() && guarded(panel.markAll));
    Article.state.subscribe(({ cell }, change) => "cell" in change && guarded(() => follow(cell)));
  }

  /** The pointer has come to a first cell: get ready, so that it opens as fast as the others will. */
  function near({ target }) {
    const td = Article.cellPlaces.cellOf(target);
    if (!td) return;
    document.removeEventListener("pointerover", near);
    Article.whenIdle(async () => {
      try {
        run ??= await Article.passes.load();
        const place = Article.cellPlaces.of(td, run);
        if (place && !panel.isOpen()) panel.prepare(look(place));
      } catch {
        // what cannot be shown is told when it is asked for
      }
    });
  }

  /** A number of a table is clicked or entered, one in a sentence, or a link to a cell: open it, or close the panel that shows it. */
  function chosen(event) {
    const target = /** @type {Element} */ (event.target), isKeyboard = event.type !== "click";
    const td = Article.cellPlaces.cellOf(target);
    const link = isKeyboard || isElsewhere(event) ? null : target.closest?.('a[href^="#?cell="]:not(.cell-operand)');
    const number = target.closest?.("span[role=button]");
    const source = td ?? link ?? number;
    if (!source) return;
    if (!td) event.preventDefault(); // following a link would drop the rest of the state, and a key moves the page
    if (source === origin && panel.isOpen()) return close();
    const mine = ++choice;
    guarded(async () => {
      run ??= await Article.passes.load();
      if (mine !== choice) return; // another cell was chosen, or none after all
      const place = Article.cellPlaces.of(source, run);
      if (!place) return; // the problem that is looked at has no such cell
      origin = /** @type {HTMLElement} */ (source);
      open([place], 0);
      if (isKeyboard || (link && event.detail === 0)) focusTitle();
      requestAnimationFrame(() => panel.uncover(source)); // when the page is laid out anyway
    });
  }

  /** @returns {boolean} whether the reader wants the link in another tab or window */
  function isElsewhere({ ctrlKey, metaKey, shiftKey }) {
    return ctrlKey || metaKey || shiftKey;
  }

  /** The page shows other numbers; cells of its own problem go with it. */
  function followScene() {
    const problem = Article.cellPlaces.pageProblem(run);
    const moved = walk.map((place) => (place.isPages && place.problem !== problem ? { ...place, problem } : place));
    const isThere = (place) => names.parse(names.address(place, run), run) !== null;
    if (moved.every((place, i) => place === walk[i])) return render();
    if (!isThere(moved[index])) return close();
    open(moved.filter(isThere), moved.slice(0, index + 1).filter(isThere).length - 1);
  }

  /** Show what the address asks for, when it was not this panel that wrote it. */
  async function follow(text) {
    if (text === null) {
      hide();
      return;
    }
    if (index >= 0 && run && names.address(walk[index], run) === text) return;
    run ??= await Article.passes.load();
    if (Article.state.get().cell !== text) return; // another came in between
    const place = names.parse(text, run);
    if (!place) {
      Article.state.refuse(["cell"]);
      return;
    }
    [walk, index, origin] = [[{ ...place, isPages: place.problem === Article.cellPlaces.pageProblem(run) }], 0, null];
    render();
    const mine = walk; // who goes back through many is not taken to each of them
    atRest(() => {
      if (walk !== mine || goTo(place)) return;
      const before = Article.state.get(); // its figure may follow later, and the reader may go on before
      document.addEventListener("article:rest", () => guarded(() => Article.state.get() === before && goTo(place)), { once: true });
    });
  }

  /** @returns {Element | undefined} the place's cell on the page, which is brought into view */
  function goTo(place) {
    const [td] = names.onPage(place, run);
    td?.scrollIntoView({ block: "center" });
    return td;
  }

  /**
   * @param {any[]} places
   * @param {number} at
   */
  function open(places, at) {
    const isOpen = panel.isOpen();
    [walk, index] = [places, at];
    Article.state.set({ cell: names.address(walk[index], run) }, { replace: isOpen });
    render();
  }

  function close() {
    Article.state.set({ cell: null }, { replace: true });
  }

  function hide() {
    if (!panel.isOpen()) return;
    const hadFocus = panel.hide();
    const back = origin;
    [walk, index, origin] = [[], -1, null];
    if (hadFocus) back?.focus();
    back?.closest("figure")?.dispatchEvent(new CustomEvent("article:release")); // what the focus has lit, too
  }

  function render() {
    panel.show(look(walk[index]), walk, index);
  }

  /** Everything there is to show of a place. */
  function look(place) {
    const { cell, stage } = place;
    const where = { ...place, position: cell.isGradient ? place.position : null };
    const numbers = Article.passes.at(where);
    const made = Article.engine.explain(numbers, cell);
    const users = () => Article.engine.users(numbers.model, cell).filter((user) => Boolean(user.isGradient) === Boolean(cell.isGradient));
    const edits = stage === "trained" ? Article.scene.current()?.edits : null;
    const isOverwritten = !cell.isGradient && Boolean(edits?.places.has(Article.edits.name(cell)));
    const before = isOverwritten ? Article.engine.valueOf(Article.passes.at(where, true), cell) : 0;
    if (isOverwritten) made.terms = [];
    return {
      place, run, numbers, made, users, step: numbers.step, isUnrounded, isOverwritten, before,
      hasOverwritten: (edits?.cells.size ?? 0) > 0, isEdited: (edits?.list.length ?? 0) > 0, stored, href: href(), later,
    };
  }

  /** The address of this page and state, up to that of a cell. */
  function href() {
    const rest = Article.state.withState(Article.state.fragment(), { ...Article.state.get(), cell: null }) || "#";
    return `${rest}${rest.includes("?") ? "&" : "?"}cell=`;
  }

  const atRest = (work) => setTimeout(() => guarded(work), Article.REST);

  /** What takes long comes when the page is at rest, so that nothing holds it up. */
  function later(element, fill) {
    element.ariaBusy = "true";
    atRest(() => {
      if (!element.isConnected) return; // another cell is open
      fill(element);
      element.ariaBusy = null;
    });
  }

  /** The loss of a gradient is chosen. */
  function asked(address) {
    walkTo(address, index);
    panel.focus(".cell-gradient select");
  }

  /** Let the walk go on with a cell at an index; it goes with the page's problem if the one in view does. */
  function walkTo(address, at) {
    const { isPages } = walk[index];
    open([...walk.slice(0, at), { ...names.parse(address, run), isPages }], at);
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
      return panel.focus(".cell-unrounded");
    }
    if (command === "back") open(walk, index - 1);
    else if (command === "forward") open(walk, index + 1);
    else if (place !== undefined) open(walk, Number(place));
    else if (cell) walkTo(cell, index + 1);
    focusTitle();
  }

  function focusTitle() {
    panel.focus(".cell-title", { preventScroll: true });
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
