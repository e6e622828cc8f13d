"""The drawing of the network in Chromium: legible, walked by keyboard, and every box opens."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests import scene
from tests.browser import DESKTOP, PHONE, Chromium, address_of
from tests.site_build import BuiltSite

COVERS = ["index.html", "en/index.html"]

FOCUSED = "() => document.activeElement.closest('.network-drawing a')?.id ?? null"

MEASURE = """() => {
  const edges = (element) => {
    const {left, top, right, bottom} = element.getBoundingClientRect();
    return [left, top, right, bottom];
  };
  const svg = document.querySelector(".network svg");
  const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
  return {
    page: edges(document.querySelector(".network-drawing")),
    sizes: [...svg.querySelectorAll("text, .letter, .letters")]
      .map((text) => parseFloat(getComputedStyle(text).fontSize) * scale),
    words: [...svg.querySelectorAll("text")].map(edges),
    boxes: [...svg.querySelectorAll("a")].map((box) => ({
      id: box.id,
      edges: edges(box.querySelector("rect")),
      texts: [...box.querySelectorAll("text")].map(edges),
      lines: [...box.querySelectorAll("text")].map((text) => Number(text.getAttribute("y"))),
    })),
  };
}"""

LEAST_SIZE = 10.99


@pytest.mark.parametrize("viewport", [PHONE, DESKTOP], ids=["phone", "desktop"])
@pytest.mark.parametrize("page", COVERS)
def test_texts_are_large_enough_and_stay_in_their_boxes(
    site: BuiltSite, chromium: Chromium, page: str, viewport: dict[str, int]
) -> None:
    with chromium.visit(site.folder / page, viewport=viewport) as visit:
        found = visit.page.evaluate(MEASURE)
        assert min(found["sizes"]) >= LEAST_SIZE
        assert all(inside(word, found["page"]) for word in found["words"])
        for box in found["boxes"]:
            assert all(inside(text, box["edges"]) for text in box["texts"]), box["id"]
            texts = list(zip(box["texts"], box["lines"], strict=True))
            for one, other in itertools.combinations(texts, 2):
                assert apart(*one, *other), box["id"]
        assert len(found["boxes"]) == 38


def inside(inner: list[float], outer: list[float]) -> bool:
    left, top, right, bottom = outer
    return left <= inner[0] and inner[2] <= right and top - 1 <= inner[1] and inner[3] <= bottom + 1


def apart(one: list[float], line: float, other: list[float], other_line: float) -> bool:
    """Whether two texts stand on lines of their own, or leave a space between them."""
    if abs(line - other_line) > 2:
        return abs(line - other_line) >= 12
    return one[2] + 2 <= other[0] or other[2] + 2 <= one[0]


@pytest.mark.parametrize("page", COVERS)
def test_the_keyboard_climbs_the_network_and_a_box_leads_to_its_place(
    site: BuiltSite, chromium: Chromium, page: str
) -> None:
    with chromium.visit(site.folder / page, viewport=DESKTOP) as visit:
        here = visit.page
        boxes = [(box.get_attribute("id"), box.get_attribute("href")) for box in links(here)]
        links(here)[0].focus()
        for box_id, _ in boxes:
            assert here.evaluate(FOCUSED) == box_id
            here.keyboard.press("Tab")
        assert here.evaluate(FOCUSED) is None
        last = str(boxes[-1][1])
        links(here)[-1].press("Enter")
        here.wait_for_url(f"**/{last.removeprefix('../')}")
        expect(here.locator("#part-probs")).to_be_in_viewport()
        assert visit.complaints == []


def links(page: Page) -> list[Any]:
    return page.locator(".network a").filter(has=page.locator("rect")).all()


def test_every_box_is_a_link_with_a_name_of_its_own(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / "index.html", viewport=DESKTOP) as visit:
        titles = [box.locator("title").text_content() for box in links(visit.page)]
        assert len(set(titles)) == len(titles)
        for title in titles:
            link = visit.page.get_by_role("link", name=title, exact=True)
            expect(link).to_have_count(1)


def test_a_box_leads_to_the_ledger_of_its_layer_and_head(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "index.html", viewport=DESKTOP) as visit:
        page = visit.page
        page.locator('.network a[data-key="blocks.1.attn.z"][data-head="1"] rect').click()
        page.wait_for_url("**/ledger.html#part-attn.z?layer=1&head=1")
        part = page.locator("#part-attn\\.z")
        expect(part).to_be_in_viewport()
        shown = part.locator('figure.matrix[data-key="blocks.1.attn.z"][data-head="1"]')
        expect(shown).to_have_count(2)
        assert visit.complaints == []


def test_a_box_takes_along_what_the_reader_has_chosen(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / "index.html", viewport=DESKTOP) as visit:
        page = visit.page
        scene.choose(page, problem="4x6", step=60)
        page.locator('.network a[data-key="blocks.1.attn.z"][data-head="1"] rect').click()
        page.wait_for_url("**/ledger.html#part-attn.z?step=60&problem=4x6&layer=1&head=1")
        shown = page.locator("#part-attn\\.z figure[data-stage=trained] .matrix-where").first
        expect(shown).to_have_text("第 2 层 · 头 2 · 第 60 步 · 4×6")


def test_a_box_opened_in_another_tab_leaves_this_one_alone(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "index.html", viewport=DESKTOP) as visit:
        before = address_of(visit.page)
        with visit.page.context.expect_page() as other:
            links(visit.page)[-1].locator("rect").click(modifiers=["ControlOrMeta"])
        other.value.wait_for_url("**/ledger.html#part-probs")
        assert address_of(visit.page) == before


def test_what_a_box_reads_lights_up_with_it(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / "index.html", viewport=DESKTOP) as visit:
        box = visit.page.locator('.network a[data-key="blocks.0.resid_mid"]')
        stroke = (
            "(a) => [...a.querySelectorAll('path, rect')].map((s) => getComputedStyle(s).stroke)"
        )
        before = box.evaluate(stroke)
        box.locator("rect").hover()
        lit = box.evaluate(stroke)
        assert len(lit) == 3
        assert len(set(lit)) == 1
        assert lit[0] not in before
        visit.page.mouse.move(0, 0)
        box.focus()
        assert box.evaluate(stroke) == lit


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", COVERS)
def test_the_drawing_with_its_table_open_has_no_barriers(
    site: BuiltSite, chromium: Chromium, page: str, scheme: str
) -> None:
    with chromium.visit(site.folder / page, viewport=PHONE, color_scheme=scheme) as visit:
        visit.page.locator(".network summary").click()
        assert visit.fits()
        assert visit.barriers(".network") == []


def test_without_scripts_drawing_and_table_are_complete(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "index.html", java_script_enabled=False) as visit:
        assert visit.page.locator(".network svg").is_visible()
        assert visit.page.locator(".network noscript p").is_visible()
        visit.page.locator(".network summary").click()
        assert visit.page.locator(".network-table tfoot td").inner_text() == "3,136"


def test_colours_that_the_reader_forces_reach_the_drawing(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "index.html", forced_colors="active") as visit:
        colours = visit.page.evaluate(
            """() => {
              const system = (name) => {
                const made = document.body.appendChild(document.createElement("i"));
                made.style.cssText = `forced-color-adjust: none; color: ${name}`;
                return getComputedStyle(made).color;
              };
              const style = (selector) => getComputedStyle(document.querySelector(selector));
              return {
                text: style(".network a text").fill, ink: system("CanvasText"),
                box: style(".network a rect").fill, paper: system("Canvas"),
              };
            }"""
        )
        assert colours["text"] == colours["ink"]
        assert colours["box"] == colours["paper"]
