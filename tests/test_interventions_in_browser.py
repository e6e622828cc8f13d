"""Interventions that a reader makes, in Chromium, against the model's own in PyTorch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import Locator, Page, expect

from builder.cli import main
from builder.numbers.display import MINUS, display, token_label
from model import task
from model.interventions import (
    Interventions,
    mean_pattern,
    overwriting,
    without_attention,
    without_source,
)
from model.packed import unpacked
from model.transformer import Record, unrecorded
from model.variants import plain_average
from tests import scene
from tests.browser import Chromium, address_of, ask, in_every_look, visit_again
from tests.other_site import OTHER_SEED
from tests.projects import ROOT, copy_project
from tests.shared import once
from tests.site_build import BuiltSite
from tests.tables import content
from tests.trained_models import CONFIG

BLOCK = """

::: interventions
layer: 0
head: head-follows-zero
id: what-if
caption: 每行只动一处。
:::
"""
HEADS = [(layer, head) for layer in range(2) for head in range(2)]
ROWS = """() => [...document.querySelectorAll("#what-if tbody tr")].filter(({hidden}) => !hidden)
  .map((tr) => ({
    kind: tr.dataset.kind, source: tr.dataset.source ?? null,
    text: tr.querySelector(".interventions-after b").textContent,
    value: Number(tr.querySelector(".interventions-after b").dataset.value),
    change: tr.querySelector(".interventions-after small").textContent,
    top: tr.querySelector(".interventions-top").textContent,
    token: tr.querySelector(".interventions-share code")?.textContent ?? null,
    share: Number(tr.querySelector(".interventions-share b")?.dataset.value ?? NaN),
  }))"""
BEFORE = """() => {
  const part = document.querySelector("#what-if .interventions-before");
  return {value: Number(part.querySelector("b").dataset.value), text: part.textContent};
}"""
PROBS = """([problem, position]) => {
  const {values} = Article.passes.at({problem, stage: "trained"}).model;
  return [...values.probs.subarray(14 * position, 14 * (position + 1))];
}"""
CLOSE = 2e-6
"""What is overwritten has 7 digits in an address."""


@pytest.fixture(scope="module")
def what_if(
    site: BuiltSite,  # noqa: ARG001  # its build has filled the cache
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """A page of a site that has the block."""

    def build(folder: Path) -> None:
        root = copy_project(ROOT, folder / "project")
        with (root / "content/zh/reading-table.md").open("a", encoding="utf-8") as chapter:
            chapter.write(BLOCK)
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(root)
            assert main(["build", "--quiet", "--strict"]) == 0

    return once(tmp_path_factory, "what-if", build) / "project" / "dist" / "reading-table.html"


@cache
def model_of(seed: int) -> Interventions:
    """The model of a seed, from the stored weights."""
    return Interventions(unpacked(content("seeds")[str(seed)]["weights"], CONFIG), CONFIG)


def records(
    model: Interventions, layer: int, head: int, row: int, donor: str
) -> Iterator[tuple[str, int | None, Record]]:
    """Every intervention: its kind, its source, and how it is made."""
    pattern = model.patterns[f"blocks.{layer}.attn.pattern"][:, head]  # [problem query key]
    given = pattern[_place(donor)]
    n_rows = len(task.BY_NAME[donor].inputs)

    def take(table: torch.Tensor) -> torch.Tensor:
        changed = table.clone()
        changed[..., :n_rows, :] = given[:n_rows]
        return changed

    mean = mean_pattern(pattern)
    makers = {
        "ablated": torch.zeros_like,
        "uniform": plain_average,
        "own_mean": mean.expand_as,
        "another_problem": take,
    }
    for kind, make in makers.items():
        yield kind, None, overwriting(layer, head, make)
    for source in range(row + 1):
        yield "source", source, overwriting(layer, head, without_source(row, source))
    yield "layer", None, without_attention(layer)


def _place(problem: str) -> int:
    return [known.name for known in task.PROBLEMS].index(problem)


def probability(model: Interventions, record: Record, row: int, problem: str) -> float:
    return float(model.effect(record, row).probability[_place(problem)])


def check(
    page: Page, model: Interventions, layer: int, head: int, row: int, problem: str, donor: str
) -> None:
    """Every row of the table, against the model."""
    tokens = task.BY_NAME[problem].tokens
    before = probability(model, unrecorded, row, problem)
    said = ask(page, BEFORE)
    assert said["value"] == pytest.approx(before, abs=CLOSE)
    assert f"该写 {token_label(tokens[row + 1])}。" in said["text"]
    shares = model.patterns[f"blocks.{layer}.attn.pattern"][_place(problem), head, row].numpy()
    rows = ask(page, ROWS)
    expected = list(records(model, layer, head, row, donor))
    assert [(found["kind"], found["source"]) for found in rows] == [
        (kind, None if source is None else str(source)) for kind, source, _ in expected
    ]
    for found, (kind, source, record) in zip(rows, expected, strict=True):
        after = probability(model, record, row, problem)
        place = (layer, head, row, problem, kind, source)
        assert found["value"] == pytest.approx(after, abs=CLOSE), place
        assert found["text"] == display(found["value"], 3), place
        change = float(found["change"].replace(MINUS, "-"))
        assert change == pytest.approx(after - before, abs=1.01e-3), place
        if kind == "layer":
            assert found["token"] is None
            continue
        read = int(shares.argmax()) if source is None else source
        assert found["token"] == token_label(tokens[read]), place
        assert found["share"] == pytest.approx(shares[read], abs=CLOSE), place


@pytest.mark.parametrize(("layer", "head"), HEADS)
def test_every_intervention_shows_what_it_does_in_the_model(
    what_if: Path, chromium: Chromium, layer: int, head: int
) -> None:
    with chromium.visit(what_if) as visit:
        for problem, row in [("7x0", 3), ("7x8", 3), ("7x8", 4), ("2x3", 4), ("9x9", 5)]:
            scene.choose(visit.page, layer=layer, head=head, problem=problem, position=row)
            check(visit.page, model_of(8), layer, head, row, problem, donor="0x7")
        assert visit.complaints == []


def test_another_problem_is_chosen_by_its_digits(what_if: Path, chromium: Chromium) -> None:
    with chromium.visit(what_if) as visit:
        scene.choose(visit.page, problem="7x8", layer=0, head=1)
        for donor in ("1x3", "9x9"):
            for select, digit in zip(
                visit.page.locator(".interventions-donor select").all(),
                donor.split("x"),
                strict=True,
            ):
                select.select_option(digit)
            check(visit.page, model_of(8), 0, 1, 3, "7x8", donor)


def test_the_first_three_tokens_stand_with_their_probabilities(
    what_if: Path, chromium: Chromium
) -> None:
    with chromium.visit(what_if) as visit:
        scene.choose(visit.page, problem="7x8", layer=0, head=1)
        for place, tr in enumerate(visit.page.locator("#what-if tbody tr:not([hidden])").all()):
            scene.choose(visit.page, edits=tr.get_attribute("data-edit"))
            probs = visit.page.evaluate(PROBS, ["7x8", 3])
            best = sorted(range(14), key=lambda token: -probs[token])[:3]
            shown = " · ".join(
                f"{token_label(task.VOCAB[token])}:\N{NO-BREAK SPACE}{display(probs[token], 3)}"
                for token in best
            )
            assert ask(visit.page, ROWS)[place]["top"] == shown
            scene.choose(visit.page, edits=None)
        assert "前三名 5:" in ask(visit.page, BEFORE)["text"]


@pytest.mark.parametrize(("layer", "head"), HEADS)
def test_a_button_overwrites_the_page_and_one_key_takes_it_back(
    what_if: Path, chromium: Chromium, layer: int, head: int
) -> None:
    model, problem, row = model_of(8), "7x8", 3
    right = task.TOKEN_ID[task.BY_NAME[problem].tokens[row + 1]]
    with chromium.visit(what_if) as visit:
        page = visit.page
        scene.choose(page, layer=layer, head=head, problem=problem)
        expected = list(records(model, layer, head, row, donor="0x7"))
        for place, (kind, source, record) in enumerate(expected):
            tr = page.locator("#what-if tbody tr").nth(place)
            after = probability(model, record, row, problem)
            _press(tr)
            assert page.evaluate(PROBS, [problem, row])[right] == pytest.approx(after, abs=CLOSE)
            own = ask(page, ROWS)[-1]
            assert own["kind"] == "own", (kind, source)
            assert own["value"] == pytest.approx(after, abs=CLOSE)
            expect(page.locator('.state-bar [data-line="state"]')).to_contain_text("改过一处")
            assert "edits=" in address_of(page)
            page.keyboard.press("Backspace")
            expect(tr.page.locator('#what-if tr[data-kind="own"]')).to_be_hidden()
            assert "edits=" not in address_of(page)
        assert visit.complaints == []


def _press(tr: Locator) -> None:
    """Press a row's button by the keyboard, and wait until the page has followed."""
    button = tr.get_by_role("button")
    assert (button.get_attribute("aria-label") or "").startswith("全页照改: ")
    button.focus()
    tr.page.keyboard.press("Enter")
    expect(tr.page.locator('#what-if tr[data-kind="own"]')).to_be_visible()


