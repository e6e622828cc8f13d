"""What each command does with its parsed options; each returns its exit code."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from builder.build import Options, Project, Report, build, compute, load, manifest_of, storing
from builder.code import PACKAGES
from builder.errors import Diagnostic, Diagnostics
from builder.evidence.claimed import denied_claims, problems_of_tables
from builder.output.exclusive import exclusively
from builder.progress import Progress, tell
from builder.stages import Cache, Event

MOST_PROBLEMS = 50
"""People are shown no more than this; `--json` has all."""


def run_build(options: argparse.Namespace) -> int:
    """Build the site."""
    events: list[Event] = []
    is_quiet = options.quiet or options.json
    progress = Progress(is_quiet)
    report = build(
        Project(Path()),
        Options(options.out, options.strict, not options.no_cache, events.append),
        progress,
    )
    if options.json:
        print(json.dumps(_as_json(report, events, progress), ensure_ascii=False, indent=1))
        return 0
    print_problems(report.warnings)
    if options.explain:
        for event in events:
            print(
                f"{event.stage:<28} {'rebuilt' if event.is_rebuilt else 'kept':<8} {event.reason}"
            )
    if not options.quiet:
        state = "written" if report.is_changed else "unchanged"
        print(f"{options.out}/index.html: {report.n_pages} pages, {state}")
        print(report.verdict.line)
    return 0


def run_check(options: argparse.Namespace) -> int:
    """Check everything that can be checked without a browser."""
    from builder.check import check

    check(Project(Path()), Progress(options.quiet), print)
    return 0


def run_diff(options: argparse.Namespace) -> int:
    """Compare two snapshots."""
    from builder.diff.comparison import diff

    difference = diff(options.old, options.new)
    if options.json:
        print(json.dumps(difference.as_dict(), ensure_ascii=False, indent=1))
    elif options.markdown:
        print(difference.markdown())
    else:
        print("\n".join(difference.lines()))
    return difference.exit_code


def run_lock(options: argparse.Namespace) -> int:
    """Accept the current numbers."""
    from builder.lock import compare_with_lock, write_lock

    project, diagnostics, progress = Project(Path()), Diagnostics(), Progress(options.quiet)
    project.require_content()
    with exclusively(progress, project.root), storing(project.cache):
        site, texts = load(project, diagnostics)
        diagnostics.raise_if_fatal()
        cache = Cache(project.cache)
        cache.prepare()
        computed = compute(project, site, cache, progress)
        diagnostics.extend(problems_of_tables(computed, texts))
        diagnostics.extend(denied_claims(computed, texts, {}))
        diagnostics.raise_if_fatal()
        manifest = manifest_of(computed)
        write_lock(project.lock, manifest)
    print(compare_with_lock(project.lock, manifest).line)
    return 0


def run_evidence(options: argparse.Namespace) -> int:
    """Compute tables of evidence."""
    from builder.evidence import commands

    return commands.run_evidence(options)


def run_census(options: argparse.Namespace) -> int:
    """Check every claim for many seeds."""
    from builder.evidence import commands

    return commands.run_census(options)


def run_clean(options: argparse.Namespace) -> int:
    """Remove what builds have written."""
    from builder.output.folder import remove

    project = Project(Path())
    project.require_content()
    with exclusively(Progress(), project.root, options.out):
        n_files = remove(options.out)
        Cache(project.cache).clear()
    print(f"removed {n_files} files of {options.out} and the cache")
    return 0


def run_serve(options: argparse.Namespace) -> int:
    """Serve the site and rebuild it on changes."""
    from builder.serve.watch import fresh_build, serve

    project = Project(Path())
    project.require_content()
    code = [project.source.root / package for package in PACKAGES]
    watched = [project.content, project.templates, *code]
    serve(fresh_build(options.out), options.out, watched, options.host, options.port, say=print)
    return 0


def run_doctor(_options: argparse.Namespace) -> int:
    """Say what this machine has and what it lacks."""
    from builder.doctor import examine, exit_code

    findings = examine()
    for finding in findings:
        print(f"{finding.state:<9}{finding.name:<20}{finding.detail}")
        if finding.remedy:
            print(f"{'':<9}{'':<20}-> {finding.remedy}")
    return exit_code(findings)


def _as_json(report: Report, events: Sequence[Event], progress: Progress) -> dict[str, Any]:
    return {
        "diagnostics": [warning.as_dict() for warning in report.warnings],
        "pages": report.n_pages,
        "changed": report.is_changed,
        "numbers_equal_lock": report.verdict.is_equal,
        "verdict": report.verdict.line,
        "stages": [
            {"stage": event.stage, "rebuilt": event.is_rebuilt, "reason": event.reason}
            for event in events
        ],
        "seconds": {name: round(seconds, 3) for name, seconds in progress.seconds.items()},
    }


def print_problems(problems: Sequence[Diagnostic], *, as_json: bool = False) -> None:
    """Print diagnostics: for people on standard error, for machines on standard output."""
    if as_json:
        found = {"diagnostics": [problem.as_dict() for problem in problems]}
        print(json.dumps(found, ensure_ascii=False, indent=1))
        return
    shown = sorted(problems, key=lambda problem: problem.severity)[:MOST_PROBLEMS]  # errors first
    for problem in shown:
        tell(str(problem))
    if len(problems) > len(shown):
        tell(f"and {len(problems) - len(shown)} more")
    errors = sum(problem.severity == "error" for problem in problems)
    if len(problems) > 1:
        tell(f"{len(problems)} problems, {errors} of them errors")
