"""From a seed to trained weights, the same bits on every machine.

Training amplifies: one last-bit difference in one sum, and nothing matches a thousand steps later.
Four habits keep it away. The initial weights come from NumPy's PCG64. Values are float64. Every
gradient is rounded to a grid ten orders above the noise of summation before the optimizer sees
it. And Adam uses only + - × ÷ and √, which IEEE 754 rounds alike everywhere, in a fixed order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model import task
from model.adam import Adam
from model.batch import Batch
from model.config import ModelConfig, Preset, TrainingConfig
from model.divergence import HIGHEST_LOSS, DivergenceError
from model.encoding import rounded
from model.lessons import Course, all_products
from model.tensors import Vocabulary
from model.transformer import Record, transformer
from model.variants import FULL, Variant

Array = NDArray[np.float64]
Weights = Mapping[str, Array]

INITIAL_GRID = 2.0**-10
"""Initial weights are multiples of this: short, exact decimals on the page."""


@dataclass(frozen=True, slots=True)
class Run:
    """What a training run leaves behind.

    Attributes
    ----------
    checkpoints
        Step -> weight key -> float32 array. Step 0 is the initial model, the last the trained one.
    loss, correct, learning_rate
        Entry i belongs to the weights before step i; one entry more than there are steps. `loss`
        is the mean over the targets (558 of all products) in nats, `correct` counts problems.
    portability_margin
        Smallest distance of any gradient to a boundary of the grid's rounding: how much noise
        the run could have taken without changing.
    n_problems
        How many problems there are to be right.
    """

    checkpoints: Mapping[int, Mapping[str, NDArray[np.float32]]]
    loss: list[float]
    correct: list[int]
    learning_rate: list[float]
    portability_margin: float
    n_problems: int = len(task.PROBLEMS)

    @property
    def initial(self) -> Mapping[str, NDArray[np.float32]]:
        """The weights of step 0."""
        return self.checkpoints[min(self.checkpoints)]

    @property
    def first_step_all_correct(self) -> int | None:
        """The first step before which every problem was right, or None."""
        steps = (step for step, right in enumerate(self.correct) if right == self.n_problems)
        return next(steps, None)

    @property
    def figures(self) -> dict[str, Any]:
        """What came of the training, as the manifest has it."""
        return {
            "first_step_all_correct": self.first_step_all_correct,
            "final_loss": float(rounded(np.array(self.loss[-1]))),
            "correct": self.correct[-1],
            "portability_margin": float(f"{self.portability_margin:.1e}"),
        }

    @property
    def trained(self) -> Mapping[str, NDArray[np.float32]]:
        """The weights after the last step."""
        return self.checkpoints[max(self.checkpoints)]


def initial_weights(config: ModelConfig, seed: int) -> dict[str, Array]:
    """Draw the weights of step 0.

    Matrices are uniform in ±√(3 / rows) (variance 1 / rows) and embeddings in ±1, rounded to
    multiples of 2⁻¹⁰; gains are 1 and biases 0.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    vocabulary = Vocabulary(config)
    weights: dict[str, Array] = {}
    for key in vocabulary.weights:
        shape = vocabulary[key].shape(config)
        if len(shape) == 1:
            weights[key] = np.full(shape, 1.0 if key.endswith(".w") else 0.0)
            continue
        is_table = vocabulary[key].axes[0] in ("d_vocab", "pos")  # its rows are picked, not summed
        bound = 1.0 if is_table else (3.0 / shape[0]) ** 0.5
        drawn = rng.uniform(-bound, bound, shape)
        weights[key] = np.rint(drawn / INITIAL_GRID) * INITIAL_GRID + 0.0  # + 0.0: no -0.0
    return weights


@np.errstate(all="ignore")  # what overflows is found in the loss
def train(
    preset: Preset,
    variant: Variant = FULL,
    on_step: Callable[[int, float, int], None] | None = None,
    course: Course | None = None,
) -> Run:
    """Train a model from its seed.

    Parameters
    ----------
    preset
        Sizes and recipe.
    variant
        What is changed in the network, if anything.
    on_step
        Called with the step, the loss and the number of correct problems before each update.
    course
        What it is trained on, and whose problems are counted; all products if there is none.

    Raises
    ------
    DivergenceError
        If the loss grows beyond `HIGHEST_LOSS`, or becomes NaN.
    """
    recipe, config = preset.training, replace(preset.model, **variant.sizes)
    course = course or all_products()
    exam = course.exam
    tables = variant.tables(config)
    parameters = Parameters.of(initial_weights(config, recipe.seed) | tables)
    weights = variant.use(parameters.tensors)
    record = variant.record(weights)
    adam = Adam(parameters.flat, recipe)
    checkpoints: dict[int, dict[str, NDArray[np.float32]]] = {}
    losses: list[float] = []
    corrects: list[int] = []
    margin = np.inf
    wanted = set(recipe.checkpoints)

    for step in range(recipe.steps + 1):
        if step in wanted:
            checkpoints[step] = parameters.as_float32()
        batch = course.lessons(step)
        logits = transformer(weights, batch.tokens, config, record)
        loss = batch.loss(logits)
        losses.append(float(loss.detach()))
        if not losses[-1] < HIGHEST_LOSS:
            raise DivergenceError(step, losses[-1])
        corrects.append(_score(exam, weights, config, record) if exam else batch.correct(logits))
        if on_step:
            on_step(step, losses[-1], corrects[-1])
        if step < recipe.steps:
            gradient = parameters.gradient(loss)
            margin = min(margin, float(adam.update(gradient, learning_rate(recipe, step))))

    rates = [learning_rate(recipe, step) for step in range(recipe.steps + 1)]
    n_problems = len(task.PROBLEMS if exam is None else exam.tokens)
    return Run(checkpoints, losses, corrects, rates, float(margin), n_problems)


def _score(exam: Batch, weights: Mapping[str, Tensor], config: ModelConfig, record: Record) -> int:
    """Count the problems of an exam that are right."""
    with torch.no_grad():
        return exam.correct(transformer(weights, exam.tokens, config, record))


def learning_rate(recipe: TrainingConfig, step: int) -> float:
    """Return the rate of update `step`: a straight line from the recipe's rate to 0."""
    return recipe.learning_rate * (recipe.steps - step) / recipe.steps


@dataclass(frozen=True, slots=True)
class Parameters:
    """All weights in one flat float64 array, and as torch tensors that share its memory."""

    flat: Array
    tensors: dict[str, Tensor]

    @classmethod
    def of(cls, weights: Weights) -> Parameters:
        """Copy the weights, in their order, into one array."""
        flat = np.concatenate([weight.ravel() for weight in weights.values()])  # [weight]
        tensors, start = {}, 0
        for key, weight in weights.items():
            view = flat[start : start + weight.size].reshape(weight.shape)  # the tensor's own axes
            tensors[key] = torch.from_numpy(view).requires_grad_()
            start += weight.size
        return cls(flat, tensors)

    def gradient(self, loss: Tensor) -> Array:
        """Return ∂loss/∂weights as one flat array; 0 where a variant does not use a weight."""
        gradients = torch.autograd.grad(loss, list(self.tensors.values()), materialize_grads=True)
        return np.concatenate([gradient.numpy().ravel() for gradient in gradients])  # [weight]

    def as_float32(self) -> dict[str, NDArray[np.float32]]:
        """Return a copy of every weight, rounded to float32."""
        return {key: w.detach().numpy().astype(np.float32) for key, w in self.tensors.items()}
