"""The numbers that the project stands by: their digests, committed with the code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builder.content.text_file import read_regular
from builder.errors import Diagnostic, UnreadableError, UsageError

LOCK = "model/snapshots.lock.json"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a build's numbers are the locked ones, in one line."""

    is_equal: bool
    line: str


def lock_of(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the lock of a snapshot: digests of weights and files, and the headline figures."""
    training = manifest["training"]
    names = ("seed", "steps", "first_step_all_correct", "final_loss", "correct")
    return {
        "weights_sha256": manifest["weights_sha256"],
        "headline": {name: training[name] for name in (*names, "portability_margin")},
        "files": {file["path"]: file["sha256"] for file in manifest["files"]},
    }


def write_lock(path: Path, manifest: Mapping[str, Any]) -> None:
    """Accept a snapshot's numbers.

    Raises
    ------
    UsageError
        If something stands where the lock goes.
    """
    if (path.exists() and not path.is_file()) or not path.parent.is_dir():
        message = "the lock cannot be written here"
        hint = f"it is a file in a folder `{path.parent.name}`: move away what is in its place"
        raise UsageError(Diagnostic(str(path), 0, 0, "lock", message, hint))
    new = path.with_name(f".{path.name}.new")
    new.write_text(json.dumps(lock_of(manifest), indent=1) + "\n", encoding="utf-8")
    new.replace(path)  # in one step: an interruption leaves the old lock


def compare_with_lock(path: Path, manifest: Mapping[str, Any]) -> Verdict:
    """Compare a snapshot with the lock.

    Raises
    ------
    UnreadableError
        If the lock is damaged.
    """
    if not path.exists():
        return Verdict(False, "numbers: no lock yet; `python -m builder lock` accepts these")
    try:
        locked = json.loads(read_regular(path))
        before, now = locked["files"], lock_of(manifest)
        names = sorted(before.keys() | now["files"].keys())
        changed = [name for name in names if before.get(name) != now["files"].get(name)]
    except OSError as error:
        message = f"the lock cannot be read: {error.strerror or error}"
        raise UnreadableError(Diagnostic(str(path), 0, 0, "lock", message)) from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        hint = "restore it from version control, or write it anew with `python -m builder lock`"
        raise UnreadableError(
            Diagnostic(str(path), 0, 0, "lock", f"the lock is damaged: {error}", hint)
        ) from error
    if locked == now:
        return Verdict(True, f"numbers: all {len(before)} files equal {LOCK}")
    first = changed[0] if changed else "the headline figures"
    return Verdict(
        False,
        f"numbers: {len(changed)} of {len(names)} files differ from {LOCK}, first {first}; "
        "`python -m builder lock` accepts these",
    )
