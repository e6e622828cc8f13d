"""`::: claims`: every claim, what it says, and the numbers it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from builder.blocks.directive import Argument, BlockError, Body, Context, Directive, Options
from builder.display import MINUS

NAME = "claims"
ARGUMENT = Argument.NONE
BODY = Body.OPTIONS
OPTIONS: Options = {}


def render(_directive: Directive, context: Context) -> str:
    """Return a list; each item has the id that the ticks of the chapters lead to."""
    items = "".join(
        f'<div class="claim-item" id="claim-{claim.id}"><dt>{_statement(claim.id, context)} '
        f"<code>{claim.id}</code></dt><dd>{_evidence(claim.numbers)}</dd></div>"
        for claim in context.claims.values()
    )
    return f'<dl class="claim-list">{items}</dl>\n'


def _statement(claim: str, context: Context) -> str:
    text = context.strings.get(f"claim.{claim}")
    if text is None:
        message = f"content/claims.yml does not say what the claim `{claim}` means"
        raise BlockError("missing-statement", message)
    return escape(text)


def _evidence(numbers: Mapping[str, Any]) -> str:
    shown = (f"<code>{escape(name)}</code> {_number(value)}" for name, value in numbers.items())
    return "<span>" + "</span> <span>".join(shown) + "</span>"


def _number(value: float) -> str:
    return f'<b data-value="{value!r}">{value:,}</b>'.replace(">-", f">{MINUS}")
