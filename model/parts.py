"""The parts of the network, bottom-up: what each makes, from which weights, how many these are.

A part is one operation and is named by the tensor it makes. Counts come from the shapes of the
vocabulary, so that they add up to all that the model has learned.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from model.tensors import TensorSpec, Vocabulary

Shape = tuple[int | str, ...]
"""Sizes of a tensor; `N_TOKENS` where it has a row or a column for each token."""

N_TOKENS = "n"
_TOKEN_AXES = ("pos", "query", "key")

# makes             | of which weights                         | whose letter it has
_EMBED = """
embed               | embed.W_E                                | embed.W_E
pos_embed           | pos_embed.W_pos                          | pos_embed.W_pos
blocks.0.resid_pre  |                                          | blocks.0.resid_pre
"""

_BEFORE_HEADS = """
ln1.out             | ln1.w ln1.b                              |
"""

_HEAD = """
attn.q              | attn.W_Q                                 | attn.q
attn.k              | attn.W_K                                 | attn.k
attn.v              | attn.W_V                                 | attn.v
attn.pattern        |                                          | attn.pattern
attn.z              |                                          | attn.z
"""

_AFTER_HEADS = """
attn_out            | attn.W_O                                 | attn.W_O
resid_mid           |                                          |
ln2.out             | ln2.w ln2.b                              |
mlp_out             | mlp.W_in mlp.b_in mlp.W_out mlp.b_out    |
resid_post          |                                          |
"""

_OUTPUT = """
ln_final.out        | ln_final.w ln_final.b                    | ln_final.out
logits              | unembed.W_U                              | unembed.W_U
probs               |                                          | probs
"""


@dataclass(frozen=True, slots=True)
class Part:
    """One operation.

    Attributes
    ----------
    makes
        The tensor that comes out.
    weights
        What it has learned; of a part of a head, that head's columns of them.
    letter
        What the article calls it, or empty.
    head
        Index of the head it belongs to, or None.
    made_shape, weight_shapes
        Of what comes out, for one head; and of the weights.
    """

    makes: TensorSpec
    weights: tuple[TensorSpec, ...]
    letter: str
    head: int | None
    made_shape: Shape
    weight_shapes: tuple[tuple[int, ...], ...]

    @property
    def n_params(self) -> int:
        """How many numbers it has learned."""
        return sum(map(math.prod, self.weight_shapes))

    @property
    def shape(self) -> str:
        """Shapes of its weights, which add up to their count, or else of what comes out."""
        shapes = self.weight_shapes or (self.made_shape,)
        return " + ".join("×".join(map(str, shape)) for shape in shapes)

    @property
    def is_sum(self) -> bool:
        """Whether it adds to the residual stream."""
        return self.makes.name.startswith("resid_")


@dataclass(frozen=True, slots=True)
class Group:
    """Parts that are counted together: the embeddings, one block, or the output.

    `name` is `embed`, `block` or `output`; `layer` is the index of a block, else None.
    """

    name: str
    layer: int | None
    parts: tuple[Part, ...]

    @property
    def n_params(self) -> int:
        """How many numbers the group has learned."""
        return sum(part.n_params for part in self.parts)


def groups(vocabulary: Vocabulary) -> tuple[Group, ...]:
    """Return every part of the network, in the order of the forward pass."""
    blocks = [
        Group("block", layer, tuple(_block(vocabulary, layer)))
        for layer in range(vocabulary.config.n_layers)
    ]
    embed = Group("embed", None, tuple(_read(_EMBED, vocabulary)))
    output = Group("output", None, tuple(_read(_OUTPUT, vocabulary)))
    return (embed, *blocks, output)


def _block(vocabulary: Vocabulary, layer: int) -> Iterator[Part]:
    prefix = f"blocks.{layer}."
    yield from _read(_BEFORE_HEADS, vocabulary, prefix)
    for head in range(vocabulary.config.n_heads):
        yield from _read(_HEAD, vocabulary, prefix, head)
    yield from _read(_AFTER_HEADS, vocabulary, prefix)


def _read(
    table: str, vocabulary: Vocabulary, prefix: str = "", head: int | None = None
) -> Iterator[Part]:
    """Read rows of a table, the prefix before every name."""
    for line in table.strip().splitlines():
        made, weights, named = (cell.split() for cell in line.split("|"))
        specs = tuple(vocabulary[prefix + name] for name in weights)
        yield Part(
            makes=vocabulary[prefix + made[0]],
            weights=specs,
            letter=vocabulary[prefix + named[0]].letter if named else "",
            head=head,
            made_shape=_made_shape(vocabulary[prefix + made[0]], vocabulary),
            weight_shapes=tuple(_own_shape(spec, vocabulary, head) for spec in specs),
        )


def _made_shape(spec: TensorSpec, vocabulary: Vocabulary) -> Shape:
    sizes = zip(spec.axes, spec.shape(vocabulary.config), strict=True)
    return tuple(N_TOKENS if a in _TOKEN_AXES else size for a, size in sizes if a != "head")


def _own_shape(spec: TensorSpec, vocabulary: Vocabulary, head: int | None) -> tuple[int, ...]:
    """Shape of a weight, or of the equal part of it that one head owns."""
    shape = list(spec.shape(vocabulary.config))
    if head is not None and spec.head_axis is not None:
        shape[spec.head_axis] = vocabulary.config.d_head
    return tuple(shape)
