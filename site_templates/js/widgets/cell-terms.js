// The arithmetic of an open cell, as a table: a line for each term, and the steps to the result.
//
// Every operand is a link with the address of its cell in `data-cell`; the panel does the walking.
(function (Article) {
  "use strict";

  const { make } = Article;
  /** Lines that come with the panel; the others follow when the page is at rest. */
  const AT_ONCE = 24;

  /**
   * The terms, a line each, then what is done with them together.
   *
   * @param {import("./cell-view").Opened} opened
   * @returns {HTMLElement[]}
   */
  function arithmetic(opened) {
    const { made, run, stored, isUnrounded, place } = opened;
    const shown = Article.arithmetic.shown(made, run.sizes.ln_eps, stored, isUnrounded);
    const width = Math.max(1, ...shown.lines.map(widthOf));
    const table = make("table", { className: "cell-terms" },
      make("caption", { className: "visually-hidden" }, Article.text("cell_made")),
      make("tbody", {}, ...shown.lines.slice(0, AT_ONCE).map((line) => row(line, width, opened))),
      make("tfoot", {}, ...shown.steps.map((step) => stepRow(step, width, opened)), resultRow(shown, width, opened)));
    table.dataset.operation = made.operation;
    const rest = shown.lines.slice(AT_ONCE);
    if (rest.length) opened.later(table, ({ tBodies: [body] }) => body.append(...rest.map((line) => row(line, width, opened))));
    if (shown.lines.length > 1) table.querySelector("caption").after(columns(made, run));
    const notes = [shown.left ? Article.text("cell_left", { count: shown.left }) : "",
      isUnrounded ? "" : Article.text(shown.agrees ? "cell_rounded_note" : "cell_disagrees", { decimals: shown.decimals })];
    const toggle = make("button", { type: "button", className: "cell-toggle cell-unrounded", ariaPressed: String(isUnrounded) }, Article.text("cell_unrounded"));
    return [
      make("p", { className: "cell-sentence" }, Article.text(`cell_operation_${made.operation}`, { mean: shown.mean })),
      make("div", { className: "cell-scroll" }, table),
      make("div", { className: "cell-notes" }, make("p", {}, notes.filter(Boolean).join(" ")), toggle),
    ];
  }

  /** Columns of numbers, with the signs between them. */
  const widthOf = ({ factors, parts }) => (factors.length > 1 ? 5 : 1 + parts.length);

  /** What stands in the columns. */
  function columns(made, run) {
    const pair = made.terms.find(({ operands }) => operands.length > 1) ?? made.terms[0];
    const letter = (i) => isMixed(made) ? "" : Article.cellNames.letter(run, pair.operands[i]);
    const word = (name) => Article.text(`cell_column_${name}`);
    const product = () => [letter(0), null, letter(1), null, word("product")];
    const heads = {
      dot: product,
      softmax_backward: product,
      standardize_backward: product,
      softmax: () => [letter(0), make("span", {}, "e", make("sup", {}, letter(0), " \u2212 max"))],
      deviation: () => [letter(0), word("centred"), word("square")],
      standardize: () => [letter(0)],
    }[made.operation];
    if (!heads) return make("thead", {});
    const cell = (content) => (content === null ? make("td", {}) : make("th", { scope: "col" }, content));
    return make("thead", {}, make("tr", {}, cell(word("source")), ...heads().map(cell)));
  }

  /** One term. */
  function row({ factors, parts, at, isOwn }, width, opened) {
    const cells = factors.length > 1
      ? [number(factors[0], opened), sign("\u00d7"), number(factors[1], opened), sign("="), result(parts[0])]
      : [number(factors[0], opened), ...parts.map(result)];
    if (width === 5 && factors.length === 1) cells.unshift(...Array.from({ length: 4 }, () => make("td", {})));
    return make("tr", isOwn ? { className: "cell-own" } : {}, make("th", { scope: "row" }, ...about(factors[0].operand, at, opened)), ...cells);
  }

  /** What a line is about: the index that is summed over, and what is at it where that can differ. */
  function about({ key, isGradient, head }, at, { made, place, run }) {
    if (at.length === 0 || made.operation === "affine") return [Article.cellNames.letter(run, { key, isGradient })];
    if (!isMixed(made)) return [Article.cellNames.about(at, place, run)];
    const letter = Article.cellNames.letter(run, { key });
    return [letter, make("sub", {}, String(head + 1)), `[${at.at(-1).index}]`];
  }

  /** Whether products of several pairs of matrices are added, so that a line must say which. */
  function isMixed({ operation, terms }) {
    const pairs = terms.filter(({ operands }) => operands.length > 1).map(({ operands }) => operands[0].key);
    return operation === "dot" && new Set(pairs).size > 1;
  }

  const sign = (text) => make("td", { className: "cell-sign" }, text);
  const result = (text) => make("td", {}, text);

  function number({ operand, text }, opened) {
    return make("td", {}, link(operand, text, opened));
  }

  /** A link that opens another cell. */
  function link(cell, text, { place, run, href }) {
    const other = { ...place, cell };
    const address = Article.cellNames.address(other, run), name = Article.cellNames.name(other, run);
    const made = make("a", { className: "cell-operand", href: href + address, title: name, ariaLabel: `${text}, ${name}` }, text);
    made.dataset.cell = address;
    return made;
  }

  function stepRow({ name, text, operand }, width, opened) {
    const { made: { terms }, run } = opened;
    const said = Article.text(`cell_step_${name}`, { width: terms.length, eps: run.sizes.ln_eps.toFixed(5) });
    const label = make("th", { scope: "row", colSpan: width }, said);
    if (operand) label.append(" ", Article.cellNames.letter(run, operand));
    const made = make("tr", {}, label, make("td", {}, operand ? link(operand, text, opened) : text));
    made.dataset.step = name;
    return made;
  }

  function resultRow({ result: text, agrees }, width, { made, place, run }) {
    const root = made.operation === "deviation" ? "\u221a " : "";
    return make("tr", { className: "cell-result" },
      make("th", { scope: "row", colSpan: width },
        Article.cellNames.letter(run, place.cell), Article.cellNames.indices(place, run)),
      make("td", {}, root, agrees ? "= " : "\u2248 ", make("output", {}, text)));
  }

  Article.cellTerms = { arithmetic, link };
})((window.Article ??= {}));
