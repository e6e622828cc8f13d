"""The row of `=`: the same in every problem until attention, different after it."""

from __future__ import annotations

import numpy as np

from builder.claims.world import STORED_PRECISION, Outcome, World, significant
from model import task


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
    return Outcome(largest < STORED_PRECISION, {"largest_difference": significant(largest)})


def equals_row_differs(world: World) -> Outcome:
    """After the attention of layer 1, the row of `=` tells all pairs of problems apart."""
    rows = world.equals_rows("blocks.0.resid_mid")
    distances = np.abs(rows[:, None] - rows[None]).max(-1)  # [problem problem]
    pairs = distances[np.triu_indices(len(rows), 1)]
    mirrored = distances[_index("7x8"), _index("8x7")]
    numbers = {
        "pairs": len(pairs),
        "different_pairs": int((pairs > STORED_PRECISION).sum()),
        "smallest_difference": significant(pairs.min()),
        "7x8_8x7_difference": significant(mirrored),
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


def _index(problem: str) -> int:
    return [p.name for p in task.PROBLEMS].index(problem)
