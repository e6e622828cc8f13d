"""What interventions do, by an independent forward pass in which they are made by hand."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from model import task
from model.interventions import Interventions
from tests import reference
from tests.trained_models import CONFIG, ids, weights

Array = NDArray[np.float64]
Change = Callable[[Array, int, int], Array]
"""A head's table A of one problem, layer and head -> the table that is used."""

EQUALS = 3


def forward(problem: task.Problem, change: Change) -> Array:
    """Probabilities of one problem with every table passed through `change` [pos d_vocab]."""
    w = weights("trained")
    x = w["embed.W_E"][ids(problem.inputs)] + w["pos_embed.W_pos"][: len(problem.inputs)]
    for layer in range(2):
        at = f"blocks.{layer}."
        normed = reference.layer_norm(x, w[at + "ln1.w"], w[at + "ln1.b"])[2]
        written = np.zeros_like(x)
        for head in range(2):
            own = slice(4 * head, 4 * head + 4)
            q, k, v = (normed @ w[f"{at}attn.W_{letter}"][:, own] for letter in "QKV")
            a = change(reference.attention_head(q, k, v)[1], layer, head)
            written += a @ v @ w[at + "attn.W_O"][own]
        x = x + written
        normed = reference.layer_norm(x, w[at + "ln2.w"], w[at + "ln2.b"])[2]
        hidden = reference.relu(normed @ w[at + "mlp.W_in"] + w[at + "mlp.b_in"])
        x = x + hidden @ w[at + "mlp.W_out"] + w[at + "mlp.b_out"]
    final = reference.layer_norm(x, w["ln_final.w"], w["ln_final.b"])[2]
    return reference.softmax(final @ w["unembed.W_U"])


def is_right(problem: task.Problem, probs: Array) -> bool:
    likeliest = [task.VOCAB[i] for i in probs[EQUALS:].argmax(-1)]
    return likeliest == list(problem.answer)


def effect(change: Change, row: int = EQUALS) -> tuple[int, Array]:
    """Problems that stay right, and P of the right token after a row, in each problem."""
    probs = [forward(problem, change) for problem in task.PROBLEMS]
    right = sum(is_right(p, found) for p, found in zip(task.PROBLEMS, probs, strict=True))
    wanted = [task.TOKEN_ID[problem.tokens[row + 1]] for problem in task.PROBLEMS]
    return right, np.array([p[row, token] for p, token in zip(probs, wanted, strict=True)])


def only(layer: int, head: int, make: Callable[[Array], Array]) -> Change:
    return lambda a, at, of: make(a) if (at, of) == (layer, head) else a


def average(a: Array) -> Array:
    return np.tril(np.ones_like(a)) / np.arange(1, len(a) + 1)[:, None]


def without(row: int, source: int) -> Callable[[Array], Array]:
    def make(a: Array) -> Array:
        cut = a.copy()
        if row < len(cut):
            cut[row, source] = 0
        return cut

    return make


@cache
def table() -> dict[str, Any]:
    return Interventions(weights("trained"), CONFIG).table()


@cache
def patterns(layer: int, head: int) -> tuple[Array, ...]:
    """One head's table of every problem."""
    traces = [reference.forward(weights("trained"), ids(p.inputs), 2, 2) for p in task.PROBLEMS]
    return tuple(trace[f"blocks.{layer}.attn.pattern"][head] for trace in traces)


def check(found: dict[str, Any], change: Change, row: int = EQUALS) -> None:
    right, probability = effect(change, row)
    assert found["correct"] == right
    np.testing.assert_allclose(found["of_problem"]["probability"], probability, atol=1e-6)
    np.testing.assert_allclose(found["probability"], probability.mean(), atol=1e-6)


def test_the_model_itself_is_right_everywhere() -> None:
    check(table()["full"], lambda a, _layer, _head: a)
    assert table()["full"]["correct"] == 100


