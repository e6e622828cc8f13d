"""Chromium for tests: opens pages from files and records what must not happen."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
MISSING = "Chromium is not installed: `apt-get install chromium`, or put any `chromium` on the PATH"


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

    def see_all(self) -> None:
        """Scroll through the page, so that every figure has been near once."""
        height = self.page.evaluate("document.documentElement.scrollHeight")
        step = self.page.evaluate("innerHeight")
        for top in range(0, height, step):
            self.page.evaluate(f"scrollTo({{top: {top}, behavior: 'instant'}})")
            self.page.wait_for_timeout(120)

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
        visit = Visit(context.new_page())
        _listen(context, visit)
        visit.page.goto(path.resolve().as_uri())
        try:
            yield visit
        finally:
            context.close()


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
