// A table whose cells are chosen: one stop for Tab, arrows walk from there.
(function (Article) {
  "use strict";

  /**
   * @param {HTMLTableElement} table
   * @param {(cell: HTMLTableCellElement) => void} [choose] what a click or Enter does, beside opening what opens
   */
  function mount(table, choose = () => {}) {
    table.role = "grid";
    table.ariaReadOnly = "true";
    for (const name of ["tabindex", "role", "aria-label", "aria-labelledby"]) table.parentElement.removeAttribute(name);
    reshaped(table);
    table.addEventListener("mousedown", (event) => {
      // A press that begins to select text, or to look for what takes the focus, costs a long page milliseconds.
      if (event.button === 0 && Article.cells.at(event)) event.preventDefault();
    });
    table.addEventListener("click", (event) => {
      const cell = Article.cells.at(event);
      if (!cell) return;
      cell.focus({ preventScroll: true }); // before anything changes that the browser would lay out for it
      stop(cell);
      choose(cell);
    });
    table.addEventListener("keydown", (event) => {
      const cell = Article.cells.at(event), next = cell && Article.cells.neighbour(cell, event);
      const isChoice = cell && ["Enter", " "].includes(event.key);
      if (!isChoice && !next) return;
      event.preventDefault();
      if (isChoice) return choose(cell);
      stop(next);
      next.focus();
    });
  }

  /** The cell that Tab enters; one of a matrix is described for those who hear it. */
  function stop(cell) {
    const table = cell.closest("table"), before = table.querySelector('td[tabindex="0"]');
    if (before === cell) return;
    if (before) before.tabIndex = -1;
    cell.tabIndex = 0;
    if (table.matches(".matrix-table")) cell.ariaLabel = Article.matrix.sentence(cell);
  }

  /** Rows or columns may have come or gone: there is still one stop. */
  function reshaped(table) {
    const first = table.querySelector(Article.cells.CELLS);
    if (first && !table.querySelector('td[tabindex="0"]')) stop(first);
  }

  Article.grid = { mount, stop, reshaped };
})((window.Article ??= {}));
