"""Fixtures that several test files share."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from builder.cli import main
from tests.projects import ROOT, copy_project


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project that is built once; a cache of the real project is made use of."""
    folder = tmp_path_factory.mktemp("built") / "project"
    copy_project(ROOT, folder)
    shutil.rmtree(folder / "dist", ignore_errors=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["build", "--quiet", "--strict"]) == 0
    return folder


@pytest.fixture
def project(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the built project of the test's own; the current folder is its root."""
    folder = copy_project(built, tmp_path / "project")
    monkeypatch.chdir(folder)
    return folder
