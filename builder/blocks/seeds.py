"""Of how many seeds a claim holds: what the census says, as it stands beside the claim."""

from __future__ import annotations

from dataclasses import dataclass

from builder.blocks.directive import Context
from builder.numbers.documents import census_of


@dataclass(frozen=True, slots=True)
class Seeds:
    """Of `total` seeds, the claim holds for `count`; `words` says so in a sentence."""

    count: int
    total: int
    words: str


def seeds_of(claim_id: str, context: Context) -> Seeds | None:
    """Return what the census says of a claim; None where it says nothing."""
    counted = census_of(context.numbers.snapshot).get(claim_id)
    if counted is None:
        return None
    count, total = counted
    return Seeds(count, total, context.words("figure.claim_seeds", count=count, total=total))
