// Passes through the network: one for each problem, set of weights and question that is looked at.
//
// `look` says which weights stand for the trained model and what the reader has overwritten; `at`
// computes a pass when it is first asked for, and keeps it until something else is looked at.
(function (Article) {
  "use strict";

  /** @typedef {{problem: string, stage: string, position?: number | null}} Where a pass: with a
   *   position, on the tokens up to it, and back from the loss of the token that follows */

  /** @typedef {{weights: Float64Array, step: number | null, edits: Map<string, any>,
   *   passes: Map<string, any>, version: number}} Source */

  /** @type {any} */
  let run;
  /** @type {{initial: Source, built: Source, plain: Source, trained: Source}} `built` is what the
   *  build has trained, `plain` what is looked at without edits, `trained` the same with them */
  let sources;
  /** @type {Map<string, number[]>} token ids of each problem */
  let sequences;
  /** @type {unknown[]} */
  let looked = [];
  let versions = 0;

  /** @returns {Promise<any>} what the engine needs, read once */
  async function load() {
    if (run) return run;
    const found = await Article.data.run();
    const ids = new Map(found.dataset.vocab.map((token, id) => [token, id]));
    sequences = new Map(found.dataset.problems.map(({ problem, tokens }) => [problem, tokens.map((token) => ids.get(token))]));
    const built = source(Float64Array.from(found.trained), null);
    sources = { initial: source(Float64Array.from(found.initial), null), built, plain: built, trained: built };
    run = found;
    return run;
  }

  /** @returns {Source} */
  const source = (weights, step, edits = new Map()) => ({ weights, step, edits, passes: new Map(), version: ++versions });

  /**
   * Choose what stands for the trained model from now on.
   *
   * @param {{step: number, weights: ArrayLike<number>} | null} shown null for the build's own
   * @param {{list: any[], overwrite: (weights: Float64Array) => Float64Array,
   *   cells: Map<string, any>}} edits
   */
  function look(shown, edits) {
    const now = [shown?.weights, edits.list];
    if (looked.length && now.every((part, i) => part === looked[i])) return;
    if (shown?.weights !== looked[0]) {
      sources.plain = shown ? source(Float64Array.from(shown.weights), shown.step) : sources.built;
    }
    looked = now;
    const { weights, step } = sources.plain;
    sources.trained = edits.list.length ? source(edits.overwrite(weights), step, edits.cells) : sources.plain;
  }

  /**
   * @param {Where} where
   * @param {boolean} [isPlain] without what the reader has overwritten
   * @returns {any} numbers that `engine.explain` and `engine.valueOf` read, and the step
   */
  function at({ problem, stage, position = null }, isPlain = false) {
    const from = stage === "trained" && isPlain ? sources.plain : sources[stage];
    const name = `${problem} ${position}`;
    if (!from.passes.has(name)) from.passes.set(name, compute(from, sequences.get(problem), position));
    return from.passes.get(name);
  }

  /**
   * What stands for the trained model, with what the reader has overwritten: for passes over other
   * tokens than a problem's. It is the same object until something else is looked at.
   *
   * @returns {Source & {isBuilds: boolean, isEdited: boolean}}
   */
  function model() {
    const { built, plain, trained } = sources;
    return Object.assign(trained, { isBuilds: trained === built, isEdited: trained !== plain });
  }

  /** @returns {number[]} token ids of a problem and its answer, to the end token */
  function tokens(problem) {
    return sequences.get(problem);
  }

  /** @returns {number} another one whenever a stage has other numbers */
  function version(stage) {
    return sources[stage].version;
  }

  /** @returns {Float64Array} weights of a stage, with or without what is overwritten */
  function weights(stage, isPlain = false) {
    return (stage === "trained" && isPlain ? sources.plain : sources[stage]).weights;
  }

  /** Forward through all tokens, or forward to a position and back from the loss there. */
  function compute({ weights, step, edits }, ids, position) {
    const { engine } = Article;
    const given = ids.slice(0, position === null ? -1 : position + 1);
    const model = new engine.Transformer(run.sizes, engine.sequence(given, run.sizes.n_ctx));
    if (position === null) {
      model.forward(weights, edits);
      return { model, weights, step };
    }
    model.forward(weights); // what is overwritten has no gradient: that of the weights in use is shown
    const { d_vocab } = run.sizes;
    const gradient = new Float64Array(weights.length), token = ids[position + 1];
    const counts = new Float64Array(given.length * d_vocab), totals = new Float64Array(given.length);
    counts[position * d_vocab + token] = totals[position] = 1;
    engine.crossEntropy(model, { counts, totals, n: 1 });
    model.backward(weights, gradient);
    return { model, weights, gradient, target: { position, token }, step };
  }

  Article.passes = { load, look, at, tokens, model, version, weights };
})((window.Article ??= {}));
