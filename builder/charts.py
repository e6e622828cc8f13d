"""Altair charts: one heatmap per kind of matrix, the training curves, and how they reach a page.

A heatmap is a template: its data is named, its colours and its highlight are named params, so one
compiled spec serves every matrix of its kind, in both themes. It draws digits it is given, hence
the table's own. A curve is drawn at build time, as an SVG that takes its colours from the page.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from model.tensors import Range

Spec = dict[str, Any]

CELLS = "cells"
"""Name of a heatmap's data: one record a cell, with `row`, `column`, `value`, `text`."""

PAINT = {
    "ink": "#010203",
    "muted": "#010204",
    "line": "#010205",
    "accent": "#010206",
    "second": "#010207",
}
"""Placeholder colours of the pre-rendered charts; `svg` turns each into a CSS custom property."""

LIBRARIES = "https://cdn.jsdelivr.net/npm"
"""How vl_convert names the modules it carries; nothing is fetched."""
INTERPRETER = "2.0.0"
"""The vega-interpreter that vl_convert 1.9 carries; it has no function that says so."""

_BUNDLE = """
import * as library from "{libraries}/vega@{vega}/+esm";
import {{ expressionInterpreter }} from "{libraries}/vega-interpreter@{interpreter}/+esm";
const {{ View, parse }} = library;
(window.Article ??= {{}}).vega = {{ View, parse, expressionInterpreter }};
"""

_DIGITS = re.compile(r"-?\d+\.\d{3,}")
_UNLIT = (
    "(lit_row !== null && datum.row !== lit_row)"
    " || (lit_column !== null && datum.column !== lit_column)"
)


def _altair() -> Any:
    """Import altair when a chart is made: it costs more than everything else that a build imports.

    It is untyped here: its annotations cannot describe options passed as a mapping.
    """
    import altair

    return altair


CURVE_FRAME = (60, 14, 640, 260)
"""Left, top, width and height of the field of a curve, in the units of its drawing."""


def matrix_spec(kind: Range) -> Spec:
    """Return the heatmap for one kind of matrix.

    Data `cells`: records of `row`, `column` (indices), `value` (number or null where masked) and
    `text` (what the cell shows). Params: `domain`, the value of the strongest colour; `lit_row`
    and `lit_column`, null or the index outside of which cells fade; and the colours `ink`,
    `paper`, `masked`, `low`, `middle`, `high`; and `font_size`.
    """
    alt = _altair()
    names = ("ink", "paper", "masked", "low", "middle", "high")
    params = [alt.param(name="domain", value=1)]
    params += [alt.param(name=name, value=None) for name in ("lit_row", "lit_column")]
    params += [alt.param(name=name, value="#888888") for name in names]
    params.append(alt.param(name="font_size", value=13))
    position = {"axis": None, "scale": alt.Scale(padding=0)}
    base = alt.Chart(alt.Data(name=CELLS)).encode(
        x=alt.X("column:O", **position), y=alt.Y("row:O", **position)
    )
    faded = alt.when(_UNLIT)
    rect = base.transform_calculate(share="datum.value / domain").mark_rect(
        stroke=alt.expr("paper"), strokeWidth=1, aria=False, invalid=None
    )
    text = base.mark_text(
        color=alt.expr("ink"), fontSize=alt.expr("font_size"), baseline="middle", aria=False
    )
    cells = rect.encode(
        color=_colour(kind), fillOpacity=faded.then(alt.value(0.25)).otherwise(alt.value(1))
    )
    digits = text.encode(
        text="text:N", fillOpacity=faded.then(alt.value(0.6)).otherwise(alt.value(1))
    )
    layers = cells.properties(name="cells"), digits.properties(name="digits")
    chart = (
        alt.layer(*layers, name=f"matrix_{kind.value}")
        .add_params(*params)
        .properties(width=100, height=100, padding=0, autosize=alt.AutoSizeParams(type="none"))
    )
    return _plain(chart)


def _colour(kind: Range) -> Any:
    alt = _altair()
    signed = kind is Range.SIGNED
    colours = ("low", "middle", "high") if signed else ("middle", "high")
    scale = alt.Scale(
        domain=[-1, 0, 1] if signed else [0, 1],
        range=[alt.ExprRef(name) for name in colours],
        clamp=True,
        interpolate="rgb",
    )
    colour = alt.Color("share:Q", scale=scale, legend=None)
    return alt.when("!isValid(datum.value)").then(alt.value(alt.expr("masked"))).otherwise(colour)


