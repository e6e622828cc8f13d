// A batch is a list of rows: a token at a position, and the rows of its own prefix that it can read.
//
// One sequence is a chain. Many problems form a tree: two problems that begin alike share rows, for
// by causality what follows cannot change them. The hundred problems have 558 rows one by one, and
// 378 in the tree.
(function (Article) {
  "use strict";

  /**
   * @typedef {object} Rows
   * @property {number} n number of rows
   * @property {Int32Array} tokens token id of each row [n]
   * @property {Int32Array} positions position of each row [n]
   * @property {Int32Array} paths row at each position of a row's sequence [n n_ctx]
   * @property {Int32Array} reach how many positions of its path are known: in one sequence all of
   *   them, in a tree those up to the row itself, for there the sequences part [n]
   * @property {number} n_ctx how many places a path has
   */

  /**
   * @param {number[]} tokens ids of one sequence
   * @param {number} n_ctx
   * @returns {Rows}
   */
  function sequence(tokens, n_ctx) {
    const { rows } = tree([tokens], n_ctx);
    for (let row = 0; row < rows.n; row++) {
      for (let j = 0; j < rows.n; j++) rows.paths[row * n_ctx + j] = j;
    }
    rows.reach.fill(rows.n);
    return rows;
  }

  /**
   * @param {number[][]} sequences token ids
   * @param {number} n_ctx
   * @returns {{rows: Rows, places: number[][]}} the tree, and the row of each token of each sequence
   */
  function tree(sequences, n_ctx) {
    /** @type {{token: number, path: number[]}[]} */
    const found = [];
    const known = new Map();
    const places = sequences.map((tokens) => {
      const path = [];
      tokens.forEach((token, position) => {
        const prefix = tokens.slice(0, position + 1).join(" ");
        if (!known.has(prefix)) {
          known.set(prefix, found.length);
          found.push({ token, path: [...path, found.length] });
        }
        path.push(known.get(prefix));
      });
      return path;
    });
    const paths = new Int32Array(found.length * n_ctx);
    found.forEach(({ path }, row) => paths.set(path, row * n_ctx));
    const rows = {
      n: found.length,
      tokens: Int32Array.from(found, ({ token }) => token),
      positions: Int32Array.from(found, ({ path }) => path.length - 1),
      paths,
      reach: Int32Array.from(found, ({ path }) => path.length),
      n_ctx,
    };
    return { rows, places };
  }

  Object.assign((Article.engine ??= {}), { sequence, tree });
})((globalThis.Article ??= {}));
