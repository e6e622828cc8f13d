// LayerNorm: give each row mean 0 and variance 1, then a learned gain w and bias b.
(function (Article) {
  "use strict";

  // scale = √(var + ε)   normalized = (x - mean) / scale   out = normalized · w + b   [row 8]
  function layerNorm(n, x, p, w, b, eps, scale, normalized, out) {
    for (let row = 0; row < n; row++) {
      const i = 8 * row;
      let mean = 0;
      for (let c = 0; c < 8; c++) mean += x[i + c];
      mean /= 8;
      let variance = 0;
      for (let c = 0; c < 8; c++) variance += (x[i + c] - mean) * (x[i + c] - mean);
      const deviation = Math.sqrt(variance / 8 + eps);
      scale[row] = deviation;
      for (let c = 0; c < 8; c++) {
        const z = (x[i + c] - mean) / deviation;
        normalized[i + c] = z;
        out[i + c] = z * p[w + c] + p[b + c];
      }
    }
  }

  // The second half of it, from a scale that is given; and the last third, from what is normalized.
  function rescale(n, x, scale, normalized) {
    for (let row = 0; row < n; row++) {
      let mean = 0;
      for (let c = 0; c < 8; c++) mean += x[8 * row + c];
      mean /= 8;
      for (let c = 0; c < 8; c++) normalized[8 * row + c] = (x[8 * row + c] - mean) / scale[row];
    }
  }

  function affine(n, p, w, b, normalized, out) {
    for (let i = 0; i < 8 * n; i++) out[i] = normalized[i] * p[w + (i % 8)] + p[b + (i % 8)];
  }

  // G_n = G_out · w          G_w += Σ over rows of G_out · n      G_b += Σ over rows of G_out
  // G_x += (G_n - mean(G_n) - n · mean(G_n · n)) / scale          n is short for normalized
  function layerNormBackward(n, normalized, scale, p, w, b, gout, gnormalized, gx, g) {
    for (let row = 0; row < n; row++) {
      const i = 8 * row;
      let mean = 0, along = 0;
      for (let c = 0; c < 8; c++) {
        const d = gout[i + c], z = normalized[i + c];
        g[w + c] += d * z;
        g[b + c] += d;
        const dz = d * p[w + c];
        gnormalized[i + c] = dz;
        mean += dz;
        along += dz * z;
      }
      mean /= 8;
      along /= 8;
      const deviation = scale[row];
      for (let c = 0; c < 8; c++) {
        gx[i + c] += (gnormalized[i + c] - mean - normalized[i + c] * along) / deviation;
      }
    }
  }

  Object.assign((Article.engine ??= {}), { layerNorm, rescale, affine, layerNormBackward });
})((globalThis.Article ??= {}));
