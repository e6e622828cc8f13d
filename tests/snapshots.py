"""Small snapshot folders under the contract, without training: for tests of what reads them.

`documents` makes the content of every file as nested dicts and lists, ready to be tampered with;
`write` stores them with a manifest that fits.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from model import task
from model.config import ModelConfig, TrainingConfig
from model.encoding import encode, rounded, sha256, weights_sha256
from model.snapshot import SCHEMA, STAGES
from model.tensors import Range, TensorSpec, Vocabulary

CONFIG = ModelConfig()
VOCABULARY = Vocabulary(CONFIG)
NAMES = ("0x0", "7x8")

Documents = dict[str, dict[str, Any]]


def documents(names: tuple[str, ...] = NAMES, seed: int = 0) -> Documents:
    """Make every file but the manifest. Values are random, but the trained answers are right."""
    random = np.random.default_rng(seed)
    steps = {"initial": 0, "trained": 600, "step-0100": 100}
    files: Documents = {
        "provenance.json": {"python": "3.11"},
        "dataset.json": _dataset(),
        "training.json": {
            "loss": [2.5, 1.0, 0.41],
            "correct": [0, 50, 100],
            "learning_rate": [0.01, 0.005, 0.0],
            "checkpoints": [0, 1, 2],
        },
        "claims.json": {
            "claims": [
                {"id": "rows-sum-to-one", "holds": True, "numbers": {"largest_error": 1e-07}},
                {"id": "row-4-reads-factors", "holds": True, "numbers": {"share": 0.9}},
            ]
        },
    }
    for name, step in steps.items():
        tensors = {key: _weight(VOCABULARY[key], random) for key in VOCABULARY.weights}
        files[f"weights/{name}.json"] = {"step": step, "tensors": tensors}
    for stage in STAGES:
        grads = {key: _weight(VOCABULARY[key], random) for key in VOCABULARY.weights}
        files[f"gradients/{stage}/batch.json"] = {"n_targets": len(task.TARGETS), "grads": grads}
        for name in names:
            problem = task.BY_NAME[name]
            files[f"traces/{stage}/{name}.json"] = _trace(problem, random)
            files[f"gradients/{stage}/{name}.json"] = _gradients(problem, random)
    return {path: _plain(document) for path, document in files.items()}


def write(folder: Path, files: Mapping[str, Any], **headline: Any) -> Path:
    """Store the files with a manifest that lists them; `headline` changes its training figures."""
    entries = []
    for path, document in files.items():
        data = encode(document)
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        if path != "provenance.json":
            entries.append({"path": path, "sha256": sha256(data), "bytes": len(data)})
    (folder / "manifest.json").write_bytes(encode(_manifest(files, entries, headline)))
    return folder


def edit(path: Path, change: Any) -> None:
    """Read a JSON file, let `change` work on it in place, and store it again."""
    document = json.loads(path.read_text("utf-8"))
    change(document)
    path.write_bytes(encode(document))


def _manifest(
    files: Mapping[str, Any], entries: list[dict[str, Any]], headline: dict[str, Any]
) -> dict[str, Any]:
    sizes = {name: getattr(CONFIG, name) for name in ModelConfig.__dataclass_fields__}
    recipe = {name: getattr(TrainingConfig(), name) for name in TrainingConfig.__dataclass_fields__}
    digests = {}
    for stage in STAGES:
        tensors = files[f"weights/{stage}.json"]["tensors"]
        weights = {key: np.array(value, np.float32) for key, value in tensors.items()}
        digests[stage] = weights_sha256(weights, CONFIG)
    return {
        "schema": SCHEMA,
        "model": {**sizes, "d_head": CONFIG.d_head, "n_params": VOCABULARY.n_params},
        "task": {
            "name": "multiplication",
            "n_problems": len(task.PROBLEMS),
            "n_targets": len(task.TARGETS),
        },
        "training": {**recipe, "final_loss": 0.41, "correct": 100, **headline},
        "weights_sha256": digests,
        "files": entries,
    }


def _dataset() -> dict[str, Any]:
    problems = [{"problem": p.name, "tokens": list(p.tokens)} for p in task.PROBLEMS]
    return {"vocab": list(task.VOCAB), "problems": problems, "n_targets": len(task.TARGETS)}


def _weight(spec: TensorSpec, random: np.random.Generator) -> NDArray[np.float32]:
    return random.normal(size=spec.shape(CONFIG)).astype(np.float32)


def _trace(problem: task.Problem, random: np.random.Generator) -> dict[str, Any]:
    n_pos = len(problem.inputs)
    values = {key: _activation(VOCABULARY[key], n_pos, random) for key in VOCABULARY.activations}
    for target in problem.targets:
        values["probs"][target.position] = 0.01
        values["probs"][target.position, task.TOKEN_ID[target.target]] = 0.87
    return {"problem": problem.name, "tokens": list(problem.inputs), "values": values}


def _activation(spec: TensorSpec, n_pos: int, random: np.random.Generator) -> NDArray[np.float64]:
    value = random.normal(size=spec.shape(CONFIG, n_pos))
    future = np.triu(np.ones((n_pos, n_pos), dtype=bool), k=1)
    if spec.name == "attn.attn_scores":
        value = np.where(future, -np.inf, value)
    elif spec.name == "attn.pattern":
        value = np.where(future, 0, np.exp(value))
        value /= value.sum(-1, keepdims=True)
    elif spec.range is Range.POSITIVE:
        value = np.abs(value)
    return rounded(value)


def _gradients(problem: task.Problem, random: np.random.Generator) -> dict[str, Any]:
    attention = [key for key in VOCABULARY.weights if key.endswith(("W_Q", "W_K", "W_V", "W_O"))]
    activations = [key for key in VOCABULARY.activations if VOCABULARY[key].has_gradient]
    targets = [
        {
            "position": target.position,
            "token": target.token,
            "target": target.target,
            "loss": 0.25,
            "grads": {
                key: rounded(random.normal(size=VOCABULARY[key].shape(CONFIG, target.position + 1)))
                for key in [*activations, *attention]
            },
        }
        for target in problem.targets
    ]
    total = {key: _weight(VOCABULARY[key], random) for key in VOCABULARY.weights}
    return {"problem": problem.name, "targets": targets, "sum": total}


def _plain(document: Any) -> Any:
    """Arrays to nested lists of Python numbers, by way of the very bytes that are stored."""
    return json.loads(encode(document))
