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
from builder.errors import Diagnostic, Diagnostics, UsageError, excerpt
from builder.evidence.jobs import Jobs
from builder.evidence.study import Study
from builder.evidence.tables import (
    CENSUS,
    CONTROLS,
    HELD_OUT,
    INTERVENTIONS,
    OF_EVIDENCE,
    RECALL,
    SEEDS,
    Table,
)
from builder.evidence.workers import Cluster, Processes
from builder.output.exclusive import exclusively
from builder.progress import Progress, Update
from builder.requirements import not_diverging
from builder.snapshot_files import snapshot_of
from builder.stages import Cache
from model.config import LARGEST_SEED

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
        _say_stored([path])


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
        if not options.replace:
            _require_kept(study, seeds)
        with _telling(computer.progress, CENSUS.name) as tell:
            paths = study.census(seeds, tell)
        _say_stored(paths)
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
        wrong, listed = _listed(part.strip())
        seeds.update(listed[: MOST_SEEDS + 1])  # one too many is enough to tell
        if not wrong and len(seeds) > MOST_SEEDS:
            wrong = f"these are more seeds than {MOST_SEEDS:,}"
        if wrong:
            raise UsageError(Diagnostic("--seeds", 0, 0, "seeds", wrong, "such as `0-63`"))
    return sorted(seeds)


def _listed(part: str) -> tuple[str, range]:
    """What is wrong with a part of a list of seeds, and the seeds that it lists."""
    match = re.fullmatch(r"(\d+)(?:\s*-\s*(\d+))?", part)
    if not part:
        return "a seed is missing", range(0)
    if not match:
        return f"`{excerpt(part)}` is no seed and no range of seeds", range(0)
    first, last = (number.lstrip("0") or "0" for number in (match[1], match[2] or match[1]))
    if max(len(first), len(last)) > len(str(LARGEST_SEED)) or int(last) > LARGEST_SEED:
        return f"`{excerpt(part)}` is too large: seeds go up to {LARGEST_SEED}", range(0)
    if int(last) < int(first):
        return f"`{part}` runs backwards", range(0)
    return "", range(int(first), int(last) + 1)


def _require_kept(study: Study, seeds: Sequence[int]) -> None:
    """Refuse to drop seeds that are stored.

    Raises
    ------
    UsageError
        If some are, and are not asked for.
    """
    dropped = sorted(set(study.stored_seeds()) - set(seeds))
    if dropped:
        path = _shown(SEEDS.path(study.folder))
        n, first = len(dropped), dropped[0]
        message = f"{n:,} of the seeds stored in {path} would be dropped, first {first}"
        hint = "list them too, or drop them with `--replace`"
        raise UsageError(Diagnostic("--seeds", 0, 0, "seeds", message, hint))


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


def _say_stored(paths: Sequence[Path]) -> None:
    them = "them" if len(paths) > 1 else "it"
    shown = " and ".join(map(_shown, paths))
    print(f"{shown}: stored; commit {them}, and `python -m builder lock` the numbers")


def _shown(path: Path) -> str:
    return os.path.relpath(path)
