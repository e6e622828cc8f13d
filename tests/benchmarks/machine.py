"""The machine that limits in milliseconds were set on, as far as another one can tell.

    python tests/benchmarks/machine.py [--rounds N]

On that machine a step of TensorFlow.js took what `THERE` says. Here such steps and the known work
that page.py goes by (reader.py) are done in turn; their ratio says what the known work takes there.
Were that more than what reader.py has, the figures of page.py would flatter the page. TensorFlow.js
comes from npm, as in engine.py.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from statistics import median

from browsing import built_site, chromium
from figures import Benchmark, Figure, main
from reader import KNOWN_MS, Reader
from trainers import tensorflow

from model.snapshot import Snapshot

THERE = {"wasm": 7.9, "cpu": 45, "webgl": 70}
"""Milliseconds of a step on that machine, on each backend."""
N_STEPS, N_TIMES = 20, 8
"""Of a round."""
SURE = 1.25
"""What the backends say is that far apart."""


def known_work(rounds: int) -> Iterator[Figure]:
    """Measure the known work against TensorFlow.js."""
    if not shutil.which("npm"):
        print("npm is not installed: there is nothing to compare with")
        return
    with (
        built_site() as site,
        chromium() as browser,
        tensorflow(browser, Snapshot(site / "snapshots")) as backends,
    ):
        reader = Reader(browser, site / "index.html")
        found: dict[str, list[float]] = {name: [] for name in backends}
        for _ in range(rounds):
            here = reader.known_work(N_TIMES)
            for name, train in backends.items():
                found[name].append(here * THERE[name] / train(N_STEPS).median)
    there = {name: median(values) for name, values in found.items()}
    if there:
        note = "by " + ", ".join(f"{name} {value:.1f}" for name, value in there.items())
        yield Figure("known work there", median(there.values()), KNOWN_MS * SURE, "ms", note=note)


BENCHMARKS: dict[str, Benchmark] = {"known": known_work}

if __name__ == "__main__":
    sys.exit(main(__doc__.splitlines()[0], BENCHMARKS, rounds=7))
