"""Where a number stands, said so that a person finds it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from model import task
from model.tensors import TensorSpec, Vocabulary, in_prose

KeyPath = tuple[str | int, ...]
"""Way from the top of a document to a value: keys, and indices of lists."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One number that differs.

    Attributes
    ----------
    file
        The file it stands in.
    address
        Its key and indices, counted from 0, such as `blocks.0.attn.pattern[1,3,0]`; in a table of
        evidence its whole way, such as `claims.all-correct.holds`.
    place
        The same in words, counted from 1, such as "layer 1, head 2, row 4 (=), column 1 (7)".
    old, new
        Its two values, whole numbers as such; None where it is masked.
    """

    file: str
    address: str
    place: str
    old: float | int | None
    new: float | int | None

    def __str__(self) -> str:
        place = f" ({self.place})" if self.place else ""
        old, new = ("masked" if value is None else repr(value) for value in (self.old, self.new))
        return f"{self.address} in {self.file}{place}: {old} → {new}"


def dotted(path: KeyPath) -> str:
    """Write a path the way it would be typed, such as `targets[2].loss`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(steps).removeprefix(".")


def locate(
    file: str,
    path: KeyPath,
    index: tuple[int, ...],
    tokens: Sequence[str],
    vocabulary: Vocabulary,
) -> tuple[str, str]:
    """Return address and place of a number.

    Parameters
    ----------
    file
        The file, relative to the snapshot folder.
    path
        Way to the tensor.
    index
        Way from there to the number.
    tokens
        The tokens of the positions of the file's problem, as far as there are any.
    vocabulary
        Knows the axes.
    """
    key = str(path[-1])
    spec = vocabulary.get(key)
    words = [] if spec is None or spec.layer is None else [f"layer {in_prose(spec.layer)}"]
    if spec is not None and len(spec.axes) == len(index):
        words += _cell_words(spec, index, tokens, vocabulary.config.d_head)
    else:
        words += [f"step {i}" if file == "training.json" else f"entry {i + 1}" for i in index]
    target = path[1] if path[0] == "targets" else None
    if isinstance(target, int) and target < len(tokens):
        words.insert(0, f"target of row {target + 1} ({tokens[target]})")
    shown = path if isinstance(target, int) or is_evidence(file) else path[-1:]
    indices = f"[{','.join(map(str, index))}]" if index else ""
    return dotted(shown) + indices, ", ".join(words)


def is_evidence(file: str) -> bool:
    """Whether a file is a table of evidence, in which one name stands at many places."""
    return file.startswith("evidence/")


def _cell_words(
    spec: TensorSpec, index: Sequence[int], tokens: Sequence[str], d_head: int
) -> list[str]:
    words, axes, index = [], list(spec.axes), list(index)
    if axes[0] == "head":
        words.append(f"head {in_prose(index.pop(0))}")
        axes.pop(0)
    labels = [_label(axis, i, tokens) for axis, i in zip(axes, index, strict=True)]
    if spec.head_axis is not None:
        labels[spec.head_axis] = f" of head {in_prose(index[spec.head_axis] // d_head)}"
    names = ["row", "column"] if len(axes) == 2 else ["row" if axes[0] == "pos" else "entry"]
    cell = zip(names, index, labels, strict=True)
    return words + [f"{name} {i + 1}{label}" for name, i, label in cell]


def _label(axis: str, i: int, tokens: Sequence[str]) -> str:
    known = {"pos": tokens, "query": tokens, "key": tokens, "d_vocab": task.VOCAB}.get(axis, ())
    return f" ({known[i]})" if i < len(known) else ""
