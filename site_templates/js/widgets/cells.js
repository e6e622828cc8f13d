// The cells of a matrix's table: where each is in its matrix, and which one is at a place.
(function (Article) {
  "use strict";

  /** Columns of a figure that shows only some. */
  const columnsOf = (figure) => figure.dataset.columns?.split(" ").map(Number);
  const placeOf = (tr, i, columns) => ({ row: Number(tr.dataset.row), column: columns?.[i] ?? i });
  const rowsOf = (figure) => [...figure.querySelector("tbody").rows];

  /**
   * Where in its matrix each cell is, and its number; null where masked.
   *
   * @returns {{td: HTMLTableCellElement, row: number, column: number, number: number | null}[]}
   */
  function of(figure) {
    const columns = columnsOf(figure);
    return rowsOf(figure).flatMap((tr) => [...tr.cells].slice(1).map((td, i) => {
      const { value } = td.dataset;
      return { td, ...placeOf(tr, i, columns), number: value === undefined ? null : Number(value) };
    }));
  }

  /** @returns {{row: number, column: number}} where in its matrix a cell is */
  function placed(td) {
    return placeOf(td.parentElement, td.cellIndex - 1, columnsOf(td.closest("figure")));
  }

  /** @returns {HTMLTableCellElement | undefined} if shown */
  function find(figure, row, column) {
    const i = columnsOf(figure)?.indexOf(column) ?? column;
    return i < 0 ? undefined : rowsOf(figure).find((tr) => Number(tr.dataset.row) === row)?.cells[i + 1];
  }

  /** The cell that an event is about. */
  function at({ target }) {
    return target.closest("tbody td");
  }

  /** What its row and its column are called. */
  function heads(cell) {
    return { row: cell.parentElement.cells[0], column: cell.closest("table").tHead.rows[0].cells[cell.cellIndex] };
  }

  /** @returns {HTMLTableCellElement | null} where a key leads from a cell */
  function neighbour(cell, event) {
    const row = cell.parentElement, rows = [...row.parentElement.rows];
    const [first, last] = [1, row.cells.length - 1]; // cell 0 is the row's head
    const own = { y: rows.indexOf(row), x: cell.cellIndex };
    const ends = event.ctrlKey || event.metaKey;
    const goes = {
      ArrowLeft: { y: own.y, x: own.x - 1 },
      ArrowRight: { y: own.y, x: own.x + 1 },
      ArrowUp: { y: own.y - 1, x: own.x },
      ArrowDown: { y: own.y + 1, x: own.x },
      Home: { y: ends ? 0 : own.y, x: first },
      End: { y: ends ? rows.length - 1 : own.y, x: last },
    }[event.key];
    if (!goes) return null;
    const y = Math.min(Math.max(goes.y, 0), rows.length - 1);
    return rows[y].cells[Math.min(Math.max(goes.x, first), last)];
  }

  Article.cells = { of, placed, find, at, heads, neighbour };
})((window.Article ??= {}));
