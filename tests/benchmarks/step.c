/* A training step in plain C: what the browser's engine is measured against.
 *
 *   gcc -O3 -ffp-contract=off step.c -o step -lm && ./step INPUT STEPS > OUTPUT
 *
 * The same model, batch and recipe as site_templates/js/engine/: forward and backward over all
 * targets, row by row, then Adam on gradients that are rounded to a grid. It is written as one would
 * write it down: loops over arrays, no intrinsics, no rows shared between problems, one function an
 * operation with its derivative below. INPUT is what tests/benchmarks/engine.py writes; OUTPUT has
 * the milliseconds of each step, the loss before each step, and the weights after the last.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LAYERS = 2, HEADS = 2, D = 8, D_HEAD = D / HEADS, MLP = 64, VOCAB = 14, CTX = 16 };
enum { ROWS = 1024 };

/* Weights, and their gradient, in the order of model/tensors.py. */
typedef struct {
  double W_E[VOCAB][D], W_pos[CTX][D];
  struct {
    double ln1_w[D], ln1_b[D], W_Q[D][D], W_K[D][D], W_V[D][D], W_O[D][D];
    double ln2_w[D], ln2_b[D], W_in[D][MLP], b_in[MLP], W_out[MLP][D], b_out[D];
  } block[LAYERS];
  double ln_w[D], ln_b[D], W_U[D][VOCAB];
} Weights;

/* Activations, and their gradients. */
typedef struct {
  double scale[ROWS], normalized[ROWS][D], out[ROWS][D];
} Norm;

typedef struct {
  struct {
    double resid_pre[ROWS][D], q[ROWS][D], k[ROWS][D], v[ROWS][D], scores[ROWS][HEADS][CTX];
    double pattern[ROWS][HEADS][CTX], z[ROWS][D], attn_out[ROWS][D], resid_mid[ROWS][D];
    double pre[ROWS][MLP], post[ROWS][MLP], mlp_out[ROWS][D];
    Norm ln1, ln2;
  } block[LAYERS];
  double resid_post[ROWS][D], logits[ROWS][VOCAB], probs[ROWS][VOCAB];
  Norm ln;
} Activations;

static Weights w, g, mean, square;
static Activations a, d;
static int n_rows, tokens[ROWS], targets[ROWS], position[ROWS];
static int total_steps, steps_taken;
static double ln_eps, learning_rate, beta1, beta2, eps, grid, beta1_power = 1, beta2_power = 1;

/* y = x W + b */
static void linear(int n_in, int n_out, const double *x, const double *W, const double *b, double *y) {
  for (int row = 0; row < n_rows; row++) {
    for (int o = 0; o < n_out; o++) {
      double sum = b ? b[o] : 0;
      for (int i = 0; i < n_in; i++) sum += x[row * n_in + i] * W[i * n_out + o];
      y[row * n_out + o] = sum;
    }
  }
}

/* gx += gy Wᵀ      gW += xᵀ gy      gb += Σ over rows of gy */
static void linear_backward(int n_in, int n_out, const double *x, const double *W, const double *gy,
                            double *gx, double *gW, double *gb) {
  for (int row = 0; row < n_rows; row++) {
    for (int i = 0; i < n_in; i++) {
      double sum = 0;
      for (int o = 0; o < n_out; o++) {
        sum += gy[row * n_out + o] * W[i * n_out + o];
        gW[i * n_out + o] += x[row * n_in + i] * gy[row * n_out + o];
      }
      gx[row * n_in + i] += sum;
    }
    if (gb) for (int o = 0; o < n_out; o++) gb[o] += gy[row * n_out + o];
  }
}

/* scale = √(var + ε)      normalized = (x - mean) / scale      out = normalized · w + b */
static void layer_norm(double x[][D], const double *weight, const double *bias, Norm *norm) {
  for (int row = 0; row < n_rows; row++) {
    double average = 0, variance = 0;
    for (int c = 0; c < D; c++) average += x[row][c];
    average /= D;
    for (int c = 0; c < D; c++) variance += (x[row][c] - average) * (x[row][c] - average);
    norm->scale[row] = sqrt(variance / D + ln_eps);
    for (int c = 0; c < D; c++) norm->normalized[row][c] = (x[row][c] - average) / norm->scale[row];
    for (int c = 0; c < D; c++) norm->out[row][c] = norm->normalized[row][c] * weight[c] + bias[c];
  }
}

