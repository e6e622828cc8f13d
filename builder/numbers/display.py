"""How a number looks: one formatter for tables, charts and prose."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal

from model.task import TIMES

MINUS = "\u2212"
MASKED = "–"
"""What a masked cell shows: there is no number, not even 0."""

MAX_DECIMALS = 12
_LARGEST_EXACT = 1e15
_SMALLEST_PLAIN = 1e-3
_SMALLEST_OF_PROSE = 1e-2
"""From here on a number of the prose is written without a power of ten."""

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def display(value: float | None, decimals: int = 2) -> str:
    """Format a number with a fixed count of decimals; None is a masked cell.

    Halves are rounded away from zero, as JavaScript's `toFixed` does and as readers expect:
    initial weights are multiples of 2⁻¹⁰, so that exact halves do occur. A result that rounds to
    zero has no sign.
    """
    if value is None:
        return MASKED
    return _signed(value, f"{_rounded(value, decimals):f}")


def display_whole(value: float) -> str:
    """Format as a whole number with separators of thousands, such as 3,136."""
    return _signed(value, f"{_rounded(value, 0):,f}")


def display_percent(value: float, decimals: int = 0) -> str:
    """Format a share as percent, such as 98% for 0.98."""
    return display(value * 100, decimals) + "%"


def display_scientific(value: float, decimals: int = 1) -> str:
    """Format with a power of ten, such as 1.3×10⁻¹³."""
    mantissa, exponent = f"{value:.{decimals}e}".split("e")
    return f"{_signed(value, mantissa)}×10{str(int(exponent)).translate(_SUPERSCRIPTS)}"


def display_power(value: float, decimals: int = 1) -> str:
    """Format for a sentence: with a power of ten, and from 0.01 on without, with as many digits."""
    if abs(value) >= _SMALLEST_OF_PROSE:
        return display(value, decimals + 1)
    return display_scientific(value, decimals)


def display_exact(value: float) -> str:
    """Format with all its digits, such as 0.4157122; below 0.001 with a power of ten, rounded."""
    if value == int(value):
        return display_whole(value)
    if abs(value) < _SMALLEST_PLAIN:
        return display_scientific(value)
    return _signed(value, f"{value:,}")


def adds_up(terms: Iterable[float], total: float, decimals: int) -> bool:
    """Whether terms and total, both as `display` shows them, agree exactly."""
    *shown, result = (
        _rounded(value, decimals).copy_sign(Decimal(value)) for value in (*terms, total)
    )
    return sum(shown) == result


def token_label(token: str) -> str:
    """Return a token as readers see it: `<end>` becomes ⟨end⟩."""
    return f"⟨{token[1:-1]}⟩" if token.startswith("<") else token


def problem_label(name: str) -> str:
    """Return a problem as readers see it: 7x8 becomes 7×8."""
    return name.replace("x", TIMES)


def _rounded(value: float, decimals: int) -> Decimal:
    """Absolute value, rounded on the exact binary value of the float."""
    size = abs(value)
    if size >= _LARGEST_EXACT:
        return Decimal(f"{size:.{decimals}f}")
    return Decimal(size).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)


def _signed(value: float, digits: str) -> str:
    is_zero = not digits.strip("0.,")
    return MINUS + digits.lstrip("-") if value < 0 and not is_zero else digits.lstrip("-")
