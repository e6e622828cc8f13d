"""Mistakes that lead to a wrong number: what readers are told apart by.

Each has a name and is a small function of the snapshot, so that with another model wrong options
are as wrong as with this one. Which there are depends on the tensor that is asked for; those of
attention are in `builder.quiz.attention`. To add one, write the function and name it in a table.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from builder.errors import did_you_mean
from builder.numbers.address import AddressError
from builder.quiz.asked import Asked, Made, softmax
from builder.quiz.attention import OF_ATTENTION
from model import task
from model.snapshot import STAGES

_OF_PAIRS = ("attn.attn_scores", "attn.pattern")
"""Tensors with a cell for each reader and each source."""


def mistakes_about(at: Asked) -> Mapping[str, Made]:
    """Return the mistakes that can be made with a number, by name."""
    if not at.value.cell:
        return _OF_DOCUMENT.get(at.name, {})
    n_rows, n_columns = at.of(at.name).shape
    can = {
        "wrong-row": n_rows > 1,
        "wrong-column": n_columns > 1,
        "transposed": n_rows == n_columns,
        "other-head": at.head is not None,
        "other-layer": at.layer is not None,
    }
    general = {name: made for name, made in _OF_ANY.items() if can.get(name, True)}
    return {**general, **_OF_TENSOR.get(at.name, {}), **OF_ATTENTION.get(at.name, {})}


def _neighbour(index: int) -> int:
    """The one before; of the first, the one after."""
    return index - 1 if index else 1


def _wrong_row(at: Asked) -> float:
    return float(at.of(at.name)[_neighbour(at.row), at.column])


def _wrong_column(at: Asked) -> float:
    return float(at.of(at.name)[at.row, _neighbour(at.column)])


def _wrong_sign(at: Asked) -> float:
    return -float(at.of(at.name)[at.row, at.column])


def _transposed(at: Asked) -> float:
    return float(at.of(at.name)[at.column, at.row])


def _other_head(at: Asked) -> float:
    return float(at.of(at.name, head=at.other_head)[at.row, at.column])


def _other_layer(at: Asked) -> float:
    other = ((at.layer or 0) + 1) % at.numbers.config.n_layers
    return float(at.of(at.name, layer=other)[at.row, at.column])


def _other_stage(at: Asked) -> float:
    (other,) = (stage for stage in STAGES if stage != at.stage)
    return float(at.whole(at.value.matrix, other)[at.row, at.column])


_OF_ANY: Mapping[str, Made] = {
    "wrong-row": _wrong_row,
    "wrong-column": _wrong_column,
    "wrong-sign": _wrong_sign,
    "transposed": _transposed,
    "other-head": _other_head,
    "other-layer": _other_layer,
    "other-stage": _other_stage,
}


def _probability_without_exponent(at: Asked) -> float:
    """Logits are divided by their sum as they stand."""
    row = at.whole("logits")[at.row]
    return float(row[at.column] / row.sum())


def _probability_down_the_column(at: Asked) -> float:
    """The softmax runs over positions, not over tokens."""
    return float(softmax(at.whole("logits")[: at.n_positions, at.column])[at.row])


def _position_from_one(at: Asked) -> float:
    """Positions are counted from 1."""
    positions = at.whole("pos_embed.W_pos")[:, at.column]
    if at.row + 1 == len(positions):
        return math.nan
    return float(at.whole("embed")[at.row, at.column] + positions[at.row + 1])


def _as_if_answer(at: Asked) -> float:
    """Every token is taken for the right one."""
    return float(at.whole("probs")[at.row, at.column]) - 1


def _plain(name: str) -> Made:
    """What stands in the same place of another matrix, of the same block."""
    return lambda at: float(at.of(name)[at.row, at.column])


def _everywhere(key: str) -> Made:
    """The same, of a matrix that is in no block."""
    return lambda at: float(at.whole(key)[at.row, at.column])


def _one_head(at: Asked) -> float:
    """Only what the first head writes is added."""
    written = at.of("attn.result", head=0)[at.row, at.column]
    return float(at.of("resid_pre")[at.row, at.column] + written)


_OF_TENSOR: Mapping[str, Mapping[str, Made]] = {
    "resid_pre": {"no-position": _everywhere("embed"), "position-from-one": _position_from_one},
    "resid_mid": {
        "replaced": _plain("attn_out"),
        "nothing-added": _plain("resid_pre"),
        "one-head": _one_head,
    },
    "resid_post": {"replaced": _plain("mlp_out"), "nothing-added": _plain("resid_mid")},
    "ln1.out": {"before-gain": _plain("ln1.normalized"), "not-normalized": _plain("resid_pre")},
    "ln_final.out": {"before-gain": _everywhere("ln_final.normalized")},
    "mlp.post": {"no-relu": _plain("mlp.pre")},
    "probs": {
        "score-for-share": _everywhere("logits"),
        "no-exponent": _probability_without_exponent,
        "down-the-column": _probability_down_the_column,
    },
    "∂logits": {"no-answer": _everywhere("probs"), "as-if-answer": _as_if_answer},
}
"""Name of a tensor -> name of a mistake -> what it leads to."""


def _targets(at: Asked, per_problem: int) -> float:
    return at.listed("manifest.task.n_problems") * per_problem


_OF_DOCUMENT: Mapping[str, Mapping[str, Made]] = {
    "manifest.task.n_targets": {
        "one-a-problem": lambda at: _targets(at, 1),
        "all-of-two-digits": lambda at: _targets(at, task.MAX_INPUTS),
        "no-end": lambda at: at.listed("manifest.task.n_targets") - _targets(at, 1),
    },
    "claims.isolated-rows-limit.most_correct": {
        "one-operand": lambda _at: float(len(task.DIGITS)),
        "counted-twice": lambda _at: 2.0 * len(task.DIGITS),
        "one-problem": lambda _at: 1.0,
    },
    "claims.zero-outscores-seven.times": {
        "difference": lambda at: at.listed("claims.zero-outscores-seven.difference"),
        "no-scale": lambda at: at.listed("claims.zero-outscores-seven.times") ** at.root,
        "power-of-two": lambda at: 2 ** at.listed("claims.zero-outscores-seven.difference"),
    },
    "claims.gradients-cancel.size_of_sum": {
        "all-agree": lambda at: at.listed("claims.gradients-cancel.sum_of_sizes"),
        "all-cancel": lambda _at: 0.0,
        "all-perpendicular": lambda at: (
            at.listed("claims.gradients-cancel.sum_of_sizes")
            / math.sqrt(at.listed("manifest.task.n_problems"))
        ),
    },
    "claims.loss-near-floor.floor": {
        "zero": lambda _at: 0.0,
        "every-guess": lambda _at: math.log(len(task.DIGITS)),
        "whole-vocabulary": lambda at: (
            math.log(task.N_TOKENS)
            * at.listed("manifest.task.n_problems")
            / at.listed("manifest.task.n_targets")
        ),
    },
}


def value_of(name: str, at: Asked) -> float:
    """Return the number that a mistake leads to.

    Raises
    ------
    AddressError
        If the mistake cannot be made with this number, or if what it leads to is masked.
    """
    known = mistakes_about(at)
    if name not in known:
        message = f"`{name}` is no mistake with `{at.value.address}`"
        hint = did_you_mean(name, known) or "none is known: say by `address` what is read instead"
        raise AddressError("unknown-mistake", message, hint)
    if at.name.endswith(_OF_PAIRS) and at.column > at.row:
        message = f"`{at.value.address}` is of a source that comes after its reader"
        raise AddressError("no-number", message, "choose a column up to the row")
    found = known[name](at)
    if not np.isfinite(found):
        message = f"`{name}` leads to no number here"
        raise AddressError("no-number", message, "choose another mistake, or another place")
    return found
