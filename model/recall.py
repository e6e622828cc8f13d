"""Associative recall: a task that cannot be done without addressing by content.

A sequence is three pairs, a key and its value, then `=` and one of the keys: ``3 5 0 7 6 6 = 0``
asks for 7. Keys differ, values may repeat, all are digits below 8. Where the answer stands depends
on what the sequence says, so that no fixed table of shares can find it. The tokens are those of the
products, and so is the network.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray

from model import task
from model.batch import Batch

Sequences = NDArray[np.int64]
"""Token ids, the right answer last [sequence pos]."""


@dataclass(frozen=True)
class Recall:
    """Recall with random sequences: every step has new ones.

    Attributes
    ----------
    n_pairs, n_symbols
        Pairs of a sequence, and digits that it can be made of.
    n_lesson, n_exam
        Sequences of a step, and of the exam. No lesson has a sequence of the exam.
    """

    n_pairs: int = 3
    n_symbols: int = 8
    n_lesson: int = 128
    n_exam: int = 1000

    def lessons(self, seed: int) -> Callable[[int], Batch]:
        """Return the lessons of a seed; each is drawn by PCG64 from the seed and its step."""

        def lesson(step: int) -> Batch:
            drawn = self.draw(np.random.Generator(np.random.PCG64([seed, step])), self.n_lesson)
            is_known = np.isin(self._codes(drawn), self._codes(self.exam_sequences))
            return _batch(drawn[~is_known])

        return lesson

    def exam(self) -> Batch:
        """Return sequences that no lesson has, the same for every seed."""
        return _batch(self.exam_sequences)

    @cached_property
    def exam_sequences(self) -> Sequences:
        """The sequences of the exam."""
        return self.draw(np.random.Generator(np.random.PCG64(self.n_exam)), self.n_exam)

    def draw(self, rng: np.random.Generator, n: int) -> Sequences:
        """Draw sequences: keys without repetition, values and the key that is asked for freely."""
        symbols = np.tile(np.arange(self.n_symbols), (n, 1))
        keys = rng.permuted(symbols, axis=1)[:, : self.n_pairs]  # [sequence pair]
        values = rng.integers(0, self.n_symbols, (n, self.n_pairs))  # [sequence pair]
        asked = rng.integers(0, self.n_pairs, (n, 1))  # [sequence 1]
        pairs = np.stack([keys, values], -1).reshape(n, -1)
        equals = np.full((n, 1), task.TOKEN_ID[task.EQUALS])
        question, answer = (np.take_along_axis(x, asked, 1) for x in (keys, values))
        return np.concatenate([pairs, equals, question, answer], 1)

    def _codes(self, sequences: Sequences) -> Sequences:
        """One number for each sequence."""
        return sequences @ (task.N_TOKENS ** np.arange(sequences.shape[1]))


def _batch(sequences: Sequences) -> Batch:
    """Ask for the last token alone: nothing else follows from what stands before it."""
    tokens = torch.from_numpy(sequences[:, :-1])
    targets = torch.full_like(tokens, task.TOKEN_ID[task.PAD])
    targets[:, -1] = torch.from_numpy(sequences[:, -1])
    mask = targets != task.TOKEN_ID[task.PAD]
    return Batch(tokens, targets, mask, mask)
