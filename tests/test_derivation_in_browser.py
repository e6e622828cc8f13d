"""The chapters of the derivation in Chromium: each number once more, by a computation of its own.

Gradients, products of weights and calculations that are written out follow the problem, the step,
the layer and the head; whatever is shown is what `tests.reference` makes of the stored weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from builder.numbers.display import MINUS, display
from model import task
from tests import independent, recomputed, scene, stored
from tests.browser import DESKTOP, PHONE, Chromium, cell_at
from tests.site_build import BuiltSite

PAGES = [
    "scores.html",
    "values.html",
    "one-line.html",
    "answer.html",
    "next-token.html",
    "gradients.html",
    "votes.html",
    "one-route.html",
]
STEP = 60


@pytest.mark.parametrize("page", PAGES)
def test_every_number_of_a_page_is_recomputed(
    site: BuiltSite, chromium: Chromium, page: str
) -> None:
    with chromium.visit(site.folder / page) as visit:
        for figure in scene.figures(visit.page):
            _check_stored(site, figure)
        for seen in (
            recomputed.Seen(site.folder),
            recomputed.Seen(site.folder, problem="2x3"),
            recomputed.Seen(site.folder, problem="9x6", step=STEP, layer=1, head=0),
            recomputed.Seen(site.folder, problem="7x0", step=STEP, layer=0, head=1),
        ):
            if seen.problem:
                scene.choose(visit.page, **seen.change)
            for figure in scene.figures(visit.page):
                recomputed.check_figure(figure, seen)
            for calculation in scene.calculations(visit.page):
                recomputed.check_calculation(calculation, seen)
            for number in scene.numbers(visit.page):
                recomputed.check_prose(number, seen)
        assert visit.complaints == []


def test_a_sum_that_no_rounding_makes_exact_says_that_it_is_not(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "answer.html") as visit:
        scene.choose(visit.page, problem="5x6")
        found = scene.calculations(visit.page)
        for calculation in found:
            recomputed.check_calculation(calculation, recomputed.Seen(site.folder, problem="5x6"))
        totals = [cell["text"] for calculation in found for cell in calculation["totals"]]
        assert sum("≈" in text for text in totals) == 1
        scene.choose(visit.page, problem=None)
        assert not any(
            "≈" in cell["text"] for c in scene.calculations(visit.page) for cell in c["totals"]
        )


@pytest.mark.parametrize(
    ("page", "figure", "address", "operands"),
    [
        ("gradients.html", "∂blocks.0.attn.attn_scores[1]", "attn_scores[1,3,2]@3", 8),
        ("gradients.html", "∂blocks.0.attn.W_Q", "attn.W_Q[3,2]@3", 6),
        ("one-line.html", "blocks.0.attn.token_scores[1]", "attn.token_scores[1,3,2]", 8),
    ],
)
def test_a_cell_of_a_gradient_and_of_a_product_opens_and_follows(
    site: BuiltSite, chromium: Chromium, page: str, figure: str, address: str, operands: int
) -> None:
    with chromium.visit(site.folder / page, viewport=DESKTOP) as visit:
        box = visit.page.locator("figure.matrix", has=visit.page.get_by_text(figure, exact=True))
        box.locator(cell_at(3, 2)).first.click()
        panel = visit.page.locator(".cell-panel")
        expect(panel).to_be_visible()
        assert address in visit.page.url
        assert panel.locator(".cell-terms tbody [data-cell]").count() == operands
        for problem in (None, "2x3"):
            if problem:
                scene.choose(visit.page, problem=problem)
            _check_open(visit.page, site)
        panel.locator(".cell-terms [data-cell]").last.click()
        _check_open(visit.page, site)
        assert visit.complaints == []


def _check_open(page: Page, site: BuiltSite) -> None:
    """The number that the panel shows in full is that of the cell in the address."""
    where = page.evaluate("Article.state.get().cell")
    problem, stage, cell = where.split(":")
    key, _, rest = cell.partition("[")
    indices, _, target = rest.partition("]")
    *head, row, column = map(int, indices.split(","))
    data = {"key": key, "problem": problem, "target": target.removeprefix("@")}
    if head:
        data["head"] = str(head[0])
    matrix = independent.matrix(site.folder, stage, {k: v for k, v in data.items() if v})
    full = page.locator(".cell-value > *").last.inner_text()
    shown = float(full.replace(MINUS, "-"))
    assert independent.is_stored(shown, float(matrix[row, column])), where
    assert page.locator(".cell-result output").inner_text() == display(
        shown, recomputed.places(page.locator(".cell-result output").inner_text())
    )


@pytest.mark.parametrize("position", [1, 4])
def test_gradients_follow_the_target_that_a_reader_chooses(
    site: BuiltSite, chromium: Chromium, position: int
) -> None:
    """Those that follow the position do; where the answer has one digit, 4 is beyond the last."""
    with chromium.visit(site.folder / "gradients.html") as visit:
        visit.page.evaluate(
            """() => document.querySelectorAll("[data-target]").forEach((figure) => {
              figure.dataset.follows = "problem position";
            })"""
        )
        for problem in ("7x8", "2x4"):
            scene.choose(visit.page, problem=problem, position=position)
            last = len(task.BY_NAME[problem].inputs) - 1
            shown = [f for f in scene.figures(visit.page) if "target" in f["data"]]
            assert len(shown) > 8
            for figure in shown:
                assert figure["data"]["target"] == str(min(position, last))
                recomputed.check_figure(figure, recomputed.Seen(site.folder, problem=problem))


@pytest.mark.parametrize("page", PAGES)
def test_a_page_on_a_phone_has_no_barriers(site: BuiltSite, chromium: Chromium, page: str) -> None:
    with chromium.visit(site.folder / page, viewport=PHONE) as visit:
        assert visit.barriers() == []
        assert visit.fits()


def _check_stored(site: BuiltSite, figure: Mapping[str, Any]) -> None:
    """As it was built, a figure has the digits of the files."""
    if "problem" not in figure["data"] and "attn." in figure["data"]["key"].lower():
        names = figure["data"]["key"].rpartition(".")[2]
        if names in independent.PRODUCTS:
            return
    matrix = stored.matrix(site.folder, figure["data"])
    for cell in figure["cells"]:
        value = matrix[cell["row"], cell["column"]]
        assert cell["value"] == (None if np.isnan(value) else value), figure["id"]
