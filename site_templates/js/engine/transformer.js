// The network: every number of a forward pass, and of the backward pass through it.
//
// Each part stands with its derivative below it. `values` and `grads` hold one array for each
// activation key; weights and their gradient are one flat array each, see layout.js.
(function (Article) {
  "use strict";

  const engine = (Article.engine ??= {});

  /** @typedef {Map<string, {position: number, offset: number, value: number}[]>} Edits overwritten
   *  cells by key: what stands at an offset in the line of every row at a position */

  class Transformer {
    /**
     * @param {Sizes} sizes
     * @param {Rows} rows
     */
    constructor(sizes, rows) {
      if (sizes.d_model !== 8) throw new RangeError(`the kernels are for d_model = 8, not ${sizes.d_model}`);
      this.sizes = sizes;
      this.rows = rows;
      this.places = engine.weightPlaces(sizes);
      this.values = this.arrays();
    }

    /** One array for each activation key, and one for its gradient when that is first asked for. */
    get grads() {
      return (this.made ??= this.arrays());
    }

    arrays() {
      const widths = engine.activationWidths(this.sizes);
      return Object.fromEntries([...widths].map(([key, width]) => [key, new Float64Array(width * this.rows.n)]));
    }

    /** @param {string} key @returns {number} where a weight starts in the flat array */
    at(key) {
      return /** @type {Place} */ (this.places.get(key)).start;
    }

    /**
     * Compute `values` from the weights.
     *
     * @param {Float64Array} w all weights
     * @param {Edits} [edits] cells to overwrite where they are made; all that follows uses them
     */
    forward(w, edits = new Map()) {
      this.edits = edits;
      this.embed(w);
      for (let layer = 0; layer < this.sizes.n_layers; layer++) {
        this.attention(w, `blocks.${layer}`);
        this.mlp(w, `blocks.${layer}`);
        this.hand(`blocks.${layer}.resid_post`, `blocks.${layer + 1}.resid_pre`);
      }
      this.unembed(w);
    }

    /**
     * Compute `grads` and the gradient of the weights, from `grads.logits`.
     *
     * @param {Float64Array} w all weights
     * @param {Float64Array} g receives ∂loss/∂weights
     */
    backward(w, g) {
      g.fill(0);
      this.unembedBackward(w, g);
      for (let layer = this.sizes.n_layers - 1; layer >= 0; layer--) {
        this.mlpBackward(w, g, `blocks.${layer}`);
        this.attentionBackward(w, g, `blocks.${layer}`);
        if (layer > 0) this.grads[`blocks.${layer - 1}.resid_post`].set(this.grads[`blocks.${layer}.resid_pre`]);
      }
      this.embedBackward(g);
    }

    // X = TokenEmb[token] + PosEmb[position]
    embed(w) {
      const { rows, values: a } = this;
      engine.lookUp(rows.n, rows.tokens, w, this.at("embed.W_E"), a.embed);
      this.record("embed");
      engine.lookUp(rows.n, rows.positions, w, this.at("pos_embed.W_pos"), a.pos_embed);
      this.record("pos_embed");
      this.add("embed", "pos_embed", "blocks.0.resid_pre");
    }

    // The gradient of a row of X goes to the two table rows it was made of.
    embedBackward(g) {
      const { rows, grads: d } = this;
      d.embed.set(d["blocks.0.resid_pre"]);
      d.pos_embed.set(d["blocks.0.resid_pre"]);
      engine.lookUpBackward(rows.n, rows.tokens, this.at("embed.W_E"), d.embed, g);
      engine.lookUpBackward(rows.n, rows.positions, this.at("pos_embed.W_pos"), d.pos_embed, g);
    }

    // resid_mid = resid_pre + Σ over heads of H W_O, with H = softmax(Q Kᵀ / √d_head) V
    attention(w, block) {
      const { rows, sizes: s, values: a } = this;
      const key = (name) => `${block}.attn.${name}`;
      this.norm(w, `${block}.resid_pre`, `${block}.ln1`);
      for (const name of ["q", "k", "v"]) {
        const W = this.at(key(`W_${name.toUpperCase()}`));
        engine.from8(rows.n, a[`${block}.ln1.out`], w, W, engine.NONE, 8, a[key(name)]);
        this.record(key(name));
      }
      engine.scores(rows, s.n_heads, s.d_head, a[key("q")], a[key("k")], a[key("attn_scores")]);
      this.record(key("attn_scores"));
      engine.shares(rows, s.n_heads, a[key("attn_scores")], a[key("pattern")]);
      this.record(key("pattern"));
      engine.mix(rows, s.n_heads, s.d_head, a[key("pattern")], a[key("v")], a[key("z")]);
      this.record(key("z"));
      engine.writeBack(rows, s.n_heads, s.d_head, a[key("z")], w, this.at(key("W_O")), a[key("result")]);
      this.record(key("result"));
      engine.sumHeads(rows, s.n_heads, a[key("result")], a[`${block}.attn_out`]);
      this.record(`${block}.attn_out`);
      this.add(`${block}.resid_pre`, `${block}.attn_out`, `${block}.resid_mid`);
    }

    attentionBackward(w, g, block) {
      const { rows, sizes: s, values: a, grads: d } = this;
      const key = (name) => `${block}.attn.${name}`;
      const [q, k, v, x] = [d[key("q")], d[key("k")], d[key("v")], d[`${block}.ln1.out`]];
      const [z, out] = [d[key("z")], d[`${block}.attn_out`]];
      for (const gradient of [q, k, v, x, z]) gradient.fill(0);
      out.set(d[`${block}.resid_mid`]);
      engine.sumHeadsBackward(rows, s.n_heads, out, d[key("result")]);
      engine.from8Backward(rows.n, a[key("z")], w, this.at(key("W_O")), engine.NONE, 8, out, z, g);
      engine.mixBackward(rows, s.n_heads, s.d_head, a[key("pattern")], a[key("v")], z, d[key("pattern")], v);
      engine.sharesBackward(rows, s.n_heads, a[key("pattern")], d[key("pattern")], d[key("attn_scores")]);
      engine.scoresBackward(rows, s.n_heads, s.d_head, a[key("q")], a[key("k")], d[key("attn_scores")], q, k);
      for (const name of ["q", "k", "v"]) {
        const W = this.at(key(`W_${name.toUpperCase()}`));
        engine.from8Backward(rows.n, a[`${block}.ln1.out`], w, W, engine.NONE, 8, d[key(name)], x, g);
      }
      d[`${block}.resid_pre`].set(d[`${block}.resid_mid`]); // the residual connection
      this.normBackward(w, g, `${block}.resid_pre`, `${block}.ln1`);
    }

    // resid_post = resid_mid + ReLU(x W_in + b_in) W_out + b_out, with x = LayerNorm(resid_mid)
    mlp(w, block) {
      const { rows, sizes: s, values: a } = this;
      const key = (name) => `${block}.mlp.${name}`;
      const [pre, post] = [a[key("pre")], a[key("post")]];
      this.norm(w, `${block}.resid_mid`, `${block}.ln2`);
      engine.from8(rows.n, a[`${block}.ln2.out`], w, this.at(key("W_in")), this.at(key("b_in")), s.d_mlp, pre);
      this.record(key("pre"));
      for (let i = 0; i < pre.length; i++) post[i] = Math.max(pre[i], 0);
      this.record(key("post"));
      engine.to8(rows.n, post, s.d_mlp, w, this.at(key("W_out")), this.at(key("b_out")), a[`${block}.mlp_out`]);
      this.record(`${block}.mlp_out`);
      this.add(`${block}.resid_mid`, `${block}.mlp_out`, `${block}.resid_post`);
    }

    // G_pre = G_post where pre > 0, else 0: a product, for branches cost time; + 0 makes -0 a 0
    mlpBackward(w, g, block) {
      const { rows, sizes: s, values: a, grads: d } = this;
      const key = (name) => `${block}.mlp.${name}`;
      const [pre, x, out] = [d[key("pre")], d[`${block}.ln2.out`], d[`${block}.mlp_out`]];
      out.set(d[`${block}.resid_post`]);
      engine.to8Backward(
        rows.n, a[key("post")], s.d_mlp, w, this.at(key("W_out")), this.at(key("b_out")), out, d[key("post")], g,
      );
      const value = a[key("pre")], post = d[key("post")];
      for (let i = 0; i < pre.length; i++) pre[i] = post[i] * Number(value[i] > 0) + 0;
      x.fill(0);
      engine.from8Backward(rows.n, a[`${block}.ln2.out`], w, this.at(key("W_in")), this.at(key("b_in")), s.d_mlp, pre, x, g);
      d[`${block}.resid_mid`].set(d[`${block}.resid_post`]); // the residual connection
      this.normBackward(w, g, `${block}.resid_mid`, `${block}.ln2`);
    }

    // logits = LayerNorm(resid_post) LM      P = softmax(logits)
    unembed(w) {
      const { rows, sizes: s, values: a } = this;
      this.norm(w, this.stream, "ln_final");
      engine.from8(rows.n, a["ln_final.out"], w, this.at("unembed.W_U"), engine.NONE, s.d_vocab, a.logits);
      this.record("logits");
      for (let row = 0; row < rows.n; row++) {
        engine.softmax(a.logits, row * s.d_vocab, (row + 1) * s.d_vocab, a.probs);
      }
      this.record("probs");
    }

    unembedBackward(w, g) {
      const { rows, sizes: s, values: a, grads: d } = this;
      const final = d["ln_final.out"];
      final.fill(0);
      engine.from8Backward(
        rows.n, a["ln_final.out"], w, this.at("unembed.W_U"), engine.NONE, s.d_vocab, d.logits, final, g,
      );
      d[this.stream].fill(0);
      this.normBackward(w, g, this.stream, "ln_final");
    }

    /** Key of the residual stream that leaves the last block. */
    get stream() {
      return `blocks.${this.sizes.n_layers - 1}.resid_post`;
    }

    norm(w, from, name) {
      const { rows, sizes: s, values: a } = this;
      const [scale, normalized, out] = [a[`${name}.scale`], a[`${name}.normalized`], a[`${name}.out`]];
      const [gain, bias] = [this.at(`${name}.w`), this.at(`${name}.b`)];
      engine.layerNorm(rows.n, a[from], w, gain, bias, s.ln_eps, scale, normalized, out);
      if (this.edits.has(`${name}.scale`)) {
        this.record(`${name}.scale`);
        engine.rescale(rows.n, a[from], scale, normalized);
      }
      if (this.edits.has(`${name}.scale`) || this.edits.has(`${name}.normalized`)) {
        this.record(`${name}.normalized`);
        engine.affine(rows.n, w, gain, bias, normalized, out);
      }
      this.record(`${name}.out`);
    }

    normBackward(w, g, from, name) {
      const { rows, values: a, grads: d } = this;
      const [scale, normalized] = [a[`${name}.scale`], a[`${name}.normalized`]];
      const [gain, bias] = [this.at(`${name}.w`), this.at(`${name}.b`)];
      engine.layerNormBackward(
        rows.n, normalized, scale, w, gain, bias, d[`${name}.out`], d[`${name}.normalized`], d[from], g,
      );
    }

    add(left, right, sum) {
      const { values: a } = this;
      const [x, y, z] = [a[left], a[right], a[sum]];
      for (let i = 0; i < z.length; i++) z[i] = x[i] + y[i];
      this.record(sum);
    }

    /** Pass the stream on to the next block, if there is one. */
    hand(from, to) {
      if (!(to in this.values)) return;
      this.values[to].set(this.values[from]);
      this.record(to);
    }

    /** Overwrite what the reader has edited, as soon as it is made. */
    record(key) {
      const edits = this.edits.get(key);
      if (!edits) return;
      const array = this.values[key], { n, positions } = this.rows;
      for (const { position, offset, value } of edits) {
        for (let row = 0; row < n; row++) if (positions[row] === position) array[(array.length / n) * row + offset] = value;
      }
    }
  }

  Object.assign(engine, { Transformer });
})((globalThis.Article ??= {}));
