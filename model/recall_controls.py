"""Controls on a task that needs addressing: which of them can recall what they have just read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from model.config import Preset
from model.controls import BY_NAME
from model.lessons import Course, batch_of, course_of
from model.recall import Recall
from model.trace import as_tensors
from model.train import train
from model.transformer import Weights, transformer
from model.variants import Variant


def train_recall(preset: Preset, name: str, seeds: Sequence[int]) -> list[dict[str, Any]]:
    """Train one control from each of some seeds.

    Returns
    -------
    list of dict
        `seed`, `right` (the share of new sequences that are answered right) and `margin`.
    """
    return [_figures(preset.override(seed=seed), name) for seed in seeds]


def _figures(preset: Preset, name: str) -> dict[str, Any]:
    variant = BY_NAME[name]
    weights, margin = learn(preset, variant, Course(course_of(preset).lessons))
    config, exam = replace(preset.model, **variant.sizes), batch_of(Recall().exam)
    with torch.no_grad():
        logits = transformer(weights, exam.tokens, config, variant.record(weights))
    return {
        "seed": preset.training.seed,
        "right": exam.correct(logits) / len(exam.tokens),
        "margin": float(f"{margin:.1e}"),
    }


def learn(preset: Preset, variant: Variant, course: Course) -> tuple[Weights, float]:
    """Train a variant in a course.

    Returns
    -------
    tuple
        What the network is given after the last step, rounded to float32, and the portability
        margin.

    Raises
    ------
    DivergenceError
        If the loss grows beyond `HIGHEST_LOSS`, or becomes NaN.
    """
    run = train(preset, variant, course=course)
    return variant.use(as_tensors(run.trained)), run.portability_margin


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return a control's line of the table: the share of new sequences that are right."""
    right = [row["right"] for row in rows]
    return {
        "seeds": len(rows),
        "right": float(np.median(right)),
        "least": min(right),
        "most": max(right),
        "of_seed": {name: [row[name] for row in rows] for name in rows[0]},
    }
