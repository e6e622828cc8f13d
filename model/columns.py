"""The hundred problems as columns: each token at each position once, as often as it is needed.

What a row holds depends only on the tokens up to it, so problems that begin alike share their
first rows. Problems with the same first operand are a group; its first two tokens, the stem, are
computed once for all ten members. That leaves 420 of 600 columns. Positions and problems are the
last axis, so that an operation on any of the axes before it runs along the memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from model import task
from model.config import ModelConfig


@dataclass(frozen=True, slots=True)
class Columns:
    """Where each token of each problem stands, and what should follow it.

    The columns are [position group] of the stem, then [position group member] of the rest.

    Attributes
    ----------
    n_groups, n_members, n_stem
        Groups of problems that begin alike, problems of a group, and tokens that these share.
    picks
        One-hot: which token and which position makes each column [d_vocab + n_ctx, column].
    counts
        How many targets ask for a token after a column [d_vocab column]: 558 in all.
    answers
        Token that should follow each column, where it is part of an answer, else -1
        [position member]; members of all groups, without the stem.
    """

    n_groups: int
    n_members: int
    n_stem: int
    picks: Tensor
    counts: Tensor
    answers: Tensor

    @classmethod
    def of_all_problems(cls, config: ModelConfig) -> Columns:
        """The hundred problems, grouped by their first operand."""
        n_groups = n_members = len(task.DIGITS)
        n_stem = 2
        shape = (n_groups, n_members, task.MAX_INPUTS)
        tokens = torch.tensor([task.padded_ids(p.inputs) for p in task.PROBLEMS]).view(shape)
        targets = torch.tensor([task.padded_ids(p.tokens[1:]) for p in task.PROBLEMS]).view(shape)
        positions = torch.arange(task.MAX_INPUTS).expand(shape)

        columns = _once(torch.arange(tokens.numel()).view(shape), n_stem)  # [column]
        places = _everywhere(columns, shape, n_stem)  # [group member pos]
        is_target = targets != task.TOKEN_ID[task.PAD]  # [group member pos]

        n_columns = len(columns)
        one_hot = torch.nn.functional.one_hot
        token_picks = one_hot(_once(tokens, n_stem), config.d_vocab)  # [column d_vocab]
        position_picks = one_hot(_once(positions, n_stem), config.n_ctx)  # [column n_ctx]
        counts = torch.zeros(config.d_vocab, n_columns, dtype=torch.float64)
        here = (targets[is_target], places[is_target])
        counts.index_put_(here, torch.ones(len(here[0]), dtype=torch.float64), accumulate=True)

        is_answer = is_target & (positions >= task.EQUALS_POSITION)
        answers = torch.where(is_answer, targets, -1)[..., n_stem:].permute(2, 0, 1)
        return cls(
            n_groups,
            n_members,
            n_stem,
            torch.cat([token_picks, position_picks], -1).T.double(),
            counts,
            answers.flatten(1),
        )

    def split(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the stem [... pos group] and the rest [... pos group member] of some columns."""
        n_stem_columns = self.n_stem * self.n_groups
        stem, rest = x[..., :n_stem_columns], x[..., n_stem_columns:]
        leading = x.shape[:-1]
        return (
            stem.view(*leading, self.n_stem, self.n_groups),
            rest.view(*leading, -1, self.n_groups, self.n_members),
        )

    def join(self, stem: Tensor, rest: Tensor) -> Tensor:
        """Return the columns that `split` takes apart [... column]."""
        return torch.cat([stem.flatten(-2), rest.flatten(-3)], -1)

    def correct(self, logits: Tensor) -> Tensor:
        """Count the problems whose whole answer is the likeliest [seed].

        `logits` is [seed d_vocab column]. See `model.batch.Batch.right`.
        """
        n_stem_columns = self.n_stem * self.n_groups
        found = logits[..., n_stem_columns:].argmax(1).view(-1, *self.answers.shape)
        right = (found == self.answers) | (self.answers < 0)  # [seed pos problem]
        correct: Tensor = right.all(1).sum(-1)
        return correct


def _once(x: Tensor, n_stem: int) -> Tensor:
    """From [group member pos] to columns: the first member's stem, then everybody's rest."""
    stem = x[:, 0, :n_stem].T.flatten()  # [pos group]
    rest = x[..., n_stem:].permute(2, 0, 1).flatten()  # [pos group member]
    return torch.cat([stem, rest])


def _everywhere(columns: Tensor, shape: tuple[int, int, int], n_stem: int) -> Tensor:
    """The column of each token of each problem [group member pos]."""
    n_groups, n_members, n_pos = shape
    number = torch.arange(len(columns))
    stem = number[: n_stem * n_groups].view(n_stem, n_groups, 1).expand(-1, -1, n_members)
    rest = number[n_stem * n_groups :].view(n_pos - n_stem, n_groups, n_members)
    return torch.cat([stem, rest]).permute(1, 2, 0)
