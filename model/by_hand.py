"""Loss and gradients of many seeds at once, by hand: each operation beside its derivative.

The network of `model.transformer` again, for training alone. Autograd starts hundreds of small
operations for each seed and step; here the seeds are one more axis of a few large ones. A value is
[seed d_model column]: W is applied as Wᵀ x, so that columns stay side by side in memory. `d_x` is
∂loss/∂x and has the shape of x. Sums come in another order than in `model.transformer`; the grid of
the optimizer removes the difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from model.columns import Columns
from model.config import ModelConfig
from model.reading import Reader, Reading

Weights = Mapping[str, Tensor]
Gradients = dict[str, Tensor]


@dataclass(frozen=True, slots=True)
class Network:
    """A model of given sizes on given columns, for any number of seeds.

    Attributes
    ----------
    config, columns
        Sizes, and what is read.
    reading
        How attention shares come about.
    """

    config: ModelConfig
    columns: Columns
    reading: Reading

    def step(self, weights: Weights) -> tuple[Tensor, Tensor, Gradients]:
        """Return each seed's mean loss in nats [seed], correct problems [seed], and gradients.

        Weights and gradients are [seed, axes of the key].
        """
        W_E, W_pos = weights["embed.W_E"], weights["pos_embed.W_pos"]
        x = torch.cat([W_E, W_pos], 1).mT @ self.columns.picks  # [seed d_model column]
        blocks = [self._block(weights, f"blocks.{i}") for i in range(self.config.n_layers)]
        for block in blocks:
            x = block.forward(x)

        final = LayerNorm(weights, "ln_final", self.config.ln_eps)
        out = final.forward(x)
        logits = weights["unembed.W_U"].mT @ out  # [seed d_vocab column]
        loss, d_logits = self._loss(logits)

        g: Gradients = {"unembed.W_U": out @ d_logits.mT}
        d_x = final.backward(weights["unembed.W_U"] @ d_logits, g)
        for block in reversed(blocks):
            d_x = block.backward(d_x, g)
        d_table = self.columns.picks @ d_x.mT  # [seed d_vocab + n_ctx d_model]
        g["embed.W_E"] = d_table[:, : self.config.d_vocab]
        g["pos_embed.W_pos"] = d_table[:, self.config.d_vocab :]
        return loss, self.columns.correct(logits), g

    def _block(self, weights: Weights, name: str) -> Block:
        eps = self.config.ln_eps
        return Block(
            LayerNorm(weights, f"{name}.ln1", eps),
            Attention(weights, f"{name}.attn", self.config.n_heads, self.columns, self.reading),
            LayerNorm(weights, f"{name}.ln2", eps),
            MLP(weights, f"{name}.mlp"),
        )

    def _loss(self, logits: Tensor) -> tuple[Tensor, Tensor]:
        """-ln P of all targets, averaged; d_logits = (P · targets here - targets) / targets."""
        counts = self.columns.counts  # [d_vocab column]
        total = counts.sum()
        shifted = logits - logits.amax(1, keepdim=True)
        e = shifted.exp()
        z = e.sum(1, keepdim=True)  # [seed 1 column]
        loss = ((z.log() - shifted) * counts).sum((1, 2)) / total  # [seed]
        return loss, (e / z * counts.sum(0) - counts) / total


class Block:
    """x ← x + Attention(LayerNorm(x)); x ← x + MLP(LayerNorm(x))."""

    def __init__(self, ln1: LayerNorm, attention: Attention, ln2: LayerNorm, mlp: MLP) -> None:
        self.ln1, self.attention, self.ln2, self.mlp = ln1, attention, ln2, mlp

    def forward(self, x: Tensor) -> Tensor:
        """Add what each part makes of a normalized copy."""
        x = x + self.attention.forward(self.ln1.forward(x))
        return x + self.mlp.forward(self.ln2.forward(x))

    def backward(self, d_x: Tensor, g: Gradients) -> Tensor:
        """Both terms of a sum receive the whole gradient."""
        d_x = d_x + self.ln2.backward(self.mlp.backward(d_x, g), g)
        return d_x + self.ln1.backward(self.attention.backward(d_x, g), g)


class LayerNorm:
    """normalized = (x - mean) / scale; out = normalized · w + b."""

    def __init__(self, weights: Weights, name: str, eps: float) -> None:
        self.name, self.eps = name, eps
        self.w, self.b = weights[f"{name}.w"].unsqueeze(-1), weights[f"{name}.b"].unsqueeze(-1)

    def forward(self, x: Tensor) -> Tensor:
        """Normalize each column."""
        centred = x - x.mean(1, keepdim=True)
        self.scale = ((centred * centred).mean(1, keepdim=True) + self.eps).sqrt()
        self.normalized = centred / self.scale
        return self.normalized * self.w + self.b

    def backward(self, d_out: Tensor, g: Gradients) -> Tensor:
        """Moving x along (1, …, 1) or along `normalized` changes nothing; the rest passes on."""
        n = self.normalized
        g[f"{self.name}.w"], g[f"{self.name}.b"] = (d_out * n).sum(-1), d_out.sum(-1)
        d_n = d_out * self.w
        d_centred = d_n - d_n.mean(1, keepdim=True) - n * (d_n * n).mean(1, keepdim=True)
        return d_centred / self.scale


class MLP:
    """ReLU(x W_in + b_in) W_out + b_out."""

    def __init__(self, weights: Weights, name: str) -> None:
        self.name = name
        self.W_in, self.W_out = weights[f"{name}.W_in"], weights[f"{name}.W_out"]
        self.b_in, self.b_out = weights[f"{name}.b_in"], weights[f"{name}.b_out"]

    def forward(self, x: Tensor) -> Tensor:
        """Transform each column by itself."""
        self.x = x
        pre = torch.baddbmm(self.b_in.unsqueeze(-1), self.W_in.mT, x)  # [seed d_mlp column]
        self.post = pre.relu_()
        return torch.baddbmm(self.b_out.unsqueeze(-1), self.W_out.mT, self.post)

    def backward(self, d_out: Tensor, g: Gradients) -> Tensor:
        """ReLU lets through where it let through."""
        g[f"{self.name}.b_out"] = d_out.sum(-1)
        g[f"{self.name}.W_out"] = self.post @ d_out.mT
        d_pre = (self.W_out @ d_out).mul_(self.post > 0)  # [seed d_mlp column]
        g[f"{self.name}.b_in"] = d_pre.sum(-1)
        g[f"{self.name}.W_in"] = self.x @ d_pre.mT
        return self.W_in @ d_pre


class Attention:
    """Q, K, V = x W_Q, x W_K, x W_V; H = A V; out = H W_O."""

    def __init__(
        self, weights: Weights, name: str, n_heads: int, columns: Columns, reading: Reading
    ) -> None:
        self.name, self.n_heads, self.columns, self.reading = name, n_heads, columns, reading
        self.qkv = torch.cat([weights[f"{name}.{W}"] for W in ("W_Q", "W_K", "W_V")], -1)
        self.W_O = weights[f"{name}.W_O"]

    def forward(self, x: Tensor) -> Tensor:
        """Let stems read themselves, and the rest both its stem and itself."""
        self.x = x
        qkv = self.qkv.mT @ x  # [seed 3·d_model column]
        q, k, v = qkv.view(len(x), 3, self.n_heads, -1, x.shape[-1]).unbind(1)
        (q0, q1), (k0, k1), (v0, v1) = map(self.columns.split, (q, k, v))
        self.stem = Reader(self.reading, q0, k0, v0)
        self.rest = Reader(self.reading, q1, self._before(k0, k1), self._before(v0, v1))
        self.z = self.columns.join(self.stem.z, self.rest.z).flatten(1, 2)
        return self.W_O.mT @ self.z  # [seed d_model column]

    def backward(self, d_out: Tensor, g: Gradients) -> Tensor:
        """The members of a group add up what they ask of their stem."""
        g[f"{self.name}.W_O"] = self.z @ d_out.mT
        d_z = (self.W_O @ d_out).view(len(self.x), self.n_heads, -1, self.x.shape[-1])
        d_stem, d_rest = self.columns.split(d_z)
        (q0, *kv0), (q1, *kv1) = self.stem.backward(d_stem), self.rest.backward(d_rest)
        n_stem = self.columns.n_stem
        joined = [self.columns.join(q0, q1)]
        for stem, rest in zip(kv0, kv1, strict=True):
            asked = rest[:, :, :, :n_stem].sum(-1)  # [seed head d_head pos group]
            joined.append(self.columns.join(stem + asked, rest[:, :, :, n_stem:]))
        d_qkv = torch.stack(joined, 1).flatten(1, 3)  # [seed 3·d_model column]
        d_W = (self.x @ d_qkv.mT).chunk(3, -1)
        g.update(zip((f"{self.name}.{W}" for W in ("W_Q", "W_K", "W_V")), d_W, strict=True))
        return self.qkv @ d_qkv

    def _before(self, stem: Tensor, rest: Tensor) -> Tensor:
        """Put a group's stem before what each of its members has [... pos group member]."""
        shared = stem.unsqueeze(-1).expand(*stem.shape, self.columns.n_members)
        return torch.cat([shared, rest], 3)
