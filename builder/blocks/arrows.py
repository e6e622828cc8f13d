"""The two planes of `::: plane` as inline SVG: what is matched, and what is mixed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from builder.blocks.toy import MOST, RECEIVER, TOKENS, Reading, Toy
from builder.numbers.display import display

UNIT = 36
"""Of the drawing, for each of the plane; `site_templates/js/widgets/plane.js` draws the same."""
TIPS = ("key", "query", "value", "output")
"""Heads of arrows, by what the arrows are."""

_EDGE = round(UNIT * (MOST + 0.5))
_ROW = 22
"""From a name to one below it, with room for those of a phone."""
_ORIGIN = (0.0, 0.0)

Point = Sequence[float]


def matching(toy: Toy, reading: Reading, label: str, figure_id: str) -> str:
    """Return the keys and the query; across the query runs the line on which scores are 0."""
    x, y = toy.q[RECEIVER]
    far = _EDGE / UNIT / max(abs(x), abs(y))
    handle = (
        f'<g class="plane-handle" aria-valuemin="{-MOST:g}" aria-valuemax="{MOST:g}"'
        f' transform="translate({x * UNIT:g} {-y * UNIT:g})">'
        '<circle class="plane-grip" r="22"/><circle r="9"/>'
        '<text y="4" text-anchor="middle">q</text></g>'
    )
    parts = [
        _line((-far * y, far * x), (far * y, -far * x), "plane-across"),
        *_arrows("key", toy.k, reading, figure_id),
        _line(_ORIGIN, (x, y), "plane-query", _tip("query", figure_id)),
        handle,
    ]
    return _plane(label, TIPS[:2], parts, figure_id)


def mixing(toy: Toy, reading: Reading, label: str, figure_id: str) -> str:
    """Return the values, what is brought of each, tip to tail, and the arrow to their sum."""
    parts = [
        *_arrows("value", toy.v, reading, figure_id),
        *(
            _line(begin, end, "plane-step")
            for begin, end in zip(reading.steps[:-1], reading.steps[1:], strict=True)
        ),
        f'<g class="plane-output">{_arrow("output", reading.output, "H", figure_id)}</g>',
    ]
    return _plane(label, TIPS[2:], parts, figure_id)


def _plane(label: str, tips: Sequence[str], parts: Sequence[str], figure_id: str) -> str:
    markers = "".join(
        f'<marker id="{figure_id}-tip-{tip}" class="plane-tip-{tip}" viewBox="0 0 8 8" refX="7"'
        ' refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto">'
        '<path d="M0 0L8 4L0 8z"/></marker>'
        for tip in tips
    )
    size = 2 * _EDGE
    return (
        f'<svg class="plane-drawing" viewBox="{-_EDGE} {-_EDGE} {size} {size}" role="group"'
        f' aria-label="{escape(label)}"><defs>{markers}</defs>'
        f"{''.join(_grid())}{''.join(parts)}</svg>"
    )


def _grid() -> Iterator[str]:
    """Lines at every whole number, and the numbers at every other."""
    most = round(MOST)
    end = most * UNIT
    path = "".join(f"M{at} {-end}V{end}M{-end} {at}H{end}" for at in range(-end, end + 1, UNIT))
    yield f'<path class="plane-grid" d="{path}"/>'
    yield f'<path class="plane-axes" d="M0 {-_EDGE}V{_EDGE}M{-_EDGE} 0H{_EDGE}"/>'
    for at in (at for at in range(-most, most + 1, 2) if at != 0):
        number = display(at, 0)
        yield f'<text class="plane-mark" x="{at * UNIT}" y="12">{number}</text>'
        yield f'<text class="plane-mark" x="-9" y="{-at * UNIT + 4}">{number}</text>'


def _arrows(kind: str, vectors: Sequence[Point], reading: Reading, figure_id: str) -> Iterator[str]:
    """An arrow for each token; its name stands below one that is there already."""
    for source, vector in enumerate(vectors):
        arrow = _arrow(kind, vector, TOKENS[source], figure_id, vectors[:source].count(vector))
        share = display(float(reading.shares[source]), 3)
        yield f'<g class="plane-{kind}" data-source="{source}" style="--a:{share}">{arrow}</g>'


def _arrow(kind: str, vector: Point, name: str, figure_id: str, n_above: int = 0) -> str:
    """An arrow with its name at the tip."""
    x, y = vector
    end, dx = ("end", -6) if x < 0 else ("start", 6)
    down = (12 if y < 0 else 4) + n_above * _ROW
    raised = ' dy="-15"' if kind == "output" else ""  # a value may end at the same place
    return (
        f'{_line(_ORIGIN, vector, "", _tip(kind, figure_id))}<text x="{_place(x, dx)}"'
        f' y="{_place(-y, down)}"{raised} text-anchor="{end}">{name}</text>'
    )


def _tip(kind: str, figure_id: str) -> str:
    return f' marker-end="url(#{figure_id}-tip-{kind})"'


def _line(begin: Point, end: Point, name: str, more: str = "") -> str:
    kind = f' class="{name}"' if name else ""
    (x1, y1), (x2, y2) = ((_place(x), _place(-y)) for x, y in (begin, end))
    return f'<line{kind} x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"{more}/>'


def _place(at: float, shift: float = 0) -> str:
    """A place of the drawing, to a hundredth."""
    return f"{round(at * UNIT + shift, 2) + 0:g}"
