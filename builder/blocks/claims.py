"""`::: claims`: every claim, what it says, and the numbers it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from builder.blocks.directive import Argument, Body, Context, Directive, Options
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
    statement = escape(context.words(f"claim.{claim.id}", **claim.numbers))
    item_id = context.ids.reserve(f"claim-{name}", line)
    return (
        f'<div class="claim-item" id="{item_id}"><dt>{statement} '
        f"<code>{name}</code></dt><dd>{_evidence(claim.numbers)}</dd></div>"
    )


def _evidence(numbers: Mapping[str, Any]) -> str:
    return " ".join(
        f"<span><code>{escape(name)}</code> "
        f'<b data-value="{number!r}">{display_exact(number)}</b></span>'
        for name, number in numbers.items()
    )
