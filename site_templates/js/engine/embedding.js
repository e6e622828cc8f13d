// Embedding: a row of X is the row of a table, chosen by the token or by the position.
//
// E is the place of the table in the flat array of weights w.
(function (Article) {
  "use strict";

  // x = E[choice]            choices [row]   E [d_choices 8]   x [row 8]
  function lookUp(n, choices, w, E, x) {
    for (let row = 0; row < n; row++) {
      for (let c = 0; c < 8; c++) x[8 * row + c] = w[E + 8 * choices[row] + c];
    }
  }

  // G_E[choice] += G_x
  function lookUpBackward(n, choices, E, gx, g) {
    for (let row = 0; row < n; row++) {
      for (let c = 0; c < 8; c++) g[E + 8 * choices[row] + c] += gx[8 * row + c];
    }
  }

  Object.assign((Article.engine ??= {}), { lookUp, lookUpBackward });
})((globalThis.Article ??= {}));
