"""The way of one source to `=`, in Chromium: its numbers, and how a source is chosen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Page, expect

from builder.numbers.display import MINUS, display
from tests import independent, scene
from tests.browser import DESKTOP, Chromium, address_of, go_back, in_every_look, reload
from tests.site_build import BuiltSite

PAGE = "values.html"

READ = """() => [...document.querySelectorAll(".route-way")].map((way) => ({
  isShown: way.getClientRects().length > 0,
  rows: [...way.rows].map((row) => [...row.querySelectorAll("[data-value]")].map((number) => (
    {value: Number(number.dataset.value), text: number.textContent}
  ))),
}))"""


def ways(page: Page) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = page.evaluate(READ)
    return found


def shown(page: Page) -> list[int]:
    """Which sources are in view."""
    return [source for source, way in enumerate(ways(page)) if way["isShown"]]


def check(page: Page, site: Path, weights: str, problem: str, layer: int, head: int) -> None:
    values = independent.forward(site, weights, problem)
    q, k, v, scores, shares = (
        values[f"blocks.{layer}.attn.{name}"][head]
        for name in ("q", "k", "v", "attn_scores", "pattern")
    )
    for source, way in enumerate(ways(page)):
        share = shares[3, source]
        expected = [q[3], k[source], scores[3, source], share, v[source], share * v[source]]
        np.testing.assert_allclose(q[3] @ k[source] / 2, scores[3, source])
        for row, numbers in zip(way["rows"], expected, strict=True):
            assert len(row) == np.size(numbers)
            for cell, exact in zip(row, np.atleast_1d(numbers), strict=True):
                assert abs(cell["value"] - exact) <= 2e-6 * max(1, abs(exact))
                assert cell["text"] == display(cell["value"], 3)


def test_a_source_can_be_chosen_without_scripts(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / PAGE, java_script_enabled=False) as visit:
        ways_ = visit.page.locator(".route-way")
        expect(ways_).to_have_count(4)
        for source in (2, 0, 1, 3):
            if source != 2:  # it is the author's
                visit.page.locator(".route label").nth(source).click()
            for other in range(4):
                assert ways_.nth(other).is_visible() == (other == source)


def test_the_numbers_follow(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / PAGE) as visit:
        page = visit.page
        where = page.locator(".route-where")
        check(page, site.folder, "trained", "7x0", 0, 1)
        before = ways(page)
        scene.choose(page, problem="4x6")
        check(page, site.folder, "trained", "4x6", 0, 1)
        labels = page.locator(".route label").all_inner_texts()
        assert [label.strip() for label in labels] == ["4", "×", "6", "="]
        assert where.inner_text() == "第 1 层 · 头 2 · 训练后 · 4×6"
        scene.choose(page, layer=1, head=0, step=60)
        check(page, site.folder, "step-0060", "4x6", 1, 0)
        assert where.inner_text() == "第 2 层 · 头 1 · 第 60 步 · 4×6"
        scene.choose(page, layer=None, head=None, step=None, problem=None)
        assert ways(page) == before
        assert visit.complaints == []


def test_every_number_opens_and_what_is_brought_opens_the_sum_it_goes_into(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / PAGE, viewport=DESKTOP) as visit:
        for change, where in (
            ({}, "7x0:trained:blocks.0.attn"),
            ({"problem": "4x6", "layer": 1, "head": 0, "step": 60}, "4x6:trained:blocks.1.attn"),
        ):
            if change:
                scene.choose(visit.page, **change)
            head = change.get("head", 1)
            found = scene.opened(visit.page, ".route-brought [role=button]")
            assert [number["cell"] for number in found] == [
                f"{where}.z[{head},3,{d}]" for _source in range(4) for d in range(4)
            ]
            for i, number in enumerate(found):
                factors_and_products = number["arithmetic"]
                product = float(factors_and_products[4::5][i // 4].replace(MINUS, "-"))
                assert abs(product - float(number["data"]["value"])) < 2e-4, number
            others = ".route-way tr:not(.route-brought) .value"
            for number in scene.opened(visit.page, others):
                assert float(number["full"].replace(MINUS, "-")) == float(number["data"]["value"])
        assert visit.complaints == []


def test_pointing_shows_a_source_and_choosing_keeps_it(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / PAGE, viewport=DESKTOP) as visit:
        page = visit.page
        labels = page.locator(".route label")
        labels.nth(2).scroll_into_view_if_needed()
        assert shown(page) == [2]
        labels.nth(0).hover()
        assert shown(page) == [0]
        assert "source" not in address_of(page)
        page.mouse.move(0, 0)
        assert shown(page) == [2]
        labels.nth(1).click()
        page.mouse.move(0, 0)
        assert shown(page) == [1]
        assert address_of(page).endswith("source=1")
        reload(page)
        assert shown(page) == [1]
        page.locator(".route input").nth(1).focus()
        page.keyboard.press("ArrowRight")
        assert shown(page) == [2]
        assert "source" not in address_of(page)
        page.keyboard.press("ArrowRight")
        assert shown(page) == [3]
        go_back(page)
        go_back(page)
        assert shown(page) == [1]
        assert visit.complaints == []


def test_on_paper_it_is_not_broken_between_pages(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / PAGE) as visit:
        visit.page.emulate_media(media="print")
        route = visit.page.locator(".route")
        assert route.evaluate("(figure) => getComputedStyle(figure).breakInside") == "avoid"


@in_every_look
def test_it_fits_and_has_no_barriers(
    site: BuiltSite, chromium: Chromium, viewport: dict[str, int], scheme: str
) -> None:
    with chromium.visit(site.folder / PAGE, viewport=viewport, color_scheme=scheme) as visit:
        visit.page.locator(".route").scroll_into_view_if_needed()
        assert visit.barriers(".route") == []
        assert visit.fits()
