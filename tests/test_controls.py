"""Controls change one part and nothing else, and what the tables say of them can be done again."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from model import controls, held_out, task
from model.batch import Batch
from model.config import ModelConfig, Preset
from model.lessons import always
from model.tensors import Vocabulary
from model.train import initial_weights, train
from model.transformer import transformer
from model.variants import CONTROLS, FULL, Variant
from tests import reference
from tests.tables import content
from tests.trained_models import CONFIG, PRESET, ids

Array = np.ndarray
NEVER_READ = 8 * (16 - 6) + 8 * 2
"""Positions beyond the longest problem, and the tokens ⟨pad⟩ and ⟨end⟩."""

ALIVE = {
    "full": 3136 - NEVER_READ,
    "no_attention": 3136 - NEVER_READ - 2 * (4 * 64 + 16),
    "fixed_table": 3136 - NEVER_READ - 2 * 2 * 64 + 2 * 2 * (2 + 3 + 4 + 5 + 6),
    "uniform": 3136 - NEVER_READ - 2 * 2 * 64,
    "k_tied_to_q": 3136 - NEVER_READ - 2 * 64,
    "v_tied_to_k": 3136 - NEVER_READ - 2 * 64,
    "one_head": 3136 - NEVER_READ,
    "one_layer": 3136 - NEVER_READ - 1384,
    "no_positions": 3136 - NEVER_READ - 8 * 6,
    "no_mlp": 3136 - NEVER_READ - 2 * (8 * 64 + 64 + 64 * 8 + 8 + 16),
}
"""Numbers that can matter: a row that one position alone reads is a share of 1, whatever it was."""


def test_every_control_that_was_asked_for_is_there() -> None:
    assert [variant.name for variant in CONTROLS] == list(ALIVE)
    assert list(content("controls")) == list(ALIVE)


@pytest.mark.parametrize("name", ALIVE)
def test_as_many_parameters_matter_as_the_change_leaves(name: str) -> None:
    assert content("controls")[name]["parameters"] == ALIVE[name]


@pytest.mark.parametrize("name", ALIVE)
def test_a_line_of_the_table_is_the_summary_of_its_seeds(name: str) -> None:
    line = content("controls")[name]
    of_seed = line["of_seed"]
    assert of_seed["seed"] == list(range(20))
    assert line["seeds"] == 20
    assert line["correct"] == np.median(of_seed["correct"])
    assert (line["fewest"], line["most"]) == (min(of_seed["correct"]), max(of_seed["correct"]))
    assert line["all_correct"] == of_seed["correct"].count(100)
    np.testing.assert_allclose(line["loss"], np.median(of_seed["loss"]), rtol=1e-6)
    reached = [step for step in of_seed["steps"] if step is not None]
    assert line["steps"] == (np.median(reached) if reached else None)
    for correct, step in zip(of_seed["correct"], of_seed["steps"], strict=True):
        assert correct < 100 or step is not None


@pytest.mark.parametrize("variant", CONTROLS, ids=lambda variant: variant.name)
def test_a_control_starts_and_takes_its_first_step_as_an_independent_forward_says(
    variant: Variant,
) -> None:
    """Its loss from two seeds; its step, by finite differences, from the last of them."""
    for seed in (0, 7):
        preset = PRESET.override(seed=seed, steps=1)
        run = train(preset, variant)
        start = independent_start(variant, preset)
        assert abs(run.loss[0] - independent_loss(variant, start)) < 1e-12
    moved = {key: run.trained[key] - run.initial[key] for key in run.initial}
    check_first_step(variant, start, moved)


def independent_start(variant: Variant, preset: Preset) -> dict[str, Array]:
    config = ModelConfig(**{**sizes(preset.model), **variant.sizes})
    weights = initial_weights(config, preset.training.seed)
    if variant.name == "fixed_table":
        for layer in range(2):
            weights[f"blocks.{layer}.attn.table"] = np.zeros((2, 16, 16))
    return weights


def sizes(config: ModelConfig) -> dict[str, int | float]:
    return {name: getattr(config, name) for name in config.__dataclass_fields__}


def independent_loss(variant: Variant, weights: dict[str, Array]) -> float:
    """The mean loss over the 558 targets by the reference's operations, changed by hand."""
    total = 0.0
    for problem in task.PROBLEMS:
        logits = changed_forward(variant.name, weights, ids(problem.inputs))
        probs = reference.softmax(logits)
        for target in problem.targets:
            total -= np.log(probs[target.position, task.TOKEN_ID[target.target]])
    return total / 558


