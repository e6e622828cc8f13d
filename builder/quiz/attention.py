"""Mistakes with the numbers of an attention head, forward and backward.

Each is computed from the stored matrices of the same head, as a reader would who makes it. Rows
receive and columns are read; S = q·k/√d, A = softmax(S), H = A V.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from builder.numbers.matrix import Array
from builder.quiz.asked import Asked, Made, softmax


def _dots(at: Asked) -> Array:
    """q·k of every pair, masked or not, and without scale [query key]."""
    dots: Array = at.of("attn.q") @ at.of("attn.k").T
    return dots


def _seen(at: Asked) -> slice:
    """The sources that the row may read."""
    return slice(0, at.row + 1)


def _share_down_the_column(at: Asked) -> float:
    """The softmax runs over who reads, not over who is read."""
    column = at.of("attn.attn_scores")[at.column : at.n_positions, at.column]
    return float(softmax(column)[at.row - at.column])


def _share_without_exponent(at: Asked) -> float:
    """Scores are divided by their sum as they stand."""
    scores = at.of("attn.attn_scores")[at.row, _seen(at)]
    return float(scores[at.column] / scores.sum())


_SCORES: Mapping[str, Made] = {
    "no-scale": lambda at: float(_dots(at)[at.row, at.column]),
    "scaled-by-width": lambda at: float(_dots(at)[at.row, at.column] / at.root**2),
    "transposed": lambda at: float(_dots(at)[at.column, at.row] / at.root),
    "query-with-query": lambda at: float(
        at.of("attn.q")[at.row] @ at.of("attn.q")[at.column] / at.root
    ),
}

_PATTERN: Mapping[str, Made] = {
    "no-scale": lambda at: float(softmax(_dots(at)[at.row, _seen(at)])[at.column]),
    "no-mask": lambda at: float(softmax(_dots(at)[at.row, : at.n_positions] / at.root)[at.column]),
    "down-the-column": _share_down_the_column,
    "no-exponent": _share_without_exponent,
    "uniform": lambda at: 1 / (at.row + 1),
}


def _largest(at: Asked) -> int:
    """The source with the largest share of the row."""
    return int(at.of("attn.pattern")[at.row].argmax())


_HEAD_OUTPUT: Mapping[str, Made] = {
    "largest-alone": lambda at: float(at.of("attn.v")[_largest(at), at.column]),
    "largest-share-alone": lambda at: float(
        at.of("attn.pattern")[at.row, _largest(at)] * at.of("attn.v")[_largest(at), at.column]
    ),
    "no-shares": lambda at: float(at.of("attn.v")[_seen(at), at.column].sum()),
    "uniform": lambda at: float(at.of("attn.v")[_seen(at), at.column].mean()),
    "keys-for-values": lambda at: float(
        at.of("attn.pattern")[at.row] @ at.of("attn.k")[:, at.column]
    ),
    "transposed-shares": lambda at: float(
        at.of("attn.pattern")[: at.n_positions, at.row]
        @ at.of("attn.v")[: at.n_positions, at.column]
    ),
}


def _rows_of_other_head(at: Asked) -> float:
    """H meets those rows of W_O that belong to the next head."""
    return float(at.of("attn.z")[at.row] @ at.of("attn.W_O", at.other_head)[:, at.column])


def _usefulness(at: Asked) -> tuple[Array, Array]:
    """Shares A of the row, and what reading more of each source does to the loss: u."""
    seen = _seen(at)
    return at.of("attn.pattern")[at.row, seen], at.of("∂attn.pattern")[at.row, seen]


def _not_less_the_mean(at: Asked) -> float:
    shares, u = _usefulness(at)
    return float(shares[at.column] * u[at.column])


def _less_the_plain_mean(at: Asked) -> float:
    shares, u = _usefulness(at)
    return float(shares[at.column] * (u[at.column] - u.mean()))


def _not_times_the_share(at: Asked) -> float:
    shares, u = _usefulness(at)
    return float(u[at.column] - shares @ u)


def _asked_of_keys(at: Asked, shares: Array, name: str) -> float:
    """What some weights of the row's sources make of a column of k, or of q in its place."""
    return float(shares[at.row] @ at.of(name)[: len(shares), at.column])


def _score_gradients(at: Asked) -> Array:
    """G_S [query key], up to the target; a masked cell has none."""
    return np.nan_to_num(at.of("∂attn.attn_scores"))


def _shares_up_to_target(at: Asked) -> Array:
    n_rows = len(at.of("∂attn.z"))
    return at.of("attn.pattern")[:n_rows, :n_rows]


_GRADIENTS: Mapping[str, Mapping[str, Made]] = {
    "∂attn.pattern": {
        "keys-for-values": lambda at: float(at.of("∂attn.z")[at.row] @ at.of("attn.k")[at.column]),
        "times-the-share": _not_less_the_mean,
    },
    "∂attn.attn_scores": {
        "no-mean": _not_less_the_mean,
        "plain-mean": _less_the_plain_mean,
        "no-share": _not_times_the_share,
    },
    "∂attn.q": {
        "no-scale": lambda at: _asked_of_keys(at, _score_gradients(at), "attn.k"),
        "queries-for-keys": lambda at: _asked_of_keys(at, _score_gradients(at), "attn.q") / at.root,
        "shares-for-gradients": lambda at: (
            _asked_of_keys(at, _shares_up_to_target(at), "attn.k") / at.root
        ),
    },
    "∂attn.v": {
        "no-shares": lambda at: float(at.of("∂attn.z")[:, at.column].sum()),
        "transposed-shares": lambda at: float(
            _shares_up_to_target(at)[at.row] @ at.of("∂attn.z")[:, at.column]
        ),
    },
}

OF_ATTENTION: Mapping[str, Mapping[str, Made]] = {
    "attn.attn_scores": _SCORES,
    "attn.pattern": _PATTERN,
    "attn.z": _HEAD_OUTPUT,
    "attn.result": {"rows-of-other-head": _rows_of_other_head},
    **_GRADIENTS,
}
"""Name of a tensor -> name of a mistake -> what it leads to."""
