"""The legend of a matrix: which colour stands for which number."""

from __future__ import annotations

from builder.numbers.display import MINUS, display_exact
from builder.numbers.matrix import Matrix
from model.tensors import Range


def legend(matrix: Matrix) -> str:
    """Return the ends of the colour scale with the colours between them: −2, 0, +2, or 0 and 1.

    It explains the colours to those who see them; who hears the page hears the numbers.
    """
    limit = display_exact(matrix.domain)
    if matrix.range is Range.SIGNED:
        scale = f"{MINUS}{limit}{_ramp('minus')}0{_ramp('plus')}+{limit}"
    else:
        scale = f"0{_ramp('plus')}{limit}"
    return f'<p class="matrix-legend" aria-hidden="true">{scale}</p>'


def _ramp(name: str) -> str:
    return f'<span class="ramp-{name}"></span>'
