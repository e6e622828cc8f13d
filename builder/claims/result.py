"""What came of a claim: all that pages and files need to know of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """Whether a claim holds for this snapshot, and the numbers it rests on."""

    id: str
    holds: bool
    numbers: Mapping[str, Any]
