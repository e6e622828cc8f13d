"""Small copies of the project in a scratch folder, for tests of whole commands."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from builder.cli import main
from tests.shared import once
from tests.site_build import BuiltSite

ROOT = Path(__file__).parents[1]
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for package in ("model", "builder")
    for path in sorted((ROOT / package).rglob("*.py"))
}
"""Name -> file."""

SENTENCE = "这一句是给测试改的。"
"""The last line of the chapter about the build, in the copies."""


def copy_project(source: Path, target: Path) -> Path:
    """Copy words, templates and, if there are any, the site and the cache.

    The last two are linked, not copied: builds replace their files and never change one in place,
    and tests that do damage use `overwrite`.
    """
    for name in ("content", "site_templates"):
        shutil.copytree(source / name, target / name)
    for name in ("dist", ".cache"):
        if (source / name).is_dir():
            shutil.copytree(source / name, target / name, copy_function=os.link)
    return target


@pytest.fixture(scope="session")
def built(
    site: BuiltSite,  # noqa: ARG001
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """A copy of the project that is built once, from the cache that the site's build has filled."""

    def build(folder: Path) -> None:
        copy_project(ROOT, folder / "project")
        shutil.rmtree(folder / "project/dist", ignore_errors=True)
        with (folder / "project/content/zh/about.md").open("a", encoding="utf-8") as chapter:
            chapter.write(f"\n{SENTENCE}\n")
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder / "project")
            assert main(["build", "--quiet", "--strict"]) == 0

    return once(tmp_path_factory, "built-project", build) / "project"


@pytest.fixture
def project(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the built project of the test's own; the current folder is its root."""
    folder = copy_project(built, tmp_path / "project")
    monkeypatch.chdir(folder)
    return folder


def tree(folder: Path) -> dict[str, bytes]:
    """Every file of a folder: path -> content."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def substitute(path: Path, old: str, new: str) -> int:
    """Replace a text that a file holds exactly once; return its line."""
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{path} holds {old!r} {text.count(old)} times"
    path.write_text(text.replace(old, new), encoding="utf-8")
    return text[: text.index(old)].count("\n") + 1


def overwrite(path: Path, data: bytes) -> None:
    """Give a file other content without touching what else is linked to the old one."""
    path.unlink()
    path.write_bytes(data)
