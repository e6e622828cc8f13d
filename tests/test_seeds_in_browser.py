"""The page turns to another seed: figures, numbers and claims, in Chromium."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import torch
from playwright.sync_api import Page, expect

from builder.claims.tables import PREDICATES
from builder.numbers.display import display
from model import task
from model.packed import unpacked
from model.train import initial_weights
from model.transformer import transformer
from tests import scene
from tests.browser import (
    DESKTOP,
    PHONE,
    Chromium,
    address_of,
    ask,
    go_back,
    in_every_look,
    visit_again,
)
from tests.other_site import OTHER_SEED
from tests.site_build import WITH_FIGURES, BuiltSite
from tests.tables import content
from tests.trained_models import CONFIG

PAGES = [*WITH_FIGURES, "limit.html"]

TICKS = """() => [...document.querySelectorAll("a.claim")].map((link) => ({
  id: link.hash.replace("#claim-", ""), text: link.textContent, label: link.ariaLabel,
  isFalse: link.matches(".is-false"),
}))"""
NUMBERS = """() => [...document.querySelectorAll(".value:not(.quiz *)")].map((value) => (
  {address: value.dataset.address, text: value.textContent, value: value.dataset.value,
   isOwn: "only" in value.dataset || value.dataset.seed === "own"
     || value.matches(":is(.effects, .effect-table, .share-effect) *")}
))"""
VOTES = """() => (
  [...document.querySelectorAll("figure.votes td")].map(({textContent}) => textContent)
)"""
WEIGHTS = """async () => {
  const {initial, trained} = await Article.passes.load();
  return [initial, trained].map((weights) => [...weights]);
}"""
PROBABILITIES = """async () => {
  const run = await Article.passes.load();
  return Object.fromEntries(run.dataset.problems.map(({problem}) => (
    [problem, ["initial", "trained"].map((stage) => (
      Array.from(Article.passes.at({problem, stage}).model.values.probs)
    ))]
  )));
}"""


def seeds_of(page: Page) -> list[int]:
    return [int(seed) for seed in (page.locator("body").get_attribute("data-seeds") or "").split()]


def verdicts(seed: int) -> dict[str, bool]:
    claims = content("census")["claims"]
    return {id_: seed not in claim["fails_for"] for id_, claim in claims.items()}


def test_about_six_seeds_can_be_chosen_and_the_story_fails_for_one(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "index.html") as visit:
        seeds = seeds_of(visit.page)
        options = visit.page.locator(".seed-chooser option").all_inner_texts()
    assert len(seeds) == 6
    assert seeds[0] == site.snapshot.manifest["training"]["seed"]
    assert options == [f"种子 {seed}" for seed in seeds]
    n_failing = {seed: list(verdicts(seed).values()).count(False) for seed in seeds}
    assert n_failing[seeds[0]] == 0
    assert max(n_failing.values()) >= 10


def test_the_engine_has_the_weights_and_probabilities_of_each_seed(
    site: BuiltSite, chromium: Chromium
) -> None:
    records = content("seeds")
    with chromium.visit(site.folder / "scores.html") as visit:
        for seed in seeds_of(visit.page)[1:]:
            scene.choose(visit.page, seed=seed)
            given = visit.page.evaluate(WEIGHTS)
            stages = {
                "initial": initial_weights(CONFIG, seed),
                "trained": unpacked(records[str(seed)]["weights"], CONFIG),
            }
            for place, weights in enumerate(stages.values()):
                flat = np.concatenate([weight.ravel() for weight in weights.values()])
                assert np.array_equal(flat, given[place]), (seed, place)
            found = visit.page.evaluate(PROBABILITIES)
            for place, weights in enumerate(stages.values()):
                for name, problem in task.BY_NAME.items():
                    tensors = {
                        key: torch.from_numpy(weight.astype(np.float64))
                        for key, weight in weights.items()
                    }
                    ids = torch.tensor([[task.TOKEN_ID[token] for token in problem.inputs]])
                    probs = transformer(tensors, ids, CONFIG)[0].softmax(-1).numpy()
                    shown = np.reshape(found[name][place], (-1, CONFIG.d_vocab))[: len(probs)]
                    assert abs(shown - probs).max() < 1e-12, (seed, name)
        assert visit.complaints == []


@pytest.mark.parametrize("page", PAGES)
def test_a_page_with_another_seed_shows_what_a_site_of_that_seed_does(
    site: BuiltSite, other_site: BuiltSite, chromium: Chromium, page: str
) -> None:
    with chromium.visit(other_site.folder / page) as visit:
        expected = _shown(visit.page)
    with chromium.visit(site.folder / page) as visit:
        own = _shown(visit.page)
        scene.choose(visit.page, seed=OTHER_SEED)
        found = _shown(visit.page)
        scene.choose(visit.page, seed=None)
        again = _shown(visit.page)
        assert visit.complaints == []
    assert again == own
    label = _name(OTHER_SEED, page)
    for one in found["figures"]:
        assert label in one.pop("where").split(" · ")
    for one in expected["figures"]:
        assert label not in one.pop("where")
    numbers = zip(found.pop("numbers"), expected.pop("numbers"), own["numbers"], strict=True)
    for number, shown, written in numbers:
        *_, is_own = number
        if is_own:  # the page says so
            assert number[0].startswith(("evidence.interventions.", "manifest.training.seed"))
            assert number[:3] == written[:3]
        else:
            assert number == shown
    assert found == expected


def _name(seed: int, page: str) -> str:
    return f"seed {seed}" if page.startswith("en/") else f"种子 {seed}"


def _shown(page: Page) -> dict[str, Any]:
    """Every number of figures, calculations and sentences."""
    figures = [
        {
            "id": figure["id"],
            "where": figure["where"],
            "key": figure["data"]["key"],
            "head": figure["data"].get("head"),
            "cells": [(cell["value"], cell["text"]) for cell in figure["cells"]],
        }
        for figure in scene.figures(page)
    ]
    calculations = [
        (one["id"], one["names"], [_terms(line) for line in one["lines"]], _terms(one["totals"]))
        for one in scene.calculations(page)
    ]
    numbers = [
        (number["address"].split("[")[0], number["text"], float(number["value"]), number["isOwn"])
        for number in ask(page, NUMBERS)
    ]
    return {
        "figures": figures,
        "calculations": calculations,
        "numbers": numbers,
        "votes": ask(page, VOTES),
    }


def _terms(cells: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """What is written, and the number: what is not rounded may differ in its last bits."""
    return [(cell["text"], f"{cell['value']:.12g}") for cell in cells]


@pytest.mark.parametrize("page", ["table-follows-input.html", "votes.html", "en/index.html"])
def test_claims_turn_with_the_seed_as_the_census_says(
    site: BuiltSite, chromium: Chromium, page: str
) -> None:
    with chromium.visit(site.folder / page) as visit:
        before = ask(visit.page, TICKS)
        own = {tick["id"]: tick["text"] for tick in before}
        assert all(text.startswith("✓") for text in own.values())
        for seed in seeds_of(visit.page)[1:]:
            scene.choose(visit.page, seed=seed)
            holds = verdicts(seed)
            name = _name(seed, page)
            for tick in ask(visit.page, TICKS):
                assert tick["isFalse"] is not holds[tick["id"]], (seed, tick)
                assert name in tick["label"]
                assert tick["id"] in tick["label"]
                if holds[tick["id"]]:
                    assert tick["text"] == own[tick["id"]]
                else:
                    assert tick["text"].startswith(f"✗ {name}")
        scene.choose(visit.page, seed=None)
        assert ask(visit.page, TICKS) == before


def test_a_cross_leads_to_the_claim_of_the_same_seed(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / "table-follows-input.html", viewport=DESKTOP) as visit:
        page = visit.page
        scene.choose(page, seed=_a_seed_that_denies(page))
        cross = page.locator("a.claim.is-false").first
        said = cross.inner_text()
        cross.click()
        page.wait_for_url("**/about.html#claim-*?seed=*")
        item = page.locator(".claim-item:focus")
        expect(item).to_be_in_viewport()
        expect(item.locator(".claim.is-false")).to_have_text(said)


def _a_seed_that_denies(page: Page) -> int:
    """A seed for which a claim of the page does not hold."""
    claims = {tick["id"] for tick in ask(page, TICKS)}
    others = seeds_of(page)[1:]
    return next(seed for seed in others if any(not verdicts(seed)[id_] for id_ in claims))


def test_the_list_of_all_claims_turns_with_its_numbers(site: BuiltSite, chromium: Chromium) -> None:
    seed = OTHER_SEED
    numbers = content("census")["of_seed"][str(seed)]
    with chromium.visit(site.folder / "about.html") as visit:
        scene.choose(visit.page, seed=seed)
        items = ask(
            visit.page,
            """() => [...document.querySelectorAll(".claim-item")].map((item) => [
          item.id.replace("claim-", ""), item.querySelector(".claim")?.textContent ?? "",
          [...item.querySelectorAll("dd:not(.claim-seeds) span")].map((span) => (
            [span.querySelector("code").textContent, Number(span.querySelector("b").dataset.value)]
          )), item.querySelector("dt").textContent])""",
        )
        of_tables = {name: mark for name, mark, _, _ in items if name not in numbers}
        assert set(of_tables) == set(PREDICATES)
        assert not any(of_tables.values())
        of_models = [item for item in items if item[0] in numbers]
        assert [item[0] for item in of_models] == list(verdicts(seed))
        for id_, mark, shown, statement in of_models:
            assert dict(shown) == numbers[id_]
            assert mark.endswith("也成立" if verdicts(seed)[id_] else "不成立")
            if found := re.search(r"第 (\d) 个头", statement):
                assert int(found[1]) == numbers[id_]["head"]


def test_a_census_that_does_not_know_a_claim_says_for_which_seed_it_holds(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "reading-table.html") as visit:
        visit.page.evaluate(
            """async (seed) => {
          const {claims} = (await Article.data.seeds())[seed];
          for (const id of Object.keys(claims)) delete claims[id];
        }""",
            OTHER_SEED,
        )
        scene.choose(visit.page, seed=OTHER_SEED)
        for tick in ask(visit.page, TICKS):
            assert tick["text"] == "✓ 只对种子 8 查过"
        expect(visit.page.locator('.value[data-address^="claims."]').first).to_have_attribute(
            "data-only", "种子 8"
        )


def test_the_picker_and_the_way_back_work_by_keys(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / "table-follows-input.html", viewport=DESKTOP) as visit:
        page = visit.page
        picker = page.locator("select.seed-chooser")
        assert picker.get_attribute("aria-label")
        picker.focus()
        page.keyboard.press("ArrowDown")
        chosen = seeds_of(page)[1]
        expect(picker).to_have_value(str(chosen))
        expect(page.locator('.state-bar [data-line="state"]')).to_contain_text(f"种子 {chosen}")
        assert f"seed={chosen}" in address_of(page)
        back = page.get_by_role("button", name="回到种子 8")
        back.focus()
        page.keyboard.press("Enter")
        expect(picker).to_have_value("8")
        assert "seed" not in address_of(page)
        expect(page.locator(".state-bar")).to_be_hidden()
        go_back(page)
        expect(picker).to_have_value(str(chosen))
        expect(page.locator(".state-bar")).to_be_visible()
        page.keyboard.press("Delete")
        expect(picker).to_have_value("8")
        assert visit.complaints == []


@pytest.mark.parametrize("seed", ["77", "-3", "x", "1e1", "3.0", "", "99999999999999999999"])
def test_a_seed_that_is_not_there_is_left_out_with_a_note(
    site: BuiltSite, chromium: Chromium, seed: str
) -> None:
    with chromium.visit(site.folder / "reading-table.html") as visit:
        before = _shown(visit.page)
        visit_again(visit.page, f"?seed={seed}")
        expect(visit.page.locator('.state-bar [data-line="note"]')).to_contain_text("看不懂")
        expect(visit.page.locator("select.seed-chooser")).to_have_value("8")
        assert _shown(visit.page) == before
        assert visit.complaints == []


def test_the_articles_own_seed_in_an_address_is_no_other(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "reading-table.html") as visit:
        before = _shown(visit.page)
        visit_again(visit.page, "?seed=8")
        assert _shown(visit.page) == before
        expect(visit.page.locator(".state-bar")).to_have_count(0)


def test_a_step_of_the_training_is_there_for_the_articles_own_seed_only(
    site: BuiltSite, chromium: Chromium
) -> None:
    controls = ":is(.timeline, .training) :is(input, button)"
    with chromium.visit(site.folder / "index.html") as visit:
        page = visit.page
        scene.choose(page, step=120)
        page.locator("select.seed-chooser").select_option(str(OTHER_SEED))
        expect(page.locator(controls).first).to_be_disabled()
        assert "step" not in address_of(page)
        notes = page.locator(".own-seed")
        assert notes.count() >= 3
        assert set(notes.all_inner_texts()) == {"这里只有种子 8 的。"}
        expect(page.locator(".laboratory-weights")).to_contain_text(f"种子 {OTHER_SEED}")
        scene.choose(page, seed=None)
        for control in page.locator(controls).all():
            expect(control).to_be_enabled()
        expect(notes.first).to_be_hidden()
        visit_again(page, f"?seed={OTHER_SEED}&step=120")
        expect(page.locator('.state-bar [data-line="note"]')).to_contain_text("看不懂")
        assert "step" not in address_of(page)
        assert f"seed={OTHER_SEED}" in address_of(page)


def test_what_is_stored_of_interventions_says_whose_it_is(
    site: BuiltSite, chromium: Chromium
) -> None:
    seed = 9
    with chromium.visit(site.folder / "evidence.html", viewport=PHONE) as visit:
        page = visit.page
        scene.choose(page, seed=seed)
        for figure in page.locator(".effects, .effect-table, .share-effect").all():
            note = figure.locator("xpath=preceding-sibling::*[1]")
            expect(note).to_have_text("这里只有种子 8 的。")
            expect(note).to_be_visible()
            assert figure.locator("[data-only]").count() == 0
        for where in page.locator(".effects .matrix-where").all():
            assert "种子" not in where.inner_text()
        assert visit.fits()
        expect(page.locator(".census figcaption")).to_contain_text("是本文的种子 8。")
        left = page.locator('[data-address="claims.zero-is-used.most_without_zero"]')
        value = content("census")["of_seed"][str(seed)]["zero-is-used"]["most_without_zero"]
        assert value > 0.01
        expect(left).to_have_text(display(value, 2))


@pytest.mark.parametrize(
    ("page", "words"), [("about.html", "种子 8，训练"), ("en/about.html", "Seed 8, ")]
)
def test_the_articles_seed_stays_the_articles(
    site: BuiltSite, chromium: Chromium, page: str, words: str
) -> None:
    with chromium.visit(site.folder / page) as visit:
        scene.choose(visit.page, seed=OTHER_SEED)
        expect(visit.page.locator("#model + p")).to_contain_text(words)


def test_a_run_in_the_browser_does_not_show_through_another_seed(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "index.html") as visit:
        page = visit.page
        page.locator(".training [data-follow]").check()
        page.locator("#train-here").click()
        page.wait_for_function("() => Article.scene.current()?.step > 0")
        scene.choose(page, seed=OTHER_SEED, step=None)
        verdict = page.locator("#train-verdict")
        expect(verdict).to_have_attribute("data-identical", "3136", timeout=60_000)
        assert page.evaluate(
            "[Article.scene.current().step, Article.scene.current().run.seed]"
        ) == [
            None,
            OTHER_SEED,
        ]


def test_another_seed_goes_along_to_other_pages_and_languages(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "isolated-rows.html") as visit:
        page = visit.page
        scene.choose(page, seed=OTHER_SEED)
        page.locator(".pager .next").click()
        expect(page.locator("select.seed-chooser")).to_have_value(str(OTHER_SEED))
        page.locator(".language-switch a").click()
        page.wait_for_url(re.compile(rf"/en/.*seed={OTHER_SEED}"))


def test_an_open_cell_and_an_edit_are_of_the_chosen_seed(
    site: BuiltSite, other_site: BuiltSite, chromium: Chromium
) -> None:
    cell = "7x8:trained:blocks.0.attn.W_Q[0,0]"
    with chromium.visit(site.folder / "scores.html") as visit:
        scene.choose(visit.page, seed=OTHER_SEED)
        visit.page.evaluate("(cell) => Article.state.set({cell})", cell)
        panel = visit.page.locator(".cell-panel")
        weight = other_site.snapshot.weights("trained")["blocks.0.attn.W_Q"][0, 0]
        expect(panel.locator(".cell-value")).to_contain_text(f"{abs(weight):.2f}")
        expect(panel.locator(".cell-where")).to_contain_text(f"种子 {OTHER_SEED}")
        scene.choose(visit.page, edits="blocks.0.attn.W_Q[0,0]=3")
        scene.choose(visit.page, seed=None)
        expect(panel.locator(".cell-value")).to_contain_text("3")
        assert visit.complaints == []


def test_without_scripts_there_is_no_picker(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / "scores.html", java_script_enabled=False) as visit:
        assert visit.page.locator(".seed-chooser, .own-seed").count() == 0
        assert visit.page.locator("a.claim").first.inner_text().startswith("✓")


def test_weights_that_do_not_load_leave_the_page_as_it_is(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "reading-table.html") as visit:
        before = _shown(visit.page)
        visit.page.route("**/seeds.js", lambda route: route.abort())
        visit.page.reload()
        visit.page.locator("select.seed-chooser").select_option(str(OTHER_SEED))
        expect(visit.page.locator('.state-bar [data-line="note"]')).to_contain_text("没有读到")
        assert _shown(visit.page) == before


@in_every_look
def test_a_page_with_another_seed_fits_and_has_no_barriers(
    site: BuiltSite, chromium: Chromium, viewport: dict[str, int], scheme: str
) -> None:
    for page in ("table-follows-input.html", "en/index.html"):
        path = site.folder / page
        with chromium.visit(path, viewport=viewport, color_scheme=scheme) as visit:
            scene.choose(visit.page, seed=9, problem="9x9")
            assert visit.fits()
            header = visit.page.locator(".site-header > *")
            ends = header.evaluate_all(
                "(parts) => parts.map((part) => part.getBoundingClientRect().right)"
            )
            assert max(ends) <= viewport["width"]
            assert visit.barriers(".site-header") == visit.barriers(".state-bar") == []
            assert visit.barriers("main") == []
