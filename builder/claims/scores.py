"""Scores: who asks what, and what the merged matrices tell of it."""

from __future__ import annotations

import numpy as np

from builder.claims.attention import following_head, in_layer_1
from builder.claims.world import STORED_PRECISION, Outcome, World, significant
from model import derived, task


def equals_query_identical(world: World) -> Outcome:
    """In layer 1, the query of `=` is the same in all problems, head by head."""
    queries = np.stack(
        [world.value(p.name, "blocks.0.attn.q")[:, task.EQUALS_POSITION] for p in task.PROBLEMS]
    )  # [problem head d_head]
    largest = float(np.abs(queries - queries[0]).max())
    return Outcome(largest == 0, {"problems": len(queries), "largest_difference": largest})


def layer_2_query_differs(world: World) -> Outcome:
    """In layer 2, no two problems have the same queries of `=`."""
    queries = np.stack(
        [
            world.value(p.name, "blocks.1.attn.q")[:, task.EQUALS_POSITION].ravel()
            for p in task.PROBLEMS
        ]
    )  # [problem head.d_head]
    pairs = np.abs(queries[:, None] - queries[None]).max(-1)[np.triu_indices(len(queries), 1)]
    numbers = {"pairs": len(pairs), "smallest_difference": significant(pairs.min())}
    return Outcome(bool((pairs > STORED_PRECISION).all()), numbers)


def zero_outscores_seven(world: World) -> Outcome:
    """In 7×0=, the followed head scores 0 above 7, by what makes it read 0 more than ten times."""
    head = following_head(world)
    scores = world.value("7x0", "blocks.0.attn.attn_scores")[head, task.EQUALS_POSITION]
    difference = float(scores[2] - scores[0])
    numbers = {
        **in_layer_1(head),
        "difference": significant(difference),
        "times": significant(np.exp(difference)),
    }
    return Outcome(numbers["times"] > 10, numbers)


def bare_tokens_mislead(world: World) -> Outcome:
    """From embeddings alone, the followed head's `=` would score another digit above 0, highest."""
    head, weights = following_head(world), world.snapshot.weights("trained")
    scores = derived.value("blocks.0.attn.token_scores", weights, world.config)[head]
    row = scores[task.TOKEN_ID[task.EQUALS], : len(task.DIGITS)]
    highest = int(row.argmax())
    numbers = {
        **in_layer_1(head),
        "highest_digit": highest,
        "its_score": significant(row[highest]),
        "score_of_0": significant(row[0]),
    }
    return Outcome(highest != 0, numbers)


def same_prefix_same_rows(world: World) -> Outcome:
    """Problems that begin alike have the same rows, in every activation, as far as they do."""
    largest, compared = 0.0, 0
    for a in range(10):
        first = world.traces[f"{a}x0"].values
        for b in range(1, 10):
            other = world.traces[f"{a}x{b}"].values
            for key, value in first.items():
                largest = max(largest, _difference(value, other[key]))
                compared += 1
    return Outcome(largest == 0, {"compared": compared, "largest_difference": largest})


def second_operand_uniform(world: World) -> Outcome:
    """After a×, each digit has nearly a tenth of the probability."""
    rows = np.stack([world.value(f"{a}x0", "probs")[1, : len(task.DIGITS)] for a in range(10)])
    largest = float(np.abs(rows - 1 / len(task.DIGITS)).max())
    numbers = {"prefixes": len(rows), "largest_difference": significant(largest)}
    return Outcome(largest < 0.02, numbers)


def _difference(left: np.ndarray, right: np.ndarray) -> float:
    """Largest difference in the first two rows: `a` and `×`."""
    if left.ndim == 1:
        return float(np.abs(left[:2] - right[:2]).max())
    if left.shape[-1] == left.shape[-2] and left.ndim == 3:  # [head query key]
        left, right = left[..., :2, :2], right[..., :2, :2]
    return float(np.nanmax(np.abs(left[..., :2, :] - right[..., :2, :])))
