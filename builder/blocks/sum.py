"""`::: sum`: matrix + matrix = matrix, checked."""

from __future__ import annotations

import numpy as np

from builder.blocks.directive import NUMBERS, Argument, Body, Context, Directive, Options
from builder.blocks.figure import look_up
from builder.blocks.operation import Equation, equation_figure, shape_error, verify

NAME = "sum"
ARGUMENT = Argument.NONE
BODY = Body.OPTIONS
OPTIONS: Options = {**NUMBERS, "left": str, "right": str, "result": str, "rows": list}


def render(directive: Directive, context: Context) -> str:
    """Return the figure of left + right = result."""
    left, right, result = (look_up(directive, context, o) for o in ("left", "right", "result"))
    equation = Equation("sum", "+", left, right, result)
    if not left.values.shape == right.values.shape == result.values.shape:
        raise shape_error(equation)
    computed = left.values + right.values
    verify(equation, computed, np.abs(left.values) + np.abs(right.values))
    return equation_figure(equation, directive, context)
