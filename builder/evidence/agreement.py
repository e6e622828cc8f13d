"""What the numbers of a stored census say of each other, so that a changed one is noticed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def require_agreement(census: Mapping[str, Any]) -> None:
    """Count the seeds of a census again.

    Raises
    ------
    ValueError
        That names the first number that cannot be.
    """
    seeds, total, name = census["seeds"], census["n_seeds"], "census.table"
    if len(set(seeds)) != total:
        raise ValueError(f"`{name}.seeds` lists {len(set(seeds))} seeds, not {total}")
    failing: set[int] = set()
    for claim, found in census["claims"].items():
        fails_for = set(found["fails_for"])
        if found["holds"] + len(fails_for) != total:
            counts = f"holds for {found['holds']} seeds and fails for {len(fails_for)}"
            raise ValueError(f"`{name}.claims.{claim}` {counts}, of {total}")
        _require_among(seeds, fails_for, f"{name}.claims.{claim}.fails_for")
        failing |= fails_for
    if set(census["all_hold_for"]) != set(seeds) - failing:
        raise ValueError(f"`{name}.all_hold_for` is not the seeds for which no claim fails")
    if set(census["of_seed"]) != set(map(str, seeds)):
        raise ValueError(f"`{name}.of_seed` has other seeds than `{name}.seeds`")


def _require_among(seeds: list[int], listed: set[int], name: str) -> None:
    others = sorted(listed - set(seeds))
    if others:
        raise ValueError(f"`{name}` lists {others[0]}, which is none of its seeds")
