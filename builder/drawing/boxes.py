"""The pieces of the drawing of the network: their measures, and how much room texts need.

The unit is about a pixel, and y falls going up, as SVG has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from builder.numbers.display import display_whole
from model.parts import Group, Part

STREAM = 17.0
"""Where the residual stream runs."""

LEFT, LEAST_RIGHT = 47.0, 276.0
"""Boxes stand between these, or reach further right where their texts need it."""

MARGIN = 55.0
"""Room to the right of the boxes, for the sums of their counts."""

EDGE = 18.0
"""Room for words below the lowest boxes and above the highest."""

FLAT, TALL, NARROW = 26.0, 34.0, 46.0
"""Heights of a box whose texts share a line, and of those that have two lines or three."""

PAD = 8.0
"""Between the edges of a flat box and its texts, and between these."""

LARGE, MEDIUM, SMALL = 14.0, 12.0, 11.0
"""Sizes of letters, of names, and of all else; site_templates/css/network.css has them too."""

FRAME, NARROW_GAP, HEAD_GAP = 4.0, 3.0, 8.0
"""Around the boxes of a head, between those next to each other, and between heads."""

_NAME = 28.0  # room for the shortest name


@dataclass(frozen=True, slots=True)
class Box:
    """The box of a part.

    `wire` is the path of what the part reads, `stream` that of the residual stream up to it.
    """

    part: Part
    x: float
    y: float
    width: float
    height: float
    wire: str = ""
    stream: str = ""

    @property
    def middle(self) -> float:
        """The x of its middle."""
        return self.x + self.width / 2

    @property
    def bottom(self) -> float:
        """The y of its lower edge."""
        return self.y + self.height


@dataclass(frozen=True, slots=True)
class Frame:
    """What holds the boxes of one head."""

    head: int
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Span:
    """How far a group reaches."""

    group: Group
    top: float
    bottom: float


def text_width(text: str, size: float) -> float:
    """Return about how wide a text is, rather more than less."""
    return size * sum(_character_width(character) for character in text)


def _character_width(character: str) -> float:
    if character in " ,.":
        return 0.33
    if character in "×+":
        return 0.84
    return 1 if character > "\u2e80" else 0.64


def room(parts: Sequence[Part]) -> float:
    """Width that the texts need: of a box that fills a row, or of all heads in theirs."""
    heads = {part.head for part in parts} - {None}
    narrow = max(_narrow(part) for part in parts if part.head is not None)
    head = 3 * narrow + 2 * (NARROW_GAP + FRAME)
    rows = [_flat(part) for part in parts if part.head is None]
    return max(*rows, len(heads) * (head + HEAD_GAP) - HEAD_GAP)


def _narrow(part: Part) -> float:
    return max(text_width(part.shape, SMALL), text_width(display_whole(part.n_params), SMALL)) + PAD


def _flat(part: Part) -> float:
    texts = text_width(part.shape, SMALL) + text_width(display_whole(part.n_params), SMALL)
    return _NAME + texts + 4 * PAD
