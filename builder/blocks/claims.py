"""`::: claims`: every claim, what it says, and the numbers it rests on."""

from __future__ import annotations

import re
from html import escape

from builder.blocks.directive import Argument, Body, Context, Directive, Options
from builder.blocks.value import usual_format
from builder.claims.result import ClaimResult
from builder.numbers.display import display_exact

NAME = "claims"
ARGUMENT = Argument.NONE
BODY = Body.OPTIONS
OPTIONS: Options = {}


def render(directive: Directive, context: Context) -> str:
    """Return a list; each item has the id that the ticks of the chapters lead to."""
    items = "".join(
        _item(claim, directive.line, context) for claim in context.numbers.claims.values()
    )
    return f'<dl class="claim-list">{items}</dl>\n'


def _item(claim: ClaimResult, line: int, context: Context) -> str:
    name = escape(claim.id)
    marked = {number: f"\0{number}\0" for number in claim.numbers}
    text = escape(context.words(f"claim.{claim.id}", **marked))
    statement = re.sub("\0(.*?)\0", lambda found: _stated(claim, found[1]), text)
    item_id = context.ids.reserve(f"claim-{name}", line)
    return (
        f'<div class="claim-item" id="{item_id}"><dt>{statement} '
        f"<code>{name}</code></dt><dd>{_evidence(claim)}</dd></div>"
    )


def _stated(claim: ClaimResult, name: str) -> str:
    """A number of a statement; for another seed a script writes it anew."""
    number = claim.numbers[name]
    return f"<span{_data(claim, name, usual_format(number))}>{number}</span>"


def _evidence(claim: ClaimResult) -> str:
    return " ".join(
        f"<span><code>{escape(name)}</code> "
        f"<b{_data(claim, name, 'exact')}>{display_exact(number)}</b></span>"
        for name, number in claim.numbers.items()
    )


def _data(claim: ClaimResult, name: str, kind: str) -> str:
    address = escape(f"claims.{claim.id}.{name}")
    return f' data-address="{address}" data-format="{kind}" data-value="{claim.numbers[name]!r}"'
