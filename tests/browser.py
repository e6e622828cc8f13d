"""Chromium for tests: opens pages from files and records what must not happen."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from axe_core_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, BrowserContext, Error, Locator, Page, sync_playwright

from builder.doctor import BROWSERS

PHONE = {"width": 360, "height": 740}
DESKTOP = {"width": 1280, "height": 900}
PAPER = {"width": 673, "height": 1000}
"""As wide as the text of a sheet of A4."""

CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
MISSING = "Chromium is not installed: `apt-get install chromium`, or put any `chromium` on the PATH"

STALLED = "no frame has come"
SEE_ALL = """async () => {
  const frame = () => new Promise((resolve, reject) => {
    requestAnimationFrame(resolve);
    setTimeout(reject, 20_000, Error("STALLED"));
  });
  const isAwaited = (figure) => {
    const {top, bottom} = figure.getBoundingClientRect();
    return top < innerHeight && bottom > 0 && figure.checkVisibility()
      && !figure.querySelector(".matrix-live svg, .figure-failure");
  };
  const hasFaces = !matchMedia("(forced-colors: active)").matches;
  for (let top = 0; top < document.documentElement.scrollHeight; top += innerHeight) {
    scrollTo(0, top);
    await frame();
    await frame();
    for (const figure of hasFaces ? document.querySelectorAll("figure.matrix") : []) {
      const started = performance.now();
      while (isAwaited(figure)) {
        if (performance.now() - started > 20_000) throw Error(`${figure.id} has no live face`);
        await frame();
      }
    }
  }
}""".replace("STALLED", STALLED)
HELPERS = """globalThis.tests = {
  placed: (td) => ({row: Number(td.parentElement.dataset.row), column: td.cellIndex - 1}),
};"""
"""What functions in a page may call: where a cell is, in a figure that shows all of its columns."""
IS_IN_VIEW = """(element) => {
  const {left, right, top, bottom} = element.getBoundingClientRect();
  const found = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
  return left >= 0 && right <= innerWidth && element.contains(found);
}"""
FIND_BARRIERS = """async (within) => {
  await new Promise(requestAnimationFrame);
  await Promise.allSettled(document.getAnimations().map(({finished}) => finished));
  const colours = {type: "rule", values: ["color-contrast", "link-in-text-block"]};
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const options = {resultTypes: ["violations"], ...(isDark && {runOnly: colours})};
  const {violations} = await axe.run(within ?? document, options);
  return violations.map(({id, nodes}) => [id, ...nodes.slice(0, 3).map((node) => node.target)]);
}"""


def in_every_look(test: Callable[..., None]) -> Callable[..., None]:
    """Run a test on a phone and on a desktop, in both schemes; it takes `viewport` and `scheme`."""
    by_size = pytest.mark.parametrize("viewport", [PHONE, DESKTOP], ids=["phone", "desktop"])
    return pytest.mark.parametrize("scheme", ["light", "dark"])(by_size(test))


@dataclass
class Visit:
    """A page that is open, and everything it said and asked for.

    Attributes
    ----------
    page
        The Playwright page.
    complaints
        Console errors and warnings, uncaught exceptions and failed requests.
    requests
        Every URL that the page asked for.
    """

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    @property
    def strangers(self) -> list[str]:
        """Requests that left the file system."""
        return [url for url in self.requests if not url.startswith(("file:", "data:", "blob:"))]

    def fits(self) -> bool:
        """Whether the page is no wider than its window."""
        fits: bool = self.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        return fits

    def see_all(self) -> None:
        """Scroll through the page, and see every figure with its live face, if it gets one.

        On a busy machine Chromium has stopped drawing a page for good, waiting for a part of it
        that it takes to be unfinished ("pending tree not ready"), while the page's scripts go on.
        It draws the page again when it is loaded anew.
        """
        try:
            self.page.evaluate(SEE_ALL)
        except Error as error:
            if STALLED not in error.message:
                raise
            self.page.reload()
            self.page.evaluate(SEE_ALL)

    def barriers(self, within: str | None = None) -> list[list[Any]]:
        """Find what axe-core objects to, in a part or everywhere, once all has come to rest.

        Each is the name of the rule and up to three places. Of what is right axe-core is not asked
        for the places: on a page of thousands of cells it takes most of its time to write them. In
        the dark it is asked about colours alone: the rest is that of the light, which every test
        that looks in the dark looks in too.
        """
        self.page.evaluate(AXE_SCRIPT)
        found: list[list[Any]] = self.page.evaluate(FIND_BARRIERS, within)
        return found

    def wait_for_charts(self, selector: str = "figure.matrix") -> None:
        """Wait until the first figure that matches has its live face."""
        self.page.locator(f"{selector} .matrix-live svg").first.wait_for(state="attached")


@dataclass
class Chromium:
    """A running browser."""

    browser: Browser

    @contextmanager
    def visit(self, path: Path, **options: Any) -> Iterator[Visit]:
        """Open a file; `options` are those of Playwright's `new_context`.

        Such as ``viewport={"width": 360, "height": 740}``, ``color_scheme="dark"``,
        ``java_script_enabled=False``, ``forced_colors="active"``.
        """
        context = self.browser.new_context(**options)
        context.add_init_script(HELPERS)
        visit = Visit(context.new_page())
        _listen(context, visit)
        visit.page.goto(path.resolve().as_uri())
        try:
            yield visit
        finally:
            context.close()


def ask(where: Page | Locator, function: str, argument: Any = None) -> Any:
    """Call a function in the page whose answer is long: as one text of JSON it comes at once.

    Playwright looks at every number of an answer on its way, which takes most of the time.
    """
    return json.loads(
        where.evaluate(f"(...given) => JSON.stringify(({function})(...given))", argument)
    )


def wait_for_view(element: Locator) -> None:
    """Wait until an element is on the screen, and nothing lies over it."""
    element.page.wait_for_function(IS_IN_VIEW, arg=element.element_handle(), timeout=5_000)


def address_of(page: Page) -> str:
    """Return the page's address, once it says what the reader looks at."""
    page.wait_for_function("() => location.hash === Article.state.fragment()", timeout=5_000)
    return page.url


def reload(page: Page) -> None:
    """Load the page anew, once its address says what the reader looks at."""
    address_of(page)
    page.reload()


def visit_again(page: Page, fragment: str) -> None:
    """Open the page anew, as from a link elsewhere, at what stands after the `#`."""
    url = page.url.partition("#")[0]
    page.goto("about:blank")
    page.goto(f"{url}#{fragment}")


def go_back(page: Page) -> None:
    """Go back by one address, once the last one is there."""
    address_of(page)
    page.go_back()


def cell_at(row: int, column: int) -> str:
    """Selector of a cell, in a figure that shows all of its columns."""
    return f'tbody tr[data-row="{row}"] > td:nth-of-type({column + 1})'


def _listen(context: BrowserContext, visit: Visit) -> None:
    def hear(message: Any) -> None:
        if message.type in ("error", "warning"):
            visit.complaints.append(f"{message.type}: {message.text}")

    def miss(request: Any) -> None:
        if request.failure != "net::ERR_ABORTED":  # the reader went to another page
            visit.complaints.append(f"failed: {request.url}")

    visit.page.on("console", hear)
    visit.page.on("pageerror", lambda error: visit.complaints.append(f"uncaught: {error}"))
    context.on("request", lambda request: visit.requests.append(request.url))
    context.on("requestfailed", miss)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Chromium]:
    """Start Chromium once; without it, skip on a person's machine and fail in CI."""
    if CHROMIUM is None:
        if os.environ.get("CI"):
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield Chromium(browser)
        browser.close()
