"""Interventions: what this model uses, found by overwriting one thing on the way of its numbers.

The trained weights stay as they are. Beside what an intervention does stands the attention share
from which a reader would have guessed it; whether the guess was right is counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model import task
from model.batch import Batch
from model.config import ModelConfig
from model.encoding import plain, rounded
from model.tensors import in_prose
from model.trace import StoredWeights, as_tensors
from model.transformer import Record, transformer, unrecorded
from model.variants import plain_average

Array = NDArray[np.float64]

RECEIVERS = (task.EQUALS_POSITION, task.EQUALS_POSITION + 1)
"""Rows whose sources are removed: that of `=`, which says the first digit, and that of this digit,
which says what comes after it."""

DONORS_AT_ONCE = 20


@dataclass(frozen=True, slots=True)
class Effect:
    """What an intervention leaves of the answers.

    Attributes
    ----------
    right
        Whether the whole answer is still right [problem]; a share of the cases where the
        intervention has several.
    probability
        Probability of the right token after one position, such as that of `=` [problem].
    """

    right: Array
    probability: Array

    def figures(self, share: Array | None = None) -> dict[str, Any]:
        """Return the line of the table; `share` is what a reader would have guessed from."""
        shown = {"probability": self.probability} | ({} if share is None else {"share": share})
        return {
            "correct": plain(self.right.sum()),
            **{name: plain(values.mean()) for name, values in shown.items()},
            "of_problem": {name: rounded(values) for name, values in shown.items()},
        }


def intervene(weights: StoredWeights, config: ModelConfig) -> dict[str, Any]:
    """Return the table of all interventions in a model."""
    return Interventions(weights, config).table()


class Interventions:
    """Overwrites things in a trained model and looks at all problems.

    Parameters
    ----------
    weights, config
        The model.
    """

    def __init__(self, weights: StoredWeights, config: ModelConfig) -> None:
        self.weights, self.config = as_tensors(weights), config
        self.batch = Batch.of_all_problems()
        self.patterns: dict[str, Tensor] = {}
        self.effect(self._keep_patterns)

    def table(self) -> dict[str, Any]:
        """Return every intervention, layer by layer and head by head."""
        config = self.config
        layers = {
            f"layer_{in_prose(layer)}": {
                "without_attention": self.effect(without_attention(layer)).figures(),
                **{
                    f"head_{in_prose(head)}": self._head(layer, head)
                    for head in range(config.n_heads)
                },
            }
            for layer in range(config.n_layers)
        }
        return {
            "problems": [problem.name for problem in task.PROBLEMS],
            "full": self.effect(unrecorded).figures(),
            **layers,
        }

    def effect(self, record: Record, position: int = task.EQUALS_POSITION) -> Effect:
        """Return what becomes of every problem under a recorder that overwrites something."""
        logits = self._logits(record, self.batch.tokens)
        return Effect(self._right(logits), self._probability(logits, position))

    def another_problems(self, layer: int, head: int) -> Effect:
        """Give one head the table A of another problem; the mean over the 99 others.

        Rows that the other problem does not have stay as they are.
        """
        pattern = self.patterns[_pattern(layer)][:, head]  # [donor query key]
        has_row = _has_row(pattern)  # [donor query]
        right, probability = [], []
        for donors in torch.arange(len(pattern)).split(DONORS_AT_ONCE):  # type: ignore[no-untyped-call]
            given, given_rows = pattern[donors][:, None], has_row[donors][:, None, :, None]

            def take(own: Tensor, given: Tensor = given, rows: Tensor = given_rows) -> Tensor:
                return torch.where(rows, given, own)  # [donor problem query key]

            tokens = self.batch.tokens.expand(len(donors), -1, -1)  # [donor problem pos]
            logits = self._logits(overwriting(layer, head, take), tokens)
            right.append(self._right(logits))
            probability.append(self._probability(logits, task.EQUALS_POSITION))
        others = 1 - np.eye(len(pattern))  # [donor problem]
        right_mean, probability_mean = (
            (np.concatenate(found) * others).sum(0) / others.sum(0)
            for found in (right, probability)
        )
        return Effect(right_mean, probability_mean)

    def _head(self, layer: int, head: int) -> dict[str, Any]:
        pattern = self.patterns[_pattern(layer)][:, head]  # [problem query key]
        largest = pattern[:, task.EQUALS_POSITION].amax(-1).numpy()  # [problem]
        mean = mean_pattern(pattern)
        effects = {
            "ablated": self.effect(overwriting(layer, head, torch.zeros_like)),
            "uniform": self.effect(overwriting(layer, head, plain_average)),
            "own_mean": self.effect(overwriting(layer, head, mean.expand_as)),
            "another_problem": self.another_problems(layer, head),
        }
        rows = {f"row_{row}": self._sources(layer, head, row) for row in RECEIVERS}
        return {name: effect.figures(largest) for name, effect in effects.items()} | rows

    def _sources(self, layer: int, head: int, row: int) -> dict[str, Any]:
        """What is left without each source of a row, and how often the largest share told it.

        `agrees` counts the problems in which the source that is read most is the one without
        which the right token loses the most probability.
        """
        shares = self.patterns[_pattern(layer)][:, head, row, : row + 1].numpy()  # [problem key]
        effects = [
            self.effect(overwriting(layer, head, without_source(row, source)), row)
            for source in range(row + 1)
        ]
        left = np.stack([effect.probability for effect in effects], 1)  # [problem key]
        return {
            "agrees": int((shares.argmax(1) == left.argmin(1)).sum()),
            **{
                f"source_{source}": effect.figures(shares[:, source])
                for source, effect in enumerate(effects)
            },
        }

    def _keep_patterns(self, key: str, tensor: Tensor) -> Tensor:
        if key.endswith("attn.pattern"):
            self.patterns[key] = tensor  # [problem head query key]
        return tensor

    def _logits(self, record: Record, tokens: Tensor) -> Tensor:
        with torch.no_grad():
            return transformer(self.weights, tokens, self.config, record)

    def _right(self, logits: Tensor) -> Array:
        right: Array = self.batch.right(logits).double().numpy()
        return right

    def _probability(self, logits: Tensor, position: int) -> Array:
        probs = logits[..., position, :].softmax(-1)  # [... problem d_vocab]
        wanted = self.batch.targets[:, position]  # [problem]
        found: Array = probs[..., torch.arange(len(wanted)), wanted].numpy()
        return found


def overwriting(layer: int, head: int, make: Callable[[Tensor], Tensor]) -> Record:
    """Return a recorder that overwrites one head's table A.

    `make` is given the table, [... query key], and returns the one to use. A table of zeros is a
    head that hands over nothing.
    """

    def record(key: str, tensor: Tensor) -> Tensor:
        if key != _pattern(layer):
            return tensor
        replaced = tensor.clone()
        replaced[..., head, :, :] = make(tensor[..., head, :, :])
        return replaced  # [... head query key]

    return record


def without_attention(layer: int) -> Record:
    """Return a recorder that lets the attention of a layer add nothing."""
    name = f"blocks.{layer}.attn_out"
    return lambda key, tensor: torch.zeros_like(tensor) if key == name else tensor


def without_source(row: int, source: int) -> Callable[[Tensor], Tensor]:
    """Return what removes a source's share from a row of a table; the other shares stay."""

    def make(pattern: Tensor) -> Tensor:
        cut = pattern.clone()  # [... query key]
        cut[..., row, source] = 0
        return cut

    return make


def mean_pattern(pattern: Tensor) -> Tensor:
    """Return the mean of a head's tables, each row over the problems that have it [query key]."""
    has_row = _has_row(pattern).double()  # [problem query]
    return (pattern * has_row.unsqueeze(-1)).sum(0) / has_row.sum(0).unsqueeze(-1)


def _has_row(pattern: Tensor) -> Tensor:
    """Say which rows of a head's tables are of a token that the problem has [problem query]."""
    lengths = torch.tensor([len(problem.inputs) for problem in task.PROBLEMS])  # [problem]
    return torch.arange(pattern.shape[1]) < lengths[:, None]


def _pattern(layer: int) -> str:
    return f"blocks.{layer}.attn.pattern"
