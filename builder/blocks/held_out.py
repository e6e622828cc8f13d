"""`::: held_out`: trained on ninety problems, asked the other ten, over many splits."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from builder.blocks.directive import FIGURE, Argument, Body, Context, Directive
from builder.blocks.evidence import details, table_of
from builder.blocks.rows import row
from builder.numbers.display import problem_label

NAME = "held_out"
ARGUMENT = Argument.NONE
BODY = Body.OPTIONS
OPTIONS = FIGURE

KINDS = {
    "zero right": "zero_right",
    "other right": "right",
    "zero wrong": "zero_wrong",
    "other wrong": "wrong",
}
"""How marks are drawn -> what they are called."""

MARKS = {True: "✓", False: "✗"}


def render(directive: Directive, context: Context) -> str:
    """Return a column for each split, a mark for each problem; those with a 0 are squares."""
    table = table_of("held-out", context)
    figure_id = context.ids.figure(directive.options["id"], directive.line)
    splits = table["of_split"]
    right = ", ".join(str(split["right"]) for split in splits)
    spoken = escape(context.words("held_out.spoken", splits=len(splits), right=right))
    columns = "".join(map(_column, splits))
    legend = "".join(
        f'<span><i class="{kind}"></i> {context.html(f"held_out.{name}")}</span>'
        for kind, name in KINDS.items()
    )
    return (
        f'<figure class="evidence held-out" id="{figure_id}">'
        f'<div class="held-out-splits" role="img" aria-label="{spoken}">{columns}</div>'
        f'<p class="held-out-legend" aria-hidden="true">{legend}</p>'
        f"{directive.figcaption}{_by_split(splits, context)}</figure>\n"
    )


def _column(split: Mapping[str, Any]) -> str:
    marks = "".join(
        f'<i class="{_kind(name, right)}" title="{problem_label(name)} {MARKS[right]}"></i>'
        for name, right in sorted(split["problems"].items(), key=_order)
    )
    return f'<div><span class="held-out-marks">{marks}</span>{split["right"]}</div>'


def _kind(name: str, right: bool) -> str:
    return f"{'zero' if '0' in name else 'other'} {'right' if right else 'wrong'}"


def _order(item: tuple[str, bool]) -> tuple[bool, bool, str]:
    """From below: what is right first, of it what has a 0."""
    name, right = item
    return right, right == ("0" in name), name


def _by_split(splits: list[Mapping[str, Any]], context: Context) -> str:
    heads = [context.html(f"held_out.{name}") for name in ("split", "known", "asked")]
    rows = [
        row(
            str(split["split"]),
            [
                str(split["trained_right"]),
                " ".join(_problem(*p) for p in split["problems"].items()),
            ],
        )
        for split in splits
    ]
    return details(context.words("held_out.by_split"), heads, rows)


def _problem(name: str, right: bool) -> str:
    return f'<span data-right="{str(right).lower()}">{problem_label(name)} {MARKS[right]}</span>'
