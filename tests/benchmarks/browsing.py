"""The built site in headless Chromium, and how much its main thread works.

Work is the time that tasks of the page's main thread take: scripts, styles, layout, painting, and
what charts draw afterwards. It is read from a trace of Chromium's scheduler, between two marks that
the page sets, one in the very task that begins the interaction and one when the page has been still
for a while. Long tasks of a PerformanceObserver begin at 50 ms and would miss nearly all of it; a
clock around the handler would miss style, layout and paint. The trace counts the thread's own time,
so that a task does not grow because another program has the processor.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from figures import ROOT
from playwright.sync_api import Browser, Page, sync_playwright

from builder.doctor import BROWSERS

CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
VIEWPORT = {"width": 1280, "height": 900}
CATEGORIES = ["toplevel", "blink.user_timing"]
TASK = "ThreadControllerImpl::RunTask"


@contextmanager
def built_site() -> Iterator[Path]:
    """Build the project's own site into a folder that goes away again."""
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        out = Path(folder, "site")
        command = [sys.executable, "-m", "builder", "build", "--quiet", "--out", str(out)]
        subprocess.run(command, cwd=ROOT, check=True)
        yield out


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start Chromium."""
    if CHROMIUM is None:
        raise SystemExit("Chromium is not installed: `apt-get install chromium`")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@dataclass(frozen=True, slots=True)
class Work:
    """Milliseconds of main-thread work of one interaction: all of it, and its longest task.

    Where they are brought to another machine, everything took `slowness` times as long on this one.
    """

    name: str
    total: float
    longest: float
    slowness: float = 1


class Watch:
    """Traces a page while it is used.

    Between `start` and `stop` the page sets ``performance.mark("begin NAME")`` and
    ``performance.mark("end NAME")`` around each interaction.
    """

    def __init__(self, browser: Browser, page: Page) -> None:
        self._page = page
        self._tracing = browser.new_browser_cdp_session()
        self._emulation = page.context.new_cdp_session(page)
        self._events: list[dict[str, Any]] = []
        self._is_complete = False
        self._tracing.on("Tracing.dataCollected", lambda data: self._events.extend(data["value"]))
        self._tracing.on("Tracing.tracingComplete", self._complete)

    def _complete(self, _event: Any) -> None:
        self._is_complete = True

    def throttle(self, rate: int) -> None:
        """Let the page's processor seem slower."""
        self._emulation.send("Emulation.setCPUThrottlingRate", {"rate": rate})

    def start(self) -> None:
        """Begin a trace."""
        self._events.clear()
        self._is_complete = False
        config = {"includedCategories": CATEGORIES, "excludedCategories": ["*"]}
        self._tracing.send("Tracing.start", {"traceConfig": config})

    def stop(self) -> list[Work]:
        """End the trace and return what each interaction took, in their order."""
        self._tracing.send("Tracing.end")
        while not self._is_complete:
            self._page.wait_for_timeout(20)
        return list(_works(self._events))


def _works(events: Sequence[dict[str, Any]]) -> Iterator[Work]:
    marks = [event for event in events if event["name"].startswith(("begin ", "end "))]
    marks.sort(key=lambda mark: mark["ts"])
    thread = {(mark["pid"], mark["tid"]) for mark in marks}
    tasks = _outermost(
        event
        for event in events
        if event["name"] == TASK and "tdur" in event and (event["pid"], event["tid"]) in thread
    )
    for begin, end in zip(marks[::2], marks[1::2], strict=True):
        verb, _, name = begin["name"].partition(" ")
        if verb != "begin" or end["name"] != f"end {name}":
            raise SystemExit(f"the trace has lost an end of `{name}`")
        inside = [_overlap(task, begin["tts"], end["tts"]) for task in tasks]
        yield Work(name, sum(inside) / 1000, max(inside, default=0) / 1000)


def _outermost(tasks: Iterator[dict[str, Any]]) -> list[tuple[float, float]]:
    """Begin and end of each task, in the thread's own time; those inside another are left out."""
    found: list[tuple[float, float]] = []
    for task in sorted(tasks, key=lambda task: (task["tts"], -task["tdur"])):
        begin, end = task["tts"], task["tts"] + task["tdur"]
        if not found or begin >= found[-1][1]:
            found.append((begin, end))
    return found


def _overlap(task: tuple[float, float], begin: float, end: float) -> float:
    return max(0, min(task[1], end) - max(task[0], begin))
