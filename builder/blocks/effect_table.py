"""`::: effect_table heads`, `=` or `first`: all interventions of a kind, in a hundred problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from builder.blocks.directive import FIGURE, Argument, BlockError, Body, Context, Directive
from builder.blocks.evidence import number, table_of
from builder.blocks.part import BETWEEN, head_name, layer_name
from builder.blocks.rows import head_row, row
from builder.errors import did_you_mean
from builder.numbers.effects import (
    OF_HEAD,
    OF_LAYER,
    RECEIVERS,
    address_of,
    figures_at,
    sources_of,
)
from model import task
from model.tensors import in_prose

NAME = "effect_table"
ARGUMENT = Argument.REQUIRED
BODY = Body.OPTIONS
OPTIONS = FIGURE

KINDS: Mapping[str, Sequence[str]] = {
    "heads": OF_HEAD,
    **{name: list(sources_of(row)) for name, row in RECEIVERS.items()},
}
"""What the table is about -> a column for each."""

CAPTIONS = {"heads": "heads", task.EQUALS: "equals", "first": "first"}


def render(directive: Directive, context: Context) -> str:
    """Return a table, a head a line: what is right without it, P, and the share beside it."""
    kind = directive.argument
    if kind not in KINDS:
        hint = did_you_mean(kind, KINDS)
        raise BlockError("unknown-effects", f"there are no effects of `{kind}`", hint)
    table_of("interventions", context)
    changes, config = KINDS[kind], context.numbers.config
    lines = []
    for layer in range(config.n_layers):
        for head in range(config.n_heads):
            name = BETWEEN.join([layer_name(layer, context), head_name(head, context)])
            lines.append(_line(name, layer, head, changes, directive, context))
        if kind == "heads":
            lines.append(_whole_layer(layer, directive, context))
    figure_id = context.ids.figure(directive.options["id"], directive.line)
    heads = [context.html("effects.head")]
    heads += [context.html(f"effects.column_{change}") for change in changes]
    caption = context.html(f"effects.table_{CAPTIONS[kind]}")
    return (
        f'<figure class="evidence effect-table" id="{figure_id}"><table class="evidence-table">'
        f"<caption>{caption}</caption>{head_row(heads)}<tbody>{''.join(lines)}</tbody></table>"
        f"{directive.figcaption}</figure>\n"
    )


def _line(
    name: str, layer: int, head: int, changes: Sequence[str], directive: Directive, context: Context
) -> str:
    cells = [_cell(address_of(layer, head, change), directive, context) for change in changes]
    if changes is OF_HEAD:  # the share that suggests something is the same whatever is done
        share = _share(address_of(layer, head, changes[0]), directive, context)
        name = f"{escape(name)} {share}"
    else:
        cells = [
            f"{cell} {_share(address_of(layer, head, change), directive, context)}"
            for cell, change in zip(cells, changes, strict=True)
        ]
        name = escape(name)
    return row(name, cells)


def _whole_layer(layer: int, directive: Directive, context: Context) -> str:
    cell = _cell(address_of(layer, 0, OF_LAYER), directive, context)
    name = escape(context.words("effects.without_layer", layer=in_prose(layer)))
    return row(name, [cell, *[""] * (len(OF_HEAD) - 1)])


def _cell(address: str, directive: Directive, context: Context) -> str:
    """How many answers stay right, and the mean of P."""
    correct = number(f"{address}.correct", directive, context, **_counted(address, context))
    left = number(f"{address}.probability", directive, context, decimals="2")
    return f"<b>{correct}</b> <small>P {left}</small>"


def _share(address: str, directive: Directive, context: Context) -> str:
    share = number(f"{address}.share", directive, context, format="percent")
    return f"<small>A {share}</small>"


def _counted(address: str, context: Context) -> dict[str, str]:
    """A mean over several cases is no count."""
    correct = figures_at(address, table_of("interventions", context))["correct"]
    return {"decimals": "1"} if isinstance(correct, float) else {}
