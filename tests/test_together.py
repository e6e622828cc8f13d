"""Seeds that are trained together come out as each alone, to the bit."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from model import task
from model.batch import Batch
from model.by_hand import Network
from model.columns import Columns
from model.config import Preset
from model.divergence import DivergenceError
from model.reading import ByContent, PlainAverage, Reading
from model.together import Together, train_together
from model.train import Parameters, initial_weights, train
from model.transformer import transformer
from model.variants import FULL, UNIFORM
from tests.trained_models import CONFIG, PRESET

SEEDS = (8, 0, 3)
READINGS = {"by content": (ByContent(), FULL), "average": (PlainAverage(), UNIFORM)}


@pytest.mark.parametrize("name", READINGS)
def test_seeds_trained_together_are_those_trained_alone(name: str) -> None:
    reading, variant = READINGS[name]
    preset = PRESET.override(steps=90)
    for seed, run in zip(SEEDS, train_together(preset, SEEDS, reading), strict=True):
        alone = train(preset.override(seed=seed), variant)
        assert run.checkpoints.keys() == alone.checkpoints.keys()
        for step, weights in alone.checkpoints.items():
            for key, weight in weights.items():
                np.testing.assert_array_equal(run.checkpoints[step][key], weight, f"{step} {key}")
        assert run.correct == alone.correct
        assert run.learning_rate == alone.learning_rate
        np.testing.assert_allclose(run.loss, alone.loss, rtol=0, atol=1e-13)
        np.testing.assert_allclose(run.portability_margin, alone.portability_margin, atol=1e-15)


@pytest.mark.parametrize(
    "sizes", [{}, {"n_layers": 1}, {"n_heads": 1}, {"n_heads": 4, "d_mlp": 5}, {"n_layers": 3}]
)
@pytest.mark.parametrize("name", READINGS)
def test_every_gradient_is_that_of_autograd(name: str, sizes: dict[str, int]) -> None:
    reading, variant = READINGS[name]
    preset = PRESET.override(**sizes)
    found = gradients_together(preset, reading)
    batch = Batch.of_all_problems()
    for row, seed in enumerate(SEEDS):
        alone = Parameters.of(initial_weights(preset.model, seed))
        record = variant.record(alone.tensors)
        loss = batch.loss(transformer(alone.tensors, batch.tokens, preset.model, record))
        expected = alone.gradient(loss)
        assert np.abs(found[row] - expected).max() < 1e-14
        assert np.abs(expected).max() > 0.01


def gradients_together(preset: Preset, reading: Reading) -> np.ndarray:
    seeds = Together.of(preset, SEEDS)
    network = Network(preset.model, Columns.of_all_problems(preset.model), reading)
    return seeds.flattened(network.step(seeds.tensors)[2])


def test_a_seed_is_the_same_in_whatever_company() -> None:
    preset = PRESET.override(steps=12)
    alone, beside = train_together(preset, [5])[0], train_together(preset, [1, 2, 5])[2]
    for key, weight in alone.trained.items():
        np.testing.assert_array_equal(beside.trained[key], weight)


def test_the_columns_hold_every_target_once() -> None:
    columns = Columns.of_all_problems(CONFIG)
    assert columns.picks.shape == (CONFIG.d_vocab + CONFIG.n_ctx, 420)
    assert (columns.picks.sum(0) == 2).all(), "one token and one position each"
    assert columns.counts.sum() == len(task.TARGETS) == 558
    after_seven = columns.counts[:, 7]  # the stem's first position, group 7
    assert after_seven[task.TOKEN_ID[task.TIMES]] == 10
    assert after_seven.sum() == 10
    after_seven_times = columns.counts[:, 10 + 7]
    assert after_seven_times.tolist() == [1.0] * 10 + [0.0] * 4
    of_answers = (columns.answers >= 0).sum()
    assert of_answers == sum(len(problem.answer) for problem in task.PROBLEMS)


def test_what_is_split_can_be_joined() -> None:
    columns = Columns.of_all_problems(CONFIG)
    x = torch.arange(2 * 420).view(2, 420)
    stem, rest = columns.split(x)
    assert stem.shape == (2, 2, 10)
    assert rest.shape == (2, 4, 10, 10)
    assert (columns.join(stem, rest) == x).all()


def test_one_seed_that_diverges_is_told() -> None:
    with pytest.raises(DivergenceError):
        train_together(PRESET.override(learning_rate=1e300, steps=3), [0, 1])


def test_progress_is_told_step_by_step() -> None:
    steps: list[int] = []
    train_together(PRESET.override(steps=3), [0], on_step=steps.append)
    assert steps == [0, 1, 2, 3]
