"""What a training run leaves in the snapshot: the curves, the weights, and the headline figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from model.config import ModelConfig, Preset
from model.documents import File, dataset_file
from model.encoding import rounded, weights_sha256
from model.tasks import task_of
from model.tensors import Vocabulary
from model.train import Run


def run_files(run: Run, preset: Preset) -> list[File]:
    """Every file that a training decides by itself; the dataset is what it learned from."""
    dataset = dataset_file(task_of(preset))
    return [dataset, training_file(run), *weight_files(run, preset.model)]


def run_facts(run: Run, preset: Preset) -> dict[str, Any]:
    """The manifest's account of the training, and the digests of its weights."""
    return {
        "training": training_figures(run, preset),
        "weights_sha256": {
            "initial": weights_sha256(run.initial, preset.model),
            "trained": weights_sha256(run.trained, preset.model),
        },
    }


def training_file(run: Run) -> File:
    """The curves; entry i belongs to the weights before step i."""
    document = {
        "loss": rounded(np.array(run.loss)),
        "correct": np.array(run.correct),
        "learning_rate": rounded(np.array(run.learning_rate)),
        "checkpoints": np.array(sorted(run.checkpoints)),
    }
    return File.of("training.json", document)


def weight_files(run: Run, config: ModelConfig) -> Iterator[File]:
    """The weights of both stages and of every checkpoint."""
    steps = sorted(run.checkpoints)
    names = {f"step-{step:04d}": step for step in steps}
    for name, step in {"initial": steps[0], "trained": steps[-1], **names}.items():
        ordered = {key: run.checkpoints[step][key] for key in Vocabulary(config).weights}
        yield File.of(f"weights/{name}.json", {"step": step, "tensors": ordered})


def training_figures(run: Run, preset: Preset) -> dict[str, Any]:
    """The manifest's account of the training: the recipe and what came of it."""
    return {**asdict(preset.training), **run.figures}