@pytest.mark.parametrize(("layer", "head"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_a_head_that_hands_over_nothing(layer: int, head: int) -> None:
    found = table()[f"layer_{layer + 1}"][f"head_{head + 1}"]["ablated"]
    check(found, only(layer, head, np.zeros_like))
    assert found["correct"] < 100


def test_a_head_that_reads_everything_alike() -> None:
    check(table()["layer_1"]["head_2"]["uniform"], only(0, 1, average))


def test_a_head_with_its_own_mean_for_a_table() -> None:
    six = [a for a in patterns(1, 0) if len(a) == 6]
    mean = np.zeros((6, 6))
    mean[:5, :5] = np.mean([a[:5, :5] for a in patterns(1, 0)], axis=0)
    mean[5] = np.mean([a[5] for a in six], axis=0)
    assert len(six) == 58
    found = table()["layer_2"]["head_1"]["own_mean"]
    check(found, only(1, 0, lambda a: mean[: len(a), : len(a)]))


def test_a_head_with_the_table_of_another_problem() -> None:
    """Twelve problems, each with the tables of the 99 others, one by one."""
    found = table()["layer_2"]["head_2"]["another_problem"]
    for index in range(0, 100, 9):
        problem = task.PROBLEMS[index]
        probabilities = []
        for other, given in enumerate(patterns(1, 1)):
            if other != index:
                probs = forward(problem, only(1, 1, lambda a, given=given: taken(a, given)))
                probabilities.append(probs[EQUALS, task.TOKEN_ID[problem.answer[0]]])
        expected = np.mean(probabilities)
        assert abs(found["of_problem"]["probability"][index] - expected) < 1e-6
    assert 0 < found["correct"] < 100


def taken(own: Array, given: Array) -> Array:
    """The rows of another table, as far as it has them."""
    table, n = own.copy(), min(len(own), len(given))
    table[:n] = 0
    table[:n, :n] = given[:n, :n]
    return table


@pytest.mark.parametrize(("layer", "head", "row", "source"), [(0, 1, 3, 2), (1, 0, 4, 0)])
def test_a_source_whose_share_is_removed(layer: int, head: int, row: int, source: int) -> None:
    found = table()[f"layer_{layer + 1}"][f"head_{head + 1}"][f"row_{row}"][f"source_{source}"]
    check(found, only(layer, head, without(row, source)), row)
    shares = [a[row, source] for a in patterns(layer, head)]
    np.testing.assert_allclose(found["of_problem"]["share"], shares, atol=1e-6)
    np.testing.assert_allclose(found["share"], np.mean(shares), atol=1e-6)


@pytest.mark.parametrize("layer", [0, 1])
def test_a_layer_without_attention(layer: int) -> None:
    found = table()[f"layer_{layer + 1}"]["without_attention"]
    check(found, lambda a, at, _head: np.zeros_like(a) if at == layer else a)


@pytest.mark.parametrize("row", [3, 4])
def test_how_often_the_largest_share_tells_what_matters_is_counted(row: int) -> None:
    sources = table()["layer_1"]["head_1"][f"row_{row}"]
    names = [f"source_{source}" for source in range(row + 1)]
    assert list(sources) == ["agrees", *names]
    agrees = 0
    for index in range(100):
        shares = [sources[name]["of_problem"]["share"][index] for name in names]
        left = [sources[name]["of_problem"]["probability"][index] for name in names]
        agrees += np.argmax(shares) == np.argmin(left)
    assert sources["agrees"] == agrees
    assert 0 < agrees < 100, "a share is a hint, neither worthless nor the cause"


def test_beside_a_head_stands_the_largest_share_of_its_row_of_equals() -> None:
    found = table()["layer_2"]["head_1"]
    largest = [a[EQUALS].max() for a in patterns(1, 0)]
    for name in ("ablated", "uniform", "own_mean", "another_problem"):
        np.testing.assert_allclose(found[name]["of_problem"]["share"], largest, atol=1e-6)


def test_every_layer_head_and_row_is_in_the_table() -> None:
    found = table()
    assert list(found) == ["problems", "full", "layer_1", "layer_2"]
    assert found["problems"] == [problem.name for problem in task.PROBLEMS]
    for layer in ("layer_1", "layer_2"):
        assert list(found[layer]) == ["without_attention", "head_1", "head_2"]
        for head in ("head_1", "head_2"):
            kinds = ["ablated", "uniform", "own_mean", "another_problem", "row_3", "row_4"]
            assert list(found[layer][head]) == kinds
