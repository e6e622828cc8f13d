"""Figures in Chromium: both faces, keys, linked highlighting, themes, failure."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from builder.assets import chart_assets, static_assets
from builder.markdown import render
from builder.pages import Pages
from builder.site import Chapter, Site
from builder.strings import load_texts
from tests.browser import Chromium, Visit
from tests.rendering import LANGUAGES, PRESET, ROOT, context

TEMPLATES = ROOT / "site_templates"
BODY = """
## Reading {#reading}

::: matrix blocks.0.attn.pattern[1]
:::

::: product
left: blocks.0.attn.q[1]
right: blocks.0.attn.k[1]
transpose_right: true
scale: 1/2
result: blocks.0.attn.attn_scores[1]
:::

## Answers {#answers}

::: matrix probs
:::

$$
A = \\operatorname{softmax}(S)
$$
"""
FACES = """() => [...document.querySelectorAll("figure.matrix:has(.matrix-live)")].map((figure) => {
  const cells = [...figure.querySelectorAll("tbody td[data-row]")];
  const live = figure.querySelector(".matrix-live");
  const marks = [...live.querySelectorAll(".cells_marks path")];
  const edges = (element) => {
    const { left, top, right, bottom } = element.getBoundingClientRect();
    return [left, top, right, bottom];
  };
  const off = cells.map((cell, i) => {
    const [a, b] = [edges(cell), edges(marks[i])];
    return Math.max(...a.map((value, j) => Math.abs(value - b[j])));
  });
  return {
    table: cells.map((cell) => cell.textContent.trim()),
    chart: [...live.querySelectorAll("text")].map((text) => text.textContent),
    off: Math.max(...off),
  };
})"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of one chapter in Chinese, not yet written in English."""
    folder = tmp_path_factory.mktemp("site")
    made = context(BODY)
    chapters = {("zh", "index"): Chapter("index", LANGUAGES[0], "", "注意力", "", "", "7x8", "", 1)}
    titles = {"zh": "注意力", "en": "Attention"}
    built = Site(titles, titles, LANGUAGES, ["index"], "", "7x8", PRESET, {}, chapters)
    strings = load_texts(TEMPLATES / "strings.yml", LANGUAGES, made.diagnostics).strings
    pages = Pages(TEMPLATES, built, strings)
    files = {
        "index.html": pages.chapter(chapters["zh", "index"], render(made)).encode(),
        "en/index.html": pages.placeholder(LANGUAGES[1], "index").encode(),
        **static_assets(TEMPLATES),
        **chart_assets(),
    }
    assert list(made.diagnostics) == []
    for path, content in files.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


@pytest.fixture
def visit(chromium: Chromium, site: Path) -> Iterator[Visit]:
    with chromium.visit(site / "index.html", viewport={"width": 1280, "height": 900}) as visit:
        yield visit
        assert visit.complaints == []
        assert visit.strangers == []


def test_both_faces_show_the_same_digits_in_the_same_places(visit: Visit) -> None:
    visit.wait_for_charts("#fig-2-result")
    faces = visit.page.evaluate(FACES)
    assert len(faces) >= 4
    for face in faces:
        assert face["chart"] == face["table"]
        assert face["off"] < 0.5


def test_the_chart_moves_nothing_when_it_comes(chromium: Chromium, site: Path) -> None:
    def height(visit: Visit) -> int:
        return int(visit.page.evaluate("document.querySelector('#fig-1').offsetHeight"))

    with chromium.visit(site / "index.html") as visit:
        visit.wait_for_charts("#fig-1")
        with_chart = height(visit)
        visit.page.evaluate("document.querySelector('#fig-1 .matrix-live').remove()")
        assert height(visit) == with_chart


def test_arrow_keys_walk_a_matrix_and_each_cell_speaks(visit: Visit) -> None:
    cells = visit.page.locator("#fig-1 tbody td")
    cells.first.focus()
    for key in (
        "ArrowDown",
        "ArrowDown",
        "End",
        "Home",
        "ArrowRight",
        "ArrowUp",
        "ArrowUp",
        "ArrowUp",
    ):
        visit.page.keyboard.press(key)
    at = visit.page.evaluate(
        "[document.activeElement.dataset.row, document.activeElement.dataset.column]"
    )
    assert at == ["0", "1"]
    assert visit.page.locator('#fig-1 td[tabindex="0"]').count() == 1
    label = visit.page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert label.startswith("行 7，列 ×：")


