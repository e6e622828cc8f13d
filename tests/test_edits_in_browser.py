"""What a reader overwrites, in Chromium: what follows from it, how it is marked and taken back."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Page, expect

from builder.numbers.display import MINUS, display
from model import task
from model.encoding import rounded
from tests import patched, reference, scene
from tests.browser import (
    DESKTOP,
    PHONE,
    Chromium,
    address_of,
    ask,
    cell_at,
    go_back,
    in_every_look,
    reload,
    visit_again,
    wait_for_view,
)
from tests.site_build import BuiltSite
from tests.test_engine import in_shape

A_CELL = f'[data-role="left"] {cell_at(3, 2)}'
VALUES = """(problem) => {
  const {values} = Article.passes.at({problem, stage: "trained"}).model;
  const written = (value) => Number.isFinite(value) ? value : String(value);
  return Object.fromEntries(
    Object.entries(values).map(([key, array]) => [key, [...array].map(written)]));
}"""
MARKED = """(cells) => cells.map((td) =>
  [td.closest("figure").dataset.role, ...Object.values(tests.placed(td))].join(" "))"""

READ_WORKED = """(tables) => tables.map(({tBodies: [body], tFoot: {rows: [foot]}}) =>
  [...body.rows, foot].map((tr) => [...tr.querySelectorAll("td[data-value]")].map((td) =>
    [td.textContent, td.matches(".edited")])))"""
ADDED = {
    "dot": [-1],
    "softmax": [-2, -1],
    "mixture": [-4, -3, -2, -1],
    "softmax_gradient": [-3, -1],
}
"""In the lines of each calculation, the numbers that its last line adds up."""


@pytest.mark.parametrize("problem", ["7x8", "2x3"])
def test_every_tensor_can_be_overwritten_and_all_that_follows_is_as_numpy_has_it(
    site: BuiltSite, chromium: Chromium, problem: str
) -> None:
    vocabulary = site.snapshot.vocabulary
    with chromium.visit(site.folder / "reading-table.html") as visit:
        for key, spec in vocabulary.items():
            shape = spec.shape(vocabulary.config, 5)
            index = tuple(min(i, size - 1) for i, size in zip((1, 3, 2), shape, strict=False))
            index = index if len(shape) == 3 else tuple(min(3, size - 1) for size in shape)
            address = f"{key}[{','.join(map(str, index))}]"
            scene.choose(visit.page, problem=problem, edits=f"{address}=0.375")
            found = ask(visit.page, VALUES, problem)
            _assert_same(site, found, problem, {key: {index: 0.375}})
        assert visit.complaints == []


def test_a_row_of_a_is_overwritten_as_a_whole(site: BuiltSite, chromium: Chromium) -> None:
    shares = [0.5, 0.0, 0.25, 1.5]
    edits = f"blocks.0.attn.pattern[1,3]={','.join(map(str, shares))}"
    with chromium.visit(site.folder / "reading-table.html") as visit:
        for problem in ("7x0", "9x9"):
            scene.choose(visit.page, problem=problem, edits=edits)
            found = ask(visit.page, VALUES, problem)
            cells = {(1, 3, column): share for column, share in enumerate(shares)}
            _assert_same(site, found, problem, {"blocks.0.attn.pattern": cells})


def test_an_edit_is_typed_marked_said_linked_and_taken_back(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "reading-table.html", viewport=DESKTOP) as visit:
        page = visit.page
        before = scene.figures(page)
        _unfold(page)
        _type(page, f"{MINUS}0.25")
        expect(page.locator(".state-bar")).to_contain_text("改过一处")
        edits = {"blocks.0.attn.pattern": {(1, 3, 2): -0.25}}
        _assert_shown(page, site, edits)
        assert page.locator("td.edited").evaluate_all(MARKED) == ["left 3 2"]
        changed = page.locator("td.changed").evaluate_all(MARKED)
        assert changed == [f"result 3 {column}" for column in range(4)]
        assert "改动后" in page.locator(".matrix-where").first.inner_text()
        expect(page.locator(".cell-sentence").first).to_contain_text("你写的")
        assert page.locator(".cell-terms").count() == 0
        _assert_before_and_after(page, site, edits)
        shown = scene.figures(page)
        reload(page)
        expect(page.locator("td.edited")).to_have_count(1)
        assert [_texts(f) for f in scene.figures(page)] == [_texts(f) for f in shown]
        page.locator("body").press("Backspace")
        expect(page.locator("td.edited, td.changed")).to_have_count(0)
        expect(page.locator(".state-bar")).to_be_hidden()
        assert [f["where"] for f in scene.figures(page)] == [f["where"] for f in before]
        assert "edits" not in address_of(page)
        go_back(page)
        expect(page.locator("td.edited")).to_have_count(1)
        assert visit.complaints == []


def test_edits_are_undone_one_by_one_by_key_and_button(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / "reading-table.html", viewport=DESKTOP) as visit:
        page = visit.page
        scene.choose(
            page, edits="blocks.0.attn.pattern[1,3,2]=0.1;embed.W_E[7,0]=2;ln_final.b[0]=1"
        )
        expect(page.locator(".state-bar")).to_contain_text("3 处")
        page.locator("body").press("Control+z")
        expect(page.locator(".state-bar")).to_contain_text("2 处")
        page.get_by_role("button", name="撤销一处").click()
        expect(page.locator(".state-bar")).to_contain_text("改过一处")
        assert address_of(page).endswith("edits=blocks.0.attn.pattern[1,3,2]=0.1")
        page.locator("td.edited").click()  # what overwrites it is unfolded
        field = page.locator('.cell-edit [name="value"]')
        field.press("End")
        field.press("Backspace")  # the field's own
        expect(field).to_have_value("0.")
        expect(page.locator("td.edited")).to_have_count(1)


@pytest.mark.parametrize(
    ("page", "field"),
    [
        ("values", ".site-header select >> nth=0"),
        ("values", '.route [type="radio"] >> nth=0'),
        ("index", "[data-follow]"),
    ],
)
def test_keys_restore_where_nothing_is_typed(
    site: BuiltSite, chromium: Chromium, page: str, field: str
) -> None:
    with chromium.visit(site.folder / f"{page}.html", viewport=DESKTOP) as visit:
        scene.choose(visit.page, edits="embed.W_E[7,0]=2;embed.W_E[8,0]=2;ln_final.b[0]=1")
        bar = visit.page.locator(".state-bar")
        for key, left in (("Control+z", "2 处"), ("Backspace", "一处"), ("Delete", None)):
            visit.page.locator(field).press(key)
            expect(bar).to_contain_text(left) if left else expect(bar).to_be_hidden()


def test_a_number_overwritten_twice_is_taken_back_twice_even_from_its_field(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "reading-table.html", viewport=DESKTOP) as visit:
        page = visit.page
        _unfold(page)
        field = page.locator('.cell-edit [name="value"]')
        own = field.input_value()
        for share in (0.3, 0.6):
            _type(page, str(share))
            _assert_shown(page, site, {"blocks.0.attn.pattern": {(1, 3, 2): share}})
        expect(page.locator(".state-bar")).to_contain_text("改过一处")
        expect(field).to_be_focused()
        field.press("Control+z")
        expect(field).to_have_value("0.3")
        _assert_shown(page, site, {"blocks.0.attn.pattern": {(1, 3, 2): 0.3}})
        field.press("9")
        field.press("Control+z")  # the field's own, for what is only typed
        expect(field).to_have_value("0.3")
        expect(page.locator("td.edited")).to_have_count(1)
        field.press("Control+z")
        expect(page.locator("td.edited")).to_have_count(0)
        expect(field).to_have_value(own)


def test_a_walk_by_arrow_keys_is_taken_back_in_one_step(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "reading-table.html", viewport=DESKTOP) as visit:
        page = visit.page
        _unfold(page)
        field = page.locator('.cell-edit [name="value"]')
        own = float(field.input_value())
        for _ in range(3):
            field.press("ArrowUp")
        expect(field).to_have_value(f"{own + 0.3:.7g}")
        expect(page.locator("td.edited")).to_have_count(1)
        field.press("Control+z")
        expect(page.locator("td.edited")).to_have_count(0)


def test_a_link_to_an_overwritten_cell_unfolds_what_overwrites_it(
    site: BuiltSite, chromium: Chromium
) -> None:
    cell = "blocks.0.attn.pattern[1,3,2]"
    with chromium.visit(site.folder / "reading-table.html", viewport=DESKTOP) as visit:
        visit.page.goto(f"{address_of(visit.page)}#?cell=7x8:trained:{cell}&edits={cell}=0.25")
        reload(visit.page)
        expect(visit.page.locator('.cell-edit[open] [name="value"]')).to_have_value("0.25")
        expect(visit.page.locator(".cell-edit-p table")).to_be_visible()


def test_a_slider_draws_and_one_step_back_undoes_the_pull(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "reading-table.html", viewport=DESKTOP) as visit:
        page = visit.page
        _unfold(page)
        slider = page.locator('.cell-edit [name="slider"]')
        slider.focus()
        for share in ("0.3", "0.6"):
            slider.evaluate(
                "(s, v) => {s.value = v; s.dispatchEvent(new Event('input', {bubbles: true}));}",
                share,
            )
            _assert_shown(page, site, {"blocks.0.attn.pattern": {(1, 3, 2): float(share)}})
            assert page.evaluate("document.activeElement.name") == "slider"
        go_back(page)
        expect(page.locator("td.edited")).to_have_count(0)


@pytest.mark.parametrize("page", ["reading-table.html"])
def test_a_row_is_made_uniform_or_taken_from_another_problem(
    site: BuiltSite, chromium: Chromium, page: str
) -> None:
    key = "blocks.0.attn.pattern"
    with chromium.visit(site.folder / page, viewport=DESKTOP) as visit:
        panel = visit.page.locator(".cell-edit")
        _unfold(visit.page)
        panel.get_by_role("button", name="平均").click()
        edits: Any = {key: {(1, 3, column): 0.25 for column in range(4)}}
        _assert_shown(visit.page, site, edits)
        expect(panel.locator(".cell-edit-sum")).to_contain_text("1.0000")
        for select, digit in zip(panel.locator("select").all(), "49", strict=True):
            select.select_option(digit)
        panel.get_by_role("button", name="整行").click()
        row = site.snapshot.trace("trained", "4x9").values[key][1, 3, :4]
        edits = {key: {(1, 3, column): float(share) for column, share in enumerate(row)}}
        _assert_shown(visit.page, site, edits)
        panel.locator('[name="row"]').fill("1 0 0")
        visit.page.keyboard.press("Enter")
        expect(panel.locator("[role=alert]")).to_contain_text("4 个数，这里是 3 个")
        panel.locator('[name="row"]').fill("1 0 0 0.5")
        visit.page.keyboard.press("Enter")
        edits = {key: {(1, 3, c): x for c, x in enumerate([1.0, 0.0, 0.0, 0.5])}}
        _assert_shown(visit.page, site, edits)
        expect(panel.locator(".cell-edit-sum")).to_contain_text("1.5000")


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        ("much", "不是一个数"),
        ("", "不是一个数"),
        ("1,5", "不是一个数"),
        ("0x10", "不是一个数"),
        ("3²", "不是一个数"),
        ("+1e7", "太大"),
        ("Infinity", "太大"),
        ("1e999", "太大"),
        ("-1000001", "太大"),
        ("NaN", "不是一个数"),
    ],
)
def test_an_edit_that_cannot_be_is_refused_in_place(
    site: BuiltSite, chromium: Chromium, typed: str, reason: str
) -> None:
    with chromium.visit(site.folder / "reading-table.html", viewport=DESKTOP) as visit:
        _unfold(visit.page)
        _type(visit.page, typed)
        expect(visit.page.locator(".cell-edit [role=alert]")).to_contain_text(reason)
        assert "edits" not in address_of(visit.page)
        _type(visit.page, "0.5")
        expect(visit.page.locator(".cell-edit [role=alert]")).to_be_empty()
        expect(visit.page.locator("td.edited")).to_have_count(1)


def test_a_number_is_understood_as_an_input_method_types_it(
    site: BuiltSite, chromium: Chromium
) -> None:
    typed = {"+2": 2.0, "３": 3.0, "－3": -3.0, "0。5": 0.5, "＋１．５": 1.5, "1e3": 1000.0}
    with chromium.visit(site.folder / "reading-table.html", viewport=DESKTOP) as visit:
        _unfold(visit.page)
        for text, value in typed.items():
            _type(visit.page, text)
            expect(visit.page.locator("td.edited")).to_have_text(display(value))
            expect(visit.page.locator(".cell-edit [role=alert]")).to_be_empty()
        visit.page.locator('[name="row"]').fill("０．１，。2 0.3；0.4")
        visit.page.keyboard.press("Enter")
        expect(visit.page.locator("td.edited")).to_have_text(["0.10", "0.20", "0.30", "0.40"])


def test_on_a_phone_what_an_edit_leads_to_is_in_view(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / "reading-table.html", viewport=PHONE) as visit:
        _unfold(visit.page)
        _type(visit.page, "5")
        expect(visit.page.locator(".state-bar")).to_be_visible()
        expect(visit.page.locator("td.edited")).to_have_text("5.00")
        shown = visit.page.locator('.cell-edit [name="value"], .cell-edit-p :is(caption, th, td)')
        for part in shown.all():
            wait_for_view(part)
        tops = visit.page.locator(".state-bar :is(button, p:not(:empty))").evaluate_all(
            "(all) => all.map((one) => (one.getBoundingClientRect().top + "
            "one.getBoundingClientRect().bottom) / 2)"
        )
        assert max(tops) - min(tops) < 2


@pytest.mark.parametrize(
    "edits",
    [
        "blocks.0.attn.pattern[1,3,2]=much",
        "blocks.0.attn.pattern[1,3,2]=1e7",
        "blocks.0.attn.pattern[1,3,2]",
        "blocks.0.attn.pattern[1,2,3]=0.5",  # masked
        "blocks.0.attn.pattern[1,3]=0.5,0.5",
        "blocks.0.attn.pattern[2,3,2]=0.5",
        "blocks.0.attn.q[1,3]=1,2,3,4",
        "blocks.9.attn.q[1,3,0]=1",
        "constructor[0]=1",
        "probs[9,0]=1",
        "embed.W_E[14,0]=1",
        "blocks.0.ln1.scale[0]=0",  # divides
        "blocks.0.attn.W_QK[1,0,0]=1",  # nothing reads the product
        "probs[3,0]=1;" * 400,
    ],
)
def test_edits_of_a_link_that_mean_nothing_are_left_out_with_a_note(
    site: BuiltSite, chromium: Chromium, edits: str
) -> None:
    with chromium.visit(site.folder / "reading-table.html") as visit:
        before = scene.figures(visit.page)
        visit_again(visit.page, f"?edits={edits}")
        expect(visit.page.locator('.state-bar [data-line="note"]')).to_contain_text("看不懂")
        assert scene.figures(visit.page) == before
        assert visit.complaints == []


def test_only_what_the_pass_reads_can_be_overwritten(site: BuiltSite, chromium: Chromium) -> None:
    free = "7x8:trained:blocks.0.attn.W_Q[0,4]"
    others = [
        "7x8:trained:blocks.0.attn.W_QK[1,0,0]",
        "7x8:trained:blocks.0.attn.pattern[1,2,3]",
        "7x8:initial:blocks.0.attn.W_Q[0,4]",
        "7x8:trained:blocks.0.attn.W_Q[0,4]@3",
    ]
    with chromium.visit(site.folder / "one-line.html", viewport=DESKTOP) as visit:
        for cell in (free, *others):
            visit.page.evaluate("(cell) => Article.state.set({cell})", cell)
            expect(visit.page.locator(".cell-panel .cell-title")).to_be_visible()
            expect(visit.page.locator(".cell-edit")).to_have_count(int(cell == free))
            visit.page.evaluate("Article.state.set({cell: null})")
            expect(visit.page.locator(".cell-panel")).to_be_hidden()


def test_weights_can_be_edited_and_go_back_to_what_they_were_before_training(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "index.html", viewport=DESKTOP) as visit:
        page = visit.page
        cell = "7x8:trained:unembed.W_U[2,5]"
        scene.choose(page, problem="7x9", cell=cell)
        page.locator(".cell-edit summary").click()
        page.get_by_role("button", name="换成训练前的").click()
        initial = float(site.snapshot.weights("initial")["unembed.W_U"][2, 5])
        edits = {"unembed.W_U": {(2, 5): initial}}
        expect(page.locator(".state-bar")).to_contain_text("改过一处")
        found = ask(page, VALUES, "7x9")
        _assert_same(site, found, "7x9", edits)


@in_every_look
def test_the_unfolded_part_has_no_barriers_and_fits(
    site: BuiltSite, chromium: Chromium, viewport: dict[str, int], scheme: str
) -> None:
    options: Any = {"viewport": viewport, "color_scheme": scheme}
    with chromium.visit(site.folder / "reading-table.html", **options) as visit:
        _unfold(visit.page)
        _type(visit.page, "much")
        _type(visit.page, "0.5")
        _type(visit.page, "x")
        assert visit.barriers() == []
        assert visit.fits()
        body = visit.page.locator(".cell-body")
        assert body.evaluate("(part) => part.scrollWidth <= part.clientWidth")


def _texts(figure: dict[str, Any]) -> list[tuple[float, str]]:
    return [(cell["value"], cell["text"]) for cell in figure["cells"]]


def _unfold(page: Page) -> None:
    page.locator(A_CELL).first.click()
    page.locator(".cell-edit summary").click()
    page.locator(".cell-edit form").first.wait_for()


def _type(page: Page, text: str) -> None:
    page.locator('.cell-edit [name="value"]').fill(text)
    page.keyboard.press("Enter")


def _forward(site: BuiltSite, problem: str, edits: patched.Edits) -> dict[str, NDArray[np.float64]]:
    weights = {k: w.astype(np.float64) for k, w in site.snapshot.weights("trained").items()}
    ids = [task.TOKEN_ID[token] for token in task.BY_NAME[problem].inputs]
    config = site.snapshot.config
    return patched.forward(weights, ids, config.n_layers, config.n_heads, edits)


def _assert_same(
    site: BuiltSite, found: dict[str, list[float | str]], problem: str, edits: patched.Edits
) -> None:
    vocabulary = site.snapshot.vocabulary
    for key, value in _forward(site, problem, edits).items():
        n_pos = len(task.BY_NAME[problem].inputs)
        mine = in_shape(vocabulary[key], np.array(found[key], np.float64), n_pos, vocabulary)
        value = np.where(np.isinf(value), np.nan, value)
        np.testing.assert_allclose(mine, value, rtol=1e-9, atol=1e-12, err_msg=f"{edits}: {key}")


def _assert_shown(page: Page, site: BuiltSite, edits: patched.Edits) -> None:
    """The product on the page about A x V of 7 x 0, second head."""
    values = _forward(site, "7x0", edits)
    expected = {
        role: rounded(values[f"blocks.0.attn.{name}"][1])[:4, :4]
        for role, name in (("left", "pattern"), ("right", "v"), ("result", "z"))
    }
    for role, matrix in expected.items():
        texts = [display(float(value)) for row in matrix for value in row]
        cells = page.locator(f'figure.product [data-role="{role}"] tbody td')
        expect(cells).to_have_text(texts)


def _assert_before_and_after(page: Page, site: BuiltSite, edits: patched.Edits) -> None:
    passes = [_forward(site, "7x0", changes)["probs"][3] for changes in ({}, edits)]
    rows = page.locator(".cell-edit-p tbody tr").all()
    seen = {row.locator("th").inner_text(): row.locator("td").all_inner_texts() for row in rows}
    for token, shares in seen.items():
        if token in task.VOCAB:
            at = task.TOKEN_ID[token]
            assert shares == [display(float(probs[at]), 3) for probs in passes], token
    tops = [task.VOCAB[int(np.argmax(probs))] for probs in passes]
    assert set(tops) <= {re.sub("[⟨⟩]", "", token) for token in seen} | {"<end>"}


def test_without_edits_the_patched_network_is_the_reference(site: BuiltSite) -> None:
    weights = {k: w.astype(np.float64) for k, w in site.snapshot.weights("trained").items()}
    ids = [task.TOKEN_ID[token] for token in task.BY_NAME["7x8"].inputs]
    expected = reference.forward(weights, ids, 2, 2)
    for key, value in _forward(site, "7x8", {}).items():
        np.testing.assert_allclose(value, expected[key], rtol=1e-12, atol=1e-14, err_msg=key)


@pytest.mark.parametrize(
    ("page", "kind", "edit", "expected"),
    [
        ("scores.html", "dot", "blocks.0.attn.attn_scores[1,3,1]=20", ["20.0000 (你改的)"]),
        ("scores.html", "softmax", "blocks.0.attn.pattern[1,3,0]=0.5", ["0.5000 (你改的)"]),
        ("values.html", "mixture", "blocks.0.attn.z[1,3,2]=5", ["5.000 (你改的)"]),
        ("gradients.html", "softmax_gradient", "blocks.0.attn.pattern[1,3,0]=0.9", []),
    ],
)
def test_what_the_reader_puts_into_a_calculation_is_marked_and_sums_stay_true(
    site: BuiltSite, chromium: Chromium, page: str, kind: str, edit: str, expected: list[str]
) -> None:
    with chromium.visit(site.folder / page, viewport=DESKTOP) as visit:
        scene.choose(visit.page, edits=edit)
        tables = visit.page.locator(f'figure[data-kind="{kind}"] .worked-table')
        assert tables.locator("td.edited").all_inner_texts() == expected
        for *lines, sums in tables.evaluate_all(READ_WORKED):
            for (total, is_told), column in zip(sums, ADDED[kind], strict=True):
                terms = [_decimal(line[column][0]) for line in lines]
                assert is_told or sum(terms) == _decimal(total), (total, terms)
        assert visit.complaints == []


def _decimal(text: str) -> Decimal:
    """Read a number that is shown; one that is only nearly the sum is not one."""
    return Decimal(text.split(" ")[0].replace(MINUS, "-"))


def test_undoing_by_key_keeps_the_focus_in_the_panel(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / "scores.html", viewport=DESKTOP) as visit:
        page = visit.page
        cell = "7x0:trained:blocks.0.attn.q[1,3,0]"
        scene.choose(page, edits="blocks.0.attn.W_Q[0,4]=1;blocks.0.attn.W_Q[0,5]=1", cell=cell)
        expect(page.locator(".cell-where")).to_contain_text("改动后")
        operand = page.locator(".cell-terms a").nth(1)
        operand.focus()
        page.keyboard.press("Backspace")
        expect(page.locator(".state-bar")).to_contain_text("一处")
        expect(operand).to_be_focused()
        page.keyboard.press("Backspace")
        expect(page.locator(".cell-where")).not_to_contain_text("改动后")
        expect(operand).to_be_focused()


def test_a_page_that_moves_under_a_resting_pointer_keeps_what_is_shown(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "scores.html", viewport=DESKTOP) as visit:
        page = visit.page
        figure = page.locator("figure.matrix").first
        cell = figure.locator(cell_at(1, 2))
        cell.scroll_into_view_if_needed()
        before = cell.bounding_box()
        cell.click()
        expect(page.locator(".cell-panel")).to_be_visible()
        page.wait_for_function("() => document.getAnimations().length === 0")
        after = cell.bounding_box()
        assert before and after and before["x"] != after["x"]  # the page has moved aside
        expect(figure.locator("td.open")).to_have_count(1)
        expect(cell).to_have_class(re.compile(r"\bopen\b"))
        page.mouse.move(after["x"] + 1.5 * after["width"], after["y"] + after["height"] / 2)
        expect(figure.locator(cell_at(1, 3))).to_have_class(re.compile(r"\bopen\b"))
