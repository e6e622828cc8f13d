// A matrix figure follows what the reader looks at: its numbers, labels, size and words.
//
// Only cells whose number has changed are touched. The live face is told, and draws them in its turn.
(function (Article) {
  "use strict";

  const SIGNS = ["positive", "negative", "zero", "masked"];
  const MASKED = "\u2013";
  const { make, cellNames: { POSITIONS } } = Article;

  const list = (text) => (text ? text.split(" ").map(Number) : null);
  const upTo = (end) => Array.from({ length: end }, (_, i) => i);
  const place = (row, column) => row * 4096 + column;
  const isSame = (a, b) => a.length === b.length && a.every((x, i) => x === b[i]);

  /** What the author wrote, and what the figure shows now: its cells and its shape. */
  function read(figure) {
    return Article.follow.own(figure, ({ rows, columns, until, highlighted, decimals, domain, transposed }) => {
      const cells = Article.cells.of(figure).map((cell) => ({ ...cell, mark: "" }));
      const unique = (name) => [...new Set(cells.map((cell) => cell[name]))];
      return {
        asked: [list(rows), list(columns)], until: until === undefined ? Infinity : Number(until),
        highlighted: list(highlighted) ?? [], decimals: Number(decimals ?? 2), domain: Number(domain),
        isTransposed: transposed === "true", cells, shape: [unique("row"), unique("column")],
        numbers: new Map(cells.map(({ row, column, number }) => [place(row, column), number])),
        where: part(figure, "where").textContent, spoken: figure.querySelector("caption").textContent,
      };
    });
  }

  const part = (figure, name) => figure.querySelector(`.matrix-${name}`);

  /**
   * @param {HTMLElement} figure
   * @param {import("./follow").View} view
   */
  function write(figure, view) {
    const own = read(figure);
    const next = Article.follow.resolve(own, view);
    const shown = [Article.passes.version(own.stage), ...Object.values(next)].join(" ");
    if (own.latest === shown) return;
    const numbers = Article.follow.numbers(next, view); // fails before anything is written
    own.latest = shown;
    const isReshaped = lay(figure, own, next, view);
    name(figure, own, next, view);
    if (fill(own, next, view, numbers) || isReshaped) Article.live.refresh(figure);
    Article.matrix.refresh(figure); // a cell may stand under another token
  }

  /** Give the figure the positions and tokens of its pass. */
  function lay(figure, own, next, { run }) {
    const { axes, isWeight } = run.tensors[next.key];
    if (isWeight) return false;
    const { position, target } = next;
    const tokens = Article.cellNames.tokensOf(run, next.problem).slice(0, target === null ? undefined : target + 1);
    const end = Math.min(tokens.length, (own.until === Infinity ? own.until : position ?? own.until) + 1);
    const edges = axes.filter((axis) => axis !== "head").slice(-2);
    if (edges.length === 1) edges.unshift("");
    if (own.isTransposed) edges.reverse();
    const asked = position !== null && own.asked[0]?.length === 1 ? [[position], own.asked[1]] : own.asked;
    const shape = edges.map((axis, i) => (
      POSITIONS.includes(axis) ? (asked[i] ?? upTo(end)).filter((index) => index < end) : own.shape[i]
    ));
    const whole = edges.map((axis, i) => (POSITIONS.includes(axis) ? end : axis === "" ? 1 : run.sizes[axis]));
    const isReshaped = reshape(figure, own, shape);
    edges.forEach((axis, i) => POSITIONS.includes(axis) && label(figure, i, shape[i].map((index) => Article.cellNames.token(tokens[index]))));
    Article.setText(part(figure, "shape"), size(shape.map(({ length }) => length), whole));
    return isReshaped;
  }

  function size(shown, whole) {
    const text = (pair) => pair.join(" \u00d7 ");
    return isSame(shown, whole) ? text(whole) : Article.text("figure.part", { shown: text(shown), whole: text(whole) });
  }

  /** Let the table have these rows and columns; those that it has already stay the elements they are. */
  function reshape(figure, own, [rows, columns]) {
    if (isSame(rows, own.shape[0]) && isSame(columns, own.shape[1])) return false;
    const table = /** @type {HTMLTableElement} */ (figure.querySelector(".matrix-table"));
    const [head, body] = [table.tHead.rows[0], table.tBodies[0]];
    if (!isSame(columns, own.shape[1])) arrange(head, [head.cells[0], ...columns.map((_, i) => head.cells[i + 1] ?? heading("col"))]);
    const before = new Map(own.cells.map((cell) => [place(cell.row, cell.column), cell]));
    const known = new Map([...body.rows].map((row) => [Number(row.dataset.row), row]));
    own.cells = rows.flatMap((row) => columns.map((column) => before.get(place(row, column)) ?? makeCell(row, column)));
    arrange(body, rows.map((row, i) => {
      const tr = known.get(row) ?? makeRow(row, own.highlighted.includes(row));
      arrange(tr, [tr.cells[0], ...own.cells.slice(i * columns.length, (i + 1) * columns.length).map(({ td }) => td)]);
      return tr;
    }));
    own.shape = [rows, columns];
    if (own.asked[1]) figure.dataset.columns = columns.join(" ");
    const faces = /** @type {HTMLElement} */ (part(figure, "faces"));
    faces.style.setProperty("--rows", String(rows.length));
    faces.style.setProperty("--columns", String(columns.length));
    figure.classList.toggle("is-empty", own.cells.length === 0);
    Article.grid.reshaped(table);
    return true;
  }

  /** Give an element these children, and touch only those that come or go: others need no new layout. */
  function arrange(parent, children) {
    let next = parent.firstElementChild;
    for (const child of children) {
      if (child === next) next = next.nextElementSibling;
      else parent.insertBefore(child, next);
    }
    for (const child of [...parent.children].slice(children.length)) child.remove();
  }

  const heading = (scope) => make("th", { scope });
  const makeCell = (row, column) => ({ td: make("td", { tabIndex: -1 }), row, column, mark: "" });

  function makeRow(row, isHighlighted) {
    const tr = make("tr", {}, heading("row"));
    tr.dataset.row = String(row);
    tr.classList.toggle("highlighted", isHighlighted);
    return tr;
  }

  /** @param {number} edge 0 for the heads of rows, 1 for those of columns */
  function label(figure, edge, labels) {
    const table = /** @type {HTMLTableElement} */ (figure.querySelector(".matrix-table"));
    const heads = edge === 0 ? [...table.tBodies[0].rows].map((row) => row.cells[0]) : [...table.tHead.rows[0].cells].slice(1);
    heads.forEach((head, i) => Article.setText(head, labels[i]));
  }

  /** What the figure is called, to the eye and to the ear. */
  function name(figure, own, next, view) {
    const { key, head, problem, target } = next, where = Article.follow.where(next, view);
    if (part(figure, "where").textContent !== where) {
      part(figure, "where").textContent = where;
      figure.querySelector("caption").textContent = own.spoken.replace(own.where, where);
    }
    Article.setText(part(figure, "key"), `${target === null ? "" : "\u2202"}${key}${head === null ? "" : `[${head}]`}`);
    for (const [attribute, value] of Object.entries({ key, head: head ?? "", problem, target: target ?? "" })) {
      if ((figure.dataset[attribute] ?? "") !== String(value)) figure.dataset[attribute] = String(value);
    }
  }

  /** @returns {boolean} whether any cell has changed */
  function fill(own, next, view, numbers) {
    const isWeight = view.run.tensors[next.key].isWeight && next.target === null;
    const isEdited = next.stage === "trained" && view.edits.list.length > 0;
    const isOwn = Article.follow.isAsWritten(own, next, view);
    const turned = (at) => (own.isTransposed ? (row, column) => at(column, row) : at);
    const at = turned(numbers), before = isEdited ? turned(Article.follow.numbers(next, view, true)) : at;
    const isOverwritten = isEdited ? turned(overwritten(next, view)) : () => false;
    let isChanged = false;
    for (const cell of own.cells) {
      const { row, column } = cell;
      const raw = at(row, column);
      const mark = isOverwritten(row, column) ? "edited" : raw === before(row, column) ? "" : "changed";
      const kept = isOwn ? own.numbers.get(place(row, column)) : undefined; // the snapshot's own
      const number = kept ?? (raw === null ? null : Article.number.stored(raw, isWeight));
      if (number === cell.number && mark === cell.mark) continue;
      set(cell, number, mark, own);
      isChanged = true;
    }
    return isChanged;
  }

  /** @returns {(row: number, column: number) => boolean} whether the reader has overwritten a cell */
  function overwritten({ key, head }, { run, edits }) {
    const cell = Article.cellNames.cellsOf(run, key, head);
    return (row, column) => edits.places.has(Article.edits.name(cell(row, column)));
  }

  function set(cell, number, mark, { decimals, domain }) {
    const { td } = cell;
    const sign = number === null ? "masked" : number > 0 ? "positive" : number < 0 ? "negative" : "zero";
    const share = Math.abs(number ?? 0) / domain;
    if (!td.classList.contains(sign)) {
      td.classList.remove(...SIGNS);
      td.classList.add(sign);
    }
    td.classList.toggle("clipped", share > 1);
    for (const name of ["edited", "changed"]) if (mark !== cell.mark) td.classList.toggle(name, mark === name);
    td.style.setProperty("--v", number === null ? "" : Math.min(share, 1).toFixed(2));
    if (number === null) delete td.dataset.value;
    else td.dataset.value = String(number);
    Article.setText(td, number === null ? MASKED : Article.number.display(number, decimals));
    Object.assign(cell, { number, mark });
  }

  Article.figure = { write, set, MASKED };
})((window.Article ??= {}));
