"""The built site in Chromium, from files: what a reader really sees, compared with the snapshot."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

from tests import scene, stored
from tests.browser import DESKTOP, PAPER, PHONE, Chromium, Visit, ask, cell_at
from tests.site_build import CHAPTERS, PAGES, WITH_FIGURES, BuiltSite

MASKED = "–"

READ_FIGURES = """() => [...document.querySelectorAll("figure.matrix[data-key]")].map((figure) => ({
  id: figure.id,
  data: {...figure.dataset},
  cells: [...figure.querySelectorAll("tbody td")].map((cell) => ({
    ...tests.placed(cell),
    value: cell.dataset.value === undefined ? null : Number(cell.dataset.value),
    text: cell.textContent.trim(),
  })),
}))"""

UNREADABLE = """() => {
  const texts = [...document.querySelectorAll("main :is(h1, h2, h3, p, li, td, th, figcaption)")]
    .filter(({textContent}) => textContent.trim() !== "")
    .filter((element) => !element.closest("[hidden], nav, details:not([open]), .route-way"));
  const hidden = texts.filter((element) => !element.checkVisibility({visibilityProperty: true}));
  return {total: texts.length, hidden: hidden.map(({outerHTML}) => outerHTML)};
}"""

READ_VALUES = """() => [...document.querySelectorAll(".value")].map((value) => ({
  address: value.dataset.address,
  stage: value.dataset.stage || "trained",
  problem: value.dataset.problem || "7x8",
  number: Number(value.dataset.value),
}))"""

DIGITS = re.compile(r"\u2212?\d+\.\d+")


def test_the_list_of_pages_is_complete(site: BuiltSite) -> None:
    pages = {path.relative_to(site.folder).as_posix() for path in site.pages}
    assert pages == {*PAGES, *(f"en/{chapter}.html" for chapter in CHAPTERS)}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", PAGES)
def test_a_page_opens_without_errors_requests_or_barriers(
    site: BuiltSite, chromium: Chromium, page: str, scheme: str
) -> None:
    with chromium.visit(site.folder / page, viewport=DESKTOP, color_scheme=scheme) as visit:
        visit.see_all()
        assert visit.barriers() == []
        assert visit.complaints == []
        assert visit.strangers == []
        assert _outside(visit, site.folder) == []


def test_a_barrier_would_be_found(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / "404.html") as visit:
        visit.page.evaluate("document.documentElement.removeAttribute('lang')")
        assert visit.barriers() == [["html-has-lang", ["html"]]]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_fits_a_phone(site: BuiltSite, chromium: Chromium, page: str) -> None:
    with chromium.visit(site.folder / page, viewport=PHONE) as visit:
        visit.see_all()
        assert visit.fits()


@pytest.mark.parametrize("page", WITH_FIGURES)
def test_every_displayed_cell_is_the_snapshots(
    site: BuiltSite, chromium: Chromium, page: str
) -> None:
    with chromium.visit(site.folder / page) as visit:
        figures = ask(visit.page, READ_FIGURES)
        assert figures
        for figure in figures:
            matrix = stored.matrix(site.folder, figure["data"])
            assert figure["cells"], figure["id"]
            for cell in figure["cells"]:
                value = matrix[cell["row"], cell["column"]]
                place = (page, figure["id"], cell["row"], cell["column"])
                if np.isnan(value):
                    assert (cell["value"], cell["text"]) == (None, MASKED), place
                else:
                    assert cell["value"] == value, place
                    decimals = int(figure["data"].get("decimals", 2))
                    assert _shows(cell["text"], value, decimals), place


@pytest.mark.parametrize(
    ("page", "scheme"),
    [*((page, "light") for page in WITH_FIGURES), ("reading-table.html", "dark")],
)
def test_both_faces_of_a_matrix_show_the_same(
    site: BuiltSite, chromium: Chromium, page: str, scheme: str
) -> None:
    with chromium.visit(site.folder / page, viewport=DESKTOP, color_scheme=scheme) as visit:
        figures = visit.page.locator("figure.matrix").all()
        assert figures
        for figure in figures:
            figure.scroll_into_view_if_needed()
            figure.locator(".matrix-live svg").wait_for(state="attached")
            scene.check_faces(figure)


@pytest.mark.parametrize("page", ["index.html", "reading-table.html", "en/index.html"])
def test_every_number_in_the_prose_is_the_snapshots(
    site: BuiltSite, chromium: Chromium, page: str
) -> None:
    with chromium.visit(site.folder / page) as visit:
        values = visit.page.evaluate(READ_VALUES)
        assert values
        for value in values:
            place = value["address"], value["stage"], value["problem"]
            assert value["number"] == stored.number(site.folder, *place), place


@pytest.mark.parametrize("page", PAGES)
def test_a_page_reads_without_javascript(site: BuiltSite, chromium: Chromium, page: str) -> None:
    with chromium.visit(site.folder / page, java_script_enabled=False) as visit:
        source = (site.folder / page).read_text(encoding="utf-8")
        assert visit.page.locator("h1").is_visible()
        tables = visit.page.locator("figure.matrix[data-key] .matrix-table")
        assert all(table.is_visible() for table in tables.all())
        assert tables.count() == len(re.findall(r'<figure class="matrix[^>]* data-key=', source))
        assert not visit.page.locator(".theme-toggle").first.is_visible()


@pytest.mark.parametrize("page", [page for page in PAGES if page != "404.html"])
def test_a_page_reads_fully_before_its_widgets_run(
    site: BuiltSite, chromium: Chromium, page: str
) -> None:
    with chromium.visit(site.folder / page) as visit:
        for script in ("strings.*", "main"):  # asked for, and never answered
            visit.page.route(f"**/{script}.js", lambda _route: None)
        visit.page.reload(wait_until="commit")
        visit.page.locator("footer").wait_for()
        assert visit.page.evaluate("typeof Article") == "undefined"
        found = visit.page.evaluate(UNREADABLE)
        assert found["total"] > 2
        assert found["hidden"] == []


def test_pointing_at_a_result_lights_the_row_and_the_column_it_came_from(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "reading-table.html", viewport=DESKTOP) as visit:
        product = visit.page.locator("figure.product").first
        product.scroll_into_view_if_needed()
        product.locator(f'[data-role="result"] {cell_at(3, 1)}').hover()
        assert _lit(product.locator('[data-role="left"]')) == [(3, column) for column in range(4)]
        assert _lit(product.locator('[data-role="right"]')) == [(row, 1) for row in range(4)]
        assert _lit(product.locator('[data-role="result"]')) == [(3, 1)]
        visit.page.mouse.move(0, 0)
        assert _lit(product) == []


def test_the_keyboard_walks_a_matrix_and_escape_lets_go(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "reading-table.html", viewport=DESKTOP) as visit:
        figure = visit.page.locator('figure.product [data-role="result"]').first
        figure.locator(cell_at(0, 0)).focus()
        visit.page.keyboard.press("ArrowDown")
        visit.page.keyboard.press("ArrowRight")
        expect(figure.locator(cell_at(1, 1))).to_be_focused()
        visit.page.keyboard.press("Enter")
        assert _lit(visit.page.locator('figure.product [data-role="left"]').first)
        visit.page.keyboard.press("Escape")
        assert _lit(visit.page.locator("figure.product").first) == []


def test_switching_language_keeps_the_section_and_the_problem(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "isolated-rows.html", viewport=DESKTOP) as visit:
        visit.page.evaluate("document.getElementById('evidence').scrollIntoView()")
        visit.page.wait_for_function("() => Article.contents.current() === 'evidence'")
        scene.choose(visit.page, problem="4x6")
        visit.page.locator(".language-switch a").first.click()
        visit.page.wait_for_url("**/en/isolated-rows.html#evidence?problem=4x6")
        assert visit.page.locator("html").get_attribute("lang") == "en"
        assert visit.page.locator("#evidence").is_visible()


def test_a_chapter_that_is_not_written_yet_says_so_and_leads_to_the_other_language(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "en" / "reading-table.html") as visit:
        assert "not been written in English yet" in visit.page.locator("main").inner_text()
        visit.page.locator('main a[hreflang="zh"]').first.click()
        visit.page.wait_for_url("**/site/reading-table.html")


def test_the_claims_page_lists_every_claim_with_its_numbers(
    site: BuiltSite, chromium: Chromium
) -> None:
    claims = site.snapshot.document("claims.json")["claims"]
    with chromium.visit(site.folder / "about.html") as visit:
        for claim in claims:
            shown = visit.page.locator(f"#claim-{claim['id']} dd [data-value]").evaluate_all(
                "(cells) => cells.map((cell) => Number(cell.dataset.value))"
            )
            assert shown == list(claim["numbers"].values()), claim["id"]


def test_the_focus_is_seen_on_a_chart_until_it_goes(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / "reading-table.html", viewport=DESKTOP) as visit:
        page, figure = visit.page, visit.page.locator("figure.matrix").first
        figure.scroll_into_view_if_needed()
        figure.locator(".matrix-live svg").wait_for(state="visible")
        marks = figure.locator(".matrix-marks i")
        figure.locator('td[tabindex="0"]').focus()
        page.keyboard.press("ArrowRight")
        expect(marks).to_have_count(1)
        page.keyboard.press("Escape")
        expect(marks).to_have_count(1)
        expect(marks).to_have_css("outline-style", "solid")
        page.keyboard.press("Tab")
        expect(marks).to_have_count(0)


def test_forced_colours_show_the_tables(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / "reading-table.html", viewport=DESKTOP) as visit:
        visit.wait_for_charts()
        visit.page.emulate_media(forced_colors="active")
        assert not visit.page.locator(".matrix-live").first.is_visible()


def test_a_printed_page_shows_its_tables(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / "reading-table.html", viewport=DESKTOP) as visit:
        visit.see_all()
        visit.page.emulate_media(media="print")
        assert visit.page.locator(".matrix-table").first.is_visible()
        assert not visit.page.locator(".matrix-live").first.is_visible()
        assert not visit.page.locator(".chapter-menu").first.is_visible()
        assert visit.page.pdf().startswith(b"%PDF")


@pytest.mark.parametrize("page", [page for page in PAGES if page != "404.html"])
def test_every_number_of_a_page_is_on_the_paper(
    site: BuiltSite, chromium: Chromium, page: str
) -> None:
    with chromium.visit(site.folder / page, viewport=PAPER) as visit:
        visit.page.emulate_media(media="print")
        cut = visit.page.locator("figure :is(td, text, li)").evaluate_all(
            """(all, width) => all.filter((one) => one.getBoundingClientRect().right > width + 1)
              .map((one) => [one.closest("figure").id, one.textContent.trim()])""",
            PAPER["width"],
        )
        assert not cut


def _shows(text: str, value: float, decimals: int) -> bool:
    """Whether a cell's text is the number to so many decimals; a half may go either way."""
    is_zero = not re.search("[1-9]", text)
    if not DIGITS.fullmatch(text) or len(text.split(".")[1]) != decimals:
        return False
    shown = Decimal(text.replace("\u2212", "-"))
    is_near = abs(shown - Decimal(float(value))) <= Decimal(5).scaleb(-decimals - 1)
    return is_near and not (is_zero and "\u2212" in text)


def _lit(scope: Any) -> list[tuple[int, int]]:
    found = scope.locator("tbody td.lit").evaluate_all(
        "(cells) => cells.map((td) => Object.values(tests.placed(td)))"
    )
    return [tuple(place) for place in found]


def _outside(visit: Visit, folder: Path) -> list[str]:
    """Requests for files that do not belong to the site."""
    root = folder.resolve().as_uri()
    return [u for u in visit.requests if u.startswith("file:") and not u.startswith(root)]
