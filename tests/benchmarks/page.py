"""How much a page works when the reader does something, in milliseconds of its main thread.

    python tests/benchmarks/page.py [--rounds N] [--only NAME ...]

Milliseconds are those of the machine that the limits were set on: machine.py says what is known of
it, and reader.py how they are brought to it. The notes say how many times as long all took here.

Everything is done as a reader does it, or as a link does: clicks, the keys of the slider, the state
that stands in the address. A figure is the 95th percentile over all that was done of its kind, on
the cover and on the page with most figures, at a desktop's size; browsing.py says what work is.

Each thing has two figures: all work until everything that is near shows the change, and the longest
task of what follows, when the page is at rest: figures far away, the way to a cell that is far
away, and charts, in small tasks between which the page answers. The note says what these are
together. That nothing came later is checked: both faces of every figure in view must agree.

Each is measured again with a processor four times slower, as Chromium emulates it. There the same
work takes twice as long at one time as at another, also work that has nothing to do with a page, so
that one round says little.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from gzip import compress
from pathlib import Path
from statistics import mean, median

from browsing import Work, built_site, chromium
from figures import Benchmark, Figure, main, percentile
from playwright.sync_api import Browser, Locator, Page
from reader import REST, Action, Change, Reader

from model import task
from model.snapshot import Snapshot

COVER = "index.html"
SLOWER = 4
LIMITS = {1: 16, SLOWER: 50}
PROBLEM = "7x8"
POSITIONS = (task.EQUALS_POSITION, task.MAX_INPUTS - 1)
"""Whose cells are opened, and after which tokens for gradients: `=`, and the last."""
N_CLICKS, N_CHECKPOINTS, N_PROBLEMS = 24, 20, 24
TASK_LIMIT = 50
"""What Chromium calls a long task."""

NUMBERS = """() => [...document.querySelectorAll("figure.matrix tbody td")]
  .map(({textContent}) => textContent).join(" ")"""


def fullest(site: Path) -> str:
    """Name of the page with most matrices."""
    pages = [path for path in site.glob("*.html") if path.name != "404.html"]
    matrices = {page.name: page.read_text("utf-8").count('<figure class="matrix') for page in pages}
    return max(matrices, key=matrices.__getitem__)


def addresses(site: Path) -> tuple[list[str], list[str]]:
    """One cell of every tensor, layer and head, and of every gradient at each position."""
    snapshot = Snapshot(site / "snapshots")
    cells = []
    for key, spec in snapshot.vocabulary.items():
        shape = spec.shape(snapshot.config, POSITIONS[-1] + 1)
        heads = range(shape[0]) if "head" in spec.axes else [None]
        rest = [min(POSITIONS[0], size - 1) for size in shape][-2 if "head" in spec.axes else 0 :]
        for head in heads:
            indices = rest if head is None else [head, *rest]
            cells.append((spec.has_gradient, f"{key}[{','.join(map(str, indices))}]"))
    forward = [f"{PROBLEM}:trained:{cell}" for _, cell in cells]
    backward = [f"{PROBLEM}:trained:{cell}@{at}" for at in POSITIONS for has, cell in cells if has]
    return forward, backward


Doing = Callable[[Reader], list[Work]]


def measured(name: str, do: Doing, site: Path, browser: Browser, rounds: int) -> Iterator[Figure]:
    """Do something on both pages, at both speeds."""
    readers = [Reader(browser, site / page) for page in sorted({COVER, fullest(site)})]
    for rate, limit in LIMITS.items():
        works: list[Work] = []
        for reader in readers:
            with reader.slowed(rate):
                for _ in range(rounds):
                    works += do(reader)
        yield from figures_of(name if rate == 1 else f"{name}, processor / {rate}", works, limit)
    for reader in readers:
        reader.page.context.close()


def figures_of(name: str, works: list[Work], limit: float) -> Iterator[Figure]:
    """Turn what was measured into figures."""
    at_once = [work for work in works if not work.name.startswith(REST)]
    totals = [work.total for work in at_once]
    worst = max(at_once, key=lambda work: work.total)
    note = (
        f"median {median(totals):.1f}, most {worst.total:.1f} of {len(totals)}: {worst.name}; "
        f"{slowness_of(works)}"
    )
    yield Figure(name, percentile(totals, 95), limit, "ms", note=note)
    rest = [work for work in works if work.name.startswith(REST)]
    all_of_it = percentile([work.total for work in rest], 95)
    longest = percentile([work.longest for work in rest], 95)
    yield Figure("  then its longest task", longest, limit, "ms", note=f"of {all_of_it:.1f}")


def slowness_of(works: list[Work]) -> str:
    """Say how the machine compares with that of the limits."""
    return f"here {mean(work.slowness for work in works):.1f} times as long"


def opening(rounds: int) -> Iterator[Figure]:
    """Open a cell of every tensor, layer and head by its address, forward and backward."""
    with built_site() as site, chromium() as browser:
        for name, cells in zip(("forward", "backward"), addresses(site), strict=True):
            changes: list[Change] = [(cell, {"cell": cell}) for cell in cells]
            yield from measured(
                f"opening a cell, {name}", lambda r, c=changes: r.change(c), site, browser, rounds
            )


def clicking(rounds: int) -> Iterator[Figure]:
    """Click cells of the figures, wherever they are."""
    with built_site() as site, chromium() as browser:
        yield from measured("clicking a cell", click_cells, site, browser, rounds)


def click_cells(reader: Reader) -> list[Work]:
    """Click cells all over the page."""
    cells = reader.page.locator("figure.matrix tbody td").all()
    chosen = cells[:: max(1, len(cells) // N_CLICKS)]

    def action(number: int) -> Action:
        cell = chosen[number]
        return f"click {number}", lambda: point(reader.page, cell), lambda: press(reader.page)

    return reader.act([action(number) for number in range(len(chosen))])


def point(page: Page, cell: Locator) -> None:
    """Bring a cell into view and move the mouse onto it."""
    cell.evaluate("(cell) => cell.scrollIntoView({block: 'center'})")
    box = cell.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def press(page: Page) -> None:
    """Press the button of the mouse, and let it go."""
    page.mouse.down()
    page.mouse.up()


def scrubbing(rounds: int) -> Iterator[Figure]:
    """Go through the checkpoints one by one, and back."""
    with built_site() as site, chromium() as browser:
        yield from measured("scrubbing one checkpoint", scrub, site, browser, rounds)


def scrub(reader: Reader) -> list[Work]:
    """Use the slider where there is one, else what it writes into the address."""
    slider = reader.page.locator("#timeline-slider")
    keys = ["ArrowLeft"] * N_CHECKPOINTS + ["ArrowRight"] * N_CHECKPOINTS
    if slider.count():
        press = reader.page.keyboard.press
        return reader.act([(f"slider {k}", slider.focus, lambda k=k: press(k)) for k in keys])
    checkpoints = reader.page.evaluate("Article.data.checkpoints().then(({steps}) => steps)")
    steps = [*checkpoints[-2 : -2 - N_CHECKPOINTS : -1], *checkpoints[-N_CHECKPOINTS - 1 : -1]]
    return reader.change([(f"step {step}", {"step": step}) for step in steps])


def changing_problem(rounds: int) -> Iterator[Figure]:
    """Choose other problems."""
    with built_site() as site, chromium() as browser:
        problems = Snapshot(site / "snapshots").document("dataset.json")["problems"]
        names = [problem["problem"] for problem in problems[:: len(problems) // N_PROBLEMS]]
        if not follows_problems(Reader(browser, site / fullest(site)), names[1]):
            print("changing the problem is left out: figures do not follow it")
            return
        changes: list[Change] = [(name, {"problem": name}) for name in names]
        yield from measured(
            "changing the problem", lambda r: r.change(changes), site, browser, rounds
        )


def follows_problems(reader: Reader, problem: str) -> bool:
    """Whether figures show another problem when it is chosen."""
    before = reader.page.evaluate(NUMBERS)
    reader.change([(problem, {"problem": problem})])
    return bool(reader.page.evaluate(NUMBERS) != before)


def training(rounds: int) -> Iterator[Figure]:
    """Train on the cover: the page's longest task, while figures follow and while they do not."""
    with built_site() as site, chromium() as browser:
        for follows in (False, True):
            works = []
            for _ in range(rounds):
                reader = Reader(browser, site / COVER)
                works.append(train(reader, follows))
                reader.page.context.close()
            name = "longest task while training here" + (", figures following" if follows else "")
            worst = max(work.longest for work in works)
            note = f"of {len(works)} runs; {slowness_of(works)}"
            yield Figure(name, worst, TASK_LIMIT, "ms", note=note)


def train(reader: Reader, follows: bool) -> Work:
    """Train to the end."""
    page = reader.page
    page.locator("[data-follow]").set_checked(follows)
    start, verdict = page.locator("#train-here"), page.locator("#train-verdict[data-identical]")

    def whole_run() -> None:
        start.hover()
        start.click()
        verdict.wait_for(timeout=120_000)

    return reader.whole("training", start.scroll_into_view_if_needed, whole_run)


def size(_rounds: int) -> Iterator[Figure]:
    """Weigh all scripts of ours, as they travel."""
    with built_site() as site:
        scripts = ("main.js", "theme.js")
        weight = sum(len(compress((site / "assets" / name).read_bytes())) for name in scripts)
    yield Figure("our scripts, gzipped", weight / 1000, 60, "kB")


BENCHMARKS: dict[str, Benchmark] = {
    "opening": opening,
    "clicking": clicking,
    "scrubbing": scrubbing,
    "problem": changing_problem,
    "training": training,
    "size": size,
}

if __name__ == "__main__":
    sys.exit(main(__doc__.splitlines()[0], BENCHMARKS, rounds=3))
