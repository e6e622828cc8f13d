"""The laboratory in Chromium: what it shows, against the snapshot and against NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Locator, Page, expect

from builder.numbers.display import display, token_label
from model import task
from model.encoding import rounded
from model.snapshot import Snapshot
from tests import reference
from tests.browser import (
    DESKTOP,
    PHONE,
    Chromium,
    address_of,
    ask,
    go_back,
    in_every_look,
    reload,
    visit_again,
)
from tests.site_build import BuiltSite

Array = NDArray[np.float64]

COVERS = ["index.html", "en/index.html"]
PROBLEM = "7x8"
CODES = {task.TIMES: "x", task.END: ".", task.PAD: "_"}
LIMIT = 16

READ = """() => [...document.querySelectorAll(".laboratory-step")].map((step) => {
  const entry = (element) => ({
    token: element.querySelector(".laboratory-choose").textContent,
    text: element.querySelector(".laboratory-number").textContent,
    value: Number(element.querySelector(".laboratory-number").dataset.value),
    href: element.querySelector(".laboratory-number").getAttribute("href"),
    isWritten: element.classList.contains("is-written"),
    share: Number(element.style.getPropertyValue("--v")),
  });
  const token = step.querySelector(".laboratory-token");
  return {
    read: step.querySelector(".laboratory-read").textContent,
    token: token.firstChild.textContent,
    isOwn: token.classList.contains("is-own"),
    top: [...step.querySelectorAll(".laboratory-top li")].map(entry),
    all: [...step.querySelectorAll(".laboratory-all tr")].map(entry),
  };
})"""
SETTLED = """async () => {
  await Article.data.run();
  await new Promise((resolve) => Article.whenIdle(resolve));
  await new Promise(requestAnimationFrame);
}"""


@pytest.mark.parametrize("page", COVERS)
def test_the_answer_stands_there_without_javascript(
    site: BuiltSite, chromium: Chromium, page: str
) -> None:
    with chromium.visit(site.folder / page, java_script_enabled=False) as visit:
        laboratory = visit.page.locator(".laboratory")
        for part in ("read", "token", "top", "status"):
            assert laboratory.locator(f".laboratory-{part}").first.is_visible()
        laboratory.locator("summary").nth(1).click()
        assert laboratory.locator(".laboratory-all").nth(1).is_visible()
        assert not laboratory.locator(".laboratory-controls").is_visible()
        assert laboratory.locator("button:visible, select").count() == 0
        assert visit.page.locator("noscript + *, noscript p").first.is_visible()
        static = laboratory.locator(".laboratory-steps").inner_text()
        status = laboratory.locator(".laboratory-status").inner_text()
    with chromium.visit(site.folder / page) as visit:
        laboratory = visit.page.locator(".laboratory")
        laboratory.locator("summary").nth(1).click()
        settle(visit.page)
        assert laboratory.locator(".laboratory-steps").inner_text() == static
        assert laboratory.locator(".laboratory-status").inner_text() == status
        assert_traced(visit.page, site.snapshot, PROBLEM)


@pytest.mark.parametrize("problem", ["0x0", "1x9", "3x4", "7x8", "8x7", "9x9"])
def test_every_number_of_a_chosen_problem_is_the_snapshots(
    site: BuiltSite, chromium: Chromium, problem: str
) -> None:
    with chromium.visit(site.folder / "index.html") as visit:
        for select, digit in zip(digits(visit.page), problem.split("x"), strict=True):
            select.select_option(digit)
        settle(visit.page)
        assert_traced(visit.page, site.snapshot, problem)
        product = str(task.BY_NAME[problem].a * task.BY_NAME[problem].b)
        expect(status(visit.page)).to_have_text(f"写完了：{product}。对。")
        assert visit.complaints == []


def test_the_grid_holds_every_answer_and_chooses_a_problem(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "index.html") as visit:
        page = visit.page
        expect(page.locator(".laboratory-choice p")).to_have_attribute("data-correct", "100")
        cells = page.locator(".laboratory-choice td[data-first]")
        assert cells.all_inner_texts() == [str(p.a * p.b) for p in task.PROBLEMS]
        assert page.locator(".laboratory-choice .is-wrong").count() == 0
        grid_cell(page, 6, 3).click()
        assert address_of(page).endswith("#?problem=6x3")
        settle(page)
        assert_traced(page, site.snapshot, "6x3")
        assert [select.input_value() for select in digits(page)] == ["6", "3"]
        expect(page.locator('.laboratory-choice [aria-selected="true"]')).to_have_text("18")


@pytest.mark.parametrize(
    "answer",
    [["9"], ["5", "6", "0"], ["×", "=", "<pad>"], ["<end>"], ["4", "2", "<end>"], ["5", "<end>"]],
    ids="".join,
)
def test_free_prefixes_have_the_numbers_of_an_independent_network(
    site: BuiltSite, chromium: Chromium, answer: list[str]
) -> None:
    with chromium.visit(site.folder / "index.html") as visit:
        page = visit.page
        command(page, "restart").click()
        for token in answer:
            last = page.locator(".laboratory-step").last
            last.locator("summary").click()
            row = last.locator(".laboratory-all tr").nth(task.TOKEN_ID[token])
            row.locator("button.laboratory-choose").click()
        settle(page)
        tokens = [*task.BY_NAME[PROBLEM].prompt, *answer]
        assert address_of(page).endswith(f"#?prefix={coded(tokens)}")
        assert_computed(page, trained(site.snapshot), tokens)
        right = task.BY_NAME[PROBLEM].tokens
        for step in read(page):
            is_traced = "".join(right[:-1]).startswith(step["read"])
            assert all((entry["href"] is not None) == is_traced for entry in step["all"])
        if answer[-1] == task.END:
            written = "".join(answer[:-1]) or "⟨end⟩"
            expect(status(page)).to_have_text(f"写完了：{written}。不对，应该是 56。")
        assert visit.complaints == []


def test_an_answer_is_taken_back_and_written_again_one_token_at_a_time(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "index.html") as visit:
        page = visit.page
        for left in ("7x8=56", "7x8=5", "7x8="):
            command(page, "back").click()
            assert address_of(page).endswith(f"prefix={left}")
            expect(page.locator(".laboratory-token").last).to_have_text("?")
        expect(command(page, "back")).to_have_attribute("aria-disabled", "true")
        command(page, "back").click(force=True)
        assert address_of(page).endswith("prefix=7x8=")
        for tokens in (["5", "?"], ["5", "6", "?"], ["5", "6", "⟨end⟩"]):
            command(page, "next").click()
            expect(page.locator(".laboratory-token")).to_have_text(tokens)
        assert "prefix" not in address_of(page)  # what it writes by itself
        expect(command(page, "next")).to_have_attribute("aria-disabled", "true")
        command(page, "restart").click()
        page.locator(".laboratory-top button.laboratory-choose").nth(1).click()
        assert address_of(page).endswith("prefix=7x8=4")
        expect(page.locator(".laboratory-token small")).to_have_text("你选的")
        command(page, "finish").click()
        settle(page)
        tokens = decoded(trained(site.snapshot), [*task.BY_NAME[PROBLEM].prompt, "4"])
        assert address_of(page).endswith(f"prefix={coded(tokens)}")
        assert_computed(page, trained(site.snapshot), tokens)


def test_links_reproduce_and_going_back_undoes(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / "en" / "index.html") as visit:
        page = visit.page
        grid_cell(page, 9, 4).click()
        command(page, "back").click()
        page.locator(".laboratory-step").nth(1).locator(".laboratory-choose").nth(2).click()
        settle(page)
        address, steps = address_of(page), read(page)
        go_back(page)
        assert address_of(page).endswith("problem=9x4&prefix=9x4=36")
        expect(page.locator(".laboratory-token")).to_have_text(["3", "6", "?"])
        go_back(page)
        expect(page.locator(".laboratory-token")).to_have_text(["3", "6", "⟨end⟩"])
        go_back(page)
        expect(page.locator(".laboratory-token")).to_have_text(["5", "6", "⟨end⟩"])
        settle(page)
        assert_traced(page, site.snapshot, PROBLEM)
        visit_again(page, address.partition("#")[2])
        settle(page)
        assert read(page) == steps


@pytest.mark.parametrize(
    "fragment",
    [
        "prefix=7x8",
        "prefix=7x8=a",
        "prefix=7x8=5.6",
        "prefix=3x4=1",
        "prefix=7x8=0123456789012",
        "prefix=7%C3%978=",
        "problem=3x4&prefix=7x8=5",
    ],
)
def test_a_prefix_that_means_nothing_is_left_out_with_a_note(
    site: BuiltSite, chromium: Chromium, fragment: str
) -> None:
    with chromium.visit(site.folder / "en" / "index.html") as visit:
        page = visit.page
        visit_again(page, f"?{fragment}")
        expect(page.locator(".state-bar")).to_contain_text("not understood")
        settle(page)
        assert_traced(page, site.snapshot, "3x4" if "problem" in fragment else PROBLEM)
        assert visit.complaints == []


def test_another_problem_from_elsewhere_takes_the_old_prefix_away(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "index.html") as visit:
        command(visit.page, "back").click()
        visit.page.evaluate("Article.state.set({problem: '3x4'})")
        settle(visit.page)
        assert_traced(visit.page, site.snapshot, "3x4")
        assert address_of(visit.page).endswith("#?problem=3x4")


def test_the_last_position_is_the_end_of_writing(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / "index.html", viewport=PHONE) as visit:
        page = visit.page
        tokens = [*task.BY_NAME[PROBLEM].prompt, *"4" * (LIMIT - 5)]
        visit_again(page, f"?prefix={coded(tokens)}")
        settle(page)
        assert_computed(page, trained(site.snapshot), tokens)
        page.locator(".laboratory-step").last.locator(".laboratory-choose").nth(2).click()
        expect(status(page)).to_contain_text(f"已经有 {LIMIT} 个 token")
        settle(page)
        steps = read(page)
        assert len(steps) == LIMIT - task.EQUALS_POSITION
        last = page.locator(".laboratory-step").last
        assert last.locator("button.laboratory-choose").count() == 0
        assert page.locator("button.laboratory-choose").count() == (len(steps) - 1) * 17
        for name in ("next", "finish"):
            expect(command(page, name)).to_have_attribute("aria-disabled", "true")
        command(page, "back").click()
        expect(status(page)).not_to_contain_text("个 token。")
        assert visit.fits()


def test_the_keyboard_does_all_of_it(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / "index.html", viewport=DESKTOP) as visit:
        page, press = visit.page, visit.page.keyboard.press
        page.locator(".laboratory-choice td[tabindex='0']").focus()
        for key in ("ArrowUp", "ArrowLeft", "ArrowLeft", "ArrowDown", "ArrowDown", "Enter"):
            press(key)
        assert address_of(page).endswith("#?problem=8x6")
        expect(page.locator(".laboratory-token")).to_have_text(["4", "8", "⟨end⟩"])
        digits(page)[0].focus()
        press("2")
        assert address_of(page).endswith("#?problem=2x6")
        command(page, "restart").focus()
        press("Enter")
        expect(page.locator(".laboratory-token")).to_have_text(["?"])
        page.locator(".laboratory-top button.laboratory-choose").first.focus()
        for _ in range(3):
            press("Enter")
        expect(page.locator(".laboratory-token")).to_have_text(["1", "2", "⟨end⟩"])
        number = page.locator(".laboratory-step").nth(1).locator("a.laboratory-number").first
        number.focus()
        press("Enter")
        expect(page.locator(".cell-title")).to_be_focused()
        assert page.evaluate("Article.state.get().cell") == "2x6:trained:probs[4,2]"
        press("Escape")
        expect(page.locator(".cell-panel")).to_be_hidden()
        expect(number).to_be_focused()
        assert visit.complaints == []


def test_a_finger_chooses_tokens_and_opens_numbers(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / "index.html", viewport=PHONE, has_touch=True) as visit:
        page = visit.page
        grid_cell(page, 7, 6).tap()
        expect(page.locator(".laboratory-token")).to_have_text(["4", "2", "⟨end⟩"])
        page.locator(".laboratory-top button.laboratory-choose").nth(2).tap()
        expect(page.locator(".laboratory-token").last).to_have_text("?")
        page.locator(".laboratory-top a.laboratory-number").first.tap()
        expect(page.locator(".cell-panel")).to_be_visible()
        expect(page.locator(".laboratory-top .opened")).to_have_count(1)


@pytest.mark.parametrize("problem", [PROBLEM, "5x5"])
def test_a_number_opens_as_everywhere(site: BuiltSite, chromium: Chromium, problem: str) -> None:
    with chromium.visit(site.folder / "index.html", viewport=DESKTOP) as visit:
        page = visit.page
        grid_cell(page, *map(int, problem.split("x"))).click()
        settle(page)
        for step in page.locator(".laboratory-step").all():
            number = step.locator(".laboratory-top a").first
            number.click()
            value = float(number.get_attribute("data-value") or "nan")
            expect(page.locator(".cell-value b")).to_have_text(display(value))
            where = f"{problem}:trained:probs["
            assert page.evaluate("Article.state.get().cell").startswith(where)
        number.click()
        expect(page.locator(".cell-panel")).to_be_hidden()


def test_the_laboratory_follows_a_step_that_the_grid_has_seen_before(
    site: BuiltSite, chromium: Chromium
) -> None:
    step = site.snapshot.document("training.json")["checkpoints"][3]
    count_at_once = """() => {
      const { look } = Article.passes;
      Article.whenIdle = (work) => work();
      Article.passes.look = (...given) => { look(...given); Article.laboratoryGrid.refresh(); };
    }"""
    with chromium.visit(site.folder / "index.html") as visit:
        settle(visit.page)
        visit.page.evaluate(count_at_once)
        visit.page.evaluate(f"Article.state.set({{step: {step}}})")
        expect(visit.page.locator(".laboratory-weights")).to_have_text(f"第 {step} 步的参数")


@pytest.mark.parametrize("index", [0, 3, 12])
def test_the_laboratory_computes_with_the_step_that_figures_show(
    site: BuiltSite, chromium: Chromium, index: int
) -> None:
    training = site.snapshot.document("training.json")
    step = training["checkpoints"][index]
    weights = as_float64(site.snapshot.weights(f"step-{step:04d}"))
    with chromium.visit(site.folder / "index.html") as visit:
        page = visit.page
        page.evaluate(f"Article.state.set({{step: {step}}})")
        expect(page.locator(".laboratory-weights")).to_have_text(f"第 {step} 步的参数")
        correct = str(training["correct"][step])
        expect(page.locator(".laboratory-choice p")).to_have_attribute("data-correct", correct)
        settle(page)
        tokens = decoded(weights, list(task.BY_NAME[PROBLEM].prompt))
        assert_computed(page, weights, tokens)
        wrong = page.locator(".laboratory-choice .is-wrong")
        assert wrong.count() == 100 - training["correct"][step]
        for name in ("0x0", "7x8", "9x9"):
            first, second = map(int, name.split("x"))
            answer = decoded(weights, list(task.BY_NAME[name].prompt))[4:]
            assert grid_cell(page, first, second).inner_text() == short(answer)
        page.locator(".state-bar button").click()
        expect(page.locator(".laboratory-weights")).to_contain_text("训练后")
        expect(page.locator(".laboratory-choice p")).to_have_attribute("data-correct", "100")
        settle(page)
        assert_traced(page, site.snapshot, PROBLEM)


def test_the_laboratory_asks_the_edited_model(site: BuiltSite, chromium: Chromium) -> None:
    weights = trained(site.snapshot)
    weights["unembed.W_U"][2, 5] = -4
    with chromium.visit(site.folder / "en" / "index.html") as visit:
        page = visit.page
        visit_again(page, "?edits=unembed.W_U[2,5]=-4")
        expect(page.locator(".laboratory-weights")).to_contain_text("edited")
        settle(page)
        assert_computed(page, weights, decoded(weights, list(task.BY_NAME[PROBLEM].prompt)))
        visit_again(page, "?edits=logits[3,7]=50")
        expect(page.locator(".laboratory-token").first).to_have_text("7")
        right = [p for p in task.PROBLEMS if str(p.a * p.b).startswith("7")]
        note = page.locator(".laboratory-choice p")
        expect(note).to_have_attribute("data-correct", str(len(right)))
        answers = page.locator(".laboratory-choice td[data-first]").all_inner_texts()
        assert all(answer.startswith("7") for answer in answers)
        assert visit.complaints == []


def test_the_laboratory_follows_a_run_here(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / "index.html") as visit:
        page = visit.page
        page.locator("[data-follow]").check()
        page.locator('[data-command="step"]').click()
        expect(page.locator(".laboratory-weights")).to_have_text("第 1 步的参数")
        settle(page)
        weights = as_float64(site.snapshot.weights("step-0001"))
        tokens = decoded(weights, list(task.BY_NAME[PROBLEM].prompt))
        assert_computed(page, weights, tokens, tolerance=1e-5)  # the run's own are not float32
        page.locator("#train-here").click()
        correct = page.locator('.training [data-part="correct"]')
        expect(correct).to_have_text("100", timeout=120_000)
        page.locator("#train-here").click()
        expect(page.locator(".laboratory-choice p")).to_have_attribute("data-correct", "100")
        assert visit.complaints == []


def test_tokens_come_out_one_after_the_other_unless_motion_is_unwelcome(
    site: BuiltSite, chromium: Chromium
) -> None:
    running = "document.querySelector('.laboratory').getAnimations({subtree: true}).length"
    delays = """() => document.querySelector('.laboratory').getAnimations({subtree: true})
      .filter(({effect}) => effect.target.matches('.laboratory-token'))
      .map(({effect}) => effect.getTiming().delay)"""
    for motion, moves in (("no-preference", True), ("reduce", False)):
        with chromium.visit(site.folder / "index.html", reduced_motion=motion) as visit:
            settle(visit.page)
            assert visit.page.evaluate(running) == 0
            grid_cell(visit.page, 6, 6).click()
            found = visit.page.evaluate(delays)
            assert bool(found) == moves
            assert found == sorted(set(found))
            visit.page.wait_for_function(f"() => {running} === 0")


def test_weights_that_do_not_come_leave_the_answer_and_are_missed_aloud(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "en" / "index.html") as visit:
        visit.page.add_init_script("Object.defineProperty(window.Article ??= {}, 'run', {})")
        reload(visit.page)
        command(visit.page, "restart").click()
        expect(status(visit.page)).to_contain_text("could not be loaded")
        expect(visit.page.locator(".laboratory-token")).to_have_text(["5", "6", "⟨end⟩"])


@in_every_look
@pytest.mark.parametrize("fragment", ["?prefix=7x8=57_", "?step=60", "?problem=2x3"])
def test_the_laboratory_has_no_barriers_and_fits(
    site: BuiltSite, chromium: Chromium, viewport: dict[str, int], scheme: str, fragment: str
) -> None:
    options = {"viewport": viewport, "color_scheme": scheme, "reduced_motion": "reduce"}
    with chromium.visit(site.folder / "en" / "index.html", **options) as visit:
        page = visit.page
        visit_again(page, fragment)
        settle(page)
        expect(page.locator(".laboratory-choice [data-correct]")).to_be_visible()
        for summary in page.locator(".laboratory summary").all():
            summary.click()
        assert visit.barriers(".laboratory") == []
        assert visit.fits()
        sizes = page.locator(".laboratory :is(button, a)").evaluate_all(
            "(targets) => targets.map((target) => target.getBoundingClientRect())"
            ".map(({width, height}) => Math.min(width, height))"
        )
        assert min(sizes) >= 23.9


def digits(page: Page) -> list[Locator]:
    return page.locator(".laboratory-prompt select").all()


def command(page: Page, name: str) -> Locator:
    return page.locator(f'.laboratory [data-write="{name}"]')


def status(page: Page) -> Locator:
    return page.locator(".laboratory-status")


def grid_cell(page: Page, first: int, second: int) -> Locator:
    return page.locator(f'.laboratory-choice [data-first="{first}"][data-second="{second}"]')


def settle(page: Page) -> None:
    """Wait until the weights are there, and what was left for later is done."""
    page.evaluate(SETTLED)
    expect(page.locator(".laboratory [aria-busy]")).to_have_count(0)


def read(page: Page) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ask(page, READ)
    return found


def coded(tokens: Sequence[str]) -> str:
    return "".join(CODES.get(token, token) for token in tokens)


def short(answer: Sequence[str]) -> str:
    """An answer as the grid has room for it."""
    if task.END in answer[:3]:
        return "".join(answer[: answer.index(task.END)]) or "∅"
    return "".join(token if len(token) == 1 else "·" for token in answer[:2]) + "…"


def as_float64(weights: dict[str, Any]) -> dict[str, Array]:
    return {key: np.asarray(value, dtype=np.float64) for key, value in weights.items()}


def trained(snapshot: Snapshot) -> dict[str, Array]:
    return as_float64(snapshot.weights("trained"))


def probs_after(weights: dict[str, Array], tokens: Sequence[str]) -> Array:
    """P at every position, by the network that shares no code with the page's or the build's."""
    ids = [task.TOKEN_ID[token] for token in tokens]
    return reference.forward(weights, ids, n_layers=2, n_heads=2)["probs"]


def decoded(weights: dict[str, Array], tokens: list[str]) -> list[str]:
    """Greedy decoding to the end token or the last position."""
    while tokens[-1] != task.END and len(tokens) < LIMIT:
        tokens = [*tokens, task.VOCAB[int(probs_after(weights, tokens)[-1].argmax())]]
    return tokens


def assert_traced(page: Page, snapshot: Snapshot, problem: str) -> None:
    """The page shows the problem's whole answer with the numbers of its trace, digit for digit."""
    tokens = task.BY_NAME[problem].tokens
    values = snapshot.trace("trained", problem).values["probs"]
    assert_shows(read(page), values, tokens, tolerance=0)
    for step, position in zip(read(page), range(3, len(tokens) - 1), strict=True):
        cells = [f"#?cell={problem}:trained:probs[{position},{i}]" for i in range(len(task.VOCAB))]
        assert [entry["href"] for entry in step["all"]] == cells
        assert all(entry["href"] in cells for entry in step["top"])


