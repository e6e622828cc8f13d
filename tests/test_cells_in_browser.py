"""A cell opened in Chromium: what the panel shows adds up, and leads from P back to TokenEmb."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from builder.claims.result import ClaimResult
from builder.numbers.display import MINUS, display
from builder.numbers.lookup import Numbers
from model.encoding import rounded
from model.trace import activations
from tests import independent, scene
from tests.browser import (
    DESKTOP,
    PHONE,
    Chromium,
    address_of,
    cell_at,
    go_back,
    in_every_look,
    visit_again,
    wait_for_view,
)
from tests.site_build import BuiltSite

PROBLEM = "7x8"
EPS = Decimal("0.00001")

BLOCK_BACKWARDS = """resid_post mlp_out mlp.post mlp.pre ln2.out ln2.normalized resid_mid attn_out
    attn.result attn.z attn.pattern attn.attn_scores attn.q ln1.out ln1.normalized resid_pre"""
PATH = [
    *("logits", "ln_final.out", "ln_final.normalized"),
    *(f"blocks.{layer}.{name}" for layer in (1, 0) for name in BLOCK_BACKWARDS.split()),
    *("embed", "embed.W_E"),
]

READ = """() => {
  const panel = document.querySelector(".cell-panel:not(.is-closed)");
  if (!panel) return null;
  const text = (node) => node ? node.innerText.trim() : null;
  const last = (row) => text(row.cells[row.cells.length - 1]);
  const table = panel.querySelector(".cell-terms");
  return {
    address: Article.state.get().cell,
    value: text(panel.querySelector(".cell-value b")),
    full: text(panel.querySelector(".cell-value span")),
    operation: table?.dataset.operation ?? null,
    sentence: text(panel.querySelector(".cell-sentence")),
    lines: [...table?.tBodies[0].rows ?? []].map((row) => ({
      numbers: [...row.querySelectorAll("td")].map(text).filter((t) => /[0-9]/.test(t)),
      isOwn: row.classList.contains("cell-own"),
    })),
    operands: [...table?.querySelectorAll("[data-cell]") ?? []]
      .map((button) => [button.dataset.cell, text(button)]),
    steps: Object.fromEntries([...table?.querySelectorAll("[data-step]") ?? []]
      .map((row) => [row.dataset.step, last(row)])),
    result: table ? last([...table.tFoot.rows].at(-1)) : null,
  };
}"""

OPEN = """async (cell) => {
  await Article.data.run();
  Article.state.set({cell});
  await new Promise(requestAnimationFrame);
}"""


@pytest.mark.parametrize("stage", ["initial", "trained"])
def test_a_cell_of_every_tensor_layer_and_head_adds_up(
    site: BuiltSite, chromium: Chromium, stage: str
) -> None:
    numbers = _numbers(site)
    with chromium.visit(site.folder / "about.html") as visit:
        for address in _addresses(site):
            panel = _open(visit.page, f"{PROBLEM}:{stage}:{address}")
            _check(panel, numbers)
        assert visit.complaints == []


@pytest.mark.parametrize("page", ["index.html", "en/index.html"])
def test_the_walk_leads_from_p_to_the_table_of_tokens(
    site: BuiltSite, chromium: Chromium, page: str
) -> None:
    numbers = _numbers(site)
    with chromium.visit(site.folder / page, viewport=DESKTOP) as visit:
        visit.page.locator(f'figure[data-key="probs"] {cell_at(3, 5)}').click()
        _check(_read(visit.page), numbers)
        for key in PATH:
            visit.page.locator(f'.cell-terms [data-cell*=":{key}["]').first.click()
            panel = _read(visit.page)
            assert f":{key}[" in panel["address"]
            _check(panel, numbers)
        assert panel["operation"] is None  # a weight
        for key in reversed(PATH[:-1]):
            visit.page.locator('.cell-panel [data-command="back"]').click()
            assert f":{key}[" in _read(visit.page)["address"]
        visit.page.locator('.cell-panel [data-command="forward"]').click()
        assert f":{PATH[1]}[" in _read(visit.page)["address"]
        assert visit.complaints == []


def test_the_unrounded_numbers_add_up_to_all_seven_digits(
    site: BuiltSite, chromium: Chromium
) -> None:
    numbers = _numbers(site)
    with chromium.visit(site.folder / "about.html") as visit:
        _open(visit.page, f"{PROBLEM}:trained:logits[3,5]")
        visit.page.locator(".cell-unrounded").click()
        for address in _addresses(site):
            panel = _open(visit.page, f"{PROBLEM}:trained:{address}")
            if panel["operation"] is None:
                continue
            _check(panel, numbers, unrounded=True)


@pytest.mark.parametrize("position", [3, 5])
def test_a_gradient_of_every_tensor_layer_and_head_adds_up(
    site: BuiltSite, chromium: Chromium, position: int
) -> None:
    numbers = _numbers(site)
    vocabulary = site.snapshot.vocabulary
    grads = {t.position: t for t in site.snapshot.gradients("trained", PROBLEM)}[position].grads
    with chromium.visit(site.folder / "about.html") as visit:
        for address in _addresses(site):
            key, _, rest = address.rstrip("]").partition("[")
            if not vocabulary[key].has_gradient:
                continue
            panel = _open(visit.page, f"{PROBLEM}:trained:{address}@{position}")
            index = tuple(map(int, rest.split(",")))
            stored = float(grads[key][index]) if key in grads else None
            _check(panel, numbers, stored)
            _check_measured(visit.page.locator(".cell-measured"), panel)
        assert visit.complaints == []


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        ("blocks.0.attn.attn_scores[1,1,2]@3", "量出来：0，算出来：0。一点没动。"),
        ("logits[1,3]@3", "量出来：0，算出来：0。一点没动。"),
        ("embed.W_E[3,1]@3", "量出来：0，算出来：0。一点没动。"),
        ("pos_embed.W_pos[9,1]@3", "量出来：0，算出来：0。一点没动。"),
        ("blocks.0.attn.pattern[1,1,2]@3", "位相同。"),
    ],
)
def test_a_gradient_that_is_masked_or_not_asked_is_measured_too(
    site: BuiltSite, chromium: Chromium, cell: str, sentence: str
) -> None:
    with chromium.visit(site.folder / "about.html") as visit:
        _open(visit.page, f"{PROBLEM}:trained:{cell}")
        expect(visit.page.locator(".cell-measured")).to_contain_text(sentence)


def test_the_measurement_follows_the_weights_in_use(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / "index.html") as visit:
        cell = f"{PROBLEM}:trained:blocks.0.attn.q[1,3,2]@3"
        _open(visit.page, cell)
        line = visit.page.locator(".cell-measured")
        expect(line).to_contain_text("位相同")
        before = line.inner_text()
        scene.choose(visit.page, step=60)
        expect(line).not_to_have_text(before)
        expect(line).to_contain_text("位相同")
        _, gradients = independent.backward(site.folder, "step-0060", PROBLEM, 3)
        _check_line(line.inner_text(), gradients["blocks.0.attn.q"][1, 3, 2])
        assert visit.complaints == []


def _check_measured(line: Locator, panel: dict[str, Any]) -> None:
    expect(line).to_contain_text("。")
    _check_line(line.inner_text(), float(_decimal(panel["full"] or panel["value"])))


def _check_line(text: str, gradient: float) -> None:
    """Both numbers of the line, and how many of their digits it says agree."""
    found = re.findall(rf"：({MINUS}?[\d.]+)(?:×10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?", text)
    powers = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    measured, computed = (
        float(_decimal(mantissa)) * 10.0 ** int(power.translate(powers) or 0)
        for mantissa, power in found
    )
    assert math.isclose(computed, gradient, rel_tol=1e-6)
    if "ReLU" in text:
        return
    assert math.isclose(measured, gradient, rel_tol=1e-5, abs_tol=2e-9)
    digits = re.search(r"前 (\d) 位", text)
    if digits is None:
        assert measured == computed == 0
    elif int(digits[1]):
        assert f"{measured:.{int(digits[1]) - 1}e}" == f"{computed:.{int(digits[1]) - 1}e}"


@pytest.mark.parametrize("page", ["index.html", "en/index.html"])
def test_the_walk_leads_from_the_loss_back_to_w_q(
    site: BuiltSite, chromium: Chromium, page: str
) -> None:
    with chromium.visit(site.folder / page, viewport=DESKTOP) as visit:
        _open(visit.page, f"{PROBLEM}:trained:blocks.0.attn.W_Q[2,5]")
        visit.page.locator(".cell-gradient .cell-toggle").click()
        names = "attn.q attn.attn_scores attn.pattern attn.z attn.result attn_out resid_mid"
        late = "resid_post resid_pre resid_mid resid_post ln_final.normalized ln_final.out logits"
        for name in [*names.split(), *late.split()]:
            operand = f".cell-terms [data-cell*='.{name}['][data-cell*='@']"
            if name.startswith(("logits", "ln_final")):
                operand = operand.replace("'.", "':")
            visit.page.locator(operand).last.click()  # of a sum over positions, that of `=`
            assert f"{name}[" in _read(visit.page)["address"]
        panel = _read(visit.page)
        assert panel["operation"] == "error"
        assert visit.page.locator(".cell-gradient select").input_value() == panel["address"]


MARKS = """() => {
  const box = (element) => {
    const {x, y, width, height} = element.getBoundingClientRect();
    return [x, y, width, height].map(Math.round).join(" ");
  };
  const kind = ({classList}) => ["opened", "operand"].find((name) => classList.contains(name));
  const marked = (selector) => [...document.querySelectorAll(`figure.product ${selector}`)]
    .filter(kind).map((one) => `${kind(one)} ${box(one)}`).sort();
  const lines = (selector) => [...document.querySelectorAll(`figure.product ${selector}`)]
    .filter(kind).map((one) => getComputedStyle(one).outlineStyle);
  return {cells: marked("td"), marks: marked(".matrix-marks i"),
    cellLines: [...new Set(lines("td"))], markLines: [...new Set(lines(".matrix-marks i"))].sort()};
}"""


def test_marks_lie_on_their_cells_whichever_face_is_seen(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "reading-table.html", viewport=DESKTOP) as visit:
        figures = visit.page.locator("figure.product figure.matrix")
        for figure in figures.all():
            figure.scroll_into_view_if_needed()
            figure.locator(".matrix-live svg").wait_for(state="visible")
        visit.page.locator(f'[data-role="result"] {cell_at(3, 1)}').first.click()
        expect(visit.page.locator("figure.product td.opened")).to_have_count(1)
        visit.page.evaluate("Promise.all(document.getAnimations().map(({finished}) => finished))")
        seen = visit.page.evaluate(MARKS)
        assert len(seen["cells"]) == 9
        assert seen["marks"] == seen["cells"]
        assert (seen["cellLines"], seen["markLines"]) == (["none"], ["dotted", "solid"])
    with chromium.visit(
        site.folder / "reading-table.html", viewport=DESKTOP, forced_colors="active"
    ) as visit:
        visit.page.locator(f'[data-role="result"] {cell_at(3, 1)}').first.click()
        expect(visit.page.locator("figure.product td.opened")).to_have_count(1)
        seen = visit.page.evaluate(MARKS)
        assert (len(seen["cells"]), seen["marks"]) == (9, [])
        assert sorted(seen["cellLines"]) == ["dotted", "solid"]


def test_the_users_of_a_cell_lead_on(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / "about.html") as visit:
        _open(visit.page, f"{PROBLEM}:trained:blocks.0.attn.v[1,2,3]")
        visit.page.locator(".cell-users summary").click()
        users = visit.page.locator(".cell-users [data-cell]")
        cells = users.evaluate_all("(buttons) => buttons.map((b) => b.dataset.cell)")
        key = f"{PROBLEM}:trained:blocks.0.attn.z"
        assert cells == [f"{key}[1,{row},3]" for row in range(2, 6)]
        users.nth(1).click()
        assert _read(visit.page)["address"] == f"{key}[1,3,3]"


def test_operands_are_marked_where_the_page_shows_them(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / "reading-table.html", viewport=DESKTOP) as visit:
        result = visit.page.locator(f'[data-role="result"] {cell_at(3, 1)}').first
        result.click()
        expect(result).to_have_class(re.compile("opened"))
        marked = visit.page.locator("figure.product td.operand")
        places = marked.evaluate_all(
            "(cells) => cells.map((td) => "
            "[td.closest('figure').dataset.role, ...Object.values(tests.placed(td))].join(' '))"
        )
        left = [f"left 3 {column}" for column in range(4)]
        assert sorted(places) == sorted([*left, *(f"right {row} 1" for row in range(4))])
        visit.page.locator(".cell-terms [data-cell]").first.hover()
        expect(visit.page.locator("td.pointed")).to_have_count(1)
        result.click()
        expect(visit.page.locator(".cell-panel")).to_be_hidden()
        expect(visit.page.locator("td.opened, td.operand, td.pointed")).to_have_count(0)


@pytest.mark.parametrize("page", ["values.html", "gradients.html", "votes.html", "index.html"])
def test_every_number_of_the_model_in_a_sentence_opens(
    site: BuiltSite, chromium: Chromium, page: str
) -> None:
    with chromium.visit(site.folder / page, viewport=DESKTOP) as visit:
        for change in ({}, {"problem": "4x6", "layer": 1, "head": 0, "step": 60}):
            if change:
                scene.choose(visit.page, **change)
            found = scene.opened(visit.page, ".value[data-cell]:not(.quiz *)")
            assert found
            for number in found:
                assert (
                    number["cell"]
                    .split(":")[2]
                    .split("[")[0]
                    .endswith(number["data"]["cell"].split("[")[0].split(".", 2)[-1].lstrip("∂"))
                )
                full = number["full"].replace(MINUS, "-")
                assert float(full) == float(number["data"]["value"]), number
        assert visit.complaints == []


def test_a_number_in_a_sentence_is_opened_by_key_and_closed_by_the_same(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "reading-table.html", viewport=DESKTOP) as visit:
        number = visit.page.get_by_role("button").and_(visit.page.locator(".value")).first
        number.focus()
        visit.page.keyboard.press("Space")
        expect(visit.page.locator(".cell-title")).to_be_focused()
        visit.page.keyboard.press("Escape")
        expect(number).to_be_focused()
        visit.page.keyboard.press("Enter")
        expect(visit.page.locator(".cell-panel")).to_be_visible()
        number.click()
        expect(visit.page.locator(".cell-panel")).to_be_hidden()


def test_the_keyboard_opens_walks_and_returns(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / "reading-table.html", viewport=DESKTOP) as visit:
        page = visit.page
        cell = page.locator(f'[data-role="result"] {cell_at(0, 0)}').first
        cell.focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(page.locator(".cell-title")).to_be_focused()
        opened = _read(page)["address"]
        assert opened.endswith("blocks.0.attn.z[1,1,0]")
        for key in ("Tab", "Tab", "Enter"):  # past the part where it can be overwritten
            page.keyboard.press(key)
        expect(page.locator(".cell-title")).to_be_focused()
        assert "attn.pattern[1,1," in _read(page)["address"]
        page.keyboard.press("Escape")
        expect(page.locator(".cell-panel")).to_be_hidden()
        expect(page.locator(f'[data-role="result"] {cell_at(1, 0)}').first).to_be_focused()
        assert "cell=" not in address_of(page)


@pytest.mark.parametrize("page", ["index.html", "en/index.html"])
def test_a_link_opens_its_cell_and_going_back_closes_it(
    site: BuiltSite, chromium: Chromium, page: str
) -> None:
    address = f"{PROBLEM}:trained:blocks.0.attn.q[1,3,2]"
    numbers = _numbers(site)
    with chromium.visit(site.folder / page) as visit:
        visit_again(visit.page, f"?cell={address}")
        expect(visit.page.locator(".cell-panel")).to_be_visible()
        _check(_read(visit.page), numbers)
        visit.page.goto(visit.page.url.partition("#")[0])
        expect(visit.page.locator(".cell-panel")).to_have_count(0)
        visit.page.locator(f'figure[data-key="probs"] {cell_at(3, 5)}').click()
        _read(visit.page)
        assert address_of(visit.page).endswith(f"#?cell={PROBLEM}:trained:probs[3,5]")
        go_back(visit.page)
        expect(visit.page.locator(".cell-panel")).to_be_hidden()


def test_who_goes_through_links_is_taken_to_the_cell_he_stays_with(
    site: BuiltSite, chromium: Chromium
) -> None:
    cells = [f"{PROBLEM}:trained:{cell}" for cell in ("probs[3,5]", "blocks.0.attn.q[1,3,2]")]
    with chromium.visit(site.folder / "ledger.html", viewport=DESKTOP) as visit:
        is_passed_seen = visit.page.evaluate(
            """async (cells) => {
              await Article.data.run();
              const passed = document.querySelector('figure[data-key="probs"]');
              let isSeen = false;
              addEventListener("scroll", () => {
                const {top, bottom} = passed.getBoundingClientRect();
                isSeen ||= bottom > 0 && top < innerHeight;
              });
              for (const cell of cells) {
                Article.state.set({cell});
                await new Promise((resolve) => setTimeout(resolve, Article.REST / 3));
              }
              await new Promise((resolve) => setTimeout(resolve, 2 * Article.REST));
              return isSeen;
            }""",
            cells,
        )
        assert not is_passed_seen
        figure = 'figure[data-key="blocks.0.attn.q"][data-stage="trained"]'
        expect(visit.page.locator(f"{figure} {cell_at(3, 2)}")).to_be_in_viewport()


@pytest.mark.parametrize("viewport", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_a_link_leads_to_a_cell_that_follows_late_and_the_panel_leaves_it_in_view(
    site: BuiltSite, chromium: Chromium, viewport: dict[str, int]
) -> None:
    with chromium.visit(site.folder / "ledger.html", viewport=viewport) as visit:
        page = visit.page
        scene.choose(page, problem="4x6")  # figures far away follow the next one later
        page.goto(f"{address_of(page).partition('#')[0]}#?problem=3x4&cell=3x4:trained:probs[3,5]")
        figure = 'figure[data-key="probs"][data-problem="3x4"]'
        wait_for_view(page.locator(f"{figure} {cell_at(3, 5)}.opened"))


def test_who_has_gone_on_is_not_taken_to_a_cell_that_comes_later(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "scores.html", viewport=DESKTOP) as visit:
        page = visit.page
        visit_again(page, f"?cell={PROBLEM}:trained:blocks.1.ln1.out[3,2]")
        expect(page.locator(".cell-panel")).to_be_visible()
        page.wait_for_timeout(500)  # it would have gone there
        before = page.evaluate("scrollY")
        scene.choose(page, layer=1, problem=PROBLEM)
        expect(page.locator('figure[data-key="blocks.1.ln1.out"] td.opened')).not_to_have_count(0)
        assert page.evaluate("scrollY") == before


@pytest.mark.parametrize(
    "cell",
    [
        "nonsense",
        "7x8:trained:blocks.0.attn.q[1,3]",
        "7x8:trained:blocks.0.attn.q[2,0,0]",
        "7x8:trained:blocks.0.attn.q[0,9,0]",
        "7x8:trained:constructor[0]",
        "77x8:trained:probs[0,0]",
        "7x8:final:probs[0,0]",
        "7x8:trained:no.such.tensor[0,0]",
    ],
)
def test_a_link_to_no_cell_is_left_out_with_a_note(
    site: BuiltSite, chromium: Chromium, cell: str
) -> None:
    with chromium.visit(site.folder / "en" / "index.html") as visit:
        visit_again(visit.page, f"?cell={cell}")
        expect(visit.page.locator(".state-bar")).to_contain_text("not understood")
        expect(visit.page.locator(".cell-panel")).to_have_count(0)
        assert visit.complaints == []


def test_the_panel_follows_the_step_that_figures_show(site: BuiltSite, chromium: Chromium) -> None:
    step = site.snapshot.document("training.json")["checkpoints"][5]
    weights = site.snapshot.weights(f"step-{step:04d}")
    probs = activations(weights, site.snapshot.config)["probs"][78, 3, 5]
    with chromium.visit(site.folder / "index.html") as visit:
        address = f"?step={step}&cell={PROBLEM}:trained:probs[3,5]"
        visit_again(visit.page, address)
        shown = display(float(rounded(np.asarray(probs))), 2)
        expect(visit.page.locator(".state-bar")).to_contain_text(str(step))
        expect(visit.page.locator(".cell-where")).to_contain_text(str(step))
        expect(visit.page.locator(".cell-value b")).to_have_text(shown)


@pytest.mark.parametrize(
    ("stage", "cell", "step", "said"),
    [
        ("initial", "blocks.0.attn.W_Q[0,0]", None, "现在是训练前的初值"),
        ("trained", "blocks.0.attn.W_Q[0,0]", 0, "现在是训练前的初值"),
        ("trained", "blocks.0.attn.W_Q[0,0]", 60, "由训练得来"),
        ("trained", "blocks.0.attn.W_Q[0,0]", None, "由训练得来"),
        ("trained", "embed.W_E[13,0]", None, "训练没有改变它"),
        ("initial", "pos_embed.W_pos[15,0]", None, "训练没有改变它"),
    ],
)
def test_a_parameter_says_what_training_has_made_of_it(
    site: BuiltSite, chromium: Chromium, stage: str, cell: str, step: int | None, said: str
) -> None:
    with chromium.visit(site.folder / "index.html", viewport=DESKTOP) as visit:
        if step is not None:
            scene.choose(visit.page, step=step)
        _open(visit.page, f"{PROBLEM}:{stage}:{cell}")
        sentences = visit.page.locator(".cell-sentence").all_inner_texts()
    assert said in sentences[0]
    before, after = re.findall(r"[−\d.]+\d", sentences[1])
    assert (before == after) == ("没有改变" in said)


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("embed.W_E[13,0]", "这道题没有用到它。"),
        ("pos_embed.W_pos[15,0]", "这道题没有用到它。"),
        ("probs[3,5]", "后面没有谁用它：这是终点。"),
        ("embed.W_E[7,0]@3", "后面没有谁用它：这是终点。"),
    ],
)
def test_what_nothing_uses_is_the_end_or_was_not_needed(
    site: BuiltSite, chromium: Chromium, cell: str, said: str
) -> None:
    with chromium.visit(site.folder / "index.html", viewport=DESKTOP) as visit:
        _open(visit.page, f"{PROBLEM}:trained:{cell}")
        expect(visit.page.locator(".cell-users")).to_have_text(said)


@pytest.mark.parametrize(
    ("page", "name", "edge"), [("scores", "W_Q", "thead"), ("values", "W_O", "tbody")]
)
def test_a_weight_of_a_head_is_counted_as_its_figure_counts(
    site: BuiltSite, chromium: Chromium, page: str, name: str, edge: str
) -> None:
    with chromium.visit(site.folder / f"{page}.html", viewport=DESKTOP) as visit:
        figure = visit.page.locator(f'.matrix[data-head="1"][data-key$="{name}"]').first
        figure.locator(cell_at(2, 2)).click()
        label = figure.locator(f"{edge} th").nth(2).inner_text()
        where = visit.page.locator(".cell-place")
        expect(where).to_contain_text(f"头 2 的头内维度 {label}（整张里是 {4 + int(label)}）")
        expect(where).to_contain_text("维度 2")
        indices = {"thead": f"[2, {4 + int(label)}]", "tbody": f"[{4 + int(label)}, 2]"}
        expect(visit.page.locator(".cell-indices")).to_have_text(indices[edge])


def test_numbers_are_underlined_that_open_and_no_others(
    site: BuiltSite, chromium: Chromium
) -> None:
    read = """(all) => all.map((one) => [
      one.matches("[role=button]"), getComputedStyle(one).borderBottomStyle === "dotted"])"""
    for scripts in (True, False):
        with chromium.visit(site.folder / "values.html", java_script_enabled=scripts) as visit:
            numbers = visit.page.locator(".value:not(.route *, .one-step *), [data-opens]")
            found = numbers.evaluate_all(read)
        assert {opens for opens, _ in found} == ({True, False} if scripts else {False})
        assert all(opens == is_underlined for opens, is_underlined in found)


@in_every_look
def test_an_open_panel_has_no_barriers_and_fits(
    site: BuiltSite, chromium: Chromium, viewport: dict[str, int], scheme: str
) -> None:
    with chromium.visit(
        site.folder / "reading-table.html", viewport=viewport, color_scheme=scheme
    ) as visit:
        visit.page.locator(f'[data-role="result"] {cell_at(3, 0)}').first.click()
        for address in (
            "attn.z[1,3,1]",
            "ln1.scale[3]",
            "mlp_out[3,2]",
            "attn.pattern[0,3,1]",
            "resid_mid[3,2]@3",
            "ln1.out[3,1]@4",
            "mlp.post[3,9]@4",
        ):
            _open(visit.page, f"7x0:trained:blocks.0.{address}")
            visit.page.locator(".cell-users summary").click()
            assert visit.barriers() == []
            assert visit.fits()
            inside = ".cell-body, .cell-scroll"
            assert visit.page.locator(inside).evaluate_all(
                "(parts) => parts.every((part) => part.scrollWidth <= part.clientWidth)"
            )


def _numbers(site: BuiltSite) -> Numbers:
    claims = site.snapshot.document("claims.json")["claims"]
    return Numbers(site.snapshot, {c["id"]: ClaimResult(**c) for c in claims}, {})


def _addresses(site: BuiltSite) -> list[str]:
    """One cell of every tensor, layer and head: in the row of `=`, where it has such rows."""
    found = []
    for key, spec in site.snapshot.vocabulary.items():
        shape = spec.shape(site.snapshot.config, 6)
        rest = [min(3, size - 1) if i == len(shape) - 1 else 3 for i, size in enumerate(shape)]
        if "head" in spec.axes:
            found += [f"{key}[{head},{rest[1]},{rest[2]}]" for head in range(shape[0])]
        else:
            found.append(f"{key}[{','.join(map(str, rest))}]")
    return found


def _open(page: Page, cell: str) -> dict[str, Any]:
    page.evaluate(OPEN, cell)
    return _read(page)


def _read(page: Page) -> dict[str, Any]:
    page.locator(".cell-panel").wait_for()
    expect(page.locator(".cell-terms[aria-busy]")).to_have_count(0)
    panel: dict[str, Any] = page.evaluate(READ)
    return panel


def _stored(numbers: Numbers, address: str) -> float:
    problem, stage, cell = address.split(":")
    key, _, indices = cell.rstrip("]").partition("[")
    *head, row, column = [None, *map(int, indices.split(","))][-3:]
    if row is None:
        row = 0
    where = key if not head or head[0] is None else f"{key}[{head[0]}]"
    return float(numbers.matrix(where, stage, problem).values[row, column])


def _decimal(text: str) -> Decimal:
    return Decimal(text.replace(MINUS, "-"))


def _to(value: Decimal | float, decimals: int) -> Decimal:
    return Decimal(value).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)


def _check(
    panel: dict[str, Any], numbers: Numbers, gradient: float | None = None, unrounded: bool = False
) -> None:
    """Compute the result again from what is written, and compare what is written with the files.

    `gradient` is the stored number where the cell is a gradient that the files have.
    """
    address = panel["address"]
    written = float(_decimal(panel["full"] or panel["value"]))
    if "@" in address:
        stored = written if gradient is None else gradient
    else:
        stored = _stored(numbers, address)
    assert panel["value"] == display(stored), address
    assert written == stored, address
    if panel["operation"] is None:
        assert not panel["lines"], address
        return
    for operand, text in panel["operands"]:
        if "@" in operand:
            continue
        assert _decimal(text) == _to(_stored(numbers, operand), _places(text)) or unrounded, address
        if unrounded:
            assert math.isclose(
                float(_decimal(text)), _stored(numbers, operand), rel_tol=1e-6, abs_tol=1e-9
            ), (address, operand)
    sign, result = panel["result"].removeprefix("√ ").split()
    assert sign == "=", address
    assert result == display(stored, _places(result)), address
    assert _to(_recomputed(panel), _places(result)) == _decimal(result), address


def _places(text: str) -> int:
    return len(text.partition(".")[2])


def _recomputed(panel: dict[str, Any]) -> Decimal:
    """The result of the arithmetic as written; each line of it is checked on the way."""
    lines = [[_decimal(text) for text in line["numbers"]] for line in panel["lines"]]
    own = next((line for line, raw in zip(lines, panel["lines"], strict=True) if raw["isOwn"]), [])
    steps = {name: _decimal(text) for name, text in panel["steps"].items()}
    first = panel["lines"][0]["numbers"][0] if lines else panel["result"]
    found = re.findall(rf"{MINUS}?\d+\.\d+", panel["sentence"])
    written = Written(lines, own, steps, _places(first), _decimal(found[0]) if found else None)
    operation = OPERATIONS.get(panel["operation"], _sum)
    return operation(written)


@dataclass(frozen=True)
class Written:
    """The numbers of a panel: terms, the cell's own, steps by name, decimals, mean or maximum."""

    lines: list[list[Decimal]]
    own: list[Decimal]
    steps: dict[str, Decimal]
    places: int
    mean: Decimal | None

    def total(self, column: int) -> Decimal:
        return sum((line[column] for line in self.lines), Decimal(0))

    def average(self, column: int) -> Decimal:
        return self.round(self.total(column) / len(self.lines))

    def round(self, value: Decimal | float) -> Decimal:
        return _to(value, self.places)


