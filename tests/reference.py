"""The network a second time: forward and backward from the equations alone, in NumPy.

It shares no line with `model/`, not even a name: whoever doubts the one can read the other. One
problem at a time, one loop over layers, one over heads. Every operation is a pair: what it
computes, and below it how a gradient passes back through it, with the forward line quoted above
its derivative. `d_y` is ∂loss/∂y and has the shape of y; G_y in the article.

Rows are positions: a row vector times a matrix, `y = x @ W`, with W [in, out].
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Tensors = dict[str, Array]

EPS = 1e-5


# --- one operation, and its derivative ------------------------------------------------------


def matmul(x: Array, W: Array) -> Array:
    return x @ W  # [pos in] @ [in out] = [pos out]


def matmul_backward(d_y: Array, x: Array, W: Array) -> tuple[Array, Array]:
    # y = x @ W: y_ij = Σ_k x_ik W_kj, so x_ik meets every y_i·, and W_kj every y_·j.
    d_x = d_y @ W.T  # [pos out] @ [out in] = [pos in]
    d_W = x.T @ d_y  # [in pos] @ [pos out] = [in out]
    return d_x, d_W


def softmax(s: Array) -> Array:
    e = np.exp(s - s.max(-1, keepdims=True))  # [query key]; the shift cancels in the quotient
    return e / e.sum(-1, keepdims=True)  # [query key]


def softmax_backward(d_a: Array, a: Array) -> Array:
    # a_j = e^s_j / Σ_k e^s_k: ∂a_j/∂s_i = a_j (1[i = j] - a_i), row by row.
    return a * (d_a - (a * d_a).sum(-1, keepdims=True))  # [query key]


def layer_norm(x: Array, w: Array, b: Array) -> tuple[Array, Array, Array]:
    centred = x - x.sum(-1, keepdims=True) / x.shape[-1]  # [pos d_model]
    scale = np.sqrt((centred**2).sum(-1) / x.shape[-1] + EPS)  # [pos]
    normalized = centred / scale[:, None]  # [pos d_model]
    return scale, normalized, normalized * w + b  # [pos], [pos d_model], [pos d_model]


def layer_norm_backward(
    d_out: Array, scale: Array, normalized: Array, w: Array
) -> tuple[Array, Array, Array, Array]:
    # out = normalized * w + b: w and b are shared by all rows, so their gradients add up.
    d_normalized = d_out * w  # [pos d_model]
    d_w = (d_out * normalized).sum(0)  # [d_model]
    d_b = d_out.sum(0)  # [d_model]
    # normalized = (x - mean) / scale: moving x along (1, ..., 1) changes nothing, and moving it
    # along `normalized` changes next to nothing; what is left after removing both passes on.
    d_model = w.size
    along_ones = d_normalized.sum(-1, keepdims=True) / d_model  # [pos 1]
    along_itself = (d_normalized * normalized).sum(-1, keepdims=True) / d_model  # [pos 1]
    d_x = (d_normalized - along_ones - normalized * along_itself) / scale[:, None]
    return d_x, d_normalized, d_w, d_b  # [pos d_model] x 2, [d_model] x 2


def relu(x: Array) -> Array:
    return np.where(x > 0, x, 0.0)  # [pos d_mlp]


def relu_backward(d_y: Array, x: Array) -> Array:
    # y = max(x, 0): slope 1 where x is positive, 0 elsewhere.
    return np.where(x > 0, d_y, 0.0)  # [pos d_mlp]


def attention_head(q: Array, k: Array, v: Array) -> tuple[Array, Array, Array]:
    n_pos, d_head = q.shape
    s = q @ k.T / np.sqrt(d_head)  # [query d_head] @ [d_head key] = [query key]
    for query in range(n_pos):
        s[query, query + 1 :] = -np.inf  # no row reads a later one
    a = softmax(s)  # [query key]
    return s, a, a @ v  # ... and [query key] @ [key d_head] = [pos d_head]


def attention_head_backward(
    d_h: Array, q: Array, k: Array, v: Array, a: Array
) -> tuple[Array, Array, Array, Array, Array]:
    # h = a @ v
    d_a = d_h @ v.T  # [query d_head] @ [d_head key] = [query key]
    d_v = a.T @ d_h  # [key query] @ [query d_head] = [key d_head]
    # a = softmax(s): where a is 0, in the future, d_s is 0 too.
    d_s = softmax_backward(d_a, a)  # [query key]
    # s = q @ k.T / sqrt(d_head)
    d_q = d_s @ k / np.sqrt(q.shape[1])  # [query key] @ [key d_head] = [query d_head]
    d_k = d_s.T @ q / np.sqrt(q.shape[1])  # [key query] @ [query d_head] = [key d_head]
    return d_q, d_k, d_v, d_s, d_a


# --- the whole network, forward -------------------------------------------------------------


def forward(weights: Mapping[str, Array], ids: list[int], n_layers: int, n_heads: int) -> Tensors:
    """Every intermediate of one sequence of token ids, by key."""
    t: Tensors = {}
    t["embed"] = np.array([weights["embed.W_E"][i] for i in ids])  # [pos d_model]
    t["pos_embed"] = weights["pos_embed.W_pos"][: len(ids)]  # [pos d_model]
    x = t["embed"] + t["pos_embed"]  # [pos d_model]
    for layer in range(n_layers):
        x = forward_block(weights, t, x, f"blocks.{layer}.", n_heads)  # [pos d_model]
    x = forward_layer_norm(weights, t, x, "ln_final")  # [pos d_model]
    t["logits"] = matmul(x, weights["unembed.W_U"])  # [pos d_vocab]
    t["probs"] = softmax(t["logits"])  # [pos d_vocab]
    return t


def forward_layer_norm(weights: Mapping[str, Array], t: Tensors, x: Array, name: str) -> Array:
    scale, normalized, out = layer_norm(x, weights[name + ".w"], weights[name + ".b"])
    t[name + ".scale"], t[name + ".normalized"], t[name + ".out"] = scale, normalized, out
    return out  # [pos d_model]


def forward_block(
    weights: Mapping[str, Array], t: Tensors, x: Array, at: str, n_heads: int
) -> Array:
    t[at + "resid_pre"] = x  # [pos d_model]
    n = forward_layer_norm(weights, t, x, at + "ln1")  # [pos d_model]

    Q, K, V = (matmul(n, weights[at + "attn." + W]) for W in ("W_Q", "W_K", "W_V"))
    d_head = x.shape[1] // n_heads
    per_head = []
    for head in range(n_heads):
        own = slice(head * d_head, (head + 1) * d_head)  # its columns of W_Q, W_K and W_V
        q, k, v = Q[:, own], K[:, own], V[:, own]  # [pos d_head] each
        s, a, h = attention_head(q, k, v)  # [query key] x 2, [pos d_head]
        r = matmul(h, weights[at + "attn.W_O"][own])  # [pos d_model]
        per_head.append((q, k, v, s, a, h, r))
    names = ("q", "k", "v", "attn_scores", "pattern", "z", "result")
    for name, heads in zip(names, zip(*per_head, strict=True), strict=True):
        t[at + "attn." + name] = np.stack(heads)  # [head ...]
    t[at + "attn_out"] = sum(t[at + "attn.result"])  # [pos d_model]

    x = t[at + "resid_mid"] = x + t[at + "attn_out"]  # [pos d_model]
    n = forward_layer_norm(weights, t, x, at + "ln2")  # [pos d_model]
    t[at + "mlp.pre"] = matmul(n, weights[at + "mlp.W_in"]) + weights[at + "mlp.b_in"]
    t[at + "mlp.post"] = relu(t[at + "mlp.pre"])  # [pos d_mlp]
    t[at + "mlp_out"] = matmul(t[at + "mlp.post"], weights[at + "mlp.W_out"])
    t[at + "mlp_out"] = t[at + "mlp_out"] + weights[at + "mlp.b_out"]  # [pos d_model]
    x = t[at + "resid_post"] = x + t[at + "mlp_out"]  # [pos d_model]
    return x


# --- the whole network, backward ------------------------------------------------------------


def backward(
    weights: Mapping[str, Array],
    t: Tensors,
    ids: list[int],
    position: int,
    target: int,
    n_layers: int,
    n_heads: int,
) -> tuple[float, Tensors, Tensors]:
    """Loss of one target, and its gradients: by activation key, and by weight key."""
    g: Tensors = {}  # gradients of activations
    G: Tensors = {}  # gradients of weights
    # loss = -ln P[position, target]; P = softmax(logits)
    loss = -float(np.log(t["probs"][position, target]))  # nats
    g["logits"] = np.zeros_like(t["logits"])  # [pos d_vocab]
    g["logits"][position] = t["probs"][position]
    g["logits"][position, target] -= 1.0

    # logits = out @ W_U
    g["ln_final.out"], G["unembed.W_U"] = matmul_backward(
        g["logits"], t["ln_final.out"], weights["unembed.W_U"]
    )
    d_x = backward_layer_norm(weights, t, g, G, "ln_final")  # [pos d_model]
    for layer in reversed(range(n_layers)):
        d_x = backward_block(weights, t, g, G, d_x, f"blocks.{layer}.", n_heads)

    # x = embed + pos_embed; each is a row of a table, looked up
    g["embed"] = g["pos_embed"] = d_x  # [pos d_model]
    G["embed.W_E"] = np.zeros_like(weights["embed.W_E"])  # [d_vocab d_model]
    for pos, token in enumerate(ids):
        G["embed.W_E"][token] += d_x[pos]
    G["pos_embed.W_pos"] = np.zeros_like(weights["pos_embed.W_pos"])  # [n_ctx d_model]
    G["pos_embed.W_pos"][: len(ids)] = d_x
    return loss, g, G


def backward_layer_norm(
    weights: Mapping[str, Array], t: Tensors, g: Tensors, G: Tensors, name: str
) -> Array:
    d_x, g[name + ".normalized"], G[name + ".w"], G[name + ".b"] = layer_norm_backward(
        g[name + ".out"], t[name + ".scale"], t[name + ".normalized"], weights[name + ".w"]
    )
    return d_x  # [pos d_model]


def backward_block(
    weights: Mapping[str, Array],
    t: Tensors,
    g: Tensors,
    G: Tensors,
    d_x: Array,
    at: str,
    n_heads: int,
) -> Array:
    # resid_post = resid_mid + mlp_out: both terms receive the whole gradient.
    g[at + "resid_post"] = g[at + "mlp_out"] = d_x  # [pos d_model]
    backward_mlp(weights, t, g, G, at)
    d_x = d_x + backward_layer_norm(weights, t, g, G, at + "ln2")  # [pos d_model]
    # resid_mid = resid_pre + attn_out
    g[at + "resid_mid"] = g[at + "attn_out"] = d_x  # [pos d_model]
    backward_attention(weights, t, g, G, at, n_heads)
    d_x = d_x + backward_layer_norm(weights, t, g, G, at + "ln1")  # [pos d_model]
    g[at + "resid_pre"] = d_x
    return d_x


def backward_mlp(weights: Mapping[str, Array], t: Tensors, g: Tensors, G: Tensors, at: str) -> None:
    # mlp_out = post @ W_out + b_out; every row adds the same bias
    G[at + "mlp.b_out"] = g[at + "mlp_out"].sum(0)  # [d_model]
    g[at + "mlp.post"], G[at + "mlp.W_out"] = matmul_backward(
        g[at + "mlp_out"], t[at + "mlp.post"], weights[at + "mlp.W_out"]
    )
    # post = relu(pre); pre = out @ W_in + b_in
    g[at + "mlp.pre"] = relu_backward(g[at + "mlp.post"], t[at + "mlp.pre"])  # [pos d_mlp]
    G[at + "mlp.b_in"] = g[at + "mlp.pre"].sum(0)  # [d_mlp]
    g[at + "ln2.out"], G[at + "mlp.W_in"] = matmul_backward(
        g[at + "mlp.pre"], t[at + "ln2.out"], weights[at + "mlp.W_in"]
    )


def backward_attention(
    weights: Mapping[str, Array], t: Tensors, g: Tensors, G: Tensors, at: str, n_heads: int
) -> None:
    at = at + "attn."
    q, k, v, a, h = (t[at + name] for name in ("q", "k", "v", "pattern", "z"))  # [head ...]
    d_out = g[at.removesuffix("attn.") + "attn_out"]  # [pos d_model]
    d_head = q.shape[2]
    G[at + "W_O"] = np.zeros_like(weights[at + "W_O"])  # [d_model d_model]
    per_head = []
    for head in range(n_heads):
        own = slice(head * d_head, (head + 1) * d_head)  # its rows of W_O
        # attn_out = result of head 1 + result of head 2; result = h @ (its rows of W_O)
        d_h, G[at + "W_O"][own] = matmul_backward(d_out, h[head], weights[at + "W_O"][own])
        d_q, d_k, d_v, d_s, d_a = attention_head_backward(d_h, q[head], k[head], v[head], a[head])
        per_head.append((d_q, d_k, d_v, d_s, d_a, d_h, d_out))
    names = ("q", "k", "v", "attn_scores", "pattern", "z", "result")
    for name, heads in zip(names, zip(*per_head, strict=True), strict=True):
        g[at + name] = np.stack(heads)  # [head ...]

    # Q = n @ W_Q, K = n @ W_K, V = n @ W_V: n is read three times, so three gradients add up.
    n = t[at.removesuffix("attn.") + "ln1.out"]  # [pos d_model]
    d_n = np.zeros_like(n)  # [pos d_model]
    for name, W in (("q", "W_Q"), ("k", "W_K"), ("v", "W_V")):
        d_all_heads = np.hstack(list(g[at + name]))  # [pos d_model]: heads side by side
        d_n_part, G[at + W] = matmul_backward(d_all_heads, n, weights[at + W])
        d_n = d_n + d_n_part
    g[at.removesuffix("attn.") + "ln1.out"] = d_n
