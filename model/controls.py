"""Controls: what the task requires, found by training again with one part changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from model import task
from model.config import Preset
from model.encoding import plain
from model.train import Run, train
from model.variants import CONTROLS

BY_NAME = {variant.name: variant for variant in CONTROLS}
MOVED = "moved"
FIGURES = {
    "correct": "correct",
    "loss": "final_loss",
    "steps": "first_step_all_correct",
    "margin": "portability_margin",
}
"""What the table has of each seed, by the names of `model.train.Run.figures`."""


def train_control(preset: Preset, name: str, seeds: Sequence[int]) -> dict[str, list[Any]]:
    """Train one control from each of some seeds.

    Returns
    -------
    dict
        What came of each seed, in their order: `seed`, `correct` (problems), `loss` (the last
        mean, in nats), `steps` until the first 100/100 or None, `margin` (of portability), and
        `moved`, which numbers training has changed, as bits in hexadecimal.
    """
    return _by_column([_figures(preset.override(seed=seed), name) for seed in seeds])


def _figures(preset: Preset, name: str) -> dict[str, Any]:
    run = train(preset, BY_NAME[name])
    figures = {name: run.figures[figure] for name, figure in FIGURES.items()}
    return {"seed": preset.training.seed, **figures, MOVED: _moved(run)}


def _moved(run: Run) -> str:
    """Which of all numbers, tables of the variant's own included, are not what they began as."""
    changed = [(run.initial[key] != run.trained[key]).ravel() for key in run.initial]
    return np.packbits(np.concatenate(changed)).tobytes().hex()


def _by_column(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]}


def summary(parts: Sequence[Mapping[str, list[Any]]]) -> dict[str, Any]:
    """Return a control's line of the table, from what `train_control` has made of its seeds.

    `parameters` counts the numbers that training changes in some seed: those that matter. What
    the variant does not use, and what no problem ever reads, stays as it was drawn.
    """
    columns = {name: [x for part in parts for x in part[name]] for name in parts[0]}
    moved = np.array([list(bytes.fromhex(bits)) for bits in columns.pop(MOVED)], dtype=np.uint8)
    correct, steps = columns["correct"], [s for s in columns["steps"] if s is not None]
    return {
        "parameters": int(np.unpackbits(np.bitwise_or.reduce(moved)).sum()),
        "seeds": len(correct),
        "all_correct": sum(c == len(task.PROBLEMS) for c in correct),
        "correct": plain(np.median(correct)),
        "fewest": min(correct),
        "most": max(correct),
        "loss": plain(np.median(columns["loss"])),
        "steps": plain(np.median(steps)) if steps else None,
        "of_seed": columns,
    }
