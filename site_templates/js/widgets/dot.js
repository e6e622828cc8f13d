// One cell of a product, a term a line, follows what the reader looks at.
(function (Article) {
  "use strict";

  const MOST = 12, FEWEST = 2;

  /**
   * @param {HTMLElement} figure
   * @param {import("./follow").View} view
   */
  function write(figure, view) {
    const own = Article.follow.own(figure, ({ left, right, result, row, column, decimals }) => ({
      ...{ left, right, result }, row: Number(row), column: Number(column), wanted: Number(decimals),
    }));
    const table = /** @type {HTMLTableElement} */ (figure.querySelector(".dot-table"));
    const [left, right, result] = ["left", "right", "result"].map((name) => part(own[name], own, view));
    const { position } = Article.follow.resolve(own, view);
    const row = position ?? own.row;
    const { axes } = view.run.tensors[left.key];
    const n = length(axes.at(-1), right.problem || left.problem, view);
    const terms = Array.from({ length: n }, (_, k) => [left.at(row, k), right.at(k, own.column), k]).filter(([a, b]) => a && b);
    const total = result.at(row, own.column);
    const products = terms.map(([a, b]) => a * b);
    const decimals = thatAddUp(products, total, own.wanted);
    table.tBodies[0].replaceChildren(...terms.map(([a, b, k], i) => line(label(axes.at(-1), k, left.problem, view), a, b, products[i], decimals)));
    const [name, sum] = table.tFoot.rows[0].cells;
    number(sum, total, decimals);
    const { key, problem } = result;
    const at = Article.cellNames.indices({ cell: { key, row, column: own.column }, problem }, view.run);
    for (const { lastChild } of [name, table.caption]) lastChild.textContent = lastChild.textContent.replace(/\[[^[\]]*\]$/, at);
  }

  /** The matrix at an address such as KEY[HEAD], in the pass that is looked at. */
  function part(text, own, view) {
    const [, written, index] = /^([^[]*)(?:\[(\d+)\])?$/.exec(text);
    const { key, head, problem } = Article.follow.address(written, index === undefined ? null : Number(index), own, view);
    const { isWeight } = view.run.tensors[key];
    const raw = Article.follow.numbers({ key, head, problem, stage: own.stage }, view);
    return { key, problem, at: (row, column) => Article.number.stored(raw(row, column) ?? 0, isWeight) };
  }

  const isPosition = (axis) => Article.cellNames.POSITIONS.includes(axis);

  function length(axis, problem, { run }) {
    return isPosition(axis) ? Article.cellNames.tokensOf(run, problem).length : run.sizes[axis];
  }

  function label(axis, k, problem, { run }) {
    return isPosition(axis) ? Article.cellNames.token(Article.cellNames.tokensOf(run, problem)[k]) : String(k);
  }

  function line(label, a, b, product, decimals) {
    const { make } = Article.cellView;
    return make("tr", {}, make("th", { scope: "row" }, label), ...[a, "\u00d7", b, "=", product].map((content) => {
      const td = document.createElement("td");
      if (typeof content === "string") td.textContent = content;
      else number(td, content, decimals);
      return td;
    }));
  }

  function number(td, value, decimals) {
    td.dataset.value = String(value);
    td.textContent = Article.number.display(value, decimals);
  }

  /** As many decimals as wanted, or the fewest beyond, or the most below, with which terms add up. */
  function thatAddUp(terms, total, wanted) {
    const units = (value, decimals) => BigInt(value.toFixed(decimals).replace(".", ""));
    const adds = (decimals) => terms.reduce((sum, term) => sum + units(term, decimals), 0n) === units(total, decimals);
    for (let decimals = wanted; decimals <= MOST; decimals++) if (adds(decimals)) return decimals;
    for (let decimals = wanted - 1; decimals >= FEWEST; decimals--) if (adds(decimals)) return decimals;
    return wanted;
  }

  Article.dot = { write };
})((window.Article ??= {}));