/* gx += (gn - mean(gn) - n · mean(gn · n)) / scale, with gn = gout · w */
static void layer_norm_backward(const Norm *norm, const double *weight, Norm *grad, double gx[][D],
                                double *gweight, double *gbias) {
  for (int row = 0; row < n_rows; row++) {
    const double *n = norm->normalized[row], *gout = grad->out[row];
    double *gn = grad->normalized[row], average = 0, along = 0;
    for (int c = 0; c < D; c++) {
      gweight[c] += gout[c] * n[c];
      gbias[c] += gout[c];
      gn[c] = gout[c] * weight[c];
      average += gn[c] / D;
      along += gn[c] * n[c] / D;
    }
    for (int c = 0; c < D; c++) gx[row][c] += (gn[c] - average - n[c] * along) / norm->scale[row];
  }
}

static void softmax(int n, const double *x, double *p) {
  double top = -INFINITY, total = 0;
  for (int i = 0; i < n; i++) if (x[i] > top) top = x[i];
  for (int i = 0; i < n; i++) total += p[i] = exp(x[i] - top);
  for (int i = 0; i < n; i++) p[i] /= total;
}

/* S = Q Kᵀ / √d_head      A = softmax(S)      H = A V, for each head, from rows up to the own one */
static void attention(int layer) {
  for (int row = 0; row < n_rows; row++) {
    int first = row - position[row], n = position[row] + 1;
    for (int h = 0; h < HEADS; h++) {
      double *scores = a.block[layer].scores[row][h], *pattern = a.block[layer].pattern[row][h];
      const double *q = a.block[layer].q[row] + h * D_HEAD;
      double *z = a.block[layer].z[row] + h * D_HEAD;
      for (int j = 0; j < n; j++) {
        const double *k = a.block[layer].k[first + j] + h * D_HEAD;
        double dot = 0;
        for (int c = 0; c < D_HEAD; c++) dot += q[c] * k[c];
        scores[j] = dot / sqrt(D_HEAD);
      }
      softmax(n, scores, pattern);
      for (int c = 0; c < D_HEAD; c++) z[c] = 0;
      for (int j = 0; j < n; j++) {
        const double *v = a.block[layer].v[first + j] + h * D_HEAD;
        for (int c = 0; c < D_HEAD; c++) z[c] += pattern[j] * v[c];
      }
    }
  }
}

/* gA = gH Vᵀ   gV += Aᵀ gH   gS = A · (gA - Σ A · gA)   gQ += gS K / √d_head   gK += gSᵀ Q / √d_head */
static void attention_backward(int layer) {
  for (int row = 0; row < n_rows; row++) {
    int first = row - position[row], n = position[row] + 1;
    for (int h = 0; h < HEADS; h++) {
      const double *pattern = a.block[layer].pattern[row][h], *q = a.block[layer].q[row] + h * D_HEAD;
      const double *gz = d.block[layer].z[row] + h * D_HEAD;
      double *gpattern = d.block[layer].pattern[row][h], *gq = d.block[layer].q[row] + h * D_HEAD;
      double average = 0;
      for (int j = 0; j < n; j++) {
        const double *v = a.block[layer].v[first + j] + h * D_HEAD;
        double *gv = d.block[layer].v[first + j] + h * D_HEAD, dot = 0;
        for (int c = 0; c < D_HEAD; c++) {
          dot += gz[c] * v[c];
          gv[c] += pattern[j] * gz[c];
        }
        gpattern[j] = dot;
        average += pattern[j] * dot;
      }
      for (int j = 0; j < n; j++) {
        const double *k = a.block[layer].k[first + j] + h * D_HEAD;
        double *gk = d.block[layer].k[first + j] + h * D_HEAD;
        double score = pattern[j] * (gpattern[j] - average) / sqrt(D_HEAD);
        d.block[layer].scores[row][h][j] = score;
        for (int c = 0; c < D_HEAD; c++) {
          gq[c] += score * k[c];
          gk[c] += score * q[c];
        }
      }
    }
  }
}

