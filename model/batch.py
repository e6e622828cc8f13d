"""Problems side by side for training: what is read, what should follow, and what counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from model import task


@dataclass(frozen=True, slots=True)
class Batch:
    """All problems side by side, padded to one length. The mask says which targets are real.

    Attributes
    ----------
    tokens, targets
        Token ids [problem pos], padded at the end.
    mask
        True where a target counts [problem pos]: 558 places in all problems.
    answer
        True where the target belongs to the answer [problem pos]: from `=` on.
    """

    tokens: Tensor
    targets: Tensor
    mask: Tensor
    answer: Tensor

    @classmethod
    def of_all_problems(cls) -> Batch:
        """The hundred problems in the order of `task.PROBLEMS`."""
        return cls.of(task.PROBLEMS)

    @classmethod
    def of(cls, problems: Sequence[task.Problem]) -> Batch:
        """Some problems in their order."""
        tokens = torch.tensor([task.padded_ids(p.tokens[:-1]) for p in problems])
        targets = torch.tensor([task.padded_ids(p.tokens[1:]) for p in problems])
        mask = targets != task.TOKEN_ID[task.PAD]  # all [problem pos]
        answer = mask & (torch.arange(task.MAX_INPUTS) >= task.EQUALS_POSITION)
        return cls(tokens, targets, mask, answer)

    def loss(self, logits: Tensor) -> Tensor:
        """Mean of -ln P(target) over the real targets, in nats; `logits` [problem pos d_vocab]."""
        log_probs = logits.log_softmax(-1)  # [problem pos d_vocab]
        right = log_probs.gather(-1, self.targets.unsqueeze(-1)).squeeze(-1)  # [problem pos]
        return -right[self.mask].mean()

    def correct(self, logits: Tensor) -> int:
        """Count the problems whose whole answer is right; `logits` as in `loss`."""
        return int(self.right(logits).sum())

    def right(self, logits: Tensor) -> Tensor:
        """Say of each problem whether greedy decoding gets its whole answer right [... problem].

        Decoding goes wrong exactly where the most likely token first differs from the target, so
        it suffices to look at each answer token after its true prefix; `logits` as in `loss`.
        """
        right = logits.argmax(-1) == self.targets  # [... problem pos]
        return (right | ~self.answer).all(-1)
