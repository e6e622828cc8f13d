// Calculations that are written out, a line for each source, follow what the reader looks at.
//
// The blocks of the builder make the same tables: dot, softmax, mixture, softmax_gradient.
(function (Article) {
  "use strict";

  const MOST = 12, FEWEST = 2, HUGE = 1e20;

  /**
   * @typedef {[number, number, boolean?, boolean?]} Shown a number, its decimals, whether what is shown
   *   adds up to it, and whether the reader has put it there
   * @typedef {Shown | string} Content a number or an operator
   * @typedef {[number[], number]} Sum terms, and what they add up to
   * @typedef {{terms: {label: string, k: number}[], lines: Content[][], totals: Shown[]}} Calculation
   *   a term is what a line is about, place `k` of what is added up. `totals` are the numbers below
   *   the lines, in their order
   */

  /** What each kind of calculation is made of, from its matrices and the row it is about. */
  const KINDS = { dot, softmax, mixture, softmax_gradient };

  /**
   * @param {HTMLElement} figure
   * @param {import("./follow").View} view
   */
  function write(figure, view) {
    const { own, terms, lines, totals, at, row } = calculate(figure, view);
    const table = /** @type {HTMLTableElement} */ (figure.querySelector(".worked-table")), [body] = table.tBodies;
    while (body.rows.length > lines.length) body.lastElementChild.remove();
    lines.forEach((contents, i) => {
      const tr = body.rows[i] ?? body.appendChild(own.line.cloneNode(true));
      tr.cells[0].textContent = terms[i].label;
      contents.forEach((content, j) => typeof content === "string" || number(tr.cells[j + 1], content));
    });
    [...table.tFoot.querySelectorAll("td[data-value]")].forEach((td, i) => number(td, totals[i]));
    if (figure.dataset.kind === "dot") rename(table, at("result"), row, Number(figure.dataset.column));
    figure.querySelector(".worked-where").textContent = Article.follow.where(at("result"), view);
    Article.grid.reshaped(table);
  }

  /** @returns {any} the calculation, and what it is made of */
  function calculate(figure, view) {
    const own = read(figure), { position } = Article.follow.resolve(own, view);
    const row = position ?? Number(figure.dataset.row);
    const at = (name) => matrix(figure.dataset[name], own, own.turned.has(name), view);
    return { own, at, row, ...KINDS[figure.dataset.kind](at, row, figure.dataset) };
  }

  /** What the author wrote, and a line of it. */
  function read(figure) {
    return Article.follow.own(figure, ({ turned = "" }) => {
      const line = figure.querySelector("tbody tr").cloneNode(true);
      line.querySelector("[tabindex]")?.removeAttribute("tabindex");
      return { turned: new Set(turned.split(" ")), line };
    });
  }

  /** @returns {any} the place of the cell that a number is, or else of one whose arithmetic has it */
  function placeIn(figure, td, view) {
    const { terms, at, row } = calculate(figure, view), { of, d } = td.dataset;
    const { k } = terms[td.closest("tfoot") ? 0 : td.parentElement.sectionRowIndex];
    const column = Number(d ?? figure.dataset.column ?? k);
    const place = /right|contents/.test(of) ? { row: k, column } : { row, column: of === "result" ? column : k };
    return Article.cellNames.ofMatrix(at(of), place, view.run);
  }

  // row · column, term by term
  function dot(at, row, { column, factor, decimals: wanted }) {
    const [left, right, result] = [at("left"), at("right"), at("result")];
    const terms = termsOf(left.columns, (k) => ({ a: left.at(row, k), b: right.at(k, Number(column)) })).filter(({ a, b }) => a && b);
    const own = result.at(row, Number(column)), isEdited = result.isEdited(row, Number(column));
    const products = terms.map(({ a, b }) => a * b), sum = isEdited ? total(products) : own / Number(factor ?? 1);
    const [decimals, adds] = thatAddUp(products, sum, Number(wanted));
    /** @type {Shown} */
    const told = isEdited ? [own, Number(wanted), true, true] : [own, decimals, factor !== undefined || adds];
    return {
      terms,
      lines: terms.map(({ a, b }) => [[a, decimals], "\u00d7", [b, decimals], "=", [a * b, decimals]]),
      totals: factor === undefined ? [told] : [[sum, decimals, adds], told],
    };
  }

  // A = e^S / Σ e^S
  function softmax(at, row, { decimals }) {
    const wanted = Number(decimals), [scores, result] = [at("scores"), at("result")];
    const all = termsOf(scores.columns, (k) => ({ score: scores.at(row, k), share: result.at(row, k) }));
    const terms = all.filter(({ score }) => score !== null);
    const most = Math.max(...terms.map(({ score }) => score));
    const powers = terms.map(({ score }) => Math.exp(score - most)), sum = total(powers);
    const shares = terms.map(({ share }) => share), isEdited = ({ k }) => result.isEdited(row, k);
    const whole = terms.some(isEdited) ? total(shares) : 1;
    const own = [thatAddUp(powers, sum, wanted), thatAddUp(shares, whole, wanted)];
    return {
      terms,
      lines: terms.map((term, i) => [[term.score, wanted], [powers[i], own[0][0]], [term.share, own[1][0], true, isEdited(term)]]),
      totals: [[sum, ...own[0]], [whole, ...own[1]]],
    };
  }

  // H = Σ A V, source by source
  function mixture(at, row, { decimals }) {
    const wanted = Number(decimals), [shares, contents, result] = [at("shares"), at("contents"), at("result")];
    const terms = termsOf(shares.columns, (k) => ({ share: shares.at(row, k) })).filter(({ share }) => share);
    const sums = contents.columns.map((_, d) => result.at(row, d));
    const own = sums.map((sum, d) => thatAddUp(terms.map(({ k, share }) => share * contents.at(k, d)), sum, wanted));
    return {
      terms,
      lines: terms.map(({ k, share }) => [
        [share, wanted], "\u00d7", ...sums.map((_, d) => /** @type {Content} */ ([contents.at(k, d), wanted])),
        "=", ...sums.map((_, d) => /** @type {Content} */ ([share * contents.at(k, d), own[d][0]])),
      ]),
      totals: sums.map((sum, d) => (result.isEdited(row, d) ? [sum, wanted, true, true] : [sum, ...own[d]])),
    };
  }

  // G_S = A (u - Σ A u), with u = G_A
  function softmax_gradient(at, row, { decimals }) {
    const wanted = Number(decimals), [shares, gradients, result] = [at("shares"), at("gradients"), at("result")];
    const sources = shares.columns.slice(0, row + 1);
    const terms = termsOf(sources, (k) => ({ a: shares.at(row, k), u: gradients.at(row, k), told: result.at(row, k) }));
    const mean = total(terms.map(({ a, u }) => a * u));
    const differences = terms.map(({ u }) => /** @type {Sum} */ ([[u - mean, mean], u]));
    const own = [thatAddUp(terms.map(({ a, u }) => a * u), mean, wanted, ...differences), thatAddUp(terms.map(({ told }) => told), 0, wanted)];
    return {
      terms,
      lines: terms.map(({ a, u, told }) => [[a, wanted], [u, own[0][0]], [a * u, own[0][0]], [u - mean, own[0][0]], [told, own[1][0]]]),
      totals: [[mean, ...own[0]], [0, ...own[1]]],
    };
  }

  /** A term for each label; `of` gives it its numbers. */
  const termsOf = (labels, of) => labels.map((label, k) => ({ label, k, ...of(k) }));

  const total = (numbers) => numbers.reduce((sum, x) => sum + x, 0);

  /** The matrix at an address such as ∂KEY[HEAD], in the pass that is looked at. */
  function matrix(text, own, isTurned, view) {
    const [, mark, written, index] = /^(\u2202?)([^[]*)(?:\[(\d+)\])?$/.exec(text);
    const { key, head, problem } = Article.follow.address(written, index === undefined ? null : Number(index), own, view);
    const target = mark ? Article.follow.resolve(own, view).target : null;
    const isWeight = view.run.tensors[key].isWeight && target === null;
    const shown = { key, head, problem, stage: own.stage, target };
    const raw = own.target === null || target !== null || isWeight ? Article.follow.numbers(shown, view) : beneath(shown, own, view);
    const places = own.stage === "trained" && own.target === null ? view.edits.places : new Map();
    const at = (row, column) => {
      const value = isTurned ? raw(column, row) : raw(row, column);
      return value === null ? null : Article.number.stored(value, isWeight);
    };
    const axes = view.run.tensors[key].axes.filter((axis) => axis !== "head");
    const isEdited = (row, column) => places.has(Article.edits.name({ key, head, row, column }));
    return { ...shown, transposed: isTurned, run: view.run, at, isEdited, columns: labels(axes.at(isTurned ? -2 : -1), problem, view) };
  }

  /** The numbers that a gradient was taken at: nothing on the way is overwritten there. */
  function beneath({ key, head, problem, stage }, own, view) {
    const { target: position } = Article.follow.resolve(own, view);
    return Article.engine.activationMatrix(Article.passes.at({ problem, stage, position }).model, key, head);
  }

  /** @returns {string[]} what stands at the places of an axis */
  function labels(axis, problem, { run }) {
    const { POSITIONS, token, tokensOf } = Article.cellNames;
    if (axis === "d_vocab") return run.dataset.vocab.map(token);
    if (POSITIONS.includes(axis)) return tokensOf(run, problem).map(token);
    return Array.from({ length: run.sizes[axis] }, (_, i) => String(i));
  }

  /** The cell that is worked out is called by its row and column. */
  function rename(table, { key, problem, run }, row, column) {
    const at = Article.cellNames.indices({ cell: { key, row, column }, problem }, run);
    for (const { lastChild } of [table.tFoot.rows[table.tFoot.rows.length - 1].cells[0], table.caption]) {
      lastChild.textContent = lastChild.textContent.replace(/\[[^[\]]*\]$/, at);
    }
  }

  function number(td, [value, decimals, adds = true, isEdited = false]) {
    td.dataset.value = String(value);
    td.classList.toggle("edited", isEdited);
    const text = (adds ? "" : "\u2248 ") + Article.number.display(value, decimals);
    td.textContent = isEdited ? `${text} (${Article.text("cell_edited")})` : text;
  }

  /**
   * As many decimals as wanted, or the fewest beyond, or the most below, with which terms add up.
   *
   * @param {...Sum} others terms and sums that have to add up with the same decimals
   * @returns {[number, boolean]} and whether there are any
   */
  function thatAddUp(terms, sum, wanted, ...others) {
    if (![sum, ...terms].every((x) => Math.abs(x) < HUGE)) return [wanted, false]; // no digits to add up
    const { units } = Article.number;
    const isSum = (parts, whole, decimals) => parts.reduce((added, part) => added + units(part, decimals), 0n) === units(whole, decimals);
    const adds = (decimals) => [[terms, sum], ...others].every(([parts, whole]) => isSum(parts, whole, decimals));
    for (let decimals = wanted; decimals <= MOST; decimals++) if (adds(decimals)) return [decimals, true];
    for (let decimals = wanted - 1; decimals >= FEWEST; decimals--) if (adds(decimals)) return [decimals, true];
    return [wanted, false];
  }

  Article.worked = { write, placeIn, thatAddUp };
})((window.Article ??= {}));
