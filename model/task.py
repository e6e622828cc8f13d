"""The task: a hundred products as token sequences, and the 558 next tokens they teach.

A problem such as `7x8` is the sequence ``7 × 8 = 5 6 <end>``. Every token but the last is an
input, every token but the first a target: the model learns to say what comes next.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from model.config import ModelConfig

NAME = "multiplication"
DIGITS = tuple("0123456789")
TIMES, EQUALS, END, PAD = "×", "=", "<end>", "<pad>"
VOCAB = (*DIGITS, TIMES, EQUALS, END, PAD)
TOKEN_ID = {token: index for index, token in enumerate(VOCAB)}

EQUALS_POSITION = 3
"""Position of `=` in every problem: its row must announce the first digit of the answer."""


@dataclass(frozen=True, slots=True)
class Target:
    """One next-token question: after `tokens[: position + 1]` of `problem` comes `target`."""

    problem: str
    position: int
    token: str
    target: str


@dataclass(frozen=True)
class Problem:
    """One product, such as 7 × 8."""

    a: int
    b: int

    @property
    def name(self) -> str:
        """The problem's name in files and addresses, such as `7x8`."""
        return f"{self.a}x{self.b}"

    @property
    def prompt(self) -> tuple[str, ...]:
        """The question, such as ``7 × 8 =``: what decoding starts from."""
        return (str(self.a), TIMES, str(self.b), EQUALS)

    @property
    def answer(self) -> tuple[str, ...]:
        """The digits of the product and the end token, such as ``5 6 <end>``."""
        return (*str(self.a * self.b), END)

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """The whole sequence, end token included."""
        return self.prompt + self.answer

    @property
    def inputs(self) -> tuple[str, ...]:
        """What the model reads: the sequence without its end token."""
        return self.tokens[:-1]

    @property
    def targets(self) -> tuple[Target, ...]:
        """One target for each input position: the token that follows it."""
        pairs = zip(self.inputs, self.tokens[1:], strict=True)
        return tuple(Target(self.name, i, token, after) for i, (token, after) in enumerate(pairs))


PROBLEMS = tuple(Problem(a, b) for a in range(10) for b in range(10))
TARGETS = tuple(target for problem in PROBLEMS for target in problem.targets)
BY_NAME = {problem.name: problem for problem in PROBLEMS}

N_TOKENS = len(VOCAB)
MAX_INPUTS = max(len(problem.inputs) for problem in PROBLEMS)

LOSS_FLOOR = len(PROBLEMS) * math.log(len(DIGITS)) / len(TARGETS)
"""Smallest mean loss that is possible, in nats: after `a×` the second operand is any of the ten
digits and costs ln 10 at best; every other target follows from what stands before it."""


def padded_ids(tokens: Sequence[str]) -> list[int]:
    """Token ids of a sequence, padded at the end, where causality keeps it unread."""
    padding = [PAD] * (MAX_INPUTS - len(tokens))
    return [TOKEN_ID[token] for token in (*tokens, *padding)]


def misfit(config: ModelConfig) -> tuple[str, str] | None:
    """Return the field that does not fit the task and why, or None if the model fits."""
    if config.d_vocab != N_TOKENS:
        size = "small" if config.d_vocab < N_TOKENS else "large"
        message = f"`d_vocab` = {config.d_vocab} is too {size}: the task has {N_TOKENS} tokens"
        return "d_vocab", message
    if config.n_ctx <= MAX_INPUTS:
        message = f"`n_ctx` = {config.n_ctx} is too small: a problem has {MAX_INPUTS + 1} tokens"
        return "n_ctx", message
    return None
