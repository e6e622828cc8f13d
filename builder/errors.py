"""What can go wrong, and how it is said.

::

    BuildError                 the user's to mend; carries Diagnostics; exit code 1
    ├── UsageError             a wrong command line or output folder; exit code 2
    └── UnreadableError        a folder or file that is damaged or not ours; exit code 2

Anything else that escapes is a bug of ours: users see one line, developers `--verbose`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

LONGEST_EXCERPT = 120

FEW_CHOICES = 16
"""No more than so many are listed where none is near to what was written."""


@dataclass(frozen=True, slots=True, order=True)
class Diagnostic:
    """One problem, at one place.

    Attributes
    ----------
    path
        File as the user knows it: relative to the project where possible.
    line, column
        1-based; 0 where the problem has no line or no column.
    rule
        Short id, such as `unknown-tensor`, the same for the same kind of problem.
    message
        What is wrong, offending values in backticks.
    hint
        What would be right, or the nearest valid choice; may be empty.
    excerpt
        The offending source line, or what `excerpt` shows of it; may be empty.
    severity
        `error` or `warning`; `--strict` turns warnings into errors.
    """

    path: str
    line: int
    column: int
    rule: str
    message: str
    hint: str = ""
    excerpt: str = ""
    severity: str = "error"

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.path, self.line, self.column) if part)
        lines = [f"{place}: {self.severity}: {self.message} [{self.rule}]"]
        if self.excerpt:
            lines.append(f"    {self.excerpt.strip()}")
        if self.hint:
            lines.append(f"    hint: {self.hint}")
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """Return the fields by name, for `--json`."""
        return asdict(self)


def excerpt(line: str, column: int = 0) -> str:
    """Return a source line, of a long one the part around a column (1-based)."""
    if len(line) <= LONGEST_EXCERPT:
        return line
    start = max(0, min(column - LONGEST_EXCERPT // 2, len(line) - LONGEST_EXCERPT))
    part = line[start : start + LONGEST_EXCERPT].strip()
    return "…" * (start > 0) + part + "…" * (start + LONGEST_EXCERPT < len(line))


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a file of the user's; line, column and excerpt as in `Diagnostic`."""

    path: str
    line: int = 0
    column: int = 0
    excerpt: str = ""

    def problem(
        self, rule: str, message: str, hint: str = "", severity: str = "error"
    ) -> Diagnostic:
        """Return a problem that stands here."""
        return Diagnostic(
            self.path, self.line, self.column, rule, message, hint, self.excerpt, severity
        )


class BuildError(Exception):
    """One or more problems that stop a build and that the user can mend."""

    exit_code = 1

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__("\n".join(map(str, diagnostics)))
        self.diagnostics = diagnostics


class UsageError(BuildError):
    """The command cannot be carried out as it was given."""

    exit_code = 2


class UnreadableError(BuildError):
    """A folder or file that the command must read is damaged or not one of ours."""

    exit_code = 2


@dataclass
class Diagnostics:
    """Collects the problems of a run, so that all are shown together."""

    found: list[Diagnostic] = field(default_factory=list)

    def add(self, diagnostic: Diagnostic) -> None:
        """Keep one problem."""
        self.found.append(diagnostic)

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Keep several problems."""
        self.found.extend(diagnostics)

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(sorted(set(self.found)))

    def are_fatal(self, *, strict: bool = False) -> bool:
        """Whether there is an error, or in strict mode anything at all."""
        return any(strict or diagnostic.severity == "error" for diagnostic in self.found)

    def raise_if_fatal(self, *, strict: bool = False) -> None:
        """Raise what was collected if it holds an error, or in strict mode anything at all.

        Raises
        ------
        BuildError
            With every problem found so far, warnings included.
        """
        if self.are_fatal(strict=strict):
            raise BuildError(*self)


def did_you_mean(word: str, choices: Iterable[str], otherwise: str = "") -> str:
    """Return a hint that names the nearest valid choice, or all of them if few.

    Where there are many and none is near, it is what `otherwise` says, or else the least far.
    """
    known = sorted(choices)
    close = nearest(word, known)
    if close is not None:
        return f"did you mean `{close}`?"
    if 0 < len(known) <= FEW_CHOICES:
        return "one of " + ", ".join(f"`{choice}`" for choice in known)
    if otherwise or not known:
        return otherwise
    return f"the nearest is `{nearest(word, known, likeness=0.0)}`"


def nearest(word: str, choices: Sequence[str], likeness: float = 0.6) -> str | None:
    """Return the choice that is most like a word; None if none is alike enough."""
    start = word[:LONGEST_EXCERPT]  # who writes more has not mistyped a name
    return next(iter(difflib.get_close_matches(start, choices, n=1, cutoff=likeness)), None)
