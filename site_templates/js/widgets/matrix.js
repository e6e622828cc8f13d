// One matrix: walking it by keys, speaking each cell, and the line that shows a number in full.
//
// Hover and focus preview a cell, a click or Enter locks it, a second one or Escape lets go. Each
// change is announced by an `article:cell` event on the figure, whose detail is the cell or null.
(function (Article) {
  "use strict";

  const LOCK_KEYS = ["Enter", " "];

  /** Where the pointer is, and where it was when Escape let go of what it pointed at. */
  let pointer = "", released = "";
  const place = ({ screenX, screenY }) => `${screenX},${screenY}`;
  for (const type of ["pointerdown", "pointermove"]) {
    document.addEventListener(type, (event) => {
      pointer = place(/** @type {PointerEvent} */ (event));
      if (pointer !== released) released = "";
    }, true);
  }
  document.addEventListener("keydown", ({ key }) => key === "Escape" && (released = pointer), true);

  /** @param {HTMLElement} figure */
  function mount(figure) {
    const table = /** @type {HTMLTableElement} */ (figure.querySelector(".matrix-table"));
    const cells = Article.cells.of(figure);
    if (!cells.length) return;
    makeGrid(figure, table, cells);
    addReadout(figure);
    const toggle = previewAndLock(figure, table);
    walkByKeys(table, toggle);
  }

  /**
   * One stop for Tab instead of a box to scroll; the cells are reached from there.
   *
   * @param {HTMLElement} figure
   * @param {HTMLTableElement} table
   * @param {ReturnType<typeof Article.cells.of>} cells
   */
  function makeGrid(figure, table, cells) {
    table.setAttribute("role", "grid");
    table.setAttribute("aria-readonly", "true");
    for (const { td } of cells) td.tabIndex = -1;
    makeStop(table, cells[0].td);
    const scroll = /** @type {HTMLElement} */ (figure.querySelector(".matrix-scroll"));
    for (const name of ["tabindex", "role", "aria-labelledby"]) scroll.removeAttribute(name);
    watchOverflow(scroll);
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
      const isMoved = place(event) !== released; // the page may move under a pointer that rests
      if (event.pointerType === "mouse" && isMoved) preview(Article.cells.at(event));
    });
    table.addEventListener("pointerleave", () => preview(null));
    table.addEventListener("focusin", (event) => {
      const cell = Article.cells.at(event);
      if (cell?.matches(":focus-visible")) preview(cell);
    });
    table.addEventListener("focusout", ({ relatedTarget }) => table.contains(relatedTarget) || preview(null));
    table.addEventListener("mousedown", (event) => {
      const cell = Article.cells.at(event);
      if (!cell || event.button !== 0) return;
      event.preventDefault(); // a press that begins to select text costs a long page milliseconds
      cell.focus({ preventScroll: true });
    });
    table.addEventListener("click", (event) => {
      const cell = Article.cells.at(event);
      if (!cell) return;
      makeStop(table, cell);
      toggle(cell);
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
   * @param {HTMLTableElement} table
   * @param {(cell: HTMLTableCellElement) => void} toggle
   */
  function walkByKeys(table, toggle) {
    table.addEventListener("keydown", (event) => {
      const cell = Article.cells.at(event);
      if (!cell) return;
      const locks = LOCK_KEYS.includes(event.key);
      const next = Article.cells.neighbour(cell, event);
      if (!locks && !next) return;
      event.preventDefault();
      if (locks) {
        toggle(cell);
      } else {
        makeStop(table, next);
        next.focus();
      }
    });
  }

  /**
   * The cell that Tab enters, described for those who hear it.
   *
   * @param {HTMLTableElement} table
   * @param {HTMLTableCellElement} cell
   */
  function makeStop(table, cell) {
    const before = table.querySelector('td[tabindex="0"]');
    if (before) /** @type {HTMLElement} */ (before).tabIndex = -1;
    cell.tabIndex = 0;
    cell.setAttribute("aria-label", sentence(cell));
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
    const line = Article.make("p", { className: "readout" }, hint(figure));
    line.setAttribute("aria-hidden", "true"); // the cells speak for themselves
    figure.append(line);
    figure.classList.add("has-readout");
    return line;
  }

  /**
   * Say by a fading edge that a matrix goes on.
   *
   * @param {HTMLElement} scroll
   */
  function watchOverflow(scroll) {
    const mark = () => {
      const rest = scroll.scrollWidth - scroll.clientWidth - scroll.scrollLeft;
      scroll.parentElement.classList.toggle("has-more", rest > 1);
      scroll.parentElement.classList.toggle("fits", scroll.scrollWidth <= scroll.clientWidth);
    };
    scroll.addEventListener("scroll", mark, { passive: true });
    new ResizeObserver(mark).observe(scroll);
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
    figure.classList.toggle("has-cell", cell !== null);
    const line = figure.querySelector(".readout");
    line?.classList.toggle("is-value", cell !== null);
    if (line) line.textContent = cell ? sentence(cell) : hint(figure);
    figure.dispatchEvent(new CustomEvent("article:cell", { bubbles: true, detail: cell }));
  }

  /** The numbers have changed: what is said of a cell is said again. */
  function refresh(figure) {
    const stop = figure.querySelector('td[tabindex="0"]');
    stop?.setAttribute("aria-label", sentence(stop));
    if (figure.classList.contains("has-cell")) figure.dispatchEvent(new CustomEvent("article:numbers"));
  }

  /** Rows or columns have come or gone: there is still one stop for Tab. */
  function reshaped(figure) {
    const table = figure.querySelector(".matrix-table");
    const [first] = Article.cells.of(figure);
    if (first && !table.querySelector('td[tabindex="0"]')) makeStop(table, first.td);
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

  Article.matrix = { mount, addReadout, sentence, hint, light, refresh, reshaped, watchOverflow };
})((window.Article ??= {}));
