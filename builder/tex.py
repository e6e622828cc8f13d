"""TeX to MathML Core."""

from __future__ import annotations

import functools

from math_core import LatexError, LatexToMathML


class TexError(ValueError):
    """TeX that cannot be read. `offset` counts characters from the start of the formula."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset = offset
        self.message = message


def mathml(tex: str, *, display: bool) -> str:
    """Return a `<math>` element.

    Parameters
    ----------
    tex
        The formula without its dollars.
    display
        Whether it stands on a line of its own.

    Raises
    ------
    TexError
        If the formula is empty, or not TeX that math-core knows.
    """
    if not tex.strip():
        raise TexError(0, "the formula is empty")
    try:
        return _converter().convert_with_local_state(tex, displaystyle=display)
    except LatexError as error:
        offset, _, message = str(error).partition(": ")
        raise TexError(int(offset) if offset.isdigit() else 0, message or offset) from error


@functools.cache
def _converter() -> LatexToMathML:
    return LatexToMathML(fancy_error=False)
