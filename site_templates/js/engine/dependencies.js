// What every cell is made of, and what it goes into: one table of the whole network.
//
//   attn.q[head pos d] | dot | ln1.out[pos model] attn.W_Q[model head.d]
//
// reads: a cell of Q is the sum, over every index that stands on the right only, of a cell of
// ln1.out times a cell of W_Q. `+` adds further products, `/` divides. `head.d` is place d of a
// head's own columns or rows, `token` the token at a position, and a prime (model') the index of a
// whole row that the operation looks at. `key` runs over the positions up to `pos`: the rest is
// masked. `∂` is the gradient of the loss. `previous`, `next` and `last` are blocks.
//
// Read from left to right the table gives the arithmetic of a cell, from right to left its users.
(function (Article) {
  "use strict";

  const engine = (Article.engine ??= {});

  const START = `
    embed[pos model]               | pick        | embed.W_E[token model]
    pos_embed[pos model]           | pick        | pos_embed.W_pos[pos model]
    blocks.0.resid_pre[pos model]  | sum         | embed[pos model] + pos_embed[pos model]`;

  const HAND = `
    resid_pre[pos model]           | copy        | previous.resid_post[pos model]`;

  const BLOCK = `
    ln1.scale[pos]                 | deviation   | resid_pre[pos model']
    ln1.normalized[pos model]      | standardize | resid_pre[pos model'] / ln1.scale[pos]
    ln1.out[pos model]             | affine      | ln1.normalized[pos model] ln1.w[model] + ln1.b[model]
    attn.q[head pos d]             | dot         | ln1.out[pos model] attn.W_Q[model head.d]
    attn.k[head pos d]             | dot         | ln1.out[pos model] attn.W_K[model head.d]
    attn.v[head pos d]             | dot         | ln1.out[pos model] attn.W_V[model head.d]
    attn.attn_scores[head pos key] | dot         | attn.q[head pos d] attn.k[head key d] / root
    attn.pattern[head pos key]     | softmax     | attn.attn_scores[head pos key']
    attn.z[head pos d]             | dot         | attn.pattern[head pos key] attn.v[head key d]
    attn.result[head pos model]    | dot         | attn.z[head pos d] attn.W_O[head.d model]
    attn_out[pos model]            | sum         | attn.result[head pos model]
    resid_mid[pos model]           | sum         | resid_pre[pos model] + attn_out[pos model]
    ln2.scale[pos]                 | deviation   | resid_mid[pos model']
    ln2.normalized[pos model]      | standardize | resid_mid[pos model'] / ln2.scale[pos]
    ln2.out[pos model]             | affine      | ln2.normalized[pos model] ln2.w[model] + ln2.b[model]
    mlp.pre[pos mlp]               | dot         | ln2.out[pos model] mlp.W_in[model mlp] + mlp.b_in[mlp]
    mlp.post[pos mlp]              | relu        | mlp.pre[pos mlp]
    mlp_out[pos model]             | dot         | mlp.post[pos mlp] mlp.W_out[mlp model] + mlp.b_out[model]
    resid_post[pos model]          | sum         | resid_mid[pos model] + mlp_out[pos model]`;

  const END = `
    ln_final.scale[pos]            | deviation   | last.resid_post[pos model']
    ln_final.normalized[pos model] | standardize | last.resid_post[pos model'] / ln_final.scale[pos]
    ln_final.out[pos model]        | affine      | ln_final.normalized[pos model] ln_final.w[model] + ln_final.b[model]
    logits[pos vocab]              | dot         | ln_final.out[pos model] unembed.W_U[model vocab]
    probs[pos vocab]               | softmax     | logits[pos vocab']`;

  /**
   * @typedef {{key: string, head: number | null, row: number, column: number, isGradient?: boolean}} Cell
   *   a vector lies down: its row is 0
   * @typedef {Cell & {value: number}} Operand
   * @typedef {{key: string, isGradient: boolean, names: string[]}} Pattern
   * @typedef {{operation: string, target: Pattern, products: Pattern[][], divisor: Pattern | "root" | null}} Rule
   * @typedef {{operands: Operand[], at: {axis: string, index: number} | null}} Term a product, and the
   *   index that tells it from the others
   * @typedef {{operation: string, cell: Cell, result: number | null, terms: Term[], own: number,
   *   divisor: Operand | number | null}} Explanation `own` is the term that stands at the cell's place
   */

  /** @type {WeakMap<object, Map<string, Rule>>} */
  const known = new WeakMap();

  /**
   * @param {import("./layout").Sizes} sizes
   * @returns {Map<string, Rule>} by key, `∂` before that of a gradient
   */
  function rules(sizes) {
    if (!known.has(sizes)) {
      const last = sizes.n_layers - 1;
      const found = [...read(START, null, last)];
      for (let layer = 0; layer <= last; layer++) {
        if (layer > 0) found.push(...read(HAND, layer, last));
        found.push(...read(BLOCK, layer, last));
      }
      found.push(...read(END, null, last));
      known.set(sizes, new Map(found.map((rule) => [(rule.target.isGradient ? "∂" : "") + rule.target.key, rule])));
    }
    return known.get(sizes);
  }

  /**
   * @param {string} table
   * @param {number | null} layer of the names that do not say
   * @param {number} last index of the last block
   * @returns {Rule[]}
   */
  function read(table, layer, last) {
    const blocks = { previous: layer - 1, next: layer + 1, last };
    const full = (name) => {
      const [, block, rest] = /^(?:(previous|next|last)\.)?(.*)$/.exec(name);
      if (block) return `blocks.${blocks[block]}.${rest}`;
      return layer === null ? rest : `blocks.${layer}.${rest}`;
    };
    const patterns = (text) =>
      [...text.matchAll(/(∂?)([\w.]+)\[([^\]]*)\]/g)].map(([, mark, name, indices]) => (
        { key: full(name), isGradient: mark !== "", names: indices.split(" ") }
      ));
    return table.trim().split("\n").map((line) => {
      const [target, operation, sources] = line.split("|").map((part) => part.trim());
      const [numerator, divisor = ""] = sources.split(" / ");
      return {
        operation,
        target: patterns(target)[0],
        products: numerator.split(" + ").map(patterns),
        divisor: divisor === "root" ? "root" : patterns(divisor)[0] ?? null,
      };
    });
  }

  /**
   * What makes a cell. An activation that is masked, and a weight, are made of nothing.
   *
   * @param {{model: any, weights: Float64Array, gradient?: Float64Array}} numbers a Transformer after
   *   `forward` on one sequence, and what it was given
   * @param {Cell} cell
   * @returns {Explanation}
   */
  function explain(numbers, cell) {
    const { model } = numbers;
    const rule = rules(model.sizes).get((cell.isGradient ? "∂" : "") + cell.key);
    const made = { cell, result: valueOf(numbers, cell), terms: [], own: -1, divisor: null };
    if (!rule) return { operation: "weight", ...made };
    const bound = bind(rule.target, cell, model.sizes);
    if (isMasked(bound) && !cell.isGradient) return { operation: "mask", ...made };
    const operand = (pattern, indices) => {
      const source = cellAt(pattern, indices, model);
      return { ...source, value: valueOf(numbers, source) };
    };
    for (const product of rule.products) {
      for (const indices of each(atoms(product), bound, model)) {
        if (isOwn(indices)) made.own = made.terms.length;
        const free = Object.keys(indices).filter((name) => !(name in bound)).at(-1);
        const at = free === undefined ? null : { axis: free.replace("'", ""), index: indices[free] };
        made.terms.push({ operands: product.map((pattern) => operand(pattern, indices)), at });
      }
    }
    if (rule.divisor === "root") made.divisor = Math.sqrt(model.sizes.d_head);
    else if (rule.divisor) made.divisor = operand(rule.divisor, bound);
    return { operation: rule.operation, ...made };
  }

  /**
   * Compute a cell from its operands alone.
   *
   * @param {Explanation} explanation
   * @param {number} eps of LayerNorm
   * @returns {number}
   */
  function evaluate({ operation, terms, own, divisor }, eps) {
    const products = terms.map(({ operands }) => operands.reduce((product, { value }) => product * value, 1));
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
    const found = [];
    for (const { target, products, divisor } of rules(model.sizes).values()) {
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
   * @param {{model: any, weights: Float64Array, gradient?: Float64Array}} numbers
   * @param {Cell} cell
   * @returns {number | null} null where it is masked
   */
  function valueOf({ model, weights, gradient }, { key, head, row, column, isGradient }) {
    if (model.places.has(key)) return engine.weightMatrix(model.sizes, isGradient ? gradient : weights, key, null)(row, column);
    if (!isGradient && key.endsWith("attn_scores") && column > row) return null;
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

  /** The indices that a name can have. */
  function domain(name, bound, { sizes, rows }) {
    const kind = name.replace("'", "");
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

  /** Whether a primed index stands where the cell stands. */
  function isOwn(indices) {
    const primed = Object.keys(indices).find((name) => name.endsWith("'"));
    return primed !== undefined && indices[primed] === indices[primed.slice(0, -1)];
  }

  Object.assign(engine, { rules, explain, evaluate, users, valueOf });
})((globalThis.Article ??= {}));
