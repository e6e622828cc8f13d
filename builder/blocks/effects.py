"""What interventions do, as it is listed: which there are, and their figures for every problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from builder.blocks.directive import Context
from builder.blocks.evidence import table_of
from builder.numbers.matrix import Array
from model import task
from model.tensors import in_prose

OF_HEAD = ("ablated", "uniform", "own_mean", "another_problem")
"""What is done to a head as a whole."""

OF_LAYER = "without_attention"
"""What is done to a layer as a whole."""

ROWS = (task.EQUALS_POSITION, task.EQUALS_POSITION + 1)
"""Rows whose sources are removed, one at a time."""

OF_SOURCE = {f"{row}_{source}": (row, source) for row in ROWS for source in range(row + 1)}
"""Name of a change -> the row, and the source that it may not read."""

CHANGES = (*OF_HEAD, *OF_SOURCE, OF_LAYER)


@dataclass(frozen=True, slots=True)
class Effect:
    """What one change does.

    Attributes
    ----------
    address
        Of its figures, in the table of interventions.
    correct
        Of a hundred problems, those whose whole answer is still right.
    before, after
        P of the right token in each problem.
    share
        What a reader would have guessed from, in each problem; None where there is nothing.
    """

    address: str
    correct: float
    before: Array
    after: Array
    share: Array | None

    @property
    def change(self) -> Array:
        """What becomes of P in each problem."""
        return self.after - self.before


def address_of(layer: int, head: int, change: str) -> str:
    """Return where the figures of a change are."""
    at = f"interventions.layer_{in_prose(layer)}"
    if change == OF_LAYER:
        return f"{at}.{change}"
    at = f"{at}.head_{in_prose(head)}"
    if change in OF_HEAD:
        return f"{at}.{change}"
    row, source = OF_SOURCE[change]
    return f"{at}.row_{row}.source_{source}"


def effects(context: Context) -> dict[str, Effect]:
    """Look every change up: LAYER.HEAD.CHANGE, which scripts use too -> what it does."""
    table, config = table_of("interventions", context), context.numbers.config
    before = {row: _before(row, context) for row in ROWS}
    return {
        f"{layer}.{head}.{change}": _effect(address_of(layer, head, change), change, table, before)
        for layer in range(config.n_layers)
        for head in range(config.n_heads)
        for change in CHANGES
    }


def _effect(
    address: str, change: str, table: Mapping[str, Any], before: Mapping[int, Array]
) -> Effect:
    figures: Mapping[str, Any] = table
    for name in address.split(".")[1:]:
        figures = figures[name]
    each = figures["of_problem"]
    share = np.array(each["share"]) if "share" in each else None
    row, _ = OF_SOURCE.get(change, (task.EQUALS_POSITION, None))
    return Effect(address, figures["correct"], before[row], np.array(each["probability"]), share)


def _before(row: int, context: Context) -> Array:
    """P of the right token after a row, in the model as it is [problem]."""
    found = [
        context.numbers.matrix("probs", "trained", problem.name).values[
            row, task.TOKEN_ID[problem.tokens[row + 1]]
        ]
        for problem in task.PROBLEMS
    ]
    return np.array(found)
