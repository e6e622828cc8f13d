"""Sentences about the model, each bound to a predicate over the snapshot.

A chapter cites a claim by its id. A claim that does not hold fails the build and prints the
numbers it rests on. To add one, write a predicate that returns an `Outcome`, list it in
`PREDICATES`, and say in `content/claims.yml` what it means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from model import task
from model.config import ModelConfig
from model.encoding import rounded
from model.snapshot import Snapshot, Trace

Array = NDArray[np.float64]

HIGHEST_LOSS = 0.42
FOLLOWING_HEAD, OTHER_HEAD = 1, 0
"""Heads of layer 1 that the chapters speak of as head 2 and head 1."""

FEW = 10
"""Of 100 answers, at most so many are called few."""

STORED_PRECISION = 1e-6
"""Numbers stored with 7 digits agree to this when they were equal before rounding."""


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """Whether a claim holds for this snapshot, and the numbers it rests on."""

    id: str
    holds: bool
    numbers: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a predicate returns."""

    holds: bool
    numbers: Mapping[str, Any]


@dataclass(frozen=True)
class World:
    """What predicates look at.

    Attributes
    ----------
    snapshot
        Weights and traces; its manifest is not needed.
    config
        Sizes of the model.
    training
        The manifest's account of the training.
    evidence
        The counts of `model.evidence`.
    """

    snapshot: Snapshot
    config: ModelConfig
    training: Mapping[str, Any]
    evidence: Mapping[str, Any]

    @cached_property
    def traces(self) -> Mapping[str, Trace]:
        """What the trained model computes for each problem."""
        return {p.name: self.snapshot.trace("trained", p.name) for p in task.PROBLEMS}

    def value(self, problem: str, key: str) -> Array:
        """One activation of one problem."""
        return self.traces[problem].values[key]

    def equals_rows(self, key: str) -> Array:
        """The row of `=` in every problem [problem d_model]."""
        rows = [self.value(problem.name, key)[task.EQUALS_POSITION] for problem in task.PROBLEMS]
        return np.array(rows)

    def heads(self, key: str) -> Iterator[tuple[int, int, str]]:
        """Layer, head and full key of a per-head activation such as `attn.pattern`."""
        for layer in range(self.config.n_layers):
            for head in range(self.config.n_heads):
                yield layer, head, f"blocks.{layer}.{key}"


def check_claims(world: World) -> list[ClaimResult]:
    """Evaluate every claim, in the order of `PREDICATES`."""
    outcomes = {claim: predicate(world) for claim, predicate in PREDICATES.items()}
    return [ClaimResult(name, bool(o.holds), o.numbers) for name, o in outcomes.items()]


def all_correct(world: World) -> Outcome:
    """Decoded token by token, every answer is right to its end token."""
    decoded, total = world.evidence["decoded"], len(task.PROBLEMS)
    return Outcome(decoded == total, {"correct": decoded, "problems": total})


def loss_near_floor(world: World) -> Outcome:
    """The final mean loss lies between the floor and the limit."""
    loss = world.training["final_loss"]
    numbers = {"final_loss": loss, "floor": _significant(task.LOSS_FLOOR), "limit": HIGHEST_LOSS}
    return Outcome(task.LOSS_FLOOR <= loss < HIGHEST_LOSS, numbers)


def equals_row_identical(world: World) -> Outcome:
    """Before attention, the row of `=` is the same 8 numbers in all problems."""
    rows = world.equals_rows("blocks.0.resid_pre")
    largest = float(np.abs(rows - rows[0]).max())
    return Outcome(largest == 0, {"problems": len(rows), "largest_difference": largest})


def equals_row_is_sum(world: World) -> Outcome:
    """The row of `=` is the TokenEmb row of `=` plus the PosEmb row of its position."""
    weights = world.snapshot.weights("trained")
    token = weights["embed.W_E"][task.TOKEN_ID[task.EQUALS]].astype(np.float64)
    position = weights["pos_embed.W_pos"][task.EQUALS_POSITION].astype(np.float64)
    row = world.value("7x8", "blocks.0.resid_pre")[task.EQUALS_POSITION]
    largest = float(np.abs(token + position - row).max())
    return Outcome(largest < STORED_PRECISION, {"largest_difference": _significant(largest)})


