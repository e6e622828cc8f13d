// What the reader has overwritten: cells of weights and of activations, and whole rows of A.
//
// An edit holds for every problem: it is a change of the model, not of one pass. In the address it is
// `key[indices]=value`, and a row of A `key[head,row]=value,value,…`; a later one wins.
(function (Article) {
  "use strict";

  const LARGEST = 1e6;
  const LONGEST = 4000;
  const EDIT = /^([A-Za-z_][\w.]*)\[(\d{1,4}(?:,\d{1,4}){0,2})\]=([^=]+)$/;
  const NUMBER = /^-?(\d{1,7}(\.\d{0,20})?|\.\d{1,20})(e-\d{1,2})?$/i;

  /** @typedef {{key: string, head: number | null, row: number, column: number, value: number}} Change */
  /** @typedef {{text: string, list: string[], count: number, places: Map<string, Change>,
   *   cells: import("../engine/transformer").Edits,
   *   overwrite: (weights: Float64Array) => Float64Array}} Edits */

  /** @type {Edits | undefined} */
  let latest;

  /**
   * @param {string | null} text from the address
   * @returns {Edits | null} null if the model has no such cells
   */
  function read(text, run) {
    if (latest?.text === (text ?? "")) return latest;
    const list = text ? text.split(";") : [];
    const changes = list.map((edit) => parse(edit, run));
    if (changes.includes(null)) return null;
    const places = new Map(changes.flat().map((change) => [name(change), change]));
    const cells = new Map(), weights = [];
    for (const change of places.values()) {
      const { key, row, column, value } = change;
      const weight = Article.engine.weightPlaces(run.sizes).get(key);
      if (weight) weights.push([weight.start + weight.shape.at(-1) * row + column, value]);
      else cells.set(key, [...(cells.get(key) ?? []), { ...Article.engine.placeInLine(run.sizes, change), value }]);
    }
    const overwrite = (before) => {
      const after = Float64Array.from(before);
      for (const [index, value] of weights) after[index] = value;
      return after;
    };
    const count = new Set(list.map((edit) => edit.split("=")[0])).size;
    latest = { text: text ?? "", list, count, places, cells, overwrite };
    return latest;
  }

  /** @returns {Change[] | null} */
  function parse(edit, run) {
    const [, key, indices, list] = EDIT.exec(edit) ?? [];
    if (key === undefined) return null;
    const values = list.split(",").map(number);
    if (values.some((value) => value === null)) return null;
    const [, row, column] = indices.split(",").map(Number);
    const isRow = key.endsWith(".attn.pattern") && column === undefined;
    if (values.length !== (isRow ? row + 1 : 1)) return null;
    const changes = values.map((value, i) => change(`${key}[${indices}${isRow ? `,${i}` : ""}]`, value, run));
    return changes.includes(null) ? null : changes;
  }

  /** @returns {Change | null} null if no problem has this cell, or if it is masked */
  function change(cell, value, run) {
    const longest = run.dataset.problems.reduce((a, b) => (b.tokens.length > a.tokens.length ? b : a)).problem;
    const place = Article.cellNames.parse(`${longest}:trained:${cell}`, run);
    if (!place || !isFree(place.cell, run) || isZeroDivisor(place.cell, value)) return null;
    return { ...place.cell, value };
  }

  /** Whether a cell can be overwritten: not one of a source that its reader cannot read, nor one of a
   *  product of weights, which the pass does not use. */
  function isFree({ key, row, column }, run) {
    const isMasked = /\.attn\.(attn_scores|pattern)$/.test(key) && column > row;
    return !isMasked && !Article.engine.rules(run.sizes).get(key)?.isProduct;
  }

  /** What a LayerNorm divides by cannot be 0. */
  const isZeroDivisor = ({ key }, value) => key.endsWith(".scale") && value === 0;

  const name = ({ key, head, row, column }) => `${key}[${head},${row},${column}]`;

  /** @returns {number | null} null for what is no number, or a huge one */
  function number(text) {
    const plain = text.trim().replace("\u2212", "-");
    const value = NUMBER.test(plain) ? Number(plain) : NaN;
    return Math.abs(value) <= LARGEST ? value : null;
  }

  /**
   * Overwrite a cell, or a row of A, in the state. What is overwritten twice is taken back in two
   * steps, unless the second replaces the first, as while a slider is drawn.
   *
   * @param {string} place key and indices
   * @param {number[]} values
   * @param {{replace?: boolean}} [options]
   * @returns {boolean} false if there are too many edits to keep in an address
   */
  function set(place, values, options) {
    const list = current();
    const edit = `${place}=${values.map(String).join(",")}`;
    if (options?.replace && list.at(-1)?.startsWith(`${place}=`)) list.pop();
    const text = [...list, edit].join(";");
    if (text.length > LONGEST) return false;
    Article.state.set({ edits: text }, options);
    return true;
  }

  /** @returns {string[]} */
  function current() {
    return Article.state.get().edits?.split(";") ?? [];
  }

  /** Take the last edit back. */
  function undo() {
    const list = current();
    if (list.length) Article.state.set({ edits: list.slice(0, -1).join(";") || null });
  }

  Article.edits = { read, number, set, undo, name, isFree, isZeroDivisor, LARGEST };
})((window.Article ??= {}));