def changed_forward(name: str, w: dict[str, Array], read: list[int]) -> Array:
    n_layers, n_heads = (1 if name == "one_layer" else 2), (1 if name == "one_head" else 2)
    d_head, n = 8 // n_heads, len(read)
    x = w["embed.W_E"][read]
    if name != "no_positions":
        x = x + w["pos_embed.W_pos"][:n]
    for layer in range(n_layers):
        at = f"blocks.{layer}."
        W = {letter: w[f"{at}attn.W_{letter}"] for letter in "QKVO"}
        if name == "k_tied_to_q":
            W["K"] = W["Q"]
        if name == "v_tied_to_k":
            W["V"] = W["K"]
        normed = reference.layer_norm(x, w[at + "ln1.w"], w[at + "ln1.b"])[2]
        for head in range(n_heads if name != "no_attention" else 0):
            own = slice(head * d_head, (head + 1) * d_head)
            q, k, v = (normed @ W[letter][:, own] for letter in "QKV")
            a = reference.attention_head(q, k, v)[1]
            if name == "uniform":
                a = np.tril(np.ones((n, n))) / np.arange(1, n + 1)[:, None]
            if name == "fixed_table":
                scores = w[at + "attn.table"][head, :n, :n]
                a = reference.softmax(np.where(np.tril(np.ones((n, n))) > 0, scores, -np.inf))
            x = x + a @ v @ W["O"][own]
        if name != "no_mlp":
            normed = reference.layer_norm(x, w[at + "ln2.w"], w[at + "ln2.b"])[2]
            hidden = reference.relu(normed @ w[at + "mlp.W_in"] + w[at + "mlp.b_in"])
            x = x + hidden @ w[at + "mlp.W_out"] + w[at + "mlp.b_out"]
    final = reference.layer_norm(x, w["ln_final.w"], w["ln_final.b"])[2]
    return final @ w["unembed.W_U"]


def check_first_step(variant: Variant, start: dict[str, Array], moved: dict[str, Array]) -> None:
    """Adam's first step has the size of the rate, against the slope, and none where there is none.

    One number of each weight is looked at.
    """
    random = np.random.default_rng(0)
    for key, weight in start.items():
        for flat in random.choice(weight.size, 1):
            place = np.unravel_index(flat, weight.shape)
            slope = slope_of(variant, start, key, place)
            step = float(moved[key][place])
            if abs(slope) > 1e-5:
                assert np.sign(step) == -np.sign(slope), (key, place)
                assert abs(abs(step) - 0.01) < 1e-3, (key, place)
            if abs(slope) < 1e-9:
                assert step == 0, (key, place)


def slope_of(
    variant: Variant, start: dict[str, Array], key: str, place: tuple[np.intp, ...]
) -> float:
    h = 1e-5
    losses = []
    for sign in (1, -1):
        weight = start[key].copy()
        weight[place] += sign * h
        losses.append(independent_loss(variant, {**start, key: weight}))
    return (losses[0] - losses[1]) / (2 * h)


@pytest.mark.parametrize("name", ["full", "uniform", "no_mlp"])
def test_two_seeds_of_a_line_are_those_of_a_training_of_now(name: str) -> None:
    """A few steps only: what a table has of a whole training is too long for a test."""
    preset = PRESET.override(steps=5)
    line = controls.train_control(preset, name, [0, 1])
    assert line["seed"] == [0, 1]
    for place, seed in enumerate(line["seed"]):
        run = train(preset.override(seed=seed), controls.BY_NAME[name])
        assert line["correct"][place] == run.correct[-1]
        assert line["steps"][place] is None
        np.testing.assert_allclose(line["loss"][place], run.loss[-1], rtol=1e-6)
        bits = np.unpackbits(np.frombuffer(bytes.fromhex(line["moved"][place]), np.uint8))
        assert bits.sum() == sum(int((run.initial[k] != run.trained[k]).sum()) for k in run.initial)


