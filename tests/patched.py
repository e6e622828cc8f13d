"""The network of `tests/reference.py` with cells overwritten on the way, as a reader does it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tests.reference import EPS, Array, Tensors, attention_head, matmul, relu, softmax

Edits = Mapping[str, Mapping[tuple[int, ...], float]]
"""Key -> indices in its tensor -> the number that stands there whatever is computed."""


class Patch:
    """Keeps every tensor as it is used: after its cells were overwritten."""

    def __init__(self, edits: Edits) -> None:
        self.edits = edits
        self.values: Tensors = {}

    def __call__(self, key: str, value: Array) -> Array:
        value = value.copy()
        for index, number in self.edits.get(key, {}).items():
            value[index] = number
        self.values[key] = value
        return value


def forward(
    weights: Mapping[str, Array], ids: list[int], n_layers: int, n_heads: int, edits: Edits
) -> Tensors:
    """Every intermediate of one sequence of token ids, by key, with cells overwritten."""
    weights = {key: Patch(edits)(key, np.asarray(w, np.float64)) for key, w in weights.items()}
    patch = Patch(edits)
    x = patch("embed", weights["embed.W_E"][ids])
    x = x + patch("pos_embed", weights["pos_embed.W_pos"][: len(ids)])
    for layer in range(n_layers):
        x = _block(weights, patch, x, f"blocks.{layer}.", n_heads)
    x = _norm(weights, patch, x, "ln_final")
    patch("probs", softmax(patch("logits", matmul(x, weights["unembed.W_U"]))))
    return patch.values


def _norm(weights: Mapping[str, Array], patch: Patch, x: Array, name: str) -> Array:
    centred = x - x.mean(-1, keepdims=True)
    scale = patch(f"{name}.scale", np.sqrt((centred**2).mean(-1) + EPS))
    normalized = patch(f"{name}.normalized", centred / scale[:, None])
    return patch(f"{name}.out", normalized * weights[f"{name}.w"] + weights[f"{name}.b"])


def _block(weights: Mapping[str, Array], patch: Patch, x: Array, at: str, n_heads: int) -> Array:
    x = patch(at + "resid_pre", x)
    x = patch(at + "resid_mid", x + _attention(weights, patch, x, at, n_heads))
    n = _norm(weights, patch, x, at + "ln2")
    pre = patch(at + "mlp.pre", matmul(n, weights[at + "mlp.W_in"]) + weights[at + "mlp.b_in"])
    post = patch(at + "mlp.post", relu(pre))
    out = matmul(post, weights[at + "mlp.W_out"]) + weights[at + "mlp.b_out"]
    return patch(at + "resid_post", x + patch(at + "mlp_out", out))


def _attention(
    weights: Mapping[str, Array], patch: Patch, x: Array, at: str, n_heads: int
) -> Array:
    n = _norm(weights, patch, x, at + "ln1")
    names = {"q": "W_Q", "k": "W_K", "v": "W_V"}
    q, k, v = (
        patch(f"{at}attn.{name}", _heads(matmul(n, weights[f"{at}attn.{W}"]), n_heads))
        for name, W in names.items()
    )
    scores = [attention_head(q[h], k[h], v[h])[0] for h in range(n_heads)]
    scores = patch(at + "attn.attn_scores", np.stack(scores))
    pattern = patch(at + "attn.pattern", softmax(scores))
    z = patch(at + "attn.z", pattern @ v)
    W_O = weights[at + "attn.W_O"].reshape(n_heads, -1, x.shape[1])
    result = patch(at + "attn.result", z @ W_O)
    return patch(at + "attn_out", result.sum(0))


def _heads(all_heads: Array, n_heads: int) -> Array:
    """[pos d_model] to [head pos d_head]: a head owns columns that stand together."""
    return all_heads.reshape(len(all_heads), n_heads, -1).swapaxes(0, 1)
