"""What there is to learn: for each task, the batch of every step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from model.batch import Batch
from model.recall import Recall

Lessons = Callable[[int], Batch]
"""From the number of a step to what is learned from at it."""


class Task(Protocol):
    """Something to learn."""

    def lessons(self, seed: int) -> Lessons:
        """Return the lessons of a training from a seed."""


class Multiplication:
    """The hundred products, all of them at every step."""

    def lessons(self, seed: int) -> Lessons:  # noqa: ARG002 - the same for every seed
        """Return the batch of all problems, again and again."""
        return always(Batch.of_all_problems())


def always(batch: Batch) -> Lessons:
    """Return lessons that are all the same."""
    return lambda _step: batch


TASKS: Mapping[str, Task] = {"multiplication": Multiplication(), "recall": Recall()}
"""By the name that presets have for them."""
