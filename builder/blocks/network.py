"""`::: network`: the whole network drawn bottom-up, every part with its shape and its count."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from builder.blocks.diagram import svg
from builder.blocks.directive import Argument, Body, Context, Directive, Options
from builder.blocks.part import address, full_name, group_name, subscripts, target
from builder.blocks.rows import head_row, row
from builder.drawing.network import draw
from builder.errors import Location
from builder.links import Link
from builder.numbers.display import display_whole
from model.parts import Group, Part, groups
from model.tensors import Vocabulary

NAME = "network"
ARGUMENT = Argument.NONE
BODY = Body.MARKDOWN
OPTIONS: Options = {}


def render(directive: Directive, context: Context) -> str:
    """Return the drawing, the author's words beside it, and all of it once more as a table."""
    network_id = context.ids.take(NAME, directive.line)
    parts = groups(Vocabulary(context.numbers.config))
    drawing = draw(parts)
    place = Location(context.chapter.path, directive.line)
    context.links.extend(Link(target(box.part, context), place) for box in drawing.boxes)
    legend, without = (context.html(f"network.{name}") for name in ("legend", "without_scripts"))
    return (
        f'<figure class="network" id="{network_id}">'
        f'<div class="network-drawing" style="--width:{drawing.width:g}">'
        f"{svg(drawing, directive.line, context)}</div>"
        f"<figcaption>{directive.body}"
        f'<p class="network-legend">{legend}</p>'
        f'<noscript><p class="network-legend">{without}</p></noscript>'
        f"</figcaption>{_details(parts, context)}</figure>\n"
    )


def _details(parts: Sequence[Group], context: Context) -> str:
    head = head_row(
        context.html(f"network.column_{name}") for name in ("part", "tensors", "parameters")
    )
    total = display_whole(sum(group.n_params for group in parts))
    bodies = "".join(_body(group, context) for group in parts)
    return (
        f"<details><summary>{context.html('network.table')}</summary>"
        f'<table class="network-table">{head}{bodies}'
        f'<tfoot><tr><th scope="row" colspan="2">{context.html("network.total")}</th>'
        f"<td>{total}</td></tr></tfoot></table></details>"
    )


def _body(group: Group, context: Context) -> str:
    rows = "".join(
        row(subscripts(full_name(part, context)), [_tensors(part), display_whole(part.n_params)])
        for part in group.parts
    )
    return (
        f'<tbody><tr class="subtotal"><th scope="rowgroup" colspan="2">'
        f"{escape(group_name(group, context))}</th><td>{display_whole(group.n_params)}</td></tr>"
        f"{rows}</tbody>"
    )


def _tensors(part: Part) -> str:
    """The weights with their shapes, then what is made."""
    shared = "" if part.head is None else f"[{part.head}]"
    weights = (
        f"<div>{_tensor(spec.key + shared, shape)}</div>"
        for spec, shape in zip(part.weights, part.weight_shapes, strict=True)
    )
    return f"{''.join(weights)}<div>→ {_tensor(address(part), part.made_shape)}</div>"


def _tensor(name: str, shape: Sequence[int | str]) -> str:
    return f"<code>{name}</code> <span>{'×'.join(map(str, shape))}</span>"
