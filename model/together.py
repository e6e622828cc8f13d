"""Many seeds trained at once, each to the same bits as alone.

What seeds share is done once: starting an operation, and reading the problems. Nothing of one
seed meets anything of another. The sums of `model.by_hand` come in another order than those of
`model.train`, which the grid of the optimizer removes as it removes the difference between
machines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model.adam import Adam
from model.by_hand import Network
from model.columns import Columns
from model.config import Preset
from model.divergence import HIGHEST_LOSS, DivergenceError
from model.packed import parted
from model.reading import ByContent, Reading
from model.train import Array, Run, initial_weights, learning_rate

CHUNK = 8
"""Seeds that are trained at once: with more, the activations no longer fit beside the processor."""

BY_CONTENT = ByContent()


@np.errstate(all="ignore")  # what overflows is found in the loss
def train_together(
    preset: Preset,
    seeds: Sequence[int],
    reading: Reading = BY_CONTENT,
    on_step: Callable[[int], None] | None = None,
) -> list[Run]:
    """Train a model from each seed, with the recipe of the preset.

    Parameters
    ----------
    preset
        Sizes and recipe; its own seed plays no part.
    seeds
        Some seeds; `CHUNK` at once are fastest.
    reading
        How attention shares come about.
    on_step
        Called with the number of the step before each update.

    Raises
    ------
    DivergenceError
        If the loss of a seed grows beyond `HIGHEST_LOSS`, or becomes NaN.
    """
    recipe = preset.training
    network = Network(preset.model, Columns.of_all_problems(preset.model), reading)
    together = Together.of(preset, seeds)
    adam = Adam(together.flat, recipe)
    wanted = set(recipe.checkpoints)
    rates = [learning_rate(recipe, step) for step in range(recipe.steps + 1)]
    history: list[tuple[Array, NDArray[np.int64], Array]] = []  # loss, correct, margin
    checkpoints: dict[int, NDArray[np.float32]] = {}

    for step, rate in enumerate(rates):
        if step in wanted:
            checkpoints[step] = together.flat.astype(np.float32)
        with torch.inference_mode():
            loss, correct, gradients = network.step(together.tensors)
        if not (worst := float(loss.max())) < HIGHEST_LOSS:
            raise DivergenceError(step, worst)
        if on_step:
            on_step(step)
        margin = np.full(len(seeds), np.inf)
        if step < recipe.steps:
            margin = adam.update(together.flattened(gradients), rate)
        history.append((loss.numpy(), correct.numpy(), margin))

    losses, corrects, margins = (np.stack(column, 1) for column in zip(*history, strict=True))
    return [
        Run(
            {step: parted(flat[i], together.shapes) for step, flat in checkpoints.items()},
            losses[i].tolist(),
            corrects[i].tolist(),
            rates,
            float(margins[i].min()),
        )
        for i in range(len(seeds))
    ]


class Together:
    """Weights of several seeds in one float64 array, and as tensors that share its memory.

    Attributes
    ----------
    flat
        [seed weight], in the order of the vocabulary.
    shapes
        Key -> axes of the key, in the same order.
    tensors
        Key -> [seed, axes of the key].
    """

    def __init__(self, flat: Array, shapes: dict[str, tuple[int, ...]]) -> None:
        self.flat, self.shapes = flat, shapes
        whole = torch.from_numpy(flat)  # [seed weight]
        sizes = [int(np.prod(shape)) for shape in shapes.values()]
        parts = zip(shapes.items(), torch.split(whole, sizes, 1), strict=True)
        self.tensors = {key: part.view(len(flat), *shape) for (key, shape), part in parts}

    @classmethod
    def of(cls, preset: Preset, seeds: Sequence[int]) -> Together:
        """The initial weights of each seed."""
        drawn = [initial_weights(preset.model, seed) for seed in seeds]
        flat = np.stack([np.concatenate([w.ravel() for w in ws.values()]) for ws in drawn])
        return cls(flat, {key: weight.shape for key, weight in drawn[0].items()})

    def flattened(self, gradients: dict[str, Tensor]) -> Array:
        """Return gradients in the layout of `flat`."""
        parts = [gradients[key].reshape(len(self.flat), -1) for key in self.shapes]
        flat: Array = torch.cat(parts, 1).numpy()
        return flat
