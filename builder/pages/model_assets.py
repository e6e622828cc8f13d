"""The numbers that scripts work with."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from builder.evidence.tables import INTERVENTIONS
from builder.numbers.documents import has_file
from builder.numbers.effects import for_scripts
from builder.pages.scripts import FOLDER, assignment
from model.derived import products
from model.snapshot import Snapshot
from model.task import Task
from model.tensors import TensorSpec


def model_assets(snapshot: Snapshot, task: Task) -> dict[str, bytes]:
    """Return `run.js`, what training starts from and ends in, and `checkpoints.js`.

    And `effects.js`, what interventions do, where the snapshot has them.

    Of each problem `prompt` says how many tokens its question has, and `asked` after which position
    something is asked first. Weights are the little-endian float32 bytes of all tensors in the
    order of the vocabulary, in base64: exact, and a third of the size of decimals.
    """
    manifest = snapshot.manifest
    dataset = snapshot.document("dataset.json")
    problems = [
        {"problem": p.name, "tokens": p.tokens, "prompt": len(p.prompt), "asked": p.first_asked}
        for p in task.problems
    ]
    run = {
        "sizes": manifest["model"],
        "recipe": manifest["training"],
        "dataset": {"vocab": dataset["vocab"], "problems": problems},
        "tensors": {
            **{key: _described(spec) for key, spec in snapshot.vocabulary.items()},
            **{key: _described(product.spec) for key, product in products(snapshot.config).items()},
        },
        "initial": _base64(snapshot.weights("initial")),
        "trained": _base64(snapshot.weights("trained")),
    }
    steps = snapshot.document("training.json")["checkpoints"]
    weights = [_base64(snapshot.weights(f"step-{step:04d}")) for step in steps]
    effects = {}
    if has_file(snapshot, INTERVENTIONS.snapshot_path):
        effects[f"{FOLDER}effects.js"] = assignment("effects", for_scripts(snapshot))
    return {
        f"{FOLDER}run.js": assignment("run", run),
        f"{FOLDER}checkpoints.js": assignment("checkpoints", {"steps": steps, "weights": weights}),
        **effects,
    }


def _described(spec: TensorSpec) -> dict[str, Any]:
    return {
        "letter": spec.letter,
        "name": spec.name,
        "layer": spec.layer,
        "axes": spec.axes,
        "isWeight": spec.is_weight,
        "hasGradient": spec.has_gradient,
        **spec.meaning,
    }


def _base64(weights: Mapping[str, NDArray[np.float32]]) -> str:
    data = b"".join(weight.astype("<f4").tobytes() for weight in weights.values())
    return b64encode(data).decode()
