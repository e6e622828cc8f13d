"""The reading tables: what they do to the rows, and what they follow."""

from __future__ import annotations

import numpy as np

from builder.claims.world import STORED_PRECISION, Array, Outcome, World, significant
from model import task
from model.tensors import in_prose


def in_layer_1(head: int) -> dict[str, int]:
    """Which head of layer 1 a claim is about, as numbers of the claim: counted from 1."""
    return {"layer": 1, "head": in_prose(head)}


def following_head(world: World) -> int:
    """The head of layer 1 that the chapters follow: its `=` reads 0 the most in most n×0 and 0×n.

    Of equals the first.
    """
    return int(np.argmax(_pairs_following_zero(world)))


def other_head(world: World) -> int:
    """Of the other heads of layer 1 the one that does so in fewest."""
    pairs, followed = _pairs_following_zero(world), following_head(world)
    others = (head for head in range(len(pairs)) if head != followed)
    return min(others, key=lambda head: pairs[head], default=followed)


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
    """A head of layer 1 gives 0 its largest share at `=`, in n×0 and in 0×n alike."""
    head, pattern = following_head(world), "blocks.0.attn.pattern"
    followed = _pairs_following_zero(world)[head]
    right = world.value("7x0", pattern)[head, task.EQUALS_POSITION]
    left = world.value("0x7", pattern)[head, task.EQUALS_POSITION]
    numbers = {
        **in_layer_1(head),
        "followed": followed,
        "problems": 2 * 9,
        "share_7x0": significant(right[2]),
        "share_0x7": significant(left[0]),
    }
    return Outcome(followed == numbers["problems"], numbers)


def other_head_does_not_follow(world: World) -> Outcome:
    """Another head of layer 1 does not: in none of these problems is 0 its largest share."""
    head = other_head(world)
    followed = _pairs_following_zero(world)[head]
    numbers = {**in_layer_1(head), "followed": followed, "problems": 2 * 9}
    return Outcome(followed == 0, numbers)


def other_head_reads_times(world: World) -> Outcome:
    """In every problem that head reads `×` the most at `=`; and the V of `×` is one row in all."""
    head, times = other_head(world), 1
    tables = [world.value(p.name, "blocks.0.attn.pattern")[head] for p in task.PROBLEMS]
    most = sum(int(table[task.EQUALS_POSITION].argmax()) == times for table in tables)
    rows = np.stack([world.value(p.name, "blocks.0.attn.v")[head, times] for p in task.PROBLEMS])
    largest = float(np.abs(rows - rows[0]).max())
    numbers = {**in_layer_1(head), "problems": most, "largest_difference": largest}
    return Outcome(most == len(tables) and largest == 0, numbers)


def zero_read_most(world: World) -> Outcome:
    """Of all second operands, and of all first ones, the followed head's `=` reads 0 the most."""
    head = following_head(world)
    tables = [
        _operand_shares(world, 0, second)[head] for second in (False, True)
    ]  # [other operand, this operand] each
    lines = np.concatenate(tables)
    largest = int((lines.argmax(-1) == 0).sum())
    numbers = {**in_layer_1(head), "largest": largest, "lines": len(lines)}
    return Outcome(largest == len(lines), numbers)


def one_order_in_layer_1(world: World) -> Outcome:
    """In layer 1 each head ranks the digits of an operand in one order; in layer 2 never twice."""
    orders = [
        {tuple(line.argsort()) for line in table}
        for layer in range(world.config.n_layers)
        for second in (False, True)
        for table in _operand_shares(world, layer, second)
    ]
    per_layer = len(orders) // world.config.n_layers
    first, later = orders[:per_layer], orders[per_layer:]
    numbers = {
        "most_orders_in_layer_1": max(map(len, first)),
        "fewest_orders_in_layer_2": min(map(len, later), default=0),
        "lines": len(task.DIGITS),
    }
    one, many = numbers["most_orders_in_layer_1"], numbers["fewest_orders_in_layer_2"]
    return Outcome(one == 1 and many == numbers["lines"], numbers)


def _operand_shares(world: World, layer: int, second: bool) -> Array:
    """What `=` reads from an operand in all problems [head, other operand, this operand]."""
    position = 2 if second else 0
    shares = np.array(
        [
            [
                world.value(f"{a}x{b}", f"blocks.{layer}.attn.pattern")[
                    :, task.EQUALS_POSITION, position
                ]
                for b in range(10)
            ]
            for a in range(10)
        ]
    )  # [first operand, second operand, head]
    return shares.transpose((2, 0, 1) if second else (2, 1, 0))


def _pairs_following_zero(world: World) -> list[int]:
    """For each head of layer 1, in how many of n×0= and 0×n= the row of `=` reads 0 the most."""
    problems = [(f"{n}x0", 2) for n in range(1, 10)] + [(f"0x{n}", 0) for n in range(1, 10)]
    largest = [
        world.value(name, "blocks.0.attn.pattern")[:, task.EQUALS_POSITION].argmax(-1) == position
        for name, position in problems
    ]  # [problem head]
    return [int(count) for count in np.sum(largest, axis=0)]
