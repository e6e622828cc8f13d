"""What the task needs and what this model uses: other trainings, and tables overwritten."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from builder.claims.attention import following_head, in_layer_1, other_head
from builder.claims.world import Array, Outcome, World, significant
from model import task
from model.tensors import in_prose

FEW = 10
"""Of 100 answers, at most so many are called few."""

HARMLESS = 0.01
"""A loss of probability below this is called none."""

AT_EQUALS = f"row_{task.EQUALS_POSITION}"


def uniform_control_solves(world: World) -> Outcome:
    """Trained again with the plain average in place of every A, the model is as good."""
    correct = world.evidence["control_uniform"]
    numbers = {"correct": correct, "final_loss": significant(world.evidence["control_loss"])}
    return Outcome(correct == len(task.PROBLEMS), numbers)


def uniform_overwrite_fails(world: World) -> Outcome:
    """With the plain average in place of its own A, the trained model gets few answers right."""
    correct = world.evidence["overwritten_uniform"]
    return Outcome(correct <= FEW, {"correct": correct})


def head_overwrite_fails(world: World) -> Outcome:
    """With the plain average in place of the followed head's table alone, few answers are right."""
    head, other = following_head(world), other_head(world)
    first, *later = world.evidence["overwritten_heads"]
    numbers = {
        **in_layer_1(head),
        "correct": first[head],
        "other_head": first[other],
        **{
            f"layer_{layer}_head_{in_prose(index)}": correct
            for layer, heads in enumerate(later, start=2)
            for index, correct in enumerate(heads)
        },
    }
    return Outcome(first[head] <= FEW, numbers)


def second_digit_reads_equals(world: World) -> Outcome:
    """Where the first digit may not read `=` in layer 2, some second digits go wrong, not most."""
    correct = world.evidence["second_digit_without_equals"]
    total = sum(len(problem.answer) == 3 for problem in task.PROBLEMS)
    return Outcome(total / 2 < correct < total, {"correct": correct, "total": total})


def every_head_is_used(world: World) -> Outcome:
    """Whichever head hands over nothing, at most half of the answers stay right."""
    correct = {
        f"{layer}_{head}": of_head["ablated"]["correct"]
        for layer, head, of_head in _heads(world.interventions)
    }
    return Outcome(max(correct.values()) <= len(task.PROBLEMS) / 2, correct)


def tables_must_follow(world: World) -> Outcome:
    """With the mean of a head's tables over all problems for every one of them, many go wrong."""
    correct = {
        f"{layer}_{head}": of_head["own_mean"]["correct"]
        for layer, head, of_head in _heads(world.interventions)
    }
    return Outcome(max(correct.values()) <= len(task.PROBLEMS) - FEW, correct)


def zero_is_used(world: World) -> Outcome:
    """In each n×0 and 0×n the followed head's `=` needs what it reads from 0, and no other source.

    A source is needed if without it the right digit has less than half of the probability.
    """
    head = following_head(world)
    table = world.interventions["layer_1"][f"head_{in_prose(head)}"][AT_EQUALS]
    left = _left(table)  # [source problem]
    zeros = {
        index: 2 if problem.b == 0 else 0
        for index, problem in enumerate(task.PROBLEMS)
        if (problem.a == 0) != (problem.b == 0)
    }
    without_zero = np.array([left[source, index] for index, source in zeros.items()])
    without_other = np.array([np.delete(left[:, i], source) for i, source in zeros.items()])
    numbers = {
        **in_layer_1(head),
        "problems": len(zeros),
        "lost": int((without_zero < 1 / 2).sum()),
        "others": without_other.size,
        "kept": int((without_other > 1 / 2).sum()),
        "most_without_zero": significant(without_zero.max()),
        "least_without_other": significant(without_other.min()),
    }
    holds = numbers["lost"] == numbers["problems"] and numbers["kept"] == numbers["others"]
    return Outcome(holds, numbers)


