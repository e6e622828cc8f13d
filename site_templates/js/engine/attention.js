// Attention: each row reads from the rows of its own prefix, in shares it computes from them.
//
// Row r reads the rows paths[r, 0..position]. A head owns d_head of the 8 columns of Q, K, V and H.
// Scores and shares are stored as [row head n_ctx]; later positions do not exist for a row.
(function (Article) {
  "use strict";

  // S = Q Kᵀ / √d_head                                       S [row head key]
  function scores(rows, heads, width, q, k, S) {
    const { n, positions, paths, n_ctx } = rows;
    const root = Math.sqrt(width);
    for (let row = 0; row < n; row++) {
      for (let head = 0; head < heads; head++) {
        const qi = (row * heads + head) * width;
        for (let j = 0; j <= positions[row]; j++) {
          const kj = (paths[row * n_ctx + j] * heads + head) * width;
          let dot = 0;
          for (let c = 0; c < width; c++) dot += q[qi + c] * k[kj + c];
          S[(row * heads + head) * n_ctx + j] = dot / root;
        }
      }
    }
  }

  // G_Q += G_S K / √d_head                                   G_K += G_Sᵀ Q / √d_head
  function scoresBackward(rows, heads, width, q, k, gS, gq, gk) {
    const { n, positions, paths, n_ctx } = rows;
    const root = Math.sqrt(width);
    for (let row = 0; row < n; row++) {
      for (let head = 0; head < heads; head++) {
        const qi = (row * heads + head) * width;
        for (let j = 0; j <= positions[row]; j++) {
          const kj = (paths[row * n_ctx + j] * heads + head) * width;
          const d = gS[(row * heads + head) * n_ctx + j] / root;
          for (let c = 0; c < width; c++) {
            gq[qi + c] += d * k[kj + c];
            gk[kj + c] += d * q[qi + c];
          }
        }
      }
    }
  }

  // A = softmax(S) along each row                            A [row head key]
  function shares(rows, heads, S, A) {
    const { n, positions, n_ctx } = rows;
    for (let row = 0; row < n; row++) {
      for (let head = 0; head < heads; head++) {
        const start = (row * heads + head) * n_ctx;
        softmax(S, start, start + positions[row] + 1, A);
      }
    }
  }

  // G_S = A · (G_A - Σ A · G_A)
  function sharesBackward(rows, heads, A, gA, gS) {
    const { n, positions, n_ctx } = rows;
    for (let row = 0; row < n; row++) {
      for (let head = 0; head < heads; head++) {
        const start = (row * heads + head) * n_ctx, end = start + positions[row] + 1;
        let mean = 0;
        for (let j = start; j < end; j++) mean += A[j] * gA[j];
        for (let j = start; j < end; j++) gS[j] = A[j] * (gA[j] - mean);
      }
    }
  }

  // H = A V                                                  H [row head d_head]
  function mix(rows, heads, width, A, v, H) {
    const { n, positions, paths, n_ctx } = rows;
    for (let row = 0; row < n; row++) {
      for (let head = 0; head < heads; head++) {
        const hi = (row * heads + head) * width;
        for (let c = 0; c < width; c++) H[hi + c] = 0;
        for (let j = 0; j <= positions[row]; j++) {
          const vj = (paths[row * n_ctx + j] * heads + head) * width;
          const share = A[(row * heads + head) * n_ctx + j];
          for (let c = 0; c < width; c++) H[hi + c] += share * v[vj + c];
        }
      }
    }
  }

  // G_A = G_H Vᵀ, later positions too                        G_V += Aᵀ G_H
  function mixBackward(rows, heads, width, A, v, gH, gA, gv) {
    const { n, reach, paths, n_ctx } = rows;
    for (let row = 0; row < n; row++) {
      for (let head = 0; head < heads; head++) {
        const hi = (row * heads + head) * width;
        for (let j = 0; j < reach[row]; j++) {
          const vj = (paths[row * n_ctx + j] * heads + head) * width;
          const at = (row * heads + head) * n_ctx + j;
          const share = A[at];
          let dot = 0;
          for (let c = 0; c < width; c++) {
            const d = gH[hi + c];
            dot += d * v[vj + c];
            gv[vj + c] += share * d;
          }
          gA[at] = dot;
        }
      }
    }
  }

  // result = H W_O, head by head                             result [row head 8]
  function writeBack(rows, heads, width, H, w, W_O, result) {
    // [row head d_head] is [row·head d_head]: one line for each head of each row
    for (let head = 0; head < heads; head++) {
      for (let row = 0; row < rows.n; row++) {
        const to = 8 * (row * heads + head), from = (row * heads + head) * width;
        let y0 = 0, y1 = 0, y2 = 0, y3 = 0, y4 = 0, y5 = 0, y6 = 0, y7 = 0;
        for (let k = 0, c = W_O + 8 * head * width; k < width; k++, c += 8) {
          const h = H[from + k];
          y0 += h * w[c]; y1 += h * w[c + 1]; y2 += h * w[c + 2]; y3 += h * w[c + 3];
          y4 += h * w[c + 4]; y5 += h * w[c + 5]; y6 += h * w[c + 6]; y7 += h * w[c + 7];
        }
        result[to] = y0; result[to + 1] = y1; result[to + 2] = y2; result[to + 3] = y3;
        result[to + 4] = y4; result[to + 5] = y5; result[to + 6] = y6; result[to + 7] = y7;
      }
    }
  }

  // G_H += G_result W_Oᵀ     G_W_O += Hᵀ G_result           by from8Backward

  // out = Σ over heads of result                             out [row 8]
  function sumHeads(rows, heads, result, out) {
    for (let row = 0; row < rows.n; row++) {
      for (let c = 0; c < 8; c++) {
        let sum = 0;
        for (let head = 0; head < heads; head++) sum += result[8 * (row * heads + head) + c];
        out[8 * row + c] = sum;
      }
    }
  }

  // G_result = G_out for every head
  function sumHeadsBackward(rows, heads, gOut, gResult) {
    for (let row = 0; row < rows.n; row++) {
      for (let head = 0; head < heads; head++) {
        for (let c = 0; c < 8; c++) gResult[8 * (row * heads + head) + c] = gOut[8 * row + c];
      }
    }
  }

  // p = exp(x - max x) / Σ exp(x - max x), from `start` up to `end`
  function softmax(x, start, end, p) {
    let top = -Infinity;
    for (let i = start; i < end; i++) if (x[i] > top) top = x[i];
    let total = 0;
    for (let i = start; i < end; i++) total += p[i] = Math.exp(x[i] - top);
    for (let i = start; i < end; i++) p[i] /= total;
  }

  Object.assign((Article.engine ??= {}), {
    scores, scoresBackward, shares, sharesBackward, mix, mixBackward, softmax,
    writeBack, sumHeads, sumHeadsBackward,
  });
})((globalThis.Article ??= {}));