def assert_computed(
    page: Page, weights: dict[str, Array], tokens: Sequence[str], tolerance: float = 2e-7
) -> None:
    """The page shows these tokens with the numbers that NumPy finds for them."""
    given = list(tokens[:-1]) if tokens[-1] == task.END else list(tokens)
    assert_shows(read(page), rounded(probs_after(weights, given)), tokens, tolerance)


def assert_shows(
    steps: list[dict[str, Any]], probs: Array, tokens: Sequence[str], tolerance: float
) -> None:
    is_ended = tokens[-1] == task.END
    positions = range(task.EQUALS_POSITION, len(tokens) - is_ended)
    assert len(steps) == len(positions)
    for step, position in zip(steps, positions, strict=True):
        row = probs[position]
        after = tokens[position + 1] if position + 1 < len(tokens) else None
        assert step["read"] == "".join(map(token_label, tokens[: position + 1]))
        assert step["token"] == ("?" if after is None else token_label(after))
        assert step["isOwn"] == (after is not None and after != task.VOCAB[int(row.argmax())])
        assert [entry["token"] for entry in step["all"]] == list(map(token_label, task.VOCAB))
        values = np.array([entry["value"] for entry in step["all"]])
        np.testing.assert_allclose(values, row, rtol=tolerance, atol=0)
        best = sorted(range(len(row)), key=lambda i: (-values[i], i))[:3]
        labels = [token_label(task.VOCAB[i]) for i in best]
        assert [entry["token"] for entry in step["top"]] == labels
        assert [entry["value"] for entry in step["top"]] == [values[i] for i in best]
        for entry, decimals in [*((e, 2) for e in step["all"]), *((e, 4) for e in step["top"])]:
            assert entry["text"] == display(entry["value"], decimals)
            assert entry["share"] == round(entry["value"], 3)
            assert entry["isWritten"] == (
                after is not None and entry["token"] == token_label(after)
            )
