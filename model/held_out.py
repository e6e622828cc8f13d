"""Held-out problems: trained on ninety, how many of the other ten does the model get right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from model import task
from model.batch import Batch
from model.config import Preset
from model.lessons import always
from model.trace import as_tensors
from model.train import train
from model.transformer import transformer

N_HELD_OUT = 10


def split(number: int) -> tuple[tuple[task.Product, ...], tuple[task.Product, ...]]:
    """Return the problems that are trained on and those that are held out, both in order.

    Drawn by NumPy's PCG64 from the number of the split.
    """
    rng = np.random.Generator(np.random.PCG64(number))
    held_out = set(rng.permutation(len(task.PROBLEMS))[:N_HELD_OUT].tolist())
    numbered = list(enumerate(task.PROBLEMS))
    return (
        tuple(problem for i, problem in numbered if i not in held_out),
        tuple(problem for i, problem in numbered if i in held_out),
    )


def train_splits(preset: Preset, numbers: Sequence[int]) -> list[dict[str, Any]]:
    """Train a model for each split, from the seed of the same number.

    Returns
    -------
    list of dict
        `split`, `trained_right` of the ninety, `right` of the ten, and `problems`: name of each
        of the ten -> whether it is right.
    """
    return [_train_split(preset.override(seed=number)) for number in numbers]


def _train_split(preset: Preset) -> dict[str, Any]:
    number = preset.training.seed
    known, held_out = split(number)
    run = train(preset, course=always(Batch.of(known)))
    batch = Batch.of(held_out)
    with torch.no_grad():
        logits = transformer(as_tensors(run.trained), batch.tokens, preset.model)
        right = batch.right(logits).tolist()
    return {
        "split": number,
        "trained_right": run.correct[-1],
        "right": sum(right),
        "problems": dict(zip((p.name for p in held_out), right, strict=True)),
    }


def summary(splits: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the table: how many of the held-out problems come out right."""
    right = [split["right"] for split in splits]
    return {
        "splits": len(splits),
        "trained_on": len(task.PROBLEMS) - N_HELD_OUT,
        "held_out": N_HELD_OUT,
        "trained_all_right": sum(
            s["trained_right"] == len(task.PROBLEMS) - N_HELD_OUT for s in splits
        ),
        "right": sum(right),
        "asked": N_HELD_OUT * len(splits),
        "mean": sum(right) / len(splits),
        "fewest": min(right),
        "most": max(right),
        "of_split": list(splits),
    }
