"""Mistakes made once more, from the equations alone: what each wrong number of a quiz must be.

Nothing of `builder` or `model` has a part in it. A reader makes the mistake with the very numbers
that `tests.reference` computes from the stored weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests import independent
from tests.stored import read

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Place:
    """A number that is asked for: of a tensor, by the indices of its cell."""

    site: Path
    key: str
    at: tuple[int, ...]
    stage: str
    problem: str
    target: int | None = None
    until: int = 3
    """The last position that the question is about; unless it says so, that of `=`."""

    @property
    def n_positions(self) -> int:
        return max(self.until, self.at[-2] if len(self.at) > 1 else 0) + 1

    def number(self, **other: object) -> float:
        """The number at the place, or at one that differs from it."""
        place = Place(**{**self.__dict__, **other})
        return float(place.array()[place.at])

    def array(self) -> Array:
        """The whole tensor, without what is masked."""
        name = self.key.rpartition(".")[2]
        weights = independent.stored_weights(self.site, self.stage)
        if self.target is not None:
            made = independent.backward(self.site, self.stage, self.problem, self.target)[1]
            return np.asarray(made[self.key])
        if name in independent.PRODUCTS:
            make, layer = independent.PRODUCTS[name], int(self.key.split(".")[1])
            return np.stack([make(weights, layer, head) for head in range(2)])
        if self.key in weights:
            return np.asarray(weights[self.key])
        return np.asarray(independent.forward(self.site, self.stage, self.problem)[self.key])

    def head(self, name: str, head: int | None = None) -> Array:
        """A matrix of the same block, of the same head."""
        prefix = ".".join(self.key.split(".")[:2])
        whole = independent.forward(self.site, self.stage, self.problem)[f"{prefix}.attn.{name}"]
        return np.asarray(whole[self.at[0] if head is None else head])

    def slope(self, name: str) -> Array:
        """The same of the gradients of the loss."""
        assert self.target is not None
        made = independent.backward(self.site, self.stage, self.problem, self.target)[1]
        prefix = ".".join(self.key.split(".")[:2])
        return np.asarray(made[f"{prefix}.attn.{name}"][self.at[0]])

    def block(self, name: str) -> float:
        """The number in the same row and column of another matrix of the block."""
        prefix = self.key.rpartition(".")[0]
        values = independent.forward(self.site, self.stage, self.problem)
        return float(values[f"{prefix}.{name}"][self.at[-2:]])

    def anywhere(self, key: str) -> float:
        """The same of a matrix that is in no block."""
        return float(independent.forward(self.site, self.stage, self.problem)[key][self.at[-2:]])


def before(index: int) -> int:
    return 1 if index == 0 else index - 1


def soft(scores: Array) -> Array:
    powers = np.array([math.exp(score) for score in scores])
    return np.asarray(powers / sum(powers))


def moved(p: Place, axis: int, index: int) -> float:
    at = list(p.at)
    at[axis] = index
    return p.number(at=tuple(at))


def other_layer(p: Place) -> float:
    blocks, layer, rest = p.key.split(".", 2)
    return p.number(key=f"{blocks}.{1 - int(layer)}.{rest}")


def turned(p: Place) -> float:
    return p.number(at=(*p.at[:-2], p.at[-1], p.at[-2]))


GENERAL: Mapping[str, Callable[[Place], float]] = {
    "wrong-row": lambda p: moved(p, -2, before(p.at[-2])),
    "wrong-column": lambda p: moved(p, -1, before(p.at[-1])),
    "wrong-sign": lambda p: -p.number(),
    "transposed": turned,
    "other-head": lambda p: moved(p, 0, 1 - p.at[0]),
    "other-layer": other_layer,
    "other-stage": lambda p: p.number(stage={"initial": "trained", "trained": "initial"}[p.stage]),
}


def q_k(p: Place, row: int, column: int) -> float:
    return sum(a * b for a, b in zip(p.head("q")[row], p.head("k")[column], strict=True))


def scores_of(p: Place, row: int, n: int, scale: float) -> Array:
    return np.array([q_k(p, row, column) * scale for column in range(n)])


def down(p: Place) -> float:
    """Every row of the question that sees the source shares it."""
    _, row, column = p.at
    rows = range(column, p.n_positions)
    return float(soft(np.array([q_k(p, r, column) / 2 for r in rows]))[row - column])


def raw_share(p: Place) -> float:
    scores = scores_of(p, p.at[1], p.at[1] + 1, 0.5)
    return float(scores[p.at[2]] / sum(scores))


def v_seen(p: Place) -> Array:
    return p.head("v")[: p.at[1] + 1, p.at[2]]


def u_and_shares(p: Place) -> tuple[Array, Array]:
    row = p.at[1]
    shares = p.head("pattern")[row, : row + 1]
    u = np.array([float(p.slope("z")[row] @ v) for v in p.head("v")[: row + 1]])
    return u, shares


def centred(p: Place, weights: Array | None) -> float:
    u = u_and_shares(p)[0]
    mean = 0.0 if weights is None else float(sum(weights * u))
    return float(u[p.at[2]] - mean)


def share_of(p: Place) -> float:
    return float(p.head("pattern")[p.at[1], p.at[2]])


def sum_over_sources(p: Place, table: Array, name: str) -> float:
    row, column = p.at[1:]
    return float(sum(table[row, j] * p.head(name)[j, column] for j in range(row + 1)))


def plain_weights(p: Place) -> Array:
    return np.full(p.at[1] + 1, 1 / (p.at[1] + 1))


def logits(p: Place) -> Array:
    return np.asarray(independent.forward(p.site, p.stage, p.problem)["logits"])


def embedded_one_on(p: Place) -> float:
    row, column = p.at
    table = independent.stored_weights(p.site, p.stage)["pos_embed.W_pos"]
    return p.anywhere("embed") + float(table[row + 1, column])


OF_TENSOR: Mapping[str, Mapping[str, Callable[[Place], float]]] = {
    "attn.attn_scores": {
        "no-scale": lambda p: q_k(p, *p.at[1:]),
        "scaled-by-width": lambda p: q_k(p, *p.at[1:]) / 4,
        "transposed": lambda p: q_k(p, p.at[2], p.at[1]) / 2,
        "query-with-query": lambda p: float(p.head("q")[p.at[1]] @ p.head("q")[p.at[2]]) / 2,
    },
    "attn.pattern": {
        "no-scale": lambda p: soft(scores_of(p, p.at[1], p.at[1] + 1, 1.0))[p.at[2]],
        "no-mask": lambda p: soft(scores_of(p, p.at[1], p.n_positions, 0.5))[p.at[2]],
        "down-the-column": down,
        "no-exponent": raw_share,
        "uniform": lambda p: 1 / (p.at[1] + 1),
    },
    "attn.z": {
        "largest-share-alone": lambda p: (
            max(p.head("pattern")[p.at[1]])
            * p.head("v")[int(np.argmax(p.head("pattern")[p.at[1]])), p.at[2]]
        ),
        "largest-alone": lambda p: p.head("v")[int(np.argmax(p.head("pattern")[p.at[1]])), p.at[2]],
        "no-shares": lambda p: sum(v_seen(p)),
        "uniform": lambda p: sum(v_seen(p)) / len(v_seen(p)),
        "keys-for-values": lambda p: p.head("pattern")[p.at[1]] @ p.head("k")[:, p.at[2]],
        "transposed-shares": lambda p: sum(
            p.head("pattern")[row, p.at[1]] * p.head("v")[row, p.at[2]]
            for row in range(p.n_positions)
        ),
    },
    "attn.result": {
        "rows-of-other-head": lambda p: float(
            p.head("z")[p.at[1]]
            @ independent.stored_weights(p.site, p.stage)[p.key.replace("result", "W_O")][
                4 * (1 - p.at[0]) : 4 * (1 - p.at[0]) + 4, p.at[2]
            ]
        ),
    },
    "resid_pre": {
        "no-position": lambda p: p.anywhere("embed"),
        "position-from-one": embedded_one_on,
    },
    "resid_mid": {
        "replaced": lambda p: p.block("attn_out"),
        "nothing-added": lambda p: p.block("resid_pre"),
        "one-head": lambda p: p.block("resid_pre") + float(p.head("result", 0)[p.at]),
    },
    "resid_post": {
        "replaced": lambda p: p.block("mlp_out"),
        "nothing-added": lambda p: p.block("resid_mid"),
    },
    "ln1.out": {
        "before-gain": lambda p: p.anywhere(p.key.replace("out", "normalized")),
        "not-normalized": lambda p: p.anywhere(p.key.replace("ln1.out", "resid_pre")),
    },
    "ln_final.out": {
        "before-gain": lambda p: p.anywhere("ln_final.normalized"),
    },
    "mlp.post": {"no-relu": lambda p: p.block("pre")},
    "probs": {
        "score-for-share": lambda p: logits(p)[p.at],
        "no-exponent": lambda p: logits(p)[p.at] / sum(logits(p)[p.at[0]]),
        "down-the-column": lambda p: soft(logits(p)[: p.n_positions, p.at[1]])[p.at[0]],
    },
    "∂logits": {
        "no-answer": lambda p: p.anywhere("probs"),
        "as-if-answer": lambda p: p.anywhere("probs") - 1,
    },
    "∂attn.pattern": {
        "keys-for-values": lambda p: p.slope("z")[p.at[1]] @ p.head("k")[p.at[2]],
        "times-the-share": lambda p: share_of(p) * centred(p, None),
    },
    "∂attn.attn_scores": {
        "no-mean": lambda p: share_of(p) * centred(p, None),
        "plain-mean": lambda p: share_of(p) * centred(p, plain_weights(p)),
        "no-share": lambda p: centred(p, u_and_shares(p)[1]),
    },
    "∂attn.q": {
        "no-scale": lambda p: sum_over_sources(p, p.slope("attn_scores"), "k"),
        "queries-for-keys": lambda p: sum_over_sources(p, p.slope("attn_scores"), "q") / 2,
        "shares-for-gradients": lambda p: sum_over_sources(p, p.head("pattern"), "k") / 2,
    },
    "∂attn.v": {
        "no-shares": lambda p: sum(p.slope("z")[:, p.at[2]]),
        "transposed-shares": lambda p: sum(
            p.head("pattern")[p.at[1], row] * slope
            for row, slope in enumerate(p.slope("z")[:, p.at[2]])
        ),
    },
}


def of_document(site: Path, address: str) -> Mapping[str, float]:
    """Mistakes with counts, losses and what claims rest on."""
    two_digits = sum(a * b > 9 for a in range(10) for b in range(10))
    guesses = 5 * (100 - two_digits) + 6 * two_digits
    found: dict[str, Mapping[str, float]] = {
        "manifest.task.n_targets": {
            "one-a-problem": 100,
            "all-of-two-digits": 600,
            "no-end": guesses - 100,
        },
        "claims.loss-near-floor.floor": {
            "zero": 0,
            "every-guess": math.log(10),
            "whole-vocabulary": 100 * math.log(14) / guesses,
        },
        "claims.isolated-rows-limit.most_correct": {
            "one-operand": 10,
            "counted-twice": 20,
            "one-problem": 1,
        },
    }
    if address == "claims.zero-outscores-seven.times":
        numbers = _claim(site, "zero-outscores-seven")
        d = numbers["difference"]
        return {"difference": d, "power-of-two": 2**d, "no-scale": math.exp(2 * d)}
    if address == "claims.gradients-cancel.size_of_sum":
        total = _claim(site, "gradients-cancel")["sum_of_sizes"]
        return {"all-agree": total, "all-perpendicular": total / 10, "all-cancel": 0}
    return found.get(address, {})


def _claim(site: Path, name: str) -> Mapping[str, float]:
    claims = read(site, "claims.json")["claims"]
    (numbers,) = (claim["numbers"] for claim in claims if claim["id"] == name)
    return dict(numbers)


def mistaken(p: Place, name: str) -> float:
    """What a mistake with a number of a tensor leads to."""
    tensor = p.key.split(".", 2)[2] if p.key.startswith("blocks.") else p.key
    own = OF_TENSOR.get("∂" * (p.target is not None) + tensor, {})
    return float({**GENERAL, **own}[name](p))
