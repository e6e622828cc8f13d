"""What the task needs and what this model uses: other trainings, and tables overwritten."""

from __future__ import annotations

from builder.claims.attention import following_head, in_layer_1, other_head
from builder.claims.world import Outcome, World, significant
from model import task
from model.tensors import in_prose

FEW = 10
"""Of 100 answers, at most so many are called few."""


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
