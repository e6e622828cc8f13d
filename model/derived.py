"""Products of weights that the article speaks of: not learned and not stored, but made from both.

A head's four matrices occur in two pairs only, W_Q W_Kᵀ and W_V W_O (Elhage et al. 2021, "A
Mathematical Framework for Transformer Circuits"). The other rows of the table follow a head from
one token's embedding to another's, or to the logits, as if there were no positions, no LayerNorm
and no other part: a sketch, which says where to look.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from model.config import ModelConfig
from model.encoding import rounded
from model.tensors import TensorSpec, Vocabulary, read_table

Array = NDArray[np.float64]

# key | letter | axes | zh | en | left × right: ᵀ transposes the right one, / divides by √d_head
_PRODUCTS = """
attn.W_QK         | W_Q W_K⊤ | head d_model d_model | 决定从哪里读的合并矩阵：读的一行在左，被读的一行在右 | the merged matrix that decides where to read: the reading row at its left, the row read at its right | attn.W_Q × attn.W_Kᵀ
attn.W_OV         | W_V W_O  | head d_model d_model | 决定写成什么的合并矩阵：被读的一行进，写入残差流的一行出 | the merged matrix that decides what is written: from the row read to the row written | attn.W_V × attn.W_O
attn.token_q      |         | head d_vocab d_head  | 只用词向量时，每个 token 的 Query | the query of each bare token embedding | embed.W_E × attn.W_Q
attn.token_k      |         | head d_vocab d_head  | 只用词向量时，每个 token 的 Key | the key of each bare token embedding | embed.W_E × attn.W_K
attn.token_scores |         | head d_vocab d_vocab | 只用词向量时的分数；行是读的 token，列是被读的 token | scores between bare token embeddings; a row reads, a column is read | attn.token_q × attn.token_kᵀ /
attn.token_result |         | head d_vocab d_model | 只用词向量时，读到每个 token 会写入残差流的数 | what reading each bare token embedding writes to the residual stream | embed.W_E × attn.W_OV
attn.token_logits |         | head d_vocab d_vocab | 只用词向量时，读到行上的 token，直接给列上的 token 加多少分 | what reading the token of a row adds directly to the score of the token of a column | attn.token_result × unembed.W_U
"""


@dataclass(frozen=True, slots=True)
class Product:
    """One row of the table: left × right, head by head.

    `left` and `right` are keys of weights or of other products.
    """

    spec: TensorSpec
    left: str
    right: str
    is_right_transposed: bool
    is_scaled: bool


def products(config: ModelConfig) -> dict[str, Product]:
    """Return every product of a model of given sizes, by key."""
    rows = [line.rpartition(" | ") for line in _PRODUCTS.strip().splitlines()]
    made = (_product(row, how, layer) for layer in range(config.n_layers) for row, _, how in rows)
    return {product.spec.key: product for product in made}


def value(key: str, weights: Mapping[str, NDArray[np.float32]], config: ModelConfig) -> Array:
    """Compute a product from stored weights.

    Returns
    -------
    Array
        [head row column], rounded as numbers of the snapshot are.
    """
    return rounded(_unrounded(key, weights, config))


def _product(row: str, how: str, layer: int) -> Product:
    (spec,) = read_table(row, is_weight=True, layer=layer)
    left, right = (
        side if side.startswith(("embed", "unembed")) else f"blocks.{layer}.{side}"
        for side in how.rstrip(" /").split(" × ")
    )
    return Product(spec, left, right.rstrip("ᵀ"), right.endswith("ᵀ"), how.endswith("/"))


def _unrounded(key: str, weights: Mapping[str, NDArray[np.float32]], config: ModelConfig) -> Array:
    if key in weights:
        return _by_head(weights[key].astype(np.float64), Vocabulary(config)[key], config)
    product = products(config)[key]
    left, right = (_unrounded(side, weights, config) for side in (product.left, product.right))
    if product.is_right_transposed:
        right = right.swapaxes(-1, -2)
    made: Array = left @ right  # [head row column]
    return made / np.sqrt(config.d_head) if product.is_scaled else made


def _by_head(weight: Array, spec: TensorSpec, config: ModelConfig) -> Array:
    """The parts of a weight that belong to the heads, or the one weight that all of them use."""
    if spec.head_axis is None:
        return weight[None]
    return np.stack(np.split(weight, config.n_heads, axis=spec.head_axis))  # [head ...]
