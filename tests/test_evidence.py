"""What the model relies on, and what a step changes: each by a slow computation of its own."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from model import evidence, task, trace
from model.config import STEP_RATE
from model.interventions import overwriting
from model.variants import plain_average
from tests import reference
from tests.trained_models import CONFIG, gradients, ids, weights

Array = NDArray[np.float64]

FIRST_DIGIT, EQUALS = 4, 3


def second_digit(problem: task.Problem) -> str:
    """The likeliest second digit when, in layer 2, the first may not read the row of `=`."""
    w = weights("trained")
    t = reference.forward(w, ids(problem.inputs), n_layers=2, n_heads=2)
    written = np.zeros(8)  # what the heads write to the row of the first digit
    for head in range(2):
        shares = t["blocks.1.attn.pattern"][head, FIRST_DIGIT].copy()  # [key]
        shares[EQUALS] = 0
        h = shares / shares.sum() @ t["blocks.1.attn.v"][head]  # [d_head]
        written += h @ w["blocks.1.attn.W_O"][4 * head : 4 * head + 4]
    x = t["blocks.1.resid_pre"][[FIRST_DIGIT]] + written  # [1 d_model]
    n = reference.layer_norm(x, w["blocks.1.ln2.w"], w["blocks.1.ln2.b"])[2]
    hidden = reference.relu(n @ w["blocks.1.mlp.W_in"] + w["blocks.1.mlp.b_in"])
    x = x + hidden @ w["blocks.1.mlp.W_out"] + w["blocks.1.mlp.b_out"]
    n = reference.layer_norm(x, w["ln_final.w"], w["ln_final.b"])[2]
    return task.VOCAB[int((n @ w["unembed.W_U"]).argmax())]


def test_second_digits_are_counted_as_a_computation_row_by_row_does() -> None:
    two_digits = [problem for problem in task.PROBLEMS if len(problem.answer) == 3]
    expected = sum(second_digit(problem) == problem.answer[1] for problem in two_digits)
    found = evidence.count_second_digits(weights("trained"), CONFIG)
    assert found == expected
    assert 0 < found < len(two_digits) == 58


def test_without_the_cut_every_second_digit_is_right() -> None:
    likeliest = trace.likeliest(weights("trained"), CONFIG)[:, FIRST_DIGIT]
    for token, problem in zip(likeliest, task.PROBLEMS, strict=True):
        if len(problem.answer) == 3:
            assert task.VOCAB[token] == problem.answer[1]


@pytest.mark.parametrize("name", ["7x8", "0x0", "9x9"])
@pytest.mark.parametrize("stage", ["initial", "trained"])
def test_a_step_is_taken_for_each_target_alone(stage: str, name: str) -> None:
    after = trace.losses_after_step(weights(stage), gradients(stage), STEP_RATE, CONFIG)
    for target in task.BY_NAME[name].targets:
        read = ids(task.BY_NAME[name].tokens[: target.position + 1])
        wanted = task.TOKEN_ID[target.target]
        w = weights(stage)
        t = reference.forward(w, read, n_layers=2, n_heads=2)
        _, _, slopes = reference.backward(
            w, t, read, target.position, wanted, n_layers=2, n_heads=2
        )
        stepped = {key: value - 0.01 * slopes[key] for key, value in w.items()}
        probs = reference.forward(stepped, read, n_layers=2, n_heads=2)["probs"]
        found = after[task.TARGETS.index(target)]
        assert abs(found + np.log(probs[target.position, wanted])) < 1e-12, target


def test_a_step_of_no_length_changes_nothing() -> None:
    after = trace.losses_after_step(weights("initial"), gradients("initial"), 0.0, CONFIG)
    np.testing.assert_array_equal(after, gradients("initial").loss)


@pytest.mark.parametrize(("layer", "head"), [(0, 1), (1, 0)])
def test_the_plain_average_takes_the_place_of_one_table_alone(layer: int, head: int) -> None:
    seen: dict[str, Array] = {}
    overwrite = overwriting(layer, head, plain_average)

    def record(key: str, tensor: trace.Tensor) -> trace.Tensor:
        changed = overwrite(key, tensor)
        if key.endswith("attn.pattern"):
            assert key == f"blocks.{layer}.attn.pattern" or changed is tensor
            seen[key] = changed.numpy()
        return changed

    trace.likeliest(weights("trained"), CONFIG, record)
    pattern = seen[f"blocks.{layer}.attn.pattern"]  # [problem head query key]
    n = pattern.shape[-1]
    average = np.tril(np.ones((n, n))) / np.arange(1, n + 1)[:, None]
    np.testing.assert_allclose(pattern[:, head], np.broadcast_to(average, pattern[:, head].shape))
    assert np.abs(pattern[:, 1 - head] - average).max() > 0.1


def test_the_norms_of_the_first_pushes_are_those_of_the_problems_and_of_their_sum() -> None:
    by_problem: dict[str, Array] = {}
    for target, slope in zip(
        task.TARGETS, gradients("initial").weights["blocks.0.attn.W_Q"], strict=True
    ):
        by_problem[target.problem] = by_problem.get(target.problem, 0) + slope
    norms = [np.sqrt((slope**2).sum()) for slope in by_problem.values()]
    total = np.sqrt((sum(by_problem.values()) ** 2).sum())
    assert len(norms) == 100
    found = evidence.gradient_norms(gradients("initial"))
    np.testing.assert_allclose(found, (sum(norms), total))
