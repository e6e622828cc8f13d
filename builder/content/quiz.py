"""What a quiz is: the items of one chapter, as `content/<language>/quiz/<chapter>.yml` has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from builder.errors import Location


@dataclass(frozen=True, slots=True)
class Text:
    """Inline Markdown, the line of the file on which it starts, and the place of its field."""

    markdown: str
    line: int
    location: Location


@dataclass(frozen=True, slots=True)
class Option:
    """An answer to choose, and why it is right or wrong."""

    text: Text
    because: Text
    is_right: bool


@dataclass(frozen=True, slots=True)
class Mistake:
    """How a reader can come to a wrong number, and what to say then.

    Either `name` is that of a mistake in `builder.quiz`, or `address` is what was read instead, of
    the same `problem` or of another. `location` is that of the field that says so.
    """

    name: str
    address: str
    problem: str
    because: Text
    location: Location

    @property
    def named(self) -> str:
        """The mistake as messages name it."""
        return f"`{self.name or self.address}`"


@dataclass(frozen=True, slots=True)
class Number:
    """A number to predict: where it stands in the snapshot, and the mistakes to tell it from.

    `options` are those of a `{value}` as text, but for `problem`, which is the item's: `stage`,
    `target`, `decimals` and `format`; and `until`, the last token that the question is about.
    `locations` has the place of each, and of the address.
    """

    address: str
    options: dict[str, str]
    locations: dict[str, Location]
    because: Text
    mistakes: Sequence[Mistake]


@dataclass(frozen=True, slots=True)
class Item:
    """One question: with `options`, or with a `number`.

    Attributes
    ----------
    name
        The same in every language, since progress is kept under it.
    section
        Id of the heading to read again, on the page of the chapter.
    problem
        The problem whose numbers it speaks of.
    location
        Where it stands.
    """

    name: str
    section: Text
    problem: str
    question: Text
    location: Location
    options: Sequence[Option] = ()
    number: Number | None = None


@dataclass(frozen=True, slots=True)
class Quiz:
    """All items of a chapter; `source` is the text of the file."""

    slug: str
    path: str
    source: str
    items: Sequence[Item]
