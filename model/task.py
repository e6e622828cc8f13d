"""The task: a hundred products as token sequences, and the 558 next tokens they teach.

A problem such as `7x8` is the sequence ``7 × 8 = 5 6 <end>``. Every token but the last is an
input, every token but the first a target: the model learns to say what comes next. What any task
has, this one or another in `model.tasks`, is a `Task` of `Problem`s in these tokens.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from model.config import ModelConfig

NAME = "multiplication"
DIGITS = tuple("0123456789")
TIMES, EQUALS, END, PAD = "×", "=", "<end>", "<pad>"
VOCAB = (*DIGITS, TIMES, EQUALS, END, PAD)
TOKEN_ID = {token: index for index, token in enumerate(VOCAB)}
N_TOKENS = len(VOCAB)

EQUALS_POSITION = 3
"""Position of `=` in every problem: its row must announce the first digit of the answer."""


@dataclass(frozen=True, slots=True)
class Target:
    """One next-token question: after `tokens[: position + 1]` of `problem` comes `target`."""

    problem: str
    position: int
    token: str
    target: str


class Problem(ABC):
    """A question and its answer, in tokens."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The problem's name in files and addresses, such as `7x8`."""

    @property
    @abstractmethod
    def prompt(self) -> tuple[str, ...]:
        """The question, such as ``7 × 8 =``: what decoding starts from."""

    @property
    @abstractmethod
    def answer(self) -> tuple[str, ...]:
        """What should follow, such as ``5 6 <end>``."""

    @property
    def first_asked(self) -> int:
        """First position whose next token is a target."""
        return 0

    @property
    def asks_at(self) -> int:
        """Position at which the question ends: its row must announce the answer."""
        return len(self.prompt) - 1

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """The whole sequence, to the end of the answer."""
        return self.prompt + self.answer

    @property
    def inputs(self) -> tuple[str, ...]:
        """What the model reads: the sequence without its last token."""
        return self.tokens[:-1]

    @property
    def targets(self) -> tuple[Target, ...]:
        """One target for each input position from the first that is asked: what follows it."""
        pairs = list(enumerate(zip(self.inputs, self.tokens[1:], strict=True)))
        return tuple(Target(self.name, i, *pair) for i, pair in pairs[self.first_asked :])


@dataclass(frozen=True)
class Product(Problem):
    """One product, such as 7 × 8."""

    a: int
    b: int

    @property
    def name(self) -> str:
        """See `Problem`."""
        return f"{self.a}x{self.b}"

    @property
    def prompt(self) -> tuple[str, ...]:
        """See `Problem`."""
        return (str(self.a), TIMES, str(self.b), EQUALS)

    @property
    def answer(self) -> tuple[str, ...]:
        """The digits of the product and the end token."""
        return (*str(self.a * self.b), END)


@dataclass(frozen=True)
class Task:
    """What a model learns: problems that a site shows, all in the same 14 tokens.

    Attributes
    ----------
    name
        What presets call it.
    problems
        In their order; each has a name of its own.
    example
        Name of the problem that is shown where none is asked for.
    loss_floor
        Smallest mean loss that is possible, in nats.
    has_evidence
        Whether `model.evidence` and claims are about it.
    """

    name: str
    problems: tuple[Problem, ...]
    example: str
    loss_floor: float = 0.0
    has_evidence: bool = False

    @cached_property
    def targets(self) -> tuple[Target, ...]:
        """Every problem's targets."""
        return tuple(target for problem in self.problems for target in problem.targets)

    @cached_property
    def by_name(self) -> Mapping[str, Problem]:
        """Problems by their names."""
        return {problem.name: problem for problem in self.problems}

    @cached_property
    def max_inputs(self) -> int:
        """How many tokens the longest problem gives the model to read."""
        return max(len(problem.inputs) for problem in self.problems)

    def misfit(self, config: ModelConfig) -> tuple[str, str] | None:
        """Return the field that does not fit the task and why, or None if the model fits."""
        if config.d_vocab != N_TOKENS:
            size = "small" if config.d_vocab < N_TOKENS else "large"
            message = f"`d_vocab` = {config.d_vocab} is too {size}: the task has {N_TOKENS} tokens"
            return "d_vocab", message
        if config.n_ctx <= self.max_inputs:
            longest = self.max_inputs + 1
            message = f"`n_ctx` = {config.n_ctx} is too small: a problem has {longest} tokens"
            return "n_ctx", message
        return None


PROBLEMS = tuple(Product(a, b) for a in range(10) for b in range(10))
BY_NAME = {problem.name: problem for problem in PROBLEMS}

LOSS_FLOOR = len(PROBLEMS) * math.log(len(DIGITS)) / sum(len(p.targets) for p in PROBLEMS)
"""Smallest mean loss that is possible, in nats: after `a×` the second operand is any of the ten
digits and costs ln 10 at best; every other target follows from what stands before it."""

MULTIPLICATION = Task(NAME, PROBLEMS, "7x8", LOSS_FLOOR, has_evidence=True)
TARGETS = MULTIPLICATION.targets
MAX_INPUTS = MULTIPLICATION.max_inputs


def padded_ids(tokens: Sequence[str], length: int = MAX_INPUTS) -> list[int]:
    """Token ids of a sequence, padded at the end, where causality keeps it unread."""
    padding = [PAD] * (length - len(tokens))
    return [TOKEN_ID[token] for token in (*tokens, *padding)]
