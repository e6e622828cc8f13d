"""The reading tables: what they do to the rows, and what they follow."""

from __future__ import annotations

import numpy as np

from builder.claims.world import STORED_PRECISION, Outcome, World, significant
from model import task

FOLLOWING_HEAD, OTHER_HEAD = 1, 0
"""Heads of layer 1 that the chapters speak of as head 2 and head 1."""


def pattern_rows_sum_to_one(world: World) -> Outcome:
    """In every problem, layer and head, each row of A sums to 1 and reads no later position."""
    largest, future = 0.0, 0.0
    for _, head, key in world.heads("attn.pattern"):
        for problem in task.PROBLEMS:
            pattern = world.value(problem.name, key)[head]
            largest = max(largest, float(np.abs(pattern.sum(-1) - 1).max()))
            future = max(future, float(np.abs(np.triu(pattern, 1)).max()))
    numbers = {"largest_deviation": significant(largest), "largest_future_share": future}
    return Outcome(largest < STORED_PRECISION and future == 0, numbers)


def pattern_moves_rows(world: World) -> Outcome:
    """In every problem, layer and head, H is A times V."""
    largest, matrices = 0.0, 0
    for layer, head, key in world.heads("attn.pattern"):
        for problem in task.PROBLEMS:
            pattern = world.value(problem.name, key)[head]
            v = world.value(problem.name, f"blocks.{layer}.attn.v")[head]
            z = world.value(problem.name, f"blocks.{layer}.attn.z")[head]
            largest = max(largest, float(np.abs(pattern @ v - z).max()))
            matrices += 1
    numbers = {"products": matrices, "largest_difference": significant(largest)}
    return Outcome(largest < 10 * STORED_PRECISION, numbers)


def head_follows_zero(world: World) -> Outcome:
    """Head 2 of layer 1 gives 0 its largest share at `=`, in n×0 and in 0×n alike."""
    followed = _pairs_following_zero(world)[FOLLOWING_HEAD]
    pattern = "blocks.0.attn.pattern"
    right = world.value("7x0", pattern)[FOLLOWING_HEAD, task.EQUALS_POSITION]
    left = world.value("0x7", pattern)[FOLLOWING_HEAD, task.EQUALS_POSITION]
    numbers = {
        "followed": followed,
        "problems": 2 * 9,
        "share_7x0": significant(right[2]),
        "share_0x7": significant(left[0]),
    }
    return Outcome(followed == numbers["problems"], numbers)


def other_head_does_not_follow(world: World) -> Outcome:
    """Head 1 of layer 1 does not: in none of these problems is 0 its largest share."""
    followed = _pairs_following_zero(world)[OTHER_HEAD]
    return Outcome(followed == 0, {"followed": followed, "problems": 2 * 9})


def _pairs_following_zero(world: World) -> list[int]:
    """For each head of layer 1, in how many of n×0= and 0×n= the row of `=` reads 0 the most."""
    problems = [(f"{n}x0", 2) for n in range(1, 10)] + [(f"0x{n}", 0) for n in range(1, 10)]
    largest = [
        world.value(name, "blocks.0.attn.pattern")[:, task.EQUALS_POSITION].argmax(-1) == position
        for name, position in problems
    ]  # [problem head]
    return [int(count) for count in np.sum(largest, axis=0)]
