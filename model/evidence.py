"""What claims about the model rest on, beside its own numbers: gathered anew in every build.

A control, retrained from the same seed, answers what the task requires; a number overwritten on its
way through the trained model answers what this model relies on. The tables of many seeds and of all
interventions are `model.controls` and `model.interventions`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from model import task, trace
from model.config import STEP_RATE, ModelConfig, Preset
from model.interventions import overwriting
from model.reading import PlainAverage
from model.together import train_together
from model.trace import Gradients, StoredWeights, decode
from model.train import Run
from model.transformer import Record, unrecorded
from model.variants import plain_average, uniform_pattern


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
    second_digit_without_equals
        Of the 58 answers with two digits, how many second digits are still the likeliest token
        when, in the last layer, the first digit may not read the row of `=`.
    raised_by_step
        For how many targets one step of plain gradient descent from the initial weights, on that
        target alone, raises its probability. All of them would be 558.
    first_step
        That probability for the first answer digit of 7x8, before and after.
    sum_of_norms, norm_of_sum
        Norms of the initial gradients of layer 1's W_Q: of each problem's, added up, and of the
        sum over all problems.
    control_uniform, control_loss, control_margin
        A model trained from the same seed with the plain average in place of every reading
        table, so that Q and K are never used; its final mean loss in nats, and the portability
        margin of its training.
    """

    decoded: int
    overwritten_uniform: int
    overwritten_heads: list[list[int]]
    second_digit_without_equals: int
    raised_by_step: int
    first_step: tuple[float, float]
    sum_of_norms: float
    norm_of_sum: float
    control_uniform: int
    control_loss: float
    control_margin: float


def gather(
    initial: StoredWeights, weights: StoredWeights, preset: Preset, control: Run | None = None
) -> Evidence:
    """Train the control, intervene in the trained model, and follow training's first gradients.

    Parameters
    ----------
    initial, weights, preset
        The model at both ends of its training, and the recipe.
    control
        The trained control, where it is there already.

    Raises
    ------
    DivergenceError
        If the control's loss grows beyond `HIGHEST_LOSS`, or becomes NaN.
    """
    control = control or train_uniform(preset, [preset.training.seed])[0]
    first_gradients = trace.gradients(initial, preset.model)
    stepped = trace.losses_after_step(initial, first_gradients, STEP_RATE, preset.model)
    before, after = np.exp(-first_gradients.loss), np.exp(-stepped)  # [target]
    first = task.TARGETS.index(task.BY_NAME["7x8"].targets[task.EQUALS_POSITION])
    sum_of_norms, norm_of_sum = gradient_norms(first_gradients)
    return Evidence(
        decoded=count_correct(weights, preset.model),
        overwritten_uniform=count_correct(weights, preset.model, uniform_pattern),
        overwritten_heads=[
            [
                count_correct(weights, preset.model, overwriting(layer, head, plain_average))
                for head in range(preset.model.n_heads)
            ]
            for layer in range(preset.model.n_layers)
        ],
        second_digit_without_equals=count_second_digits(weights, preset.model),
        raised_by_step=int((after > before).sum()),
        first_step=(float(before[first]), float(after[first])),
        sum_of_norms=sum_of_norms,
        norm_of_sum=norm_of_sum,
        control_uniform=control.correct[-1],
        control_loss=control.loss[-1],
        control_margin=control.portability_margin,
    )


def train_uniform(preset: Preset, seeds: Sequence[int]) -> list[Run]:
    """Train some seeds with the plain average in place of every reading table."""
    return train_together(preset, seeds, PlainAverage())


def gradient_norms(found: Gradients) -> tuple[float, float]:
    """Norms of the gradients of layer 1's W_Q: the problems' added up, and that of their sum."""
    starts = [i for i, target in enumerate(task.TARGETS) if target.position == 0]
    by_problem = np.add.reduceat(found.weights["blocks.0.attn.W_Q"], starts)  # [problem ...]
    sum_of_norms = np.linalg.norm(by_problem, axis=(1, 2)).sum()
    return float(sum_of_norms), float(np.linalg.norm(by_problem.sum(0)))


def count_correct(weights: StoredWeights, config: ModelConfig, record: Record = unrecorded) -> int:
    """Decode every problem from its question; count the answers that are right to the end."""
    return sum(decode(weights, p.prompt, config, record) == p.answer for p in task.PROBLEMS)


def count_second_digits(weights: StoredWeights, config: ModelConfig) -> int:
    """Count right second digits when the first may not read `=` in the last layer."""
    first_digit = task.EQUALS_POSITION + 1

    def record(key: str, tensor: Tensor) -> Tensor:
        if key != f"blocks.{config.n_layers - 1}.attn.pattern":
            return tensor
        cut = tensor.clone()  # [problem head query key]
        cut[..., first_digit, task.EQUALS_POSITION] = 0
        return cut / cut.sum(-1, keepdim=True)  # [problem head query key]

    found = trace.likeliest(weights, config, record)[:, first_digit]  # [problem]
    return sum(
        task.VOCAB[token] == problem.answer[1]
        for token, problem in zip(found, task.PROBLEMS, strict=True)
        if problem.answer[1] != task.END
    )