def test_a_variant_is_made_of_what_the_forward_pass_takes_anyway() -> None:
    """The full model is trained as the network is, number by number."""
    run = train(PRESET.override(steps=1))
    weights = {key: torch.from_numpy(w.astype(np.float64)) for key, w in run.initial.items()}
    assert FULL.use(weights) is weights
    tokens = torch.tensor([task.padded_ids(task.BY_NAME["7x8"].inputs)])
    plain = transformer(weights, tokens, CONFIG)
    assert (transformer(FULL.use(weights), tokens, CONFIG, FULL.record(weights)) == plain).all()
    assert FULL.tables(CONFIG) == {}
    assert list(run.initial) == list(Vocabulary(CONFIG).weights)


# --- held-out problems ----------------------------------------------------------------------


def test_a_split_parts_the_problems_in_ninety_and_ten() -> None:
    splits = [held_out.split(number) for number in range(20)]
    for known, asked in splits:
        assert (len(known), len(asked)) == (90, 10)
        assert sorted(known + asked, key=task.PROBLEMS.index) == list(task.PROBLEMS)
    assert len({asked for _, asked in splits}) == 20


def test_held_out_problems_take_no_part_in_training() -> None:
    known, asked = held_out.split(3)
    run = train(PRESET.override(seed=3, steps=2), course=always(Batch.of(known)))
    weights = initial_weights(CONFIG, 3)
    losses = [
        -np.log(probs[target.position, task.TOKEN_ID[target.target]])
        for problem in known
        for probs in [reference.forward(weights, ids(problem.inputs), 2, 2)["probs"]]
        for target in problem.targets
    ]
    assert abs(run.loss[0] - np.mean(losses)) < 1e-12
    assert not set(asked) & set(known)


def test_two_splits_come_out_as_by_decoding_step_by_step() -> None:
    from model.trace import decode

    preset = PRESET.override(steps=40)
    for found in held_out.train_splits(preset, [0, 1]):
        known, asked = held_out.split(found["split"])
        run = train(preset.override(seed=found["split"]), course=always(Batch.of(known)))
        answers = {p.name: decode(run.trained, p.prompt, CONFIG) == p.answer for p in asked}
        assert found["problems"] == answers
        assert found["right"] == sum(answers.values())
        assert found["trained_right"] == run.correct[-1]


def test_most_problems_whose_mirror_was_not_seen_are_squares() -> None:
    """So says `evidence.md`, and that right answers may miss all of them by chance."""
    strangers, right = [], []
    for split in content("held-out")["of_split"]:
        for name, is_right in split["problems"].items():
            if "0" not in name:
                right.append(is_right)
                if name[::-1] in split["problems"]:
                    strangers.append(name)
    assert sum(name == name[::-1] for name in strangers) > len(strangers) / 2
    others = len(right) - len(strangers)
    assert math.comb(others, sum(right)) / math.comb(len(right), sum(right)) > 0.05


def test_the_table_of_held_out_problems_adds_up() -> None:
    table = content("held-out")
    assert table["splits"] == len(table["of_split"]) == 20
    assert table["trained_on"] + table["held_out"] == 100
    assert table["trained_all_right"] == sum(s["trained_right"] == 90 for s in table["of_split"])
    right = [sum(split["problems"].values()) for split in table["of_split"]]
    assert right == [split["right"] for split in table["of_split"]]
    assert table["right"] == sum(right)
    assert table["mean"] == sum(right) / 20
    assert (table["fewest"], table["most"]) == (min(right), max(right))
    for split in table["of_split"]:
        assert list(split["problems"]) == [p.name for p in held_out.split(split["split"])[1]]
