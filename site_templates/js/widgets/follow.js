// What an element of the page shows at a moment: as its author wrote it, or as the reader chooses.
//
// `data-follows` lists what it follows. The rest of its `data-` attributes is what it shows; those
// that the builder wrote are kept here.
(function (Article) {
  "use strict";

  /** @typedef {{key: string, head: number | null, headOf: string, problem: string, stage: string,
   *   target: number | null, follows: Set<string>}} Own what the author wrote; `headOf` is the claim
   *   that has found the head, `target` the position whose next token the loss of a gradient asks for */

  /** @typedef {{run: any, problem: string, position: number | null, layer: number | null,
   *   head: number | null, step: number | null, isBuilds: boolean, edits: any}} View what the reader
   *   looks at; `position`, `layer` and `head` are null until they are chosen, `isBuilds` says that
   *   the weights are the build's and nothing is overwritten */

  /** @type {WeakMap<Element, any>} */
  const known = new WeakMap();

  /**
   * @template T
   * @param {HTMLElement} element
   * @param {(data: DOMStringMap) => T} read what else to keep
   * @returns {T & Own}
   */
  function own(element, read) {
    if (!known.has(element)) {
      const { key = "", head, headOf = "", problem = "", stage = "trained", target, follows = "" } = element.dataset;
      const whole = (text) => (text === undefined ? null : Number(text));
      const basic = { key, head: whole(head), headOf, problem, stage, target: whole(target), follows: new Set(follows.split(" ")) };
      known.set(element, { ...basic, ...read(element.dataset) });
    }
    return known.get(element);
  }

  /**
   * @param {Own} written
   * @param {View} view
   */
  function resolve(written, view) {
    const chosen = (name) => (written.follows.has(name) ? view[name] : null);
    const { key, head, problem } = address(written.key, written.head, written, view);
    const last = Article.cellNames.tokensOf(view.run, problem)?.length - 1;
    const target = written.target === null ? null : Math.min(chosen("position") ?? written.target, last);
    return { key, head, problem, stage: written.stage, position: chosen("position"), target };
  }

  /** Whether an element shows what its author wrote. */
  function isAsWritten(written, next, { isBuilds, run }) {
    const isOfBuild = isBuilds || (next.stage === "initial" && run.seed === null);
    return isOfBuild && ["key", "head", "problem", "target"].every((name) => next[name] === written[name]);
  }

  /** @returns {string} where that is: layer, head, stage or step, problem and target */
  function where({ key, head, problem, stage, target }, { run, step, edits }) {
    const isTrained = stage === "trained", isEdited = isTrained && edits.list.length > 0;
    const place = { cell: { key, head, isGradient: target !== null }, problem, stage, position: target, isEdited };
    return Article.cellNames.where(place, run, isTrained ? step : null);
  }

  /** The same for any of the keys that an element speaks of. */
  function address(key, head, { follows, problem, headOf }, view) {
    const chosen = (name) => (follows.has(name) ? view[name] : null);
    const found = view.run.claims[headOf]; // for another seed it may have found another head
    const layer = chosen("layer");
    return {
      key: layer === null ? key : key.replace(/^blocks\.\d+/, `blocks.${layer}`),
      head: head === null ? null : chosen("head") ?? (found ? found.numbers.head - 1 : head),
      problem: chosen("problem") ?? problem,
    };
  }

  /**
   * Numbers of a tensor, one head, as figures show it; null where a cell is masked.
   *
   * @param {{key: string, head: number | null, problem: string, stage: string, target?: number | null}} place
   * @param {View} view
   * @param {boolean} [isPlain] without what the reader has overwritten
   * @returns {(row: number, column: number) => number | null}
   */
  function numbers({ key, head, problem, stage, target = null }, { run }, isPlain = false) {
    const { engine, passes } = Article;
    if (!Object.hasOwn(run.tensors, key)) throw new RangeError(`no tensor is called ${key}`);
    if (target !== null) {
      const { model, gradient } = passes.at({ problem, stage, position: target }, isPlain);
      if (run.tensors[key].isWeight) return engine.weightMatrix(run.sizes, gradient, key, head);
      return engine.activationMatrix({ ...model, values: model.grads }, key, head);
    }
    if (engine.rules(run.sizes).get(key)?.isProduct) {
      const pass = passes.at({ problem: run.dataset.problems[0].problem, stage }, isPlain); // any: it has the weights
      return (row, column) => engine.valueOf(pass, { key, head, row, column });
    }
    if (run.tensors[key].isWeight) return engine.weightMatrix(run.sizes, passes.weights(stage, isPlain), key, head);
    const at = engine.activationMatrix(passes.at({ problem, stage }, isPlain).model, key, head);
    return key.endsWith("attn_scores") ? (row, column) => (column > row ? null : at(row, column)) : at;
  }

  Article.follow = { own, resolve, isAsWritten, where, address, numbers };
})((window.Article ??= {}));
