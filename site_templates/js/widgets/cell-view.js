// A cell opened, as HTML: its name and value, the arithmetic that makes it, and the cells that use it.
//
// Every operand is a link with the address of its cell in `data-cell`; the panel does the walking.
(function (Article) {
  "use strict";

  /** Lines that come with the panel; the others follow in a task of their own. */
  const AT_ONCE = 24;
  const STORED_DIGITS = 7;

  /**
   * @typedef {object} Opened what there is to show of a cell
   * @property {any} place
   * @property {any} run
   * @property {any} made its explanation
   * @property {any[]} users
   * @property {number | null} step
   * @property {boolean} isUnrounded
   * @property {boolean} isOverwritten by the reader; then `before` is what the model has there
   * @property {number} before
   * @property {(operand: any) => number} stored a number as the snapshot has it
   * @property {boolean} hasOverwritten whether any activation is
   * @property {string} href what comes before the address of a cell
   * @property {(element: HTMLElement, fill: (element: HTMLElement) => void) => void} later fills it
   *   in a task of its own
   */

  /**
   * @param {string} tag
   * @param {Record<string, any>} properties
   * @param {...(Node | string)} children
   */
  function make(tag, properties, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }

  /**
   * @param {Opened} opened
   * @returns {Node[]}
   */
  function view(opened) {
    const { made, place } = opened;
    const parts = [head(opened)];
    if (opened.isOverwritten) parts.push(overwritten(opened));
    else if (made.operation === "error" && made.answer === null) parts.push(sentence("cell_not_asked"));
    else if (made.operation !== "mask" && made.terms.length === 0 && made.operation !== "weight") parts.push(sentence("cell_no_terms"));
    else if (made.operation === "weight") parts.push(sentence("cell_operation_weight"), stages(opened));
    else if (made.operation === "mask") parts.push(sentence("cell_operation_mask"));
    else parts.push(...arithmetic(opened));
    if (place.cell.isGradient && opened.hasOverwritten) parts.push(sentence("cell_gradient_plain"));
    if (place.cell.isGradient) parts.push(measured(opened));
    return [...parts, gradient(opened), users(opened)].filter(Boolean);
  }

  /** From a number to its gradient and back, and the choice of the loss. */
  function gradient({ place, run }) {
    const { cell, problem } = place;
    const { hasGradient } = run.tensors[cell.key];
    if (!hasGradient) return null;
    const names = Article.cellNames;
    const tokens = names.tokensOf(run, problem);
    const reach = names.axesOf(place, run).filter(([axis]) => !run.tensors[cell.key].isWeight && names.POSITIONS.includes(axis));
    const first = Math.max(0, ...reach.map(([, at]) => at));
    const choose = (position) => names.address({ ...place, cell: { ...cell, isGradient: true }, position }, run);
    const own = make("button", { type: "button", className: "cell-toggle" }, Article.text("cell_gradient"));
    own.setAttribute("aria-pressed", String(Boolean(cell.isGradient)));
    const asked = Math.max(first, place.position ?? tokens.indexOf("="));
    own.dataset.cell = cell.isGradient ? names.address({ ...place, cell: { ...cell, isGradient: false } }, run) : choose(asked);
    if (!cell.isGradient) return make("div", { className: "cell-gradient" }, own);
    const select = make("select", {}, ...tokens.slice(first).map((_, i) => {
      const position = first + i;
      return make("option", { value: choose(position), selected: position === place.position }, names.question(run, problem, position));
    }));
    return make("div", { className: "cell-gradient" }, make("label", {}, Article.text("cell_target"), " ", select), own);
  }

  /** The gradient once more, from two losses. */
  function measured({ numbers, place: { cell }, made, stored, later }) {
    const line = make("p", { className: "cell-sentence cell-measured" }, "\u00a0");
    later(line, () => {
      const found = Article.engine.slope(numbers, cell);
      const [slope, own] = [found.slope, made.result].map((value) => stored({ ...cell, value }));
      let digits = STORED_DIGITS;
      while (digits && slope.toPrecision(digits) !== own.toPrecision(digits)) digits--;
      const values = { measured: Article.number.exact(slope), computed: Article.number.exact(own), digits };
      const verdict = found.isBent ? "cell_measured_bent" : own === 0 && slope === 0 ? "cell_measured_zero" : "cell_measured_digits";
      line.textContent = Article.text("cell_measured", values) + Article.text(verdict, values);
    });
    return line;
  }

  /** A number that the reader has put there is made of nothing; a weight never was. */
  function overwritten({ place, before, stored }) {
    return sentence("cell_overwritten", { before: Article.number.exact(stored({ ...place.cell, value: before })) });
  }

  function sentence(name, values) {
    return make("p", { className: "cell-sentence" }, Article.text(name, values));
  }

  /** Letter, place, meaning, value. */
  function head({ place, run, made, step, stored }) {
    const names = Article.cellNames;
    const language = document.documentElement.lang;
    const tensor = run.tensors[place.cell.key];
    const title = make("h2", { className: "cell-title", id: "cell-title", tabIndex: -1 },
      names.letter(run, place.cell), make("span", { className: "cell-indices" }, names.indices(place, run)));
    title.setAttribute("aria-describedby", "cell-value");
    const isMasked = made.result === null;
    const value = isMasked ? Article.text("cell_masked") : Article.number.display(stored({ ...place.cell, value: made.result }));
    const full = isMasked ? "" : plain(stored({ ...place.cell, value: made.result }));
    return make("header", { className: "cell-head" },
      title,
      make("p", { className: "cell-value", id: "cell-value" }, make("b", {}, value), ...(full === value || full === "0" ? [] : [" ", make("span", {}, full)])),
      make("p", { className: "cell-where" }, names.where(place, run, step)),
      make("p", { className: "cell-place" }, names.inWords(place, run)),
      make("p", { className: "cell-meaning" },
        place.cell.isGradient ? Article.text("cell_meaning_gradient", { meaning: tensor[language] ?? tensor.en }) : tensor[language] ?? tensor.en, " ", make("code", {}, place.cell.key)));
  }

  /** A number with all digits that it has, without powers of ten. */
  function plain(value) {
    const digits = Article.number.display(value, 20);
    const size = Math.abs(value);
    if (size === 0) return "0";
    const kept = String(size).includes("e") ? 20 : (String(size).split(".")[1] ?? "").length;
    return kept === 20 ? digits.replace(/0+$/, "") : Article.number.display(value, kept);
  }

  function stages({ place, run }) {
    const values = Object.fromEntries(["initial", "trained"].map((stage) => {
      const { start, shape } = Article.engine.weightPlaces(run.sizes).get(place.cell.key);
      return [stage, Article.number.display(run[stage][start + shape.at(-1) * place.cell.row + place.cell.column], 4)];
    }));
    return sentence("cell_stages", values);
  }

  /** The terms, a line each, then what is done with them together. */
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
    const notes = [shown.left ? Article.text("cell_left", { count: String(shown.left) }) : "",
      isUnrounded ? "" : Article.text(shown.agrees ? "cell_rounded_note" : "cell_disagrees", { decimals: String(shown.decimals) })];
    const toggle = make("button", { type: "button", className: "cell-toggle cell-unrounded" }, Article.text("cell_unrounded"));
    toggle.setAttribute("aria-pressed", String(isUnrounded));
    return [
      sentence(`cell_operation_${made.operation}`, { mean: shown.mean }),
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
    const made = make("a", { className: "cell-operand", href: href + address, title: name }, text);
    made.dataset.cell = address;
    made.setAttribute("aria-label", `${text}, ${name}`);
    return made;
  }

  function stepRow({ name, text, operand }, width, opened) {
    const eps = String(opened.run.sizes.ln_eps.toFixed(5));
    const label = make("th", { scope: "row", colSpan: width }, Article.text(`cell_step_${name}`, { eps }));
    if (operand) label.append(" ", Article.cellNames.letter(opened.run, operand));
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

  /** Who uses the cell, a line for each tensor and head. */
  function users(opened) {
    const { users: cells, place, run } = opened;
    if (cells.length === 0) return sentence("cell_no_users");
    const lines = new Map();
    for (const cell of cells) {
      const line = `${cell.key} ${cell.head}`;
      lines.set(line, [...(lines.get(line) ?? []), cell]);
    }
    const count = cells.length === 1 ? "cell_users_one" : "cell_users";
    const details = make("details", { className: "cell-users" },
      make("summary", {}, Article.text(count, { count: String(cells.length) })),
      ...[...lines.values()].map((group) => {
        const title = make("span", {}, Article.cellNames.letter(run, group[0]));
        const heads = group[0].head === null ? [] : [" ", make("small", {}, Article.text("figure.head", { number: String(group[0].head + 1) }))];
        title.append(...heads);
        const own = (cell) => Article.cellNames.indices({ ...place, cell }, run);
        return make("div", {}, title, make("p", {}, ...group.flatMap((cell) => [link(cell, own(cell), opened), " "])));
      }));
    return details;
  }

  Article.cellView = { view, make };
})((window.Article ??= {}));
