"""Train and trace in a process of its own: `python -m tests.reproduced_run FOLDER THREADS`.

Leaves every file of numbers that a snapshot has, the evidence as `evidence.json`, and the headline
figures in `summary.json`.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch

from model.config import PRESETS
from model.documents import File
from model.encoding import rounded
from model.evidence import gather
from model.run_files import run_facts, run_files
from model.trace_files import gradient_files, trace_files
from model.train import train


def main(folder: Path, n_threads: int) -> None:
    torch.set_num_threads(n_threads)
    preset = PRESETS["multiplication"]
    run = train(preset)
    files = run_files(run, preset)
    for stage, weights in (("initial", run.initial), ("trained", run.trained)):
        files += trace_files(stage, weights, preset.model)
        files += gradient_files(stage, weights, preset.model)
    evidence = asdict(gather(run.initial, run.trained, preset))
    margins = [run.portability_margin, evidence.pop("control_margin")]
    for name in ("control_loss", "first_step", "sum_of_norms", "norm_of_sum"):
        evidence[name] = rounded(np.array(evidence[name])).tolist()
    files.append(File.of("evidence.json", evidence))
    for file in files:
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.data)

    summary = {
        "capability": torch.backends.cpu.get_cpu_capability(),
        "sha256": run_facts(run, preset)["weights_sha256"],
        "correct": run.correct[-1],
        "loss": run.loss[-1],
        "margins": margins,
        "numbers": sum(file.numbers for file in files),
    }
    (folder / "summary.json").write_text(json.dumps(summary))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