static void forward(void) {
  for (int row = 0; row < n_rows; row++) {
    for (int c = 0; c < D; c++) {
      a.block[0].resid_pre[row][c] = w.W_E[tokens[row]][c] + w.W_pos[position[row]][c];
    }
  }
  for (int l = 0; l < LAYERS; l++) {
    double (*next)[D] = l + 1 < LAYERS ? a.block[l + 1].resid_pre : a.resid_post;
    layer_norm(a.block[l].resid_pre, w.block[l].ln1_w, w.block[l].ln1_b, &a.block[l].ln1);
    linear(D, D, *a.block[l].ln1.out, *w.block[l].W_Q, NULL, *a.block[l].q);
    linear(D, D, *a.block[l].ln1.out, *w.block[l].W_K, NULL, *a.block[l].k);
    linear(D, D, *a.block[l].ln1.out, *w.block[l].W_V, NULL, *a.block[l].v);
    attention(l);
    linear(D, D, *a.block[l].z, *w.block[l].W_O, NULL, *a.block[l].attn_out);
    for (int row = 0; row < n_rows; row++) {
      for (int c = 0; c < D; c++) {
        a.block[l].resid_mid[row][c] = a.block[l].resid_pre[row][c] + a.block[l].attn_out[row][c];
      }
    }
    layer_norm(a.block[l].resid_mid, w.block[l].ln2_w, w.block[l].ln2_b, &a.block[l].ln2);
    linear(D, MLP, *a.block[l].ln2.out, *w.block[l].W_in, w.block[l].b_in, *a.block[l].pre);
    for (int row = 0; row < n_rows; row++) {
      for (int i = 0; i < MLP; i++) {
        a.block[l].post[row][i] = a.block[l].pre[row][i] > 0 ? a.block[l].pre[row][i] : 0;
      }
    }
    linear(MLP, D, *a.block[l].post, *w.block[l].W_out, w.block[l].b_out, *a.block[l].mlp_out);
    for (int row = 0; row < n_rows; row++) {
      for (int c = 0; c < D; c++) {
        next[row][c] = a.block[l].resid_mid[row][c] + a.block[l].mlp_out[row][c];
      }
    }
  }
  layer_norm(a.resid_post, w.ln_w, w.ln_b, &a.ln);
  linear(D, VOCAB, *a.ln.out, *w.W_U, NULL, *a.logits);
  for (int row = 0; row < n_rows; row++) softmax(VOCAB, a.logits[row], a.probs[row]);
}

/* Mean over all targets of -ln P(target), and its gradient at the logits. */
static double cross_entropy(void) {
  double loss = 0;
  for (int row = 0; row < n_rows; row++) {
    loss -= log(a.probs[row][targets[row]]);
    for (int c = 0; c < VOCAB; c++) {
      d.logits[row][c] = (a.probs[row][c] - (c == targets[row])) / n_rows;
    }
  }
  return loss / n_rows;
}

