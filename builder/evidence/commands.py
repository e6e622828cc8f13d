"""The commands `evidence` and `census`: compute tables, and store them with the code."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from builder.build import Project, load, storing
from builder.compute import Computer
from builder.errors import Diagnostic, Diagnostics, UsageError
from builder.evidence.jobs import Jobs
from builder.evidence.study import Study
from builder.evidence.tables import (
    CENSUS,
    CONTROLS,
    HELD_OUT,
    INTERVENTIONS,
    OF_EVIDENCE,
    RECALL,
    Table,
)
from builder.evidence.workers import Cluster, Processes
from builder.output.exclusive import exclusively
from builder.progress import Progress, Update
from builder.requirements import not_diverging
from builder.snapshot_files import snapshot_of
from builder.stages import Cache

MOST_SEEDS = 10_000


def run_evidence(options: argparse.Namespace) -> int:
    """Compute the tables that are asked for, or all but the census."""
    with _storing(options) as (computer, study):
        _make_tables(options.tables, computer, study)
    return 0


def _make_tables(asked: Sequence[str], computer: Computer, study: Study) -> None:
    makers: Mapping[str, Callable[[Update], Path]] = {
        CONTROLS.name: study.controls,
        HELD_OUT.name: study.held_out,
        RECALL.name: study.recall,
    }
    of_site = [table for table in OF_EVIDENCE.values() if table.is_of(study.preset)]
    wanted = [OF_EVIDENCE[name] for name in asked] or of_site
    _require_own(study, wanted)
    for table in wanted:
        make = _intervening(computer, study) if table == INTERVENTIONS else makers[table.name]
        with _telling(computer.progress, table.name) as tell:
            path = make(tell)
        _say_stored(path)


def _intervening(computer: Computer, study: Study) -> Callable[[Update], Path]:
    """Train the site's model, and return what intervenes in it."""
    trained = computer.train()
    weights = snapshot_of([trained]).weights("trained")
    return lambda _tell: study.interventions(weights, trained.facts["weights_sha256"]["trained"])


def run_census(options: argparse.Namespace) -> int:
    """Train many seeds, and check every claim for each."""
    seeds = seeds_of(options.seeds)
    with _storing(options) as (computer, study):
        _require_own(study, [CENSUS])
        with _telling(computer.progress, CENSUS.name) as tell:
            path = study.census(seeds, tell)
    _say_stored(path)
    return 0


def seeds_of(text: str) -> list[int]:
    """Return the seeds of a list such as `0-63` or `0-9,20`.

    Raises
    ------
    UsageError
        If it is none.
    """
    seeds: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,9})(?:\s*-\s*(\d{1,9}))?\s*", part)
        listed = range(int(match[1]), int(match[2] or match[1]) + 1) if match else range(0)
        seeds.update(listed[: MOST_SEEDS + 1])  # one too many is enough to tell
        if not listed or len(seeds) > MOST_SEEDS:
            message = f"`{text}` is not a list of seeds, of at most {MOST_SEEDS:,}"
            raise UsageError(Diagnostic("--seeds", 0, 0, "seeds", message, "such as `0-63`"))
    return sorted(seeds)


def _require_own(study: Study, tables: Sequence[Table]) -> None:
    """Refuse tables that are about another task than the site."""
    for table in tables:
        if not table.is_of(study.preset):
            message = f"this is about `{table.task}`, and this site is about `{study.preset.task}`"
            hint = "run it in a project that is"
            raise UsageError(Diagnostic(table.command, 0, 0, "other-task", message, hint))


@contextmanager
def _storing(options: argparse.Namespace) -> Iterator[tuple[Computer, Study]]:
    """Hold the project, as everything that writes to it does, and say what goes wrong in it."""
    project, progress = Project(Path()), Progress(options.quiet)
    project.require_content()
    with exclusively(progress, project.root), storing(project.cache), not_diverging("a training"):
        yield _study(options, project, progress)


def _study(
    options: argparse.Namespace, project: Project, progress: Progress
) -> tuple[Computer, Study]:
    diagnostics = Diagnostics()
    site, _ = load(project, diagnostics)
    diagnostics.raise_if_fatal()
    cache = Cache(project.cache)
    cache.prepare()
    computer = Computer(site.preset, cache, project.source, progress)
    workers = Cluster(options.dask) if options.dask else Processes(options.jobs or _processors())
    jobs = Jobs(cache, project.source, workers)
    return computer, Study(site.preset, project.source, jobs, computer.evidence_folder)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def _telling(progress: Progress, name: str) -> Iterator[Update]:
    """Say how far a table is: on a terminal in one line, elsewhere a line for each part."""
    with progress.stage(name) as update:
        is_live = sys.stderr.isatty()
        yield update if is_live else lambda state: progress.say(f"{name}: {state}")


def _say_stored(path: Path) -> None:
    print(f"{os.path.relpath(path)}: stored; commit it, and `python -m builder lock` the numbers")
