// The cells of tables: where each is in its matrix, which one is at a place, and where keys lead.
(function (Article) {
  "use strict";

  /** Cells that keys walk through: of a matrix, of votes, of a calculation that is written out, and of
   *  the laboratory. */
  const CELLS = ':is(.matrix-table[role="grid"] tbody td, td[data-first], td[data-of])';

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
    return target.closest(CELLS);
  }

  /** What its row and its column are called. */
  function heads(cell) {
    return { row: cell.parentElement.cells[0], column: cell.closest("table").tHead.rows[0].cells[cell.cellIndex] };
  }

  /** @returns {HTMLTableCellElement | null} where a key leads from a cell; rows of unequal length end alike */
  function neighbour(cell, event) {
    const cellsOf = (tr) => [...tr.cells].filter((td) => td.matches(CELLS)).reverse();
    const rows = [...cell.closest("table").rows].map(cellsOf).filter((row) => row.length);
    const y = rows.findIndex((row) => row.includes(cell)), x = rows[y].indexOf(cell);
    const ends = event.ctrlKey || event.metaKey;
    const goes = {
      ArrowLeft: [y, x + 1], ArrowRight: [y, x - 1], ArrowUp: [y - 1, x], ArrowDown: [y + 1, x],
      Home: [ends ? 0 : y, Infinity], End: [ends ? Infinity : y, 0],
    }[event.key];
    if (!goes) return null;
    const within = (index, list) => list[Math.min(Math.max(index, 0), list.length - 1)];
    return within(goes[1], within(goes[0], rows));
  }

  Article.cells = { CELLS, of, placed, find, at, heads, neighbour };
})((window.Article ??= {}));
