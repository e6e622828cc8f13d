// What a cell is called: in the address, in a formula, and in words.
(function (Article) {
  "use strict";

  const HEAD_COLUMNS = ["attn.W_Q", "attn.W_K", "attn.W_V"];
  const HEAD_ROWS = ["attn.W_O"];
  const POSITIONS = ["pos", "query", "key"];
  const AXES = { model: "d_model", d: "d_head", mlp: "d_mlp", vocab: "d_vocab" };

  /**
   * @typedef {{cell: any, problem: string, stage: string, position: number | null}} Place a cell and
   *   the pass it belongs to; for a gradient the position whose next token is asked for
   */

  /** @param {Place} place */
  function address({ cell: { key, head, row, column, isGradient }, problem, stage, position }, run) {
    const isVector = run.tensors[key].axes.length === 1;
    const indices = [...(head === null ? [] : [head]), ...(isVector ? [] : [row]), column];
    return `${problem}:${stage}:${key}[${indices.join(",")}]${isGradient ? `@${position}` : ""}`;
  }

  /**
   * @param {string} text
   * @returns {Place | null} null if there is no such cell
   */
  function parse(text, run) {
    const [, problem, stage, key, list, target] = /^(\w+):(\w+):([\w.]+)\[([\d,]+)\](?:@(\d+))?$/.exec(text) ?? [];
    const tensor = key !== undefined && Object.hasOwn(run.tensors, key) ? run.tensors[key] : null;
    const tokens = tokensOf(run, problem);
    if (!tensor || !tokens) return null;
    const indices = list.split(",").map(Number);
    const isGradient = target !== undefined;
    const position = isGradient ? Number(target) : null;
    if (isGradient && (!tensor.hasGradient || position >= tokens.length || position < problemOf(run, problem).asked)) return null;
    const nPos = tensor.isWeight ? run.sizes.n_ctx : isGradient ? position + 1 : tokens.length;
    const lengths = tensor.axes.map((axis) => length(run, axis, nPos));
    if (indices.length !== lengths.length || indices.some((index, i) => index >= lengths[i])) return null;
    const column = indices.pop(), row = indices.pop() ?? 0, head = indices.pop() ?? null;
    return { cell: { key, head, row, column, ...(isGradient && { isGradient }) }, problem, stage, position };
  }

  function length({ sizes }, axis, nPos) {
    if (axis === "head") return sizes.n_heads;
    return POSITIONS.includes(axis) ? nPos : sizes[axis];
  }

  /** @returns {{problem: string, tokens: string[], prompt: number, asked: number} | undefined} its question has
   *   `prompt` tokens; `asked` is the first position whose next token is a target */
  function problemOf({ dataset }, problem) {
    return dataset.problems.find((known) => known.problem === problem);
  }

  /** @returns {string[] | undefined} what the model is given of a problem */
  function tokensOf(run, problem) {
    return problemOf(run, problem)?.tokens.slice(0, -1);
  }

  /** @returns {{problem: string, tokens: string[]}} the problem that has the most tokens */
  function longest({ dataset }) {
    return dataset.problems.reduce((a, b) => (b.tokens.length > a.tokens.length ? b : a));
  }

  /** @returns {string} a problem as readers see it, such as 7×8 */
  function problemLabel(problem) {
    return problem.replace("x", "\u00d7");
  }

  /** @returns {string} a target, such as 7×8= → 5 */
  function question(run, problem, position) {
    const given = tokensOf(run, problem).slice(0, position + 1).map(tokenLabel).join("");
    return `${given} \u2192 ${tokenLabel(answer(run, problem, position))}`;
  }

  /** @returns {string} the token that should follow a position */
  function answer(run, problem, position) {
    return problemOf(run, problem).tokens[position + 1];
  }

  /**
   * A cell of a matrix that a figure shows.
   *
   * @param {any} shown its `data-` attributes
   * @param {{row: number, column: number}} at
   * @returns {Place}
   */
  function ofMatrix({ key, head = null, stage, transposed, target = null, problem }, { row, column }, run) {
    const own = cellsOf(run, key, head === null ? null : Number(head));
    const isGradient = target !== null;
    const cell = { ...(transposed ? own(column, row) : own(row, column)), ...(isGradient && { isGradient }) };
    return { cell, problem, stage, position: isGradient ? Number(target) : null };
  }

  /** @returns {(row: number, column: number) => any} cells of a tensor, or of one head of it, in the coordinates of the whole */
  function cellsOf(run, key, head) {
    const [addRow, addColumn, isPart] = offset(run, key, head);
    return (row, column) => ({ key, head: isPart ? null : head, row: row + addRow, column: column + addColumn });
  }

  /** Where a head's part of a weight starts: rows, columns, and whether it is a part. */
  function offset({ tensors, sizes }, key, head) {
    const { name } = tensors[key];
    const start = Number(head) * sizes.d_head;
    if (HEAD_ROWS.includes(name)) return [start, 0, head !== null];
    return HEAD_COLUMNS.includes(name) ? [0, start, head !== null] : [0, 0, false];
  }

  /** @returns {Map<string, HTMLElement[]>} the page's matrices, by key and stage */
  function figures() {
    const all = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("figure.matrix[data-stage]"));
    return Map.groupBy(all, ({ dataset: { key, stage } }) => `${key} ${stage}`);
  }

  /**
   * The cells of tables on this page that show a cell.
   *
   * @param {Place} place
   * @param {ReturnType<typeof figures>} [known] the page's figures, where many cells are looked for
   * @returns {HTMLElement[]}
   */
  function onPage({ cell, problem, stage, position }, run, known = figures()) {
    const { isWeight, axes } = run.tensors[cell.key];
    const isValueOfWeight = isWeight && !cell.isGradient, hasHeads = axes.includes("head");
    return (known.get(`${cell.key} ${stage}`) ?? []).flatMap((figure) => {
      const { head, transposed, target, problem: own } = figure.dataset;
      if ((target ?? null) !== (cell.isGradient ? String(position) : null)) return [];
      if (!isValueOfWeight && own !== problem) return [];
      if (hasHeads && Number(head) !== cell.head) return [];
      const [addRow, addColumn] = offset(run, cell.key, head ?? null);
      let [row, column] = [cell.row - addRow, cell.column - addColumn];
      if (transposed) [row, column] = [column, row];
      return Article.cells.find(figure, row, column) ?? [];
    });
  }

  /** @returns {DocumentFragment} the article's letter, or the key's last words where there is none */
  function letter({ tensors }, { key, isGradient = false }) {
    const element = (tag, ...children) => Article.make(tag, {}, ...children);
    const { letter: own, name: last } = tensors[key];
    const pieces = own.split(/_(\w+)/); // every second one is a subscript
    const parts = own ? pieces.map((piece, i) => element(i % 2 ? "sub" : "i", piece)) : [element("code", last)];
    const made = document.createDocumentFragment();
    if (isGradient) made.append(element("i", "G"), element("sub", ...parts));
    else made.append(...parts);
    return made;
  }

  /** @returns {string} a cell as a formula writes it, such as Q[8, 2] */
  function name(place, run) {
    const { letter: own, name: last } = run.tensors[place.cell.key];
    return `${place.cell.isGradient ? "G_" : ""}${own || last}${indices(place, run)}`;
  }

  /** @returns {string} such as [8, 2] */
  function indices(place, run) {
    const tokens = tokensAlong(place, run);
    return `[${axesOf(place, run).map(([axis, index]) => label(axis, index, tokens, run)).join(", ")}]`;
  }

  /** @returns {[string, number][]} axis and index, the head left out */
  function axesOf({ cell }, { tensors }) {
    const axes = tensors[cell.key].axes.filter((axis) => axis !== "head");
    const at = [cell.row, cell.column].slice(2 - axes.length);
    return axes.map((axis, i) => [axis, at[i]]);
  }

  /** @returns {string[]} tokens that name the positions; the rows of PosEmb are nobody's */
  function tokensAlong({ cell, problem }, run) {
    return run.tensors[cell.key].isWeight ? [] : tokensOf(run, problem);
  }

  /** @returns {string} a token, or an index where there are no tokens */
  function label(axis, index, tokens, { dataset }) {
    const token = axis === "d_vocab" ? dataset.vocab[index] : POSITIONS.includes(axis) ? tokens[index] : undefined;
    return token === undefined ? String(index) : tokenLabel(token);
  }

  /** @returns {string} a token as readers see it */
  function tokenLabel(token) {
    return token.replace(/^<(.*)>$/, "⟨$1⟩");
  }

  /** @returns {string} what tells a term of a sum from the others */
  function about(at, { problem }, run) {
    return at.map(({ axis, index }) => (
      axis === "head"
        ? Article.text("figure.head", { number: index + 1 })
        : label(AXES[axis] ?? axis, index, tokensOf(run, problem), run)
    )).join(" · ");
  }

  /** @returns {string} row and column in words, such as 位置 2（8） · 维度 3 */
  function inWords(place, run) {
    const tokens = tokensAlong(place, run);
    const { name: tensor } = run.tensors[place.cell.key], { d_head: width } = run.sizes;
    return axesOf(place, run).map(([axis, index], i) => {
      if ((i ? HEAD_COLUMNS : HEAD_ROWS).includes(tensor)) { // a figure of one head counts within it
        const part = { head: Math.floor(index / width) + 1, axis: Article.text("figure.axis_d_head"), index: index % width, whole: index };
        return Article.text("cell_part", part);
      }
      const values = { axis: Article.text(`figure.axis_${axis}`), index, token: label(axis, index, tokens, run) };
      if (axis === "d_vocab") return Article.text("cell_token", values);
      return Article.text(POSITIONS.includes(axis) && tokens.length ? "cell_position" : "cell_index", values);
    }).join(" · ");
  }

  /** @returns {string} layer, head, stage or step, and problem, as far as they apply */
  function where({ cell, problem, stage, position, isEdited }, run, step) {
    const { isGradient } = cell;
    const { layer, isWeight } = run.tensors[cell.key];
    return [
      layer === null ? "" : Article.text("figure.layer", { number: layer + 1 }),
      cell.head === null ? "" : Article.text("figure.head", { number: cell.head + 1 }),
      step === null ? (isEdited ? "" : Article.text(`figure.stage_${stage}`)) : Article.text("timeline_step", { step }),
      isEdited ? Article.text("scene_edited") : "",
      run.seed === null ? "" : Article.seed.name(run.seed),
      isWeight && !isGradient ? "" : problemLabel(problem),
      isGradient ? Article.text("figure.target", { token: tokenLabel(answer(run, problem, position)) }) : "",
    ].filter(Boolean).join(" · ");
  }

  Article.cellNames = {
    POSITIONS, problem: problemLabel, token: tokenLabel, axesOf, address, parse, problemOf, tokensOf, longest, cellsOf,
    ofMatrix, figures, onPage, letter, name, indices, about, inWords, where, question,
  };
})((window.Article ??= {}));