def equals_row_differs(world: World) -> Outcome:
    """After the attention of layer 1, the row of `=` tells all pairs of problems apart."""
    rows = world.equals_rows("blocks.0.resid_mid")
    distances = np.abs(rows[:, None] - rows[None]).max(-1)  # [problem problem]
    pairs = distances[np.triu_indices(len(rows), 1)]
    mirrored = distances[_index("7x8"), _index("8x7")]
    numbers = {
        "pairs": len(pairs),
        "different_pairs": int((pairs > STORED_PRECISION).sum()),
        "smallest_difference": _significant(pairs.min()),
        "7x8_8x7_difference": _significant(mirrored),
    }
    return Outcome(numbers["different_pairs"] == numbers["pairs"], numbers)


def isolated_rows_limit(world: World) -> Outcome:
    """A model that answers alike after every `=` gets at most the commonest product right."""
    answers = [problem.answer for problem in task.PROBLEMS]
    commonest = max(set(answers), key=lambda answer: (answers.count(answer), answer))
    count = answers.count(commonest)
    numbers = {"most_correct": count, "commonest_answer": int("".join(commonest[:-1]))}
    identical = equals_row_identical(world).holds
    return Outcome(identical and count < len(answers), numbers)


def pattern_rows_sum_to_one(world: World) -> Outcome:
    """In every problem, layer and head, each row of A sums to 1 and reads no later position."""
    largest, future = 0.0, 0.0
    for _, head, key in world.heads("attn.pattern"):
        for problem in task.PROBLEMS:
            pattern = world.value(problem.name, key)[head]
            largest = max(largest, float(np.abs(pattern.sum(-1) - 1).max()))
            future = max(future, float(np.abs(np.triu(pattern, 1)).max()))
    numbers = {"largest_deviation": _significant(largest), "largest_future_share": future}
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
    numbers = {"products": matrices, "largest_difference": _significant(largest)}
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
        "share_7x0": _significant(right[2]),
        "share_0x7": _significant(left[0]),
    }
    return Outcome(followed == numbers["problems"], numbers)


def other_head_does_not_follow(world: World) -> Outcome:
    """Head 1 of layer 1 does not: in none of these problems is 0 its largest share."""
    followed = _pairs_following_zero(world)[OTHER_HEAD]
    return Outcome(followed == 0, {"followed": followed, "problems": 2 * 9})


def head_overwrite_fails(world: World) -> Outcome:
    """With the plain average in place of head 2's table in layer 1 alone, few answers are right."""
    correct = world.evidence["overwritten_heads"][0][FOLLOWING_HEAD]
    return Outcome(correct <= FEW, {"correct": correct})


def uniform_control_solves(world: World) -> Outcome:
    """Trained again with the plain average in place of every A, the model is as good."""
    correct = world.evidence["control_uniform"]
    numbers = {"correct": correct, "final_loss": _significant(world.evidence["control_loss"])}
    return Outcome(correct == len(task.PROBLEMS), numbers)


def uniform_overwrite_fails(world: World) -> Outcome:
    """With the plain average in place of its own A, the trained model gets few answers right."""
    correct = world.evidence["overwritten_uniform"]
    return Outcome(correct <= FEW, {"correct": correct})


PREDICATES: Mapping[str, Callable[[World], Outcome]] = {
    "all-correct": all_correct,
    "loss-near-floor": loss_near_floor,
    "equals-row-identical": equals_row_identical,
    "equals-row-is-sum": equals_row_is_sum,
    "equals-row-differs": equals_row_differs,
    "isolated-rows-limit": isolated_rows_limit,
    "pattern-rows-sum-to-one": pattern_rows_sum_to_one,
    "pattern-moves-rows": pattern_moves_rows,
    "head-follows-zero": head_follows_zero,
    "other-head-does-not-follow": other_head_does_not_follow,
    "uniform-control-solves": uniform_control_solves,
    "uniform-overwrite-fails": uniform_overwrite_fails,
    "head-overwrite-fails": head_overwrite_fails,
}


def _pairs_following_zero(world: World) -> list[int]:
    """For each head of layer 1, in how many of n×0= and 0×n= the row of `=` reads 0 the most."""
    problems = [(f"{n}x0", 2) for n in range(1, 10)] + [(f"0x{n}", 0) for n in range(1, 10)]
    largest = [
        world.value(name, "blocks.0.attn.pattern")[:, task.EQUALS_POSITION].argmax(-1) == position
        for name, position in problems
    ]  # [problem head]
    return [int(count) for count in np.sum(largest, axis=0)]


def _index(problem: str) -> int:
    return [p.name for p in task.PROBLEMS].index(problem)


def _significant(value: float) -> float:
    """Seven significant digits, as everything computed has in the snapshot."""
    return float(rounded(np.array(value)))
