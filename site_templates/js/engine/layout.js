// What the numbers are called and where they stand.
//
// All weights share one flat array; a table says at which place each tensor starts. Activations
// have one array for each key, one line of numbers for each row of the batch. Keys, shapes and
// order are those of model/tensors.py.
(function (Article) {
  "use strict";

  /**
   * @typedef {{n_layers: number, n_heads: number, d_model: number, d_head: number, d_mlp: number,
   *   d_vocab: number, n_ctx: number, ln_eps: number}} Sizes
   * @typedef {{key: string, shape: number[], start: number, size: number}} Place
   */

  /**
   * @param {Sizes} s
   * @returns {[string, number[]][]} key and shape of every weight, in order
   */
  function weightShapes(s) {
    const norm = (name) => [[`${name}.w`, [s.d_model]], [`${name}.b`, [s.d_model]]];
    const square = [s.d_model, s.d_model];
    const blocks = Array.from({ length: s.n_layers }, (_, layer) => [
      ...norm(`blocks.${layer}.ln1`),
      ...["W_Q", "W_K", "W_V", "W_O"].map((name) => [`blocks.${layer}.attn.${name}`, square]),
      ...norm(`blocks.${layer}.ln2`),
      [`blocks.${layer}.mlp.W_in`, [s.d_model, s.d_mlp]],
      [`blocks.${layer}.mlp.b_in`, [s.d_mlp]],
      [`blocks.${layer}.mlp.W_out`, [s.d_mlp, s.d_model]],
      [`blocks.${layer}.mlp.b_out`, [s.d_model]],
    ]);
    return [
      ["embed.W_E", [s.d_vocab, s.d_model]],
      ["pos_embed.W_pos", [s.n_ctx, s.d_model]],
      ...blocks.flat(),
      ...norm("ln_final"),
      ["unembed.W_U", [s.d_model, s.d_vocab]],
    ];
  }

  /** @type {WeakMap<Sizes, Map<string, Place>>} */
  const known = new WeakMap();

  /**
   * @param {Sizes} sizes
   * @returns {Map<string, Place>} where each weight stands in the flat array
   */
  function weightPlaces(sizes) {
    if (known.has(sizes)) return known.get(sizes);
    const places = new Map();
    known.set(sizes, places);
    let start = 0;
    for (const [key, shape] of weightShapes(sizes)) {
      const size = shape.reduce((product, length) => product * length, 1);
      places.set(key, { key, shape, start, size });
      start += size;
    }
    return places;
  }

  /**
   * @param {Sizes} s
   * @returns {Map<string, number>} numbers per row of the batch, by activation key
   */
  function activationWidths(s) {
    const widths = new Map([["embed", s.d_model], ["pos_embed", s.d_model]]);
    const norm = (name) => {
      widths.set(`${name}.scale`, 1).set(`${name}.normalized`, s.d_model).set(`${name}.out`, s.d_model);
    };
    for (let layer = 0; layer < s.n_layers; layer++) {
      const at = `blocks.${layer}`;
      widths.set(`${at}.resid_pre`, s.d_model);
      norm(`${at}.ln1`);
      for (const name of ["q", "k", "v"]) widths.set(`${at}.attn.${name}`, s.d_model); // [head d_head]
      for (const name of ["attn_scores", "pattern"]) widths.set(`${at}.attn.${name}`, s.n_heads * s.n_ctx); // [head key]
      widths.set(`${at}.attn.z`, s.d_model); // [head d_head]
      widths.set(`${at}.attn.result`, s.n_heads * s.d_model); // [head d_model]
      widths.set(`${at}.attn_out`, s.d_model).set(`${at}.resid_mid`, s.d_model);
      norm(`${at}.ln2`);
      widths.set(`${at}.mlp.pre`, s.d_mlp).set(`${at}.mlp.post`, s.d_mlp);
      widths.set(`${at}.mlp_out`, s.d_model).set(`${at}.resid_post`, s.d_model);
    }
    norm("ln_final");
    return widths.set("logits", s.d_vocab).set("probs", s.d_vocab);
  }

  Object.assign((Article.engine ??= {}), { weightPlaces, activationWidths });
})((globalThis.Article ??= {}));
