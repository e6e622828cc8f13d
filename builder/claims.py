"""Sentences about the model, each bound to a predicate over the snapshot."""

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
