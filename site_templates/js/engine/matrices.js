// From the engine's flat arrays to matrices as figures show them: one head, rows and columns.
(function (Article) {
  "use strict";

  const engine = (Article.engine ??= {});

  /**
   * @param {any} model a Transformer after `forward`, on one sequence
   * @param {string} key
   * @param {number | null} head
   * @returns {(row: number, column: number) => number}
   */
  function activationMatrix({ sizes, rows, values }, key, head) {
    const array = values[key];
    if (!array) throw new RangeError(`no activation is called ${key}`);
    const line = array.length / rows.n; // numbers of one row of the batch, all heads
    if (line === 1) return (_row, column) => array[column]; // one number a row: shown lying down
    const width = head === null ? line : line / sizes.n_heads;
    return (row, column) => array[line * row + width * (head ?? 0) + column];
  }

  /**
   * Where an activation is: at a position, so far into its line.
   *
   * @param {any} sizes
   * @param {{key: string, head: number | null, row: number, column: number}} cell
   * @returns {{position: number, offset: number}}
   */
  function placeInLine(sizes, { key, head, row, column }) {
    const line = engine.activationWidths(sizes).get(key);
    if (line === 1) return { position: column, offset: 0 };
    return { position: row, offset: (head === null ? 0 : (line / sizes.n_heads) * head) + column };
  }

  /**
   * A head owns columns of W_Q, W_K and W_V, and rows of W_O; a vector is a matrix of one row.
   *
   * @param {any} sizes
   * @param {Float64Array} weights
   * @param {string} key
   * @param {number | null} head
   * @returns {(row: number, column: number) => number}
   */
  function weightMatrix(sizes, weights, key, head) {
    const place = engine.weightPlaces(sizes).get(key);
    if (!place) throw new RangeError(`no weight is called ${key}`);
    const width = place.shape.at(-1);
    const offset = (head ?? 0) * sizes.d_head * (key.endsWith("W_O") ? width : 1);
    return (row, column) => weights[place.start + offset + width * row + column];
  }

  /**
   * @param {any} model a Transformer after `forward`
   * @param {number} row
   * @returns {Float64Array} P of the token that follows a row [d_vocab]
   */
  function probabilities({ values, sizes: { d_vocab } }, row) {
    return values.probs.subarray(d_vocab * row, d_vocab * (row + 1));
  }

  Object.assign(engine, { activationMatrix, weightMatrix, placeInLine, probabilities });
})((globalThis.Article ??= {}));
