"""TeX to MathML Core."""

from __future__ import annotations

import functools
import re

from math_core import LatexError, LatexToMathML

LONGEST, DEEPEST = 5000, 100
"""Characters and levels of braces in one formula."""


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
    _refuse_excess(tex)
    try:
        return _converter().convert_with_local_state(tex, displaystyle=display)
    except LatexError as error:
        offset, _, message = str(error).partition(": ")
        raise TexError(int(offset) if offset.isdigit() else 0, message or offset) from error


def _refuse_excess(tex: str) -> None:
    """Stop before math-core, whose stack overflows, ends the process."""
    if len(tex) > LONGEST:
        raise TexError(LONGEST, f"the formula has more than {LONGEST} characters")
    depth = 0
    for brace in re.finditer(r"(?<!\\)[{}]", tex):
        depth += 1 if brace[0] == "{" else -1
        if depth > DEEPEST:
            raise TexError(brace.start(), f"braces are nested deeper than {DEEPEST} levels")


@functools.cache
def _converter() -> LatexToMathML:
    return LatexToMathML(fancy_error=False)
