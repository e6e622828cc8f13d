"""A site's numbers, indexed straight in its JSON files: nothing that builds pages has a part in it.

It reads what the pages of this site show, no more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def matrix(site: Path, figure: Mapping[str, str]) -> NDArray[np.float64]:
    """The matrix that the `data-` attributes of a figure name, whole; NaN where there is null."""
    key, stage = figure["key"], figure["stage"]
    if "target" in figure:
        targets = read(site, f"gradients/{stage}/{figure['problem']}.json")["targets"]
        values = targets[int(figure["target"])]["grads"][key]
    elif "problem" in figure:
        values = read(site, f"traces/{stage}/{figure['problem']}.json")["values"][key]
    elif key.split(".")[-1] in PRODUCTS:
        return product(site, key, int(figure["head"]), stage)
    else:
        values = read(site, f"weights/{stage}.json")["tensors"][key]
    array = np.array(values, dtype=np.float64)
    if "head" in figure:
        array = of_head(array, key, int(figure["head"]), read(site, "manifest.json")["model"])
    array = np.atleast_2d(array)
    return array.T if figure.get("transposed") else array


PRODUCTS = {
    "W_QK": lambda w: w("attn.W_Q") @ w("attn.W_K").T,
    "W_OV": lambda w: w("attn.W_V") @ w("attn.W_O"),
    "token_scores": lambda w: (w("E") @ w("attn.W_Q")) @ (w("E") @ w("attn.W_K")).T / 2,
    "token_logits": lambda w: w("E") @ (w("attn.W_V") @ w("attn.W_O")) @ w("U"),
}
"""What pages show of products of weights, for heads that are 4 wide."""


def product(site: Path, key: str, head: int, stage: str) -> NDArray[np.float64]:
    """A product of weights of one head, with 7 digits."""
    _, layer, *_, name = key.split(".")
    tensors = read(site, f"weights/{stage}.json")["tensors"]
    sizes = read(site, "manifest.json")["model"]

    def weight(name: str) -> NDArray[np.float64]:
        if name in ("E", "U"):
            whole = tensors["embed.W_E" if name == "E" else "unembed.W_U"]
            return np.float32(whole).astype(np.float64)
        array = np.float32(tensors[f"blocks.{layer}.{name}"]).astype(np.float64)
        return of_head(array, name, head, sizes)

    made = PRODUCTS[name](weight)
    return np.array([[float(f"{cell:.6e}") for cell in row] for row in made])


def of_head(
    array: NDArray[np.float64], key: str, head: int, sizes: Mapping[str, int]
) -> NDArray[np.float64]:
    """One head: of an activation by its first index, of a weight its columns, of W_O its rows."""
    if array.ndim == 3:
        assert len(array) == sizes["n_heads"]
        return array[head]
    first, last = head * sizes["d_head"], (head + 1) * sizes["d_head"]
    return array[first:last] if key.endswith("W_O") else array[:, first:last]


def number(site: Path, address: str, stage: str, problem: str) -> float:
    """The number at an address of the prose."""
    source, *path = address.split(".")
    if source == "claims":
        (claim,) = (c for c in read(site, "claims.json")["claims"] if c["id"] == path[0])
        return float(claim["numbers"][path[1]])
    if source == "evidence":
        found = read(site, f"evidence/{path[0]}.json")
        for name in path[1:]:
            found = found[name]
        return float(found)
    if source == "manifest":
        found = read(site, "manifest.json")
        for name in path:
            found = found[name]
        return float(found)
    key, selectors = address.removesuffix("]").split("[")
    trace = read(site, f"traces/{stage}/{problem}.json")
    *head, row, column = selectors.split(",")
    tokens = trace["tokens"]
    columns = read(site, "dataset.json")["vocab"] if key == "probs" else tokens
    values = trace["values"][key]
    for index in map(int, head):
        values = values[index]
    at = _place(row, tokens)
    if column == "@next":
        problems = read(site, "dataset.json")["problems"]
        (whole,) = (known["tokens"] for known in problems if known["problem"] == problem)
        column = whole[at + 1]
    is_index = key.split(".")[-1] in ("q", "k", "v", "z", "result")
    return float(values[at][int(column) if is_index else _place(column, columns)])


@cache
def read(site: Path, path: str) -> Any:
    return json.loads((site / "snapshots" / path).read_text("utf-8"))


def _place(selector: str, labels: Sequence[str]) -> int:
    if re.fullmatch(r"@\d+", selector):
        return int(selector[1:])
    assert labels.count(selector) == 1
    return labels.index(selector)
