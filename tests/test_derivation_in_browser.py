"""The chapters of the derivation in Chromium: each number once more, by a computation of its own.

Gradients, products of weights and calculations that are written out follow the problem, the step,
the layer and the head; whatever is shown is what `tests.reference` makes of the stored weights.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from builder.numbers.display import MINUS, display
from model import task
from tests import independent, recomputed, scene, stored
from tests.browser import DESKTOP, PHONE, Chromium, address_of, cell_at, wait_for_view
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
    "evidence.html",
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
        assert address in address_of(visit.page)
        assert panel.locator(".cell-terms tbody [data-cell]").count() == operands
        for problem in (None, "2x3"):
            if problem:
                scene.choose(visit.page, problem=problem)
            _check_open(visit.page, site)
        panel.locator(".cell-terms [data-cell]").last.click()
        _check_open(visit.page, site)
        assert visit.complaints == []


WRITTEN_OUT = [
    *("reading-table.html", "scores.html", "values.html", "answer.html", "next-token.html"),
    *("gradients.html", "one-route.html"),
]


@pytest.mark.parametrize("page", WRITTEN_OUT)
def test_every_number_of_a_calculation_opens_its_cell_or_the_one_it_goes_into(
    site: BuiltSite, chromium: Chromium, page: str
) -> None:
    with chromium.visit(site.folder / page, viewport=DESKTOP) as visit:
        for seen in (
            recomputed.Seen(site.folder),
            recomputed.Seen(site.folder, problem="2x3"),
            recomputed.Seen(site.folder, problem="9x6", step=STEP, layer=1, head=0),
        ):
            if seen.problem:
                scene.choose(visit.page, **seen.change)
            found = scene.opened(visit.page, "figure.worked td[data-of]")
            made = scene.calculations(visit.page)
            expected = [
                cell for calculation in made for cell in recomputed.opened_by(calculation, seen)
            ]
            assert [number["cell"] for number in found] == [cell for cell, _ in expected]
            for number, (_, is_own) in zip(found, expected, strict=True):
                _check_opened(site, number, seen, is_own=is_own)
        assert visit.complaints == []


@pytest.mark.parametrize(
    ("page", "figure", "steps", "cell"),
    [
        ("values.html", ".mixture", "ArrowDown ArrowRight", "7x0:trained:blocks.0.attn.v[1,1,0]"),
        ("values.html", ".mixture", "Control+End", "7x0:trained:blocks.0.attn.z[1,3,3]"),
        ("answer.html", ".softmax", "End ArrowDown", "7x8:trained:probs[3,1]"),
        ("answer.html", ".softmax", "Control+End ArrowUp", "7x8:trained:probs[3,13]"),
        ("scores.html", ".dot", "ArrowRight", "7x0:trained:blocks.0.attn.k[1,0,0]"),
        ("gradients.html", ".softmax_gradient", "ArrowRight", "blocks.0.attn.pattern[1,3,0]@3"),
        ("votes.html", ".votes", "ArrowDown End", "7x1:initial:logits[0,13]@0"),
    ],
)
def test_a_table_is_one_stop_for_tab_and_its_numbers_open_by_key(
    site: BuiltSite, chromium: Chromium, page: str, figure: str, steps: str, cell: str
) -> None:
    with chromium.visit(site.folder / page, viewport=PHONE) as visit:
        box = visit.page.locator(f"figure{figure}").first
        assert box.locator("[tabindex='0'], a, button, select, input").count() == 1
        box.locator("[tabindex='0']").focus()
        for key in steps.split():
            visit.page.keyboard.press(key)
        chosen = box.locator("td:focus")
        wait_for_view(chosen)
        visit.page.keyboard.press("Enter")
        expect(visit.page.locator(".cell-title")).to_be_focused()
        assert visit.page.evaluate("Article.state.get().cell").endswith(cell)
        visit.page.keyboard.press("Escape")
        expect(visit.page.locator(".cell-panel")).to_be_hidden()
        expect(chosen).to_be_focused()
        visit.page.keyboard.press("Space")
        expect(visit.page.locator(".cell-title")).to_be_focused()
        assert box.locator("[tabindex='0']").count() == 1
        assert visit.complaints == []


def test_the_focus_stays_in_a_calculation_whose_numbers_and_lines_change(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "next-token.html", viewport=DESKTOP) as visit:
        box = visit.page.locator("figure.mixture").nth(1)
        box.locator("[tabindex='0']").focus()
        visit.page.keyboard.press("Control+Home")
        lines = box.locator("tbody tr")
        for problem, count in (("2x3", 5), ("7x8", 5), ("0x0", 5)):
            scene.choose(visit.page, problem=problem)
            expect(lines).to_have_count(count)
            expect(box.locator("td:focus")).to_have_count(1)
        scene.choose(visit.page, problem=None)
        visit.page.keyboard.press("Enter")
        assert (
            visit.page.evaluate("Article.state.get().cell")
            == "7x8:trained:blocks.0.attn.pattern[1,4,0]"
        )


def test_a_line_that_a_calculation_has_not_been_built_with_opens_too(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "values.html", viewport=DESKTOP) as visit:
        box = visit.page.locator("figure.mixture")
        zero = "blocks.0.attn.pattern[1,3]=0,1,0,0"
        scene.choose(visit.page, edits=zero)
        expect(box.locator("tbody tr")).to_have_count(1)
        box.locator("tbody td[data-of=contents]").nth(2).click()
        assert "blocks.0.attn.v[1,1,2]" in address_of(visit.page)
        scene.choose(visit.page, edits=None, problem="5x6")
        expect(box.locator("tbody tr")).to_have_count(4)
        assert box.locator("[tabindex='0']").count() == 1
        box.locator("tbody tr").nth(3).locator("td").nth(4).click()
        assert "5x6:trained:blocks.0.attn.v[1,3,2]" in address_of(visit.page)
        assert visit.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", ["values.html", "votes.html", "gradients.html"])
def test_tables_whose_numbers_open_have_no_barriers(
    site: BuiltSite, chromium: Chromium, page: str, scheme: str
) -> None:
    with chromium.visit(site.folder / page, viewport=DESKTOP, color_scheme=scheme) as visit:
        number = visit.page.locator("figure.worked td[data-of], figure.votes tbody td").first
        number.click()
        expect(visit.page.locator(".cell-panel")).to_be_visible()
        number.hover()
        assert visit.barriers() == []


def test_without_scripts_no_number_looks_as_if_it_could_be_opened(
    site: BuiltSite, chromium: Chromium
) -> None:
    for page in ("values.html", "votes.html"):
        with chromium.visit(site.folder / page, java_script_enabled=False) as visit:
            tables = visit.page.locator("figure:is(.worked, .votes) table")
            assert tables.count() > 0
            assert visit.page.locator("[role=grid], [role=button]").count() == 0
            number = tables.first.locator("tbody td").first
            assert number.evaluate("(td) => getComputedStyle(td).cursor") == "auto"
            line = number.evaluate("(td) => getComputedStyle(td).textDecorationLine")
            assert line == "none"


def test_a_number_that_is_overwritten_or_follows_from_it_opens_as_it_is_shown(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "values.html", viewport=DESKTOP) as visit:
        scene.choose(visit.page, edits="blocks.0.attn.q[1,3,2]=0.5")
        found = scene.opened(visit.page, "figure.mixture td[data-of]")
        own = [number for number in found if number["data"]["of"] in ("shares", "contents")]
        assert len(own) == 20
        for number in own:
            assert float(number["full"].replace(MINUS, "-")) == float(number["data"]["value"])
        before = {number["cell"]: number["full"] for number in own}
        scene.choose(visit.page, edits=None)
        after = scene.opened(visit.page, "figure.mixture td[data-of=shares]")
        assert all(number["full"] != before[number["cell"]] for number in after)


def _check_opened(
    site: BuiltSite, number: Mapping[str, Any], seen: recomputed.Seen, *, is_own: bool
) -> None:
    """The panel has the independent number, and what the table shows is it or is in its terms."""
    value, text = float(number["data"]["value"]), number["text"].removeprefix("≈ ")
    full = float(number["full"].replace(MINUS, "-"))
    assert independent.is_stored(full, _exact(site, number["cell"], seen)), number
    if is_own:
        assert full == value
        assert text == display(full, recomputed.places(text)), number
        return
    terms = [re.sub("^[=≈√ ]+", "", term).replace(MINUS, "-") for term in number["arithmetic"]]
    seen_terms = [float(term) for term in terms if re.fullmatch(r"-?\d+\.\d+", term)]
    assert min(abs(term - value) for term in seen_terms) <= 2e-4 * max(1, abs(value)), number


def _exact(site: BuiltSite, where: str, seen: recomputed.Seen) -> float:
    """The number of a cell in the form of an address, from the stored weights."""
    problem, stage, cell = where.split(":")
    key, _, rest = cell.partition("[")
    indices, _, target = rest.partition("]")
    *head, row, column = map(int, indices.split(","))
    data = {"key": key, "problem": problem, "target": target.removeprefix("@")}
    if head:
        data["head"] = str(head[0])
    given = {k: v for k, v in data.items() if v}
    return float(independent.matrix(site.folder, seen.weights(stage), given)[row, column])


def _check_open(page: Page, site: BuiltSite) -> None:
    """The number that the panel shows in full is that of the cell in the address."""
    where = page.evaluate("Article.state.get().cell")
    full = page.locator(".cell-value > *").last.inner_text()
    shown = float(full.replace(MINUS, "-"))
    assert independent.is_stored(shown, _exact(site, where, recomputed.Seen(site.folder))), where
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
