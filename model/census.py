"""The same training from many seeds: what comes of each, and how it is stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from model.config import Preset
from model.packed import packed
from model.together import train_together

WEIGHTS = "weights"


def train_seeds(preset: Preset, seeds: Sequence[int]) -> dict[str, dict[str, Any]]:
    """Train some seeds at once.

    Returns
    -------
    dict
        Seed, as text -> the figures of its training and its trained weights, packed.
    """
    runs = zip(seeds, train_together(preset, seeds), strict=True)
    return {
        str(seed): {**run.figures, WEIGHTS: packed(run.trained, preset.model)} for seed, run in runs
    }
