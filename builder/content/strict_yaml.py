"""YAML without surprises: no duplicate keys, no silent types, and every value knows its line.

PyYAML keeps the last of two equal keys, reads `no` as false, `010` as 8 and `1:30` as 90. Here a
duplicate is an error and only `true`, `false`, `null` (or `~`, or nothing), decimal integers and
decimal fractions are anything but text. Aliases and tags are refused: a few aliases can stand for
gigabytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, cast

import yaml

from builder.content.section import Entry, Section
from builder.content.yaml_advice import Advice, advice, odd_indents
from builder.errors import Diagnostic, Diagnostics


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
    lines = text.splitlines()
    source = Section(path, 0, diagnostics, lines, first_line)
    indents = list(odd_indents(lines))
    for found in indents:
        _complain(source, found)
    if indents:
        return Section.unheard(path, first_line)
    try:
        loader = _Loader(text)
        _refuse_aliases_and_tags(text)
        node = loader.get_single_node()
        if node is None:
            return Section(path, first_line, diagnostics)
        value = _convert(node, loader, source)
    except yaml.MarkedYAMLError as error:
        _complain(source, _explained(error, lines))
        return Section.unheard(path, first_line)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        message = f"not valid YAML: {str(error).splitlines()[0] if str(error) else 'too deep'}"
        diagnostics.add(Diagnostic(path, first_line, 0, "yaml", message))
        return Section.unheard(path, first_line)
    if isinstance(value, Section):
        return value
    message, hint = "expected `field: value` lines", f"it is {Entry(value, 0, 0).shown}"
    diagnostics.add(Diagnostic(path, first_line, 1, "yaml", message, hint))
    return Section.unheard(path, first_line)


def _explained(error: yaml.MarkedYAMLError, lines: Sequence[str]) -> Advice:
    """What the author did wrong, and where, if that can be told, or else what the parser says."""
    mark = error.problem_mark or error.context_mark
    place = (mark.line, mark.column + 1) if mark else (0, 0)
    message = error.problem or error.context or ""
    if error.note:
        return Advice(*place, message, error.note)
    is_quote = error.context == "while scanning a quoted scalar" and "end of" in message
    opened = error.context_mark.line if is_quote and error.context_mark else None
    hint = "indent the fields of one mapping alike; quote a text that holds signs of YAML"
    if "escape character" in message:
        hint = "in double quotes a backslash is an escape: use single quotes, or write below `|`"
    return advice(lines, place[0], opened) or Advice(*place, message, hint)


def _complain(source: Section, found: Advice) -> None:
    line = found.index + source.first_line
    source.complain(line, found.column, "yaml", f"not valid YAML: {found.message}", found.hint)


def _refuse_aliases_and_tags(text: str) -> None:
    for event in yaml.parse(text, _Loader):
        is_alias = isinstance(event, yaml.AliasEvent)
        if is_alias or getattr(event, "tag", None):
            what = "aliases" if is_alias else "tags"
            mark = cast("yaml.Mark | None", event.start_mark)
            hint = "write the value out, or quote it"
            message = f"{what} are not used here"
            raise yaml.MarkedYAMLError(problem=message, problem_mark=mark, note=hint)


class _Loader(yaml.CSafeLoader):
    """Resolves plain scalars by the rules below and nothing else."""

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
            if isinstance(value, Section):
                value.name, value.line = key, line
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
