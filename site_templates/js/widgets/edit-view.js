// What if: the part of the panel where the open cell, or its row of A, is overwritten.
//
// It is built when it is unfolded, and stays as it is while its cell stays open, so that a slider
// can be drawn and the page follows. What cannot be used is refused in place, with the reason.
(function (Article) {
  "use strict";

  const { make } = Article;
  const STEPS = 200;
  const SEEN = 0.005;

  /** Whether the reader has unfolded it; it is so for the next cell too. */
  let isOpen = false;
  /** What the panel shows now. */
  let latest;

  /** @param {any} opened what `cellView.view` shows @returns {HTMLElement | null} */
  function section(opened) {
    const { place, run } = (latest = opened);
    if (place.stage !== "trained" || place.cell.isGradient || !Article.edits.isFree(place.cell, run)) return null;
    const details = make("details", { className: "cell-edit", open: isOpen || opened.isOverwritten }, make("summary", {}, Article.text("edit_title")));
    if (details.open) unfold(details, opened);
    details.addEventListener("toggle", () => {
      isOpen = details.open;
      if (isOpen && !details.querySelector("form")) unfold(details, latest);
    });
    return details;
  }

  function unfold(details, opened) {
    const { place, run } = opened;
    const address = Article.cellNames.address(place, run).split(":").at(-1);
    const value = current(opened);
    const problem = make("p", { className: "cell-edit-problem", role: "alert" });
    const refuse = (text) => (problem.textContent = text);
    const result = make("div", { className: "cell-edit-p" });
    const put = (values, options, to = address) => {
      if (Article.edits.isZeroDivisor(place.cell, values[0])) return refuse(Article.text("edit_zero"));
      const isKept = Article.edits.set(to, values, options);
      refuse(isKept ? "" : Article.text("edit_too_many"));
      if (!options?.replace) result.scrollIntoView({ block: "nearest" });
    };
    details.append(typed(value, put, refuse), slider(opened, value, put), problem, result, swap(opened, put, refuse, address));
    if (isPattern(place)) details.append(row(opened, put, refuse, address));
    update(details, opened);
  }

  const isPattern = ({ cell }) => cell.key.endsWith(".attn.pattern");
  const current = ({ made, stored, place }) => stored({ ...place.cell, value: made.result });

  /** A field for a number; its arrow keys go up and down. */
  function typed(value, put, refuse) {
    const field = make("input", { type: "text", inputMode: "decimal", size: 12, name: "value", value: String(value), autocomplete: "off" });
    const form = make("form", {}, make("label", {}, Article.text("edit_value"), " ", field), " ", make("button", { className: "cell-toggle" }, Article.text("edit_apply")));
    let isStepped = false; // one step of the history for each walk by arrow keys
    field.addEventListener("blur", () => (isStepped = false));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      isStepped = false;
      const found = check(field.value, refuse);
      if (found === null) return;
      use(field);
      put([found]);
    });
    field.addEventListener("keydown", (event) => {
      const sign = { ArrowUp: 1, ArrowDown: -1 }[event.key];
      const found = sign && Article.edits.number(field.value);
      if (typeof found !== "number") return;
      event.preventDefault();
      const next = found + sign * (event.shiftKey ? 1 : 0.1);
      field.value = String(Number(next.toPrecision(7)));
      use(field);
      put([Number(field.value)], { replace: isStepped });
      isStepped = true;
    });
    return form;
  }

  /** What a field holds is no longer something that is being typed. */
  const use = (field) => (field.defaultValue = field.value);

  /** @returns {number | null} null for what has been refused */
  function check(text, refuse) {
    const value = Article.edits.number(text);
    if (value !== null) return value;
    const isLarge = Math.abs(Number(Article.edits.plain(text))) > Article.edits.LARGEST;
    refuse(isLarge ? Article.text("edit_too_large", { text, limit: Article.edits.LARGEST.toLocaleString("en-US") }) : Article.text("edit_not_a_number", { text }));
    return null;
  }

  function slider({ place }, value, put) {
    const isShare = isPattern(place) || place.cell.key === "probs";
    const size = Math.max(1, 2 * Math.abs(value));
    const [min, max] = isShare ? [0, 1] : [-size, size];
    const range = { min: String(min), max: String(max), step: String((max - min) / STEPS), value: String(value) };
    const made = make("input", { type: "range", name: "slider", ariaLabel: Article.text("edit_slider"), ...range });
    let isDrawn = false; // one step of the history for each pull
    made.addEventListener("input", () => {
      put([Number(Number(made.value).toPrecision(6))], { replace: isDrawn });
      isDrawn = true;
    });
    made.addEventListener("change", () => {
      isDrawn = false;
      use(made);
    });
    return made;
  }

  /** Take the cell, or the row, from where another problem has it. */
  function swap(opened, put, refuse, address) {
    const { place, run } = opened;
    const line = make("p", { className: "cell-edit-swap" });
    if (run.tensors[place.cell.key].isWeight) {
      const before = Article.engine.valueOf({ model: opened.numbers.model, weights: Article.passes.weights("initial") }, place.cell);
      line.append(button(Article.text("edit_initial"), () => put([opened.stored({ ...place.cell, value: before })])));
      return line;
    }
    const { chooser } = Article, parts = chooser.selects();
    chooser.write(parts, place.problem.split("x").reverse());
    const cellOf = (cell) => {
      const problem = chooser.chosen(parts);
      const known = Article.cellNames.parse(Article.cellNames.address({ ...place, cell, problem }, run), run);
      return known && Article.number.stored(Article.engine.valueOf(Article.passes.at({ problem, stage: place.stage }, true), cell), false);
    };
    const take = (cells, to) => {
      const values = cells.map(cellOf);
      if (values.includes(null)) refuse(Article.text("edit_no_such_position", { problem: Article.cellNames.problem(chooser.chosen(parts)) }));
      else put(values, {}, to);
    };
    line.append(Article.text("edit_from"), " ", ...chooser.shown(parts), " ", button(Article.text("edit_cell"), () => take([place.cell], address)));
    if (isPattern(place)) line.append(" ", button(Article.text("edit_row"), () => take(rowOf(place.cell), rowAddress(address))));
    return line;
  }

  const rowOf = (cell) => Array.from({ length: cell.row + 1 }, (_, column) => ({ ...cell, column }));
  const rowAddress = (address) => address.replace(/,\d+\]$/, "]");

  /** The whole row of A: its numbers typed, or all the same. */
  function row(opened, put, refuse, address) {
    const { place } = opened;
    const n = place.cell.row + 1;
    const field = make("input", { type: "text", name: "row", size: 24, autocomplete: "off" });
    const form = make("form", {}, make("label", {}, Article.text("edit_whole_row"), " ", field), " ", make("button", { className: "cell-toggle" }, Article.text("edit_apply")), " ",
      button(Article.text("edit_uniform"), () => put(Array(n).fill(Number((1 / n).toPrecision(7))), {}, rowAddress(address))));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const texts = Article.edits.plain(field.value).split(/[\s,、;]+/).filter(Boolean);
      if (texts.length !== n) return refuse(Article.text("edit_row_length", { wanted: n, given: texts.length }));
      const values = texts.map((text) => check(text, refuse));
      if (!values.includes(null)) put(values, {}, rowAddress(address));
    });
    return make("div", { className: "cell-edit-row" }, form, make("p", { className: "cell-edit-sum" }));
  }

  function button(text, press) {
    const made = make("button", { type: "button", className: "cell-toggle" }, text);
    made.addEventListener("click", press);
    return made;
  }

  /** Show what the cell is now, and P before and after. */
  function update(details, opened) {
    latest = opened;
    if (!details.querySelector("form")) return;
    const { place } = opened;
    const field = (name) => /** @type {HTMLInputElement | null} */ (details.querySelector(`[name="${name}"]`));
    const isTyped = (input) => input === document.activeElement && input.value !== input.defaultValue;
    const show = (input, text) => isTyped(input) || (input.value = input.defaultValue = text);
    const value = current(opened);
    const slide = field("slider");
    if (Math.abs(value) > Number(slide.max)) [slide.min, slide.max] = [Number(slide.min) && -2 * Math.abs(value), 2 * Math.abs(value)].map(String);
    show(field("value"), String(value));
    show(slide, String(value));
    if (isPattern(place)) {
      const values = rowOf(place.cell).map((cell) => Article.number.rounded(Article.engine.valueOf(opened.numbers, cell)));
      show(field("row"), values.map((share) => String(Number(share.toPrecision(4)))).join(" "));
      const sum = Article.number.display(values.reduce((a, b) => a + b, 0), 4);
      details.querySelector(".cell-edit-sum").textContent = Article.text("edit_sum", { sum });
    }
    details.querySelector(".cell-edit-p").replaceChildren(probabilities(opened));
  }

  /** P of what is said next, as the model has it and as it is overwritten. */
  function probabilities({ place, run, numbers }) {
    const { cell, problem, stage } = place;
    const [axis] = run.tensors[cell.key].axes.filter((name) => name !== "head");
    const known = Article.cellNames.problemOf(run, problem);
    const isAnswer = Article.cellNames.POSITIONS.includes(axis) && !run.tensors[cell.key].isWeight && cell.row >= known.asked;
    const position = isAnswer ? cell.row : Math.min(Article.state.get().position ?? known.prompt - 1, numbers.model.rows.n - 1);
    const passes = [Article.passes.at({ problem, stage }, true), Article.passes.at({ problem, stage })];
    const { vocab } = run.dataset;
    const all = vocab.map((token, column) => ({ token, shares: passes.map((pass) => Article.engine.valueOf(pass, { key: "probs", head: null, row: position, column })) }));
    const seen = all.filter(({ shares }) => Math.max(...shares) >= SEEN);
    const rest = [0, 1].map((i) => all.filter((line) => !seen.includes(line)).reduce((sum, { shares }) => sum + shares[i], 0));
    const cells = (shares) => shares.map((share) => make("td", {}, Article.number.display(share, 3)));
    const prompt = Article.cellNames.tokensOf(run, problem).slice(0, position + 1).map(Article.cellNames.token).join("");
    return make("table", {}, make("caption", {}, Article.text("edit_p", { prompt })),
      make("thead", {}, make("tr", {}, make("td", {}), ...[Article.text("edit_before"), Article.text("edit_after")].map((text) => make("th", { scope: "col" }, text)))),
      make("tbody", {}, ...seen.map(({ token, shares }) => make("tr", {}, make("th", { scope: "row" }, Article.cellNames.token(token)), ...cells(shares))),
        make("tr", {}, make("th", { scope: "row" }, Article.text("edit_rest")), ...cells(rest))));
  }

  Article.editView = { section, update };
})((window.Article ??= {}));
