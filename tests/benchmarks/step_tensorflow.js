// A training step in TensorFlow.js: what the browser's engine is measured against.
//
// The same model, batch and recipe as site_templates/js/engine/, written as its documentation would
// have it: batched tensors, `tf.losses`, `tf.train.adam`. It computes in float32, knows no other, and
// does not round gradients to a grid, so its weights part from the engine's after some steps, and it
// is spared that work.

/**
 * @param {{sizes: any, recipe: any, dataset: any, tensors: Record<string, any>}} run `tensors` holds
 *   the initial weights, by key
 * @returns {() => number} takes a step and returns the loss before it
 */
function prepareTensorFlow({ sizes, recipe, dataset, tensors }) {
  const { n_layers, n_heads, d_model, d_head, d_vocab, ln_eps } = sizes;
  const w = Object.fromEntries(Object.entries(tensors).map(([key, rows]) => [key, tf.variable(tf.tensor(rows))]));
  const sequences = dataset.problems.map(({ tokens }) => tokens.map((token) => dataset.vocab.indexOf(token)));
  const longest = Math.max(...sequences.map((ids) => ids.length - 1)), n = sequences.length;
  const padded = (ids, fill) => [...ids, ...Array(longest - ids.length).fill(fill)];
  const given = tf.oneHot(sequences.map((ids) => padded(ids.slice(0, -1), 0)), d_vocab).toFloat(); // [n pos vocab]
  const wanted = tf.oneHot(sequences.map((ids) => padded(ids.slice(1), 0)), d_vocab).reshape([-1, d_vocab]); // [n·pos vocab]
  const counts = tf.tensor1d(sequences.flatMap((ids) => padded(Array(ids.length - 1).fill(1), 0))); // [n·pos]
  const later = tf.tensor(Array.from({ length: longest }, (_, query) =>
    Array.from({ length: longest }, (_, key) => (key > query ? -1e9 : 0)))); // [query key]

  const norm = (x, name) => {
    const { mean, variance } = tf.moments(x, -1, true);
    return x.sub(mean).div(variance.add(ln_eps).sqrt()).mul(w[`${name}.w`]).add(w[`${name}.b`]);
  };
  const heads = (x) => x.reshape([n, longest, n_heads, d_head]).transpose([0, 2, 1, 3]); // [n head pos d_head]
  const linear = (x, key) => x.matMul(w[key]); // x [n·pos d_in]

  function attention(x, block) {
    const [q, k, v] = ["W_Q", "W_K", "W_V"].map((name) => heads(linear(x, `${block}.attn.${name}`)));
    const scores = tf.matMul(q, k, false, true).div(Math.sqrt(d_head)).add(later);
    const mixed = tf.matMul(tf.softmax(scores), v).transpose([0, 2, 1, 3]).reshape([-1, d_model]);
    return linear(mixed, `${block}.attn.W_O`);
  }

  function mlp(x, block) {
    const hidden = linear(x, `${block}.mlp.W_in`).add(w[`${block}.mlp.b_in`]).relu();
    return linear(hidden, `${block}.mlp.W_out`).add(w[`${block}.mlp.b_out`]);
  }

  function loss() {
    const token = linear(given.reshape([-1, d_vocab]), "embed.W_E").reshape([n, longest, d_model]);
    const place = w["pos_embed.W_pos"].slice([0, 0], [longest, d_model]);
    let x = token.add(place).reshape([-1, d_model]); // [n·pos d_model]
    for (let layer = 0; layer < n_layers; layer++) {
      const block = `blocks.${layer}`;
      x = x.add(attention(norm(x, `${block}.ln1`), block));
      x = x.add(mlp(norm(x, `${block}.ln2`), block));
    }
    const logits = linear(norm(x, "ln_final"), "unembed.W_U");
    return tf.losses.softmaxCrossEntropy(wanted, logits, counts);
  }

  const adam = tf.train.adam(recipe.learning_rate, recipe.beta1, recipe.beta2, recipe.eps);
  let step = 0;
  return () => tf.tidy(() => {
    adam.learningRate = (recipe.learning_rate * (recipe.steps - step++)) / recipe.steps;
    return adam.minimize(loss, true).dataSync()[0];
  });
}
