"""Carry out calls on a Dask cluster of two local workers, one of which is killed meanwhile.

`python -m tests.dask_run FOLDER` prints what came of them as JSON. In a process of its own: a
cluster leaves threads and warnings behind.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

from dask.distributed import LocalCluster

from builder.code import SourceCode
from builder.evidence.jobs import Job, Jobs
from builder.evidence.workers import Call, Cluster
from builder.stages import Cache
from model.config import PRESETS

N_SLOW = 16
SEEDS = (0, 3)


def main(folder: Path) -> None:
    busy = folder / "busy"
    busy.mkdir()
    preset = PRESETS["multiplication"].override(steps=5)
    calls = [Call("tests.calls:slow", (number, str(busy))) for number in range(N_SLOW)]
    calls += [Call("model.census:train_seeds", (preset, (seed,))) for seed in SEEDS]
    jobs = [Job(f"evidence/{place}", ("model.census",), call) for place, call in enumerate(calls)]
    killed: list[int] = []

    def kill_a_worker_once(_state: str) -> None:
        if not killed:
            killed.append(int(next(busy.iterdir()).name))
            os.kill(killed[0], signal.SIGKILL)

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        work = Jobs(
            Cache(folder / "cache"),
            SourceCode(Path(__file__).resolve().parents[1]),
            Cluster(cluster.scheduler_address),
        )
        results = work.results(jobs, kill_a_worker_once)
        workers = [int(path.name) for path in busy.iterdir()]
    print(json.dumps({"results": results, "killed": killed, "workers": workers}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
