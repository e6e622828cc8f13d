// What the reader has overwritten: cells of weights and of activations, and whole rows of A.
//
// An edit holds for every problem: it is a change of the model, not of one pass. In the address it is
// `key[indices]=value`; a row of A is `key[head,row]=value,value,…`, all rows of a head one after the
// other `key[head]=…`, and `key=value` is an activation that has one value everywhere. A later one wins.
(function (Article) {
  "use strict";

  const LARGEST = 1e6;
  const LONGEST = 4000;
  const EDIT = /^([A-Za-z_][\w.]*)(?:\[(\d{1,4}(?:,\d{1,4}){0,2})\])?=([^=]+)$/;
  const NUMBER = /^[-+]?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?$/i;

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
    const found = made(text ?? "", run);
    if (found) latest = found;
    return found;
  }

  /**
   * @param {string} text
   * @returns {Edits | null} what would be overwritten; null if the model has no such cells
   */
  function made(text, run) {
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
    return { text, list, count, places, cells, overwrite };
  }

  /** @returns {Change[] | null} */
  function parse(edit, run) {
    const [, key, indices, list] = EDIT.exec(edit) ?? [];
    if (key === undefined || !Object.hasOwn(run.tensors, key)) return null;
    const values = list.split(",").map(number), isEverywhere = indices === undefined;
    const cells = isEverywhere ? everywhere(key, run) : cellsOf(key, indices.split(","), values.length);
    if (cells.length === 0 || values.length !== (isEverywhere ? 1 : cells.length) || values.includes(null)) return null;
    const changes = cells.map((cell, i) => change(`${key}[${cell}]`, values[isEverywhere ? 0 : i], run));
    return changes.includes(null) ? null : changes;
  }

  /** Indices of the cells that an edit with so many values names: of A there may be a row, or several from the first. */
  function cellsOf(key, given, count) {
    if (!key.endsWith(".attn.pattern") || given.length === 3) return [given];
    const cells = [], [head, only] = given;
    for (let row = Number(only ?? 0); cells.length < count; row++) {
      for (let column = 0; column <= row; column++) cells.push([head, row, column]);
      if (only) break;
    }
    return cells;
  }

  /** The same of an activation that is as wide as the stream. */
  function everywhere(key, run) {
    const { axes, isWeight } = run.tensors[key];
    if (isWeight || axes.join() !== "pos,d_model") return [];
    const rows = Article.cellNames.longest(run).tokens.slice(1), columns = Array.from({ length: run.sizes.d_model }, (_, column) => column);
    return rows.flatMap((_, row) => columns.map((column) => [row, column]));
  }

  /** @returns {Change | null} null if no problem has this cell, or if it is masked */
  function change(cell, value, run) {
    const place = Article.cellNames.parse(`${Article.cellNames.longest(run).problem}:trained:${cell}`, run);
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
    const value = NUMBER.test(plain(text)) ? Number(plain(text)) : NaN;
    return Math.abs(value) <= LARGEST ? value : null;
  }

  /** @returns {string} what is typed, with the marks that a program has: an input method of Chinese has wide ones */
  function plain(text) {
    const narrow = text.replace(/[\uff01-\uff5e]/g, (mark) => String.fromCharCode(mark.charCodeAt(0) - 0xfee0));
    return narrow.trim().replace(/\u2212/g, "-").replace(/\u3002/g, ".");
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

  Article.edits = { read, made, number, plain, set, undo, name, isFree, isZeroDivisor, LARGEST };
})((window.Article ??= {}));
