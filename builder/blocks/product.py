"""`::: product`: matrix × matrix = matrix, checked."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import numpy as np

from builder.blocks.directive import Argument, BlockError, Body, Context, Directive, Options
from builder.blocks.operation import (
    MATRICES,
    Equation,
    equation_figure,
    look_up_matrices,
    verify_product,
)

NAME = "product"
ARGUMENT = Argument.NONE
BODY = Body.OPTIONS
OPTIONS: Options = {**MATRICES, "transpose_right": bool, "scale": object, "rows": list}

_LARGEST_DENOMINATOR = 64


def render(directive: Directive, context: Context) -> str:
    """Return the figure of left × right (× scale) = result."""
    left, right, result = look_up_matrices(directive, context)
    if directive.options["transpose_right"]:
        right = right.transposed
    scale, factor = _scale(directive.options["scale"])
    equation = Equation("product", "×", left, right, result, scale, factor)
    would_fit = left.values.shape[1] == right.values.shape[1]
    try:
        verify_product(equation, "`transpose_right: true` would fit" if would_fit else "")
    except BlockError as error:
        remedy = "" if directive.options["transpose_right"] or scale else _remedy(equation)
        raise BlockError(error.rule, error.message, remedy or error.hint) from error
    return equation_figure(equation, directive, context)


def _remedy(equation: Equation) -> str:
    """Name the options that would make a false product true, if any would."""
    for right, option in ((equation.right, ""), (equation.right.transposed, "transpose_right")):
        if equation.left.values.shape[1] != right.values.shape[0]:
            continue
        computed, result = equation.left.values @ right.values, equation.result.values
        if computed.shape != result.shape or np.isnan(result).all():
            continue
        at = np.unravel_index(np.argmax(np.where(np.isnan(result), 0, abs(computed))), result.shape)
        scale = Fraction(float(result[at] / computed[at])).limit_denominator(_LARGEST_DENOMINATOR)
        options = [f"`{option}: true`"] * bool(option) + [f"`scale: {scale}`"] * (scale != 1)
        with suppress(BlockError):
            verify_product(replace(equation, right=right, factor=float(scale)))
            return f"{' and '.join(options)} would make it true"
    return ""


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
