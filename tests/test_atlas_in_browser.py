"""A hundred problems at once, in Chromium: every number once more, and the way to each problem."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Page, expect

from builder.numbers.display import display
from model import task
from tests import independent, scene, stored
from tests.browser import (
    DESKTOP,
    Chromium,
    address_of,
    ask,
    cell_at,
    go_back,
    in_every_look,
    reload,
    visit_again,
)
from tests.site_build import BuiltSite

Array = NDArray[np.float64]

PAGE = "answer.html"

READ = """() => {
  const figure = document.querySelector("figure.atlas");
  const text = (selector) => figure.querySelector(selector).textContent;
  return {
    letter: text(".matrix-letter"), where: text(".matrix-where"), meaning: text(".matrix-meaning"),
    spoken: text("caption"),
    selected: [...figure.querySelectorAll('[aria-selected="true"]')]
      .map((td) => Object.values(tests.placed(td)).join("x")),
    cells: [...figure.querySelectorAll("tbody td")].map((td) => ({
      ...tests.placed(td),
      value: Number(td.dataset.value), text: td.textContent,
      share: td.style.getPropertyValue("--v"),
    })),
  };
}"""


def read(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = ask(page, READ)
    return found


def expected(
    site: BuiltSite, weights: str, layer: int, head: int, position: int, source: str
) -> Array:
    """The number of each problem [first operand, second operand]."""
    found = np.empty((10, 10))
    for problem in task.PROBLEMS:
        values = independent.forward(site.folder, weights, problem.name)
        if source == "next":
            token = problem.tokens[position + 1]
            number = values["probs"][position, task.TOKEN_ID[token]]
        else:
            key = position if source == "self" else int(source)
            number = values[f"blocks.{layer}.attn.pattern"][head, position, key]
        found[problem.a, problem.b] = number
    return found


def check(shown: dict[str, Any], numbers: Array) -> None:
    assert len(shown["cells"]) == 100
    for cell in shown["cells"]:
        exact = numbers[cell["row"], cell["column"]]
        assert independent.is_stored(cell["value"], exact), cell
        assert cell["text"] == display(cell["value"])
        assert abs(float(cell["share"]) - exact) < 0.00501


def test_the_table_is_built_from_the_files(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / PAGE, java_script_enabled=False) as visit:
        page = visit.page
        expect(page.locator(".atlas .matrix-table")).to_be_visible()
        expect(page.locator(".atlas-controls")).to_be_hidden()
        for problem in task.PROBLEMS:
            data = {"key": "blocks.0.attn.pattern", "stage": "trained", "head": "1"}
            row = stored.matrix(site.folder, {**data, "problem": problem.name})[3]
            cell = page.locator(f".atlas {cell_at(problem.a, problem.b)}")
            assert float(cell.get_attribute("data-value") or "nan") == row[2]


@pytest.mark.parametrize("position", [3, 4])
@pytest.mark.parametrize("layer", [0, 1])
@pytest.mark.parametrize("head", [0, 1])
def test_every_choice_shows_its_own_numbers(
    site: BuiltSite, chromium: Chromium, head: int, layer: int, position: int
) -> None:
    with chromium.visit(site.folder / PAGE) as visit:
        before = read(visit.page)
        for source in ("0", "1", "2", "3", "self", "next"):
            scene.choose(visit.page, layer=layer, head=head, position=position, source=source)
            shown = read(visit.page)
            check(shown, expected(site, "trained", layer, head, position, source))
            assert shown["letter"] == ("P" if source == "next" else "A")
            assert shown["meaning"] in shown["spoken"]
            assert shown["where"] in shown["spoken"]
        scene.choose(visit.page, layer=None, head=None, position=None, source=None)
        assert read(visit.page) == before
        assert visit.complaints == []


def test_the_choices_are_the_states_and_a_link_shows_the_same(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / PAGE) as visit:
        page = visit.page
        for name, index in (("layer", 1), ("head", 0), ("position", 1), ("source", 4)):
            page.locator(f'.atlas select[name="{name}"]').select_option(index=index)
        expect(page.locator(".atlas .matrix-where")).to_have_text("第 2 层 · 头 1 · 训练后")
        expect(page.locator(".atlas .matrix-meaning")).to_contain_text("答案的第一个数字从自己")
        assert address_of(page).endswith("#?position=4&layer=1&head=0&source=self")
        check(read(page), expected(site, "trained", 1, 0, 4, "self"))
        reload(page)
        expect(page.locator(".atlas .matrix-where")).to_have_text("第 2 层 · 头 1 · 训练后")
        check(read(page), expected(site, "trained", 1, 0, 4, "self"))
        values = page.locator(".atlas select").evaluate_all("(all) => all.map((s) => s.value)")
        assert values == ["1", "0", "4", "self"]
        page.locator('.atlas select[name="source"]').select_option(index=2)
        expect(page).to_have_url(re.compile("head=0$"))
        go_back(page)
        expect(page.locator(".atlas .matrix-meaning")).to_contain_text("答案的第一个数字从自己")
        check(read(page), expected(site, "trained", 1, 0, 4, "self"))
        assert visit.complaints == []


def test_it_follows_the_step_and_what_is_overwritten(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / PAGE) as visit:
        page = visit.page
        scene.choose(page, step=60)
        check(read(page), expected(site, "step-0060", 0, 1, 3, "2"))
        assert "第 60 步" in read(page)["where"]
        scene.choose(page, step=None, edits="blocks.0.attn.pattern[1,3]=0.1,0.2,0.3,0.4")
        check(read(page), np.full((10, 10), 0.3))
        assert "改动后" in read(page)["where"]
        scene.choose(page, source="next")
        changed = read(page)
        original = expected(site, "trained", 0, 1, 3, "next")
        moved = [abs(c["value"] - original[c["row"], c["column"]]) for c in changed["cells"]]
        assert max(moved) > 0.5
        scene.choose(page, edits=None)
        check(read(page), original)


def test_a_cell_leads_to_its_problem(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / PAGE, viewport=DESKTOP) as visit:
        page = visit.page
        assert read(page)["selected"] == ["7x8"]
        cell = page.locator(f".atlas {cell_at(3, 4)}")
        cell.click()
        expect(page.locator(".state-bar")).to_contain_text("3×4")
        assert read(page)["selected"] == ["3x4"]
        assert page.locator(".cell-panel:not(.is-closed)").count() == 0
        choosers = page.locator(".problem-chooser select").all()
        assert [chooser.input_value() for chooser in choosers] == ["3", "4"]
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowDown")
        expect(page.locator(".atlas .readout")).to_contain_text("行 4，列 5")
        assert read(page)["selected"] == ["3x4"]
        page.keyboard.press("Enter")
        expect(page.locator(".state-bar")).to_contain_text("4×5")
        assert read(page)["selected"] == ["4x5"]
        page.wait_for_function(  # what is far away follows when the page rests
            "() => [...document.querySelectorAll('figure.matrix[data-problem]')]"
            ".every(({dataset}) => dataset.problem === '4x5')"
        )
        page.keyboard.press("Delete")
        expect(page.locator(".state-bar")).to_be_hidden()
        assert read(page)["selected"] == ["7x8"]
        assert visit.complaints == []


@in_every_look
def test_it_fits_and_has_no_barriers(
    site: BuiltSite, chromium: Chromium, viewport: dict[str, int], scheme: str
) -> None:
    with chromium.visit(site.folder / PAGE, viewport=viewport, color_scheme=scheme) as visit:
        figure = visit.page.locator(".atlas")
        figure.scroll_into_view_if_needed()
        figure.locator(".matrix-live svg").wait_for(state="visible")
        assert visit.barriers(".atlas") == []
        assert visit.fits()
        assert figure.locator(".matrix-scroll").evaluate("(e) => e.scrollWidth <= e.clientWidth")
        digits = figure.locator(".matrix-live text").all_text_contents()
        assert digits == [cell["text"] for cell in read(visit.page)["cells"]]


@pytest.mark.parametrize(("position", "follows"), [(1, False), (4, True)])
def test_the_bar_names_only_a_receiver_that_the_atlas_has(
    site: BuiltSite, chromium: Chromium, position: int, follows: bool
) -> None:
    with chromium.visit(site.folder / PAGE) as visit:
        visit_again(visit.page, f"?position={position}")
        said = visit.page.locator('[data-line="state"]')
        expect(said).to_contain_text(f"位置 {position}")
        unmoved = "这一页没有随它变的数"
        assert (unmoved not in said.inner_text()) == follows
