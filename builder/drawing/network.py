"""Where the parts of the network stand in its drawing, and the lines between them.

It grows upwards from 0. On the left runs the residual stream; boxes branch off to its right and
come back in sums.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from builder.drawing.boxes import (
    EDGE,
    FLAT,
    FRAME,
    HEAD_GAP,
    LEAST_RIGHT,
    LEFT,
    MARGIN,
    NARROW,
    NARROW_GAP,
    SMALL,
    STREAM,
    TALL,
    Box,
    Frame,
    Span,
    room,
    text_width,
)
from builder.numbers.display import display_whole
from model.parts import Group, Part

_SUM_WIDTH = 2 * STREAM
_GAP, _GROUP_GAP = 9.0, 18.0
_FRAME_TITLE = 17.0

_OFF, _IN, _BACK = "q0 -8 8 -8", "m-5 -3.5l5 3.5l-5 3.5", "m5 -3.5l-5 3.5l5 3.5"
_STREAM_IN = "m-6 -6l6 6l-6 6"


@dataclass
class Drawing:
    """The network as drawn so far.

    Attributes
    ----------
    right
        Where the boxes end.
    top, stream_top
        How high the drawing and the residual stream have grown.
    boxes, frames, spans
        What has a place, from the bottom up.
    """

    right: float
    top: float = -EDGE
    stream_top: float = 0.0
    boxes: list[Box] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)

    @property
    def width(self) -> float:
        """Width of the whole."""
        return self.right + MARGIN

    @property
    def count_width(self) -> float:
        """Room for the largest count of a box that fills a row."""
        counts = (box.part.n_params for box in self.boxes if box.part.head is None)
        return text_width(display_whole(max(counts)), SMALL)

    def grow(self, group: Group) -> None:
        """Draw a group on top of what is drawn."""
        n_before = len(self.boxes)
        {"embed": self._embed, "block": self._block, "output": self._output}[group.name](
            group.parts
        )
        bottom = max(box.bottom for box in self.boxes[n_before:])
        self.spans.append(Span(group, self.top, bottom))

    def _embed(self, parts: Sequence[Part]) -> None:
        """Two tables next to each other, and the sum in which the stream begins."""
        *tables, total = parts
        width = (self.right - LEFT - HEAD_GAP * (len(tables) - 1)) / len(tables)
        y = self.top - TALL
        drawn = [
            self._box(part, LEFT + i * (width + HEAD_GAP), y, width, TALL)
            for i, part in enumerate(tables)
        ]
        middle = y - _GAP - TALL / 2
        ends = f"V{middle + 8:g}q0 -8 -8 -8H{_SUM_WIDTH:g}{_BACK}"
        self._sum(total, middle, "".join(f"M{box.middle:g} {y:g}{ends}" for box in drawn))
        self.top = middle - TALL / 2

    def _block(self, parts: Sequence[Part]) -> None:
        """Attention, then the MLP: each branches off the stream and is added to it."""
        norm, *heads, attention_out, attention_sum, mlp_norm, mlp, mlp_sum = parts
        self.top -= _GROUP_GAP - _GAP
        results = self._heads(heads, self._branch(norm))
        self._added(self._above(attention_out, results, TALL), attention_sum)
        branch = self._branch(mlp_norm)
        self._added(self._above(mlp, [branch], TALL), mlp_sum)

    def _output(self, parts: Sequence[Part]) -> None:
        """The stream itself turns into the final LayerNorm."""
        norm, *others = parts
        middle = self.top - _GROUP_GAP - FLAT / 2
        stream = f"M{STREAM:g} {self.stream_top:g}V{middle + 8:g}{_OFF}H{LEFT - 2:g}{_STREAM_IN}"
        last = self._wide(norm, middle, stream=stream)
        for part in others:
            last = self._above(part, [last])

    def _branch(self, part: Part) -> Box:
        """Read the stream."""
        middle = self.top - _GAP - FLAT / 2
        wire = f"M{STREAM:g} {middle + 8:g}{_OFF}H{LEFT:g}{_IN}"
        return self._wide(part, middle, wire=wire)

    def _above(self, part: Part, sources: Iterable[Box], height: float = FLAT) -> Box:
        """Read the boxes below; `height` is that of the row."""
        middle = self.top - _GAP - height / 2
        wire = "".join(_up(box, middle + FLAT / 2) for box in sources)
        box = self._wide(part, middle, wire=wire)
        self.top = middle - height / 2
        return box

    def _added(self, box: Box, total: Part) -> None:
        """Add what a box makes to the stream."""
        middle = box.y + box.height / 2
        self._sum(total, middle, f"M{LEFT:g} {middle:g}H{_SUM_WIDTH:g}{_BACK}")

    def _heads(self, parts: Sequence[Part], source: Box) -> list[Box]:
        """Draw the heads next to each other; return what they put out."""
        heads = [list(own) for _, own in groupby(parts, key=lambda part: part.head)]
        width = (self.right - LEFT - HEAD_GAP * (len(heads) - 1)) / len(heads)
        bottom = self.top - _GAP
        results = [
            self._head(head, LEFT + i * (width + HEAD_GAP), bottom, width, source)
            for i, head in enumerate(heads)
        ]
        self.top = self.frames[-1].y
        return results

    def _head(
        self, parts: Sequence[Part], x: float, bottom: float, width: float, source: Box
    ) -> Box:
        """Q and K meet in A; A and V in H."""
        *projections, pattern, result = parts
        inner = width - 2 * FRAME
        own = (inner - 2 * NARROW_GAP) / 3
        y = bottom - FRAME - NARROW
        query, key, value = (
            self._box(part, at, y, own, NARROW, f"M{at + own / 2:g} {source.y:g}V{y + NARROW:g}")
            for i, part in enumerate(projections)
            for at in [x + FRAME + i * (own + NARROW_GAP)]
        )
        y -= _GAP + FLAT
        wire = _up(query, y + FLAT) + _up(key, y + FLAT)
        shares = self._box(pattern, query.x, y, 2 * own + NARROW_GAP, FLAT, wire)
        y -= _GAP + FLAT
        wire = _up(shares, y + FLAT) + _up(value, y + FLAT)
        top = y - _FRAME_TITLE
        self.frames.append(Frame(parts[0].head or 0, x, top, width, bottom - top))
        return self._box(result, query.x, y, inner, FLAT, wire)

    def _wide(self, part: Part, middle: float, wire: str = "", stream: str = "") -> Box:
        self.top = middle - FLAT / 2
        return self._box(part, LEFT, self.top, self.right - LEFT, FLAT, wire, stream)

    def _sum(self, part: Part, middle: float, wire: str) -> None:
        y = middle - TALL / 2
        is_first = self.stream_top == 0
        stream = "" if is_first else f"M{STREAM:g} {self.stream_top:g}V{y + TALL:g}"
        self._box(part, 0, y, _SUM_WIDTH, TALL, wire, stream)
        self.stream_top = y

    def _box(
        self,
        part: Part,
        x: float,
        y: float,
        width: float,
        height: float,
        wire: str = "",
        stream: str = "",
    ) -> Box:
        box = Box(part, x, y, width, height, wire, stream)
        self.boxes.append(box)
        return box


def draw(groups: Sequence[Group]) -> Drawing:
    """Draw the network."""
    drawing = Drawing(max(LEAST_RIGHT, LEFT + room([p for g in groups for p in g.parts])))
    for group in groups:
        drawing.grow(group)
    return drawing


def _up(source: Box, end: float) -> str:
    return f"M{source.middle:g} {source.y:g}V{end:g}"
