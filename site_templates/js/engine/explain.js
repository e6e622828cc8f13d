// A cell taken apart: the operands it is made of, the result computed from them, and its users.
//
// All of it is read from the table of dependencies.js.
(function (Article) {
  "use strict";

  const engine = (Article.engine ??= {});

  /**
   * What makes a cell. An activation that is masked, and a weight, are made of nothing.
   *
   * @param {Numbers} numbers
   * @param {Cell} cell
   * @returns {Explanation}
   */
  function explain(numbers, cell) {
    const { model } = numbers;
    const rule = engine.rules(model.sizes).get((cell.isGradient ? "∂" : "") + cell.key);
    const made = { cell, result: rule?.isProduct ? null : valueOf(numbers, cell), terms: [], own: -1, divisor: null, answer: null };
    if (!rule) return { operation: "weight", ...made };
    const bound = bind(rule.target, cell, model.sizes);
    if (isMasked(bound) && (!cell.isGradient || hasMask(cell.key))) return { operation: "mask", ...made };
    const operand = (pattern, indices) => {
      const source = cellAt(pattern, indices, model);
      return { ...source, value: valueOf(numbers, source) };
    };
    for (const product of rule.products) {
      const names = atoms(product), free = names.filter((name) => !(name in bound));
      for (const indices of each(names, bound, model)) {
        if (isOwn(indices)) made.own = made.terms.length;
        if (indices.pos >= model.rows.n) continue; // a row of PosEmb that no token stands on
        const at = free.map((name) => ({ axis: kindOf(name), index: indices[name] }));
        made.terms.push({ operands: product.map((pattern) => operand(pattern, indices)), at });
      }
    }
    if (rule.divisor === "root") made.divisor = Math.sqrt(model.sizes.d_head);
    else if (rule.divisor) made.divisor = operand(rule.divisor, bound);
    if (rule.operation === "error" && cell.row === numbers.target.position) {
      made.answer = Number(cell.column === numbers.target.token);
    }
    const whole = { operation: rule.operation, ...made };
    if (rule.isProduct) whole.result = evaluate(whole, model.sizes.ln_eps); // nothing has computed it before
    return whole;
  }

  /**
   * Compute a cell from its operands alone.
   *
   * @param {Explanation} explanation
   * @param {number} eps of LayerNorm
   * @returns {number}
   */
  function evaluate({ operation, terms, own, divisor, answer }, eps) {
    const values = ({ operands }) => operands.map(({ value }) => value);
    const products = terms.map((term) => values(term).reduce((product, value) => product * value, 1));
    const total = (numbers) => numbers.reduce((sum, x) => sum + x, 0);
    const mean = total(products) / products.length;
    const by = divisor === null ? 1 : typeof divisor === "number" ? divisor : divisor.value;
    switch (operation) {
      case "mask": return 0;
      case "relu": return Math.max(0, products[0]);
      case "softmax": {
        const powers = products.map((x) => Math.exp(x - Math.max(...products)));
        return powers[own] / total(powers);
      }
      case "deviation": return Math.sqrt(total(products.map((x) => (x - mean) ** 2)) / products.length + eps);
      case "standardize": return (products[own] - mean) / by;
      case "error": return answer === null ? 0 : products[0] - answer; // P - onehot
      case "relu_backward": {
        const [gradient, before] = values(terms[0]);
        return before > 0 ? gradient : 0;
      }
      case "softmax_backward": {
        const [share, gradient] = values(terms[own]); // A (G_A - Σ A G_A)
        return share * (gradient - total(products));
      }
      case "standardize_backward": { // (G_n - mean(G_n) - n mean(n G_n)) / scale, and what goes around
        const row = terms.filter(({ operands }) => operands.length === 2).map(values);
        const around = total(terms.filter(({ operands }) => operands.length === 1).map((term) => values(term)[0]));
        const [normalized, gradient] = values(terms[own]);
        const average = total(row.map(([, g]) => g)) / row.length;
        const along = total(row.map(([n, g]) => n * g)) / row.length;
        return (gradient - average - normalized * along) / by + around;
      }
      default: return total(products) / by;
    }
  }

  /**
   * The cells that are made from a cell, in the order of the network.
   *
   * @param {any} model a Transformer on one sequence
   * @param {Cell} cell
   * @returns {Cell[]}
   */
  function users(model, cell) {
    const found = [], rules = engine.rules(model.sizes);
    const isProduct = rules.get(cell.key)?.isProduct;
    for (const { target, products, divisor, ...rule } of rules.values()) {
      if (rule.isProduct !== isProduct) continue;
      for (const pattern of [...products.flat(), divisor]) {
        if (pattern?.key !== cell.key || pattern.isGradient !== Boolean(cell.isGradient)) continue;
        const bound = bind(pattern, cell, model.sizes);
        if (isMasked(bound) || bound.pos >= model.rows.n) continue;
        for (const indices of each(atoms([target]), bound, model)) found.push(cellAt(target, indices, model));
      }
    }
    return found;
  }

  /**
   * @param {Numbers} numbers
   * @param {Cell} cell
   * @returns {number | null} null where it is masked
   */
  function valueOf(numbers, cell) {
    const { model, weights, gradient } = numbers, { key, head, row, column, isGradient } = cell;
    if (engine.rules(model.sizes).get(key)?.isProduct) return explain(numbers, cell).result;
    if (model.places.has(key)) return engine.weightMatrix(model.sizes, isGradient ? gradient : weights, key, null)(row, column);
    if (!isGradient && hasMask(key) && column > row) return null;
    const { sizes, rows, values, grads } = model;
    return engine.activationMatrix({ sizes, rows, values: isGradient ? grads : values }, key, head)(row, column);
  }

  /** Give the names of a pattern the indices that a cell has. */
  function bind({ names }, { head, row, column }, sizes) {
    const indices = [head, row, column].slice(3 - names.length);
    const bound = {};
    names.forEach((name, i) => {
      if (name === "head.d") {
        bound.head = Math.floor(indices[i] / sizes.d_head);
        bound.d = indices[i] % sizes.d_head;
      } else bound[name] = indices[i];
    });
    return bound;
  }

  /** The cell of a pattern at given indices. */
  function cellAt({ key, names, isGradient }, indices, { sizes, rows }) {
    const found = names.map((name) => {
      if (name === "head.d") return indices.head * sizes.d_head + indices.d;
      return name === "token" ? indices.token ?? rows.tokens[indices.pos] : indices[name];
    });
    const column = found.pop(), row = found.pop() ?? 0, head = found.pop() ?? null;
    return isGradient ? { key, head, row, column, isGradient } : { key, head, row, column };
  }

  /** What indices the patterns run over. */
  function atoms(patterns) {
    const names = patterns.flatMap(({ names: own }) => own).flatMap((name) => name.split("."));
    return [...new Set(names.map((name) => (name === "token" ? "pos" : name)))];
  }

  /** All ways to give the names that are not bound an index. */
  function* each([name, ...rest], bound, model) {
    if (name === undefined) yield bound;
    else if (name in bound) yield* each(rest, bound, model);
    else for (const index of domain(name, bound, model)) yield* each(rest, { ...bound, [name]: index }, model);
  }

  /** @param {string} name such as model' or model2 */
  function kindOf(name) {
    return name.replace(/['\d]/g, "");
  }

  /** The indices that a name can have. */
  function domain(name, bound, { sizes, rows }) {
    const kind = kindOf(name);
    const upTo = (end, start = 0) => Array.from({ length: Math.max(0, end - start) }, (_, i) => start + i);
    if (kind === "key") return upTo(bound.pos + 1);
    if (kind === "head") return upTo(sizes.n_heads);
    if (kind !== "pos") return upTo(sizes[`d_${kind === "d" ? "head" : kind}`]);
    const positions = upTo(rows.n, bound.key ?? 0);
    return bound.token === undefined ? positions : positions.filter((row) => rows.tokens[row] === bound.token);
  }

  /** Whether the indices are of a source that the receiver cannot read. */
  function isMasked(bound) {
    return (bound.key ?? bound["key'"]) > bound.pos;
  }

  /** Whether the cells of later sources stand empty. */
  function hasMask(key) {
    return key.endsWith("attn_scores");
  }

  /** Whether a primed index stands where the cell stands. */
  function isOwn(indices) {
    const primed = Object.keys(indices).find((name) => name.endsWith("'"));
    return primed !== undefined && indices[primed] === indices[primed.slice(0, -1)];
  }

  Object.assign(engine, { explain, evaluate, users, valueOf });
})((globalThis.Article ??= {}));
