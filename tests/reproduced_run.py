"""Train and trace in a process of its own: `python reproduced_run.py OUT.npz THREADS`.

Leaves every number that a snapshot holds, rounded as it is written, under a name such as
`trained gradients blocks.0.attn.k`, and the headline figures under `summary`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from model import task, trace
from model.config import PRESETS, ModelConfig
from model.snapshot import rounded, rows_up_to, weights_sha256
from model.tensors import Vocabulary
from model.train import train

Arrays = dict[str, NDArray[Any]]


def written(weights: Mapping[str, NDArray[Any]], config: ModelConfig) -> Arrays:
    """Every computed number of one stage's snapshot files, flat, before it is rounded."""
    vocabulary, numbers = Vocabulary(config), Arrays()
    for key, batch in trace.activations(weights, config).items():
        own = zip(batch, task.PROBLEMS, strict=True)
        rows = [rows_up_to(vocabulary[key], value, len(p.inputs)).ravel() for value, p in own]
        numbers[f"traces {key}"] = np.concatenate(rows)

    found = trace.gradients(weights, config)
    numbers["losses"] = found.loss
    for key, batch in found.activations.items():
        of_targets = zip(batch, task.TARGETS, strict=True)
        rows = [rows_up_to(vocabulary[key], g, t.position + 1).ravel() for g, t in of_targets]
        numbers[f"gradients {key}"] = np.concatenate(rows)
    starts = np.cumsum([0, *[len(p.targets) for p in task.PROBLEMS[:-1]]])
    for key, batch in found.weights.items():
        if ".attn." in key:
            numbers[f"gradients {key}"] = batch.ravel()
        numbers[f"sums over problems {key}"] = np.add.reduceat(batch, starts).ravel()
        numbers[f"mean over targets {key}"] = batch.mean(0).ravel()
    return numbers


def main(out: str, threads: str) -> None:
    torch.set_num_threads(int(threads))
    preset = PRESETS["multiplication"]
    run = train(preset)
    stages = {"initial": run.checkpoints[0], "trained": run.checkpoints[preset.training.steps]}
    summary = {
        "capability": torch.backends.cpu.get_cpu_capability(),
        "sha256": {name: weights_sha256(w, preset.model) for name, w in stages.items()},
        "correct": run.correct[-1],
        "loss": run.loss[-1],
        "margin": run.portability_margin,
    }
    numbers = {"training loss": rounded(np.array(run.loss))}
    for stage, weights in stages.items():
        for name, values in written(weights, preset.model).items():
            numbers[f"{stage} {name}"] = np.ma.filled(rounded(values), -np.inf)
    np.savez(out, summary=np.array(json.dumps(summary)), **numbers)


if __name__ == "__main__":
    main(*sys.argv[1:])
