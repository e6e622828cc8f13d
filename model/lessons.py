"""What a model is trained on, task by task: the same problems at every step, or new ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch

from model import recall, task
from model.batch import Batch
from model.config import Preset
from model.recall import Recall, Sequences

Lessons = Callable[[int], Batch]
"""What each step is about."""


@dataclass(frozen=True, slots=True)
class Course:
    """How a task is learned.

    Attributes
    ----------
    lessons
        What each step is about.
    exam
        Whose problems are counted; None if every lesson has them all.
    """

    lessons: Lessons
    exam: Batch | None = None


def course_of(preset: Preset) -> Course:
    """Return the course of a preset's task and seed."""
    return COURSES[preset.task](preset.training.seed)


def always(batch: Batch) -> Course:
    """Return a course whose lessons are all the same."""
    return Course(lambda _step: batch)


def all_products() -> Course:
    """Return the hundred products, at every step."""
    return always(Batch.of_all_problems())


def new_sequences(of: Recall, seed: int) -> Course:
    """Return new sequences for every step."""
    return Course(lambda step: batch_of(of.lesson(seed, step)), Batch.of(of.problems))


def batch_of(sequences: Sequences) -> Batch:
    """Ask for the last token alone: nothing else follows from what stands before it."""
    tokens = torch.from_numpy(sequences[:, :-1])
    targets = torch.full_like(tokens, task.TOKEN_ID[task.PAD])
    targets[:, -1] = torch.from_numpy(sequences[:, -1])
    mask = targets != task.TOKEN_ID[task.PAD]
    return Batch(tokens, targets, mask, mask)


COURSES: Mapping[str, Callable[[int], Course]] = {
    task.NAME: lambda _seed: all_products(),
    recall.NAME: lambda seed: new_sequences(Recall(), seed),
}
"""By the task's name: from a seed to its course."""
