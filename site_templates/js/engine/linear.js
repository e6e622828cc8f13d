// A row times a matrix: the operation that everything else is made of.
//
// The residual stream is 8 numbers wide. A kernel holds the 8 numbers of a row in variables and
// walks the matrix once; that is three times faster than loops over arrays, and is all there is to
// it. `from8` starts from such a row, `to8` ends in one. W and b are places in the flat array of
// weights w; b is NONE where there is no bias.
(function (Article) {
  "use strict";

  const NONE = -1;

  // Which of n numbers, from `start` on, are not 0: half of them where a ReLU has let them through.
  // There is no branch: a processor cannot foresee which half, and waits whenever it guesses wrong.
  function nonzero(n, x, start, places) {
    let found = 0;
    for (let i = 0; i < n; i++) {
      places[found] = i;
      found += Number(x[start + i] !== 0);
    }
    return found;
  }

  // y = x W + b              x [row 8]   W [8 d_out]   b [d_out]   y [row d_out]
  function from8(n, x, w, W, b, dOut, y) {
    for (let row = 0; row < n; row++) {
      const i = 8 * row;
      const x0 = x[i], x1 = x[i + 1], x2 = x[i + 2], x3 = x[i + 3];
      const x4 = x[i + 4], x5 = x[i + 5], x6 = x[i + 6], x7 = x[i + 7];
      for (let out = 0; out < dOut; out++) {
        let c = W + out;
        let sum = b === NONE ? 0 : w[b + out];
        sum += x0 * w[c]; c += dOut;
        sum += x1 * w[c]; c += dOut;
        sum += x2 * w[c]; c += dOut;
        sum += x3 * w[c]; c += dOut;
        sum += x4 * w[c]; c += dOut;
        sum += x5 * w[c]; c += dOut;
        sum += x6 * w[c]; c += dOut;
        sum += x7 * w[c];
        y[dOut * row + out] = sum;
      }
    }
  }

  // G_x += G_y Wᵀ            G_W += xᵀ G_y       G_b += Σ over rows of G_y
  function from8Backward(n, x, w, W, b, dOut, gy, gx, g) {
    const places = new Int32Array(dOut);
    for (let row = 0; row < n; row++) {
      const i = 8 * row;
      const x0 = x[i], x1 = x[i + 1], x2 = x[i + 2], x3 = x[i + 3];
      const x4 = x[i + 4], x5 = x[i + 5], x6 = x[i + 6], x7 = x[i + 7];
      let g0 = 0, g1 = 0, g2 = 0, g3 = 0, g4 = 0, g5 = 0, g6 = 0, g7 = 0;
      const found = nonzero(dOut, gy, dOut * row, places);
      for (let l = 0; l < found; l++) {
        const out = places[l], d = gy[dOut * row + out];
        if (b !== NONE) g[b + out] += d;
        let c = W + out;
        g0 += d * w[c]; g[c] += x0 * d; c += dOut;
        g1 += d * w[c]; g[c] += x1 * d; c += dOut;
        g2 += d * w[c]; g[c] += x2 * d; c += dOut;
        g3 += d * w[c]; g[c] += x3 * d; c += dOut;
        g4 += d * w[c]; g[c] += x4 * d; c += dOut;
        g5 += d * w[c]; g[c] += x5 * d; c += dOut;
        g6 += d * w[c]; g[c] += x6 * d; c += dOut;
        g7 += d * w[c]; g[c] += x7 * d;
      }
      gx[i] += g0; gx[i + 1] += g1; gx[i + 2] += g2; gx[i + 3] += g3;
      gx[i + 4] += g4; gx[i + 5] += g5; gx[i + 6] += g6; gx[i + 7] += g7;
    }
  }

  // y = x W + b              x [row d_in]   W [d_in 8]   b [8]   y [row 8]
  function to8(n, x, dIn, w, W, b, y) {
    const places = new Int32Array(dIn);
    for (let row = 0; row < n; row++) {
      let y0 = 0, y1 = 0, y2 = 0, y3 = 0, y4 = 0, y5 = 0, y6 = 0, y7 = 0;
      if (b !== NONE) {
        y0 = w[b]; y1 = w[b + 1]; y2 = w[b + 2]; y3 = w[b + 3];
        y4 = w[b + 4]; y5 = w[b + 5]; y6 = w[b + 6]; y7 = w[b + 7];
      }
      const found = nonzero(dIn, x, dIn * row, places);
      for (let l = 0; l < found; l++) {
        const k = places[l], c = W + 8 * k, xk = x[dIn * row + k];
        y0 += xk * w[c]; y1 += xk * w[c + 1]; y2 += xk * w[c + 2]; y3 += xk * w[c + 3];
        y4 += xk * w[c + 4]; y5 += xk * w[c + 5]; y6 += xk * w[c + 6]; y7 += xk * w[c + 7];
      }
      const o = 8 * row;
      y[o] = y0; y[o + 1] = y1; y[o + 2] = y2; y[o + 3] = y3;
      y[o + 4] = y4; y[o + 5] = y5; y[o + 6] = y6; y[o + 7] = y7;
    }
  }

  // G_x = G_y Wᵀ             G_W += xᵀ G_y       G_b += Σ over rows of G_y
  function to8Backward(n, x, dIn, w, W, b, gy, gx, g) {
    const places = new Int32Array(dIn);
    for (let row = 0; row < n; row++) {
      const o = 8 * row;
      const g0 = gy[o], g1 = gy[o + 1], g2 = gy[o + 2], g3 = gy[o + 3];
      const g4 = gy[o + 4], g5 = gy[o + 5], g6 = gy[o + 6], g7 = gy[o + 7];
      if (b !== NONE) {
        g[b] += g0; g[b + 1] += g1; g[b + 2] += g2; g[b + 3] += g3;
        g[b + 4] += g4; g[b + 5] += g5; g[b + 6] += g6; g[b + 7] += g7;
      }
      for (let k = 0, c = W, i = dIn * row; k < dIn; k++, c += 8, i++) {
        gx[i] =
          g0 * w[c] + g1 * w[c + 1] + g2 * w[c + 2] + g3 * w[c + 3] +
          g4 * w[c + 4] + g5 * w[c + 5] + g6 * w[c + 6] + g7 * w[c + 7];
      }
      const found = nonzero(dIn, x, dIn * row, places);
      for (let l = 0; l < found; l++) {
        const k = places[l], c = W + 8 * k, xk = x[dIn * row + k];
        g[c] += xk * g0; g[c + 1] += xk * g1; g[c + 2] += xk * g2; g[c + 3] += xk * g3;
        g[c + 4] += xk * g4; g[c + 5] += xk * g5; g[c + 6] += xk * g6; g[c + 7] += xk * g7;
      }
    }
  }

  Object.assign((Article.engine ??= {}), { NONE, from8, from8Backward, to8, to8Backward });
})((globalThis.Article ??= {}));
