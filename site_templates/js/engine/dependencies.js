// What every cell is made of, and what it goes into: one table of the whole network.
//
//   attn.q[head pos d] | dot | ln1.out[pos model] attn.W_Q[model head.d]
//
// reads: a cell of Q is the sum, over every index that stands on the right only, of a cell of
// ln1.out times a cell of W_Q. `+` adds further products, `/` divides. `head.d` is place d of a
// head's own columns or rows, `token` the token at a position, model2 another index than model, and
// a prime (model') the index of a whole row that the operation looks at. `key` runs over the
// positions up to `pos`: the rest is masked. `∂` is the gradient of the loss. `previous`, `next` and
// `last` are blocks.
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

  // Products of weights that the text speaks of; no part of the pass, so nothing lists them as users.
  const PRODUCTS = `
    attn.W_QK[head model model2]          | dot | attn.W_Q[model head.d] attn.W_K[model2 head.d]
    attn.W_OV[head model model2]          | dot | attn.W_V[model head.d] attn.W_O[head.d model2]
    attn.token_q[head vocab d]            | dot | embed.W_E[vocab model] attn.W_Q[model head.d]
    attn.token_k[head vocab d]            | dot | embed.W_E[vocab model] attn.W_K[model head.d]
    attn.token_scores[head vocab vocab2]  | dot | attn.token_q[head vocab d] attn.token_k[head vocab2 d] / root
    attn.token_result[head vocab model2]  | dot | embed.W_E[vocab model] attn.W_OV[head model model2]
    attn.token_logits[head vocab vocab2]  | dot | attn.token_result[head vocab model] unembed.W_U[model vocab2]`;

  // Backwards: what the gradient of each tensor is made of, from the loss to the tables.
  const END_BACKWARD = `
    ∂logits[pos vocab]              | error       | probs[pos vocab]
    ∂unembed.W_U[model vocab]       | dot         | ln_final.out[pos model] ∂logits[pos vocab]
    ∂ln_final.out[pos model]        | dot         | ∂logits[pos vocab] unembed.W_U[model vocab]
    ∂ln_final.w[model]              | dot         | ∂ln_final.out[pos model] ln_final.normalized[pos model]
    ∂ln_final.b[model]              | sum         | ∂ln_final.out[pos model]
    ∂ln_final.normalized[pos model] | dot         | ∂ln_final.out[pos model] ln_final.w[model]
    ∂last.resid_post[pos model]     | standardize_backward | ln_final.normalized[pos model'] ∂ln_final.normalized[pos model'] / ln_final.scale[pos]`;

  const HAND_BACKWARD = `
    ∂resid_post[pos model]          | copy        | ∂next.resid_pre[pos model]`;

  const BLOCK_BACKWARD = `
    ∂mlp_out[pos model]             | copy        | ∂resid_post[pos model]
    ∂mlp.W_out[mlp model]           | dot         | mlp.post[pos mlp] ∂mlp_out[pos model]
    ∂mlp.b_out[model]               | sum         | ∂mlp_out[pos model]
    ∂mlp.post[pos mlp]              | dot         | ∂mlp_out[pos model] mlp.W_out[mlp model]
    ∂mlp.pre[pos mlp]               | relu_backward | ∂mlp.post[pos mlp] mlp.pre[pos mlp]
    ∂mlp.W_in[model mlp]            | dot         | ln2.out[pos model] ∂mlp.pre[pos mlp]
    ∂mlp.b_in[mlp]                  | sum         | ∂mlp.pre[pos mlp]
    ∂ln2.out[pos model]             | dot         | ∂mlp.pre[pos mlp] mlp.W_in[model mlp]
    ∂ln2.w[model]                   | dot         | ∂ln2.out[pos model] ln2.normalized[pos model]
    ∂ln2.b[model]                   | sum         | ∂ln2.out[pos model]
    ∂ln2.normalized[pos model]      | dot         | ∂ln2.out[pos model] ln2.w[model]
    ∂resid_mid[pos model]           | standardize_backward | ∂resid_post[pos model] + ln2.normalized[pos model'] ∂ln2.normalized[pos model'] / ln2.scale[pos]
    ∂attn_out[pos model]            | copy        | ∂resid_mid[pos model]
    ∂attn.result[head pos model]    | copy        | ∂attn_out[pos model]
    ∂attn.W_O[head.d model]         | dot         | attn.z[head pos d] ∂attn.result[head pos model]
    ∂attn.z[head pos d]             | dot         | ∂attn.result[head pos model] attn.W_O[head.d model]
    ∂attn.pattern[head pos key]     | dot         | ∂attn.z[head pos d] attn.v[head key d]
    ∂attn.v[head key d]             | dot         | attn.pattern[head pos key] ∂attn.z[head pos d]
    ∂attn.attn_scores[head pos key] | softmax_backward | attn.pattern[head pos key'] ∂attn.pattern[head pos key']
    ∂attn.q[head pos d]             | dot         | ∂attn.attn_scores[head pos key] attn.k[head key d] / root
    ∂attn.k[head key d]             | dot         | ∂attn.attn_scores[head pos key] attn.q[head pos d] / root
    ∂attn.W_Q[model head.d]         | dot         | ln1.out[pos model] ∂attn.q[head pos d]
    ∂attn.W_K[model head.d]         | dot         | ln1.out[pos model] ∂attn.k[head pos d]
    ∂attn.W_V[model head.d]         | dot         | ln1.out[pos model] ∂attn.v[head pos d]
    ∂ln1.out[pos model]             | dot         | ∂attn.q[head pos d] attn.W_Q[model head.d] + ∂attn.k[head pos d] attn.W_K[model head.d] + ∂attn.v[head pos d] attn.W_V[model head.d]
    ∂ln1.w[model]                   | dot         | ∂ln1.out[pos model] ln1.normalized[pos model]
    ∂ln1.b[model]                   | sum         | ∂ln1.out[pos model]
    ∂ln1.normalized[pos model]      | dot         | ∂ln1.out[pos model] ln1.w[model]
    ∂resid_pre[pos model]           | standardize_backward | ∂resid_mid[pos model] + ln1.normalized[pos model'] ∂ln1.normalized[pos model'] / ln1.scale[pos]`;

  const START_BACKWARD = `
    ∂embed[pos model]               | copy        | ∂blocks.0.resid_pre[pos model]
    ∂pos_embed[pos model]           | copy        | ∂blocks.0.resid_pre[pos model]
    ∂embed.W_E[token model]         | sum         | ∂embed[pos model]
    ∂pos_embed.W_pos[pos model]     | copy        | ∂pos_embed[pos model]`;

  /**
   * @typedef {{key: string, head: number | null, row: number, column: number, isGradient?: boolean}} Cell
   *   a vector lies down: its row is 0
   * @typedef {Cell & {value: number}} Operand
   * @typedef {{key: string, isGradient: boolean, names: string[]}} Pattern
   * @typedef {{operation: string, target: Pattern, products: Pattern[][], divisor: Pattern | "root" | null,
   *   isProduct?: boolean}} Rule
   * @typedef {{operands: Operand[], at: {axis: string, index: number}[]}} Term a product, and the
   *   indices that tell it from the others
   * @typedef {{operation: string, cell: Cell, result: number | null, terms: Term[], own: number,
   *   divisor: Operand | number | null, answer: number | null}} Explanation `own` is the term that
   *   stands at the cell's place; `answer` is what P should have been, where it is asked for
   * @typedef {{model: any, weights: Float64Array, gradient?: Float64Array,
   *   target?: {position: number, token: number}}} Numbers a Transformer after `forward` on one
   *   sequence and what it was given; for gradients, after `backward` on the sequence up to the target
   */

  /** @type {WeakMap<object, Map<string, Rule>>} */
  const known = new WeakMap();

  /**
   * @param {Sizes} sizes
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
      found.push(...read(END, null, last), ...read(END_BACKWARD, null, last));
      for (let layer = last; layer >= 0; layer--) {
        if (layer < last) found.push(...read(HAND_BACKWARD, layer, last));
        found.push(...read(BLOCK_BACKWARD, layer, last));
      }
      found.push(...read(START_BACKWARD, null, last));
      for (let layer = 0; layer <= last; layer++) {
        found.push(...read(PRODUCTS, layer, last).map((rule) => ({ ...rule, isProduct: true })));
      }
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
      return layer === null || /^(un)?embed\./.test(rest) ? rest : `blocks.${layer}.${rest}`;
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

  Object.assign(engine, { rules });
})((globalThis.Article ??= {}));
