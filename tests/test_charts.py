from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from builder import charts
from builder.pages.templates import POLICY
from model.tensors import Range
from tests.browser import Chromium

KINDS = list(Range)
DRAW = """
"use strict";
if (!window.Article) {
  const before = new Set(Object.getOwnPropertyNames(window));
  before.add("globalsAdded");
  window.globalsAdded = () => Object.getOwnPropertyNames(window).filter((n) => !before.has(n));
} else {
  const { View, parse, expressionInterpreter } = window.Article.vega;
  const spec = JSON.parse(document.getElementById("spec").textContent);
  const view = new View(parse(spec, {}, { ast: true }), {
    expr: expressionInterpreter, renderer: "svg", container: "#chart",
  });
  const colours = { high: "rgb(0, 0, 255)", low: "rgb(255, 165, 0)", masked: "rgb(128, 128, 128)" };
  for (const [name, colour] of Object.entries(colours)) view.signal(name, colour);
  view.signal("domain", 0.5).data("cells", [
    { row: 0, column: 0, value: 1, text: "1.00" },
    { row: 0, column: 1, value: -1, text: "\\u22121.00" },
    { row: 0, column: 2, value: null, text: "\\u2013" },
  ]).runAsync();
}
"""
LOSS = [2.9, 1.1, 0.7, 0.5, 0.42, 0.416, 0.4157]


def digest_ids(drawn: str) -> list[str]:
    return re.findall(r'\bid="([^"]+)"', drawn)


@pytest.mark.parametrize("kind", KINDS)
def test_a_heatmap_has_named_data_and_named_params_only(kind: Range) -> None:
    spec = charts.matrix_spec(kind)
    assert {param["name"] for param in spec["params"]} >= {"domain", "lit_row", "lit_column", "ink"}
    text = json.dumps(spec)
    assert not re.search(r'"(?:param|view|data)[-_][0-9a-f]{6,}"|"param_\d+"', text)
    assert "datasets" not in spec


@pytest.mark.parametrize("kind", KINDS)
def test_a_compiled_heatmap_keeps_the_names_that_the_page_sets(kind: Range) -> None:
    vega = charts.compiled(charts.matrix_spec(kind))
    assert charts.CELLS in [data["name"] for data in vega["data"]]
    signals = {signal["name"] for signal in vega["signals"]}
    colours = {"ink", "paper", "masked", "low", "middle", "high"}
    assert signals >= {"domain", "lit_row", "lit_column", "font_size"} | colours


def test_only_signed_matrices_have_a_colour_for_minus() -> None:
    def uses_low(kind: Range) -> bool:
        scales = charts.compiled(charts.matrix_spec(kind))["scales"]
        return any({"signal": "low"} in scale["range"] for scale in scales)

    assert [uses_low(kind) for kind in KINDS] == [kind is Range.SIGNED for kind in KINDS]


def test_an_svg_does_not_depend_on_what_was_drawn_before_it() -> None:
    spec = charts.curve_spec(LOSS, [0, 1, 2, 3], 0.41265)
    first = charts.svg(spec)
    charts.svg(charts.curve_spec(LOSS[:4], [0, 1, 2, 3]))
    assert charts.svg(spec) == first


def test_ids_that_count_the_charts_of_a_process_are_rewritten() -> None:
    def gradient_chart() -> str:
        return charts.svg(
            {
                "data": {"values": [{"x": 1}]},
                "mark": {
                    "type": "bar",
                    "clip": True,
                    "color": {
                        "gradient": "linear",
                        "stops": [{"offset": 0, "color": "red"}, {"offset": 1, "color": "blue"}],
                    },
                },
                "encoding": {"x": {"field": "x", "type": "quantitative"}},
            }
        )

    first, second = gradient_chart(), gradient_chart()
    assert first == second
    ids = digest_ids(first)
    assert ids
    assert all(re.fullmatch(r"chart-[0-9a-f]{8}-\d+", name) for name in ids)
    assert set(re.findall(r"url\(#([^)]+)\)", first)) <= set(ids)


def test_an_svg_takes_colours_and_fonts_from_the_page() -> None:
    drawn = charts.svg(charts.curve_spec(LOSS, [0, 1, 2, 3], 0.41265))
    colours = set(re.findall(r'(?:fill|stroke)="([^"]+)"', drawn))
    assert colours <= {"none", "transparent", *(f"var(--chart-{name})" for name in charts.PAINT)}
    assert "font-family" not in drawn
    assert 'aria-hidden="true"' in drawn
    assert re.search(r"<svg [^>]*viewBox=", drawn)
    assert not re.search(r"<svg [^>]*\bwidth=", drawn)


def test_a_curve_says_its_floor_in_full_and_its_steps_without_exponents() -> None:
    drawn = charts.svg(charts.curve_spec([2.9] * 601, [0, 1, 2, 3], 0.41265))
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", drawn)
    assert "0.41265" in texts
    assert {"0", "100", "600"} <= set(texts)
    assert not any("e" in text for text in texts)


def test_the_vega_bundle_sets_one_global_and_needs_no_eval(
    tmp_path: Path, chromium: Chromium
) -> None:
    (tmp_path / "vega.js").write_text(charts.vega_bundle(), "utf-8")
    (tmp_path / "draw.js").write_text(DRAW, "utf-8")
    spec = json.dumps(charts.compiled(charts.matrix_spec(Range.SIGNED)))
    page = f"""<!doctype html><meta http-equiv="Content-Security-Policy" content="{POLICY}">
        <script type="application/json" id="spec">{spec}</script><div id="chart"></div>
        <script src="draw.js"></script>
        <script src="vega.js"></script><script src="draw.js"></script>"""
    (tmp_path / "page.html").write_text(page, "utf-8")
    with chromium.visit(tmp_path / "page.html") as visit:
        visit.page.locator("#chart svg").wait_for(state="attached")
        assert visit.page.evaluate("globalsAdded()") == ["Article"]
        texts = visit.page.locator("#chart svg text").all_text_contents()
        fills = visit.page.locator("#chart svg path[fill]").evaluate_all(
            "all => all.map((path) => path.getAttribute('fill'))"
        )
        assert visit.complaints == []
    assert texts == ["1.00", "\u22121.00", "\u2013"]
    assert {"rgb(0, 0, 255)", "rgb(255, 165, 0)", "rgb(128, 128, 128)"} <= set(fills)
