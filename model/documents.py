"""What each snapshot file says: from arrays to documents, one function for each kind of file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from model import task
from model.config import ModelConfig, Preset
from model.encoding import encode, rounded, rows_up_to, sha256, weights_sha256
from model.snapshot import SCHEMA
from model.tensors import Vocabulary

if TYPE_CHECKING:  # both import torch, which a build from stored numbers never does
    from model.trace import Gradients
    from model.train import Run

Array = NDArray[np.float64]
StoredWeights = Mapping[str, NDArray[np.float32]]

ATTENTION_MATRICES = ("attn.W_Q", "attn.W_K", "attn.W_V", "attn.W_O")
"""Weights whose gradient is stored for every single target."""


@dataclass(frozen=True, slots=True)
class File:
    """A snapshot file: its path in the folder, its bytes, and how many numbers it holds."""

    path: str
    data: bytes
    numbers: int

    @classmethod
    def of(cls, path: str, document: Mapping[str, Any]) -> File:
        """Encode a document."""
        return cls(path, encode(document), _count(document))


def dataset_file() -> File:
    """The vocabulary, the problems and the number of targets."""
    problems = [{"problem": p.name, "tokens": list(p.tokens)} for p in task.PROBLEMS]
    document = {"vocab": list(task.VOCAB), "problems": problems, "n_targets": len(task.TARGETS)}
    return File.of("dataset.json", document)


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
    first, last = min(run.checkpoints), max(run.checkpoints)
    names = {f"step-{step:04d}": step for step in sorted(run.checkpoints)}
    for name, step in {"initial": first, "trained": last, **names}.items():
        ordered = {key: run.checkpoints[step][key] for key in Vocabulary(config).weights}
        yield File.of(f"weights/{name}.json", {"step": step, "tensors": ordered})


def trace_files(
    stage: str, activations: Mapping[str, Array], config: ModelConfig
) -> Iterator[File]:
    """Every activation of each problem's whole input sequence."""
    vocabulary = Vocabulary(config)
    values = {key: rounded(activations[key]) for key in vocabulary.activations}
    for index, problem in enumerate(task.PROBLEMS):
        n_pos = len(problem.inputs)
        own = {k: rows_up_to(vocabulary[k], value[index], n_pos) for k, value in values.items()}
        document = {"problem": problem.name, "tokens": list(problem.inputs), "values": own}
        yield File.of(f"traces/{stage}/{problem.name}.json", document)


def gradient_files(stage: str, gradients: Gradients, config: ModelConfig) -> Iterator[File]:
    """Every gradient of each problem, target by target, then those of the whole batch.

    A target has the gradients of its own loss: of every activation up to its position, and of
    the attention matrices. `sum` adds the weights' gradients over a problem's targets; the batch
    file has those of the mean loss over all targets, before the optimizer's rounding.
    """
    vocabulary = Vocabulary(config)
    of_activations = {
        key: rounded(gradients.activations[key])
        for key in vocabulary.activations
        if vocabulary[key].has_gradient
    }
    of_matrices = {
        key: rounded(gradients.weights[key])
        for key in vocabulary.weights
        if vocabulary[key].name in ATTENTION_MATRICES
    }
    losses = rounded(gradients.loss)
    rows = _rows_of_problems()
    sums = {
        key: rounded(np.add.reduceat(gradients.weights[key], [r.start for r in rows]))
        for key in vocabulary.weights
    }

    def target_document(row: int) -> dict[str, Any]:
        target = task.TARGETS[row]
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

    for index, problem in enumerate(task.PROBLEMS):
        document = {
            "problem": problem.name,
            "targets": [target_document(row) for row in rows[index]],
            "sum": {key: value[index] for key, value in sums.items()},
        }
        yield File.of(f"gradients/{stage}/{problem.name}.json", document)
    batch = {key: rounded(gradients.weights[key].mean(0)) for key in vocabulary.weights}
    yield File.of(f"gradients/{stage}/batch.json", batch)


def claims_file(claims: Sequence[Mapping[str, Any]]) -> File:
    """Every claim: its id, whether it holds, and the numbers it rests on."""
    return File.of("claims.json", {"claims": list(claims)})


def training_figures(run: Run, preset: Preset) -> dict[str, Any]:
    """The manifest's account of the training: the recipe and what came of it."""
    n_problems = len(task.PROBLEMS)
    return {
        **asdict(preset.training),
        "first_step_all_correct": next(
            (step for step, correct in enumerate(run.correct) if correct == n_problems), None
        ),
        "final_loss": float(rounded(np.array(run.loss[-1]))),
        "correct": run.correct[-1],
        "portability_margin": float(f"{run.portability_margin:.1e}"),
    }


def digests(run: Run, config: ModelConfig) -> dict[str, str]:
    """Digests of the initial and the trained weights."""
    first, last = min(run.checkpoints), max(run.checkpoints)
    stages = {"initial": run.checkpoints[first], "trained": run.checkpoints[last]}
    return {stage: weights_sha256(weights, config) for stage, weights in stages.items()}


def manifest(
    preset: Preset,
    training: Mapping[str, Any],
    weight_digests: Mapping[str, str],
    files: Sequence[File],
) -> bytes:
    """What a build is, and the digest of every other file that is compared."""
    config = preset.model
    listed = [
        {"path": f.path, "sha256": sha256(f.data), "bytes": len(f.data), "numbers": f.numbers}
        for f in sorted(files, key=lambda file: file.path)
    ]
    sizes = asdict(config)
    model = {
        "n_layers": sizes["n_layers"],
        "n_heads": sizes["n_heads"],
        "d_model": sizes["d_model"],
        "d_head": config.d_head,
        "d_mlp": sizes["d_mlp"],
        "d_vocab": sizes["d_vocab"],
        "n_ctx": sizes["n_ctx"],
        "ln_eps": sizes["ln_eps"],
        "n_params": Vocabulary(config).n_params,
    }
    return encode(
        {
            "schema": SCHEMA,
            "model": model,
            "task": {
                "name": preset.name,
                "n_problems": len(task.PROBLEMS),
                "n_targets": len(task.TARGETS),
            },
            "training": training,
            "weights_sha256": weight_digests,
            "files": listed,
        }
    )


def _rows_of_problems() -> list[range]:
    """Which rows of a [target ...] array belong to each problem."""
    rows, start = [], 0
    for problem in task.PROBLEMS:
        rows.append(range(start, start + len(problem.targets)))
        start += len(problem.targets)
    return rows


def _count(value: Any) -> int:
    """How many numbers a document holds."""
    if isinstance(value, np.ma.MaskedArray):
        return int(value.count())
    if isinstance(value, np.ndarray):
        return value.size
    if isinstance(value, Mapping):
        return sum(map(_count, value.values()))
    if isinstance(value, (list, tuple)):
        return sum(map(_count, value))
    return int(isinstance(value, (int, float)) and not isinstance(value, bool))
