// What an element of the page shows at a moment: as its author wrote it, or as the reader chooses.
//
// `data-follows` lists what it follows. The rest of its `data-` attributes is what it shows; those
// that the builder wrote are kept here.
(function (Article) {
  "use strict";

  /** @typedef {{key: string, head: number | null, problem: string, stage: string,
   *   follows: Set<string>}} Own what the author wrote */

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
      const { key = "", head, problem = "", stage = "trained", follows = "" } = element.dataset;
      const basic = { key, head: head === undefined ? null : Number(head), problem, stage, follows: new Set(follows.split(" ")) };
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
    return { key, head, problem, stage: written.stage, position: chosen("position") };
  }

  /** The same for any of the keys that an element speaks of. */
  function address(key, head, { follows, problem }, view) {
    const chosen = (name) => (follows.has(name) ? view[name] : null);
    const layer = chosen("layer");
    return {
      key: layer === null ? key : key.replace(/^blocks\.\d+/, `blocks.${layer}`),
      head: head === null ? null : chosen("head") ?? head,
      problem: chosen("problem") ?? problem,
    };
  }

  /**
   * Numbers of a tensor, one head, as figures show it; null where a cell is masked.
   *
   * @param {{key: string, head: number | null, problem: string, stage: string}} place
   * @param {View} view
   * @param {boolean} [isPlain] without what the reader has overwritten
   * @returns {(row: number, column: number) => number | null}
   */
  function numbers({ key, head, problem, stage }, { run }, isPlain = false) {
    const { engine, passes } = Article;
    if (!Object.hasOwn(run.tensors, key)) throw new RangeError(`no tensor is called ${key}`);
    if (run.tensors[key].isWeight) return engine.weightMatrix(run.sizes, passes.weights(stage, isPlain), key, head);
    const at = engine.activationMatrix(passes.at({ problem, stage }, isPlain).model, key, head);
    return key.endsWith("attn_scores") ? (row, column) => (column > row ? null : at(row, column)) : at;
  }

  Article.follow = { own, resolve, address, numbers };
})((window.Article ??= {}));
