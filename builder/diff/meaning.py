"""What differing numbers mean: answers, predictions, attention and claims that changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from builder.diff.files import Document, unreadable
from model import task
from model.tensors import in_prose


@dataclass(frozen=True, slots=True)
class ItemChange:
    """A named number or text of no tensor that differs; None where one side does not have it."""

    name: str
    old: Any
    new: Any

    def __str__(self) -> str:
        return f"{self.name}: {self.old} → {self.new}"


@dataclass(frozen=True, slots=True)
class ClaimChange:
    """A claim that holds on one side only, or rests on other numbers, or is new or gone.

    `old` and `new` say whether it holds; None where there is no such claim.
    """

    id: str
    old: bool | None
    new: bool | None
    numbers: tuple[ItemChange, ...]


@dataclass(frozen=True, slots=True)
class AnswerChange:
    """An answer, end token included, that is decoded differently.

    Greedy decoding follows the stored sequence until its first wrong token, so a wrong answer is
    known up to there and ends in `…`.
    """

    stage: str
    problem: str
    old: str
    new: str
    correct: str


@dataclass(frozen=True, slots=True)
class PredictionChange:
    """A row of `probs` whose largest entry moved: after `context` the model expects another token.

    `position` counts from 0.
    """

    stage: str
    problem: str
    position: int
    context: str
    old: str
    new: str
    target: str


@dataclass(frozen=True, slots=True)
class AttentionChange:
    """A row of attention whose largest entry moved.

    `layer` and `head` count from 1, positions from 0.
    """

    stage: str
    problem: str
    layer: int
    head: int
    position: int
    token: str
    old_position: int
    old_token: str
    new_position: int
    new_token: str


@dataclass(frozen=True)
class _Traced:
    """A trace file with what is needed of it, checked."""

    path: Path
    tokens: tuple[str, ...]
    values: Mapping[str, Any]
    problem: task.Problem

    @classmethod
    def of(cls, path: Path, document: Document, problem: task.Problem) -> _Traced:
        tokens, values = document.get("tokens"), document.get("values")
        if not isinstance(tokens, list) or not isinstance(values, dict):
            unreadable(path, "`tokens` or `values` is missing: not a trace")
        return cls(path, tuple(map(str, tokens)), values, problem)

    @property
    def targets(self) -> tuple[str, ...]:
        return (*self.tokens[1:], self.problem.tokens[-1])

    def largest(self, key: str, n_axes: int) -> NDArray[np.intp]:
        """Return where each row of a tensor is largest."""
        try:
            array = np.array(self.values.get(key), dtype=np.float64)
        except (ValueError, TypeError):
            array = np.empty(0)
        if array.ndim != n_axes or not array.size or array.shape[-2] != len(self.tokens):
            unreadable(self.path, f"`{key}` does not have a row for each of `tokens`")
        rows: NDArray[np.intp] = array.argmax(-1)
        return rows

    def predictions(self) -> tuple[str, ...]:
        """Return the most likely next token at each position."""
        return tuple(_token(int(i)) for i in self.largest("probs", 2))

    def answer(self) -> str:
        """Return what decoding appends to the question, up to its first wrong token."""
        answer = ""
        steps = zip(self.predictions(), self.targets, strict=True)
        for token, target in list(steps)[self.problem.asks_at :]:
            answer += token
            if token != target:
                return answer if token == task.END else answer + "…"
        return answer


Meaning = AnswerChange | PredictionChange | AttentionChange


def trace_changes(
    old: tuple[Path, Document], new: tuple[Path, Document], stage: str, of: task.Problem
) -> Iterator[Meaning]:
    """Compare what two versions of a trace file, each with its path, say about the model.

    Raises
    ------
    UnreadableError
        If one of them is no trace.
    """
    one, other, problem = _Traced.of(*old, of), _Traced.of(*new, of), of.name
    if one.tokens != other.tokens:
        return
    answers = one.answer(), other.answer()
    if answers[0] != answers[1]:
        correct = "".join(one.targets[of.asks_at :])
        yield AnswerChange(stage, problem, *answers, correct)
    predictions = zip(one.predictions(), other.predictions(), one.targets, strict=True)
    for position, (before, after, target) in enumerate(predictions):
        if before != after and position >= of.first_asked:
            context = " ".join(one.tokens[: position + 1])
            yield PredictionChange(stage, problem, position, context, before, after, target)
    yield from _attention(one, other, stage, problem)


def _attention(one: _Traced, other: _Traced, stage: str, problem: str) -> Iterator[AttentionChange]:
    keys = [key for key in one.values if key.endswith(".attn.pattern") and key in other.values]
    for layer, key in enumerate(keys):
        before, after = one.largest(key, 3), other.largest(key, 3)  # [head query]
        if before.shape != after.shape:
            continue
        for head, position in np.argwhere(before != after).tolist():
            read, now = int(before[head, position]), int(after[head, position])
            yield AttentionChange(
                stage,
                problem,
                in_prose(layer),
                in_prose(head),
                position,
                token=one.tokens[position],
                old_position=read,
                old_token=one.tokens[read],
                new_position=now,
                new_token=one.tokens[now],
            )


def claim_changes(
    old: tuple[Path, Document], new: tuple[Path, Document]
) -> tuple[ClaimChange, ...]:
    """Compare two versions of `claims.json`, each with its path; flips come first.

    Raises
    ------
    UnreadableError
        If one of them is no list of claims.
    """
    before, after = _claims(*old), _claims(*new)
    changes = []
    for name in [*before, *(name for name in after if name not in before)]:
        one, other = before.get(name), after.get(name)
        if one != other:
            numbers = item_changes((one or {}).get("numbers"), (other or {}).get("numbers"))
            holds = [claim["holds"] if claim else None for claim in (one, other)]
            changes.append(ClaimChange(name, holds[0], holds[1], tuple(numbers)))
    return tuple(sorted(changes, key=lambda change: change.old == change.new))


def _claims(path: Path, document: Document) -> dict[str, dict[str, Any]]:
    claims = document.get("claims")
    if not isinstance(claims, list) or not all(
        isinstance(c, dict) and isinstance(c.get("id"), str) and isinstance(c.get("holds"), bool)
        for c in claims
    ):
        unreadable(path, "`claims` is not a list of claims with `id` and `holds`")
    return {claim["id"]: claim for claim in claims}


def item_changes(old: Any, new: Any, name: str = "") -> Iterator[ItemChange]:
    """Walk two nested mappings, down to every entry that differs, under its dotted name."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            yield from item_changes(old.get(key), new.get(key), f"{name}.{key}" if name else key)
    elif old != new:
        yield ItemChange(name, old, new)


def _token(i: int) -> str:
    return task.VOCAB[i] if i < len(task.VOCAB) else f"token {i}"
