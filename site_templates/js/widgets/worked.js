// Calculations that are written out, a line for each source, follow what the reader looks at.
//
// The blocks of the builder make the same tables: dot, softmax, mixture, softmax_gradient.
(function (Article) {
  "use strict";

  const { make } = Article;
  const MOST = 12, FEWEST = 2, HUGE = 1e20;

  /**
   * @typedef {[number, number] | string} Content a number and its decimals, or an operator
   * @typedef {{labels: string[], lines: Content[][], totals: [number, number, boolean?][]}} Calculation
   *   `totals` are the numbers below the lines, in their order, each with its decimals and whether
   *   what is shown adds up to it
   */

  /** What each kind of calculation is made of, from its matrices and the row it is about. */
  const KINDS = { dot, softmax, mixture, softmax_gradient };

  /**
   * @param {HTMLElement} figure
   * @param {import("./follow").View} view
   */
  function write(figure, view) {
    const own = Article.follow.own(figure, ({ turned = "" }) => ({ turned: new Set(turned.split(" ")) }));
    const { position } = Article.follow.resolve(own, view);
    const row = position ?? Number(figure.dataset.row);
    const at = (name) => matrix(figure.dataset[name], own, own.turned.has(name), view);
    const { labels, lines, totals } = KINDS[figure.dataset.kind](at, row, figure.dataset);
    const table = /** @type {HTMLTableElement} */ (figure.querySelector(".worked-table"));
    table.tBodies[0].replaceChildren(...lines.map((contents, i) => line(labels[i], contents)));
    [...table.tFoot.querySelectorAll("td[data-value]")].forEach((td, i) => number(td, totals[i]));
    if (figure.dataset.kind === "dot") rename(table, at("result"), row, Number(figure.dataset.column));
  }

  // row · column, term by term
  function dot(at, row, { column, factor, decimals: wanted }) {
    const [left, right, result] = [at("left"), at("right"), at("result")];
    const terms = left.columns.map((label, k) => ({ label, a: left.at(row, k), b: right.at(k, Number(column)) })).filter(({ a, b }) => a && b);
    const total = result.at(row, Number(column)), sum = total / Number(factor ?? 1);
    const [decimals, adds] = thatAddUp(terms.map(({ a, b }) => a * b), sum, Number(wanted));
    return {
      labels: terms.map(({ label }) => label),
      lines: terms.map(({ a, b }) => [[a, decimals], "\u00d7", [b, decimals], "=", [a * b, decimals]]),
      totals: factor === undefined ? [[total, decimals, adds]] : [[sum, decimals, adds], [total, decimals]],
    };
  }

  // A = e^S / Σ e^S
  function softmax(at, row, { decimals }) {
    const wanted = Number(decimals), [scores, result] = [at("scores"), at("result")];
    const seen = scores.columns.map((label, k) => ({ label, score: scores.at(row, k), share: result.at(row, k) })).filter(({ score }) => score !== null);
    const most = Math.max(...seen.map(({ score }) => score));
    const powers = seen.map(({ score }) => Math.exp(score - most)), sum = total(powers);
    const own = [thatAddUp(powers, sum, wanted), thatAddUp(seen.map(({ share }) => share), 1, wanted)];
    return {
      labels: seen.map(({ label }) => label),
      lines: seen.map(({ score, share }, i) => [[score, wanted], [powers[i], own[0][0]], [share, own[1][0]]]),
      totals: [[sum, ...own[0]], [1, ...own[1]]],
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
        [share, wanted], "\u00d7", ...sums.map((_, d) => /** @type {Content} */ ([contents.at(k, d), wanted])),
        "=", ...sums.map((_, d) => /** @type {Content} */ ([share * contents.at(k, d), own[d][0]])),
      ]),
      totals: sums.map((sum, d) => [sum, ...own[d]]),
    };
  }

  // G_S = A (u - Σ A u), with u = G_A
  function softmax_gradient(at, row, { decimals }) {
    const wanted = Number(decimals), [shares, gradients, result] = [at("shares"), at("gradients"), at("result")];
    const terms = shares.columns.slice(0, row + 1).map((label, k) => ({ label, a: shares.at(row, k), u: gradients.at(row, k), told: result.at(row, k) }));
    const mean = total(terms.map(({ a, u }) => a * u));
    const own = [thatAddUp(terms.map(({ a, u }) => a * u), mean, wanted), thatAddUp(terms.map(({ told }) => told), 0, wanted)];
    return {
      labels: terms.map(({ label }) => label),
      lines: terms.map(({ a, u, told }) => [[a, wanted], [u, wanted], [a * u, own[0][0]], [u - mean, own[0][0]], [told, own[1][0]]]),
      totals: [[mean, ...own[0]], [0, ...own[1]]],
    };
  }

  const total = (numbers) => numbers.reduce((sum, x) => sum + x, 0);

  /** The matrix at an address such as ∂KEY[HEAD], in the pass that is looked at. */
  function matrix(text, own, isTurned, view) {
    const [, mark, written, index] = /^(\u2202?)([^[]*)(?:\[(\d+)\])?$/.exec(text);
    const { key, head, problem } = Article.follow.address(written, index === undefined ? null : Number(index), own, view);
    const target = mark ? Article.follow.resolve(own, view).target : null;
    const isWeight = view.run.tensors[key].isWeight && target === null;
    const raw = Article.follow.numbers({ key, head, problem, stage: own.stage, target }, view);
    const at = (row, column) => {
      const value = isTurned ? raw(column, row) : raw(row, column);
      return value === null ? null : Article.number.stored(value, isWeight);
    };
    const axes = view.run.tensors[key].axes.filter((axis) => axis !== "head");
    return { key, problem, run: view.run, at, columns: labels(axes.at(isTurned ? -2 : -1), problem, view) };
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

  /** @param {Content[]} contents */
  function line(label, contents) {
    return make("tr", {}, make("th", { scope: "row" }, label), ...contents.map((content) => {
      const td = document.createElement("td");
      if (typeof content === "string") td.textContent = content;
      else number(td, content);
      return td;
    }));
  }

  function number(td, [value, decimals, adds = true]) {
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

  Article.worked = { write, thatAddUp };
})((window.Article ??= {}));
