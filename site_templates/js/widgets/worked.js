// Calculations that are written out, a line for each source, follow what the reader looks at.
//
// The blocks of the builder make the same tables: dot, softmax, mixture, softmax_gradient.
(function (Article) {
  "use strict";

  const { make } = Article;
  const MOST = 12, FEWEST = 2, HUGE = 1e20;

  /**
   * @typedef {[string, number, number]} Source matrix, row and column of a cell
   * @typedef {[number, number, Source, boolean?]} Figure a number and its decimals, the cell that it is
   *   or whose arithmetic has it, and whether what is shown adds up to it
   * @typedef {{labels: string[], lines: (Figure | string)[][], totals: Figure[]}} Calculation with
   *   operators between the numbers of a line; `totals` stand below the lines
   */

  /** What each kind of calculation is made of, from its matrices and the row it is about. */
  const KINDS = { dot, softmax, mixture, softmax_gradient };

  /**
   * @param {HTMLElement} figure
   * @param {import("./follow").View} view
   */
  function write(figure, view) {
    const { labels, lines, totals, at, row } = calculate(figure, view);
    const table = /** @type {HTMLTableElement} */ (figure.querySelector(".worked-table")), { rows } = table.tBodies[0];
    while (rows.length > lines.length) rows[lines.length].remove();
    lines.forEach((contents, i) => {
      const tr = rows[i] ?? table.tBodies[0].appendChild(line(contents));
      tr.cells[0].textContent = labels[i];
      contents.forEach((content, j) => typeof content === "string" || number(tr.cells[j + 1], content));
    });
    [...table.tFoot.querySelectorAll("td[data-value]")].forEach((td, i) => number(td, totals[i]));
    if (figure.dataset.kind === "dot") rename(table, at("result"), row, Number(figure.dataset.column));
    Article.grid.reshaped(table);
  }

  /** @returns {any} the calculation, and what it is made of */
  function calculate(figure, view) {
    const own = Article.follow.own(figure, ({ turned = "" }) => ({ turned: new Set(turned.split(" ")) }));
    const { position } = Article.follow.resolve(own, view);
    const row = position ?? Number(figure.dataset.row);
    const at = (name) => matrix(figure.dataset[name], own, own.turned.has(name), view);
    return { at, row, ...KINDS[figure.dataset.kind](at, row, figure.dataset) };
  }

  /** @returns {any} the place of the cell that a number is, or whose arithmetic has it */
  function placeIn(figure, td, view) {
    const { at, lines, totals } = calculate(figure, view);
    const numbers = [...lines.flat().filter((content) => typeof content !== "string"), ...totals];
    const [, , [name, row, column]] = numbers[[...figure.querySelectorAll("td[data-value]")].indexOf(td)];
    return Article.cellNames.ofMatrix(at(name), { row, column }, view.run);
  }

  // row · column, term by term
  function dot(at, row, { column: asked, factor, decimals: wanted }) {
    const [left, right, result] = [at("left"), at("right"), at("result")], column = Number(asked), own = ["result", row, column];
    const terms = left.columns.map((label, k) => ({ label, k, a: left.at(row, k), b: right.at(k, column) })).filter(({ a, b }) => a && b);
    const total = result.at(row, column), sum = total / Number(factor ?? 1);
    const [decimals, adds] = thatAddUp(terms.map(({ a, b }) => a * b), sum, Number(wanted));
    return {
      labels: terms.map(({ label }) => label),
      lines: terms.map(({ k, a, b }) => [[a, decimals, ["left", row, k]], "\u00d7", [b, decimals, ["right", k, column]], "=", [a * b, decimals, own]]),
      totals: factor === undefined ? [[total, decimals, own, adds]] : [[sum, decimals, own, adds], [total, decimals, own]],
    };
  }

  // A = e^S / Σ e^S
  function softmax(at, row, { decimals }) {
    const wanted = Number(decimals), [scores, result] = [at("scores"), at("result")];
    const seen = scores.columns.map((label, k) => ({ label, k, score: scores.at(row, k), share: result.at(row, k) })).filter(({ score }) => score !== null);
    const most = Math.max(...seen.map(({ score }) => score));
    const powers = seen.map(({ score }) => Math.exp(score - most)), sum = total(powers);
    const [ofPowers, ofShares] = [thatAddUp(powers, sum, wanted), thatAddUp(seen.map(({ share }) => share), 1, wanted)];
    const own = seen.map(({ k }) => ["result", row, k]);
    return {
      labels: seen.map(({ label }) => label),
      lines: seen.map(({ k, score, share }, i) => [[score, wanted, ["scores", row, k]], [powers[i], ofPowers[0], own[i]], [share, ofShares[0], own[i]]]),
      totals: [[sum, ofPowers[0], own[0], ofPowers[1]], [1, ofShares[0], own[0], ofShares[1]]],
    };
  }

  // H = Σ A V, source by source
  function mixture(at, row, { decimals }) {
    const wanted = Number(decimals), [shares, contents, result] = [at("shares"), at("contents"), at("result")];
    const read = shares.columns.map((label, k) => ({ label, k, share: shares.at(row, k) })).filter(({ share }) => share);
    const sums = contents.columns.map((_, d) => result.at(row, d));
    const own = sums.map((sum, d) => thatAddUp(read.map(({ k, share }) => share * contents.at(k, d)), sum, wanted));
    return {
      labels: read.map(({ label }) => label),
      lines: read.map(({ k, share }) => [
        [share, wanted, ["shares", row, k]], "\u00d7", ...sums.map((_, d) => [contents.at(k, d), wanted, ["contents", k, d]]),
        "=", ...sums.map((_, d) => [share * contents.at(k, d), own[d][0], ["result", row, d]]),
      ]),
      totals: sums.map((sum, d) => [sum, own[d][0], ["result", row, d], own[d][1]]),
    };
  }

  // G_S = A (u - Σ A u), with u = G_A
  function softmax_gradient(at, row, { decimals }) {
    const wanted = Number(decimals), [shares, gradients, result] = [at("shares"), at("gradients"), at("result")];
    const terms = shares.columns.slice(0, row + 1).map((label, k) => ({ label, k, a: shares.at(row, k), u: gradients.at(row, k), told: result.at(row, k) }));
    const mean = total(terms.map(({ a, u }) => a * u));
    const [ofProducts, ofResult] = [thatAddUp(terms.map(({ a, u }) => a * u), mean, wanted), thatAddUp(terms.map(({ told }) => told), 0, wanted)];
    const own = terms.map(({ k }) => ["result", row, k]);
    return {
      labels: terms.map(({ label }) => label),
      lines: terms.map(({ k, a, u, told }, i) => [
        [a, wanted, ["shares", row, k]], [u, wanted, ["gradients", row, k]],
        [a * u, ofProducts[0], own[i]], [u - mean, ofProducts[0], own[i]], [told, ofResult[0], own[i]],
      ]),
      totals: [[mean, ofProducts[0], own[0], ofProducts[1]], [0, ofResult[0], own[0], ofResult[1]]],
    };
  }

  const total = (numbers) => numbers.reduce((sum, x) => sum + x, 0);

  /** The matrix at an address such as ∂KEY[HEAD], in the pass that is looked at. */
  function matrix(text, own, isTurned, view) {
    const [, mark, written, index] = /^(\u2202?)([^[]*)(?:\[(\d+)\])?$/.exec(text);
    const { key, head, problem } = Article.follow.address(written, index === undefined ? null : Number(index), own, view);
    const target = mark ? Article.follow.resolve(own, view).target : null;
    const isWeight = view.run.tensors[key].isWeight && target === null;
    const shown = { key, head, problem, stage: own.stage, target };
    const raw = Article.follow.numbers(shown, view);
    const at = (row, column) => {
      const value = isTurned ? raw(column, row) : raw(row, column);
      return value === null ? null : Article.number.stored(value, isWeight);
    };
    const axes = view.run.tensors[key].axes.filter((axis) => axis !== "head");
    return { ...shown, transposed: isTurned, run: view.run, at, columns: labels(axes.at(isTurned ? -2 : -1), problem, view) };
  }

  /** @returns {string[]} what stands at the places of an axis */
  function labels(axis, problem, { run }) {
    const names = axis === "d_vocab" ? run.dataset.vocab : Article.cellNames.POSITIONS.includes(axis) ? Article.cellNames.tokensOf(run, problem) : null;
    return names ? names.map(Article.cellNames.token) : Array.from({ length: run.sizes[axis] }, (_, i) => String(i));
  }

  /** The cell that is worked out is called by its row and column. */
  function rename(table, { key, problem, run }, row, column) {
    const at = Article.cellNames.indices({ cell: { key, row, column }, problem }, run);
    for (const { lastChild } of [table.tFoot.rows[table.tFoot.rows.length - 1].cells[0], table.caption]) {
      lastChild.textContent = lastChild.textContent.replace(/\[[^[\]]*\]$/, at);
    }
  }

  /** A line for these, with its operators. */
  function line(contents) {
    return make("tr", {}, make("th", { scope: "row" }), ...contents.map((content) => make("td", {}, typeof content === "string" ? content : "")));
  }

  function number(td, [value, decimals, , adds = true]) {
    td.dataset.value = String(value);
    td.textContent = (adds ? "" : "\u2248 ") + Article.number.display(value, decimals);
  }

  /**
   * As many decimals as wanted, or the fewest beyond, or the most below, with which terms add up.
   *
   * @returns {[number, boolean]} and whether there are any
   */
  function thatAddUp(terms, sum, wanted) {
    if (![sum, ...terms].every((x) => Math.abs(x) < HUGE)) return [wanted, false]; // no digits to add up
    const { units } = Article.number;
    const adds = (decimals) => terms.reduce((added, term) => added + units(term, decimals), 0n) === units(sum, decimals);
    for (let decimals = wanted; decimals <= MOST; decimals++) if (adds(decimals)) return [decimals, true];
    for (let decimals = wanted - 1; decimals >= FEWEST; decimals--) if (adds(decimals)) return [decimals, true];
    return [wanted, false];
  }

  Article.worked = { write, placeIn };
})((window.Article ??= {}));
