"""What is known about the chapter that is being rendered: where things stand, what was found."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from markdown_it.token import Token

from builder.blocks.directive import BlockError, Context
from builder.errors import Location, excerpt
from builder.numbers.address import AddressError

Place = tuple[int, int]
"""Line and column in the file, 1-based; column 0 if it is not known."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading that can be linked to; `text` is plain."""

    level: int
    id: str
    text: str


@dataclass
class Rendering:
    """The state of one rendering; the parser itself has none.

    `inline_line` is the line of the file on which the text that is being parsed starts.
    """

    context: Context
    headings: list[Heading] = field(default_factory=list)
    inline_line: int = 0
    unclosed: set[tuple[int, int]] = field(default_factory=set)
    _lines: list[str] = field(default_factory=list)
    _closers: tuple[str, list[int]] = ("", [])

    def __post_init__(self) -> None:
        self._lines = re.split(r"\r\n|\r|\n", self.context.chapter.body)

    def line(self, index: int) -> int:
        """Line of the file at which line `index` of the body stands."""
        return self.context.chapter.body_line + index

    def line_of(self, token: Token) -> int:
        """Line of the file at which a token starts; that of the body if it has none."""
        return self.line(token.map[0] if token.map else 0)

    def source(self, line: int) -> str:
        """Text of a line of the file."""
        index = line - self.context.chapter.body_line
        return self._lines[index] if 0 <= index < len(self._lines) else ""

    def place(self, text: str, offset: int) -> Place:
        """Line and column of an offset in the inline text that is being parsed.

        The text has lost the indentation and the markers before its lines, so that the column is
        found by looking for the line's text in the file.
        """
        start = text.rfind("\n", 0, offset) + 1
        line = self.inline_line + text.count("\n", 0, offset)
        end = text.find("\n", start)
        indent = self.source(line).find(text[start : None if end < 0 else end].rstrip())
        return line, indent + offset - start + 1 if indent >= 0 else 0

    def location(self, place: Place) -> Location:
        """Return a place in the chapter, with the line that stands there."""
        line, column = place
        return Location(self.context.chapter.path, line, column, excerpt(self.source(line), column))

    def report(
        self, place: Place, rule: str, message: str, hint: str = "", severity: str = "error"
    ) -> None:
        """Report a problem, with the line that has it."""
        self.context.diagnostics.add(self.location(place).problem(rule, message, hint, severity))

    @contextmanager
    def reporting(self, place: Place, options: dict[str, Place]) -> Iterator[None]:
        """Report what a block or role raises, at the option at fault where one is named."""
        try:
            yield
        except BlockError as error:
            at = error.place or options.get(error.option, place)
            self.report(at, error.rule, error.message, error.hint)
        except AddressError as error:
            self.report(place, error.rule, error.message, error.hint)

    def add_heading(self, level: int, heading_id: str, text: str) -> None:
        """Keep a heading for the table of contents."""
        self.headings.append(Heading(level, heading_id, text))

    def closers(self, text: str) -> list[int]:
        """Offsets of the dollars that can end a formula in `text`; found once for each text."""
        if self._closers[0] is not text:
            found = re.finditer(r"(?<![\s\\$])\$(?![0-9$])", text)
            self._closers = (text, [match.start() for match in found])
        return self._closers[1]