def test_a_link_reproduces_an_intervention_and_figures_follow_it(
    what_if: Path, chromium: Chromium
) -> None:
    with chromium.visit(what_if) as visit:
        page = visit.page
        scene.choose(page, problem="7x8", layer=0, head=1)
        _press(page.locator('#what-if tr[data-kind="own_mean"]'))
        address, rows = address_of(page), ask(page, ROWS)
        figures = scene.figures(page)
        visit_again(page, address.partition("#")[2])
        expect(page.locator('#what-if tr[data-kind="own"]')).to_be_visible()
        page.wait_for_function("() => Article.scene.current()?.edits.count === 1")
        page.evaluate("() => scrollTo(0, 0)")
        scene.choose(page, layer=0)
        assert ask(page, ROWS) == rows
        assert scene.figures(page) == figures
        assert any("edited" in cell["name"] for cell in figures[0]["cells"])


def test_interventions_are_in_the_model_of_the_chosen_seed(
    what_if: Path, chromium: Chromium
) -> None:
    """The head that the claim finds for this seed is the first one."""
    with chromium.visit(what_if) as visit:
        scene.choose(visit.page, seed=OTHER_SEED)
        check(visit.page, model_of(OTHER_SEED), 0, 0, 3, "7x0", donor="0x7")
        expect(visit.page.locator("#what-if select[name=head]")).to_have_value("0")
        expect(visit.page.locator(".interventions-where")).to_contain_text(f"种子 {OTHER_SEED}")


