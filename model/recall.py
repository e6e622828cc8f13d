"""Associative recall: a task that cannot be done without addressing by content.

A sequence is three pairs, a key and its value, then `=` and one of the keys: ``3 5 0 7 6 6 = 0``
asks for 7. Keys differ, values may repeat, all are digits below 8. Where the answer stands depends
on what the sequence says, so that no fixed table of shares can find it. The tokens are those of the
products, and so is the network.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from model import task

NAME = "recall"

Sequences = NDArray[np.int64]
"""Token ids, the right answer last [sequence pos]."""


@dataclass(frozen=True)
class Question(task.Problem):
    """One sequence; nothing follows from what stands before it but its last token."""

    symbols: tuple[str, ...]

    @property
    def name(self) -> str:
        """Pairs and what is asked, such as `35_07_66_0`."""
        *pairs, _, asked = self.prompt
        return "_".join([*("".join(pairs[i : i + 2]) for i in range(0, len(pairs), 2)), asked])

    @property
    def prompt(self) -> tuple[str, ...]:
        """See `model.task.Problem`."""
        return self.symbols[:-1]

    @property
    def answer(self) -> tuple[str, ...]:
        """The value that followed the key; no end token."""
        return self.symbols[-1:]

    @property
    def first_asked(self) -> int:
        """The end of the question."""
        return self.asks_at


@dataclass(frozen=True)
class Recall:
    """Recall with random sequences: every step has new ones.

    Attributes
    ----------
    n_pairs, n_symbols
        Pairs of a sequence, and digits that it can be made of.
    n_lesson, n_exam
        Sequences of a step, and of the exam. No lesson has a sequence of the exam.
    n_shown
        How many sequences of the exam a site shows, the first.
    """

    n_pairs: int = 3
    n_symbols: int = 8
    n_lesson: int = 128
    n_exam: int = 1000
    n_shown: int = 100

    def lesson(self, seed: int, step: int) -> Sequences:
        """Return the lesson of a step, drawn by PCG64 from the seed and the step."""
        drawn = self.draw(np.random.Generator(np.random.PCG64([seed, step])), self.n_lesson)
        is_known = np.isin(self._codes(drawn), self._codes(self.exam))
        return drawn[~is_known]

    @cached_property
    def exam(self) -> Sequences:
        """Sequences that no lesson has, the same for every seed."""
        return self.draw(np.random.Generator(np.random.PCG64(self.n_exam)), self.n_exam)

    @property
    def problems(self) -> tuple[Question, ...]:
        """What a site shows."""
        shown = self.exam[: self.n_shown].tolist()
        return tuple(Question(tuple(task.VOCAB[id_] for id_ in row)) for row in shown)

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
