"""One step on one target, taken in Chromium: what becomes of the probabilities."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Page, expect

from builder.numbers.display import MINUS, display
from model import task
from tests import independent, reference, scene
from tests.browser import (
    IS_IN_VIEW,
    PAPER,
    PHONE,
    Chromium,
    address_of,
    in_every_look,
    wait_for_view,
)
from tests.site_build import BuiltSite

Array = NDArray[np.float64]

PAGE = "gradients.html"
RATE = 0.01

READ = """() => Object.fromEntries(["before", "after", "change"].map((name) => [name,
  [...document.querySelectorAll(`.one-step-${name} td`)].map((td) => (
    {value: Number((td.querySelector(".value") ?? td).dataset.value), text: td.textContent}
  ))]))"""


TEXT_EDGES = """(cells) => cells.map((cell) => {
  const range = document.createRange();
  range.selectNodeContents(cell);
  const {left, right} = range.getBoundingClientRect();
  return [left, right];
})"""
AS_TRAINED = """() => {
  const figure = document.querySelector(".one-step");
  const trained = figure.cloneNode(true); // whatever has been read of the other is not its own
  const parts = [trained, ...trained.querySelectorAll(".value")];
  for (const part of parts) part.dataset.stage = "trained";
  figure.replaceWith(trained);
  Article.oneStep.write(trained, Article.scene.current());
}"""


def stepped(site: Path, weights: str, problem: str, position: int) -> tuple[Array, Array]:
    """P after a position before and after the step, from the equations alone."""
    tokens = task.BY_NAME[problem].tokens
    ids = [task.TOKEN_ID[token] for token in tokens[: position + 1]]
    w = independent.stored_weights(site, weights)
    _, slopes = independent.backward(site, weights, problem, position)
    moved = {key: value - RATE * slopes[key] for key, value in w.items()}
    before, after = (
        reference.forward(numbers, ids, n_layers=2, n_heads=2)["probs"][position]
        for numbers in (w, moved)
    )
    return before, after


def check(page: Page, site: Path, weights: str, problem: str, position: int) -> None:
    found: dict[str, list[dict[str, Any]]] = page.evaluate(READ)
    before, after = stepped(site, weights, problem, position)
    for name, expected in (("before", before), ("after", after)):
        assert len(found[name]) == len(expected) == 14
        for cell, exact in zip(found[name], expected, strict=True):
            assert independent.is_stored(cell["value"], float(exact)), (name, cell)
            assert cell["text"] == display(cell["value"], 4)
    shown = {
        name: [Decimal(cell["text"].replace(MINUS, "-")) for cell in cells]
        for name, cells in found.items()
    }
    for was, moved, becomes in zip(*(shown[n] for n in ("before", "change", "after")), strict=True):
        assert was + moved == becomes
    target = task.TOKEN_ID[task.BY_NAME[problem].tokens[position + 1]]
    lit = page.locator(".one-step thead th").evaluate_all(
        "(heads) => heads.map((th) => th.className)"
    )
    assert [index for index, name in enumerate(lit) if name == "lit"] == [target]


def test_the_step_of_the_prose_is_taken_when_the_page_opens(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / PAGE) as visit:
        page = visit.page
        expect(page.locator(".one-step-after td").first).not_to_be_empty()
        check(page, site.folder, "initial", "7x8", 3)
        expect(page.locator(".one-step .matrix-where")).to_have_text("训练前 · 7×8")
        (claim,) = (
            claim
            for claim in site.snapshot.document("claims.json")["claims"]
            if claim["id"] == "step-raises"
        )
        found = page.evaluate(READ)
        assert found["before"][5]["value"] == claim["numbers"]["before"]
        assert found["after"][5]["value"] == claim["numbers"]["after"]
        assert visit.complaints == []


def test_it_follows_the_problem_and_the_target(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / PAGE) as visit:
        page = visit.page
        for problem, position in (("9x6", 0), ("9x6", 5), ("2x3", 4), ("0x0", 3)):
            scene.choose(page, problem=problem, position=position)
            check(page, site.folder, "initial", problem, position)
        scene.choose(page, problem="2x3", position=5)  # beyond the last: the last
        check(page, site.folder, "initial", "2x3", 4)
        options = page.locator(".one-step select option").all_inner_texts()
        assert options == ["2 → ×", "2× → 3", "2×3 → =", "2×3= → 6", "2×3=6 → ⟨end⟩"]
        page.locator(".one-step select").select_option(index=1)
        expect(page.locator(".one-step thead th.lit")).to_have_text("3")
        check(page, site.folder, "initial", "2x3", 1)
        assert address_of(page).endswith("problem=2x3&position=1")


def test_it_follows_the_step_where_it_is_about_the_trained_model(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / PAGE) as visit:
        page = visit.page
        scene.choose(page, step=60, problem="8x9")
        page.evaluate(AS_TRAINED)
        check(page, site.folder, "step-0060", "8x9", 3)
        expect(page.locator(".one-step .matrix-where")).to_have_text("第 60 步 · 8×9")


def test_without_scripts_a_sentence_stands_there(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / PAGE, java_script_enabled=False) as visit:
        assert not visit.page.locator(".one-step").is_visible()
        source = (site.folder / PAGE).read_text(encoding="utf-8")
        assert "<noscript><p>这一步要在浏览器里当场走" in source


@pytest.mark.parametrize(
    ("problem", "position", "token"),
    [("7x8", 3, "5"), ("7x8", 4, "6"), ("7x8", 5, "⟨end⟩"), ("3x0", 3, "0")],
)
def test_a_phone_shows_the_column_of_the_target_among_its_neighbours(
    site: BuiltSite, chromium: Chromium, problem: str, position: int, token: str
) -> None:
    with chromium.visit(site.folder / PAGE, viewport=PHONE) as visit:
        page = visit.page
        scene.choose(page, problem=problem, position=position)
        page.locator(".one-step").scroll_into_view_if_needed()
        lit = page.locator(".one-step .lit")
        assert lit.first.inner_text() == token
        assert lit.count() == 4
        for cell in lit.all():
            wait_for_view(cell)
        heads = page.locator(".one-step thead th")
        seen = [head.inner_text() for head in heads.all() if head.evaluate(IS_IN_VIEW)]
        assert len(seen) > 2
        assert " ".join(seen) in " ".join(heads.all_inner_texts())


def test_a_table_that_was_scrolled_stays_there_until_the_target_is_another_token(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / PAGE, viewport=PHONE) as visit:
        page, box = visit.page, visit.page.locator(".one-step .worked-scroll")
        scene.choose(page, problem="7x8", position=3)
        box.evaluate("(box) => (box.scrollLeft = 0)")
        scene.choose(page, problem="8x7")  # begins with 5 as well
        assert box.evaluate("(box) => box.scrollLeft") == 0
        scene.choose(page, problem="9x9")
        assert box.evaluate("(box) => box.scrollLeft") > 0


def test_on_paper_its_numbers_stand_apart_on_one_page_and_nothing_is_to_choose(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / PAGE, viewport=PAPER) as visit:
        page, figure = visit.page, visit.page.locator(".one-step")
        expect(page.locator(".one-step-after td").first).not_to_be_empty()
        page.emulate_media(media="print")
        assert not figure.locator("select").is_visible()
        assert figure.evaluate("(figure) => getComputedStyle(figure).breakInside") == "avoid"
        for row in figure.locator("tr").all():
            edges = row.locator(":is(th, td)").evaluate_all(TEXT_EDGES)
            gaps = [right[0] - left[1] for left, right in pairwise(edges)]
            assert min(gaps) > 3, row.inner_text()
            assert edges[-1][1] < PAPER["width"]


def test_no_number_that_has_the_focus_is_under_a_column_that_sticks(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / PAGE, viewport=PHONE) as visit:
        page = visit.page
        expect(page.locator(".one-step-after td").first).not_to_be_empty()
        numbers = page.locator(".one-step .value")
        numbers.first.focus()
        for i in range(numbers.count()):
            expect(numbers.nth(i)).to_be_focused()
            wait_for_view(numbers.nth(i))
            page.keyboard.press("Tab")


@in_every_look
def test_it_fits_and_has_no_barriers(
    site: BuiltSite, chromium: Chromium, viewport: dict[str, int], scheme: str
) -> None:
    with chromium.visit(site.folder / PAGE, viewport=viewport, color_scheme=scheme) as visit:
        expect(visit.page.locator(".one-step-after td").first).not_to_be_empty()
        assert visit.barriers(".one-step") == []
        assert visit.fits()
