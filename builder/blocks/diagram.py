"""The drawing of the network as an inline SVG; every box is a link."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from builder.blocks.directive import Context
from builder.blocks.part import address, group_name, head_name, sign, spoken, target, word
from builder.drawing.boxes import (
    EDGE,
    FLAT,
    LARGE,
    LEFT,
    MARGIN,
    MEDIUM,
    NARROW,
    PAD,
    SMALL,
    Box,
    Frame,
    Span,
    text_width,
)
from builder.drawing.network import Drawing
from builder.numbers.display import display_whole

_FOOT, _STROKE = 28.0, 1.0


@dataclass(frozen=True, slots=True)
class Text:
    """A word of the drawing; `anchor` says which end of it stands at x."""

    kind: str
    x: float
    y: float
    content: str
    anchor: str = ""

    def __str__(self) -> str:
        anchor = f' text-anchor="{self.anchor}"' if self.anchor else ""
        return (
            f'<text class="{self.kind}" x="{self.x:g}" y="{self.y:g}"{anchor}>{self.content}</text>'
        )


def svg(drawing: Drawing, line: int, context: Context) -> str:
    """Return the `<svg>`; what can be reached by keyboard comes in the order of computation."""
    top, width = drawing.top - EDGE, drawing.width + _STROKE
    height = _FOOT - top
    parts = [
        *(_frame(frame, context) for frame in drawing.frames),
        *(str(text) for text in _words_around(drawing, context)),
        *(_box(box, drawing, line, context) for box in drawing.boxes),
        *(_span(span, drawing, context) for span in drawing.spans),
        _total(drawing, context),
    ]
    label = context.html("network.label")
    return (
        f'<svg viewBox="{-_STROKE:g} {top:g} {width:g} {height:g}" width="{width:g}"'
        f' height="{height:g}" role="group" aria-label="{label}">{"".join(parts)}</svg>'
    )


def _box(box: Box, drawing: Drawing, line: int, context: Context) -> str:
    part = box.part
    box_id = context.ids.reserve(f"network-{address(part)}", line)
    kind = "sum" if part.is_sum else "learned" if part.weights else "computed"
    data = {
        "key": part.makes.key,
        "head": "" if part.head is None else str(part.head),
        "weights": " ".join(spec.key for spec in part.weights),
        "parameters": str(part.n_params),
    }
    attributes = "".join(f' data-{name}="{text}"' for name, text in data.items() if text)
    paths = (("stream", box.stream), ("wire", box.wire))
    lines = "".join(f'<path class="{name}" d="{path}"/>' for name, path in paths if path)
    texts = "".join(map(str, _texts(box, drawing, context)))
    return (
        f'<a id="{box_id}" class="{kind}" href="{escape(target(part, context))}"{attributes}>'
        f"<title>{escape(spoken(part, context))}</title>{lines}"
        f'<rect x="{box.x:g}" y="{box.y:g}" width="{box.width:g}" height="{box.height:g}"'
        f' rx="{10 if part.is_sum else 3}"/>{texts}</a>'
    )


def _texts(box: Box, drawing: Drawing, context: Context) -> Iterator[Text]:
    """Name, shape and count: on one line, on two, or below each other."""
    part, count = box.part, display_whole(box.part.n_params)
    if box.height == FLAT:
        yield from _on_one_line(box, count, drawing, context)
    elif box.height == NARROW:
        yield Text("name", box.middle, box.y + 15, _letter(sign(part)), "middle")
        yield Text("shape", box.middle, box.y + 28, part.shape, "middle")
        yield Text("count", box.middle, box.y + 41, count, "middle")
    else:
        yield from _on_two_lines(box, count, word(part, context))


def _on_two_lines(box: Box, count: str, name: str) -> Iterator[Text]:
    """The name in words comes before the letter where it has room, else the letter alone."""
    part, pad = box.part, 0.75 * PAD
    start, end, first, second = box.x + pad, box.x + box.width - pad, box.y + 15, box.y + 28
    widths = text_width(name, MEDIUM) + PAD + text_width(count, SMALL)
    if has_room := start + widths <= end:
        yield Text("name", end, second, _letter(part.letter), "end")
    yield Text("name", start, first, escape(name) if has_room else _letter(sign(part)))
    yield Text("count", end, first, count, "end")
    yield Text("shape", start, second, part.shape)


def _on_one_line(box: Box, count: str, drawing: Drawing, context: Context) -> Iterator[Text]:
    """The name in words is left out where a letter will do and the room is short."""
    part, y, is_row = box.part, box.y + 17.5, box.part.head is None
    pad = PAD if is_row else 0.75 * PAD
    start, end = box.x + pad, box.x + box.width - pad
    shape_end = end - pad - (drawing.count_width if is_row else text_width(count, SMALL))
    letter, name = sign(part), word(part, context)
    words = text_width(letter, LARGE) + text_width(name, MEDIUM) + 2 * pad
    has_room = start + words <= shape_end - text_width(part.shape, SMALL)
    yield Text("name", start, y, _name(letter, name if has_room or not letter else ""))
    yield Text("shape", shape_end, y, part.shape, "end")
    yield Text("count", end, y, count, "end")


def _name(letter: str, name: str) -> str:
    if not letter or not name:
        return _letter(letter) + escape(name)
    back = ' dy="-3"' if "_" in letter else ""
    return f'{_letter(letter)}<tspan dx="5"{back}>{escape(name)}</tspan>'


def _letter(letter: str) -> str:
    """Return a letter with its index, smaller if it is a whole word; empty for none."""
    first, _, index = letter.partition("_")
    low = f'<tspan class="index" dy="3">{escape(index)}</tspan>' if index else ""
    kind = "letter" if len(first) == 1 else "letters"
    return f'<tspan class="{kind}">{escape(first)}</tspan>{low}' if letter else ""


def _frame(frame: Frame, context: Context) -> str:
    title = Text("aside", frame.x + 6, frame.y + 12.5, escape(head_name(frame.head, context)))
    return (
        f'<rect class="frame" x="{frame.x:g}" y="{frame.y:g}" width="{frame.width:g}"'
        f' height="{frame.height:g}" rx="5"/>{title}'
    )


def _words_around(drawing: Drawing, context: Context) -> Iterator[Text]:
    """What goes in below, what comes out above, and the name of the stream."""
    token, position, total = drawing.boxes[:3]
    for box, name in ((token, "token"), (position, "position")):
        words = context.html(f"network.{name}")
        yield Text("aside", box.middle, -4, words, "middle")
    top = drawing.boxes[-1]
    yield Text("aside", top.middle, top.y - 6, context.html("network.next"), "middle")
    words = context.html("network.stream")
    yield Text("stream-name", LEFT, total.y + 11, words)


def _span(span: Span, drawing: Drawing, context: Context) -> str:
    x, middle = drawing.right + 5, (span.top + span.bottom) / 2
    name = Text("aside", x + 8, middle - 3, escape(group_name(span.group, context)))
    count = Text("subtotal", x + 8, middle + 12, display_whole(span.group.n_params))
    return f'<path class="bracket" d="M{x:g} {span.top:g}h3V{span.bottom:g}h-3"/>{name}{count}'


def _total(drawing: Drawing, context: Context) -> str:
    x, count = drawing.right + 13, sum(span.group.n_params for span in drawing.spans)
    name = Text("aside", x, 8, context.html("network.total"))
    total = Text("total", x, 23, display_whole(count))
    return f'<path class="rule" d="M{x - 4:g} -7H{drawing.right + MARGIN:g}"/>{name}{total}'
