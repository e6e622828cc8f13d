"""left × right (× scale) = result, as options ask for it and verified: of `product` and `dot`."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import numpy as np

from builder.blocks.directive import BlockError, Context, Directive, Options
from builder.blocks.operation import MATRICES, Equation, look_up_matrices, verify_product

PRODUCT: Options = {
    **MATRICES,
    "transpose_left": bool,
    "transpose_right": bool,
    "scale": object,
}

_LARGEST_DENOMINATOR = 64


def look_up_product(directive: Directive, context: Context) -> Equation:
    """Return the equation that the options state.

    Raises
    ------
    BlockError
        If it is false, with the options that would make it true, if any would.
    """
    options = directive.options
    left, right, result = look_up_matrices(directive, context)
    if options["transpose_left"]:
        left = left.transposed
    if options["transpose_right"]:
        right = right.transposed
    scale, factor = _scale(options["scale"])
    equation = Equation("product", "×", left, right, result, scale, factor)
    would_fit = left.values.shape[1] == right.values.shape[1]
    try:
        verify_product(equation, "`transpose_right: true` would fit" if would_fit else "")
    except BlockError as error:
        is_plain = not (options["transpose_left"] or options["transpose_right"] or scale)
        remedy = _remedy(equation) if is_plain else ""
        raise BlockError(error.rule, error.message, remedy or error.hint) from error
    return equation


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