def test_choices_in_the_figure_are_the_pages(what_if: Path, chromium: Chromium) -> None:
    with chromium.visit(what_if) as visit:
        for name, value in {"layer": "1", "head": "0", "position": "4"}.items():
            visit.page.locator(f"#what-if select[name={name}]").select_option(index=int(value))
            assert f"{name}={value}" in address_of(visit.page)
        expect(visit.page.locator(".interventions-where")).to_contain_text("第 2 层 · 头 1")
        for name, value in {"layer": "0", "head": "1", "position": "3"}.items():
            visit.page.locator(f"#what-if select[name={name}]").select_option(index=int(value))
            assert f"{name}=" not in address_of(visit.page)


def test_without_scripts_the_stored_effects_stand_there(what_if: Path, chromium: Chromium) -> None:
    model = model_of(8)
    stored = content("interventions")
    with chromium.visit(what_if, java_script_enabled=False) as visit:
        assert visit.page.locator("#what-if :is(button, select):visible").count() == 0
        rows = visit.page.locator("#what-if tbody tr").all()
        expected = list(records(model, 0, 1, 3, donor="0x7"))
        assert len(rows) == len(expected)
        for tr, (kind, _, record) in zip(rows, expected, strict=True):
            number = tr.locator(".interventions-after b")
            after = probability(model, record, 3, "7x0")
            if kind == "another_problem":
                effects = stored["layer_1"]["head_2"][kind]["of_problem"]["probability"]
                after = effects[_place("7x0")]
                assert "别题的表：另外 99 道，取平均" in tr.inner_text()
            assert float(number.get_attribute("data-value") or "") == pytest.approx(after, abs=1e-6)
            assert number.inner_text() == display(after, 3)


def test_paper_gets_nothing_to_press(what_if: Path, chromium: Chromium) -> None:
    with chromium.visit(what_if) as visit:
        visit.page.locator("#what-if tbody button").first.wait_for()
        visit.page.emulate_media(media="print")
        assert visit.page.locator("#what-if button:visible").count() == 0
        assert visit.page.locator("#what-if .interventions-controls:visible").count() == 0
        for select in visit.page.locator("#what-if select:visible").all():
            expect(select).to_have_css("appearance", "none")


@pytest.mark.parametrize(
    "edits",
    [
        *(
            "blocks.0.attn.pattern[1]=1,0.5",
            "blocks.0.attn.pattern[2]=1",
            "blocks.0.attn.pattern=0",
        ),
        *("blocks.0.attn_out=0,0", "blocks.0.attn.W_Q=0", "blocks.0.attn.q=0", "probs=0"),
        *("blocks.0.attn_out=", "no.such=0", "toString=0"),
        "blocks.0.attn.pattern[1]=" + ",".join(["0"] * 28),
    ],
)
def test_an_edit_of_more_than_there_is_is_left_out_with_a_note(
    what_if: Path, chromium: Chromium, edits: str
) -> None:
    with chromium.visit(what_if) as visit:
        visit_again(visit.page, f"?edits={edits}")
        expect(visit.page.locator('.state-bar [data-line="note"]')).to_contain_text("看不懂")
        assert "edits" not in address_of(visit.page)
        assert visit.complaints == []


@in_every_look
def test_the_table_fits_and_has_no_barriers(
    what_if: Path, chromium: Chromium, viewport: Mapping[str, int], scheme: str
) -> None:
    with chromium.visit(what_if, viewport=viewport, color_scheme=scheme) as visit:
        scene.choose(visit.page, problem="9x9", edits="blocks.0.attn_out=0")
        assert visit.fits()
        assert visit.barriers("#what-if") == []
        box: dict[str, Any] = visit.page.locator("#what-if .worked-scroll").evaluate(
            "({scrollWidth, clientWidth}) => ({scrollWidth, clientWidth})"
        )
        assert box["scrollWidth"] <= box["clientWidth"]
