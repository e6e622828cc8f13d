// Passes through the network: one for each problem, set of weights and question that is looked at.
//
// `look` says which weights stand for the trained model and what the reader has overwritten; `at`
// computes a pass when it is first asked for, and keeps it until something else is looked at.
(function (Article) {
  "use strict";

  /** @typedef {{problem: string, stage: string, position?: number | null}} Where a pass: with a
   *   position, on the tokens up to it, and back from the loss of the token that follows */

  /** @typedef {{weights: Float64Array, step: number | null, edits: Map<string, any>,
   *   passes: Map<string, any>, version: number, all?: any}} Source */

  /** @type {any} with the weights, figures and claims of the seed that is looked at */
  let run;
  /** @type {any} the same of the article's own, which has no number: what it says, pages say too */
  let own;
  /** @type {{begun: Source, built: Source, initial: Source, plain: Source, trained: Source}} the build
   *  has `begun` with the first and `built` the second; `initial` is what the seed that is looked at
   *  starts from, `plain` what is looked at without edits, `trained` the same with them */
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
    if (run) return run; // somebody else has asked meanwhile
    const ids = new Map(found.dataset.vocab.map((token, id) => [token, id]));
    sequences = new Map(found.dataset.problems.map(({ problem, tokens }) => [problem, tokens.map((token) => ids.get(token))]));
    const { initial, trained } = found;
    const [begun, built] = [initial, trained].map((weights) => source(Float64Array.from(weights), null));
    sources = { begun, built, initial: begun, plain: built, trained: built };
    own = { seed: null, initial, trained, figures: {}, claims: {} };
    run = { ...found, ...own };
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
   * @param {import("../data").Other | null} other of which seed; null for the article's own
   */
  function look(shown, edits, other) {
    const now = [shown?.weights, other, edits.list];
    if (looked.length && now.every((part, i) => part === looked[i])) return;
    if (other !== looked[1]) {
      Object.assign(run, other ?? own);
      sources.initial = other ? source(Float64Array.from(other.initial), null) : sources.begun;
    }
    if (shown?.weights !== looked[0] || other !== looked[1]) {
      const weights = shown?.weights ?? other?.trained;
      sources.plain = weights ? source(Float64Array.from(weights), shown?.step ?? null) : sources.built;
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
   * Every problem in one pass, without what the reader has overwritten or with it.
   *
   * @returns {{model: any, places: number[][]}} and the row of each position of each problem
   */
  function all(isPlain = false) {
    const from = sources[isPlain ? "plain" : "trained"];
    if (!from.all) {
      const { rows, places } = Article.engine.tree([...sequences.values()].map((ids) => ids.slice(0, -1)), run.sizes.n_ctx);
      from.all = { places, model: new Article.engine.Transformer(run.sizes, rows) };
      from.all.model.forward(from.weights, from.edits);
    }
    return from.all;
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

  Article.passes = { load, look, at, all, tokens, model, version, weights };
})((window.Article ??= {}));
