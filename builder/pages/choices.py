"""How readers choose a problem: from one list, or part by part."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

BETWEEN = "x"
"""Stands between the parts of a problem's name, such as the operands of `7x8`."""


def choices(names: Sequence[str]) -> list[list[str]]:
    """Return the lists to choose from.

    Where the names are all combinations of some parts, in their order, that is a list for each
    part; else it is the names themselves.
    """
    parts = [name.split(BETWEEN) for name in names]
    if len({len(of) for of in parts}) == 1:
        listed = [list(dict.fromkeys(column)) for column in zip(*parts, strict=True)]
        if [BETWEEN.join(of) for of in itertools.product(*listed)] == list(names):
            return listed
    return [list(names)]