def curve_spec(values: Sequence[float], ticks: Sequence[float], floor: float | None = None) -> Spec:
    """Return the curve of a quantity over the steps of training, up to the last of `ticks`.

    Parameters
    ----------
    values
        Entry i belongs to step i.
    ticks
        Numbers of the vertical axis, from its lower to its upper end.
    floor
        A value that cannot be passed, drawn as a dashed line with its number.
    """
    alt = _altair()
    steps = len(values) - 1
    rows = [{"step": step, "value": round(value, 6)} for step, value in enumerate(values)]
    x = alt.X("step:Q", axis=_axis(range(0, steps + 1, max(1, steps // 6)), grid=False))
    y = alt.Y("value:Q", axis=_axis(ticks, grid=True))
    x.scale, y.scale = (
        alt.Scale(domain=[0, steps]),
        alt.Scale(domain=[ticks[0], ticks[-1]], clamp=True),
    )
    curve = alt.Chart(alt.Data(values=rows)).mark_line(color=PAINT["accent"], strokeWidth=2)
    layers: list[Any] = [curve.encode(x=x, y=y).properties(name="curve")]
    if floor is not None:
        limit = alt.Chart(alt.Data(values=[{"step": steps, "value": floor}])).encode(y=y)
        rule = limit.mark_rule(color=PAINT["second"], strokeDash=[5, 4], strokeWidth=1.5)
        label = {"align": "right", "baseline": "top", "dy": 7, "fontSize": 13}
        number = limit.mark_text(color=PAINT["second"], **label)
        number = number.encode(x=x, text=alt.value(f"{floor}"))
        layers = [rule.properties(name="floor"), *layers, number.properties(name="number")]
    # Fixed margins: measured ones would depend on the fonts of the machine.
    left, top, width, height = CURVE_FRAME
    size = {"width": width, "height": height, "autosize": alt.AutoSizeParams(type="none")}
    margins = {"left": left, "top": top, "right": 30, "bottom": 34}
    chart = alt.layer(*layers).properties(padding=margins, **size)
    return _plain(chart)


def _axis(ticks: Sequence[float], *, grid: bool) -> Any:
    alt = _altair()
    return alt.Axis(
        values=list(ticks),
        title=None,
        grid=grid,
        gridColor=PAINT["line"],
        domain=not grid,
        domainColor=PAINT["muted"],
        ticks=not grid,
        tickColor=PAINT["muted"],
        labelColor=PAINT["muted"],
        labelFontSize=13,
        labelPadding=8,
        labelOverlap=False,
        labelBound=False,
        labelFlush=False,
        labelLimit=0,
        minExtent=0,
        maxExtent=0,
        labelExpr="'' + datum.value",
    )


def _plain(chart: Any) -> Spec:
    """Spec of a chart without frame or background."""
    alt = _altair()
    frameless = alt.ViewConfig(stroke="transparent")
    spec: Spec = chart.configure(background="transparent", view=frameless).to_dict()
    return spec


def compiled(spec: Spec) -> Spec:
    """Compile Vega-Lite to Vega, so that a page needs no compiler."""
    import vl_convert

    vega: Spec = vl_convert.vegalite_to_vega(spec)
    return vega


def svg(spec: Spec) -> str:
    """Draw a chart as an inline SVG that follows the page's theme.

    Its width is the container's, its background is transparent, its text has the page's font and
    its ids depend on the spec alone. It is hidden from assistive technology: the figure around it
    carries the words.
    """
    import vl_convert

    drawn = vl_convert.vegalite_to_svg(spec)
    digest = hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()[:8]
    drawn = _with_own_ids(drawn, f"chart-{digest}")
    drawn = re.sub(r' (?:font-family|aria-[a-z]+|role|class)="[^"]*"', "", drawn)
    drawn = re.sub(r"<[^>]+>", lambda tag: _DIGITS.sub(_shorter, tag[0]), drawn)
    drawn = re.sub(r'<svg ([^>]*?)width="[^"]*" height="[^"]*"', r"<svg \1", drawn, count=1)
    for name, colour in PAINT.items():
        drawn = drawn.replace(colour, f"var(--chart-{name})")
    return drawn.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1)


def _shorter(number: re.Match[str]) -> str:
    return f"{float(number[0]):z.2f}"


def _with_own_ids(drawn: str, prefix: str) -> str:
    """Replace ids that count the charts of this process by ids of this chart."""
    numbers: Mapping[str, int] = {
        name: index
        for index, name in enumerate(dict.fromkeys(re.findall(r'\bid="([^"]+)"', drawn)))
    }
    for name, index in numbers.items():
        drawn = re.sub(
            rf'(id="|url\(#|href="#){re.escape(name)}(?=["\)])', rf"\1{prefix}-{index}", drawn
        )
    return drawn


def vega_bundle() -> str:
    """Return Vega with its interpreter as one classic script that sets `Article.vega`.

    The interpreter evaluates expressions without `eval`, which the pages' policy forbids. The
    bundle declares thousands of names, so it is wrapped in a function.
    """
    import vl_convert

    snippet = _BUNDLE.format(
        libraries=LIBRARIES, vega=vl_convert.get_vega_version(), interpreter=INTERPRETER
    )
    bundle = vl_convert.javascript_bundle(snippet)
    return f'(function () {{\n"use strict";\n{bundle}\n}})();\n'