def _sum(written: Written) -> Decimal:
    for line in written.lines:
        assert len(line) == 1 or line[2] == written.round(line[0] * line[1])
    total = written.total(-1)
    assert written.steps.get("sum", total) == total
    return total / written.steps.get("root", 1)


def _softmax(written: Written) -> Decimal:
    assert written.mean == max(x for x, _ in written.lines)
    for x, power in written.lines:
        assert power == written.round(math.exp(float(x - written.mean)))
    assert written.steps == {"share": written.own[1], "over": written.total(1)}
    return written.own[1] / written.total(1)


def _deviation(written: Written) -> Decimal:
    assert written.mean == written.average(0)
    for x, centred, square in written.lines:
        assert centred == x - written.mean
        assert square == written.round(centred * centred)
    variance = written.average(2) + written.round(EPS)
    assert written.steps == {"sum": written.total(2), "variance": variance}
    return variance.sqrt()


def _standardize(written: Written) -> Decimal:
    assert written.mean == written.average(0)
    assert written.steps["centred"] == written.own[0] - written.mean
    return written.steps["centred"] / written.steps["scale"]


def _relu(written: Written) -> Decimal:
    return max(Decimal(0), written.lines[0][0])


def _error(written: Written) -> Decimal:
    return written.lines[0][0] - written.steps["answer"]


def _relu_backward(written: Written) -> Decimal:
    return written.lines[0][0] if written.steps["gate"] > 0 else Decimal(0)


def _softmax_backward(written: Written) -> Decimal:
    total = written.total(2)
    above = written.own[1] - total
    assert written.steps == {"sum": total, "above": above, "times": written.own[0]}
    return above * written.own[0]


def _standardize_backward(written: Written) -> Decimal:
    steps, own = written.steps, written.own
    assert (steps["average"], steps["along"]) == (written.average(1), written.average(2))
    assert steps["inner"] == own[1] - steps["average"] - written.round(own[0] * steps["along"])
    return steps["inner"] / steps["scale"] + steps.get("around", 0)


OPERATIONS = {
    "softmax": _softmax,
    "deviation": _deviation,
    "standardize": _standardize,
    "relu": _relu,
    "error": _error,
    "relu_backward": _relu_backward,
    "softmax_backward": _softmax_backward,
    "standardize_backward": _standardize_backward,
}
