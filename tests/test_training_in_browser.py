"""Training and the timeline on the cover, in Chromium: what comes out, what figures then show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from builder.numbers.display import display
from model import task
from model.encoding import rounded
from model.trace import activations
from tests.browser import Chromium, Visit, address_of, go_back, reload, visit_again
from tests.site_build import BuiltSite

WITHOUT_WORKERS = "delete window.Worker"


def test_training_here_ends_in_the_builds_weights(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / "index.html") as visit:
        visit.page.locator("[data-follow]").check()
        visit.page.locator("#train-here").click()
        assert_identical(visit, site)
        expect(visit.page.locator(".state-bar")).to_be_hidden()  # the text speaks of the last step
        assert visit.complaints == []
        assert visit.strangers == []


def test_training_works_on_the_page_where_there_are_no_workers(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "index.html") as visit:
        visit.page.add_init_script(WITHOUT_WORKERS)
        reload(visit.page)
        assert visit.page.evaluate("typeof Worker") == "undefined"
        visit.page.locator("#train-here").click()
        assert_identical(visit, site)


def test_training_can_be_taken_step_by_step_paused_and_begun_again(
    site: BuiltSite, chromium: Chromium
) -> None:
    loss = site.snapshot.document("training.json")["loss"]
    with chromium.visit(site.folder / "index.html") as visit:
        page = visit.page
        for step in (1, 2, 3):
            page.locator('[data-command="step"]').click()
            expect(reading(page, "step")).to_have_text(str(step))
            expect(reading(page, "loss")).to_have_text(display(loss[step], 4))
        page.locator("#train-here").click()
        expect(reading(page, "step")).not_to_have_text("3")
        page.locator("#train-here").click()
        assert int(standstill(page)) < 600
        page.locator('[data-command="reset"]').click()
        expect(reading(page, "step")).to_have_text("0")
        page.locator("#train-here").click()
        assert_identical(visit, site)


def test_the_verdict_names_what_differs(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / "index.html") as visit:
        visit.page.evaluate(
            """async () => {
              const real = Article.data.run;
              Article.data.run = async () => {
                const run = await real();
                run.trained[5] += 1;
                return run;
              };
            }"""
        )
        visit.page.locator("#train-here").click()
        verdict = visit.page.locator("#train-verdict[data-identical]")
        expect(verdict).to_have_attribute("data-identical", "3135", timeout=120_000)
        assert "embed.W_E, 5" in verdict.inner_text()


@pytest.mark.parametrize("page", ["index.html", "en/index.html"])
def test_the_timeline_shows_every_checkpoint(
    site: BuiltSite, chromium: Chromium, page: str
) -> None:
    steps = site.snapshot.document("training.json")["checkpoints"]
    with chromium.visit(site.folder / page) as visit:
        before = cells(visit.page)
        for index in (0, 7, len(steps) // 2, len(steps) - 2):
            slide(visit.page, index)
            expect(visit.page.locator(".curve-mark:not([hidden])")).to_have_count(2)
            expect(visit.page.locator(".state-bar")).to_contain_text(str(steps[index]))
            assert cells(visit.page) == expected(site, steps[index])
        slide(visit.page, len(steps) - 1)
        expect(visit.page.locator(".state-bar")).to_be_hidden()
        assert cells(visit.page) == before == expected(site, steps[-1])


def test_an_address_shows_its_step_and_going_back_leaves_it(
    site: BuiltSite, chromium: Chromium
) -> None:
    steps = site.snapshot.document("training.json")["checkpoints"]
    with chromium.visit(site.folder / "index.html") as visit:
        page = visit.page
        index = len(steps) // 3
        slide(page, index)
        assert address_of(page).endswith(f"?step={steps[index]}")
        address = address_of(page)
        go_back(page)
        expect(page.locator(".state-bar")).to_be_hidden()
        page.goto(address)
        reload(page)
        expect(page.locator(".timeline output")).to_contain_text(str(steps[index]))
        shown = page.locator("figure.matrix").first.locator("tbody td")
        expect(shown).to_have_text(expected(site, steps[index]))  # once the checkpoints are there


@pytest.mark.parametrize(
    "fragment", ["?step=many", "#training?nonsense=1", "?step=-3", "?step=1e9"]
)
def test_an_address_that_means_nothing_is_left_out_with_a_note(
    site: BuiltSite, chromium: Chromium, fragment: str
) -> None:
    with chromium.visit(site.folder / "en" / "index.html") as visit:
        before = cells(visit.page)
        visit_again(visit.page, fragment.lstrip("#"))
        expect(visit.page.locator(".state-bar")).to_contain_text("not understood")
        assert cells(visit.page) == before
        assert visit.complaints == []


def test_figures_follow_a_run_when_they_are_asked_to(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / "index.html") as visit:
        visit.page.locator("[data-follow]").check()
        visit.page.locator('[data-command="step"]').click()
        expect(visit.page.locator(".state-bar")).to_be_visible()
        visit.page.locator("figure.matrix").first.scroll_into_view_if_needed()  # what is far waits
        assert cells(visit.page) == expected(site, 1)
        visit.page.locator("[data-follow]").uncheck()
        expect(visit.page.locator(".state-bar")).to_be_hidden()


def test_figures_show_where_the_training_stands_from_when_they_are_asked_to(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "index.html") as visit:
        page, follows = visit.page, visit.page.locator("[data-follow]")
        page.locator('[data-command="step"]').click()
        expect(reading(page, "step")).to_have_text("1")
        follows.check()
        expect(page.locator(".state-bar")).to_contain_text("第 1 步")
        page.locator("figure.matrix").first.scroll_into_view_if_needed()
        assert cells(page) == expected(site, 1)


def test_the_timeline_takes_over_from_a_run_that_figures_follow(
    site: BuiltSite, chromium: Chromium
) -> None:
    steps = site.snapshot.document("training.json")["checkpoints"]
    with chromium.visit(site.folder / "index.html") as visit:
        page, follows = visit.page, visit.page.locator("[data-follow]")
        follows.check()
        page.locator('[data-command="step"]').click()
        expect(page.locator(".state-bar")).to_contain_text("第 1 步")
        slide(page, 7)
        expect(page.locator(".state-bar")).to_contain_text(f"第 {steps[7]} 步")
        expect(follows).not_to_be_checked()
        page.locator('[data-command="step"]').click()
        expect(reading(page, "step")).to_have_text("2")
        assert cells(page) == expected(site, steps[7])


def reading(page: Page, name: str) -> Any:
    return page.locator(f'.training [data-part="{name}"]')


def assert_identical(visit: Visit, site: BuiltSite) -> None:
    total = str(site.snapshot.manifest["model"]["n_params"])
    verdict = visit.page.locator("#train-verdict[data-identical]")
    expect(verdict).to_have_attribute("data-identical", total, timeout=120_000)
    expect(verdict).to_have_attribute("data-total", total)
    expect(reading(visit.page, "correct")).to_have_text("100")


def standstill(page: Page) -> str:
    """The step that a paused run has come to; what is under way when it is paused still counts."""
    before, now = "", reading(page, "step").inner_text()
    while now != before:
        page.wait_for_timeout(300)
        before, now = now, reading(page, "step").inner_text()
    return now


def slide(page: Page, index: int) -> None:
    """Move the slider as a reader does, an input, then a change; wait until all has followed."""
    page.locator("#timeline-slider").evaluate(
        """async (slider, index) => {
          const followed = new Promise((resolve) =>
            document.addEventListener("article:rest", resolve, {once: true}));
          slider.value = index;
          slider.dispatchEvent(new Event("input", {bubbles: true}));
          slider.dispatchEvent(new Event("change", {bubbles: true}));
          await followed;
        }""",
        str(index),
    )


def cells(page: Page) -> list[str]:
    """The digits of the cover's first matrix: P after `7×8=`."""
    return page.locator("figure.matrix").first.locator("tbody td").all_text_contents()


def expected(site: BuiltSite, step: int) -> list[str]:
    """The same from the checkpoint's weights, through the model."""
    weights = site.snapshot.weights(f"step-{step:04d}")
    probs = activations(weights, site.snapshot.config)["probs"]
    row = probs[task.PROBLEMS.index(task.BY_NAME["7x8"]), task.EQUALS_POSITION]
    return [display(float(value)) for value in rounded(np.asarray(row))]
