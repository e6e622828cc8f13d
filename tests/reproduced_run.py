"""Train and trace in a process of its own: `python reproduced_run.py FOLDER THREADS`.

Leaves every file of numbers that a snapshot has, and the headline figures in `summary.json`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch

from model import documents, trace
from model.config import PRESETS
from model.train import train


def main(folder: Path, n_threads: int) -> None:
    torch.set_num_threads(n_threads)
    preset = PRESETS["multiplication"]
    run = train(preset)
    files = [documents.training_file(run), *documents.weight_files(run, preset.model)]
    for stage, step in (("initial", 0), ("trained", preset.training.steps)):
        weights = run.checkpoints[step]
        values = trace.activations(weights, preset.model)
        files += documents.trace_files(stage, values, preset.model)
        gradients = trace.gradients(weights, preset.model)
        files += documents.gradient_files(stage, gradients, preset.model)
    for file in files:
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.data)

    summary = {
        "capability": torch.backends.cpu.get_cpu_capability(),
        "sha256": documents.digests(run, preset.model),
        "correct": run.correct[-1],
        "loss": run.loss[-1],
        "margin": run.portability_margin,
        "numbers": sum(file.numbers for file in files),
    }
    (folder / "summary.json").write_text(json.dumps(summary))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
