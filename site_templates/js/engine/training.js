// Training on all problems at once: a step, its loss, and how many problems come out right.
(function (Article) {
  "use strict";

  const engine = (Article.engine ??= {});

  class Training {
    /**
     * @param {Sizes} sizes
     * @param {Recipe} recipe
     * @param {{vocab: string[], problems: {tokens: string[], prompt: number}[]}} dataset
     * @param {Float64Array} initial weights, copied
     */
    constructor(sizes, recipe, dataset, initial) {
      const ids = new Map(dataset.vocab.map((token, id) => [token, id]));
      const sequences = dataset.problems.map(({ tokens }) => tokens.map((token) => ids.get(token)));
      const { rows, places } = engine.tree(sequences.map((tokens) => tokens.slice(0, -1)), sizes.n_ctx);
      this.sizes = sizes;
      this.places = places;
      this.answers = sequences.map((tokens) => tokens.slice(1));
      this.firstAnswer = dataset.problems.map(({ prompt }) => prompt - 1);
      this.targets = countTargets(rows.n, sizes.d_vocab, places, this.answers);
      this.model = new engine.Transformer(sizes, rows);
      this.gradient = new Float64Array(initial.length);
      this.adam = new engine.Adam(Float64Array.from(initial), recipe);
    }

    /** Weights as they are now; changed in place by `step`. */
    get weights() {
      return this.adam.weights;
    }

    /** Number of updates so far. */
    get steps() {
      return this.adam.step;
    }

    /**
     * Look at the current weights: mean loss in nats over all targets, and problems answered right.
     *
     * @returns {{loss: number, correct: number}}
     */
    measure() {
      this.model.forward(this.weights);
      const loss = engine.crossEntropy(this.model, this.targets);
      return { loss, correct: this.countCorrect() };
    }

    /**
     * Take one step.
     *
     * @returns {{loss: number, correct: number}} of the weights before the step
     */
    step() {
      const measured = this.measure();
      this.model.backward(this.weights, this.gradient);
      this.adam.update(this.gradient);
      return measured;
    }

    /**
     * A problem is right if every token of its answer is the likeliest after its true prefix, which
     * is when decoding token by token gets it right.
     */
    countCorrect() {
      return this.places.filter((path, problem) =>
        path.every((row, i) => i < this.firstAnswer[problem] || engine.likeliest(this.model, row) === this.answers[problem][i]),
      ).length;
    }
  }

  /**
   * How often each token follows each row, over all problems: rows that are shared have many targets.
   *
   * @returns {{counts: Float64Array, totals: Float64Array, n: number}} [row d_vocab], [row], and all
   */
  function countTargets(rows, dVocab, places, answers) {
    const counts = new Float64Array(rows * dVocab), totals = new Float64Array(rows);
    let n = 0;
    places.forEach((path, problem) => {
      path.forEach((row, i) => {
        counts[row * dVocab + answers[problem][i]] += 1;
        totals[row] += 1;
        n += 1;
      });
    });
    return { counts, totals, n };
  }

  // loss = mean over targets of -ln P(target)      G_logits = (how many targets · P - counts) / n
  function crossEntropy(model, { counts, totals, n }) {
    const { values, grads, sizes } = model;
    let loss = 0;
    for (let row = 0, i = 0; row < totals.length; row++) {
      for (let c = 0; c < sizes.d_vocab; c++, i++) {
        if (counts[i] > 0) loss -= counts[i] * Math.log(values.probs[i]);
        grads.logits[i] = (totals[row] * values.probs[i] - counts[i]) / n;
      }
    }
    return loss / n;
  }

  Object.assign(engine, { Training, crossEntropy });
})((globalThis.Article ??= {}));
