"""What tracing leaves in the snapshot: activations, and gradients target by target."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from model import task, trace
from model.config import ModelConfig
from model.documents import File
from model.encoding import rounded, rows_up_to
from model.snapshot import STAGES, Snapshot
from model.tensors import Vocabulary
from model.trace import Problems, StoredWeights


def every_stage(
    make: Callable[[str, StoredWeights, ModelConfig, Problems], Iterator[File]],
    snapshot: Snapshot,
    config: ModelConfig,
    problems: Problems,
) -> Iterator[File]:
    """Make the files of each stage from the weights as they are stored, digit for digit."""
    for stage in STAGES:
        yield from make(stage, snapshot.weights(stage), config, problems)


def trace_files(
    stage: str,
    weights: StoredWeights,
    config: ModelConfig,
    problems: Problems = task.PROBLEMS,
) -> Iterator[File]:
    """Every activation of each problem's whole input sequence."""
    vocabulary = Vocabulary(config)
    traced = trace.activations(weights, config, problems)
    values = {key: rounded(traced[key]) for key in vocabulary.activations}
    for index, problem in enumerate(problems):
        n_pos = len(problem.inputs)
        own = {k: rows_up_to(vocabulary[k], value[index], n_pos) for k, value in values.items()}
        document = {"problem": problem.name, "tokens": list(problem.inputs), "values": own}
        yield File.of(f"traces/{stage}/{problem.name}.json", document)


def gradient_files(
    stage: str,
    weights: StoredWeights,
    config: ModelConfig,
    problems: Problems = task.PROBLEMS,
) -> Iterator[File]:
    """Every gradient of each problem, target by target, then those of the whole batch.

    A target has the gradients of its own loss: of every activation up to its position, and of
    the attention matrices. `sum` adds the weights' gradients over a problem's targets; the batch
    file has those of the mean loss over all targets, before the optimizer's rounding.
    """
    vocabulary = Vocabulary(config)
    found = trace.gradients(weights, config, problems)
    of_activations = {
        key: rounded(found.activations[key])
        for key in vocabulary.activations
        if vocabulary[key].has_gradient
    }
    of_matrices = {
        key: rounded(found.weights[key])
        for key in vocabulary.weights
        if vocabulary[key].head_axis is not None
    }
    losses = rounded(found.loss)
    rows = _rows_of(problems)
    sums = {
        key: rounded(np.add.reduceat(found.weights[key], [r.start for r in rows]))
        for key in vocabulary.weights
    }

    def target_document(row: int, target: task.Target) -> dict[str, Any]:
        n_pos = target.position + 1
        own = {k: rows_up_to(vocabulary[k], v[row], n_pos) for k, v in of_activations.items()}
        own |= {key: value[row] for key, value in of_matrices.items()}
        return {
            "position": target.position,
            "token": target.token,
            "target": target.target,
            "loss": float(losses[row]),
            "grads": own,
        }

    for index, problem in enumerate(problems):
        document = {
            "problem": problem.name,
            "targets": [
                target_document(*pair) for pair in zip(rows[index], problem.targets, strict=True)
            ],
            "sum": {key: value[index] for key, value in sums.items()},
        }
        yield File.of(f"gradients/{stage}/{problem.name}.json", document)
    batch = {key: rounded(found.weights[key].mean(0)) for key in vocabulary.weights}
    yield File.of(f"gradients/{stage}/batch.json", batch)


def _rows_of(problems: Problems) -> list[range]:
    """Which rows of a [target ...] array belong to each problem."""
    rows, start = [], 0
    for problem in problems:
        rows.append(range(start, start + len(problem.targets)))
        start += len(problem.targets)
    return rows
