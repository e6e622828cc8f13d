"""`::: claims`: every claim, what it says, and the numbers it rests on."""

from __future__ import annotations

from html import escape

from builder.blocks.directive import Argument, Body, Context, Directive, Options
from builder.blocks.seeds import seeds_of
from builder.blocks.value import usual_format
from builder.claims.result import ClaimResult
from builder.numbers.display import display_exact

NAME = "claims"
ARGUMENT = Argument.NONE
BODY = Body.OPTIONS
OPTIONS: Options = {}


def render(directive: Directive, context: Context) -> str:
    """Return a list; each item has the id that the ticks of the chapters lead to.

    The column on the right is of how many seeds each holds.
    """
    items = "".join(
        _item(claim, directive.line, context) for claim in context.numbers.claims.values()
    )
    return f'{_column(context)}<dl class="claim-list">{items}</dl>\n'


def _column(context: Context) -> str:
    """What the column on the right is about."""
    found = (seeds_of(claim, context) for claim in context.numbers.claims)
    total = next((seeds.total for seeds in found if seeds), None)
    if total is None:
        return ""
    words = escape(context.words("figure.claim_column", total=total))
    return f'<p class="claim-column" aria-hidden="true">{words}</p>'


def _item(claim: ClaimResult, line: int, context: Context) -> str:
    name = escape(claim.id)
    stated = {number: _stated(claim, number) for number in claim.numbers}
    statement = context.html(f"claim.{claim.id}", **stated)
    item_id = context.ids.reserve(f"claim-{name}", line)
    return (
        f'<div class="claim-item" id="{item_id}"><dt>{statement} '
        f"<code>{name}</code></dt>{_seeds(claim, context)}<dd>{_evidence(claim)}</dd></div>"
    )


def _seeds(claim: ClaimResult, context: Context) -> str:
    seeds = seeds_of(claim.id, context)
    if seeds is None:
        return ""
    return (
        f'<dd class="claim-seeds"><span aria-hidden="true">{seeds.count}/{seeds.total}</span>'
        f'<span class="visually-hidden">{escape(seeds.words)}</span></dd>'
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
