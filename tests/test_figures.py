"""Figures in Chromium: both faces, keys, linked highlighting, themes, failure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Route, expect

from builder.content.site import Chapter, Site
from builder.content.strings import load_texts
from builder.markdown import render
from builder.numbers.display import display, display_exact, display_scientific
from builder.pages.assets import chart_assets, static_assets, string_assets
from builder.pages.model_assets import model_assets
from builder.pages.templates import Pages
from tests import scene
from tests.browser import Chromium, Visit, cell_at
from tests.rendering import LANGUAGES, PRESET, ROOT, context, minified_all

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

::: product
left: blocks.0.attn.pattern[1]
right: blocks.0.attn.v[1]
result: blocks.0.attn.z[1]
:::

::: sum
left: embed
right: pos_embed
result: blocks.0.resid_pre
:::

::: matrix blocks.0.attn.pattern[0]
columns: ["@5", "@1"]
:::

$$
A = \\operatorname{softmax}(S)
$$
"""
BREAK_TWO_WIDGETS = """
window.ResizeObserver = class extends ResizeObserver {
  observe(target) {
    if (target.matches("math, #fig-1 .matrix-scroll")) throw new Error(`no ${target.localName}`);
    super.observe(target);
  }
};
"""
FORMAT = """(numbers) => numbers.map((value) => [
  ...[0, 2, 4].map((decimals) => Article.number.display(value, decimals)),
  Article.number.exact(value),
])"""
NUMBERS = [0.0, -0.0, 1.0, -1.0, 10.0, 1234.5, -1234567.0, 0.125, -0.125, 0.001, -0.00099999]
NUMBERS += [0.005, 0.045, -0.0049, 2.214345e-05, -2.5e-05, 9.765625e-04, 1.234567e-13, 0.4157122]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of one chapter in Chinese, not yet written in English."""
    folder = tmp_path_factory.mktemp("site")
    made = context(BODY)
    chapters = {("zh", "index"): Chapter("index", LANGUAGES[0], "", "注意力", "", "", "7x8", "", 1)}
    titles = {"zh": "注意力", "en": "Attention"}
    built = Site(titles, titles, LANGUAGES, ["index"], "", PRESET, {}, chapters)
    strings = load_texts(TEMPLATES / "strings.yml", LANGUAGES, made.diagnostics).strings
    pages = Pages(TEMPLATES, built, strings)
    files = {
        "index.html": pages.chapter(chapters["zh", "index"], render(made)).encode(),
        "en/index.html": pages.placeholder(LANGUAGES[1], "index").encode(),
        **static_assets(TEMPLATES, minified_all),
        **string_assets(strings),
        **chart_assets(),
        **model_assets(made.numbers.snapshot, made.numbers.task),
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
    expect(visit.page.locator(f"#fig-1 {cell_at(0, 1)}")).to_be_focused()
    assert visit.page.locator('#fig-1 td[tabindex="0"]').count() == 1
    label = visit.page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert label.startswith("行 7，列 ×：")


def test_a_cell_of_a_product_lights_its_row_and_column_until_escape(visit: Visit) -> None:
    cell = visit.page.locator(f"#fig-2-result {cell_at(3, 1)}")
    cell.scroll_into_view_if_needed()
    cell.click()
    lit = "(cells) => cells.map((td) => Object.values(tests.placed(td)).join())"
    left = visit.page.locator("#fig-2-left td.lit").evaluate_all(lit)
    right = visit.page.locator("#fig-2-right td.lit").evaluate_all(lit)
    assert left == ["3,0", "3,1", "3,2", "3,3"]
    assert right == ["0,1", "1,1", "2,1", "3,1"]
    said = visit.page.locator("#fig-2 > .readout").text_content() or ""
    assert said.startswith("行 =，列 ×：")
    assert said.endswith(") × 0.5")
    visit.page.keyboard.press("Escape")
    assert visit.page.locator("#fig-2 td.lit").count() == 0
    visit.page.evaluate("scrollBy(0, 30)")  # other cells come to lie under the pointer
    visit.page.wait_for_timeout(200)
    assert visit.page.locator("#fig-2 td.lit").count() == 0


def test_a_cell_is_known_by_its_column_where_only_some_are_shown(visit: Visit) -> None:
    cells = visit.page.locator("#fig-6 tbody tr:last-child td")
    opened = visit.page.locator("#fig-6 td.opened")
    for place, column in enumerate((5, 1)):
        cells.nth(place).click()
        expect(visit.page).to_have_url(re.compile(rf"pattern\[0,5,{column}\]$"))
        expect(opened).to_have_count(1)
        expect(cells.nth(place)).to_have_class(re.compile("opened"))
    scene.choose(visit.page, problem="1x1", cell=None)  # it has no position 5
    expect(cells).to_have_count(1)
    cells.click()
    expect(visit.page).to_have_url(re.compile(r"pattern\[0,4,1\]$"))
    expect(opened).to_have_count(1)


@pytest.mark.parametrize("figure", ["fig-2", "fig-4", "fig-5"])
def test_the_arithmetic_of_a_cell_adds_up_or_says_that_it_nearly_does(
    visit: Visit, figure: str
) -> None:
    for row, column in [(0, 0), (1, 1), (3, 1), (3, 3)]:
        visit.page.locator(f"#{figure}-result {cell_at(row, column)}").click()
        said = visit.page.locator(f"#{figure} > .readout").text_content() or ""
        value, sign, terms = re.split(" ([=≈]) ", said.split("：")[1].replace("\u2212", "-"))
        exact = Fraction(eval(re.sub(r"[\d.]+", r"Fraction('\g<0>')", terms).replace("×", "*")))
        assert (sign == "=") == (exact == Fraction(value)), said
        assert float(value) == pytest.approx(float(exact), abs=2e-3)


def test_scripts_write_numbers_as_the_pages_do(visit: Visit) -> None:
    random = np.random.default_rng(0)
    drawn = random.normal(size=300) * 10.0 ** random.integers(-6, 4, size=300)
    numbers = [*NUMBERS, *(float(f"{value:.7g}") for value in drawn)]
    shown = visit.page.evaluate(FORMAT, numbers)
    for value, texts in zip(numbers, shown, strict=True):
        is_tiny = 0 < abs(value) < 1e-3
        exact = display_scientific(value, 6) if is_tiny else display_exact(value)
        assert texts == [*(display(value, decimals) for decimals in (0, 2, 4)), exact]


def test_charts_follow_the_theme_and_the_choice_is_kept(visit: Visit) -> None:
    visit.wait_for_charts("#fig-1")
    digit = visit.page.locator("#fig-1 .matrix-live text").first
    light = digit.get_attribute("fill")
    for _ in range(2):
        visit.page.locator(".theme-toggle").click()
    expect(digit).not_to_have_attribute("fill", light or "")
    visit.page.reload()
    assert visit.page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_a_figure_that_is_met_again_before_vega_comes_gets_one_chart(
    chromium: Chromium, site: Path
) -> None:
    held: list[Route] = []
    with chromium.visit(site / "index.html", viewport={"width": 1280, "height": 120}) as visit:
        page, figure = visit.page, visit.page.locator("#fig-1")
        page.route("**/vega.js", lambda route: held.append(route))
        page.reload()
        figure.scroll_into_view_if_needed()
        for _ in range(2):
            page.wait_for_timeout(200)
            page.locator("#answers").scroll_into_view_if_needed()
            page.wait_for_timeout(200)
            figure.scroll_into_view_if_needed()
        (route,) = held
        route.continue_()
        visit.wait_for_charts("#fig-1")
        page.wait_for_timeout(200)
        assert figure.locator(".matrix-live").count() == 1
        page.locator("#answers").scroll_into_view_if_needed()
        expect(figure.locator(".matrix-live")).to_have_count(0)
        assert visit.complaints == []


def test_what_is_lit_stays_lit_on_a_chart_that_is_drawn_again(
    chromium: Chromium, site: Path
) -> None:
    lit = "(cells) => cells.map((cell) => cell.getAttribute('fill-opacity'))"
    with chromium.visit(site / "index.html", viewport={"width": 1280, "height": 120}) as visit:
        result = visit.page.locator("#fig-2-result")
        result.locator(cell_at(1, 1)).click()
        visit.page.mouse.move(0, 0)
        visit.wait_for_charts("#fig-2-result")
        visit.page.wait_for_timeout(200)
        marks = result.locator(".cells_marks path")
        before = marks.evaluate_all(lit)
        assert sorted(set(before)) == ["0.25", "1"]
        visit.page.evaluate("scrollTo(0, document.body.scrollHeight)")
        expect(result.locator(".matrix-live")).to_have_count(0)
        result.scroll_into_view_if_needed()
        visit.wait_for_charts("#fig-2-result")
        visit.page.wait_for_timeout(200)
        assert marks.evaluate_all(lit) == before


def test_a_widget_that_fails_is_reported_and_leaves_the_rest_alone(
    chromium: Chromium, site: Path
) -> None:
    with chromium.visit(site / "index.html") as visit:
        visit.page.add_init_script(BREAK_TWO_WIDGETS)
        visit.page.reload()
        visit.wait_for_charts("#fig-2-left")
        assert visit.complaints == ["uncaught: no math", "uncaught: no div"]
        assert (
            visit.page.locator("#fig-1 > .figure-failure").get_attribute("title") == "Error: no div"
        )
        assert visit.page.locator(".figure-failure").count() == 1
        assert visit.page.locator(".theme-toggle").is_visible()


def test_without_vega_the_tables_stay_and_say_so(
    chromium: Chromium, site: Path, tmp_path: Path
) -> None:
    for path in site.rglob("*"):
        if path.is_file() and path.name != "vega.js":
            target = tmp_path / path.relative_to(site)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    with chromium.visit(tmp_path / "index.html") as visit:
        visit.page.locator("#fig-1 .figure-failure").wait_for()
        assert visit.page.locator(".matrix-live").count() == 0
        assert visit.page.locator("#fig-1 td").first.is_visible()
        assert any("uncaught: vega.js could not" in complaint for complaint in visit.complaints)


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
