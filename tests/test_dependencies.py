"""The table of dependencies in Chromium: what a cell is made of makes it, as in the snapshot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Page

from model import derived
from model.encoding import rounded
from model.snapshot import STAGES, Snapshot
from tests import independent
from tests.browser import Chromium, ask
from tests.site_build import BuiltSite

Array = NDArray[np.float64]

PROBLEM = "7x8"
NOISE = 1e-12

SET_UP = """async ([stage, problem]) => {
  const run = await Article.data.run();
  const ids = run.dataset.problems.find((known) => known.problem === problem).tokens
    .slice(0, -1).map((token) => run.dataset.vocab.indexOf(token));
  const {engine} = Article;
  const model = new engine.Transformer(run.sizes, engine.sequence(ids, run.sizes.n_ctx));
  const weights = Float64Array.from(run[stage]);
  model.forward(weights);
  Object.assign(window, {numbers: {model, weights}, sizes: run.sizes});
}"""

EXPLAIN_BRIEFLY = """(cells) => cells.map((cell) => {
  const made = Article.engine.explain(numbers, cell);
  const operands = made.terms.flatMap((term) => term.operands);
  return {result: made.result, evaluated: Article.engine.evaluate(made, sizes.ln_eps),
    value: Article.engine.valueOf(numbers, cell), operands};
})"""

EXPLAIN = """(cells) => cells.map((cell) => {
  const made = Article.engine.explain(numbers, cell);
  return {...made, evaluated: Article.engine.evaluate(made, sizes.ln_eps)};
})"""


SLOPES = (
    "(cells) => cells.map((cell) => Article.engine.slope(numbers, {...cell, isGradient: true}))"
)

USERS = """(cells) => cells.map((cell) =>
  Article.engine.users(numbers.model, cell).filter((user) => !user.isGradient))"""

SET_UP_TARGET = """async ([stage, problem, position, target]) => {
  const run = await Article.data.run();
  const {engine} = Article;
  const ids = run.dataset.problems.find((known) => known.problem === problem).tokens
    .slice(0, position + 1).map((token) => run.dataset.vocab.indexOf(token));
  const model = new engine.Transformer(run.sizes, engine.sequence(ids, run.sizes.n_ctx));
  const weights = Float64Array.from(run[stage]), gradient = new Float64Array(weights.length);
  const V = run.sizes.d_vocab, token = run.dataset.vocab.indexOf(target);
  const counts = new Float64Array(ids.length * V), totals = new Float64Array(ids.length);
  counts[position * V + token] = totals[position] = 1;
  model.forward(weights);
  engine.crossEntropy(model, {counts, totals, n: 1});
  model.backward(weights, gradient);
  Object.assign(window, {sizes: run.sizes,
    numbers: {model, weights, gradient, target: {position, token}}});
}"""


@pytest.fixture(scope="module")
def page(site: BuiltSite, chromium: Chromium) -> Iterator[Page]:
    with chromium.visit(site.folder / "about.html") as visit:
        yield visit.page


def test_the_table_covers_every_activation_in_order(page: Page, site: BuiltSite) -> None:
    page.evaluate(SET_UP, ["trained", PROBLEM])
    keys = page.evaluate("[...Article.engine.rules(sizes).keys()]")
    made = [*site.snapshot.vocabulary.activations, *derived.products(site.snapshot.config)]
    assert [key for key in keys if "∂" not in key] == made
    marked = page.evaluate(
        "[...Article.engine.rules(sizes)].filter(([, rule]) => rule.isProduct).map(([key]) => key)"
    )
    assert marked == list(derived.products(site.snapshot.config))


@pytest.mark.parametrize("stage", STAGES)
def test_every_cell_of_a_product_of_weights_is_what_its_operands_make(
    page: Page, site: BuiltSite, stage: str
) -> None:
    page.evaluate(SET_UP, [stage, PROBLEM])
    config, weights = site.snapshot.config, site.snapshot.weights(stage)
    stored = arrays(site.snapshot, stage)
    made = {key: derived.value(key, weights, config) for key in derived.products(config)}
    known = stored | made
    for key, product in derived.products(config).items():
        cells = all_cells(key, made[key])
        assert len(cells) == config.n_heads * made[key][0].size
        for cell, explanation in zip(cells, ask(page, EXPLAIN_BRIEFLY, cells), strict=True):
            assert same(explanation["evaluated"], at(made, cell)), cell
            assert explanation["evaluated"] == explanation["result"] == explanation["value"]
            names = {operand["key"] for operand in explanation["operands"]}
            assert names == {product.left, product.right}, cell
            for operand in explanation["operands"][:2]:
                assert same(operand["value"], at(known, operand)), (cell, operand)


def test_products_of_weights_are_used_by_products_alone(page: Page, site: BuiltSite) -> None:
    page.evaluate(SET_UP, ["trained", PROBLEM])
    cell = {"head": 1, "row": 2, "column": 3}
    used = {
        name: ask(page, USERS, [{"key": f"blocks.0.attn.{name}", **cell}])[0]
        for name in ("W_OV", "token_q", "token_scores", "W_QK")
    }
    assert {user["key"] for user in used["W_OV"]} == {"blocks.0.attn.token_result"}
    assert len(used["W_OV"]) == 14
    assert {user["key"] for user in used["token_q"]} == {"blocks.0.attn.token_scores"}
    assert used["token_scores"] == used["W_QK"] == []
    weight = {"key": "blocks.0.attn.W_Q", "head": None, "row": 2, "column": 5}
    (users,) = ask(page, USERS, [weight])
    assert users
    assert not {user["key"] for user in users} & set(derived.products(site.snapshot.config))


@pytest.mark.parametrize("stage", STAGES)
def test_a_cell_of_every_tensor_is_what_its_operands_make(
    page: Page, site: BuiltSite, stage: str
) -> None:
    page.evaluate(SET_UP, [stage, PROBLEM])
    stored = arrays(site.snapshot, stage)
    vocabulary = site.snapshot.vocabulary
    cells = [cell for key in vocabulary.activations for cell in some_cells(key, stored[key])]
    made = ask(page, EXPLAIN, cells)
    for cell, explanation in zip(cells, made, strict=True):
        value = at(stored, cell)
        if explanation["operation"] == "mask":
            assert explanation["result"] in (None, 0), cell
            assert np.isnan(value) or value == 0, cell
            continue
        assert same(explanation["evaluated"], value), cell
        assert same(explanation["result"], value), cell
        operands = operands_of(explanation)
        assert operands, cell
        for operand in operands:
            assert same(operand["value"], at(stored, operand)), (cell, operand)


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("position", [3, 5])
def test_a_gradient_of_every_tensor_is_what_its_operands_make(
    page: Page, site: BuiltSite, stage: str, position: int
) -> None:
    targets = {t.position: t for t in site.snapshot.gradients(stage, PROBLEM)}
    target = targets[position]
    page.evaluate(SET_UP_TARGET, [stage, PROBLEM, position, target.target])
    stored = arrays(site.snapshot, stage)
    vocabulary = site.snapshot.vocabulary
    keys = page.evaluate("[...Article.engine.rules(sizes).keys()]")
    wanted = {key for key in vocabulary if vocabulary[key].has_gradient}
    assert {key.removeprefix("∂") for key in keys if "∂" in key} == wanted
    for key in wanted:
        shape = vocabulary[key].shape(vocabulary.config, position + 1)
        if vocabulary[key].is_weight:
            shape = stored[key].shape
        cells = [{**cell, "isGradient": True} for cell in some_cells(key, np.zeros(shape))]
        for cell, made in zip(cells, ask(page, EXPLAIN, cells), strict=True):
            assert np.isclose(made["evaluated"], made["result"], rtol=1e-9, atol=1e-15), cell
            if key in target.grads:
                assert same(made["evaluated"], at(target.grads, cell)), cell
            for operand in operands_of(made):
                if not operand.get("isGradient"):
                    assert same(operand["value"], at(stored, operand)), (cell, operand)
                elif operand["key"] in target.grads:
                    assert same(operand["value"], at(target.grads, operand)), (cell, operand)


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("position", [0, 3, 5])
def test_a_measured_slope_of_every_tensor_is_its_gradient(
    page: Page, site: BuiltSite, stage: str, position: int
) -> None:
    """Later sources are among the cells: of A they have a gradient, though nothing reads them."""
    target = site.snapshot.gradients(stage, PROBLEM)[position].target
    page.evaluate(SET_UP_TARGET, [stage, PROBLEM, position, target])
    _, expected = independent.backward(site.folder, stage, PROBLEM, position)
    assert set(expected) == {k for k, spec in site.snapshot.vocabulary.items() if spec.has_gradient}
    n_bent = 0
    for key, gradient in expected.items():
        cells = some_cells(key, gradient)
        for cell, measured in zip(cells, ask(page, SLOPES, cells), strict=True):
            exact = at(expected, cell)
            n_bent += measured["isBent"]
            assert (
                measured["isBent"] or abs(measured["slope"] - exact) < 1e-6 * abs(exact) + 2e-9
            ), cell
    assert n_bent == 0


def test_who_uses_a_cell_is_who_has_it_as_an_operand(page: Page, site: BuiltSite) -> None:
    page.evaluate(SET_UP, ["trained", PROBLEM])
    stored = arrays(site.snapshot, "trained")
    vocabulary = site.snapshot.vocabulary
    cells = [cell for key in vocabulary for cell in some_cells(key, stored[key])]
    used = ask(page, USERS, cells)
    assert any(used)
    for cell, users in zip(cells, used, strict=True):
        for made in ask(page, EXPLAIN, users):
            names = [name(operand) for operand in operands_of(made)]
            assert name(cell) in names, (cell, made)
    every = [cell for key in vocabulary.activations for cell in all_cells(key, stored[key])]
    counted: dict[Any, int] = {}
    for explanation in ask(page, EXPLAIN, every):
        for used_name in {name(operand) for operand in operands_of(explanation)}:
            counted[used_name] = counted.get(used_name, 0) + 1
    for cell, users in zip(cells, used, strict=True):
        assert len({name(user) for user in users}) == counted.get(name(cell), 0), cell


def arrays(snapshot: Snapshot, stage: str) -> dict[str, Array]:
    """Every tensor of a stage, masked cells as NaN."""
    weights = snapshot.document(f"weights/{stage}.json")["tensors"]
    values = snapshot.document(f"traces/{stage}/{PROBLEM}.json")["values"]
    return {k: np.array(v, dtype=np.float64) for k, v in {**weights, **values}.items()}


def all_cells(key: str, array: Array) -> list[dict[str, Any]]:
    shape = (1,) * (3 - array.ndim) + array.shape
    return [
        {"key": key, "head": head if array.ndim == 3 else None, "row": row, "column": column}
        for head, row, column in np.ndindex(shape)
    ]


def some_cells(key: str, array: Array) -> list[dict[str, Any]]:
    """Of each head the corners, the middle and a few others."""
    cells = all_cells(key, array)
    heads = array.shape[0] if array.ndim == 3 else 1
    size = len(cells) // heads
    places = sorted({0, size // 3, size // 2, 2 * size // 3, size - 2, size - 1} & set(range(size)))
    return [cells[head * size + place] for head in range(heads) for place in places]


def at(stored: dict[str, Array], cell: dict[str, Any]) -> float:
    array = stored[cell["key"]]
    index = (cell["head"], cell["row"], cell["column"])[3 - array.ndim :]
    return float(array[index])


def name(cell: dict[str, Any]) -> tuple[Any, ...]:
    return cell["key"], cell["head"], cell["row"], cell["column"]


def operands_of(explanation: dict[str, Any]) -> list[dict[str, Any]]:
    found = [operand for term in explanation["terms"] for operand in term["operands"]]
    divisor = explanation["divisor"]
    return [*found, divisor] if isinstance(divisor, dict) else found


def same(found: float, stored: float) -> bool:
    """Equal after the snapshot's rounding, in either direction where noise decides it."""
    if any(stored == float(rounded(np.asarray(found * (1 + e)))) for e in (0, -NOISE, NOISE)):
        return True
    exact = np.float32(found) == np.float32(stored)  # a weight is stored as it is
    return bool(exact and float(np.float32(found)) == found)
