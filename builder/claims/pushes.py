"""What the first gradients ask for, and what comes of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from builder.claims.world import Outcome, World, significant
from model import task


def step_raises(world: World) -> Outcome:
    """A small step on one target alone raises its probability, for nearly all targets."""
    before, after = world.evidence["first_step"]
    numbers = {
        "raised": world.evidence["raised_by_step"],
        "targets": len(task.TARGETS),
        "before": significant(before),
        "after": significant(after),
    }
    return Outcome(after > before and numbers["raised"] > 0.99 * numbers["targets"], numbers)


def shared_prefix_same_gradient(world: World) -> Outcome:
    """The ten problems that start with 7 have the same gradients for what follows it."""
    found = [world.snapshot.gradients("initial", f"7x{b}")[0].grads for b in range(10)]
    largest = max(
        float(np.abs(other[key] - value).max())
        for other in found[1:]
        for key, value in found[0].items()
    )
    return Outcome(largest == 0, {"problems": len(found), "largest_difference": largest})


def gradients_cancel(world: World) -> Outcome:
    """The problems' pushes at W_Q of layer 1 add up to less than half of their sizes' sum."""
    numbers = {
        "sum_of_sizes": significant(world.evidence["sum_of_norms"]),
        "size_of_sum": significant(world.evidence["norm_of_sum"]),
    }
    return Outcome(numbers["size_of_sum"] < numbers["sum_of_sizes"] / 2, numbers)


def unread_tokens_untouched(world: World) -> Outcome:
    """The embeddings of tokens that are never read are those they were initialised with."""
    unread = [task.TOKEN_ID[token] for token in (task.PAD, task.END)]
    changed = _changed(world, "embed.W_E", unread)
    return Outcome(changed == 0, {"rows": len(unread), "changed": changed})


def unused_positions_untouched(world: World) -> Outcome:
    """The vectors of positions that no problem reaches are those they were initialised with."""
    unused = range(task.MAX_INPUTS, world.config.n_ctx)
    changed = _changed(world, "pos_embed.W_pos", unused)
    numbers = {"last_used": task.MAX_INPUTS - 1, "rows": len(unused), "changed": changed}
    return Outcome(changed == 0, numbers)


def _changed(world: World, key: str, rows: Sequence[int]) -> int:
    """How many numbers training has changed in some rows of a table."""
    before, after = (
        world.snapshot.weights(stage)[key][list(rows)] for stage in ("initial", "trained")
    )
    return int((before != after).sum())