def test_a_cell_of_a_product_lights_its_row_and_column_until_escape(visit: Visit) -> None:
    cell = visit.page.locator('#fig-2-result td[data-row="3"][data-column="1"]')
    cell.scroll_into_view_if_needed()
    cell.click()
    lit = "all => all.map((cell) => `${cell.dataset.row},${cell.dataset.column}`)"
    left = visit.page.locator("#fig-2-left td.lit").evaluate_all(lit)
    right = visit.page.locator("#fig-2-right td.lit").evaluate_all(lit)
    assert left == ["3,0", "3,1", "3,2", "3,3"]
    assert right == ["0,1", "1,1", "2,1", "3,1"]
    said = visit.page.locator("#fig-2 > .readout").text_content() or ""
    assert said.startswith("行 =，列 ×：")
    assert said.endswith(") × 0.5")
    visit.page.keyboard.press("Escape")
    assert visit.page.locator("#fig-2 td.lit").count() == 0


def test_the_arithmetic_of_a_cell_adds_up_to_it(visit: Visit) -> None:
    visit.page.locator('#fig-2-result td[data-row="3"][data-column="1"]').click()
    said = visit.page.locator("#fig-2 > .readout").text_content() or ""
    value, terms = said.split("：")[1].replace("\u2212", "-").split(" = ")
    total = eval(terms.replace("×", "*"))
    assert float(value) == pytest.approx(total, abs=2e-3)


def test_charts_follow_the_theme_and_the_choice_is_kept(visit: Visit) -> None:
    visit.wait_for_charts("#fig-1")
    digit = visit.page.locator("#fig-1 .matrix-live text").first
    light = digit.get_attribute("fill")
    for _ in range(2):
        visit.page.locator(".theme-toggle").click()
    expect(digit).not_to_have_attribute("fill", light or "")
    visit.page.reload()
    assert visit.page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_switching_language_keeps_the_section(visit: Visit) -> None:
    visit.page.locator("#answers").evaluate("it => it.scrollIntoView({behavior: 'instant'})")
    visit.page.locator(".language-switch a").focus()
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_url("**/en/index.html#answers")


def test_without_vega_the_tables_stay_and_say_so(
    chromium: Chromium, site: Path, tmp_path: Path
) -> None:
    for path in site.rglob("*"):
        if path.is_file() and path.name != "vega.js":
            target = tmp_path / path.relative_to(site)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    with chromium.visit(tmp_path / "index.html") as visit:
        visit.page.locator("#fig-1 .figure-problem").wait_for()
        assert visit.page.locator(".matrix-live").count() == 0
        assert visit.page.locator("#fig-1 td").first.is_visible()
        assert not any("uncaught" in complaint for complaint in visit.complaints)


def test_charts_stay_away_where_colours_are_the_readers(chromium: Chromium, site: Path) -> None:
    with chromium.visit(site / "index.html", forced_colors="active") as visit:
        visit.see_all()
        assert visit.page.locator(".matrix-live").count() == 0
        assert not any("vega.js" in url for url in visit.requests)


@pytest.mark.parametrize("width", [360, 640, 1280])
def test_no_page_scrolls_sideways(chromium: Chromium, site: Path, width: int) -> None:
    for name in ("index.html", "en/index.html"):
        with chromium.visit(site / name, viewport={"width": width, "height": 740}) as visit:
            assert visit.page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0


def test_everything_is_there_without_scripts(chromium: Chromium, site: Path) -> None:
    with chromium.visit(site / "index.html", java_script_enabled=False) as visit:
        assert visit.page.locator("#fig-2-result td").first.is_visible()
        assert not visit.page.locator(".theme-toggle").is_visible()
        visit.page.locator(".chapter-menu summary").click()
        assert visit.page.locator(".chapter-menu li a").first.is_visible()
