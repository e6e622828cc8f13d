// A cell opened, as HTML: its name and value, the arithmetic that makes it, and the cells that use it.
(function (Article) {
  "use strict";

  const { make } = Article;
  const { link, arithmetic } = Article.cellTerms;
  const STORED_DIGITS = 7;

  /**
   * @typedef {object} Opened what there is to show of a cell
   * @property {any} place
   * @property {any} run
   * @property {any} made its explanation
   * @property {() => any[]} users
   * @property {number | null} step
   * @property {boolean} isUnrounded
   * @property {boolean} isOverwritten by the reader; then `before` is what the model has there
   * @property {number} before
   * @property {(operand: any) => number} stored a number as the snapshot has it
   * @property {boolean} hasOverwritten whether any activation is
   * @property {boolean} isEdited whether anything is, in the model that it belongs to
   * @property {string} href what comes before the address of a cell
   * @property {(element: HTMLElement, fill: (element: HTMLElement) => void) => void} later fills it
   *   when the page is at rest
   */

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
    else if (made.operation === "weight") parts.push(...parameter(opened));
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
    const { asked: least, prompt } = names.problemOf(run, problem);
    const first = Math.max(least, ...reach.map(([, at]) => at));
    const choose = (position) => names.address({ ...place, cell: { ...cell, isGradient: true }, position }, run);
    const isPressed = String(Boolean(cell.isGradient));
    const own = make("button", { type: "button", className: "cell-toggle", ariaPressed: isPressed }, Article.text("cell_gradient"));
    const asked = Math.max(first, place.position ?? prompt - 1);
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
  function head({ place, run, made, step, isEdited, stored }) {
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
      make("p", { className: "cell-where" }, names.where({ ...place, isEdited }, run, step)),
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

  /** What training has made of a weight. */
  function parameter({ place: { cell, stage }, run, step }) {
    const { start, shape } = Article.engine.weightPlaces(run.sizes).get(cell.key);
    const [before, after] = [run.initial, run.trained].map((weights) => weights[start + shape.at(-1) * cell.row + cell.column]);
    const isBegun = stage === "trained" && step !== 0;
    const kind = before === after ? "_kept" : isBegun ? "" : "_initial";
    const [initial, trained] = [before, after].map((value) => Article.number.display(value, 4));
    return [sentence(`cell_operation_weight${kind}`), sentence("cell_stages", { initial, trained })];
  }

  /** How many cells use it, and which, when the reader unfolds that. */
  function users(opened) {
    const made = make("div", { className: "cell-users" });
    opened.later(made, () => made.append(usersOf(opened.users(), opened)));
    return made;
  }

  function usersOf(cells, opened) {
    const { length } = cells, { key, isGradient } = opened.place.cell;
    if (length === 0) return make("p", {}, Article.text(isGradient || key === "probs" ? "cell_no_users" : "cell_unused"));
    const count = length === 1 ? "cell_users_one" : "cell_users";
    const details = make("details", {}, make("summary", {}, Article.text(count, { count: length })));
    details.addEventListener("toggle", () => details.append(...userLines(cells, opened)), { once: true });
    return details;
  }

  /** A line for each tensor and head. */
  function userLines(cells, opened) {
    const { place, run } = opened;
    const names = [...new Set(cells.map(({ key, head }) => `${key} ${head}`))];
    return names.map((name) => {
      const group = cells.filter(({ key, head }) => `${key} ${head}` === name);
      const title = make("span", {}, Article.cellNames.letter(run, group[0]));
      if (group[0].head !== null) title.append(" ", make("small", {}, Article.text("figure.head", { number: group[0].head + 1 })));
      const own = (cell) => Article.cellNames.indices({ ...place, cell }, run);
      return make("div", {}, title, make("p", {}, ...group.flatMap((cell) => [link(cell, own(cell), opened), " "])));
    });
  }

  Article.cellView = { view };
})((window.Article ??= {}));
