"""The primer in Chromium: who may read whom, the toy in the plane, and the real head.

What the toy shows is computed once more, from the numbers that it shows as chosen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Locator, Page, expect

from builder.blocks import toy
from builder.numbers.display import MASKED, MINUS, display, display_scientific
from tests import independent, scene
from tests.browser import DESKTOP, PAPER, PHONE, Chromium, Visit, address_of, ask, in_every_look
from tests.site_build import BuiltSite

Array = NDArray[np.float64]

PAGE = "primer.html"
UNIT = 36
TOUCH = {"viewport": PHONE, "has_touch": True, "is_mobile": True}
SENTENCE = ["The", "animal", "was", "tired", "because", "it", "had", "been", "running", "."]

READ = """() => {
  const figure = document.querySelector(".plane");
  const ends = ["x1", "y1", "x2", "y2"];
  const line = (element) => ends.map((name) => Number(element.getAttribute(name)));
  const lines = (name) => [...figure.querySelectorAll(name)].map(line);
  const cells = [...figure.querySelectorAll("[data-part]")].map((td) => ({
    part: td.dataset.part, text: td.textContent,
  }));
  return {
    cells, keys: lines(".plane-key line"), values: lines(".plane-value line"),
    query: lines(".plane-query")[0], across: lines(".plane-across")[0],
    steps: lines(".plane-step"), output: lines(".plane-output line")[0],
    handle: figure.querySelector(".plane-handle").getAttribute("transform"),
    masked: [...figure.querySelectorAll(".plane-key")].map((g) => g.classList.contains("masked")),
    summary: figure.querySelector(".plane-summary").textContent,
  };
}"""


SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")


def number(text: str) -> float:
    """A number as it is shown; one that is masked is 0."""
    if text == MASKED:
        return 0
    digits, _, power = text.removeprefix("≈ ").replace(MINUS, "-").partition("×10")
    return float(f"{digits}e{power.translate(SUPERSCRIPTS) or 0}")


def share_text(share: float) -> str:
    """However small, a share is not 0."""
    return display(share, 3) if share >= 0.0005 else display_scientific(share, 0)


def texts(shown: dict[str, Any], part: str) -> list[str]:
    return [cell["text"] for cell in shown["cells"] if cell["part"] == part]


def pairs(shown: dict[str, Any], part: str) -> Array:
    return np.array([number(text) for text in texts(shown, part)]).reshape(-1, 2)


def reading(
    q: Array, k: Array, v: Array, seen: int, *, scale: bool = True, temperature: float = 1.0
) -> dict[str, Array]:
    """Attention of one position, from its definition."""
    dot = np.array([sum(a * b for a, b in zip(q, key, strict=True)) for key in k])
    score = dot / (2**0.5 if scale else 1) / temperature
    powers = np.where(np.arange(len(k)) < seen, np.exp(score - score[:seen].max()), 0)
    share = powers / powers.sum()
    return {"dot": dot, "score": score, "share": share, "brought": share[:, None] * v}


def check(page: Page, query: tuple[float, float], receiver: int = 3, **options: Any) -> None:
    """Every number and every arrow of the toy."""
    shown = page.evaluate(READ)
    q, k, v = pairs(shown, "q")[0], pairs(shown, "k"), pairs(shown, "v")
    np.testing.assert_allclose(q, query, atol=1e-9)
    seen = receiver + 1 if options.pop("mask", True) else 4
    made = reading(q, k, v, seen, **options)
    for part, decimals in (("dot", 2), ("score", 3)):
        expected = [display(x, decimals) for x in made[part][:seen]] + [MASKED] * (4 - seen)
        assert texts(shown, part) == expected, part
    expected = [share_text(x) for x in made["share"][:seen]] + [MASKED] * (4 - seen)
    assert texts(shown, "share") == expected * 2
    np.testing.assert_allclose(pairs(shown, "brought"), made["brought"], atol=0.0005001)
    output = made["brought"].sum(axis=0)
    np.testing.assert_allclose(pairs(shown, "output")[0], output, atol=0.0005001)
    check_sums(shown, seen)
    check_arrows(shown, q, k, v, made["brought"])
    assert shown["masked"] == [source >= seen for source in range(4)]
    assert display(output[0], 3) in shown["summary"]
    assert all(share_text(share) in shown["summary"] for share in made["share"][:seen])


def check_sums(shown: dict[str, Any], seen: int) -> None:
    """A sum of shown numbers that is not the shown sum is marked."""
    exact = [Decimal(text.replace(MINUS, "-")) for text in texts(shown, "brought")[: 2 * seen]]
    sums = [sum(exact[0::2]), sum(exact[1::2])]
    shares = (text for text in texts(shown, "share")[:seen] if "×10" not in text)  # under 0.0005
    total = sum(map(Decimal, shares))
    outputs = texts(shown, "output")
    for text, added in zip([texts(shown, "total")[0], *outputs], [total, *sums], strict=True):
        assert text.startswith("≈") == (added != Decimal(text.lstrip("≈ ").replace(MINUS, "-")))


def check_arrows(shown: dict[str, Any], q: Array, k: Array, v: Array, brought: Array) -> None:
    def drawn(lines: list[list[float]]) -> Array:
        """Where they begin and end, in the units of the plane."""
        return np.array(lines).reshape(-1, 2, 2) * [1, -1] / UNIT

    for name, vectors in (("keys", k), ("values", v)):
        np.testing.assert_allclose(drawn(shown[name])[:, 0], 0, atol=1e-9)
        np.testing.assert_allclose(drawn(shown[name])[:, 1], vectors, atol=1e-3)
    ends = np.cumsum(brought, axis=0)
    steps = drawn(shown["steps"])
    np.testing.assert_allclose(steps[:, 1], ends, atol=1e-3)
    np.testing.assert_allclose(steps[1:, 0], ends[:-1], atol=1e-3)
    np.testing.assert_allclose(drawn([shown["output"]])[0, 1], ends[-1], atol=1e-3)
    np.testing.assert_allclose(drawn([shown["query"]])[0, 1], q, atol=1e-3)
    x, y = map(float, re.findall(r"-?[\d.]+", shown["handle"]))
    np.testing.assert_allclose([x / UNIT, -y / UNIT], q, atol=1e-3)
    across = drawn([shown["across"]])[0]
    np.testing.assert_allclose((across[1] - across[0]) @ q, 0, atol=1e-6)


@pytest.fixture
def visit(site: BuiltSite, chromium: Chromium) -> Iterator[Visit]:
    with chromium.visit(site.folder / PAGE, viewport=DESKTOP) as visit:
        yield visit
        assert visit.complaints == []


def part(page: Page, selector: str) -> Locator:
    return page.locator(f".plane {selector}")


def at(page: Page, x: float, y: float) -> tuple[float, float]:
    """Where a point of the plane is in the window."""
    box = part(page, ".plane-drawing").first.bounding_box()
    assert box
    unit = box["width"] / 9
    return box["x"] + box["width"] / 2 + x * unit, box["y"] + box["height"] / 2 - y * unit


def take(page: Page, x: float, y: float, to: tuple[float, float]) -> None:
    """Drag with the mouse from a point of the plane to another."""
    page.mouse.move(*at(page, x, y))
    page.mouse.down()
    page.mouse.move(*at(page, (x + to[0]) / 2, (y + to[1]) / 2))
    page.mouse.move(*at(page, *to))
    page.mouse.up()


def swipe(page: Page, begin: tuple[float, float], end: tuple[float, float]) -> None:
    """Drag with a finger, in the window."""
    session = page.context.new_cdp_session(page)
    middle = ((begin[0] + end[0]) / 2, (begin[1] + end[1]) / 2)
    for kind, points in (
        ("touchStart", [begin]),
        ("touchMove", [middle]),
        ("touchMove", [end]),
        ("touchEnd", []),
    ):
        where = [{"x": x, "y": y} for x, y in points]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": where})


def test_without_scripts_the_start_is_complete(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / PAGE, java_script_enabled=False) as visit:
        page = visit.page
        tables = part(page, ".matrix-table")
        expect(tables).to_have_count(2)
        assert all(table.is_visible() for table in tables.all())
        assert not part(page, ".plane-controls").is_visible()
        assert not page.locator(".receiver").is_visible()
        assert all(button.is_disabled() for button in part(page, ".plane-cases button").all())
        rows = [row.split() for row in tables.nth(0).locator("tbody tr").all_inner_texts()]
        assert rows[1] == ["animal", "2.0", "1.0", "3.00", "2.121", "0.762"]
        built = part(page, "[data-part]").all_inner_texts()
        expect(page.locator(".plane ~ noscript, .plane + noscript")).to_have_count(1)
    with chromium.visit(site.folder / PAGE) as visit:
        assert part(visit.page, "[data-part]").all_inner_texts() == built
        check(visit.page, (1, 1))
        visit.page.route("**/main.js", lambda _route: None)
        visit.page.reload(wait_until="commit")
        visit.page.locator("footer").wait_for()
        shown = visit.page.evaluate(READ)
        q, k, v = pairs(shown, "q")[0], pairs(shown, "k"), pairs(shown, "v")
        check_arrows(shown, q, k, v, reading(q, k, v, 4)["brought"])


def test_the_arrow_is_dragged_with_the_mouse(visit: Visit) -> None:
    page = visit.page
    part(page, ".plane-drawing").first.scroll_into_view_if_needed()
    take(page, 1, 1, (-2, 2.5))
    check(page, (-2, 2.5))
    take(page, -2, 2.5, (0, 0))
    check(page, (0, 0))
    assert len(set(texts(page.evaluate(READ), "share")[:4])) == 1
    take(page, 0, 0, (9, -1))  # beyond the edge: no further than 4
    check(page, (4, -1))
    page.mouse.move(*at(page, 1, 1))  # let go of
    check(page, (4, -1))


def test_the_arrow_is_dragged_with_a_finger(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / PAGE, **TOUCH) as visit:
        page = visit.page
        page.evaluate("document.documentElement.style.scrollBehavior = 'auto'")
        drawing = part(page, ".plane-drawing").first
        drawing.evaluate("(svg) => svg.scrollIntoView({block: 'center'})")
        top = page.evaluate("scrollY")
        swipe(page, at(page, 1, 1), at(page, -3, -1.5))
        check(page, (-3, -1.5))
        assert page.evaluate("scrollY") == top
        swipe(page, at(page, 2, 3), at(page, 2, 1))  # nothing is there: the page is scrolled
        check(page, (-3, -1.5))
        assert visit.complaints == []


def test_the_arrow_is_moved_by_keys(visit: Visit) -> None:
    page = visit.page
    handle = part(page, ".plane-handle")
    handle.focus()
    assert handle.get_attribute("role") == "slider"
    for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    check(page, (1.2, 0.9))
    for key in ("Shift+ArrowLeft", "PageUp"):
        page.keyboard.press(key)
    check(page, (0.2, 1.9))
    assert handle.get_attribute("aria-valuetext") == "(0.2, 1.9)"
    assert handle.get_attribute("aria-label") == "it 的 q"
    for _ in range(5):
        page.keyboard.press("Shift+ArrowUp")
    check(page, (0.2, 4))
    for key, query in (("Home", (-4, 4)), ("PageDown", (-4, 3)), ("End", (4, 3))):
        page.keyboard.press(key)
        check(page, query)
    assert [handle.get_attribute(f"aria-value{of}") for of in ("min", "now", "max")] == [
        "-4",
        "4",
        "4",
    ]


def test_taken_beside_its_middle_the_arrow_does_not_jump(visit: Visit) -> None:
    page = visit.page
    part(page, ".plane-drawing").first.scroll_into_view_if_needed()
    x, y = at(page, 1.4, 0.7)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 1, y)
    check(page, (1, 1))
    page.mouse.move(*at(page, 2.4, -0.3))
    check(page, (2, 0))
    page.mouse.up()


def test_who_comes_back_finds_the_start(site: BuiltSite, visit: Visit) -> None:
    page = visit.page
    part(page, '.plane-cases [value="long"]').click()
    part(page, ".choice label").nth(1).click()
    part(page, '[name="mask"]').click()
    part(page, '[type="range"]').first.fill("1.9")
    page.goto((site.folder / "scores.html").as_uri())
    page.go_back()
    page.wait_for_load_state()
    check(page, (1, 1))
    assert part(page, ".choice :checked").get_attribute("value") == "3"
    assert all(box.is_checked() for box in part(page, '[type="checkbox"]').all())
    assert [slider.input_value() for slider in part(page, '[type="range"]').all()] == ["1"] * 3


def test_one_key_is_said_once(visit: Visit) -> None:
    page = visit.page
    live = part(page, ":is(output, [role=status], [aria-live])")
    spoken = [each for each in live.all() if each.get_attribute("aria-live") != "off"]
    assert [each.get_attribute("class") for each in spoken] == ["plane-summary"]
    expect(page.get_by_role("figure", name="二维实验室", exact=True)).to_have_count(1)
    assert "方向键" in part(page, ".plane-controls").inner_text()
    assert "点开" in part(page, ".plane-controls").inner_text()


def test_a_row_is_called_what_it_is(visit: Visit) -> None:
    page = visit.page
    part(page, ".plane-own td").first.click()
    label = part(page, ".plane-own td").first.get_attribute("aria-label") or ""
    assert label.startswith("行 it 的 q，列 q₀")


def test_the_sliders_turn_the_query(visit: Visit) -> None:
    page = visit.page
    x, y, _ = part(page, '[type="range"]').all()
    x.focus()
    page.keyboard.press("Home")
    check(page, (-4, 1))
    y.focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    check(page, (-4, 0.7))
    box = x.bounding_box()
    assert box
    x.click(position={"x": box["width"] - 1, "y": box["height"] / 2})
    check(page, (4, 0.7))
    assert part(page, "output").all_inner_texts()[:2] == ["4.0", "0.7"]


def test_each_position_reads_with_its_own_query(visit: Visit) -> None:
    page = visit.page
    labels, start = part(page, ".choice label"), toy.presets()["start"]
    for receiver in (0, 2, 1, 3):
        labels.nth(receiver).click()
        check(page, start.q[receiver], receiver)
        own = part(page, ".plane-own th").inner_text()
        assert own == f"{toy.TOKENS[receiver]} 的 q"
    part(page, ".choice input").nth(3).focus()
    page.keyboard.press("ArrowLeft")
    check(page, start.q[2], 2)
    part(page, ".plane-handle").focus()
    page.keyboard.press("ArrowUp")
    check(page, (2, -0.9), 2)
    labels.nth(3).click()
    check(page, start.q[3])
    labels.nth(2).click()  # it has kept its own
    check(page, (2, -0.9), 2)


def test_mask_scale_and_temperature(visit: Visit) -> None:
    page = visit.page
    mask, scale = part(page, '[type="checkbox"]').all()
    part(page, ".choice label").nth(1).click()
    check(page, (0, 2), 1)
    mask.click()
    check(page, (0, 2), 1, mask=False)
    scale.focus()
    page.keyboard.press("Space")
    check(page, (0, 2), 1, mask=False, scale=False)
    part(page, "summary").click()
    temperature = part(page, '[name="temperature"]')
    temperature.focus()
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    check(page, (0, 2), 1, mask=False, scale=False, temperature=0.5)
    page.keyboard.press("End")
    scale.click()
    check(page, (0, 2), 1, mask=False, temperature=4)
    part(page, '[value="start"]').click()
    check(page, (1, 1))
    assert mask.is_checked()
    assert scale.is_checked()
    assert temperature.input_value() == "1"


def test_the_cases_show_what_is_said_of_them(visit: Visit) -> None:
    page = visit.page

    def press(name: str) -> dict[str, Any]:
        part(page, f'.plane-cases [value="{name}"]').click()
        shown: dict[str, Any] = page.evaluate(READ)
        return shown

    before = page.evaluate(READ)
    same = press("same")
    check(page, (1, 1))
    keys, shares = pairs(same, "k"), texts(same, "share")[:4]
    assert list(keys[0]) == list(keys[2])
    assert shares[0] == shares[2]
    assert list(pairs(same, "v")[0]) != list(pairs(same, "v")[2])
    press("zero")
    check(page, (0, 0))
    assert texts(page.evaluate(READ), "share")[:4] == ["0.250"] * 4
    press("long")
    check(page, (4, 4))
    assert number(texts(page.evaluate(READ), "share")[0]) > 0.99
    value = press("value")
    check(page, (1, 1))
    assert texts(value, "share") == texts(before, "share")
    assert texts(value, "output") != texts(before, "output")
    assert current(page) == ["value"]
    said = part(page, ".plane-cases li").all_inner_texts()
    assert f"各 {shares[0]}" in said[0]
    assert f"({', '.join(texts(before, 'output'))})" in said[3]
    assert f"({', '.join(texts(value, 'output'))})" in said[3]


def current(page: Page) -> list[str | None]:
    cases = part(page, '.plane-cases [aria-current="true"]').all()
    return [case.get_attribute("value") for case in cases]


def test_the_case_that_is_in_view_is_marked(visit: Visit) -> None:
    page = visit.page
    assert current(page) == []
    for name in ("same", "value"):  # another key or value stays, whoever reads and with which query
        part(page, f'.plane-cases [value="{name}"]').click()
        part(page, ".choice label").nth(2).click()
        part(page, ".plane-handle").focus()
        page.keyboard.press("ArrowUp")
        assert current(page) == [name]
    for leave in (
        lambda: part(page, ".choice label").nth(2).click(),
        lambda: part(page, ".plane-handle").press("ArrowUp"),
        lambda: part(page, '[type="range"]').first.press("ArrowUp"),
        lambda: part(page, '[value="start"]').click(),
    ):
        part(page, '.plane-cases [value="zero"]').click()
        assert current(page) == ["zero"]
        part(page, '[name="mask"]').click()
        assert current(page) == ["zero"]
        leave()
        assert current(page) == []


def test_a_tiny_share_is_not_shown_as_none(visit: Visit) -> None:
    page = visit.page
    part(page, '.plane-cases [value="long"]').click()
    check(page, (4, 4))
    shares = texts(page.evaluate(READ), "share")[:4]
    assert sum("×10" in share for share in shares) == 2
    part(page, ".choice label").nth(1).click()
    check(page, (0, 2), 1)
    assert texts(page.evaluate(READ), "share")[2:4] == [MASKED] * 2


OPERATIONS = str.maketrans({"×": "*", "÷": "/", MINUS: "-"})


def calculated(text: str) -> float:
    """What a written calculation comes to."""
    assert re.fullmatch(r"[\d.+*/() -]+", text.translate(OPERATIONS)), text
    found: float = eval(text.translate(OPERATIONS))  # digits and signs alone
    return found


def explained(panel: Locator) -> str:
    return panel.locator(".readout").inner_text()


def check_explanations(page: Page) -> int:
    """Point at every number: what is written out comes to it. Return how many were computed."""
    n_computed = 0
    for panel in part(page, ".plane-panel").all():
        for cell in panel.locator("[data-part]").all():
            cell.hover()
            text, shown = explained(panel), cell.inner_text().removeprefix("≈ ")
            if cell.get_attribute("data-part") in ("q", "k", "v"):
                assert text == "这个数是挑的，不是算出来的。"
            elif cell.inner_text() == MASKED or "masked" in (
                cell.locator("xpath=..").get_attribute("class") or ""
            ):
                assert text == "被遮住，不参与"
            else:
                check_calculation(text, shown)
                n_computed += 1
    return n_computed


def check_calculation(text: str, shown: str) -> None:
    """What is written out comes to the number shown, and exactly so unless it says nearly."""
    *_, calculation, sign, result = re.split(" ([=≈]) ", text)
    value = calculated(calculation)
    if "×10" in result:
        assert result == shown
        assert sign == "≈"
    else:
        last = Decimal(1).scaleb(-len(result.partition(".")[2]))
        comes_to = Decimal(str(round(value, 9))).quantize(last, ROUND_HALF_UP)
        assert (comes_to == Decimal(result.replace(MINUS, "-"))) == (sign == "="), text
        assert display(number(result), len(shown.partition(".")[2])) == shown, text
    assert abs(value - number(result)) < 0.0012, text


WRITTEN_OUT = """(states) => {
  const figure = document.querySelector(".plane");
  const [first, second] = figure.querySelectorAll('[type="range"]');
  const parts = ["dot", "score", "share", "brought"].map((part) => `[data-part="${part}"]`);
  return states.flatMap(([x, y, reader]) => {
    figure.querySelectorAll(".choice input")[reader].click();
    [first.value, second.value] = [x, y];
    first.dispatchEvent(new Event("input", {bubbles: true}));
    return [...figure.querySelectorAll(parts.join())].map((td) => {
      const panel = td.closest(".plane-panel");
      panel.dispatchEvent(new CustomEvent("article:cell", {bubbles: true, detail: td}));
      return [panel.querySelector(".readout").textContent, td.textContent];
    });
  });
}"""


def test_in_any_state_what_is_written_out_comes_to_what_is_shown(visit: Visit) -> None:
    random = np.random.default_rng(5)
    states = [
        [x / 10, y / 10, reader]
        for x, y, reader in zip(
            random.integers(-40, 41, 150).tolist(),
            random.integers(-40, 41, 150).tolist(),
            random.integers(0, 4, 150).tolist(),
            strict=True,
        )
    ]
    found = [each for each in ask(visit.page, WRITTEN_OUT, states) if each[0] != "被遮住，不参与"]
    assert len(found) > 2000
    for text, shown in found:
        check_calculation(text, shown)
    assert sum(" ≈ " in text for text, _ in found) < len(found) / 10


def test_every_number_opens_to_its_arithmetic(visit: Visit) -> None:
    page = visit.page
    assert check_explanations(page) == 4 * 3 + 1 + 4 * 3 + 3
    part(page, ".choice label").nth(2).click()
    part(page, '[name="scale"]').click()
    part(page, ".plane-handle").focus()
    for key in ("Shift+ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    assert check_explanations(page) == 3 * 3 + 1 + 3 * 3 + 3


def test_an_open_number_follows_and_is_let_go_of(visit: Visit) -> None:
    page = visit.page
    panel = part(page, ".plane-panel").first
    share = panel.locator('[data-source="0"] [data-part="share"]')
    share.click()
    before = explained(panel)
    assert before.endswith(f"= {share.inner_text()}")
    part(page, ".plane-handle").focus()
    page.mouse.move(0, 0)
    page.keyboard.press("Shift+ArrowRight")
    assert explained(panel) != before
    assert explained(panel).endswith(f"= {share.inner_text()}")
    page.keyboard.press("Escape")
    assert explained(panel) == ""


def test_the_tables_are_walked_by_keys_and_spoken(visit: Visit) -> None:
    page = visit.page
    panel = part(page, ".plane-panel").first
    assert panel.locator('[tabindex="0"]:is(td)').count() == 1
    part(page, ".plane-handle").focus()
    page.keyboard.press("Tab")
    for key in ("ArrowDown", "End", "ArrowLeft"):
        page.keyboard.press(key)
    focused = page.locator("td:focus")
    assert focused.inner_text() == "2.121"
    assert explained(panel) == "S = 3.00 ÷ 1.4142 = 2.121"
    label = focused.get_attribute("aria-label") or ""
    assert label.startswith("行 animal，列 S：")
    assert label.endswith(explained(panel))


def test_a_number_is_opened_with_a_finger(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / PAGE, **TOUCH) as visit:
        page = visit.page
        panel = part(page, ".plane-panel").nth(1)
        panel.locator('[data-source="2"] [data-part="brought"]').first.tap()
        assert explained(panel) == f"A × v = 0.1853 × ({MINUS}2.5) = {MINUS}0.463"
        part(page, ".choice label").nth(2).tap()
        check(page, toy.presets()["start"].q[2], 2)
        part(page, '.plane-cases [value="long"]').tap()
        check(page, (4, 4))
        part(page, ".plane-switches label").first.tap()
        part(page, ".choice label").nth(0).tap()
        check(page, toy.presets()["start"].q[0], 0, mask=False)
        assert visit.complaints == []


def check_real(page: Page, site: Path, problem: str, layer: int, head: int, row: int) -> None:
    """The four steps of a head, for one position, computed from the weights."""
    values = independent.forward(site, "trained", problem)
    v, scores, shares, z, result = (
        values[f"blocks.{layer}.attn.{name}"][head]
        for name in ("v", "attn_scores", "pattern", "z", "result")
    )
    written = f'figure[data-role="result"][data-key$="result"] tr[data-row="{row}"]'
    expect(page.locator(written)).to_have_count(1)  # the last to follow
    softmax, mixture = scene.calculations(page)
    assert [line[0]["value"] for line in softmax["lines"]] == pytest.approx(
        scores[row, : row + 1], rel=2e-6
    )
    assert [line[-1]["value"] for line in softmax["lines"]] == pytest.approx(
        shares[row, : row + 1], rel=2e-6
    )
    assert len(mixture["lines"]) == row + 1
    for source, line in enumerate(mixture["lines"]):
        numbers = [cell["value"] for cell in line]
        expected = [shares[row, source], *v[source], *(shares[row, source] * v[source])]
        np.testing.assert_allclose(numbers, expected, rtol=2e-5, atol=1e-9)
    total = [cell["value"] for cell in mixture["totals"]]
    np.testing.assert_allclose(total, z[row], rtol=2e-5, atol=1e-9)
    (last,) = (
        figure
        for figure in scene.figures(page)
        if figure["data"].get("role") == "result" and figure["data"]["key"].endswith("result")
    )
    assert [cell["row"] for cell in last["cells"]] == [row] * 8
    np.testing.assert_allclose(
        [cell["value"] for cell in last["cells"]], result[row], rtol=2e-5, atol=1e-6
    )


def test_the_real_head_reads_for_the_position_that_is_chosen(site: BuiltSite, visit: Visit) -> None:
    page = visit.page
    check_real(page, site.folder, "7x0", 0, 1, 3)
    labels = page.locator(".receiver label")
    for position in (1, 0, 2):
        labels.nth(position).click()
        page.wait_for_url(f"**#?position={position}")
        expect(page.locator(".worked.softmax tbody tr")).to_have_count(position + 1)
        check_real(page, site.folder, "7x0", 0, 1, position)
    page.keyboard.press("ArrowRight")
    expect(page.locator(".worked.softmax tbody tr")).to_have_count(4)
    assert "position" not in address_of(page)
    scene.choose(page, problem="4x6", layer=1, head=0, position=2)
    assert page.locator(".receiver :checked").get_attribute("value") == "2"
    assert [text.strip() for text in labels.all_inner_texts()] == ["4", "×", "6", "="]
    check_real(page, site.folder, "4x6", 1, 0, 2)


def test_the_toys_position_is_taken_along_to_the_real_head(site: BuiltSite, visit: Visit) -> None:
    page = visit.page
    link = part(page, ".plane-real a")
    for receiver in (2, 1):
        part(page, ".choice label").nth(receiver).click()
        link.click()
        page.wait_for_url(f"**#real?position={receiver}")
        expect(page.locator(".worked.softmax tbody tr")).to_have_count(receiver + 1)
        expect(page.locator("#real")).to_be_in_viewport()
        check_real(page, site.folder, "7x0", 0, 1, receiver)
    part(page, ".choice label").nth(3).click()
    link.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".worked.softmax tbody tr")).to_have_count(4)
    expect(page.locator("#real")).to_be_in_viewport()
    assert address_of(page).endswith("#real")


def sentence(page: Page) -> list[str]:
    """What is said of each token, as far as it is seen."""
    items = page.locator(".relation li").all()
    return [
        " ".join(span.inner_text() for span in item.locator("span").all() if span.is_visible())
        for item in items
    ]


def check_sentence(page: Page, receiver: int) -> None:
    for place, text in enumerate(sentence(page)):
        if place == receiver:
            assert text.startswith("它在读。可能在找：")
            n_masked = len(SENTENCE) - receiver - 1
            assert f"能读 {receiver + 1} 个 token（连自己），遮住 {n_masked} 个" in text
        else:
            assert text.startswith("能读。" if place < receiver else "遮住：")


@pytest.mark.parametrize("scripts", [False, True], ids=["without-scripts", "with-scripts"])
def test_in_a_sentence_each_token_reads_those_before_it(
    site: BuiltSite, chromium: Chromium, scripts: bool
) -> None:
    with chromium.visit(site.folder / PAGE, java_script_enabled=scripts) as visit:
        page = visit.page
        labels = page.locator(".relation label")
        assert labels.all_inner_texts() == SENTENCE
        check_sentence(page, SENTENCE.index("it"))
        for receiver in (0, 8, 3, 9):
            labels.nth(receiver).click()
            check_sentence(page, receiver)
        page.locator(".relation input").nth(9).focus()
        page.keyboard.press("ArrowUp")
        check_sentence(page, 8)
        words = page.locator(".relation").inner_text()
        assert words.startswith("示意图。")
        assert not re.search(r"\d\.\d|%", words), "no weight is shown"


def test_in_a_sentence_a_token_is_chosen_with_a_finger(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / PAGE, **TOUCH) as visit:
        visit.page.locator(".relation label").nth(4).tap()
        check_sentence(visit.page, 4)


def test_on_a_phone_sliders_and_both_drawings_are_on_one_screen(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / PAGE, **TOUCH) as visit:
        page = visit.page
        part(page, '.plane-cases [value="value"]').tap()  # the longest text
        boxes = [each.bounding_box() for each in part(page, ".plane-drawing").all()]
        left, right = boxes
        assert left
        assert right
        assert left["y"] == right["y"]
        assert left["x"] + left["width"] < right["x"]
        assert min(left["width"], right["width"]) >= 155
        slider = part(page, '[type="range"]').first.bounding_box()
        assert slider
        assert left["y"] + left["height"] - slider["y"] < PHONE["height"] - 60  # the page's head
        for mark in part(page, ".plane-drawing text").all():
            box = mark.bounding_box()
            assert box
            assert box["height"] >= 9
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= PHONE["width"]
        texts_of_cases = part(page, ".plane-cases span")
        assert [text.is_visible() for text in texts_of_cases.all()] == [False, False, False, True]


def test_on_a_phone_the_sign_of_a_product_stands_between_its_matrices(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / PAGE, **TOUCH) as visit:
        row = visit.page.locator(".product-row").first
        boxes = [each.bounding_box() for each in row.locator("> *").all()]
        shown = [box for box in boxes if box is not None]
        assert len(shown) >= 5
        for above, below in pairwise(shown):
            assert above["y"] + above["height"] <= below["y"]
        assert visit.fits()


def test_the_name_of_the_query_is_whole_at_every_edge(visit: Visit) -> None:
    page = visit.page
    for x, y in ((4, 4), (-4, -4), (4, -4), (-4, 4), (2, 1)):
        first, second, _ = part(page, '[type="range"]').all()
        first.fill(str(x))
        second.fill(str(y))
        box, name = (
            part(page, selector).first.bounding_box()
            for selector in (".plane-drawing", ".plane-handle text")
        )
        assert box
        assert name
        assert box["x"] <= name["x"]
        assert name["x"] + name["width"] <= box["x"] + box["width"]
        dot = part(page, ".plane-handle circle").last.bounding_box()
        assert dot  # it stands in its dot, clear of every arrow
        assert dot["x"] <= name["x"]
        assert name["x"] + name["width"] <= dot["x"] + dot["width"]


@pytest.mark.parametrize("page_name", ["primer", "values", "reading-table", "scores", "gradients"])
def test_calculations_are_whole_on_paper(
    site: BuiltSite, chromium: Chromium, page_name: str
) -> None:
    with chromium.visit(site.folder / f"{page_name}.html", viewport=PAPER) as visit:
        page = visit.page
        page.emulate_media(media="print")
        tables = page.locator(".worked-table").all()
        assert tables
        for table in tables:
            box = table.bounding_box()
            assert box
            assert box["x"] + box["width"] <= PAPER["width"]


def test_the_toy_prints_who_reads_and_how(site: BuiltSite, chromium: Chromium) -> None:
    with chromium.visit(site.folder / PAGE, viewport=PAPER) as visit:
        page = visit.page
        part(page, ".choice label").nth(2).click()
        page.emulate_media(media="print")
        for selector in (".choice", '[name="mask"]', '[name="scale"]', ".plane-summary"):
            assert part(page, selector).is_visible()
        assert not part(page, ".plane-turn").is_visible()
        assert not part(page, ".plane-switches button").is_visible()
        chosen = part(page, ".choice :checked + label")
        assert chosen.evaluate("(e) => getComputedStyle(e).printColorAdjust") == "exact"


def test_in_forced_colours_the_line_of_the_sentence_ends_in_an_arrow(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / PAGE, forced_colors="active") as visit:
        head = """(label) => {
          const {clipPath, borderTopWidth, backgroundColor} = getComputedStyle(label, "::before");
          return [clipPath.startsWith("polygon"), borderTopWidth, backgroundColor];
        }"""
        label = visit.page.locator(".relation li:has(:checked) label")
        canvas = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
        is_cut, border, colour = label.evaluate(head)
        assert is_cut
        assert border == "0px"
        assert colour not in (canvas, "rgba(0, 0, 0, 0)")


@in_every_look
def test_it_fits_and_has_no_barriers(
    site: BuiltSite, chromium: Chromium, viewport: dict[str, int], scheme: str
) -> None:
    with chromium.visit(site.folder / PAGE, viewport=viewport, color_scheme=scheme) as visit:
        page = visit.page
        visit.see_all()
        part(page, "summary").click()
        part(page, ".choice label").nth(1).click()
        for figure in (".relation", ".plane", ".receiver"):
            assert visit.barriers(figure) == []
        assert visit.fits()
        tables = part(page, ".matrix-scroll")
        assert all(
            table.evaluate("(box) => box.scrollWidth <= box.clientWidth") for table in tables.all()
        )
        grip = part(page, ".plane-grip").bounding_box()
        assert grip
        assert grip["width"] >= 44
        assert visit.complaints == []
        assert visit.strangers == []
