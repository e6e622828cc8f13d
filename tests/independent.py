"""A site's numbers computed once more from its stored weights: no part of the model is used.

`tests.reference` does the mathematics; here it is only said which matrix is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests import reference
from tests.stored import of_head, read

Array = NDArray[np.float64]

HEADS, LAYERS, D_HEAD = 2, 2, 4


def matrix(site: Path, weights: str, data: Mapping[str, str]) -> Array:
    """The matrix that the `data-` attributes of a figure name, whole; NaN where it is masked.

    `weights` are `initial`, `trained` or those of a step, such as `step-0100`.
    """
    key, head = data["key"], data.get("head")
    if data.get("target"):
        found = backward(site, weights, data["problem"], int(data["target"]))[1][key]
    elif key.rpartition(".")[2] in PRODUCTS:
        layer = int(key.split(".")[1])
        found = PRODUCTS[key.rpartition(".")[2]](stored_weights(site, weights), layer, int(head))
        head = None
    elif key in stored_weights(site, weights):
        found = stored_weights(site, weights)[key]
    else:
        found = forward(site, weights, data["problem"])[key]
        found = np.where(np.isinf(found), np.nan, found)
    if head:
        found = of_head(found, key, int(head), read(site, "manifest.json")["model"])
    found = np.atleast_2d(found)
    return found.T if data.get("transposed") else found


def is_stored(number: float, exact: float) -> bool:
    """Whether a number with seven digits is this one, but for the last digits of the sums."""
    return abs(number - exact) <= 6e-7 * abs(exact) + 1e-11


@cache
def stored_weights(site: Path, name: str) -> Mapping[str, Array]:
    tensors = read(site, f"weights/{name}.json")["tensors"]
    return {key: np.array(value, dtype=np.float32).astype(float) for key, value in tensors.items()}


@cache
def forward(site: Path, weights: str, problem: str) -> Mapping[str, Array]:
    ids = _ids(site, problem)[:-1]
    return reference.forward(stored_weights(site, weights), ids, LAYERS, HEADS)


@cache
def backward(
    site: Path, weights: str, problem: str, position: int
) -> tuple[float, Mapping[str, Array]]:
    """The loss of one target, and every gradient of it."""
    ids, w = _ids(site, problem), stored_weights(site, weights)
    given, wanted = ids[: position + 1], ids[position + 1]
    values = reference.forward(w, given, LAYERS, HEADS)
    loss, *gradients = reference.backward(w, values, given, position, wanted, LAYERS, HEADS)
    return loss, {**gradients[0], **gradients[1]}


def _ids(site: Path, problem: str) -> list[int]:
    dataset = read(site, "dataset.json")
    (tokens,) = (p["tokens"] for p in dataset["problems"] if p["problem"] == problem)
    return [dataset["vocab"].index(token) for token in tokens]


def _weight(w: Mapping[str, Array], name: str, layer: int, head: int) -> Array:
    own = slice(D_HEAD * head, D_HEAD * head + D_HEAD)
    whole = w[f"blocks.{layer}.attn.{name}"]
    return whole[own] if name == "W_O" else whole[:, own]


def _qk(w: Mapping[str, Array], layer: int, head: int) -> Array:
    return _weight(w, "W_Q", layer, head) @ _weight(w, "W_K", layer, head).T


def _ov(w: Mapping[str, Array], layer: int, head: int) -> Array:
    return _weight(w, "W_V", layer, head) @ _weight(w, "W_O", layer, head)


PRODUCTS = {
    "W_QK": _qk,
    "W_OV": _ov,
    "token_q": lambda w, *at: w["embed.W_E"] @ _weight(w, "W_Q", *at),
    "token_k": lambda w, *at: w["embed.W_E"] @ _weight(w, "W_K", *at),
    "token_scores": lambda w, *at: w["embed.W_E"] @ _qk(w, *at) @ w["embed.W_E"].T / 2,
    "token_result": lambda w, *at: w["embed.W_E"] @ _ov(w, *at),
    "token_logits": lambda w, *at: w["embed.W_E"] @ _ov(w, *at) @ w["unembed.W_U"],
}
