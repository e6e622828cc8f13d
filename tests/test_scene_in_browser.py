"""The page follows the reader's choice of problem, step, layer, head and position, in Chromium."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Page, expect

from builder.numbers.display import (
    MASKED,
    MINUS,
    display,
    display_percent,
    display_power,
    token_label,
)
from model import task
from tests import scene, stored
from tests.browser import (
    DESKTOP,
    Chromium,
    address_of,
    cell_at,
    go_back,
    reload,
    visit_again,
)
from tests.site_build import WITH_FIGURES, BuiltSite

PROBLEMS = ["3x4", "2x3", "0x7", "9x9"]


@pytest.mark.parametrize("page", WITH_FIGURES)
def test_every_cell_and_label_follows_the_problem(
    site: BuiltSite, chromium: Chromium, page: str
) -> None:
    with chromium.visit(site.folder / page) as visit:
        before = scene.figures(visit.page)
        assert before
        for problem in PROBLEMS:
            scene.choose(visit.page, problem=problem)
            for figure, built in zip(scene.figures(visit.page), before, strict=True):
                _check(site, figure, built, problem)
            for number in scene.numbers(visit.page):
                _check_number(site, number, problem)
        scene.choose(visit.page, problem=None)
        assert scene.figures(visit.page) == before
        assert visit.complaints == []


def test_the_next_chapter_shows_what_the_reader_has_chosen(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "scores.html") as visit:
        page = visit.page
        scene.choose(page, problem="4x6", step=60)
        page.locator(".pager .next").click()
        page.wait_for_url("**/values.html#?step=60&problem=4x6")
        expect(page.locator("figure.matrix .matrix-where").first).to_contain_text("第 60 步 · 4×6")
        page.get_by_role("button", name="全部复原").click()
        page.locator(".pager .next").click()
        page.wait_for_url("**/one-line.html")
        assert visit.complaints == []


ASKS_FOR_A_PROBLEM = """document.addEventListener("readystatechange", () => {
  const link = document.querySelector(".pager .next"); // before any script has seen it
  link.setAttribute("href", `${link.getAttribute("href")}#?problem=2x3`);
}, {once: true})"""


@pytest.mark.parametrize(
    ("change", "state"),
    [({}, "problem=2x3"), ({"problem": "4x6", "step": 60}, "step=60&problem=2x3")],
    ids=["as-built", "chosen"],
)
def test_a_link_to_another_page_keeps_what_it_asks_for_itself(
    site: BuiltSite, chromium: Chromium, change: dict[str, Any], state: str
) -> None:
    with chromium.visit(site.folder / "scores.html") as visit:
        page = visit.page
        page.add_init_script(ASKS_FOR_A_PROBLEM)
        reload(page)
        if change:
            scene.choose(page, **change)
        page.locator(".pager .next").click()
        page.wait_for_url(f"**/values.html#?{state}")
        expect(page.locator("figure.matrix .matrix-where").first).to_contain_text("2×3")
        assert visit.complaints == []


def test_the_layer_and_the_head_of_the_figures_are_chosen_beside_the_contents(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "scores.html") as visit:
        page = visit.page
        layer, head = page.locator(".place-chooser select").all()
        assert layer.locator("option").all_inner_texts() == ["文中的", "1", "2"]
        layer.select_option("2")
        head.select_option("1")
        assert "layer=1&head=0" in address_of(page)
        figure = page.locator('figure[data-key="blocks.1.attn.q"][data-head="0"]').first
        expect(figure.locator(".matrix-where")).to_contain_text("第 2 层 · 头 1")
        head.select_option("")
        expect(page.locator('figure[data-key="blocks.1.attn.q"]').first).to_have_attribute(
            "data-head", "1"
        )
        page.get_by_role("button", name="全部复原").click()
        expect(layer).to_have_value("")
        page.goto((site.folder / "about.html").as_uri())
        expect(page.locator(".place-chooser")).to_have_count(0)


def test_the_chooser_leads_to_an_address_that_shows_the_same(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "reading-table.html") as visit:
        page = visit.page
        before = scene.figures(page)
        first, second = page.locator(".problem-chooser select").all()
        second.select_option("8")
        expect(page.locator(".state-bar")).to_contain_text("7×8")
        expect(page.locator(".state-bar")).to_contain_text("7×0")
        assert address_of(page).endswith("#?problem=7x8")
        shown = scene.figures(page)
        assert {figure["data"]["problem"] for figure in shown} == {"7x8"}
        reload(page)
        expect(page.locator(".state-bar")).to_contain_text("7×8")
        assert scene.figures(page) == shown
        assert [first.input_value(), second.input_value()] == ["7", "8"]
        second.select_option("0")
        expect(page.locator(".state-bar")).to_be_hidden()
        assert "problem" not in address_of(page)
        go_back(page)
        expect(page.locator(".state-bar")).to_contain_text("7×8")
        page.keyboard.press("Delete")
        expect(page.locator(".state-bar")).to_be_hidden()
        assert _without_stops(scene.figures(page)) == _without_stops(before)


def test_both_faces_follow(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / "isolated-rows.html", viewport=DESKTOP) as visit:
        for figure in visit.page.locator("figure.matrix").all():
            figure.scroll_into_view_if_needed()
            figure.locator(".matrix-live svg").wait_for(state="visible")
            before = scene.check_faces(figure)
            scene.choose(visit.page, problem="2x3", step=30)
            figure.locator(".matrix-live svg").wait_for(state="visible")
            assert scene.check_faces(figure) != before
            scene.choose(visit.page, problem=None, step=None)


HELD_CHART = """() => {
  const {prototype} = Article.vega.View, {runAsync} = prototype, {dataset} = document.body;
  dataset.drawn = 0;
  prototype.runAsync = async function () {
    await runAsync.call(this);
    if (++dataset.drawn > 1) return;
    await new Promise((resolve) => addEventListener("go on", resolve, {once: true}));
  };
}"""
"""The next chart is drawn, but not put into the page before it may go on."""


def test_numbers_that_change_while_a_chart_is_drawn_are_in_it(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "one-route.html", viewport=DESKTOP) as visit:
        page, figures = visit.page, visit.page.locator("figure.matrix")
        figures.first.scroll_into_view_if_needed()
        figures.first.locator(".matrix-live svg").wait_for(state="visible")
        page.wait_for_timeout(500)  # all that is near is drawn, and what is watched is far away
        last = figures.last
        assert last.locator(".matrix-live").count() == 0
        page.evaluate(HELD_CHART)
        last.scroll_into_view_if_needed()
        page.locator('body[data-drawn="1"]').wait_for()
        scene.choose(page, problem="2x3")
        page.evaluate("dispatchEvent(new Event('go on'))")
        for figure in figures.all()[-3:]:
            figure.locator(".matrix-live svg").wait_for(state="visible")
            scene.check_faces(figure)


def test_a_chart_far_away_does_not_come_back_with_old_numbers(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "one-route.html", viewport=DESKTOP) as visit:
        page, figure = visit.page, visit.page.locator("figure.matrix").nth(3)
        figure.scroll_into_view_if_needed()
        figure.locator(".matrix-live svg").wait_for(state="visible")
        page.evaluate("Article.REST = 60_000")  # it waits to be taken away
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        page.wait_for_timeout(200)
        page.evaluate("Article.state.set({problem: '2x3'})")
        figure.evaluate("(figure) => figure.scrollIntoView()")
        expect(figure).to_have_attribute("data-problem", "2x3")
        assert figure.locator(".matrix-live").count() == 1
        expect(figure.locator(".matrix-live svg")).to_be_hidden()


def test_the_open_cell_its_lights_and_its_line_follow(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / "reading-table.html", viewport=DESKTOP) as visit:
        page = visit.page
        cell = page.locator(f'[data-role="result"] {cell_at(2, 1)}').first
        cell.click()
        expect(page.locator(".cell-panel")).to_be_visible()
        scene.choose(page, problem="4x9")
        expect(page.locator(".cell-indices")).to_have_text("[9, 1]")
        assert "cell=4x9:trained:blocks.0.attn.z[1,2,1]" in address_of(page)
        value = stored.matrix(site.folder, _z("4x9"))[2, 1]
        assert page.locator(".cell-value b").inner_text() == display(value)
        assert cell.get_attribute("aria-label", timeout=1000) is not None
        assert "行 9，列 1" in page.locator("figure.product > .readout").inner_text()
        assert page.locator("td.operand").count() == 6
        go_back(page)
        expect(page.locator(".cell-indices")).to_have_text("[0, 1]")


def test_a_cell_of_another_problem_stays_with_it(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / "isolated-rows.html", viewport=DESKTOP) as visit:
        page = visit.page
        page.locator(f'figure[data-problem="8x7"] {cell_at(3, 0)}').first.click()
        expect(page.locator(".cell-where")).to_contain_text("8×7")
        scene.choose(page, problem="1x1")
        expect(page.locator(".cell-where")).to_contain_text("8×7")


def test_a_cell_closes_where_the_problem_has_no_such_position(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "index.html") as visit:
        page = visit.page
        scene.choose(page, cell="7x8:trained:probs[5,3]", problem="7x8")
        expect(page.locator(".cell-panel")).to_be_visible()
        scene.choose(page, problem="2x3")
        expect(page.locator(".cell-panel")).to_be_hidden()
        assert "cell=" not in address_of(page)


@pytest.mark.parametrize(
    "fragment",
    [
        *("problem=77x8", "problem=constructor", "head=2", "layer=9", "position=6", "source=9"),
        *("edits=nonsense", "__proto__=1", "toString=1", "cell=nonsense", "step=-1", "step=121"),
        *("change=zzz", "prefix=7x8="),
    ],
)
def test_a_state_that_the_model_does_not_have_is_left_out_with_a_note(
    site: BuiltSite, chromium: Chromium, fragment: str
) -> None:
    with chromium.visit(site.folder / "reading-table.html") as visit:
        before = scene.figures(visit.page)
        visit_again(visit.page, f"?{fragment}")
        note = visit.page.locator('.state-bar [data-line="note"]')
        expect(note).to_have_text(f"地址里的 {fragment} 看不懂，没有采用。")
        assert scene.figures(visit.page) == before
        assert address_of(visit.page).endswith("reading-table.html")
        assert visit.complaints == []


def test_a_note_names_every_part_that_was_left_out_and_the_rest_holds(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "values.html") as visit:
        page = visit.page
        visit_again(page, f"?foo=1&layer=5&problem=3x4&edits={EDIT};nonsense;also=1")
        note = page.locator('.state-bar [data-line="note"]')
        told = "foo=1、edits=nonsense、edits=also=1、layer=5"
        expect(note).to_have_text(f"地址里的 {told} 看不懂，没有采用。")
        expect(page.locator('[data-line="state"]')).to_contain_text("图里是3×4、你改过一处的模型。")
        assert address_of(page).endswith(f"#?problem=3x4&edits={EDIT}")


EDIT = "blocks.0.attn.pattern[1,3,2]=0.9"
UNMOVED = "你选的是{}。这一页没有随它变的数。"


@pytest.mark.parametrize(
    ("page", "change", "said", "is_followed"),
    [
        ("limit.html", {"layer": 1}, UNMOVED.format("第 2 层"), False),
        ("gradients.html", {"step": 120}, UNMOVED.format("第 120 步的参数"), False),
        ("gradients.html", {"edits": EDIT}, UNMOVED.format("你改过一处的模型"), False),
        ("ledger.html", {"position": 1}, UNMOVED.format("位置 1（×）"), False),
        ("isolated-rows.html", {"layer": 1, "problem": "2x3"}, "图里是2×3。正文说的是 7×8、", True),
        ("scores.html", {"layer": 1, "position": 1}, "图里是第 2 层。正文说的是 7×0、", True),
    ],
)
def test_the_bar_names_what_the_page_follows(
    site: BuiltSite,
    chromium: Chromium,
    page: str,
    change: dict[str, Any],
    said: str,
    is_followed: bool,
) -> None:
    with chromium.visit(site.folder / page) as visit:
        before = _digits(visit.page)
        scene.choose(visit.page, **change)
        expect(visit.page.locator('.state-bar [data-line="state"]')).to_contain_text(said)
        assert (_digits(visit.page) != before) == is_followed


def test_the_last_step_is_what_the_page_shows_by_itself(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "reading-table.html") as visit:
        before = scene.figures(visit.page)
        scene.choose(visit.page, step=60)
        assert scene.figures(visit.page) != before
        scene.choose(visit.page, step=site.snapshot.manifest["training"]["steps"])
        expect(visit.page.locator(".state-bar")).to_be_hidden()
        assert _without_stops(scene.figures(visit.page)) == _without_stops(before)


@pytest.mark.parametrize(
    "link", [".contents a", ".prose h2 .heading-link"], ids=["contents", "heading"]
)
def test_a_link_within_the_page_changes_the_place_alone(
    site: BuiltSite, chromium: Chromium, link: str
) -> None:
    state = f"?seed=3&problem=3x4&layer=1&edits={EDIT}"
    with chromium.visit(site.folder / "values.html", viewport=DESKTOP) as visit:
        page = visit.page
        visit_again(page, state)
        bar = page.locator('.state-bar [data-line="state"]')
        expect(bar).to_contain_text("3×4、第 2 层")
        said, shown = bar.inner_text(), scene.figures(page)
        last = page.locator(link).last
        place = (last.get_attribute("href") or "").removeprefix("#")
        last.click()
        page.wait_for_url(f"**/values.html#{place}{state}")
        expect(page.locator(f"#{place}")).to_be_in_viewport()
        assert page.locator(f"#{place}").evaluate("(element) => element === document.activeElement")
        assert (bar.inner_text(), scene.figures(page)) == (said, shown)
        expect(page.locator(".contents a[aria-current]")).to_have_count(1)
        go_back(page)
        assert address_of(page).endswith(f"values.html#{state}")
        assert visit.complaints == []


def test_a_link_of_the_ledger_adds_its_head_to_what_is_chosen(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "ledger.html") as visit:
        page = visit.page
        scene.choose(page, problem="2x3", step=60, head=1)
        page.locator('a[href="#boxes?layer=1&head=0"]').click()
        page.wait_for_url("**/ledger.html#boxes?step=60&problem=2x3&layer=1&head=0")
        figure = page.locator('figure[data-stage="trained"][data-key="blocks.1.attn.q"]').first
        expect(figure.locator(".matrix-where")).to_have_text("第 2 层 · 头 1 · 第 60 步 · 2×3")


def test_a_figure_that_fails_says_so_and_the_others_follow(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "reading-table.html") as visit:
        visit.page.evaluate("document.getElementById('fig-1-right').dataset.key = 'no.such'")
        scene.choose(visit.page, problem="1x2")
        left, right, result = scene.figures(visit.page)
        assert left["data"]["problem"] == result["data"]["problem"] == "1x2"
        assert right["data"]["problem"] == "7x0"
        expect(visit.page.locator("#fig-1-right > .figure-failure")).to_contain_text("没有跟上")
        assert visit.page.locator(".figure-failure").count() == 1
        assert visit.complaints == ["uncaught: no tensor is called no.such"]


def test_the_terms_of_a_product_follow_and_add_up(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / "reading-table.html") as visit:
        for problem in PROBLEMS:
            scene.choose(visit.page, problem=problem)
            rows = visit.page.locator(".worked-table tr").all_inner_texts()[1:]
            values = stored.matrix(site.folder, _z(problem))
            terms = [Decimal(row.split()[-1].replace(MINUS, "-")) for row in rows]
            assert sum(terms[:-1]) == terms[-1]
            decimals = -int(terms[-1].as_tuple().exponent)
            assert rows[-1].split()[-1] == display(values[3, 0], decimals)
            assert decimals >= 2
            assert [row.split()[0] for row in rows[:4]] == list(task.BY_NAME[problem].prompt)


WITHOUT_STORAGE = """Object.defineProperty(window, "localStorage", {
  get() { throw new DOMException("blocked", "SecurityError"); },
})"""
WITHOUT_CRYPTO = 'Object.defineProperty(window, "crypto", {value: {}})'


@pytest.mark.parametrize("missing", [WITHOUT_STORAGE, WITHOUT_CRYPTO], ids=["storage", "crypto"])
def test_a_page_works_without(site: BuiltSite, chromium: Chromium, missing: str) -> None:
    with chromium.visit(site.folder / "index.html") as visit:
        page = visit.page
        page.add_init_script(missing)
        reload(page)
        page.locator(".theme-toggle").click()
        assert page.evaluate("document.documentElement.dataset.theme") == "light"
        page.locator(".problem-chooser select").first.select_option("3")
        expect(page.locator(".matrix-where").first).to_contain_text("3×8")
        assert visit.complaints == []


def test_without_scripts_a_page_says_what_is_missing(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / "reading-table.html", java_script_enabled=False) as visit:
        assert "换一道题" in visit.page.locator(".without-scripts").inner_text()
        assert visit.page.locator(".problem-chooser").count() == 0


def test_numbers_that_do_not_load_leave_the_page_as_it_is(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "reading-table.html") as visit:
        before = scene.figures(visit.page)
        visit.page.route("**/run.js", lambda route: route.abort())
        reload(visit.page)
        visit.page.locator(".problem-chooser select").first.select_option("3")
        expect(visit.page.locator('.state-bar [data-line="note"]')).to_contain_text("没有读到")
        assert scene.figures(visit.page) == before
        visit.page.unroute("**/run.js")
        visit.page.locator(".problem-chooser select").first.select_option("4")
        expect(visit.page.locator(".matrix-where").first).to_contain_text("4×0")


def _z(problem: str) -> dict[str, str]:
    return {"key": "blocks.0.attn.z", "stage": "trained", "problem": problem, "head": "1"}


def _check(
    site: BuiltSite, figure: Mapping[str, Any], built: Mapping[str, Any], problem: str
) -> None:
    data, own = figure["data"], built["data"]
    follows = "problem" in own.get("follows", "")
    assert data.get("problem") == (problem if follows else own.get("problem"))
    matrix = stored.matrix(site.folder, data)
    assert figure["cells"]
    for cell in figure["cells"]:
        _check_cell(cell, matrix, int(own.get("decimals", 2)), (figure["id"], problem))
    if not follows:
        assert figure == built
        return
    name = problem.replace("x", "×")
    assert name in figure["where"].split(" · ")
    assert figure["where"] in figure["spoken"]
    if "target" in data:
        answer = task.BY_NAME[problem].tokens[int(data["target"]) + 1]
        assert figure["where"].endswith(token_label(answer))
    before, after = (
        _labels(one, name) for one, name in ((built, own["problem"]), (figure, problem))
    )
    if built["rows"] == before:
        assert figure["rows"] == after
        assert figure["rows"][0] in figure["stop"]


def _labels(figure: Mapping[str, Any], problem: str) -> list[str]:
    """The tokens of the rows, if the rows are those of positions."""
    tokens = [token_label(token) for token in task.BY_NAME[problem].inputs]
    rows = dict.fromkeys(cell["row"] for cell in figure["cells"])
    return [tokens[row] if row < len(tokens) else "" for row in rows]


def _check_cell(
    cell: Mapping[str, Any], matrix: NDArray[np.float64], decimals: int, place: object
) -> None:
    value = matrix[cell["row"], cell["column"]]
    if np.isnan(value):
        assert (cell["value"], cell["text"], cell["name"]) == (None, MASKED, "masked"), place
        return
    assert cell["value"] == value, place
    assert cell["text"] == display(float(value), decimals), place
    sign = "positive" if value > 0 else "negative" if value < 0 else "zero"
    assert sign in cell["name"].split(), place


def _check_number(site: BuiltSite, number: Mapping[str, Any], problem: str) -> None:
    data = number["data"]
    if "problem" not in data.get("follows", ""):
        return
    key, indices = data["cell"].removesuffix("]").split("[")
    *head, row, column = indices.split(",")
    figure = {"key": key, "stage": data["stage"], "problem": problem}
    target = {"target": data["target"]} if "target" in data else {}
    matrix = stored.matrix(site.folder, {**figure, **target, **({"head": head[0]} if head else {})})
    tokens = task.BY_NAME[problem].tokens
    at = task.TOKEN_ID[tokens[int(row) + 1]] if column == "next" else int(column)
    assert float(data["value"]) == matrix[int(row), at]
    form = {"percent": display_percent, "scientific": display_power}
    shown = form.get(data.get("format", ""), display)
    decimals = [int(data["decimals"])] if "decimals" in data else []
    assert number["text"] == shown(float(matrix[int(row), at]), *decimals)


def _without_stops(figures: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**figure, "stop": ""} for figure in figures]


def _digits(page: Page) -> list[str]:
    """Every number of the page but those that are written when there is time, and the problems."""
    shown = "main :is([data-value], .problem-part):not(.one-step *)"
    return page.locator(shown).all_text_contents()
