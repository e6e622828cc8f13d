"""`::: equation ID`: a displayed formula in TeX, numbered if it has an id."""

from __future__ import annotations

from builder.blocks.directive import Argument, BlockError, Body, Context, Directive, Options
from builder.tex import TexError, mathml

NAME = "equation"
ARGUMENT = Argument.OPTIONAL
BODY = Body.TEXT
OPTIONS: Options = {}


def render(directive: Directive, context: Context) -> str:
    """Return the formula and, if it has an id, its number in page order."""
    try:
        formula = mathml(directive.body, display=True)
    except TexError as error:
        before = directive.body[: error.offset]
        line = directive.line + 1 + before.count("\n")
        column = error.offset - (before.rfind("\n") + 1) + 1
        raise BlockError("tex", error.message, error.hint, place=(line, column)) from error
    if not directive.argument:
        return f'<div class="equation">{formula}</div>\n'
    equation_id = context.ids.take(directive.argument, directive.line)
    context.ids.n_equations += 1
    number = f'<span class="equation-number">({context.ids.n_equations})</span>'
    return f'<div class="equation" id="{equation_id}">{formula}{number}</div>\n'
