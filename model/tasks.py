"""The tasks by the names that presets give them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from model.config import Preset
from model.task import MULTIPLICATION, Task


def task_of(preset: Preset) -> Task:
    """Return the task that a preset learns."""
    return TASKS[preset.task]()


@cache
def _recall() -> Task:
    from model.recall import NAME, Recall  # draws its problems, which takes NumPy

    problems = Recall().problems
    return Task(NAME, problems, problems[0].name)


TASKS: Mapping[str, Callable[[], Task]] = {
    MULTIPLICATION.name: lambda: MULTIPLICATION,
    "recall": _recall,
}
"""By name: what makes the task."""
