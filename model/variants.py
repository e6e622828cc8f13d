"""The mechanism with one part changed: what a control trains in place of the full model.

A variant is made of what `model.transformer` takes anyway: other sizes, other tensors in place of
the learned ones, and a recorder that puts another value in the place of one that was computed. So
one forward pass serves all of them, and autograd finds by itself what is learned and what no
longer matters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model.config import ModelConfig
from model.transformer import Record, Weights, unrecorded

Array = NDArray[np.float64]


def _no_tables(_config: ModelConfig) -> dict[str, Array]:
    return {}


def _as_learned(weights: Weights) -> Weights:
    return weights


def _records_nothing(_weights: Weights) -> Record:
    return unrecorded


@dataclass(frozen=True, slots=True)
class Variant:
    """What is changed.

    Attributes
    ----------
    name
        What tables call it.
    sizes
        Fields of the model that differ.
    tables
        Weights that only this variant has, at their start, by key.
    use
        From the learned weights to those that the network is given.
    record
        From the same weights to the recorder of every forward pass.
    """

    name: str
    sizes: Mapping[str, int] = field(default_factory=dict)
    tables: Callable[[ModelConfig], dict[str, Array]] = _no_tables
    use: Callable[[Weights], Weights] = _as_learned
    record: Callable[[Weights], Record] = _records_nothing


FULL = Variant("full")


def replacing(name: str, make: Callable[[Tensor], Tensor]) -> Record:
    """Return a recorder that puts another tensor in the place of each whose key ends so."""

    def record(key: str, tensor: Tensor) -> Tensor:
        return make(tensor) if key.endswith(name) else tensor

    return record


def plain_average(pattern: Tensor) -> Tensor:
    """Return the table that gives all visible positions the same share [... query key]."""
    visible = torch.ones_like(pattern).tril()  # [... query key]
    return visible / visible.sum(-1, keepdim=True)  # [... query key]


uniform_pattern = replacing("attn.pattern", plain_average)
"""Puts the plain average over the visible positions in place of every reading table A."""


def _without(name: str) -> Callable[[Weights], Record]:
    return lambda _weights: replacing(name, torch.zeros_like)


def _tied(to: str, from_: str) -> Callable[[Weights], Weights]:
    """Use one matrix of each layer in place of another too."""

    def use(weights: Weights) -> Weights:
        return {key: weights[key.replace(to, from_)] for key in weights}

    return use


def _score_tables(config: ModelConfig) -> dict[str, Array]:
    shape = (config.n_heads, config.n_ctx, config.n_ctx)  # [head query key]
    return {f"blocks.{layer}.attn.table": np.zeros(shape) for layer in range(config.n_layers)}


def _fixed_pattern(weights: Weights) -> Record:
    """Take A from a learned table of scores that no input can change: softmax of it, masked."""

    def record(key: str, tensor: Tensor) -> Tensor:
        if not key.endswith("attn.pattern"):
            return tensor
        n_pos = tensor.shape[-1]
        table = weights[key.replace("pattern", "table")][..., :n_pos, :n_pos]  # [head query key]
        future = torch.ones(n_pos, n_pos, dtype=torch.bool).triu(1)  # [query key]
        return table.masked_fill(future, -torch.inf).softmax(-1).expand_as(tensor)

    return record


UNIFORM = Variant("uniform", record=lambda _weights: uniform_pattern)

CONTROLS = (
    FULL,
    Variant("no_attention", record=_without("attn_out")),
    Variant("fixed_table", tables=_score_tables, record=_fixed_pattern),
    UNIFORM,
    Variant("k_tied_to_q", use=_tied("attn.W_K", "attn.W_Q")),
    Variant("v_tied_to_k", use=_tied("attn.W_V", "attn.W_K")),
    Variant("one_head", sizes={"n_heads": 1}),
    Variant("one_layer", sizes={"n_layers": 1}),
    Variant("no_positions", record=_without("pos_embed")),
    Variant("no_mlp", record=_without("mlp_out")),
)
"""Every control, the full model first, in the order of the article's table."""
