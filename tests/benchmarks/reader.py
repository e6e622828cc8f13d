"""Somebody who uses a page of the site, and what that costs the page.

What he does counts in two parts: until what is near him shows the change, and what follows when the
page comes to rest, which is what is far away, the way to a cell that is far away, and the charts.

Between two things that he does the page does a known piece of work, of the same kinds: it
computes, makes a table and lays it out, in a frame of its own where neither the page nor its styles
make a difference. By what that takes, what was measured is brought to the machine that the limits
were set on. Where Chromium emulates a slower processor this matters most: each interruption costs
more than it should, and on a busy machine much more. Everything takes longer there, so every third
thing has to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import TypeVar

from browsing import VIEWPORT, Watch, Work
from playwright.sync_api import Browser

STILL = 400
"""Milliseconds after which a page is taken to be still; more where the processor is slower."""

AT_ONCE = 110
"""Milliseconds in which the frames of a change pass, and its rest has not begun yet.

Where the processor is slower both come later, and the frame that ends it is the last of them.
"""

KNOWN, REST = "known work", "rest of "
"""Names, or how they begin, of what is not what the reader does."""

KNOWN_MS = 6
"""What the known work takes on the machine of the limits, as machine.py finds it."""

N_KNOWN = 8
"""How often it is done where it is done by itself: the first times are slower."""

READER = """([still, atOnce]) => {
  const pause = (time) => new Promise((resolve) => setTimeout(resolve, time));
  const heard = (type) => new Promise((resolve) => (
    document.addEventListener(type, resolve, { once: true })
  ));
  const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  globalThis.reader = {
    layOut(body) {
      const cell = (i) => `<td style="--v: ${i % 7}">${(i * 0.37).toFixed(2)}</td>`;
      const cells = (i) => Array.from({length: 20}, (_, j) => cell(20 * i + j)).join("");
      const rows = Array.from({length: 20}, (_, i) => `<tr>${cells(i)}</tr>`).join("");
      body.innerHTML = `<table>${rows}</table>`;
      body.firstChild.getBoundingClientRect();
    },
    async prepare() {
      const own = document.createElement("iframe");
      own.style.cssText = "position: fixed; inset: 0; contain: strict; visibility: hidden";
      document.body.append(own);
      await pause(still);
      performance.mark("begin known work");
      for (let i = 0, x = 2; i < 3e5; i++) x = Math.sqrt(x + i);
      reader.layOut(own.contentDocument.body);
      performance.mark("end known work");
      own.remove();
      await pause(still);
    },
    async watch(name, acted) {
      let follows = false;
      const scene = heard("article:scene").then(() => (follows = true));
      const rest = heard("article:rest");
      performance.mark(`begin ${name}`);
      await Promise.race([scene, Promise.resolve(acted).then(() => pause(atOnce))]);
      await frame();
      performance.mark(`end ${name}`);
      performance.mark(`begin REST${name}`);
      if (follows) await rest;
      await pause(still);
      performance.mark(`end REST${name}`);
    },
    async change(changes) {
      for (const [name, change] of changes) {
        await this.prepare();
        const watched = this.watch(name);
        Article.state.set(change);
        await watched;
      }
    },
    expect(name) {
      const types = ["keydown", "pointerdown"];
      this.watched = new Promise((resolve) => {
        const begin = ({ type: first }) => {
          for (const type of types) removeEventListener(type, begin, true);
          resolve(this.watch(name, first === "pointerdown" && heard("click")));
        };
        for (const type of types) addEventListener(type, begin, true);
      });
    },
  };
}""".replace("REST", REST)

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
        self._run_at(1)

    @contextmanager
    def slowed(self, rate: int) -> Iterator[None]:
        """While it lasts, the page's processor is so many times slower than the machine's.

        It ends because a slowed page keeps the machine busy while nothing is done on it, too, which
        would slow down another page that is measured.
        """
        self._run_at(rate)
        yield
        self._run_at(1)

    def _run_at(self, rate: int) -> None:
        self._rate = rate
        self._watch.throttle(rate)
        self.page.evaluate(READER, [STILL * rate, AT_ONCE])

    def change(self, changes: list[Change]) -> list[Work]:
        """Change the state, one after the other; the first ones are only to get under way."""
        self.page.evaluate("(changes) => reader.change(changes)", changes[:4])
        self._watch.start()
        self.page.evaluate("(changes) => reader.change(changes)", self._some(changes))
        return self._stop()

    def act(self, actions: list[Action]) -> list[Work]:
        """Use mouse or keys."""
        self._watch.start()
        for name, prepare, act in self._some(actions):
            prepare()
            self._prepare()
            self.page.evaluate("(name) => reader.expect(name)", name)
            act()
            self.page.evaluate("() => reader.watched")
        return self._stop()

    def known_work(self) -> float:
        """Return what the known work takes here, in milliseconds."""
        self._watch.start()
        self._prepare(N_KNOWN)
        return median(work.total for work in self._watch.stop())

    def whole(self, name: str, prepare: Callable[[], object], act: Callable[[], object]) -> Work:
        """Do something that takes its time, all of which counts."""
        self._watch.start()
        prepare()
        self._prepare(N_KNOWN)
        self.page.evaluate("(name) => performance.mark(`begin ${name}`)", name)
        act()
        self.page.evaluate("(name) => performance.mark(`end ${name}`)", name)
        (work,) = self._stop()
        return work

    def _prepare(self, times: int = 1) -> None:
        for _ in range(times):
            self.page.evaluate("() => reader.prepare()")

    def _some(self, things: list[T]) -> list[T]:
        return things if self._rate == 1 else things[::3]

    def _stop(self) -> list[Work]:
        works = self._watch.stop()
        for figure, table, live in self.page.evaluate(FACES):
            if table != live:
                raise SystemExit(f"`{figure}` has not been updated: {live}, not {table}")
        known = median(work.total for work in works if work.name == KNOWN)
        slowness = known / KNOWN_MS / self._rate
        return [
            replace(
                work,
                total=work.total / slowness,
                longest=work.longest / slowness,
                slowness=slowness,
            )
            for work in works
            if work.name != KNOWN
        ]