static void backward(void) {
  memset(&g, 0, sizeof g);
  for (int l = 0; l < LAYERS; l++) {
    memset(d.block[l].q, 0, sizeof d.block[l].q[0] * n_rows);
    memset(d.block[l].k, 0, sizeof d.block[l].k[0] * n_rows);
    memset(d.block[l].v, 0, sizeof d.block[l].v[0] * n_rows);
    memset(d.block[l].z, 0, sizeof d.block[l].z[0] * n_rows);
    memset(d.block[l].post, 0, sizeof d.block[l].post[0] * n_rows);
    memset(d.block[l].ln1.out, 0, sizeof d.block[l].ln1.out[0] * n_rows);
    memset(d.block[l].ln2.out, 0, sizeof d.block[l].ln2.out[0] * n_rows);
  }
  memset(d.ln.out, 0, sizeof d.ln.out[0] * n_rows);
  memset(d.resid_post, 0, sizeof d.resid_post[0] * n_rows);

  linear_backward(D, VOCAB, *a.ln.out, *w.W_U, *d.logits, *d.ln.out, *g.W_U, NULL);
  layer_norm_backward(&a.ln, w.ln_w, &d.ln, d.resid_post, g.ln_w, g.ln_b);
  double (*gx)[D] = d.resid_post; /* the gradient of the residual stream, handed down */
  for (int l = LAYERS - 1; l >= 0; l--) {
    linear_backward(MLP, D, *a.block[l].post, *w.block[l].W_out, *gx, *d.block[l].post,
                    *g.block[l].W_out, g.block[l].b_out);
    for (int row = 0; row < n_rows; row++) {
      for (int i = 0; i < MLP; i++) {
        d.block[l].pre[row][i] = a.block[l].pre[row][i] > 0 ? d.block[l].post[row][i] : 0;
      }
    }
    linear_backward(D, MLP, *a.block[l].ln2.out, *w.block[l].W_in, *d.block[l].pre,
                    *d.block[l].ln2.out, *g.block[l].W_in, g.block[l].b_in);
    layer_norm_backward(&a.block[l].ln2, w.block[l].ln2_w, &d.block[l].ln2, gx, g.block[l].ln2_w,
                        g.block[l].ln2_b);
    linear_backward(D, D, *a.block[l].z, *w.block[l].W_O, *gx, *d.block[l].z, *g.block[l].W_O, NULL);
    attention_backward(l);
    linear_backward(D, D, *a.block[l].ln1.out, *w.block[l].W_Q, *d.block[l].q,
                    *d.block[l].ln1.out, *g.block[l].W_Q, NULL);
    linear_backward(D, D, *a.block[l].ln1.out, *w.block[l].W_K, *d.block[l].k,
                    *d.block[l].ln1.out, *g.block[l].W_K, NULL);
    linear_backward(D, D, *a.block[l].ln1.out, *w.block[l].W_V, *d.block[l].v,
                    *d.block[l].ln1.out, *g.block[l].W_V, NULL);
    layer_norm_backward(&a.block[l].ln1, w.block[l].ln1_w, &d.block[l].ln1, gx, g.block[l].ln1_w,
                        g.block[l].ln1_b);
  }
  for (int row = 0; row < n_rows; row++) {
    for (int c = 0; c < D; c++) {
      g.W_E[tokens[row]][c] += gx[row][c];
      g.W_pos[position[row]][c] += gx[row][c];
    }
  }
}

static void adam(void) {
  double *weight = (double *)&w, *gradient = (double *)&g, *m = (double *)&mean, *v = (double *)&square;
  double rate = learning_rate * (total_steps - steps_taken) / total_steps;
  beta1_power *= beta1;
  beta2_power *= beta2;
  for (size_t i = 0; i < sizeof w / sizeof *weight; i++) {
    double rounded = rint(gradient[i] / grid) * grid; /* half to even */
    m[i] = beta1 * m[i] + (1 - beta1) * rounded;
    v[i] = beta2 * v[i] + (1 - beta2) * (rounded * rounded);
    weight[i] -= rate * (m[i] / (1 - beta1_power)) / (sqrt(v[i] / (1 - beta2_power)) + eps);
  }
  steps_taken++;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

static double number(FILE *file) {
  double value;
  if (fscanf(file, "%lf", &value) != 1) exit((fprintf(stderr, "the input ends too early\n"), 1));
  return value;
}

static void read_input(const char *path) {
  FILE *file = fopen(path, "r");
  if (!file) exit((perror(path), 1));
  const int sizes[] = {LAYERS, HEADS, D, D_HEAD, MLP, VOCAB, CTX};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    if (number(file) != sizes[i]) exit((fprintf(stderr, "size %zu is not %d\n", i, sizes[i]), 1));
  }
  ln_eps = number(file);
  total_steps = number(file), learning_rate = number(file), beta1 = number(file);
  beta2 = number(file), eps = number(file), grid = number(file);
  for (int problems = number(file); problems > 0; problems--) {
    int n = number(file), token = number(file); /* each token asks for the next */
    for (int i = 0; i < n - 1; i++, n_rows++) {
      if (n_rows == ROWS) exit((fprintf(stderr, "more than %d rows\n", ROWS), 1));
      tokens[n_rows] = token, position[n_rows] = i;
      targets[n_rows] = token = number(file);
    }
  }
  for (size_t i = 0; i < sizeof w / sizeof(double); i++) ((double *)&w)[i] = number(file);
  fclose(file);
}

int main(int argc, char **argv) {
  if (argc != 3) return fprintf(stderr, "usage: step INPUT STEPS\n"), 1;
  read_input(argv[1]);
  for (int step = 0, last = atoi(argv[2]); step < last; step++) {
    double started = now();
    forward();
    double loss = cross_entropy();
    backward();
    adam();
    printf("%.6f %.17g\n", now() - started, loss);
  }
  for (size_t i = 0; i < sizeof w / sizeof(double); i++) printf("%.17g\n", ((double *)&w)[i]);
  return 0;
}
