"""The optimizer: every gradient rounded to a grid, then Adam in + - × ÷ and √ alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from model.config import TrainingConfig

Array = NDArray[np.float64]


class Adam:
    """Adam (Kingma and Ba 2015, algorithm 1) on gradients rounded to a grid.

    Parameters
    ----------
    weights
        All of them as one flat array [... weight]; `update` changes it in place. Leading axes, such
        as one of seeds, are independent of each other.
    recipe
        beta1, beta2, eps and the grid.
    """

    def __init__(self, weights: Array, recipe: TrainingConfig) -> None:
        self.weights = weights
        self.recipe = recipe
        self.mean = np.zeros_like(weights)  # [... weight]
        self.square = np.zeros_like(weights)  # [... weight]
        self.beta1_power = 1.0
        self.beta2_power = 1.0

    def update(self, gradient: Array, rate: float) -> Array:
        """Take one step.

        m ← β₁ m + (1 - β₁) g;  v ← β₂ v + (1 - β₂) g²;
        θ ← θ - rate · (m / (1 - β₁ᵗ)) / (√(v / (1 - β₂ᵗ)) + ε).

        Every operation below rounds its result once; an implementation that keeps their order
        gets the same bits.

        Returns
        -------
        Array
            The portability margin of this gradient, in the gradient's unit [...].
        """
        recipe = self.recipe
        scaled = gradient / recipe.gradient_grid
        g = np.rint(scaled) * recipe.gradient_grid  # [... weight]
        margin = np.abs(scaled - np.floor(scaled) - 0.5).min(-1) * recipe.gradient_grid

        self.beta1_power *= recipe.beta1
        self.beta2_power *= recipe.beta2
        self.mean = recipe.beta1 * self.mean + (1 - recipe.beta1) * g
        self.square = recipe.beta2 * self.square + (1 - recipe.beta2) * (g * g)
        mean = self.mean / (1 - self.beta1_power)
        square = self.square / (1 - self.beta2_power)
        self.weights -= rate * mean / (np.sqrt(square) + recipe.eps)
        return np.asarray(margin)
