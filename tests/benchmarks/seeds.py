"""How much faster many seeds train together than one after the other, as a ratio of one run.

    python tests/benchmarks/seeds.py [--rounds N]

Both train to the end, with the same recipe, on the same two processors. Together are 64 seeds, as
`python -m builder census` trains them, processes started anew and all. One after the other are a
few of them, by the plain training loop, once with one thread of torch and once with two: the
faster one counts. Before anything is timed, weights that both have trained must agree to the bit.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Iterator

import torch
from figures import Benchmark, Figure, main, spread

from builder.evidence.jobs import chunks
from builder.evidence.workers import Call, Processes
from model.config import PRESETS
from model.packed import packed
from model.together import CHUNK
from model.train import train

PRESET = PRESETS["multiplication"]
SEEDS = range(64)
ALONE = 3
"""Seeds that are trained one after the other in a round."""


def together() -> tuple[float, dict[str, str]]:
    """Train all seeds in two processes; return seconds per seed, and packed weights by seed."""
    calls = [Call("model.census:train_seeds", (PRESET, part)) for part in chunks(SEEDS, CHUNK)]
    started = time.perf_counter()
    weights = {
        seed: record["weights"]
        for _, records in Processes(2).outcomes(calls)
        for seed, record in records.items()
    }
    return (time.perf_counter() - started) / len(SEEDS), weights


def alone(n_threads: int) -> tuple[float, dict[str, str]]:
    """Train a few seeds one after the other; return the same of them."""
    torch.set_num_threads(n_threads)
    started = time.perf_counter()
    runs = {seed: train(PRESET.override(seed=seed)) for seed in SEEDS[:ALONE]}
    seconds = (time.perf_counter() - started) / ALONE
    return seconds, {str(s): packed(run.trained, PRESET.model) for s, run in runs.items()}


def seeds(rounds: int) -> Iterator[Figure]:
    """Time both in turn."""
    ratios = []
    for _ in range(rounds):
        (one, weights), (two, _), (many, found) = alone(1), alone(2), together()
        if any(found[seed] != own for seed, own in weights.items()):
            raise SystemExit("a seed that was trained together is not the one trained alone")
        print(
            f"a seed: {one:.2f} s alone with one thread, {two:.2f} s with two, "
            f"{many:.2f} s among {len(SEEDS)}"
        )
        ratios.append(min(one, two) / many)
    ratio = statistics.median(ratios)
    yield Figure(
        "64 seeds: one after the other / together, a seed",
        ratio,
        3,
        "times",
        at_least=True,
        note=spread(ratios),
    )


BENCHMARKS: dict[str, Benchmark] = {"seeds": seeds}

if __name__ == "__main__":
    sys.exit(main(__doc__.splitlines()[0], BENCHMARKS, rounds=3))
