"""What stored tables look like, so that a damaged one is named where it is read.

A shape is `int`, `float` (any finite number), `str`, or `bool`; `Maybe(shape)`, which `null` fits
too; `[shape]`, a list; `{name: shape}`, a mapping that has at least these names; `Each(shape)`, a
mapping of any names, or of any besides some that it must have.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_NAMES = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}
"""What a shape is called."""


@dataclass(frozen=True, slots=True)
class Each:
    """A mapping of any names, `having` at least some, in which everything has one shape."""

    shape: Any
    having: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Maybe:
    """A shape, or null."""

    shape: Any


def require(value: Any, shape: Any, name: str) -> None:
    """Compare a value with its shape.

    Parameters
    ----------
    value, shape
        What was read, and what it should be.
    name
        What to call it.

    Raises
    ------
    ValueError
        That names the first part that does not fit.
    """
    if isinstance(shape, Maybe):
        if value is not None:
            require(value, shape.shape, name)
    elif isinstance(shape, (Each, dict)):
        _require_type(value, dict, name, "a mapping")
        for part, part_shape in _parts(value, shape, name):
            require(value[part], part_shape, f"{name}.{part}")
    elif isinstance(shape, list):
        _require_type(value, list, name, "a list")
        for i, item in enumerate(value):
            require(item, shape[0], f"{name}[{i}]")
    else:
        _require_type(value, (int, float) if shape is float else shape, name, _NAMES[shape])


def _parts(
    value: Mapping[str, Any], shape: Each | Mapping[str, Any], name: str
) -> Iterator[tuple[str, Any]]:
    if isinstance(shape, Each):
        shape = dict.fromkeys((*shape.having, *value), shape.shape)
    for part, part_shape in shape.items():
        if part not in value:
            raise ValueError(f"`{name}` has no `{part}`")
        yield part, part_shape


def _require_type(value: Any, wanted: Any, name: str, called: str) -> None:
    is_other = isinstance(value, bool) and wanted is not bool
    if is_other or not isinstance(value, wanted) or not _is_finite(value):
        shown = repr(value)
        raise ValueError(f"`{name}` is {shown[:40]}{'…' * (len(shown) > 40)}, not {called}")


def _is_finite(value: Any) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


_EFFECT = {"correct": float, "probability": float, "of_problem": Each([float])}

CONTROLS = Each(
    {
        "parameters": int,
        "seeds": int,
        "all_correct": int,
        **dict.fromkeys(("correct", "fewest", "most", "loss"), float),
        "steps": Maybe(float),
        "of_seed": Each([Maybe(float)]),
    },
    having=(
        *("full", "uniform", "fixed_table", "no_attention", "no_mlp"),
        *("k_tied_to_q", "v_tied_to_k", "one_head", "one_layer", "no_positions"),
    ),
)
HELD_OUT = {
    **dict.fromkeys(("splits", "trained_on", "held_out", "trained_all_right"), int),
    **dict.fromkeys(("right", "asked", "fewest", "most"), int),
    "mean": float,
    "of_split": [{"split": int, "trained_right": int, "right": int, "problems": Each(bool)}],
}
RECALL = Each(
    {
        "solved": int,
        "seeds": int,
        **dict.fromkeys(("right", "least", "most"), float),
        "of_seed": Each([float]),
    },
    having=("full", "fixed_table"),
)
INTERVENTIONS = {
    "problems": [str],
    "full": _EFFECT,
}
SEEDS = Each(
    {
        "first_step_all_correct": Maybe(int),
        "final_loss": float,
        "correct": int,
        "portability_margin": float,
        "weights": str,
    }
)
CENSUS = {
    "n_seeds": int,
    "seeds": [int],
    "claims": Each(
        {"holds": int, "fails_for": [int]}, having=("head-follows-zero", "zero-is-used")
    ),
    "all_hold_for": [int],
    "of_seed": Each(Each(Each(Maybe(float)))),
}
