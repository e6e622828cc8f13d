"""What an author probably meant where YAML gives up: a parser names the place where it noticed.

That is often the next line, or the end of the file, and in words of the grammar.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

QUOTE_IT = "put the text in quotes, or on the next line after `|`"

_INDENT = r"[ \t\u00a0\u3000]*"
_ODD_INDENT = re.compile(rf"( *)([\t\u00a0\u3000]){_INDENT}(?:- +)?[A-Za-z_][\w-]*:(?:\s|$)")
_FULL_WIDTH = re.compile(rf"{_INDENT}(?:- +)*[A-Za-z_][\w-]*(：)")
_NO_SPACE = re.compile(rf"{_INDENT}(?:- +)*[A-Za-z_][\w-]*(:)[^\s:/]")
_FIELD = re.compile(rf"{_INDENT}(?:- +)*(?:[A-Za-z_][\w-]*:[ ]+)?")
_CLOSED = {
    "'": re.compile(r"'(?:[^']|'')*'(?P<rest>.*)"),
    '"': re.compile(r'"(?:[^"\\]|\\.)*"(?P<rest>.*)'),
}
_BRACKETS = {"[": "]", "{": "}"}
_SPACES = {"\t": "a tab", "\u00a0": "a no-break space", "\u3000": "a full-width space"}

FARTHEST = 40
"""So many lines above the place where it is noticed, an open quote or bracket is looked for."""


@dataclass(frozen=True, slots=True)
class Advice:
    """What is wrong with a line (an index) from a column on, and what would be right."""

    index: int
    column: int
    message: str
    hint: str


def odd_indents(lines: Sequence[str]) -> Iterator[Advice]:
    """Find fields that are indented by what looks like spaces and is none."""
    for index, line in enumerate(lines):
        match = _ODD_INDENT.match(line)
        if match:
            message = f"{_SPACES[match[2]]} indents this line"
            yield Advice(index, match.start(2) + 1, message, "indent with spaces alone")


def advice(lines: Sequence[str], noticed: int, opened: int | None) -> Advice | None:
    """Say what is probably wrong, if that can be told.

    Parameters
    ----------
    lines
        Of the whole text.
    noticed
        Index of the line where the parser gave up.
    opened
        Index of the line where the quoted text begins that has no end, if that is what it says.
    """
    if opened is not None and opened < len(lines):
        column = lines[opened].rfind(_value(lines[opened])) + 1
        return Advice(opened, column, "the quote that opens here is never closed", "close it")
    if noticed >= len(lines):
        return _left_open(lines, noticed)
    above = next((i for i in range(noticed - 1, -1, -1) if lines[i].strip()), noticed)
    tried = (_wrong_value(lines, noticed), _wrong_field(lines, noticed), _wrong_field(lines, above))
    return next(filter(None, tried), None) or _left_open(lines, noticed)


def _value(line: str) -> str:
    match = _FIELD.match(line)
    return line[match.end() :].strip() if match else ""


def _wrong_field(lines: Sequence[str], index: int) -> Advice | None:
    full, joined = _FULL_WIDTH.match(lines[index]), _NO_SPACE.match(lines[index])
    if full:
        message = "`：` is a full-width colon"
        return Advice(index, full.start(1) + 1, message, "write `:` and a space")
    if joined:
        message = "there is no space after this `:`"
        return Advice(index, joined.start(1) + 1, message, "write `:` and a space")
    return None


def _wrong_value(lines: Sequence[str], index: int) -> Advice | None:
    """What is wrong with the value of a field, which stands on one line."""
    value = _value(lines[index])
    first, column = value[:1], lines[index].rfind(value) + 1
    if first in _CLOSED:
        return _wrong_quote(value, index, column)
    is_flow = first in _BRACKETS and value.endswith(_BRACKETS[first])
    if first and first in "`@%*&!|>{[" and len(value) > 1 and not is_flow:
        shown = "a backtick" if first == "`" else f"`{first}`"
        return Advice(index, column, f"a text cannot begin with {shown} here", QUOTE_IT)
    if ": " in value:
        return Advice(index, column, "a text cannot hold `: ` here", QUOTE_IT)
    return None


def _wrong_quote(value: str, index: int, column: int) -> Advice | None:
    closed = _CLOSED[value[0]].match(value)
    if closed is None or not closed["rest"].strip() or closed["rest"].lstrip().startswith("#"):
        return None
    message = f"the text goes on after the {value[0]} that closes it"
    hint = "quote all of it, with the other kind of quote where one stands inside"
    return Advice(index, column, message, hint)


def _left_open(lines: Sequence[str], noticed: int) -> Advice | None:
    """The nearest line above that opens a quote or a bracket which is not closed."""
    for index in range(min(noticed, len(lines)) - 1, max(-1, noticed - FARTHEST), -1):
        value = _value(lines[index])
        first, column = value[:1], lines[index].rfind(value) + 1
        if first in _CLOSED and not _CLOSED[first].match(value):
            message = "the quote that opens here is not closed before the next one"
            return Advice(index, column, message, "close it on its own line")
        if first in _BRACKETS and _BRACKETS[first] not in "".join(lines[index:noticed]):
            message = f"the `{first}` that opens here is never closed"
            return Advice(index, column, message, f"end it with `{_BRACKETS[first]}`")
    return None
