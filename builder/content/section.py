"""A mapping as it is read: field by field, each checked, with the place of everything in it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from builder.errors import Diagnostic, Diagnostics, Location, did_you_mean, excerpt, nearest

T = TypeVar("T")

_MISSING: Any = object()
_KINDS = {
    str: "text",
    int: "a whole number",
    bool: "true or false",
    list: "a list",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A value and where it, or the field that has it, stands (1-based); a list has its items."""

    value: Any
    line: int
    column: int
    items: Sequence[Entry] = ()

    @property
    def shown(self) -> str:
        """The value as a message names it, cut short if need be."""
        if isinstance(self.value, Section):
            return "a mapping"
        if isinstance(self.value, list):
            return "a list"
        is_text = isinstance(self.value, (str, float))
        return f"`{excerpt(str(self.value) if is_text else json.dumps(self.value))}`"


@dataclass
class Section:
    """A YAML mapping that is read field by field and then asked what was left over.

    Values are text, numbers, booleans, None, lists of these, or further sections. Problems go to
    `diagnostics`; a field that has one reads as its default, or as an empty value of its kind.
    `lines` are those of the whole text, which starts at line `first_line` of the file. One that is
    the value of a field has its `name` and its line.
    """

    path: str
    line: int
    diagnostics: Diagnostics
    lines: Sequence[str] = ()
    first_line: int = 1
    name: str = ""
    entries: dict[str, Entry] = field(default_factory=dict)
    _known: set[str] = field(default_factory=set)
    _missing: dict[str, Diagnostic] = field(default_factory=dict)

    @classmethod
    def unheard(cls, path: str, line: int) -> Section:
        """Return an empty mapping in place of a damaged one: what it lacks is no more problem."""
        return cls(path, line, Diagnostics())

    def get(self, name: str, kind: type[T], default: Any = _MISSING) -> T:
        """Return the value of a field, checked for its type; a missing one needs a default."""
        self._known.add(name)
        entry = self.entries.get(name)
        if entry is None:
            if default is _MISSING:
                self._miss(name)
                return kind()
            return default  # type: ignore[no-any-return]
        if not _is(entry.value, kind):
            self.complain(entry.line, entry.column, *_wrong_type(name, entry, kind))
            return kind() if default is _MISSING else default
        return entry.value  # type: ignore[no-any-return]

    def items(self, name: str) -> Sequence[Entry]:
        """Return the items of a list that must be there and hold something."""
        items = self.entries[name].items if self.get(name, list) else ()
        if name in self.entries and self.entries[name].value == []:
            self.complain(*self.place(name), "missing-field", f"`{name}` lists nothing")
        return items

    def section(self, name: str) -> Section:
        """Return a nested mapping; a missing or wrong one reads as empty."""
        self._known.add(name)
        entry = self.entries.get(name)
        if entry is not None and isinstance(entry.value, Section):
            return entry.value
        if entry is None or entry.value is None:
            return Section(self.path, self.place(name)[0], self.diagnostics, name=name)
        message, hint = f"`{name}` must be a mapping", "write its fields below it, indented"
        self.complain(entry.line, entry.column, "wrong-type", message, hint)
        return Section.unheard(self.path, entry.line)

    def place(self, name: str) -> tuple[int, int]:
        """Return line and column of a field, or of the mapping if the field is missing."""
        entry = self.entries.get(name)
        return (entry.line, entry.column) if entry else (self.line, 0)

    def locate(self, name: str) -> Location:
        """Return the place of a field with its line, or that of the mapping without."""
        return self.locate_at(*self.place(name))

    def locate_at(self, line: int, column: int) -> Location:
        """Return a place in this file; one with a column has its line."""
        index = line - self.first_line
        is_shown = column > 0 and 0 <= index < len(self.lines)
        return Location(
            self.path, line, column, excerpt(self.lines[index], column) if is_shown else ""
        )

    def complain(self, line: int, column: int, rule: str, message: str, hint: str = "") -> None:
        """Report a problem at a place in this file; one with a column has its line shown."""
        self.diagnostics.add(self.locate_at(line, column).problem(rule, message, hint))

    def finish(self, ignored: Iterable[str] = ()) -> None:
        """Report every field that nobody asked for, but the ignored ones.

        One that was probably meant for a missing field takes the place of that message.
        """
        expected = self._known | set(ignored)
        unknown = [name for name in self.entries if name not in expected]
        for name in unknown:
            is_only_pair = len(unknown) == len(self._missing) == 1
            meant = nearest(name, list(self._missing), 0.0 if is_only_pair else 0.6)
            hint = f"did you mean `{meant}`?" if meant else did_you_mean(name, expected)
            if meant:
                self.diagnostics.found.remove(self._missing.pop(meant))
            self.complain(*self.place(name), "unknown-field", f"unknown field `{name}`", hint)

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def _miss(self, name: str) -> None:
        location = self.locate_at(self.line, 0)
        message = f"`{name}` is missing{f' in `{self.name}`' if self.name else ''}"
        self._missing[name] = location.problem("missing-field", message, f"write `{name}: ...`")
        self.diagnostics.add(self._missing[name])


def _wrong_type(name: str, entry: Entry, kind: type) -> tuple[str, str, str]:
    """Return rule, message and hint for a value of another type."""
    if kind is str and entry.value is None:
        return "missing-field", f"`{name}` is empty", f"write `{name}: ...`"
    shown, hint = str(entry.value), f"it is {entry.shown}"
    if kind is int and isinstance(entry.value, str) and re.fullmatch(r"[0-9]+", shown):
        hint += " in quotes: leave them out"
    if kind is bool and shown.lower() in ("true", "false", "yes", "no"):
        hint += ": write `true` or `false`"
    return "wrong-type", f"`{name}` must be {_KINDS.get(kind, 'a mapping')}", hint


def _is(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))
