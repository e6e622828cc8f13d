// One matrix: speaking each cell, and the line that shows a number in full.
//
// Hover and focus preview a cell, a click or Enter locks it, a second one or Escape lets go. Each
// change is announced by an `article:cell` event on the figure, whose detail is the cell or null.
(function (Article) {
  "use strict";

  /** Where the pointer was last: the page may move under one that rests. */
  let pointer = "";
  const place = ({ screenX, screenY }) => `${screenX},${screenY}`;
  for (const type of ["pointerdown", "pointermove"]) {
    document.addEventListener(type, (event) => (pointer = place(/** @type {PointerEvent} */ (event))), true);
  }

  /** @param {HTMLElement} figure */
  function mount(figure) {
    const table = /** @type {HTMLTableElement} */ (figure.querySelector(".matrix-table"));
    const cells = Article.cells.of(figure);
    if (!cells.length) return;
    for (const { td } of cells) td.tabIndex = -1;
    Article.grid.mount(table, previewAndLock(figure, table));
    watchOverflow(table.parentElement);
    addReadout(figure);
  }

  /**
   * @param {HTMLElement} figure
   * @param {HTMLTableElement} table
   * @returns {(cell: HTMLTableCellElement) => void} locks a cell, or lets go of it
   */
  function previewAndLock(figure, table) {
    /** @type {HTMLTableCellElement | null} */
    let locked = null;
    const lock = (cell) => show(figure, (locked = cell));
    const isChoice = figure.matches(".atlas"); // what it chooses is not let go of
    const toggle = (cell) => isChoice || lock(locked === cell ? null : cell);
    const preview = (cell) => show(figure, cell ?? locked);
    const isGone = (cell) => cell !== null && !table.contains(cell);

    table.addEventListener("pointerover", (event) => {
      if (event.pointerType === "mouse" && place(event) !== pointer) preview(Article.cells.at(event));
    });
    table.addEventListener("pointerleave", () => preview(null));
    table.addEventListener("focusin", (event) => {
      const cell = Article.cells.at(event);
      if (cell?.matches(":focus-visible")) preview(cell);
    });
    table.addEventListener("focusout", ({ relatedTarget }) => {
      if (!table.contains(relatedTarget)) preview(null);
      Article.live.mark(figure);
    });
    figure.addEventListener("article:release", () => lock(null));
    figure.addEventListener("article:numbers", () => {
      const shown = figure.querySelector("td.open");
      if (isGone(locked)) lock(null);
      else if (shown) draw(figure, shown);
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && (locked || figure.classList.contains("has-cell"))) lock(null);
    });
    return toggle;
  }

  /**
   * @param {HTMLTableCellElement} cell
   * @returns {string} row, column and value in full
   */
  function sentence(cell) {
    const heads = Article.cells.heads(cell);
    const number = cell.dataset.value;
    const full = number === undefined ? Article.text("masked") : Article.number.exact(Number(number));
    const mark = cell.matches(".edited") ? Article.text("cell_edited") : cell.matches(".changed") ? Article.text("cell_changed") : "";
    const value = mark ? `${full} (${mark})` : full;
    return Article.text("cell", { row: heads.row.textContent, column: heads.column.textContent, value });
  }

  /** @param {HTMLElement} figure */
  function addReadout(figure) {
    const line = Article.make("p", { className: "readout", ariaHidden: "true" }, hint(figure)); // the cells speak for themselves
    figure.append(line);
    figure.classList.add("has-readout");
    return line;
  }

  const widths = new ResizeObserver(markOverflow);

  /**
   * Say by a fading edge that a matrix goes on.
   *
   * @param {HTMLElement} scroll
   */
  function watchOverflow(scroll) {
    scroll.addEventListener("scroll", (event) => markOverflow([event]));
    widths.observe(scroll);
  }

  /** All are read before the first is written, else each would be laid out by itself. */
  function markOverflow(changes) {
    const rests = changes.map(({ target }) => [target.scrollWidth - target.clientWidth, target.scrollLeft]);
    changes.forEach(({ target }, i) => {
      const { classList } = target.parentElement, [hidden, left] = rests[i];
      classList.toggle("has-more", hidden - left > 1);
      classList.toggle("fits", hidden <= 0);
    });
  }

  /**
   * What to do with a matrix, said once a page.
   *
   * @param {Element} figure
   */
  function hint(figure) {
    const isFirst = document.querySelector("figure.matrix, figure.product") === figure;
    return isFirst ? Article.text("readout_hint") : "";
  }

  /**
   * @param {HTMLElement} figure
   * @param {HTMLTableCellElement | null} cell
   */
  function show(figure, cell) {
    if (figure.querySelector("td.open") !== cell) draw(figure, cell);
  }

  /** Show a cell, or the same one anew. */
  function draw(figure, cell) {
    const heads = cell && Article.cells.heads(cell);
    const marks = new Map(cell ? [[cell, "open"], [heads.row, "lit"], [heads.column, "lit"]] : []);
    for (const marked of figure.querySelectorAll(".open, th.lit")) marks.has(marked) || marked.classList.remove("open", "lit");
    for (const [marked, mark] of marks) marked.classList.add(mark);
    Article.live.mark(figure);
    figure.classList.toggle("has-cell", cell !== null);
    const line = figure.querySelector(".readout");
    line?.classList.toggle("is-value", cell !== null);
    if (line) Article.setText(line, cell ? sentence(cell) : hint(figure));
    figure.dispatchEvent(new CustomEvent("article:cell", { bubbles: true, detail: cell }));
  }

  /** The numbers have changed: what is said of a cell is said again. */
  function refresh(figure) {
    const stop = figure.querySelector('td[tabindex="0"]');
    if (stop) stop.ariaLabel = sentence(stop);
    if (figure.classList.contains("has-cell")) figure.dispatchEvent(new CustomEvent("article:numbers"));
  }

  /**
   * Light one row, one column or one cell of a figure; the rest fades, on both faces.
   *
   * @param {HTMLElement} figure
   * @param {number | null} row
   * @param {number | null} column
   */
  function light(figure, row, column) {
    const isLit = (row ?? column) !== null;
    figure.classList.toggle("is-lit", isLit);
    for (const cell of Article.cells.of(figure)) {
      cell.td.classList.toggle("lit", isLit && (row ?? cell.row) === cell.row && (column ?? cell.column) === cell.column);
    }
    Article.live.light(figure, row, column);
  }

  Article.matrix = { mount, addReadout, sentence, hint, light, refresh, watchOverflow };
})((window.Article ??= {}));
