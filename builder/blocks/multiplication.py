"""left × right (× scale) = result, as options ask for it and verified: of `product` and `dot`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import numpy as np

from builder.blocks.directive import BlockError, Context, Directive, Options
from builder.blocks.operation import (
    MATRICES,
    Equation,
    look_up_matrices,
    sizes_fit,
    verify_product,
)

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
    equation = Equation("product", left, right, result, scale, factor)
    try:
        verify_product(equation)
    except BlockError as error:
        is_plain = not (options["transpose_left"] or options["transpose_right"] or scale)
        remedy = _remedy(equation) if is_plain else ""
        raise BlockError(error.rule, error.message, remedy or error.hint) from error
    return equation


def _remedy(equation: Equation) -> str:
    """Name the options that would make a false product true, or at least its sizes fit."""
    fitting = ""
    for option, turned in _turned(equation):
        if not sizes_fit(turned):
            continue
        scale = _missing_scale(turned)
        needed = [f"`{option}: true`"] * bool(option) + [f"`scale: {scale}`"] * (scale != 1)
        with suppress(BlockError):
            verify_product(replace(turned, factor=float(scale)))
            return f"{' and '.join(needed)} would make it true"
        fitting = fitting or (f"`{option}: true` would fit" if option else "")
    return "" if sizes_fit(equation) else fitting


def _turned(equation: Equation) -> Iterator[tuple[str, Equation]]:
    """The equation as it is and with either operand transposed, each with the option for it."""
    yield "", equation
    yield "transpose_right", replace(equation, right=equation.right.transposed)
    yield "transpose_left", replace(equation, left=equation.left.transposed)


def _missing_scale(equation: Equation) -> Fraction:
    """The factor that the largest cell asks for; 1 where there is none to tell."""
    computed = equation.left.values @ equation.right.values
    result = equation.result.values
    sizes = np.where(np.isfinite(computed) & np.isfinite(result), abs(computed), 0)
    at = np.unravel_index(np.argmax(sizes), sizes.shape)
    if sizes[at] == 0:
        return Fraction(1)
    return Fraction(float(result[at] / computed[at])).limit_denominator(_LARGEST_DENOMINATOR)


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
