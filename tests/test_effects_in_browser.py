"""Interventions in Chromium: every choice shows the stored numbers, by mouse, by key, by link."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from builder.numbers.display import display
from model import task
from tests import scene, stored
from tests.browser import DESKTOP, PHONE, Chromium, ask, cell_at, in_every_look, visit_again
from tests.site_build import BuiltSite
from tests.test_evidence_pages import all_changes, before, shown_as

PAGE = "evidence.html"

READ = """() => {
  const signs = ["positive", "negative", "zero", "masked"];
  const box = document.querySelector(".effects");
  const read = (figure) => ({
    where: figure.querySelector(".matrix-where").textContent,
    meaning: figure.querySelector(".matrix-meaning").textContent,
    spoken: figure.querySelector("caption").textContent,
    selected: [...figure.querySelectorAll('[aria-selected="true"]')]
      .map((td) => Object.values(tests.placed(td)).join("x")),
    cells: [...figure.querySelectorAll("tbody td")].map((td) => ({
      ...tests.placed(td), text: td.textContent,
      value: td.dataset.value === undefined ? null : Number(td.dataset.value),
      sign: signs.find((name) => td.classList.contains(name)),
    })),
  });
  return {
    share: read(box.querySelector('[data-shows="share"]')),
    change: read(box.querySelector('[data-shows="change"]')),
    total: box.querySelector(".effects-total").textContent,
    chosen: [...box.querySelectorAll("select")].map(({value}) => value),
  };
}"""


def read(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = ask(page, READ)
    return found


def check(site: BuiltSite, shown: dict[str, Any], name: str) -> None:
    """The two tables and the line above show this intervention, and nothing else."""
    figures, row = {n: (f, r) for n, f, r in all_changes(site)}[name]
    each, at_first = figures["of_problem"], before(site, row)
    change = 100 * (np.array(each["probability"]) - at_first)
    share = 100 * np.array(each["share"]) if "share" in each else None
    for table, numbers in (("share", share), ("change", change)):
        for cell in shown[table]["cells"]:
            if numbers is None:
                assert (cell["value"], cell["text"], cell["sign"]) == (None, "–", "masked")
                continue
            value = cell["value"]
            exact = numbers[10 * cell["row"] + cell["column"]]
            assert abs(value - exact) < 0.00501, (name, table, cell)
            assert cell["text"] == display(value, 0)
            expected = "positive" if value > 0 else "negative" if value < 0 else "zero"
            assert cell["sign"] == expected
    correct, first, last = re.findall(r"\d+(?:\.\d+)?", shown["total"].removeprefix("一百"))
    assert shown_as(figures["correct"], correct)
    assert shown_as(at_first.mean(), first)
    assert shown_as(figures["probability"], last)
    assert ".".join(shown["chosen"]) == name


def test_every_choice_shows_what_is_stored(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / PAGE) as visit:
        written = read(visit.page)
        check(site, written, ".".join(written["chosen"]))
        for name, _, _ in all_changes(site):
            layer, head, change = name.split(".")
            scene.choose(visit.page, layer=int(layer), head=int(head), change=change)
            shown = read(visit.page)
            check(site, shown, name)
            for table in ("share", "change"):
                assert f"第 {int(layer) + 1} 层 · 头 {int(head) + 1}" in shown[table]["where"]
                assert shown[table]["where"] in shown[table]["spoken"]
                assert shown[table]["meaning"] in shown[table]["spoken"]
        scene.choose(visit.page, layer=None, head=None, change=None)
        assert read(visit.page) == written
        assert visit.complaints == []


def test_the_choices_are_the_states_and_a_link_shows_the_same(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / PAGE) as visit:
        page = visit.page
        page.locator('.effects select[name="layer"]').select_option(index=1)
        page.locator('.effects select[name="change"]').select_option(value="4_3")
        expect(page.locator(".effects .matrix-where").first).to_contain_text("第 2 层")
        expect(page).to_have_url(re.compile(r"#\?layer=1&change=4_3$"))
        check(site, read(page), "1.0.4_3")
        page.reload()
        expect(page.locator(".effects .matrix-meaning").first).to_contain_text("第一个数字不读“=”")
        check(site, read(page), "1.0.4_3")
        page.go_back()
        expect(page.locator(".effects .matrix-meaning").first).to_contain_text("“=”不读“×”")
        check(site, read(page), "1.0.3_1")
        scene.choose(page, layer=None, change="nothing_of_the_kind")
        check(site, read(page), "0.0.3_1")
        assert visit.complaints == []


def test_a_choice_is_made_by_key(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / PAGE, viewport=PHONE) as visit:
        page = visit.page
        page.locator('.effects select[name="change"]').focus()
        page.keyboard.press("Home")
        expect(page.locator(".effects .matrix-meaning").last).to_contain_text("摘掉这个头")
        check(site, read(page), "0.0.ablated")
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("ArrowDown")
        expect(page.locator(".effects .matrix-where").last).to_contain_text("头 2")
        check(site, read(page), "0.1.ablated")


def test_it_stays_with_the_trained_model(site: BuiltSite, chromium: Chromium) -> None:
    """What is stored is about it, whatever step or edit the other figures show."""
    with chromium.visit(site.folder / PAGE) as visit:
        written = read(visit.page)
        scene.choose(visit.page, step=60, edits="blocks.0.attn.pattern[1,3]=0.1,0.2,0.3,0.4")
        assert read(visit.page) == written
        assert "训练后" in written["change"]["where"]


RING = """() => [...document.querySelectorAll(".share-effect svg")]
  .map((svg) => svg.querySelector(".here").getAttribute("d"))"""
ALL = """() => [...document.querySelectorAll(".share-effect svg")]
  .map((svg) => svg.querySelector(".all").getAttribute("d").match(/M[^M]+/g))"""


@pytest.mark.parametrize("table", ["share", "change"])
def test_a_cell_leads_to_its_problem_and_rings_its_points(
    site: BuiltSite, chromium: Chromium, table: str
) -> None:
    with chromium.visit(site.folder / PAGE, viewport=DESKTOP) as visit:
        page = visit.page
        points, written = ask(page, ALL), ask(page, RING)

        def ringed(problem: str) -> list[str]:
            place = task.PROBLEMS.index(task.BY_NAME[problem])
            return ["".join(panel[4 * place : 4 * place + 4]) for panel in points]

        assert written == ringed("7x8")
        figure = page.locator(f'.effects [data-shows="{table}"]')
        figure.locator(cell_at(3, 4)).click()
        expect(page.locator(".state-bar")).to_contain_text("3×4")
        shown = read(page)
        assert shown["share"]["selected"] == shown["change"]["selected"] == ["3x4"]
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        expect(page.locator(".state-bar")).to_contain_text("3×5")
        assert page.locator(".cell-panel:not(.is-closed)").count() == 0
        page.locator(".share-effect").scroll_into_view_if_needed()
        page.wait_for_function(
            f"(expected) => String(({RING})()) === expected", arg=",".join(ringed("3x5"))
        )
        expect(page.locator(".share-effect .problem-part")).to_have_text("3×5=")
        page.keyboard.press("Delete")
        expect(page.locator(".state-bar")).to_be_hidden()
        page.wait_for_function(
            f"(expected) => String(({RING})()) === expected", arg=",".join(written)
        )
        assert visit.complaints == []


WRITE_AT_ONCE = """async (problem) => {
  const run = await Article.passes.load();
  Article.state.set({problem});
  const figure = document.querySelector("#interventions-live");
  Article.interventions.write(figure, Article.scene.view(run));
}"""
"""As where the figure has its turn before the page has looked at the address."""


@pytest.mark.parametrize("problem", ["99x1", "7", "10x2"])
def test_a_problem_that_there_is_not_leaves_the_page_as_it_is(
    site: BuiltSite, chromium: Chromium, problem: str
) -> None:
    with chromium.visit(site.folder / PAGE) as visit:
        visit_again(visit.page, f"?problem={problem}")
        visit.page.evaluate(WRITE_AT_ONCE, problem)
        expect(visit.page.locator('.state-bar [data-line="note"]')).to_contain_text("看不懂")
        before = visit.page.locator("#interventions-live .interventions-before")
        expect(before.locator(".interventions-top")).not_to_be_empty()
        expect(before).to_contain_text("7×8= 之后该写 5")
        assert visit.page.locator(".figure-failure").count() == 0
        assert visit.complaints == []


def test_without_scripts_everything_is_there(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / PAGE, java_script_enabled=False) as visit:
        page = visit.page
        for figure in (".controls", ".held-out", ".effects", ".share-effect", ".census"):
            expect(page.locator(figure)).to_be_visible()
        expect(page.locator(".effects .atlas-controls")).to_be_hidden()
        dots = page.locator(".controls .strip-field i").count()
        rings = page.locator(".controls .strip-never i").count()
        controls = stored.read(site.folder, "evidence/controls.json")
        assert dots + rings == sum(of["seeds"] for of in controls.values())


@in_every_look
def test_the_figures_fit_and_have_no_barriers(
    site: BuiltSite, chromium: Chromium, viewport: dict[str, int], scheme: str
) -> None:
    with chromium.visit(site.folder / PAGE, viewport=viewport, color_scheme=scheme) as visit:
        page = visit.page
        page.locator(".effects").scroll_into_view_if_needed()
        visit.wait_for_charts(".effects")
        assert visit.barriers() == []
        assert visit.fits()
        for figure in page.locator(".evidence").all():
            box = figure.bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= viewport["width"] + 0.5
        overflowing = page.evaluate(
            """() => [...document.querySelectorAll(".evidence > table :is(th, td)")]
              .filter((cell) => cell.checkVisibility() && cell.scrollWidth > cell.clientWidth + 1)
              .map((cell) => cell.outerHTML.slice(0, 200))"""
        )
        assert overflowing == []
        ticks = page.locator(".census .claim").evaluate_all(
            "(ticks) => ticks.map((tick) => tick.getBoundingClientRect().height)"
        )
        assert viewport != PHONE or min(ticks) >= 24
