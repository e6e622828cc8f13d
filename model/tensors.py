"""The vocabulary: key, letter, axes and meaning of every tensor that the project names.

A key is TransformerLens's name with ``hook_`` removed; ours alone are `ln1.out`, `ln2.out`,
`ln_final.out`, `logits` and `probs`. A gradient has the key and the shape of its value.
Chart titles, alternative texts, the glossary and the snapshot files derive from this table.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

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


def _weight(key: str, letter: str, axes: str, zh: str, en: str) -> TensorSpec:
    return TensorSpec(key, letter, tuple(axes.split()), zh, en, is_weight=True)


def _activation(
    key: str,
    letter: str,
    axes: str,
    zh: str,
    en: str,
    *,
    has_gradient: bool = True,
    range: Range = Range.SIGNED,  # noqa: A002 - the field's name
) -> TensorSpec:
    return TensorSpec(key, letter, tuple(axes.split()), zh, en, False, has_gradient, range)


def _layer_norm_weights(name: str, zh: str, en: str) -> list[TensorSpec]:
    return [
        _weight(f"{name}.w", "", "d_model", f"{zh}的增益", f"gain of {en}"),
        _weight(f"{name}.b", "", "d_model", f"{zh}的偏置", f"bias of {en}"),
    ]


def _layer_norm_activations(name: str, letter: str, zh: str, en: str) -> list[TensorSpec]:
    return [
        _activation(
            f"{name}.scale",
            "",
            "pos",
            f"{zh}的分母：每行的标准差",
            f"denominator of {en}: each row's standard deviation",
            has_gradient=False,
            range=Range.POSITIVE,
        ),
        _activation(
            f"{name}.normalized",
            "",
            "pos d_model",
            f"{zh}：减均值、除以标准差之后，乘增益之前",
            f"{en}: centred and scaled, before gain and bias",
        ),
        _activation(
            f"{name}.out",
            letter,
            "pos d_model",
            f"{zh}的输出：乘增益、加偏置之后",
            f"output of {en}: after gain and bias",
        ),
    ]


_LN1 = ("第一个 LayerNorm", "the first LayerNorm")
_LN2 = ("第二个 LayerNorm", "the second LayerNorm")
_LN_FINAL = ("最后的 LayerNorm", "the final LayerNorm")

_EMBED_WEIGHTS = [
    _weight("embed.W_E", "TokenEmb", "d_vocab d_model", "每个 token 的一行", "one row a token"),
    _weight("pos_embed.W_pos", "PosEmb", "pos d_model", "每个位置的一行", "one row a position"),
]
_BLOCK_WEIGHTS = [
    *_layer_norm_weights("ln1", *_LN1),
    _weight(
        "attn.W_Q",
        "W_Q",
        "d_model d_model",
        "产生 Query；每个头占 4 列",
        "makes queries; four columns a head",
    ),
    _weight(
        "attn.W_K",
        "W_K",
        "d_model d_model",
        "产生 Key；每个头占 4 列",
        "makes keys; four columns a head",
    ),
    _weight(
        "attn.W_V",
        "W_V",
        "d_model d_model",
        "产生 Value；每个头占 4 列",
        "makes values; four columns a head",
    ),
    _weight(
        "attn.W_O",
        "W_O",
        "d_model d_model",
        "把各头写回残差流；每个头占 4 行",
        "writes the heads back to the residual stream; four rows a head",
    ),
    *_layer_norm_weights("ln2", *_LN2),
    _weight("mlp.W_in", "W_in", "d_model d_mlp", "MLP 的第一张矩阵", "first matrix of the MLP"),
    _weight("mlp.b_in", "b_in", "d_mlp", "MLP 的第一个偏置", "first bias of the MLP"),
    _weight("mlp.W_out", "W_out", "d_mlp d_model", "MLP 的第二张矩阵", "second matrix of the MLP"),
    _weight("mlp.b_out", "b_out", "d_model", "MLP 的第二个偏置", "second bias of the MLP"),
]
_FINAL_WEIGHTS = [
    *_layer_norm_weights("ln_final", *_LN_FINAL),
    _weight(
        "unembed.W_U",
        "LM",
        "d_model d_vocab",
        "输出矩阵：每个 token 一列",
        "output matrix: one column a token",
    ),
]

_EMBED_ACTIVATIONS = [
    _activation("embed", "", "pos d_model", "查到的 TokenEmb 行", "the TokenEmb rows looked up"),
    _activation("pos_embed", "", "pos d_model", "查到的 PosEmb 行", "the PosEmb rows looked up"),
]
_BLOCK_ACTIVATIONS = [
    _activation(
        "resid_pre", "X", "pos d_model", "本层入口的残差流", "residual stream entering the block"
    ),
    *_layer_norm_activations("ln1", "X_norm", *_LN1),
    _activation("attn.q", "Q", "head pos d_head", "接收者的 Query", "queries: the receivers' side"),
    _activation("attn.k", "K", "head pos d_head", "来源的 Key", "keys: the sources' side"),
    _activation(
        "attn.v", "V", "head pos d_head", "来源的 Value", "values: what the sources hand over"
    ),
    _activation(
        "attn.attn_scores",
        "S",
        "head query key",
        "分数 QKᵀ/√d_head；行是接收者，列是来源",
        "scores QKᵀ/√d_head; a row receives, a column is read",
    ),
    _activation(
        "attn.pattern",
        "A",
        "head query key",
        "读取比例；行是接收者，列是来源，每行和为 1",
        "reading shares; a row receives, a column is read, rows sum to 1",
        range=Range.PROBABILITY,
    ),
    _activation("attn.z", "H", "head pos d_head", "头的输出 AV", "output of the head, AV"),
    _activation(
        "attn.result",
        "HW_O",
        "head pos d_model",
        "一个头写回残差流的部分",
        "what one head writes to the residual stream",
    ),
    _activation("attn_out", "AttentionOut", "pos d_model", "各头之和", "sum over the heads"),
    _activation(
        "resid_mid", "", "pos d_model", "加上注意力之后的残差流", "residual stream after attention"
    ),
    *_layer_norm_activations("ln2", "", *_LN2),
    _activation(
        "mlp.pre", "", "pos d_mlp", "MLP 隐层，ReLU 之前", "hidden layer of the MLP before ReLU"
    ),
    _activation(
        "mlp.post",
        "",
        "pos d_mlp",
        "MLP 隐层，ReLU 之后",
        "hidden layer of the MLP after ReLU",
        range=Range.POSITIVE,
    ),
    _activation("mlp_out", "", "pos d_model", "MLP 的输出", "output of the MLP"),
    _activation(
        "resid_post", "", "pos d_model", "本层出口的残差流", "residual stream leaving the block"
    ),
]
_FINAL_ACTIVATIONS = [
    *_layer_norm_activations("ln_final", "Final", *_LN_FINAL),
    _activation(
        "logits", "logits", "pos d_vocab", "14 个 token 的分数", "a score for each of the tokens"
    ),
    _activation(
        "probs",
        "P",
        "pos d_vocab",
        "下一个 token 的概率，每行和为 1",
        "probability of each next token, rows sum to 1",
        has_gradient=False,
        range=Range.PROBABILITY,
    ),
]


class Vocabulary(Mapping[str, TensorSpec]):
    """Every tensor of a model of given sizes, weights first, in the order of the forward pass."""

    def __init__(self, config: ModelConfig) -> None:
        self.config = config
        weights = [*_EMBED_WEIGHTS, *_per_layer(_BLOCK_WEIGHTS, config), *_FINAL_WEIGHTS]
        activations = [
            *_EMBED_ACTIVATIONS,
            *_per_layer(_BLOCK_ACTIVATIONS, config),
            *_FINAL_ACTIVATIONS,
        ]
        self._specs = {spec.key: spec for spec in [*weights, *activations]}

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
        total = 0
        for key in self.weights:
            count = 1
            for size in self[key].shape(self.config):
                count *= size
            total += count
        return total

    def nearest(self, key: str) -> str | None:
        """Return the most similar key, for "did you mean"."""
        close = difflib.get_close_matches(key, self._specs, n=1, cutoff=0.5)
        return close[0] if close else None


def _per_layer(specs: list[TensorSpec], config: ModelConfig) -> list[TensorSpec]:
    return [_in_layer(spec, layer) for layer in range(config.n_layers) for spec in specs]


def _in_layer(spec: TensorSpec, layer: int) -> TensorSpec:
    return TensorSpec(
        f"blocks.{layer}.{spec.key}",
        spec.letter,
        spec.axes,
        spec.zh,
        spec.en,
        spec.is_weight,
        spec.has_gradient,
        spec.range,
        layer,
    )


def in_prose(index: int) -> int:
    """Number of a layer or head as readers count: index 0 is layer 1, or head 1."""
    return index + 1
