"""What the task needs and what this model uses: a control that is retrained, and interventions.

A control changes the mechanism and trains again from the same seed; it answers what the task
requires. An intervention leaves the trained weights alone and overwrites a number on its way; it
answers what this model relies on. Both are recorders of the one forward pass.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from model import task
from model.config import ModelConfig, Preset
from model.trace import StoredWeights, decode
from model.train import train
from model.transformer import Record, unrecorded


@dataclass(frozen=True, slots=True)
class Evidence:
    """Counts of correct problems, out of 100.

    Attributes
    ----------
    decoded
        The trained model, every answer decoded token by token.
    overwritten_uniform
        The same weights, every reading table overwritten by the plain average.
    overwritten_heads
        The same with one table alone overwritten [layer][head].
    control_uniform, control_loss, control_margin
        A model trained from the same seed with the plain average in place of every reading
        table, so that Q and K are never used; its final mean loss in nats, and the portability
        margin of its training.
    """

    decoded: int
    overwritten_uniform: int
    overwritten_heads: list[list[int]]
    control_uniform: int
    control_loss: float
    control_margin: float


def gather(weights: StoredWeights, preset: Preset) -> Evidence:
    """Train the control and decode all problems with and without the intervention.

    Raises
    ------
    DivergenceError
        If the control's loss becomes infinite or NaN.
    """
    control = train(preset, uniform_pattern)
    return Evidence(
        decoded=count_correct(weights, preset.model),
        overwritten_uniform=count_correct(weights, preset.model, uniform_pattern),
        overwritten_heads=[
            [
                count_correct(weights, preset.model, uniform_head(layer, head))
                for head in range(preset.model.n_heads)
            ]
            for layer in range(preset.model.n_layers)
        ],
        control_uniform=control.correct[-1],
        control_loss=control.loss[-1],
        control_margin=control.portability_margin,
    )


def count_correct(weights: StoredWeights, config: ModelConfig, record: Record = unrecorded) -> int:
    """Decode every problem from its question; count the answers that are right to the end."""
    return sum(decode(weights, p.prompt, config, record) == p.answer for p in task.PROBLEMS)


def uniform_pattern(key: str, tensor: Tensor) -> Tensor:
    """Put the plain average over the visible positions in place of every reading table A."""
    if not key.endswith("attn.pattern"):
        return tensor
    visible = torch.ones_like(tensor).tril()  # [... query key]
    return visible / visible.sum(-1, keepdim=True)  # [... query key]


def uniform_head(layer: int, head: int) -> Record:
    """Return a recorder that puts the plain average in place of one head's reading table."""

    def record(key: str, tensor: Tensor) -> Tensor:
        if key != f"blocks.{layer}.attn.pattern":
            return tensor
        replaced = tensor.clone()
        replaced[..., head, :, :] = uniform_pattern(key, tensor)[..., head, :, :]
        return replaced  # [... head query key]

    return record
