"""Tables in which a calculation is written out, a line for each source: of `dot` and its like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import chain

from builder.blocks.directive import BlockError, Context, Directive
from builder.blocks.figure import require_gradient, whereabouts
from builder.blocks.follow import following
from builder.blocks.table import axis_word, indices
from builder.numbers.address import Axis
from builder.numbers.display import MAX_DECIMALS, adds_up, display
from builder.numbers.matrix import TOKEN_AXES, Matrix

FEWEST_DECIMALS = 2
"""With fewer, nearly anything adds up."""


def worked_figure(
    kind: str,
    directive: Directive,
    context: Context,
    table: str,
    matrices: Mapping[str, Matrix],
    **data: object,
) -> str:
    """Return the `<figure>` around a table, with all that scripts need to follow the page.

    Parameters
    ----------
    kind
        Name of the block; also its class.
    table
        The inside of the `<table>`.
    matrices
        What it is made of, by option; the last is the result.
    data
        Further `data-` attributes.
    """
    *_, result = matrices.values()
    require_gradient(directive.options["target"], *matrices.values())
    wanted = directive.options["follow"] or ()
    attributes = {
        **{name: matrix.address for name, matrix in matrices.items()},
        "head-of": next(filter(None, (matrix.found_by for matrix in matrices.values())), ""),
        **data,
        "stage": result.stage,
        "problem": result.problem,
        "target": result.target.position if result.target else "",
        "follows": " ".join(following(directive.options, wanted, *matrices.values(), n_rows=1)),
    }
    written = "".join(f' data-{n}="{escape(str(v))}"' for n, v in attributes.items() if v != "")
    figure_id = context.ids.figure(directive.options["id"], directive.line)
    return (
        f'<figure class="worked {kind}" id="{figure_id}" data-kind="{kind}"{written}>'
        f'<p class="worked-where">{escape(whereabouts(result, context))}</p>'
        f'<div class="worked-scroll"><table class="worked-table">{table}</table></div>'
        f"{directive.figcaption}</figure>\n"
    )


def source_head(axis: Axis, context: Context) -> str:
    """Return what heads the lines: they are sources, or places on an axis that says what it is."""
    is_source = axis.name in TOKEN_AXES
    word = context.words("figure.dot_source") if is_source else axis_word(axis, context)
    return escape(word)


def number(value: float, decimals: int, of: str = "", d: int | None = None) -> str:
    """Return the cell of a number.

    Parameters
    ----------
    of
        The option whose matrix has the number, or of what is made of that and others a cell of
        which it is a part: scripts open that one.
    d
        Its column, where a line has several columns of a matrix.
    """
    opens = (f' data-of="{of}"' if of else "") + ("" if d is None else f' data-d="{d}"')
    return f'<td{opens} data-value="{value!r}">{display(value, decimals)}</td>'


def decimals_that_add_up(
    terms: Sequence[float], total: float, wanted: int, *others: tuple[Sequence[float], float]
) -> int:
    """Return how many decimals make the shown terms add up to the shown total.

    They are as many as wanted, or else the fewest beyond, or else the most below. The `others` are
    terms and totals that have to add up with the same decimals.

    Raises
    ------
    BlockError
        If they never do.
    """
    more, fewer = range(wanted, MAX_DECIMALS + 1), range(wanted - 1, FEWEST_DECIMALS - 1, -1)
    for decimals in chain(more, fewer):
        if all(adds_up(*parts, decimals) for parts in ((terms, total), *others)):
            return decimals
    message = f"rounded to {FEWEST_DECIMALS} decimals or more, the terms never add up exactly"
    raise BlockError("does-not-add-up", message, "choose another cell", "decimals")


def place(directive: Directive, option: str, axis: Axis) -> int:
    """Return the place on an axis that a required option names."""
    return indices(axis, {option: [directive.required(option)]}, option)[0]
