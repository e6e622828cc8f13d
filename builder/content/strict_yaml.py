"""YAML without surprises: no duplicate keys, no silent types, and every value knows its line.

PyYAML keeps the last of two equal keys, reads `no` as false, `010` as 8 and `1:30` as 90. Here a
duplicate is an error and only `true`, `false`, `null`, decimal integers and decimal fractions are
anything but text. Aliases and tags are refused: a few aliases can stand for gigabytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

import yaml

from builder.errors import Diagnostic, Diagnostics, Location, did_you_mean, excerpt, nearest

T = TypeVar("T")

_MISSING: Any = object()
_KINDS = {
    str: "text",
    int: "a whole number",
    float: "a number",
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
    `lines` are those of the whole text, which starts at line `first_line` of the file.
    """

    path: str
    line: int
    diagnostics: Diagnostics
    lines: Sequence[str] = ()
    first_line: int = 1
    entries: dict[str, Entry] = field(default_factory=dict)
    _known: set[str] = field(default_factory=set)
    _missing: dict[str, Diagnostic] = field(default_factory=dict)

    def get(self, name: str, kind: type[T], default: Any = _MISSING) -> T:
        """Return the value of a field, checked for its type; a missing one needs a default."""
        self._known.add(name)
        entry = self.entries.get(name)
        if entry is None:
            if default is _MISSING:
                found = self._location(self.line, 0).problem(
                    "missing-field", f"`{name}` is missing"
                )
                self._missing[name] = found
                self.diagnostics.add(found)
                return kind()
            return default  # type: ignore[no-any-return]
        if not _is(entry.value, kind):
            wanted = _KINDS.get(kind, "a mapping")
            self.complain(
                entry.line,
                entry.column,
                "wrong-type",
                f"`{name}` must be {wanted}",
                f"it is {entry.shown}",
            )
            return kind() if default is _MISSING else default
        return kind(entry.value) if kind is float else entry.value  # type: ignore[call-arg]

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
            return Section(self.path, self.place(name)[0], self.diagnostics)
        self.complain(entry.line, entry.column, "wrong-type", f"`{name}` must be a mapping")
        return _unheard(self.path, entry.line)

    def place(self, name: str) -> tuple[int, int]:
        """Return line and column of a field, or of the mapping if the field is missing."""
        entry = self.entries.get(name)
        return (entry.line, entry.column) if entry else (self.line, 0)

    def locate(self, name: str) -> Location:
        """Return the place of a field with its line, or that of the mapping without."""
        return self._location(*self.place(name))

    def complain(self, line: int, column: int, rule: str, message: str, hint: str = "") -> None:
        """Report a problem at a place in this file; one with a column has its line shown."""
        self.diagnostics.add(self._location(line, column).problem(rule, message, hint))

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

    def _location(self, line: int, column: int) -> Location:
        index = line - self.first_line
        is_shown = column > 0 and 0 <= index < len(self.lines)
        return Location(
            self.path, line, column, excerpt(self.lines[index], column) if is_shown else ""
        )


def read_section(text: str, path: str, diagnostics: Diagnostics, first_line: int = 1) -> Section:
    """Parse YAML text whose top level is a mapping.

    Parameters
    ----------
    text
        The YAML source; empty text is an empty mapping.
    path, first_line
        Where the text stands, for messages.
    diagnostics
        Receives every problem, syntax errors included.
    """
    try:
        loader = _Loader(text)
        _refuse_aliases_and_tags(text)
        node = loader.get_single_node()
        if node is None:
            return Section(path, first_line, diagnostics)
        value = _convert(node, loader, Section(path, 0, diagnostics, text.splitlines(), first_line))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + first_line, mark.column + 1) if mark else (first_line, 0)
        message = f"not valid YAML: {error.problem or error.context}"
        diagnostics.add(Diagnostic(path, line, column, "yaml", message, excerpt=_line(text, mark)))
        return _unheard(path, first_line)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        message = f"not valid YAML: {str(error).splitlines()[0] if str(error) else 'too deep'}"
        diagnostics.add(Diagnostic(path, first_line, 0, "yaml", message))
        return _unheard(path, first_line)
    if isinstance(value, Section):
        return value
    diagnostics.add(Diagnostic(path, first_line, 1, "yaml", "expected `field: value` lines"))
    return _unheard(path, first_line)


def _unheard(path: str, line: int) -> Section:
    """An empty mapping in place of a damaged one: that it lacks fields is no further problem."""
    return Section(path, line, Diagnostics())


def _refuse_aliases_and_tags(text: str) -> None:
    for event in yaml.parse(text, _Loader):
        is_alias = isinstance(event, yaml.AliasEvent)
        if is_alias or getattr(event, "tag", None):
            what = "aliases" if is_alias else "tags"
            mark = cast("yaml.Mark | None", event.start_mark)
            raise yaml.MarkedYAMLError(problem=f"{what} are not used here", problem_mark=mark)


class _Loader(yaml.CSafeLoader):
    """Resolves plain scalars by the five rules below and nothing else."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012


def _resolve(tag: str, pattern: str, first: Iterable[str]) -> None:
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(pattern), list(first))


_resolve("bool", r"^(?:true|false)$", "tf")
_resolve("null", r"^(?:null|~|)$", ["n", "~", ""])
_resolve("int", r"^[-+]?(?:0|[1-9][0-9]*)$", "-+0123456789")
_resolve("float", r"^[-+]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?$", "-+0123456789")


def _convert(node: yaml.Node, loader: _Loader, empty: Section) -> Any:
    """Return the value of a node; sections in it have the path and the lines of the empty one."""
    first_line = empty.first_line
    if isinstance(node, yaml.MappingNode):
        section = replace(
            empty, line=node.start_mark.line + first_line, entries={}, _known=set(), _missing={}
        )
        for key_node, value_node in node.value:
            line, column = key_node.start_mark.line + first_line, key_node.start_mark.column + 1
            key = str(key_node.value) if isinstance(key_node, yaml.ScalarNode) else "?"
            if key in section.entries:
                before = section.entries[key].line
                section.complain(
                    line, column, "duplicate-field", f"`{key}` is already given on line {before}"
                )
                continue
            value = _convert(value_node, loader, empty)
            items = _items(value_node, value, first_line) if isinstance(value, list) else ()
            section.entries[key] = Entry(value, line, column, items)
        return section
    if isinstance(node, yaml.SequenceNode):
        return [_convert(item, loader, empty) for item in node.value]
    return loader.construct_object(node)


def _items(node: yaml.Node, values: Iterable[Any], first_line: int) -> Sequence[Entry]:
    marks = (item.start_mark for item in node.value)
    return [
        Entry(value, mark.line + first_line, mark.column + 1)
        for value, mark in zip(values, marks, strict=True)
    ]


def _is(value: Any, kind: type) -> bool:
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))


def _line(text: str, mark: yaml.Mark | None) -> str:
    lines = text.splitlines()
    return excerpt(lines[mark.line], mark.column) if mark and mark.line < len(lines) else ""
