"""The network, bottom-up: one forward pass that names every number it makes.

Read from `transformer` upwards or from `layer_norm` downwards; each function is one box of the
diagram. Shapes stand at the end of each line, without the leading axes: every function takes any
number of them, in the activations and in the weights alike. So one problem, a batch of problems,
and a batch in which every row has weights of its own all go through the same lines.

Every intermediate passes through ``record(key, tensor)`` where it is made. The default returns
the tensor as it is; a recorder may keep it, ask for its gradient, or put another in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from model.config import ModelConfig

Weights = Mapping[str, Tensor]
Record = Callable[[str, Tensor], Tensor]


def unrecorded(_key: str, tensor: Tensor) -> Tensor:
    """Return `tensor` as it is: the recorder that records nothing."""
    return tensor


def transformer(
    weights: Weights, tokens: Tensor, config: ModelConfig, record: Record = unrecorded
) -> Tensor:
    """Map token ids to logits: P(next token) = softmax(logits).

    X = TokenEmb[tokens] + PosEmb; X = Block(X), layer after layer; logits = LayerNorm(X) LM.

    TokenEmb [d_vocab d_model] is W_E, PosEmb [pos d_model] is W_pos, LM [d_model d_vocab] is W_U;
    the article calls LayerNorm(X) here Final [pos d_model].

    Parameters
    ----------
    weights
        Every weight of `model.tensors` by key; each may have leading batch axes.
    tokens
        Token ids, [... pos], at most `config.n_ctx` positions.
    config
        Sizes of the network.
    record
        Called with the key and value of every intermediate; what it returns is used.

    Returns
    -------
    Tensor
        Logits [... pos d_vocab].
    """
    n_pos = tokens.shape[-1]
    one_hot = torch.nn.functional.one_hot(tokens, config.d_vocab)  # [pos d_vocab]
    W_E, W_pos = weights["embed.W_E"], weights["pos_embed.W_pos"]

    # A row of one-hot times the table picks the token's row of the table.
    embed = record("embed", one_hot.to(W_E.dtype) @ W_E)  # [pos d_model]
    pos_embed = record("pos_embed", W_pos[..., :n_pos, :].expand_as(embed))  # [pos d_model]
    resid = embed + pos_embed  # [pos d_model]

    for layer in range(config.n_layers):
        resid = block(weights, resid, config, f"blocks.{layer}", record)  # [pos d_model]

    final = layer_norm(weights, resid, config.ln_eps, "ln_final", record)  # [pos d_model]
    logits = record("logits", final @ weights["unembed.W_U"])  # [pos d_vocab]
    record("probs", logits.softmax(-1))  # [pos d_vocab]
    return logits


def block(
    weights: Weights, resid: Tensor, config: ModelConfig, name: str, record: Record
) -> Tensor:
    """Add what attention reads from other rows, then what the MLP makes of each row.

    resid_mid = resid_pre + Attention(LayerNorm(resid_pre));
    resid_post = resid_mid + MLP(LayerNorm(resid_mid)).

    All are [pos d_model]; resid_pre is the article's X. Each part reads a normalized copy and
    adds to the stream itself ("pre-LayerNorm"; Vaswani et al. 2017 normalize after adding).
    """
    resid_pre = record(f"{name}.resid_pre", resid)  # [pos d_model]
    normed = layer_norm(weights, resid_pre, config.ln_eps, f"{name}.ln1", record)
    attn_out = attention(weights, normed, config, name, record)  # [pos d_model]

    resid_mid = record(f"{name}.resid_mid", resid_pre + attn_out)  # [pos d_model]
    normed = layer_norm(weights, resid_mid, config.ln_eps, f"{name}.ln2", record)
    mlp_out = mlp(weights, normed, name, record)  # [pos d_model]

    return record(f"{name}.resid_post", resid_mid + mlp_out)  # [pos d_model]


def attention(
    weights: Weights, x: Tensor, config: ModelConfig, name: str, record: Record
) -> Tensor:
    """Let each row receive from the rows up to itself, in shares computed from the input.

    Q = x W_Q, K = x W_K, V = x W_V; S = Q Kᵀ / √d_head; A = softmax(S) along each row;
    H = A V; AttentionOut = Σ over heads of H W_O (Vaswani et al. 2017, section 3.2).

    x [pos d_model] is the article's X_norm. For each head, Q, K and V [pos d_head] are what
    receivers ask, what sources offer and what they hand over; S and A [query key] score and share
    them out, -∞ and 0 where the source is later than the receiver; H is [pos d_head].
    Head h owns columns h·d_head to (h + 1)·d_head - 1 of W_Q, W_K and W_V [d_model d_model], and
    the same rows of W_O. The paper writes these slices W_i^Q, W_i^K, W_i^V, calls A V head_i, and
    sets the heads side by side before one product with W_O: the same sum.
    """
    n_pos, n_heads, d_head = x.shape[-2], config.n_heads, config.d_head

    def heads(y: Tensor) -> Tensor:
        split = y.reshape(*y.shape[:-1], n_heads, d_head)  # [pos head d_head]
        return split.transpose(-2, -3)  # [head pos d_head]

    q = record(f"{name}.attn.q", heads(x @ weights[f"{name}.attn.W_Q"]))  # [head pos d_head]
    k = record(f"{name}.attn.k", heads(x @ weights[f"{name}.attn.W_K"]))  # [head pos d_head]
    v = record(f"{name}.attn.v", heads(x @ weights[f"{name}.attn.W_V"]))  # [head pos d_head]

    scores = q @ k.transpose(-1, -2) / d_head**0.5  # [head query key]
    future = torch.ones(n_pos, n_pos, dtype=torch.bool).triu(1)  # [query key]
    scores = record(f"{name}.attn.attn_scores", scores.masked_fill(future, -torch.inf))
    pattern = record(f"{name}.attn.pattern", scores.softmax(-1))  # [head query key]
    z = record(f"{name}.attn.z", pattern @ v)  # [head pos d_head]

    W_O = weights[f"{name}.attn.W_O"]  # [d_model d_model]
    W_O = W_O.reshape(*W_O.shape[:-2], n_heads, d_head, -1)  # [head d_head d_model]
    result = record(f"{name}.attn.result", z @ W_O)  # [head pos d_model]
    return record(f"{name}.attn_out", result.sum(-3))  # [pos d_model]


def mlp(weights: Weights, x: Tensor, name: str, record: Record) -> Tensor:
    """Transform each row by itself: ReLU(x W_in + b_in) W_out + b_out.

    x is [pos d_model], W_in [d_model d_mlp], b_in [d_mlp], W_out [d_mlp d_model], b_out
    [d_model]. `pre` and `post` [pos d_mlp] are the hidden layer before and after ReLU. Vaswani
    et al. 2017, section 3.3, write W₁, b₁, W₂, b₂.
    """
    W_in, b_in = weights[f"{name}.mlp.W_in"], weights[f"{name}.mlp.b_in"]
    W_out, b_out = weights[f"{name}.mlp.W_out"], weights[f"{name}.mlp.b_out"]

    pre = record(f"{name}.mlp.pre", x @ W_in + b_in.unsqueeze(-2))  # [pos d_mlp]
    post = record(f"{name}.mlp.post", pre.relu())  # [pos d_mlp]
    return record(f"{name}.mlp_out", post @ W_out + b_out.unsqueeze(-2))  # [pos d_model]


def layer_norm(weights: Weights, x: Tensor, eps: float, name: str, record: Record) -> Tensor:
    """Give each row mean 0 and variance 1, then a learned gain w and bias b.

    normalized = (x - mean) / scale; scale = √(var + eps); out = normalized · w + b
    (Ba, Kiros and Hinton 2016).

    x, normalized and out are [pos d_model]; mean, var and scale [pos] belong to one row, and var
    divides by d_model, not d_model - 1; w and b [d_model] are shared by all rows. The paper
    writes μ, σ for mean and scale, g, b for w and b.
    """
    w, b = weights[f"{name}.w"].unsqueeze(-2), weights[f"{name}.b"].unsqueeze(-2)  # [1 d_model]

    centred = x - x.mean(-1, keepdim=True)  # [pos d_model]
    variance = (centred * centred).mean(-1)  # [pos]
    scale = record(f"{name}.scale", (variance + eps).sqrt())  # [pos]
    normalized = record(f"{name}.normalized", centred / scale.unsqueeze(-1))  # [pos d_model]
    return record(f"{name}.out", normalized * w + b)  # [pos d_model]
