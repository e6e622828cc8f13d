"""Problems side by side for training: what is read, what should follow, and what counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from model import task


@dataclass(frozen=True, slots=True)
class Batch:
    """Problems side by side, padded to one length. The mask says which targets are real.

    Attributes
    ----------
    tokens, targets
        Token ids [problem pos], padded at the end.
    mask
        True where a target counts [problem pos]: 558 places in all products.
    answer
        True where the target belongs to the answer [problem pos]: from `=` on in products.
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
        n_pos = max(len(p.inputs) for p in problems)
        tokens = torch.tensor([task.padded_ids(p.inputs, n_pos) for p in problems])
        targets = torch.tensor([task.padded_ids(p.tokens[1:], n_pos) for p in problems])
        first_asked = torch.tensor([[p.first_asked] for p in problems])  # [problem 1]
        asks_at = torch.tensor([[p.asks_at] for p in problems])  # [problem 1]
        position = torch.arange(n_pos)  # [pos]
        is_real = targets != task.TOKEN_ID[task.PAD]  # all [problem pos]
        mask = is_real & (position >= first_asked)
        return cls(tokens, targets, mask, mask & (position >= asks_at))

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
