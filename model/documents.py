"""Snapshot files in general, and those that name and list: dataset, claims, manifest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from model import task
from model.config import Preset
from model.encoding import encode, sha256
from model.snapshot import SCHEMA
from model.tasks import task_of
from model.tensors import Vocabulary

SIZES = ("n_layers", "n_heads", "d_model", "d_head", "d_mlp", "d_vocab", "n_ctx", "ln_eps")
"""What the manifest says of the model, in this order, before the number of parameters."""


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


def dataset_file(learned: task.Task) -> File:
    """The vocabulary, the problems of a task and the number of targets."""
    problems = [{"problem": p.name, "tokens": list(p.tokens)} for p in learned.problems]
    n_targets = len(learned.targets)
    document = {"vocab": list(task.VOCAB), "problems": problems, "n_targets": n_targets}
    return File.of("dataset.json", document)


def claims_file(claims: Sequence[Mapping[str, Any]]) -> File:
    """Every claim: its id, whether it holds, and the numbers it rests on."""
    return File.of("claims.json", {"claims": list(claims)})


def manifest(
    preset: Preset,
    training: Mapping[str, Any],
    weight_digests: Mapping[str, str],
    files: Sequence[File],
) -> bytes:
    """What a build is, and the digest of every other file that is compared."""
    config, learned = preset.model, task_of(preset)
    listed = [
        {"path": f.path, "sha256": sha256(f.data), "bytes": len(f.data), "numbers": f.numbers}
        for f in sorted(files, key=lambda file: file.path)
    ]
    sizes = {name: getattr(config, name) for name in SIZES}
    return encode(
        {
            "schema": SCHEMA,
            "model": {**sizes, "n_params": Vocabulary(config).n_params},
            "task": {
                "name": learned.name,
                "n_problems": len(learned.problems),
                "n_targets": len(learned.targets),
            },
            "training": training,
            "weights_sha256": weight_digests,
            "files": listed,
        }
    )


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
