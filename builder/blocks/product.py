"""`::: product`: matrix × matrix = matrix, checked."""

from __future__ import annotations

from builder.blocks.directive import Argument, Body, Context, Directive, Options
from builder.blocks.multiplication import PRODUCT, look_up_product
from builder.blocks.operation import equation_figure

NAME = "product"
ARGUMENT = Argument.NONE
BODY = Body.OPTIONS
OPTIONS: Options = {**PRODUCT, "rows": list}


def render(directive: Directive, context: Context) -> str:
    """Return the figure of left × right (× scale) = result."""
    return equation_figure(look_up_product(directive, context), directive, context)
