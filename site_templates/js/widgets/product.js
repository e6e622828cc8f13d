// Linked highlighting: a cell of one matrix lights what it comes from and what it goes into.
(function (Article) {
  "use strict";

  const DIGITS = 4;

  /** @param {HTMLElement} product */
  function mount(product) {
    const figures = new Map();
    for (const figure of product.querySelectorAll("figure.matrix")) figures.set(figure.dataset.role, figure);
    const line = Article.matrix.addReadout(product);

    product.addEventListener("article:cell", (event) => {
      const chosen = /** @type {CustomEvent} */ (event).detail;
      const cell = chosen ?? product.querySelector("td.open"); // a lock elsewhere takes over again
      const figure = cell?.closest("figure.matrix");
      const lit = cell ? related(product.dataset.operation, figure.dataset.role, Article.cells.placed(cell)) : {};
      for (const [role, other] of figures) Article.matrix.light(other, ...(lit[role] ?? [null, null]));
      line.classList.toggle("is-value", cell !== null);
      line.textContent = cell ? explain(product, figures, figure, cell) : Article.matrix.hint(product);
    });
    product.addEventListener("click", (event) => {
      const clicked = /** @type {Element} */ (event.target).closest("figure.matrix");
      if (!clicked) return;
      for (const figure of figures.values()) {
        const holds = figure !== clicked && figure.classList.contains("has-cell");
        if (holds) figure.dispatchEvent(new CustomEvent("article:release")); // one lock at a time
      }
    });
  }

  /**
   * What lights in each matrix, as [row, column]; null stands for all of them.
   *
   * @param {string} operation `product` or `sum`
   * @param {string} role of the matrix that holds the cell
   * @param {{row: number, column: number}} at
   * @returns {Record<string, [number | null, number | null]>}
   */
  function related(operation, role, { row, column }) {
    if (operation === "sum") {
      return { left: [row, column], right: [row, column], result: [row, column] };
    }
    return {
      result: { left: [row, null], right: [null, column], result: [row, column] },
      left: { left: [row, column], right: [column, null], result: [row, null] },
      right: { left: [null, row], right: [row, column], result: [null, column] },
    }[role];
  }

  /**
   * The cell in full, and for a cell of the result the arithmetic that makes it.
   *
   * @param {HTMLElement} product
   * @param {Map<string, HTMLElement>} figures
   * @param {HTMLElement} figure
   * @param {HTMLTableCellElement} cell
   */
  function explain(product, figures, figure, cell) {
    const said = Article.matrix.sentence(cell);
    const complete = figures.has("left") && figures.has("right");
    const isMade = figure.dataset.role === "result" && cell.dataset.value !== undefined && !cell.matches(".edited");
    if (!isMade || !complete) return said;
    const terms = (product.dataset.operation === "sum" ? addends : products)(figures, Article.cells.placed(cell));
    const sum = terms.map((term) => term.text).join(" + ");
    const scale = product.dataset.scale;
    const total = terms.reduce((before, term) => before + term.value, 0) * Number(scale ?? 1);
    const sign = agree(total, Number(cell.dataset.value)) ? "=" : "\u2248";
    return `${said} ${sign} ${scale ? `(${sum}) × ${scale}` : sum}`;
  }

  /**
   * Whether decimals of at most some ten digits are equal, whatever binary arithmetic adds to them.
   *
   * @param {number} a
   * @param {number} b
   */
  function agree(a, b) {
    return Math.abs(a - b) <= 1e-12 * Math.abs(b);
  }

  /** @returns {{value: number, text: string}[]} the terms, and what they are as they are shown */
  function addends(figures, { row, column }) {
    return ["left", "right"].map((role) => {
      const value = Number(Article.cells.find(figures.get(role), row, column)?.dataset.value);
      return { value, text: bracketed(Article.number.exact(value)) };
    });
  }

  /** @returns {{value: number, text: string}[]} the same for a product; masked cells take no part */
  function products(figures, { row, column }) {
    return Article.cells.of(figures.get("left"))
      .filter((left) => left.row === row)
      .map((left) => [left.td, Article.cells.find(figures.get("right"), left.column, column)].map((td) => td?.dataset.value))
      .filter((pair) => !pair.includes(undefined))
      .map((pair) => pair.map((factor) => Number(Number(factor).toFixed(DIGITS))))
      .map(([left, right]) => ({ value: left * right, text: `${short(left)} × ${short(right)}` }));
  }

  /** @param {number} value */
  function short(value) {
    return bracketed(Article.number.display(value, DIGITS));
  }

  /** @param {string} text */
  function bracketed(text) {
    return text.startsWith("\u2212") ? `(${text})` : text;
  }

  Article.product = { mount };
})((window.Article ??= {}));
