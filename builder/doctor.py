"""`doctor`: is everything here that building and testing need, and how to get what is not."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

State = Literal["ok", "warning", "missing"]

BROWSERS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
"""Any will do. The first opens no window with each page: half the work."""

_MEGABYTE = 10**6
_DISK_NEEDED = 200 * _MEGABYTE
"""A site with its snapshots, the cache, and the same again while they are being replaced."""

_SIMD = ("avx", "avx2", "fma", "avx512f", "asimd")
_INSTALL = "bash tests/run sets up .venv; or: python -m pip install -e '.[test]'"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes
    ----------
    name
        What it is.
    state
        `missing` keeps a build from working; a `warning` does not.
    detail
        What was found.
    remedy
        How to get what is missing; empty if all is well.
    """

    name: str
    state: State
    detail: str
    remedy: str = ""


def examine(project: Path = Path(), out: Path = Path("dist")) -> list[Finding]:
    """Look at everything that `build` needs, then at what only the tests need.

    Parameters
    ----------
    project
        The folder that holds `pyproject.toml`.
    out
        Where the site would be written.
    """
    try:
        declared = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))["project"]
    except (OSError, tomllib.TOMLDecodeError, KeyError) as error:
        detail = f"{project / 'pyproject.toml'} cannot be read: {error}"
        remedy = "run this in the folder that holds pyproject.toml"
        return [Finding("project", "missing", detail, remedy)]
    return [
        python(declared["requires-python"]),
        *packages(declared["dependencies"], "missing"),
        output_folder(out),
        disk(out),
        cpu(),
        *packages(declared["optional-dependencies"]["test"], "warning"),
        browser(),
        chinese_font(),
        git(),
    ]


def exit_code(findings: Iterable[Finding]) -> int:
    """Return 0 if nothing that a build needs is missing, else 1."""
    return int(any(finding.state == "missing" for finding in findings))


def python(wanted: str, version: str = platform.python_version()) -> Finding:
    """Compare the running Python with the versions that are wanted."""
    detail = f"{version} at {sys.executable}"
    if SpecifierSet(wanted).contains(version, prereleases=True):
        return Finding("Python", "ok", detail)
    remedy = f"make the environment with a Python {wanted}"
    return Finding("Python", "missing", detail, remedy)


def packages(requirements: Iterable[str], state_if_missing: State) -> Iterator[Finding]:
    """Compare installed packages with what is required, without importing them."""
    for requirement in map(Requirement, requirements):
        wanted = str(requirement.specifier)
        try:
            version = metadata.version(requirement.name)
        except metadata.PackageNotFoundError:
            detail = f"not installed; wanted: {wanted}"
            yield Finding(requirement.name, state_if_missing, detail, _INSTALL)
            continue
        if requirement.specifier.contains(version, prereleases=True):
            yield Finding(requirement.name, "ok", version)
        else:
            detail = f"{version} is installed; wanted: {wanted}"
            yield Finding(requirement.name, state_if_missing, detail, _INSTALL)


def output_folder(out: Path) -> Finding:
    """See whether the output folder can be written, or made."""
    if out.exists() and not out.is_dir():
        remedy = "remove it, or choose another folder with --out"
        return Finding("output folder", "missing", f"{out} is a file", remedy)
    nearest = _nearest_existing(out)
    if os.access(nearest, os.W_OK | os.X_OK):
        return Finding("output folder", "ok", f"{out} can be written")
    remedy = "choose another folder with --out, or change the permissions"
    return Finding("output folder", "missing", f"{nearest} cannot be written", remedy)


def disk(out: Path, needed: int = _DISK_NEEDED) -> Finding:
    """See whether the site and its cache would fit on the disk."""
    free = shutil.disk_usage(_nearest_existing(out)).free
    detail = f"{free // _MEGABYTE} MB free"
    if free >= needed:
        return Finding("disk space", "ok", detail)
    return Finding("disk space", "missing", detail, f"make room for {needed // _MEGABYTE} MB")


def cpu(cpuinfo: Path = Path("/proc/cpuinfo")) -> Finding:
    """Name the vector instructions: the numbers must not depend on them, and do not."""
    try:
        lines = cpuinfo.read_text("utf-8", "replace").splitlines()
    except OSError:
        lines = []
    flags = {
        flag
        for line in lines
        if line.lower().startswith(("flags", "features"))
        for flag in line.partition(":")[2].split()
    }
    found = ", ".join(feature for feature in _SIMD if feature in flags) or "features unknown"
    detail = f"{platform.machine()}, {os.cpu_count()} cores, {found}; every kind gives one result"
    return Finding("CPU", "ok", detail)


def browser() -> Finding:
    """Find a Chromium for the browser tests."""
    for name in BROWSERS:
        path = shutil.which(name)
        if path:
            return Finding("Chromium", "ok", path)
    remedy = "apt-get install chromium (as root), or install Google Chrome"
    return Finding("Chromium", "warning", "not found; the browser tests need it", remedy)


def chinese_font() -> Finding:
    """Find a font with Chinese characters, without which screenshots show boxes."""
    remedy = "apt-get install fonts-noto-cjk (as root)"
    try:
        fonts = _output("fc-list", ":lang=zh", "family")
    except (OSError, subprocess.SubprocessError):
        detail = "fc-list, which lists fonts, is not here"
        return Finding("Chinese font", "warning", detail, f"apt-get install fontconfig; {remedy}")
    if fonts:
        return Finding("Chinese font", "ok", min(fonts.splitlines()))
    return Finding("Chinese font", "warning", "none found", remedy)


def git() -> Finding:
    """Find git, which only contributors need."""
    try:
        return Finding("git", "ok", _output("git", "--version"))
    except (OSError, subprocess.SubprocessError):
        return Finding("git", "warning", "not found", "apt-get install git (as root)")


def _output(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20)  # noqa: S603
    return done.stdout.strip()


def _nearest_existing(path: Path) -> Path:
    path = path.absolute()
    return next(p for p in (path, *path.parents) if p.exists())
