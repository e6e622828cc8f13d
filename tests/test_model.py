"""Sizes, names, task, decoding, recipe: what the model is, apart from its numbers."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model import task, trace
from model.adam import Adam
from model.batch import Batch
from model.config import PRESETS, ConfigError, ModelConfig, Preset, TrainingConfig, preset_fields
from model.divergence import DivergenceError
from model.documents import manifest
from model.snapshot import STAGES
from model.tensors import UnknownTensorError, Vocabulary, read_table
from model.train import (
    INITIAL_GRID,
    Parameters,
    initial_weights,
    learning_rate,
    train,
)
from model.transformer import transformer
from tests.trained_models import CONFIG, PRESET, VOCABULARY, run, weights

# --- the vocabulary -------------------------------------------------------------------------

BLOCK_WEIGHTS = {
    "ln1.w": 8,
    "ln1.b": 8,
    "attn.W_Q": 64,
    "attn.W_K": 64,
    "attn.W_V": 64,
    "attn.W_O": 64,
    "ln2.w": 8,
    "ln2.b": 8,
    "mlp.W_in": 512,
    "mlp.b_in": 64,
    "mlp.W_out": 512,
    "mlp.b_out": 8,
}
WEIGHTS = {
    "embed.W_E": 112,
    "pos_embed.W_pos": 128,
    **{f"blocks.0.{name}": count for name, count in BLOCK_WEIGHTS.items()},
    **{f"blocks.1.{name}": count for name, count in BLOCK_WEIGHTS.items()},
    "ln_final.w": 8,
    "ln_final.b": 8,
    "unembed.W_U": 112,
}
BLOCK_ACTIVATIONS = [
    "resid_pre",
    "ln1.scale",
    "ln1.normalized",
    "ln1.out",
    "attn.q",
    "attn.k",
    "attn.v",
    "attn.attn_scores",
    "attn.pattern",
    "attn.z",
    "attn.result",
    "attn_out",
    "resid_mid",
    "ln2.scale",
    "ln2.normalized",
    "ln2.out",
    "mlp.pre",
    "mlp.post",
    "mlp_out",
    "resid_post",
]
ACTIVATIONS = [
    "embed",
    "pos_embed",
    *[f"blocks.0.{name}" for name in BLOCK_ACTIVATIONS],
    *[f"blocks.1.{name}" for name in BLOCK_ACTIVATIONS],
    "ln_final.scale",
    "ln_final.normalized",
    "ln_final.out",
    "logits",
    "probs",
]


def test_the_keys_and_their_order_are_the_contract() -> None:
    assert list(VOCABULARY) == [*WEIGHTS, *ACTIVATIONS]
    assert list(VOCABULARY.weights) == list(WEIGHTS)
    assert list(VOCABULARY.activations) == ACTIVATIONS


def test_only_probabilities_and_scales_have_no_gradient() -> None:
    without = [key for key in VOCABULARY if not VOCABULARY[key].has_gradient]
    assert without == [key for key in ACTIVATIONS if key == "probs" or key.endswith(".scale")]


def test_there_are_3136_parameters_tensor_by_tensor() -> None:
    assert {key: w.size for key, w in weights("trained").items()} == WEIGHTS
    assert sum(WEIGHTS.values()) == VOCABULARY.n_params == 3136


@pytest.mark.parametrize("stage", STAGES)
def test_every_tensor_has_the_shape_of_its_row_in_the_vocabulary(stage: str) -> None:
    for key, w in weights(stage).items():
        assert w.shape == VOCABULARY[key].shape(CONFIG)
    for key, value in trace.activations(weights(stage), CONFIG).items():
        assert value.shape == (100, *VOCABULARY[key].shape(CONFIG, task.MAX_INPUTS)), key


def test_the_forward_pass_records_each_activation_once_in_the_order_of_the_vocabulary() -> None:
    seen: list[str] = []

    def record(key: str, tensor: torch.Tensor) -> torch.Tensor:
        seen.append(key)
        return tensor

    tensors = {key: torch.from_numpy(w) for key, w in weights("initial").items()}
    transformer(tensors, torch.tensor([7, 10, 8]), CONFIG, record)
    assert seen == ACTIVATIONS


@given(st.sampled_from(ACTIVATIONS), st.data())
def test_a_misspelt_key_is_refused_with_the_nearest_one(key: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(key) - 1))
    misspelt = key[:at] + "!" + key[at + 1 :]
    with pytest.raises(UnknownTensorError) as caught:
        VOCABULARY[misspelt]
    assert caught.value.nearest in VOCABULARY
    assert f"`{misspelt}`; did you mean `{caught.value.nearest}`?" in str(caught.value)


def test_a_key_like_no_other_is_refused_without_a_guess() -> None:
    with pytest.raises(UnknownTensorError) as caught:
        VOCABULARY["%%%%"]
    assert caught.value.nearest is None


def test_another_size_of_model_has_its_own_vocabulary() -> None:
    config = ModelConfig(n_layers=3, n_heads=4, d_model=16, d_mlp=32)
    tensors = {k: torch.from_numpy(w) for k, w in initial_weights(config, 0).items()}
    vocabulary, shapes = Vocabulary(config), {}

    def record(key: str, tensor: torch.Tensor) -> torch.Tensor:
        shapes[key] = tuple(tensor.shape)
        return tensor

    transformer(tensors, torch.tensor([7, 10, 8]), config, record)
    assert shapes == {key: vocabulary[key].shape(config, 3) for key in vocabulary.activations}


def test_the_heads_own_columns_of_what_reads_and_rows_of_what_writes() -> None:
    shared = {key: VOCABULARY[key].head_axis for key in VOCABULARY}
    owned = {key: axis for key, axis in shared.items() if axis is not None}
    block = {"W_Q": 1, "W_K": 1, "W_V": 1, "W_O": 0}
    assert owned == {
        f"blocks.{n}.attn.{name}": axis for n in (0, 1) for name, axis in block.items()
    }


@pytest.mark.parametrize("note", ["postive", "positive gradient", "positive,no gradient"])
def test_a_misspelt_note_of_the_vocabulary_is_refused(note: str) -> None:
    row = "ln1.scale | σ | pos | 分母 | denominator"
    (spec,) = read_table(f"{row} | no gradient, positive", is_weight=False)
    assert (spec.has_gradient, spec.range.value) == (False, "positive")
    with pytest.raises(KeyError, match=note):
        list(read_table(f"{row} | {note}", is_weight=False))


def test_naming_tensors_costs_no_import_of_torch() -> None:
    code = "import sys, model.tensors, model.task, model.snapshot; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# --- the task -------------------------------------------------------------------------------


def test_the_task_is_a_hundred_products_and_558_targets() -> None:
    assert (*"0123456789", "×", "=", "<end>", "<pad>") == task.VOCAB
    assert len(task.PROBLEMS) == len({p.name for p in task.PROBLEMS}) == 100
    assert len(task.TARGETS) == 558 == sum(len(p.tokens) - 1 for p in task.PROBLEMS)
    assert task.MAX_INPUTS == max(len(p.inputs) for p in task.PROBLEMS) == 6


def test_a_problem_is_written_out_as_a_person_would() -> None:
    assert task.BY_NAME["7x8"].tokens == ("7", "×", "8", "=", "5", "6", "<end>")
    assert task.BY_NAME["0x9"].tokens == ("0", "×", "9", "=", "0", "<end>")
    for problem in task.PROBLEMS:
        left, right = "".join(problem.inputs).split("=")
        a, b = left.split("×")
        assert int(a) * int(b) == int(right)


def test_every_target_is_the_token_that_follows() -> None:
    targets = iter(task.TARGETS)
    for problem in task.PROBLEMS:
        for i in range(len(problem.inputs)):
            expected = task.Target(problem.name, i, problem.tokens[i], problem.tokens[i + 1])
            assert next(targets) == expected


def test_a_sequence_is_padded_at_its_end_to_the_longest() -> None:
    assert task.padded_ids(("0", "×", "9", "=", "0")) == [0, 10, 9, 11, 0, 13]
    assert task.padded_ids(("7", "×", "8", "=", "5", "6")) == [7, 10, 8, 11, 5, 6]


@pytest.mark.parametrize("stage", ["initial", "half-trained", "trained"])
def test_counting_with_true_prefixes_equals_greedy_decoding(stage: str) -> None:
    tensors = {key: torch.from_numpy(w) for key, w in weights(stage).items()}
    batch = Batch.of_all_problems()
    counted = batch.correct(transformer(tensors, batch.tokens, CONFIG))
    decoded = [trace.decode(weights(stage), p.prompt, CONFIG) == p.answer for p in task.PROBLEMS]
    assert counted == sum(decoded)
    assert (stage == "trained") == (counted == 100)


def test_the_half_trained_model_is_right_on_some_and_wrong_on_some() -> None:
    assert 0 < run().correct[60] < 100


def test_decoding_stops_when_the_context_is_full() -> None:
    flat = {key: np.zeros_like(w) for key, w in weights("initial").items()}  # always says 0
    answer = trace.decode(flat, ("7", "×", "8", "="), CONFIG)
    assert answer == ("0",) * (CONFIG.n_ctx - 4)


def test_the_loss_is_the_mean_over_exactly_the_targets() -> None:
    assert run().loss[-1] == pytest.approx(
        trace.gradients(weights("trained"), CONFIG).loss.mean(), abs=1e-6
    )  # the run's last loss is of the float64 weights, before they become float32


# --- the configuration ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "field", "says"),
    [
        ({"n_heads": 3}, "n_heads", "one of 1, 2, 4, 8"),
        ({"d_model": 9}, "n_heads", "one of 1, 3, 9"),
        *[({name: 0}, name, "greater than 0") for name in preset_fields()[:6]],
        *[({name: -1}, name, "greater than 0") for name in preset_fields()[:6]],
        ({"ln_eps": 0.0}, "ln_eps", "greater than 0"),
        ({"steps": 0}, "steps", "greater than 0"),
        ({"learning_rate": 0.0}, "learning_rate", "greater than 0"),
        ({"learning_rate": math.nan}, "learning_rate", "greater than 0"),
        ({"eps": 0.0}, "eps", "greater than 0"),
        ({"learning_rate": math.inf}, "learning_rate", "finite"),
        ({"gradient_grid": 0.0}, "gradient_grid", "greater than 0"),
        ({"gradient_grid": 1e-6}, "gradient_grid", "a power of 2"),
        ({"seed": -1}, "seed", "must not be negative"),
        ({"beta1": 1.0}, "beta1", "less than 1"),
        ({"beta2": -0.1}, "beta2", "at least 0"),
        ({"beta2": math.nan}, "beta2", "less than 1"),
        ({"n_layers": 2.5}, "n_layers", "must be a whole number"),
        ({"steps": "600"}, "steps", "must be a whole number"),
        ({"learning_rate": "fast"}, "learning_rate", "must be a number"),
        ({"n_heads": True}, "n_heads", "must be a whole number"),
        ({"n_head": 2}, "n_head", "not a field"),
    ],
)
def test_an_impossible_preset_is_refused_with_field_and_value(
    values: dict[str, object], field: str, says: str
) -> None:
    with pytest.raises(ConfigError, match=says) as caught:
        PRESET.override(**values)
    assert caught.value.field == field
    assert f"`{field}`" in str(caught.value)


def test_an_override_changes_its_fields_and_leaves_the_preset_alone() -> None:
    changed = PRESET.override(seed=9, d_mlp=32, learning_rate=1)
    assert (changed.training.seed, changed.model.d_mlp) == (9, 32)
    assert type(changed.training.learning_rate) is float
    assert PRESETS["multiplication"] is PRESET
    assert ModelConfig() == PRESET.model
    assert TrainingConfig() == PRESET.training


@pytest.mark.parametrize("field", ["d_vocab", "n_ctx"])
def test_a_model_too_small_for_the_task_is_named(field: str) -> None:
    smallest = {"d_vocab": 14, "n_ctx": 7}
    fits = PRESET.override(**{field: smallest[field]})
    assert task.MULTIPLICATION.misfit(fits.model) is None
    found = task.MULTIPLICATION.misfit(PRESET.override(**{field: smallest[field] - 1}).model)
    assert found is not None
    assert found[0] == field
    assert f"`{field}` = {smallest[field] - 1}" in found[1]


@given(st.integers(1, 5000))
def test_checkpoints_are_sorted_and_have_both_ends(steps: int) -> None:
    checkpoints = TrainingConfig(steps=steps).checkpoints
    assert list(checkpoints) == sorted(set(checkpoints))
    assert checkpoints[0] == 0
    assert checkpoints[-1] == steps
    assert len(checkpoints) <= 40


def test_the_article_keeps_twenty_to_forty_checkpoints_denser_early() -> None:
    checkpoints = PRESET.training.checkpoints
    assert 20 <= len(checkpoints) <= 40
    gaps = np.diff(checkpoints)
    assert gaps[:5].max() < gaps[-5:].min()
    assert tuple(run().checkpoints) == checkpoints


# --- the recipe -----------------------------------------------------------------------------


def test_initial_weights_are_short_exact_decimals_within_their_bounds() -> None:
    for key, w in initial_weights(CONFIG, seed=8).items():
        whole = w / INITIAL_GRID
        assert (whole == np.rint(whole)).all(), key
        assert (w == w.astype(np.float32)).all(), key
        assert not (np.signbit(w) & (w == 0)).any(), f"{key}: a negative zero"
        if key.endswith(".w"):
            assert (w == 1).all(), key
        elif w.ndim == 1:
            assert (w == 0).all(), key
        else:
            embedding = key in ("embed.W_E", "pos_embed.W_pos")
            bound = 1.0 if embedding else math.sqrt(3 / w.shape[0])
            assert bound * 0.8 < np.abs(w).max() <= bound + INITIAL_GRID / 2, key


def test_initial_weights_depend_on_the_seed_and_on_nothing_of_torch() -> None:
    def drawn(torch_seed: int, seed: int) -> bytes:
        torch.manual_seed(torch_seed)
        return b"".join(w.tobytes() for w in initial_weights(CONFIG, seed).values())

    assert drawn(1, seed=8) == drawn(2, seed=8)
    assert drawn(1, seed=8) != drawn(1, seed=9)


def test_the_first_checkpoint_is_the_initial_weights_and_the_last_the_trained_ones() -> None:
    for key, w in initial_weights(CONFIG, PRESET.training.seed).items():
        assert np.array_equal(run().initial[key], w), key
    assert run().initial is run().checkpoints[0]
    assert run().trained is run().checkpoints[PRESET.training.steps]


@pytest.mark.parametrize(("rate", "loss"), [(1e300, "nan"), (1e30, "")])
def test_a_training_that_diverges_stops_at_the_step_and_says_so(rate: float, loss: str) -> None:
    seen: list[int] = []
    with pytest.raises(DivergenceError, match=f"at step 1 the loss is {loss}") as caught:
        train(
            PRESET.override(steps=5, learning_rate=rate),
            on_step=lambda step, _loss, _correct: seen.append(step),
        )
    assert caught.value.step == 1
    assert seen == [0]


def test_a_preset_that_names_no_task_is_about_the_products() -> None:
    preset = Preset(CONFIG, PRESET.training)
    document = json.loads(manifest(preset, {}, {}, []))
    assert document["task"] == {"name": "multiplication", "n_problems": 100, "n_targets": 558}


def test_the_learning_rate_falls_in_a_line_to_zero() -> None:
    recipe = PRESET.training
    assert learning_rate(recipe, 0) == recipe.learning_rate == run().learning_rate[0]
    assert learning_rate(recipe, recipe.steps // 2) == recipe.learning_rate / 2
    assert learning_rate(recipe, recipe.steps) == 0 == run().learning_rate[-1]
    np.testing.assert_allclose(np.diff(run().learning_rate), -recipe.learning_rate / recipe.steps)


def test_the_curve_has_one_entry_more_than_there_are_steps() -> None:
    lengths = {len(run().loss), len(run().correct), len(run().learning_rate)}
    assert lengths == {PRESET.training.steps + 1}


def adam_one_number_at_a_time(
    theta: list[float], gradients: list[list[float]], recipe: TrainingConfig
) -> list[float]:
    """Kingma and Ba 2015, algorithm 1, in Python's own floats; gradients [step parameter]."""
    m, v = [0.0] * len(theta), [0.0] * len(theta)
    power1 = power2 = 1.0
    for step, gradient in enumerate(gradients):
        power1, power2 = power1 * recipe.beta1, power2 * recipe.beta2
        rate = recipe.learning_rate * (recipe.steps - step) / recipe.steps
        for i, exact in enumerate(gradient):
            g = round(exact / recipe.gradient_grid) * recipe.gradient_grid  # half to even
            m[i] = recipe.beta1 * m[i] + (1 - recipe.beta1) * g
            v[i] = recipe.beta2 * v[i] + (1 - recipe.beta2) * (g * g)
            m_hat, v_hat = m[i] / (1 - power1), v[i] / (1 - power2)
            theta[i] = theta[i] - rate * m_hat / (math.sqrt(v_hat) + recipe.eps)
    return theta


