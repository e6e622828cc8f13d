"""The vocabulary: key, letter, axes and meaning of every tensor that the project names.

A key is TransformerLens's name with ``hook_`` removed; ours alone are `ln1.out`, `ln2.out`,
`ln_final.out`, `logits` and `probs`. A gradient has the key and the shape of its value.
Captions, texts for those who cannot see, and the snapshot files derive from this table.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from model.config import ModelConfig


class Range(Enum):
    """What values a tensor can take; it decides the colours."""

    SIGNED = "signed"
    POSITIVE = "positive"
    PROBABILITY = "probability"


class UnknownTensorError(KeyError):
    """A key that is not in the table. `nearest` is the most similar key that is, or None."""

    def __init__(self, key: str, nearest: str | None) -> None:
        super().__init__(key)
        self.key = key
        self.nearest = nearest

    def __str__(self) -> str:
        hint = f"; did you mean `{self.nearest}`?" if self.nearest else ""
        return f"no tensor is called `{self.key}`{hint}"


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """One row of the vocabulary.

    Attributes
    ----------
    key
        Full name, layer filled in, such as `blocks.0.attn.pattern`.
    letter
        What the article's formulas call it, such as A; empty where they do not.
    axes
        Out of: batch pos query key head d_model d_head d_mlp d_vocab.
    zh, en
        What it is, in one line, in each language.
    is_weight
        Learned, or computed for an input.
    has_gradient
        Whether the loss is differentiated with respect to it.
    range
        What values it can take.
    layer
        Index of the block it belongs to, or None.
    head_axis
        For a weight that the heads share: the axis along which each owns an equal part, in the
        order of the heads. None for all others.
    """

    key: str
    letter: str
    axes: tuple[str, ...]
    zh: str
    en: str
    is_weight: bool
    has_gradient: bool = True
    range: Range = Range.SIGNED
    layer: int | None = None
    head_axis: int | None = None

    @property
    def name(self) -> str:
        """The key without the prefix of its block, such as `attn.pattern`."""
        return self.key if self.layer is None else self.key.split(".", 2)[2]

    @property
    def meaning(self) -> Mapping[str, str]:
        """The one-line meaning by language code."""
        return {"zh": self.zh, "en": self.en}

    def shape(self, config: ModelConfig, n_pos: int | None = None) -> tuple[int, ...]:
        """Sizes of the axes; `n_pos` is the number of positions (default: all `n_ctx`)."""
        positions = config.n_ctx if n_pos is None else n_pos
        sizes = {"pos": positions, "query": positions, "key": positions, "head": config.n_heads}
        return tuple(sizes[a] if a in sizes else int(getattr(config, a)) for a in self.axes)


# key | letter | axes | zh | en | notes: words of _NOTES, separated by commas
_EMBED_WEIGHTS = """
embed.W_E           | TokenEmb     | d_vocab d_model  | 每个 token 的一行 | one row a token
pos_embed.W_pos     | PosEmb       | pos d_model      | 每个位置的一行 | one row a position
"""

_BLOCK_WEIGHTS = """
ln1.w               |              | d_model          | 第一个 LayerNorm 的增益 | gain of the first LayerNorm
ln1.b               |              | d_model          | 第一个 LayerNorm 的偏置 | bias of the first LayerNorm
attn.W_Q            | W_Q          | d_model d_model  | 产生 Query；列由各头平分 | makes queries; each head owns an equal share of the columns | heads in columns
attn.W_K            | W_K          | d_model d_model  | 产生 Key；列由各头平分 | makes keys; each head owns an equal share of the columns | heads in columns
attn.W_V            | W_V          | d_model d_model  | 产生 Value；列由各头平分 | makes values; each head owns an equal share of the columns | heads in columns
attn.W_O            | W_O          | d_model d_model  | 把各头写回残差流；行由各头平分 | writes the heads back to the residual stream; each head owns an equal share of the rows | heads in rows
ln2.w               |              | d_model          | 第二个 LayerNorm 的增益 | gain of the second LayerNorm
ln2.b               |              | d_model          | 第二个 LayerNorm 的偏置 | bias of the second LayerNorm
mlp.W_in            | W_in         | d_model d_mlp    | MLP 的第一张矩阵 | first matrix of the MLP
mlp.b_in            | b_in         | d_mlp            | MLP 的第一个偏置 | first bias of the MLP
mlp.W_out           | W_out        | d_mlp d_model    | MLP 的第二张矩阵 | second matrix of the MLP
mlp.b_out           | b_out        | d_model          | MLP 的第二个偏置 | second bias of the MLP
"""

_FINAL_WEIGHTS = """
ln_final.w          |              | d_model          | 最后的 LayerNorm 的增益 | gain of the final LayerNorm
ln_final.b          |              | d_model          | 最后的 LayerNorm 的偏置 | bias of the final LayerNorm
unembed.W_U         | LM           | d_model d_vocab  | 输出矩阵：每个 token 一列 | output matrix: one column a token
"""

_EMBED_ACTIVATIONS = """
embed               |              | pos d_model      | 查到的 TokenEmb 行 | the TokenEmb rows looked up
pos_embed           |              | pos d_model      | 查到的 PosEmb 行 | the PosEmb rows looked up
"""

_BLOCK_ACTIVATIONS = """
resid_pre           | X            | pos d_model      | 本层入口的残差流 | residual stream entering the block
ln1.scale           |              | pos              | 第一个 LayerNorm 的分母：每行的标准差 | denominator of the first LayerNorm: each row's standard deviation | no gradient, positive
ln1.normalized      |              | pos d_model      | 第一个 LayerNorm：减均值、除以标准差之后，乘增益之前 | the first LayerNorm: centred and scaled, before gain and bias
ln1.out             | X_norm       | pos d_model      | 第一个 LayerNorm 的输出：乘增益、加偏置之后 | output of the first LayerNorm: after gain and bias
attn.q              | Q            | head pos d_head  | 接收者的 Query | queries: the receivers' side
attn.k              | K            | head pos d_head  | 来源的 Key | keys: the sources' side
attn.v              | V            | head pos d_head  | 来源的 Value | values: what the sources hand over
attn.attn_scores    | S            | head query key   | 分数 QKᵀ/√d_head；行是接收者，列是来源 | scores QKᵀ/√d_head; a row receives, a column is read
attn.pattern        | A            | head query key   | 读取比例；行是接收者，列是来源，每行和为 1 | reading shares; a row receives, a column is read, rows sum to 1 | probability
attn.z              | H            | head pos d_head  | 头的输出 AV | output of the head, AV
attn.result         | HW_O         | head pos d_model | 一个头写回残差流的部分 | what one head writes to the residual stream
attn_out            | AttentionOut | pos d_model      | 各头之和 | sum over the heads
resid_mid           |              | pos d_model      | 加上注意力之后的残差流 | residual stream after attention
ln2.scale           |              | pos              | 第二个 LayerNorm 的分母：每行的标准差 | denominator of the second LayerNorm: each row's standard deviation | no gradient, positive
ln2.normalized      |              | pos d_model      | 第二个 LayerNorm：减均值、除以标准差之后，乘增益之前 | the second LayerNorm: centred and scaled, before gain and bias
ln2.out             |              | pos d_model      | 第二个 LayerNorm 的输出：乘增益、加偏置之后 | output of the second LayerNorm: after gain and bias
mlp.pre             |              | pos d_mlp        | MLP 隐层，ReLU 之前 | hidden layer of the MLP before ReLU
mlp.post            |              | pos d_mlp        | MLP 隐层，ReLU 之后 | hidden layer of the MLP after ReLU | positive
mlp_out             |              | pos d_model      | MLP 的输出 | output of the MLP
resid_post          |              | pos d_model      | 本层出口的残差流 | residual stream leaving the block
"""

_FINAL_ACTIVATIONS = """
ln_final.scale      |              | pos              | 最后的 LayerNorm 的分母：每行的标准差 | denominator of the final LayerNorm: each row's standard deviation | no gradient, positive
ln_final.normalized |              | pos d_model      | 最后的 LayerNorm：减均值、除以标准差之后，乘增益之前 | the final LayerNorm: centred and scaled, before gain and bias
ln_final.out        | Final        | pos d_model      | 最后的 LayerNorm 的输出：乘增益、加偏置之后 | output of the final LayerNorm: after gain and bias
logits              | logits       | pos d_vocab      | 每个 token 的分数 | a score for each of the tokens
probs               | P            | pos d_vocab      | 下一个 token 的概率，每行和为 1 | probability of each next token, rows sum to 1 | no gradient, probability
"""


_NOTES: Mapping[str, Mapping[str, Any]] = {
    "no gradient": {"has_gradient": False},
    "positive": {"range": Range.POSITIVE},
    "probability": {"range": Range.PROBABILITY},
    "heads in columns": {"head_axis": 1},
    "heads in rows": {"head_axis": 0},
}


class Vocabulary(Mapping[str, TensorSpec]):
    """Every tensor of a model of given sizes, weights first, in the order of the forward pass."""

    def __init__(self, config: ModelConfig) -> None:
        self.config = config
        layers = range(config.n_layers)
        specs = [
            *read_table(_EMBED_WEIGHTS, is_weight=True),
            *(spec for layer in layers for spec in read_table(_BLOCK_WEIGHTS, True, layer)),
            *read_table(_FINAL_WEIGHTS, is_weight=True),
            *read_table(_EMBED_ACTIVATIONS, is_weight=False),
            *(spec for layer in layers for spec in read_table(_BLOCK_ACTIVATIONS, False, layer)),
            *read_table(_FINAL_ACTIVATIONS, is_weight=False),
        ]
        self._specs = {spec.key: spec for spec in specs}

    def __getitem__(self, key: str) -> TensorSpec:
        if key not in self._specs:
            raise UnknownTensorError(key, self.nearest(key))
        return self._specs[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._specs)

    def __len__(self) -> int:
        return len(self._specs)

    @property
    def weights(self) -> tuple[str, ...]:
        """Keys of everything that is learned, in the order in which digests are taken."""
        return tuple(key for key, spec in self._specs.items() if spec.is_weight)

    @property
    def activations(self) -> tuple[str, ...]:
        """Keys of everything that is computed for an input, in the order of the forward pass."""
        return tuple(key for key, spec in self._specs.items() if not spec.is_weight)

    @property
    def n_params(self) -> int:
        """Number of learned numbers."""
        return sum(math.prod(self[key].shape(self.config)) for key in self.weights)

    def nearest(self, key: str) -> str | None:
        """Return the most similar key, for "did you mean"."""
        close = difflib.get_close_matches(key, self._specs, n=1, cutoff=0.5)
        return close[0] if close else None


def read_table(table: str, is_weight: bool, layer: int | None = None) -> Iterator[TensorSpec]:
    """Read rows of the table; those of a block are given its layer.

    Raises
    ------
    KeyError
        If a note is none of `_NOTES`.
    """
    prefix = "" if layer is None else f"blocks.{layer}."
    for line in table.strip().splitlines():
        name, letter, axes, zh, en, *notes = (cell.strip() for cell in line.split(" | "))
        words = [word for note in notes for word in note.split(", ")]
        noted = {field: value for word in words for field, value in _NOTES[word].items()}
        key = prefix + name
        yield TensorSpec(key, letter, tuple(axes.split()), zh, en, is_weight, layer=layer, **noted)


def in_prose(index: int) -> int:
    """Number of a layer or head as readers count: index 0 is layer 1, or head 1."""
    return index + 1
