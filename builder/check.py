"""Everything that can be checked without a browser, on sites built into a scratch folder."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from builder.build import Options, Project, build
from builder.errors import BuildError, Diagnostic
from builder.progress import Progress
from builder.snapshot_files import PROVENANCE, SNAPSHOTS
from builder.tree import examine_tree

OTHER_CIRCUMSTANCES = {"TZ": "Pacific/Chatham", "PYTHONHASHSEED": "4242", "LC_ALL": "C"}


def check(project: Project, progress: Progress, say: Callable[[str], None]) -> None:
    """Build strictly, examine the output, compare with the lock, and build once more.

    The second build runs in another process, folder, time zone and hash seed, without the cache.

    Parameters
    ----------
    project
        As for a build.
    progress
        Reports the stages.
    say
        Told one line for each thing that was found in order.

    Raises
    ------
    BuildError
        With everything that is wrong.
    """
    with tempfile.TemporaryDirectory(prefix="check-") as scratch:
        first, second = Path(scratch, "first", "site"), Path(scratch, "second", "other-site")
        report = build(project, Options(first, is_strict=True), progress)
        say(f"build: {report.n_pages} pages, {report.n_claims} claims hold")
        problems = list(examine_tree(first, report.base_url, report.task))
        if not problems:
            say("links, anchors and ids: all resolve")
        say(report.verdict.line)
        if not report.verdict.is_equal:
            hint = "if the new numbers are meant, `python -m builder lock` accepts them"
            problems.append(Diagnostic(str(project.lock), 0, 0, "lock", report.verdict.line, hint))
        with progress.stage("build again"):
            _build_elsewhere(project, second)
        different = list(_different_files(first, second))
        problems.extend(different)
        if not different:
            say("two builds: the same bytes in every file")
    if problems:
        raise BuildError(*problems)


def _build_elsewhere(project: Project, out: Path) -> None:
    """Build from nothing in another process under other circumstances."""
    command = [sys.executable, "-m", "builder", "build", "--no-cache", "--quiet", "--out", str(out)]
    code = Path(__file__).resolve().parent.parent
    environment = {**os.environ, **OTHER_CIRCUMSTANCES, "PYTHONPATH": str(code)}
    finished = subprocess.run(  # noqa: S603 - our own command
        command, cwd=project.root, env=environment, capture_output=True, text=True, check=False
    )
    if finished.returncode:
        message = f"the second build failed: {finished.stderr.strip()}"
        raise BuildError(Diagnostic(str(out), 0, 0, "second-build", message))


def _different_files(first: Path, second: Path) -> Iterator[Diagnostic]:
    """Report files that two sites do not share byte for byte."""
    names = {
        path.relative_to(folder).as_posix()
        for folder in (first, second)
        for path in folder.rglob("*")
        if path.is_file()
    }
    for name in sorted(names - {SNAPSHOTS + PROVENANCE}):
        contents = [
            (f / name).read_bytes() if (f / name).exists() else None for f in (first, second)
        ]
        if contents[0] != contents[1]:
            message = "two builds of the same sources differ in this file"
            yield Diagnostic(name, 0, 0, "not-reproducible", message)
