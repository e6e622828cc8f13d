// From probabilities to a text: the likeliest token is written, and becomes part of the input.
(function (Article) {
  "use strict";

  const engine = (Article.engine ??= {});

  // argmax over c of P[row, c]; of equals the first
  function likeliest({ values, sizes }, row) {
    let best = 0;
    const start = row * sizes.d_vocab;
    for (let c = 1; c < sizes.d_vocab; c++) if (values.probs[start + c] > values.probs[start + best]) best = c;
    return best;
  }

  /**
   * Write one token at the end of every sequence; those that begin alike share their rows.
   *
   * @param {Sizes} sizes
   * @param {Float64Array} weights
   * @param {number[][]} sequences token ids, each shorter than the context
   * @param {Edits} [edits]
   */
  function writeNext(sizes, weights, sequences, edits) {
    const { rows, places } = engine.tree(sequences, sizes.n_ctx);
    const model = new engine.Transformer(sizes, rows);
    model.forward(weights, edits);
    sequences.forEach((tokens, i) => tokens.push(likeliest(model, places[i].at(-1))));
  }

  Object.assign(engine, { likeliest, writeNext });
})((globalThis.Article ??= {}));
