"""The real site, built once for all tests that look at it."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

from model.snapshot import Snapshot
from tests.shared import once

ROOT = Path(__file__).resolve().parents[1]

CHAPTERS = [
    *("index", "primer", "isolated-rows", "reading-table", "table-follows-input"),
    *("scores", "values"),
    *("one-line", "answer", "next-token", "gradients", "votes", "one-route", "evidence", "limit"),
    *("ledger", "ledger-mlp", "ledger-backward", "review", "about"),
]
PAGES = [
    *(f"{chapter}.html" for chapter in CHAPTERS),
    "404.html",
    "en/index.html",
    "en/isolated-rows.html",
    "en/reading-table.html",  # not written yet: it stands for the others that are not
    "en/about.html",
]
WITHOUT_MATRICES = [
    "limit.html",
    "review.html",
    "about.html",
    "404.html",
    "en/reading-table.html",
    "en/about.html",
]
WITH_FIGURES = [page for page in PAGES if page not in WITHOUT_MATRICES]


@dataclass(frozen=True)
class BuiltSite:
    """A finished site folder."""

    folder: Path

    @property
    def pages(self) -> list[Path]:
        """Every page of it, by path."""
        return sorted(self.folder.rglob("*.html"))

    @cached_property
    def snapshot(self) -> Snapshot:
        """The numbers that it shows."""
        return Snapshot(self.folder / "snapshots")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> BuiltSite:
    """Build the project's own content; stages that are cached are not computed again."""

    def build(folder: Path) -> None:
        command = [sys.executable, "-m", "builder", "build", "--quiet", "--strict"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        command += ["--out", str(folder / "site")]
        subprocess.run(command, cwd=ROOT, env=environment, check=True)

    return BuiltSite(once(tmp_path_factory, "built", build) / "site")