def times_is_used(world: World) -> Outcome:
    """Without what the other head's `=` reads from `×`, at most half of the answers are right."""
    head = other_head(world)
    times = world.interventions["layer_1"][f"head_{in_prose(head)}"][AT_EQUALS]["source_1"]
    numbers = {**in_layer_1(head), "correct": times["correct"], "share": times["share"]}
    return Outcome(times["correct"] <= len(task.PROBLEMS) / 2, numbers)


def largest_share_misleads(world: World) -> Outcome:
    """In a quarter or more of the rows that need a source, another than the most read costs most.

    A row needs a source if without one of the four the right digit loses `HARMLESS` of its
    probability. `without_looking` counts the rows guessed right by one who takes every row of a
    head to need the same source.
    """
    before = np.array(world.interventions["full"]["of_problem"]["probability"])
    counts = Counter[str]()
    for _, _, of_head in _heads(world.interventions):
        table = of_head[AT_EQUALS]
        shares = _of_sources(table, "share")  # [source problem]
        lost = before - _left(table)  # [source problem]
        problems = np.arange(lost.shape[1])
        needs = lost.max(0) >= HARMLESS  # [problem]
        most_read, most_needed = shares.argmax(0), lost.argmax(0)  # [problem]
        counts["rows"] += len(problems)
        counts["matter"] += int(needs.sum())
        counts["agrees"] += int((needs & (most_read == most_needed)).sum())
        counts["harmless"] += int((needs & (lost[most_read, problems] < HARMLESS)).sum())
        counts["least_read"] += int((lost[shares.argmin(0), problems] > 1 / 2).sum())
        guessed = np.bincount(most_needed[needs], minlength=1)  # minlength: none may need any
        counts["without_looking"] += int(guessed.max())
    numbers = {**counts, "idle": counts["rows"] - counts["matter"]}
    return Outcome(counts["agrees"] <= counts["matter"] * 3 / 4, numbers)


def share_contrast(world: World) -> Outcome:
    """In 7×8=, a head of layer 2 hardly needs its most read source, and another one very much.

    Of the heads it is the one in which the two costs are furthest apart.
    """
    place = task.PROBLEMS.index(task.BY_NAME["7x8"])
    before = world.interventions["full"]["of_problem"]["probability"][place]
    found = []
    for head, of_head in enumerate(
        h for layer, _, h in _heads(world.interventions) if layer == "layer_2"
    ):
        shares = _of_sources(of_head[AT_EQUALS], "share")[:, place]  # [source]
        lost = before - _left(of_head[AT_EQUALS])[:, place]  # [source]
        most, costly = int(shares.argmax()), int(lost.argmax())
        found.append((lost[costly] - lost[most], head, shares, lost, most, costly))
    _, head, shares, lost, most, costly = max(found, key=lambda one: one[0])
    numbers = {
        "layer": 2,
        "head": in_prose(head),
        "most_read": significant(shares[most]),
        "lost_without_it": significant(lost[most]),
        "other": significant(shares[costly]),
        "lost_without_other": significant(lost[costly]),
    }
    return Outcome(bool(lost[costly] > 1 / 4 and lost[most] < lost[costly] / 4), numbers)


def _heads(interventions: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Every head of a table of interventions, with the names of its layer and of itself."""
    for layer, of_layer in interventions.items():
        if layer.startswith("layer_"):
            for head, of_head in of_layer.items():
                if head.startswith("head_"):
                    yield layer, head, of_head


def _of_sources(row: Mapping[str, Any], name: str) -> Array:
    """One figure of each source of a row [source problem]."""
    sources = [figures for source, figures in row.items() if source.startswith("source_")]
    return np.array([figures["of_problem"][name] for figures in sources])


def _left(row: Mapping[str, Any]) -> Array:
    """What is left to the right token without each source of a row [source problem]."""
    return _of_sources(row, "probability")
