"""The command line: what it takes, what it says about itself, and how it ends."""

from __future__ import annotations

import argparse
import io
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from builder import commands
from builder.errors import BuildError, Diagnostic
from builder.evidence.tables import OF_EVIDENCE
from builder.progress import tell

Run = Callable[[argparse.Namespace], int]

OVERVIEW = """\
Builds the article: trains the model, stores every number, renders the chapters.

  python -m builder build     make dist/, then open dist/index.html
  python -m builder serve     write with a live preview
  python -m builder check     everything a reviewer would check, short of a browser
  python -m builder diff A B  what changed between two builds, and what it means
"""

VERBOSE = "show tracebacks of internal errors"

EXIT_CODES = """\
exit codes: 0 fine, 1 problems found, 2 wrong usage or unreadable input, 130 interrupted (Ctrl-C)"""

BUILD = """\
Build the site from content/, model/ and site_templates/ in the current folder.

Only what changed is computed again; results live in .cache/ under a key made of their inputs,
the code that makes them and the versions of the tools. The output folder is replaced in one step
when the new site is complete, and stays as it was if anything is wrong. A folder that holds files
which no build has written is refused."""

SERVE = """\
Serve the site and build it again whenever a chapter, a template, a style or the code changes.

The browser reloads by itself. When a build fails the page shows the problems and goes on when
they are mended."""

CHECK = """\
Build strictly into a scratch folder and examine the result: every claim holds; every link, anchor
and id resolves; the numbers equal model/snapshots.lock.json; and a second build in another
process, folder, time zone and hash seed, without the cache, has the same bytes."""

DIFF = """\
Compare two snapshot folders, or the snapshots of two site folders: seed and recipe, what it means
(claims, answers, predictions and largest attention shares that changed), files added and removed,
then for each tensor the largest and the mean difference and where. Exit code 0 if the snapshots
are the same, 1 different, 2 unreadable."""

LOCK = """\
Accept the current numbers: write their digests to model/snapshots.lock.json. Commit that file
with the change that moved the numbers, so that its readers see that it did. Numbers that a claim
denies are refused."""

EVIDENCE = """\
Compute what the article says about evidence, and store it in model/tables/: controls (the network
with one part changed, trained again from 20 seeds each), held-out (trained on 90 problems, asked
the other 10), recall (another task, which no fixed table can do), interventions (the trained model
with one thing overwritten). Minutes of computing: a build only reads what is stored, and says so
when it no longer fits. Every finished part is kept in .cache/, so that an interrupted run goes on
where it was. README says how long it takes."""

CENSUS = """\
Train many seeds and check every claim for each of them, so that a sentence can say of how many
seeds it holds. Weights and results are stored in model/tables/; weights that are stored there by
the same code are not trained again, only the claims are recomputed from them. Every finished part
is kept in .cache/, so that an interrupted run goes on where it was."""

CLEAN = """\
Remove the cache and the files that builds have written to the output folder. Other files stay."""

