"""The two tables of `::: plane`, one below each of its planes: how shares are made, and what of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from builder.blocks.directive import Context
from builder.blocks.rows import head_row
from builder.blocks.table import number_cell
from builder.blocks.toy import RECEIVER, TOKENS, Reading, Toy

DECIMALS = 3
"""Of a number that is computed, unless `_LOOKS` has others."""

_LOOKS = {"dot": (2, 16), "score": (3, 16), "share": (3, 1), "total": (3, 1)}
_CHOSEN, _COMPUTED = (1, 4), (DECIMALS, 4)
"""Decimals and domain of colours, by what a number is."""


def matched(toy: Toy, reading: Reading, context: Context) -> str:
    """Return the query, then for each source its key, product, score and share, and their sum."""
    own = context.words("script.plane_query", reader=TOKENS[RECEIVER])
    lines = [_line(own, [*_pair("q", toy.q[RECEIVER]), *[""] * 3], "plane-own")]
    for source in range(len(TOKENS)):
        numbers = (("dot", reading.dots), ("score", reading.scores), ("share", reading.shares))
        cells = [_cell(part, float(of_all[source])) for part, of_all in numbers]
        lines.append(_source(source, [*_pair("k", toy.k[source]), *cells]))
    lines.append(_sum([*[""] * 4, _cell("total", 1.0)], context))
    return _table("matching", ("q₀, k₀", "q₁, k₁", "q · k", "S", "A"), lines, context)


def mixed(toy: Toy, reading: Reading, context: Context) -> str:
    """Return for each source its share, its value and their product; the products add up to H."""
    lines = []
    for source in range(len(TOKENS)):
        share = _cell("share", float(reading.shares[source]))
        brought = _pair("brought", reading.brought[source].tolist())
        lines.append(_source(source, [share, *_pair("v", toy.v[source]), *brought]))
    output = _pair("output", reading.output)
    lines.append(_sum([_cell("total", 1.0), "", "", *output], context))
    return _table("mixing", ("A", "v₀", "v₁", "A × v₀", "A × v₁"), lines, context)


def _table(name: str, heads: Sequence[str], lines: Sequence[str], context: Context) -> str:
    caption, source = (context.html(f"plane.{text}") for text in (name, "source"))
    return (
        f'<div class="matrix-scroll"><table class="matrix-table"><caption class="visually-hidden">'
        f"{caption}</caption>{head_row([source, *heads])}"
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _source(source: int, cells: Sequence[str]) -> str:
    return _line(TOKENS[source], cells, more=f' data-source="{source}"')


def _sum(cells: Sequence[str], context: Context) -> str:
    return _line(context.words("plane.sum"), cells, "plane-sum")


def _line(head: str, cells: Sequence[str], name: str = "", more: str = "") -> str:
    """A row; an empty cell is one where there is no number."""
    kind = f' class="{name}"' if name else ""
    numbers = "".join(cell or "<td></td>" for cell in cells)
    return f'<tr{kind}{more}><th scope="row">{escape(head)}</th>{numbers}</tr>'


def _pair(part: str, pair: Sequence[float]) -> Iterator[str]:
    return (_cell(part, float(at), f' data-d="{d}"') for d, at in enumerate(pair))


def _cell(part: str, value: float, place: str = "") -> str:
    decimals, domain = _LOOKS.get(part) or (_CHOSEN if part in "qkv" else _COMPUTED)
    more = f' data-part="{part}"{place} data-decimals="{decimals}" data-domain="{domain}"'
    return number_cell(value, domain, decimals, more)
