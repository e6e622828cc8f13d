"""What the blocks about tables of evidence have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from builder.blocks import value
from builder.blocks.directive import Context, Directive, Role
from builder.blocks.rows import head_row
from builder.numbers.address import Address
from builder.numbers.arrays import readable
from builder.numbers.documents import document_of
from builder.numbers.effects import Effect, effects


def table_of(name: str, context: Context) -> Mapping[str, Any]:
    """Return a table of evidence, or raise AddressError if the snapshot has none of that name."""
    address = Address.parse(f"evidence.{name}")
    numbers = context.numbers
    table: Mapping[str, Any] = document_of(numbers.snapshot, numbers.claims, address)[name]
    return table


def effects_of(context: Context) -> dict[str, Effect]:
    """Return what every intervention does, or raise AddressError if there is no table of them."""
    table_of("interventions", context)
    with readable():
        return effects(context.numbers.snapshot)


def number(address: str, directive: Directive, context: Context, **options: str) -> str:
    """Return a number of a table with its address, as in a sentence."""
    role = Role(f"evidence.{address}", options, directive.line)
    return value.render(role, context)


def details(summary: str, heads: Sequence[str], rows: Sequence[str]) -> str:
    """Return a table that opens: what a figure shows, in numbers."""
    return (
        f"<details><summary>{escape(summary)}</summary>"
        f'<div class="worked-scroll" tabindex="0" role="group" aria-label="{escape(summary)}">'
        f'<table class="evidence-table">{head_row(heads)}<tbody>{"".join(rows)}</tbody></table>'
        "</div></details>"
    )