DOCTOR = """\
Say which versions, processor features, fonts and browser this machine has, what is missing, and
how to get it. Exit code 1 if something needed is missing."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # Chinese where the terminal has none
    options = parser().parse_args(arguments)
    run: Run = options.run
    as_json = getattr(options, "json", False)
    try:
        return run(options)
    except BuildError as error:
        commands.print_problems(error.diagnostics, as_json=as_json)
        return error.exit_code
    except KeyboardInterrupt as interrupt:
        tell(str(interrupt) or "interrupted")
        return 130
    except BrokenPipeError:
        return 1
    except OSError as error:
        commands.print_problems([_of_system(error)], as_json=as_json)
        return 1
    except Exception as error:
        message = f"internal error: {type(error).__name__}: {error}"
        if options.verbose:
            traceback.print_exc()
        if as_json:
            internal = Diagnostic("builder", 0, 0, "internal-error", message)
            commands.print_problems([internal], as_json=True)
        elif not options.verbose:
            tell(message)
            tell("this is a bug; the same command with `--verbose` shows where")
        return 1


def _of_system(error: OSError) -> Diagnostic:
    """What the system refuses, such as a file without permission or a full disk."""
    path = str(error.filename or "the system")
    return Diagnostic(path, 0, 0, "system", error.strerror or str(error))


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    top = argparse.ArgumentParser(
        prog="python -m builder",
        description=OVERVIEW,
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--verbose", action="store_true", help=VERBOSE)
    subparsers = top.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def command(name: str, run: Run, description: str, summary: str) -> argparse.ArgumentParser:
        added = subparsers.add_parser(
            name,
            description=description,
            help=summary,
            epilog=EXIT_CODES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        added.set_defaults(run=run)
        added.add_argument(  # without a default of its own, so that it may stand before too
            "--verbose", action="store_true", default=argparse.SUPPRESS, help=VERBOSE
        )
        return added

    build = command("build", commands.run_build, BUILD, "build the site into dist/")
    _add_out(build)
    build.add_argument("--strict", action="store_true", help="treat warnings as errors")
    build.add_argument(
        "--explain", action="store_true", help="say of each stage whether it was rebuilt, and why"
    )
    build.add_argument("--no-cache", action="store_true", help="compute everything again")
    build.add_argument("--json", action="store_true", help="print one JSON document for machines")
    build.add_argument("--quiet", action="store_true", help="print problems only")

    serve = command("serve", commands.run_serve, SERVE, "live preview while writing")
    _add_out(serve)
    serve.add_argument("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    serve.add_argument("--port", type=int, default=8000, help="port to listen on (%(default)s)")

    check = command("check", commands.run_check, CHECK, "check everything short of a browser")
    check.add_argument("--quiet", action="store_true", help="do not report stages")

    diff = command("diff", commands.run_diff, DIFF, "what changed between two builds")
    diff.add_argument("old", type=Path, metavar="OLD", help="a snapshot folder or a site folder")
    diff.add_argument("new", type=Path, metavar="NEW", help="the other one")
    form = diff.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON document for machines")
    form.add_argument("--markdown", action="store_true", help="print Markdown for a pull request")

    lock = command("lock", commands.run_lock, LOCK, "accept the current numbers")
    lock.add_argument("--quiet", action="store_true", help="do not report stages")

    _add_tables(command("evidence", commands.run_evidence, EVIDENCE, "what the task needs"))
    _add_seeds(command("census", commands.run_census, CENSUS, "of how many seeds claims hold"))
    _add_out(command("clean", commands.run_clean, CLEAN, "remove what builds have written"))
    command("doctor", commands.run_doctor, DOCTOR, "what this machine has and what it lacks")
    return top


def _add_out(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--out", type=Path, default=Path("dist"), metavar="DIR", help="site folder (%(default)s)"
    )


def _add_tables(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "tables", nargs="*", metavar="TABLE", type=_table, help=f"of {', '.join(OF_EVIDENCE)}"
    )
    _add_workers(command)


def _add_seeds(command: argparse.ArgumentParser) -> None:
    command.add_argument("--seeds", default="0-63", help="such as 0-63 or 0-9,20 (%(default)s)")
    command.add_argument(
        "--replace", action="store_true", help="drop the stored seeds that are not among these"
    )
    _add_workers(command)


def _add_workers(command: argparse.ArgumentParser) -> None:
    where = command.add_mutually_exclusive_group()
    where.add_argument(
        "--jobs", type=_positive, metavar="N", help="processes at once (as many as processors)"
    )
    where.add_argument("--dask", metavar="ADDRESS", help="compute on the Dask cluster there")
    command.add_argument("--quiet", action="store_true", help="do not report progress")


def _positive(text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,3}", text):
        raise argparse.ArgumentTypeError(f"`{text}` is not a number of processes")
    return int(text)


def _table(text: str) -> str:
    if text not in OF_EVIDENCE:
        raise argparse.ArgumentTypeError(f"`{text}` is none of {', '.join(OF_EVIDENCE)}")
    return text
