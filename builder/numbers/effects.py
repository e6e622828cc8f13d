"""What interventions do: which there are, and their figures for every problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from builder.evidence.tables import INTERVENTIONS
from builder.numbers.display import display
from builder.numbers.matrix import Array
from model import task
from model.snapshot import Snapshot
from model.tensors import in_prose

OF_HEAD = ("ablated", "uniform", "own_mean", "another_problem")
"""What is done to a head as a whole."""

OF_LAYER = "without_attention"
"""What is done to a layer as a whole."""

RECEIVERS = {task.EQUALS: task.EQUALS_POSITION, "first": task.EQUALS_POSITION + 1}
"""Rows whose sources are removed, one at a time, as authors call them: that of `=`, and that of the
first digit of the answer."""

OF_SOURCE = {
    f"{row}_{source}": (row, source) for row in RECEIVERS.values() for source in range(row + 1)
}
"""Name of a change -> the row, and the source that it may not read."""

CHANGES = (*OF_HEAD, *OF_SOURCE, OF_LAYER)

SHOWN = ("share", "change")
"""The two numbers of each problem: what suggests something, and what is so."""

KEPT = 2
"""Decimals of a percentage that pages know."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What one change does.

    Attributes
    ----------
    correct
        Of a hundred problems, those whose whole answer is still right.
    before, after
        P of the right token in each problem.
    share
        What a reader would have guessed from, in each problem; None where there is nothing.
    """

    correct: float
    before: Array
    after: Array
    share: Array | None

    def percent(self, shown: str) -> Array:
        """Return one of `SHOWN`, rounded [problem]; NaN where there is none."""
        values = self.after - self.before if shown == "change" else self.share
        nothing = np.full(len(task.PROBLEMS), np.nan)
        return nothing if values is None else np.round(100 * values, KEPT)

    @property
    def totals(self) -> dict[str, str]:
        """How many answers stay right, and the mean of P before and after, as they are shown."""
        return {
            "correct": display(self.correct, 0 if self.correct == int(self.correct) else 1),
            "before": display(float(self.before.mean()), 4),
            "after": display(float(self.after.mean()), 4),
        }


def sources_of(row: int) -> dict[str, int]:
    """Return the changes that remove a source of a row -> the source."""
    return {change: source for change, (of, source) in OF_SOURCE.items() if of == row}


def address_of_head(layer: int, head: int) -> str:
    """Return where the figures of all changes of a head are."""
    return f"interventions.layer_{in_prose(layer)}.head_{in_prose(head)}"


def address_of(layer: int, head: int, change: str) -> str:
    """Return where the figures of a change are."""
    if change == OF_LAYER:
        return f"interventions.layer_{in_prose(layer)}.{change}"
    at = address_of_head(layer, head)
    if change in OF_HEAD:
        return f"{at}.{change}"
    row, source = OF_SOURCE[change]
    return f"{at}.row_{row}.source_{source}"


def figures_at(address: str, table: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the figures of a change, out of the table."""
    found = table
    for name in address.split(".")[1:]:
        found = found[name]
    return found


def effects(snapshot: Snapshot) -> dict[str, Effect]:
    """Look every change up: LAYER.HEAD.CHANGE, which scripts use too -> what it does.

    Raises
    ------
    SnapshotError
        If there is no table of interventions, or if a file is damaged.
    """
    table, config = snapshot.document(INTERVENTIONS.snapshot_path), snapshot.config
    before = {row: _before(row, snapshot) for row in RECEIVERS.values()}
    return {
        f"{layer}.{head}.{change}": _effect(address_of(layer, head, change), change, table, before)
        for layer in range(config.n_layers)
        for head in range(config.n_heads)
        for change in CHANGES
    }


def for_scripts(snapshot: Snapshot) -> dict[str, Any]:
    """Return what pages show of every change; numbers in hundredths of a percent, to be short."""
    return {
        name: {
            "total": effect.totals,
            **{shown: _whole(effect.percent(shown)) for shown in SHOWN},
        }
        for name, effect in effects(snapshot).items()
    }


def _whole(values: Array) -> list[int] | None:
    return None if np.isnan(values).any() else np.rint(values * 10**KEPT).astype(int).tolist()


def _effect(
    address: str, change: str, table: Mapping[str, Any], before: Mapping[int, Array]
) -> Effect:
    figures = figures_at(address, table)
    each = figures["of_problem"]
    share = np.array(each["share"]) if "share" in each else None
    row, _ = OF_SOURCE.get(change, (task.EQUALS_POSITION, None))
    return Effect(figures["correct"], before[row], np.array(each["probability"]), share)


def _before(row: int, snapshot: Snapshot) -> Array:
    """P of the right token after a row, in the model as it is [problem]."""
    found = [
        snapshot.document(f"traces/trained/{problem.name}.json")["values"]["probs"][row][
            task.TOKEN_ID[problem.tokens[row + 1]]
        ]
        for problem in task.PROBLEMS
    ]
    return np.array(found)
