"""What the training reached."""

from __future__ import annotations

from builder.claims.world import Outcome, World, significant
from model import task

NEAR_FLOOR = 0.42
"""A mean loss below this, in nats, is called near the floor."""


def all_correct(world: World) -> Outcome:
    """Decoded token by token, every answer is right to its end token."""
    decoded, total = world.evidence["decoded"], len(task.PROBLEMS)
    return Outcome(decoded == total, {"correct": decoded, "problems": total})


def loss_near_floor(world: World) -> Outcome:
    """The final mean loss lies between the floor and the limit."""
    loss = world.training["final_loss"]
    numbers = {"final_loss": loss, "floor": significant(task.LOSS_FLOOR), "limit": NEAR_FLOOR}
    return Outcome(task.LOSS_FLOOR <= loss < NEAR_FLOOR, numbers)
