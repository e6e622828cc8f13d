"""`::: product`: matrix × matrix = matrix, checked."""

from __future__ import annotations

from fractions import Fraction

from builder.blocks.directive import (
    NUMBERS,
    Argument,
    BlockError,
    Body,
    Context,
    Directive,
    Options,
)
from builder.blocks.figure import look_up
from builder.blocks.operation import Equation, equation_figure, verify_product

NAME = "product"
ARGUMENT = Argument.NONE
BODY = Body.OPTIONS
OPTIONS: Options = {
    **NUMBERS,
    "left": str,
    "right": str,
    "result": str,
    "transpose_right": bool,
    "scale": object,
    "rows": list,
}


def render(directive: Directive, context: Context) -> str:
    """Return the figure of left × right (× scale) = result."""
    left, right, result = (look_up(directive, context, o) for o in ("left", "right", "result"))
    if directive.options["transpose_right"]:
        right = right.transposed
    scale, factor = _scale(directive.options["scale"])
    equation = Equation("product", "×", left, right, result, scale, factor)
    would_fit = left.values.shape[1] == right.values.shape[1]
    verify_product(equation, "`transpose_right: true` would fit" if would_fit else "")
    return equation_figure(equation, directive, context)


def _scale(option: object) -> tuple[str, float]:
    """Return the factor as written and as a number; it may be a fraction such as 1/2."""
    if option is None:
        return "", 1.0
    text = str(option)
    try:
        return text, float(Fraction(text))
    except (ValueError, ZeroDivisionError, OverflowError) as error:
        message = f"`scale` = `{text}` is not a number"
        raise BlockError("bad-scale", message, "such as `1/2` or `0.5`", "scale") from error
