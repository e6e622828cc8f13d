"""What the derivation has to show, item by item: where it is, and that its numbers are right.

Each item is looked for on its page in Chromium and recomputed from the stored weights. What belongs
to a layer and a head is looked at for each of them.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from builder.numbers.display import MINUS, display, token_label
from model import task
from tests import independent, recomputed, scene
from tests.browser import DESKTOP, Chromium, address_of
from tests.site_build import BuiltSite

PLACES = [{"layer": layer, "head": head} for layer, head in itertools.product((0, 1), (0, 1))]


@dataclass(frozen=True)
class Item:
    """Figures that a reader must find on a page.

    `figures` are selectors of matrices and calculations. `follows` is what they follow beside the
    problem: `layer`, `head` or both.
    """

    name: str
    page: str
    figures: tuple[str, ...]
    follows: tuple[str, ...] = ()


def matrix(key: str, rest: str = "") -> str:
    return f'figure.matrix[data-key="{key}"]{rest}'


def of(role: str, key: str, rest: str = "") -> str:
    return f'figure.product {matrix(key, rest)}[data-role="{role}"]'


def layer_0(name: str, rest: str = "") -> str:
    return matrix(f"blocks.0.{name}", rest)


BOTH = ("layer", "head")
FROM_TARGET = '[data-target="3"]'
PROBLEMS = ('[data-problem="7x8"]', '[data-problem="8x7"]')
SWAP = ('[data-problem="7x0"]', '[data-problem="0x7"]')
STAGES = ('[data-stage="initial"]', '[data-stage="trained"]')

ITEMS = [
    Item(
        "before attention the rows of = are the same",
        "isolated-rows.html",
        tuple(layer_0("resid_pre", f"{one}:not([data-follows])") for one in PROBLEMS),
    ),
    Item(
        "after it they differ",
        "isolated-rows.html",
        tuple(layer_0("resid_mid", one) for one in PROBLEMS),
    ),
    Item(
        "the table for 7×0 and for 0×7, by each head",
        "table-follows-input.html",
        tuple(
            layer_0("attn.pattern", f'{one}[data-head="{head}"]') for one in SWAP for head in (0, 1)
        ),
    ),
    Item(
        "a reading table of 4×4",
        "reading-table.html",
        (of("left", "blocks.0.attn.pattern"), of("right", "blocks.0.attn.v")),
        BOTH,
    ),
    Item(
        "one row of it spelled out",
        "reading-table.html",
        ('figure.dot[data-left^="blocks.0.attn.pattern"][data-row="3"]',),
        BOTH,
    ),
    Item("W_Q and Q", "scores.html", (layer_0("attn.W_Q"), layer_0("attn.q")), BOTH),
    Item("W_K and K", "scores.html", (layer_0("attn.W_K"), layer_0("attn.k")), BOTH),
    Item("W_V and V", "values.html", (layer_0("attn.W_V"), layer_0("attn.v")), BOTH),
    Item("S", "scores.html", (of("result", "blocks.0.attn.attn_scores"),), BOTH),
    Item(
        "every cell of the row of = in S",
        "scores.html",
        tuple(
            f'figure.dot[data-result^="blocks.0.attn.attn_scores"][data-row="3"]'
            f'[data-column="{source}"]'
            for source in range(4)
        ),
        BOTH,
    ),
    Item("from S to A", "scores.html", ('figure.softmax[data-row="3"]',), BOTH),
    Item("four contributions and their sum", "values.html", ("figure.mixture",), BOTH),
    Item("A × V", "values.html", (of("result", "blocks.0.attn.z"),), BOTH),
    Item("W_O", "values.html", (of("right", "blocks.0.attn.W_O"),), BOTH),
    Item(
        "the heads side by side, and their sum",
        "values.html",
        (
            of("left", "blocks.0.attn.result", '[data-head="0"]'),
            of("right", "blocks.0.attn.result", '[data-head="1"]'),
            of("result", "blocks.0.attn_out"),
        ),
        ("layer",),
    ),
    Item("residual", "values.html", (of("result", "blocks.0.resid_mid"),), ("layer",)),
    Item(
        "the merged matrices of a head",
        "one-line.html",
        (of("result", "blocks.0.attn.W_QK"), of("result", "blocks.0.attn.W_OV")),
        BOTH,
    ),
    Item(
        "token tables of QK and OV, by each head",
        "one-line.html",
        tuple(
            layer_0(f"attn.{name}", f'[data-head="{head}"]')
            for name in ("token_scores", "token_logits")
            for head in (0, 1)
        ),
        ("layer",),
    ),
    Item(
        "MLP",
        "answer.html",
        (layer_0("mlp.post"), of("result", "blocks.0.resid_post")),
    ),
    Item(
        "layer 2",
        "answer.html",
        (
            *(matrix("blocks.1.attn.pattern", f'[data-head="{head}"]') for head in (0, 1)),
            of("result", "blocks.1.resid_mid"),
            of("result", "blocks.1.resid_post"),
        ),
    ),
    Item("Final", "answer.html", (matrix("ln_final.out"),)),
    Item("the columns of LM", "answer.html", (of("right", "unembed.W_U"),)),
    Item("the logit of the answer", "answer.html", ('figure.dot[data-result="logits"]',)),
    Item("P", "answer.html", ('figure.softmax[data-result="probs"]',)),
    Item(
        "7×8= and 7×8=5",
        "next-token.html",
        (
            *(matrix("probs", f'[data-rows="{row}"]') for row in (3, 4)),
            *(
                matrix(f"blocks.{layer}.attn.pattern", f'[data-head="{head}"][data-rows="3 4"]')
                for layer in (0, 1)
                for head in (0, 1)
            ),
        ),
    ),
    Item("P - Y over 14 columns", "gradients.html", (matrix("logits", FROM_TARGET),)),
    Item("G_Final", "gradients.html", (of("result", "ln_final.out", FROM_TARGET),)),
    Item("G_H", "gradients.html", (layer_0("attn.z", FROM_TARGET),), BOTH),
    Item("u, which is G_A", "gradients.html", (layer_0("attn.pattern", FROM_TARGET),), BOTH),
    Item("G_S, source by source", "gradients.html", ("figure.softmax_gradient",), BOTH),
    *(
        Item(f"G_{name}", "gradients.html", (layer_0(f"attn.{name.lower()}", FROM_TARGET),), BOTH)
        for name in "QKV"
    ),
    *(
        Item(
            f"the whole gradient of W_{name}",
            "gradients.html",
            (layer_0(f"attn.W_{name}", f"{FROM_TARGET}:not([data-head])"),),
            ("layer",),
        )
        for name in "QKV"
    ),
    Item(
        "the table of tokens before and after",
        "votes.html",
        tuple(matrix("embed.W_E", stage) for stage in STAGES),
    ),
    *(
        Item(
            f"{name} of 7×0= before and after",
            "one-route.html",
            tuple(layer_0(f"attn.{name}", f'{stage}[data-follows~="problem"]') for stage in STAGES),
            BOTH,
        )
        for name in ("q", "k", "pattern", "v", "z")
    ),
    Item(
        "the score of that route before and after",
        "one-route.html",
        tuple(f"figure.dot{stage}" for stage in STAGES),
        BOTH,
    ),
    Item(
        "its P before and after",
        "one-route.html",
        tuple(matrix("probs", stage) for stage in STAGES),
    ),
    Item(
        "the swap to 0×7=",
        "one-route.html",
        tuple(layer_0("attn.pattern", f"{one}:not([data-follows])") for one in SWAP),
    ),
]


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: f"{item.page}: {item.name}")
def test_an_item_is_on_its_page_with_the_numbers_of_every_layer_and_head(
    site: BuiltSite, chromium: Chromium, item: Item
) -> None:
    with chromium.visit(site.folder / item.page) as visit:
        page = visit.page
        ids = [figure for selector in item.figures for figure in _visible(page, selector)]
        _check(page, ids, recomputed.Seen(site.folder))
        for place in PLACES if item.follows else ():
            chosen = {name: place[name] for name in item.follows}
            scene.choose(page, **chosen)
            _check(page, ids, recomputed.Seen(site.folder, **chosen))
        assert visit.complaints == []


def _visible(page: Page, selector: str) -> list[str]:
    found = page.locator(selector)
    assert found.count() > 0, selector
    assert all(figure.is_visible() for figure in found.all()), selector
    return [str(figure.get_attribute("id")) for figure in found.all()]


def _check(page: Page, ids: list[str], seen: recomputed.Seen) -> None:
    figures = [figure for figure in scene.figures(page) if figure["id"] in ids]
    calculations = [made for made in scene.calculations(page) if made["id"] in ids]
    assert len(figures) + len(calculations) == len(set(ids))
    for figure in figures:
        recomputed.check_figure(figure, seen)
        if seen.layer is not None and "layer" in figure["data"].get("follows", ""):
            assert figure["data"]["key"].split(".")[1] == str(seen.layer)
    for calculation in calculations:
        recomputed.check_calculation(calculation, seen)


@pytest.mark.parametrize(
    ("prefix", "position", "decimals"), [("7", 0, 3), ("7×", 1, 2)], ids=["7", "7×"]
)
def test_the_votes_of_a_shared_prefix_and_their_sum(
    site: BuiltSite, chromium: Chromium, prefix: str, position: int, decimals: int
) -> None:
    with chromium.visit(site.folder / "votes.html") as visit:
        table = visit.page.locator(f'.votes[data-prefix="{prefix}"] table')
        rows = table.evaluate(
            """(table) => [...table.rows].slice(1).map((row) => [row.cells[0].textContent,
              ...[...row.querySelectorAll("[data-value]")].map((td) =>
                ({value: Number(td.dataset.value), text: td.textContent}))])"""
        )
    votes, (_, *total) = rows[:-1], rows[-1]
    assert len(votes) == 10
    exact = []
    for b, (name, *numbers) in enumerate(votes):
        target = task.BY_NAME[f"7x{b}"].tokens[position + 1]
        assert name == f"7×{b} → {token_label(target)}"
        gradients = independent.backward(site.folder, "initial", f"7x{b}", position)[1]["logits"]
        exact.append(gradients[position])
        for cell, number in zip(numbers, gradients[position], strict=True):
            assert independent.is_stored(cell["value"], float(number))
            assert cell["text"] == display(cell["value"], decimals)
    for cell, number in zip(total, np.sum(exact, axis=0), strict=True):
        assert abs(cell["value"] - number) < 1e-5


@pytest.mark.parametrize(("prefix", "position"), [("7", 0), ("7×", 1)], ids=["7", "7×"])
def test_every_vote_opens_its_cell_whatever_problem_is_chosen(
    site: BuiltSite, chromium: Chromium, prefix: str, position: int
) -> None:
    with chromium.visit(site.folder / "votes.html", viewport=DESKTOP) as visit:
        selector = f'.votes[data-prefix="{prefix}"] tbody td'
        scene.choose(visit.page, problem="2x4", step=60)
        found = scene.opened(visit.page, selector)
        names = [(b, token) for b in range(10) for token in range(len(task.VOCAB))]
        for number, (b, token) in zip(found, names, strict=True):
            assert number["cell"] == f"7x{b}:initial:logits[{position},{token}]@{position}"
            gradients = independent.backward(site.folder, "initial", f"7x{b}", position)[1]
            value = float(number["full"].replace(MINUS, "-"))
            assert independent.is_stored(value, float(gradients["logits"][position, token]))
            assert value == float(number["data"]["value"])
        visit.page.locator(selector).nth(20).click()
        scene.choose(visit.page, problem="3x3")  # of its own problem: it stays
        assert "cell=7x1:initial:" in address_of(visit.page)
        visit.page.locator(selector).nth(20).click()
        visit.page.locator(selector.replace("tbody", "tfoot")).first.click()  # no cell has the sum
        expect(visit.page.locator(".cell-panel")).to_be_hidden()
        assert visit.complaints == []


TRAINED_VOTES = """() => {
  const figure = document.querySelector(".votes"), trained = figure.cloneNode(true);
  trained.dataset.stage = "trained"; // as its author could have written it
  figure.replaceWith(trained);
  Article.votes.write(trained, Article.scene.current());
}"""


def test_votes_of_the_trained_model_follow_its_step(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / "votes.html") as visit:
        scene.choose(visit.page, step=60)
        visit.page.evaluate(TRAINED_VOTES)
        found = scene.opened(visit.page, ".votes[data-stage=trained] tbody td")
        rows = [
            independent.backward(site.folder, "step-0060", f"7x{b}", 0)[1]["logits"][0]
            for b in range(10)
        ]
        for number, exact in zip(found, np.concatenate(rows), strict=True):
            assert independent.is_stored(float(number["data"]["value"]), float(exact))
            assert number["text"] == display(float(number["data"]["value"]), 3)
            assert float(number["full"].replace(MINUS, "-")) == float(number["data"]["value"])
        total = visit.page.locator(".votes[data-stage=trained] tfoot td").evaluate_all(
            "(cells) => cells.map((td) => Number(td.dataset.value))"
        )
        np.testing.assert_allclose(total, np.sum(rows, axis=0), rtol=1e-6, atol=1e-11)


def test_the_loss_has_its_floor_and_the_text_its_558_targets(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "index.html") as visit:
        chart = visit.page.locator('figure.curve[data-curve="loss"] .curve-chart')
        assert display(task.LOSS_FLOOR, 5) in chart.locator("svg text").all_text_contents()
    with chromium.visit(site.folder / "votes.html") as visit:
        targets = visit.page.locator(".value", has_text=str(len(task.TARGETS)))
        assert targets.first.is_visible()


ELSEWHERE = {
    "the way of a source to =": ("values.html", "figure.route"),
    "the atlas of a hundred problems": ("answer.html", "figure.atlas"),
    "variants trained again": ("evidence.html", "figure.controls"),
    "problems never seen": ("evidence.html", "figure.held-out"),
    "the atlas of interventions": ("evidence.html", ".effects"),
    "the share against the effect": ("evidence.html", "figure.share-effect"),
    "claims for 64 seeds": ("evidence.html", "figure.census"),
    "what one step changes": ("gradients.html", "figure.one-step"),
    "finite differences beside a gradient": (
        "gradients.html#?cell=7x8:initial:blocks.0.attn.W_Q[3,2]@3",
        ".cell-panel .cell-measured",
    ),
}
"""Items whose numbers have tests of their own: page and selector."""


@pytest.mark.parametrize("item", ELSEWHERE)
def test_an_item_with_tests_of_its_own_is_on_its_page(
    site: BuiltSite, chromium: Chromium, item: str
) -> None:
    address, selector = ELSEWHERE[item]
    page, _, place = address.partition("#")
    with chromium.visit(site.folder / page) as visit:
        visit.page.goto(f"{address_of(visit.page)}#{place}")
        expect(visit.page.locator(selector).first).to_be_visible()
