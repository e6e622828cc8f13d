"""Somebody who uses a page of the site, and what that costs the page.

Between two things that he does the page does a known piece of work. Where Chromium emulates a
slower processor, it tells by how much: on a busy machine that is more than was asked for, and what
was measured is brought back to it. Everything takes longer there, so every third thing has to do.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import TypeVar

from browsing import VIEWPORT, Watch, Work
from playwright.sync_api import Browser

STILL = 120
"""Milliseconds after which a page is taken to be still; more where the processor is slower."""

KNOWN = "known work"

WORK = """() => {
  performance.mark("begin known work");
  for (let i = 0, x = 2; i < 3e5; i++) x = Math.sqrt(x + i);
  performance.mark("end known work");
}"""

CHANGE = """async ([changes, still]) => {
  const pause = () => new Promise((resolve) => setTimeout(resolve, still));
  for (const [name, change] of changes) {
    await pause();
    (WORK)();
    await pause();
    performance.mark(`begin ${name}`);
    Article.state.set(change);
    await pause();
    performance.mark(`end ${name}`);
  }
}""".replace("WORK", WORK)

EXPECT = """(name) => {
  const begin = () => {
    for (const type of ["keydown", "pointermove"]) removeEventListener(type, begin, true);
    performance.mark(`begin ${name}`);
  };
  for (const type of ["keydown", "pointermove"]) addEventListener(type, begin, true);
}"""

END = "(name) => performance.mark(`end ${name}`)"

FACES = """() => [...document.querySelectorAll("figure.matrix:has(.matrix-live)")]
  .filter((figure) => {
    const {top, bottom} = figure.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  })
  .map((figure) => {
    const texts = (selector) => [...figure.querySelectorAll(selector)]
      .map(({textContent}) => textContent.trim()).join(" ");
    return [figure.id, texts("tbody td"), texts(".matrix-live text")];
  })"""

Change = tuple[str, dict[str, str | int | None]]
"""What it is called, and the fields of the state that it sets."""

Action = tuple[str, Callable[[], object], Callable[[], object]]
"""What it is called, what is done before it counts, and what counts."""

T = TypeVar("T")


class Reader:
    """Uses one page; `page` is Playwright's."""

    def __init__(self, browser: Browser, path: Path) -> None:
        self.page = browser.new_context(viewport=VIEWPORT).new_page()
        self.page.goto(path.as_uri())
        self.page.locator("figure.matrix").first.scroll_into_view_if_needed()
        self.page.locator(".matrix-live").first.wait_for()
        self._watch = Watch(browser, self.page)
        self._rate = 1
        self._known = 0.0

    def slow_down(self, rate: int) -> None:
        """Go on with a processor that is slower than the machine's."""
        self._rate = rate
        self._watch.throttle(rate)

    def change(self, changes: list[Change]) -> list[Work]:
        """Change the state, one after the other; the first ones are only to get under way."""
        self.page.evaluate(CHANGE, [changes[:4], self._still])
        self._watch.start()
        self.page.evaluate(CHANGE, [self._some(changes), self._still])
        return self._stop()

    def act(self, actions: list[Action]) -> list[Work]:
        """Use mouse or keys."""
        self._watch.start()
        for name, prepare, act in self._some(actions):
            prepare()
            self.page.wait_for_timeout(self._still)
            self.page.evaluate(WORK)
            self.page.wait_for_timeout(self._still)
            self.page.evaluate(EXPECT, name)
            act()
            self.page.wait_for_timeout(self._still)
            self.page.evaluate(END, name)
        return self._stop()

    def _some(self, things: list[T]) -> list[T]:
        return things if self._rate == 1 else things[::3]

    @property
    def _still(self) -> int:
        return STILL * self._rate

    def _stop(self) -> list[Work]:
        works = self._watch.stop()
        self.page.wait_for_timeout(self._still)
        for figure, table, live in self.page.evaluate(FACES):
            if table != live:
                raise SystemExit(f"`{figure}` has not been updated: {live}, not {table}")
        known = median(work.total for work in works if work.name == KNOWN)
        if self._rate == 1:
            self._known = known
        scale = self._rate * self._known / known
        return [
            Work(work.name, work.total * scale, work.longest * scale)
            for work in works
            if work.name != KNOWN
        ]
