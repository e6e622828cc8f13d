"""The article's model at both stages, trained once for all tests, and what tests ask of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model import task, trace
from model.config import PRESETS, Preset
from model.tensors import Vocabulary
from model.train import Run, train
from model.transformer import transformer

Array = NDArray[np.float64]

PRESET: Preset = PRESETS["multiplication"]
CONFIG = PRESET.model
VOCABULARY = Vocabulary(CONFIG)


@cache
def run() -> Run:
    torch.set_num_threads(1)  # two threads gain nothing at this size, and thrash beside others
    return train(PRESET)


@cache
def weights(stage: str) -> dict[str, Array]:
    step = {"initial": 0, "half-trained": 60, "trained": PRESET.training.steps}[stage]
    return {key: w.astype(np.float64) for key, w in run().checkpoints[step].items()}


@cache
def activations(stage: str) -> dict[str, Array]:
    return trace.activations(weights(stage), CONFIG)


@cache
def gradients(stage: str) -> trace.Gradients:
    return trace.gradients(weights(stage), CONFIG)


def ids(tokens: Sequence[str]) -> list[int]:
    """The ids of some tokens."""
    return [task.TOKEN_ID[token] for token in tokens]


def forward(stage: str, sequences: list[list[int]]) -> dict[str, Array]:
    """Every activation of token ids [sequence pos], by the model's own forward pass."""
    values: dict[str, Array] = {}

    def keep(key: str, tensor: Tensor) -> Tensor:
        values[key] = tensor.numpy()
        return tensor

    tensors = {key: torch.from_numpy(w) for key, w in weights(stage).items()}
    with torch.no_grad():
        transformer(tensors, torch.tensor(sequences), CONFIG, keep)
    return values


def largest_difference(name: str, found: Array, expected: Array, tolerance: float) -> None:
    """Fail with the tensor's name, the largest difference and where it is."""
    assert found.shape == expected.shape, f"{name}: shape {found.shape}, not {expected.shape}"
    same = found == expected  # also where both are minus infinity
    difference = np.abs(np.where(same, 0.0, found) - np.where(same, 0.0, expected))
    if difference.size == 0:
        return
    worst = np.unravel_index(difference.argmax(), difference.shape)
    assert difference[worst] <= tolerance, (
        f"{name}: largest difference {difference[worst]:.2e} at {tuple(map(int, worst))}: "
        f"{found[worst]!r} and {expected[worst]!r}"
    )
