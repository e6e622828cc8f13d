"""The machine that limits in milliseconds were set on, as far as another one can tell.

    python tests/benchmarks/machine.py [--rounds N]

Of that machine it is known that it had two shared cores and that a step of TensorFlow.js took what
`THERE` says. Here such steps and the known work that page.py goes by (reader.py) are done in turn;
their ratio says what the known work takes there. Were that more than what reader.py has, the
figures of page.py would flatter the page; backends differ in what they say, so some more is let
pass. On a busy machine steps take longer and the known work, of which the thread's own time counts,
does not: the quickest steps count. TensorFlow.js comes from npm, as in engine.py.
"""

from __future__ import annotations

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
N_STEPS = 50
"""Of a round."""
TOLERANCE = 1.25
"""How many times as much as reader.py has may come out."""


def known_work(rounds: int) -> Iterator[Figure]:
    """Measure the known work against TensorFlow.js."""
    with (
        built_site() as site,
        chromium() as browser,
        tensorflow(browser, Snapshot(site / "snapshots")) as backends,
    ):
        reader = Reader(browser, site / "index.html")
        found: dict[str, list[float]] = {name: [] for name in backends}
        for _ in range(rounds):
            here = reader.known_work()
            for name, train in backends.items():
                found[name].append(here * THERE[name] / min(train(N_STEPS).ms))
    there = {name: median(values) for name, values in found.items()}
    if there:
        note = "by " + ", ".join(f"{name} {value:.1f}" for name, value in there.items())
        limit = KNOWN_MS * TOLERANCE
        yield Figure("known work there", median(there.values()), limit, "ms", note=note)


BENCHMARKS: dict[str, Benchmark] = {"known": known_work}

if __name__ == "__main__":
    sys.exit(main(__doc__.splitlines()[0], BENCHMARKS, rounds=7))
