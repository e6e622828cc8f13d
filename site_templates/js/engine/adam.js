// Adam on gradients rounded to a grid: the same bits as model/adam.py, on every machine.
//
// IEEE 754 rounds + - × ÷ and √ alike everywhere, so the same operations in the same order give the
// same weights. Sums come in another order here than in PyTorch and differ in their last bits; the
// grid is ten orders coarser and wipes that out before it can grow.
(function (Article) {
  "use strict";

  const engine = (Article.engine ??= {});

  /** @typedef {{steps: number, learning_rate: number, beta1: number, beta2: number, eps: number, gradient_grid: number}} Recipe */

  class Adam {
    /**
     * @param {Float64Array} weights changed in place
     * @param {Recipe} recipe
     */
    constructor(weights, recipe) {
      this.weights = weights;
      this.recipe = recipe;
      this.mean = new Float64Array(weights.length);
      this.square = new Float64Array(weights.length);
      this.beta1Power = 1;
      this.beta2Power = 1;
      this.step = 0;
    }

    // m ← β₁ m + (1 - β₁) g      v ← β₂ v + (1 - β₂) g²
    // θ ← θ - rate · (m / (1 - β₁ᵗ)) / (√(v / (1 - β₂ᵗ)) + ε)
    update(gradient) {
      const { weights, mean, square } = this;
      const { steps, learning_rate, beta1, beta2, eps, gradient_grid } = this.recipe;
      const rate = (learning_rate * (steps - this.step)) / steps;
      this.beta1Power *= beta1;
      this.beta2Power *= beta2;
      const unbias1 = 1 - this.beta1Power, unbias2 = 1 - this.beta2Power;
      for (let i = 0; i < weights.length; i++) {
        const g = halfToEven(gradient[i] / gradient_grid) * gradient_grid;
        mean[i] = beta1 * mean[i] + (1 - beta1) * g;
        square[i] = beta2 * square[i] + (1 - beta2) * (g * g);
        weights[i] -= (rate * (mean[i] / unbias1)) / (Math.sqrt(square[i] / unbias2) + eps);
      }
      this.step += 1;
    }
  }

  /** Adding and taking away 1.5 · 2⁵² leaves the nearest whole number, ties to even. */
  const SHIFT = 1.5 * 2 ** 52;

  /** @param {number} x smaller than 2⁵¹ */
  function halfToEven(x) {
    return x + SHIFT - SHIFT;
  }

  Object.assign(engine, { Adam, halfToEven });
})((globalThis.Article ??= {}));
