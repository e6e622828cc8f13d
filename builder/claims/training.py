"""What the training reached."""

from __future__ import annotations

from builder.claims.world import Outcome, World, significant
from model import task

HIGHEST_LOSS = 0.42


def all_correct(world: World) -> Outcome:
    """Decoded token by token, every answer is right to its end token."""
    decoded, total = world.evidence["decoded"], len(task.PROBLEMS)
    return Outcome(decoded == total, {"correct": decoded, "problems": total})


def loss_near_floor(world: World) -> Outcome:
    """The final mean loss lies between the floor and the limit."""
    loss = world.training["final_loss"]
    numbers = {"final_loss": loss, "floor": significant(task.LOSS_FLOOR), "limit": HIGHEST_LOSS}
    return Outcome(task.LOSS_FLOOR <= loss < HIGHEST_LOSS, numbers)
