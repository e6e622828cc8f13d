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
          let dot = 0;
          for (let c = 0; c < width; c++) {
            dot += gH[hi + c] * v[vj + c];
            gv[vj + c] += A[at] * gH[hi + c];
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
        for (let c = 0; c < 8; c++) {
          let sum = 0;
          for (let k = 0; k < width; k++) sum += H[from + k] * w[W_O + 8 * (head * width + k) + c];
          result[to + c] = sum;
        }
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
      const line = gOut.subarray(8 * row, 8 * row + 8);
      for (let head = 0; head < heads; head++) gResult.set(line, 8 * (row * heads + head));
    }
  }

  // p = exp(x - max x) / Σ exp(x - max x), from `start` up to `end`
  function softmax(x, start, end, p) {
    let top = -Infinity;
    for (let i = start; i < end; i++) if (x[i] > top) top = x[i];
    let total = 0;
    for (let i = start; i < end; i++) {
      p[i] = Math.exp(x[i] - top);
      total += p[i];
    }
    for (let i = start; i < end; i++) p[i] /= total;
  }

  Object.assign((Article.engine ??= {}), {
    scores, scoresBackward, shares, sharesBackward, mix, mixBackward, softmax,
    writeBack, sumHeads, sumHeadsBackward,
  });
})((globalThis.Article ??= {}));
