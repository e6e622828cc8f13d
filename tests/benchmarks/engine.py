"""How fast the browser's engine trains, against plain C and TensorFlow.js, as ratios of one run.

    python tests/benchmarks/engine.py [--rounds N]

The engine runs in headless Chromium, from the scripts of the built site. Whatever is compared takes
the same steps in turn, so that a busy machine slows both; a figure is the median over all rounds.
The comparison must be one of equals: before anything is timed, the losses of C and its weights
after the last step have to agree with the engine's to 1e-9, and the first losses of TensorFlow.js,
which has only float32, to 1e-3.

C needs gcc. TensorFlow.js comes from npm, into a folder that goes away again; the project never
depends on it. A comparison whose tools are missing is left out, with a line that says so.
"""

from __future__ import annotations

import shutil
import statistics
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from browsing import built_site, chromium
from figures import Benchmark, Figure, main, spread
from playwright.sync_api import Browser
from trainers import Run, Train, engine, plain_c, tensorflow

from model.snapshot import Snapshot

TENSORFLOW_STEPS = 40
STEPS_OF = {"engine": 300, "C": 300, "TensorFlow.js": TENSORFLOW_STEPS}
"""Of a round. The engine and C train half of the way to the end."""
SAME, NEARLY_SAME = 1e-9, 1e-3
ALIKE_FOR = 20
"""Steps for which float32 without a grid stays near."""


@contextmanager
def contestants(browser: Browser, site: Path) -> Iterator[dict[str, Train]]:
    """Everything that trains here, by name: `engine`, `C` and `TensorFlow.js`, as far as it does.

    Of the backends of TensorFlow.js the fastest is taken.
    """
    snapshot = Snapshot(site / "snapshots")
    found = {"engine": engine(browser, site)}
    with ExitStack() as stack:
        if shutil.which("gcc"):
            found["C"] = stack.enter_context(plain_c(snapshot))
        else:
            print("gcc is not installed: the comparison with C is left out")
        backends = stack.enter_context(tensorflow(browser, snapshot))
        times = {name: train(TENSORFLOW_STEPS).median for name, train in backends.items()}
        if times:
            print("TensorFlow.js:", ", ".join(f"{n} {ms:.1f} ms" for n, ms in times.items()))
            found["TensorFlow.js"] = backends[min(times, key=times.__getitem__)]
        yield found


def training_step(rounds: int) -> Iterator[Figure]:
    """Time a step of each, in turn."""
    with built_site() as site, chromium() as browser, contestants(browser, site) as trains:
        demand_agreement({name: train(STEPS_OF[name]) for name, train in trains.items()})
        times: dict[str, list[float]] = {name: [] for name in trains}
        for _ in range(rounds):
            for name, train in trains.items():
                times[name].append(train(STEPS_OF[name]).median)
    for name, found in times.items():
        print(f"{name}: {statistics.median(found):.2f} ms a step, {spread(found)}")
    if "C" in times:
        ratios = [mine / other for mine, other in zip(times["engine"], times["C"], strict=True)]
        yield Figure("training step: engine / C", statistics.median(ratios), 2.5, "times")
    if "TensorFlow.js" in times:
        pairs = zip(times["TensorFlow.js"], times["engine"], strict=True)
        ratio = statistics.median(other / mine for other, mine in pairs)
        yield Figure("training step: TensorFlow.js / engine", ratio, 4, "times", at_least=True)


def demand_agreement(runs: dict[str, Run]) -> None:
    """Stop when the others do not train what the engine trains."""
    mine = runs["engine"]
    if "C" in runs:
        other = runs["C"]
        demand_near("loss of C", mine.loss, other.loss, SAME)
        demand_near("weights of C", mine.weights, other.weights, SAME)
        same = sum(a == b for a, b in zip(mine.weights, other.weights, strict=True))
        total = len(mine.weights)
        print(f"C: {same:,} of {total:,} weights are the engine's, bit for bit")
    if "TensorFlow.js" in runs:
        early = slice(ALIKE_FOR)
        other = runs["TensorFlow.js"]
        demand_near("loss of TensorFlow.js", mine.loss[early], other.loss[early], NEARLY_SAME)


def demand_near(what: str, mine: list[float], other: list[float], tolerance: float) -> None:
    """Stop when numbers are further apart than that."""
    largest = max(abs(a - b) for a, b in zip(mine, other, strict=True))
    print(f"{what}: within {largest:.1g} of the engine's")
    if not largest <= tolerance:
        raise SystemExit(f"{what}: the difference {largest} is more than {tolerance}")


BENCHMARKS: dict[str, Benchmark] = {"step": training_step}

if __name__ == "__main__":
    sys.exit(main(__doc__.splitlines()[0], BENCHMARKS, rounds=7))