def test_adam_equals_a_scalar_implementation_bit_for_bit() -> None:
    rng = np.random.default_rng(0)
    recipe = PRESET.training
    start = {"a": rng.normal(size=(3, 5)), "b": rng.normal(size=4)}
    gradients = rng.normal(size=(10, 19)) * 10.0 ** rng.integers(-9, 1, size=19)
    parameters = Parameters.of(start)
    adam = Adam(parameters.flat, recipe)
    for step, gradient in enumerate(gradients):
        adam.update(gradient, learning_rate(recipe, step))
    flat = [*start["a"].ravel().tolist(), *start["b"].tolist()]
    expected = adam_one_number_at_a_time(flat, gradients.tolist(), recipe)
    assert parameters.flat.tolist() == expected
    in_tensors = torch.cat([t.detach().ravel() for t in parameters.tensors.values()])
    assert in_tensors.tolist() == expected


def test_adam_sees_only_gradients_on_the_grid() -> None:
    grid = PRESET.training.gradient_grid
    on_grid = np.array([-3.0, 0.0, 1.0, 1000.0]) * grid

    def after(gradient: np.ndarray) -> list[float]:
        adam = Adam(np.ones(4), PRESET.training)
        adam.update(gradient, 0.01)
        return adam.weights.tolist()

    assert after(on_grid + 0.49 * grid) == after(on_grid) == after(on_grid - 0.49 * grid)
    assert after(on_grid + 0.51 * grid) != after(on_grid)


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=20))
def test_the_portability_margin_is_the_distance_to_the_nearest_boundary(
    gradient: list[float],
) -> None:
    grid = PRESET.training.gradient_grid
    adam = Adam(np.zeros(len(gradient)), PRESET.training)
    found = adam.update(np.array(gradient), 0.01)
    boundaries = [(math.floor(g / grid) + 0.5) * grid for g in gradient]
    nearest = min(abs(g - b) for g, b in zip(gradient, boundaries, strict=True))
    assert found == pytest.approx(nearest, abs=1e-15)
    assert 0 <= found <= grid / 2


def test_the_gradient_of_the_batch_is_the_mean_over_the_targets() -> None:
    start = initial_weights(CONFIG, seed=8)
    parameters, batch = Parameters.of(start), Batch.of_all_problems()
    flat = parameters.gradient(batch.loss(transformer(parameters.tensors, batch.tokens, CONFIG)))
    each = trace.gradients(start, CONFIG).weights
    mean = np.concatenate([each[key].mean(0).ravel() for key in VOCABULARY.weights])
    np.testing.assert_allclose(flat, mean, rtol=0, atol=1e-14)
