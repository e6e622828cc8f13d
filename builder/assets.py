"""Everything a page loads: styles, scripts, fonts, the icon, Vega and the chart templates."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import orjson

from builder import charts
from model.tensors import Range

FOLDER = "assets/"

_ESCAPES = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}


def static_assets(templates: Path) -> dict[str, bytes]:
    """Return what comes from the templates' folder.

    Styles are joined in the order of their names: cascade layers, declared in the first, decide
    which rule wins. Scripts are joined so that each finds what it uses: engine, widgets, main.
    """
    scripts = templates / "js"
    parts = [*_files(scripts / "engine", "js"), *_files(scripts / "widgets", "js")]
    found = {
        "style.css": _joined(_files(templates / "css", "css")),
        "main.js": _joined([*parts, scripts / "main.js"]),
        "theme.js": (scripts / "theme.js").read_bytes(),
        "favicon.svg": (templates / "favicon.svg").read_bytes(),
    }
    found |= {font.name: font.read_bytes() for font in _files(templates / "fonts", "woff2")}
    found["OFL.txt"] = (templates / "fonts" / "OFL.txt").read_bytes()
    return {FOLDER + name: content for name, content in found.items()}


def chart_assets() -> dict[str, bytes]:
    """Return Vega and the heatmap templates, loaded when the first figure is near.

    They depend on nothing but `charts.py` and the versions of altair and vl_convert.
    """
    specs = {kind.value: charts.compiled(charts.matrix_spec(kind)) for kind in Range}
    script = f"(window.Article ??= {{}}).charts = {script_json(specs)};\n"
    return {
        f"{FOLDER}vega.js": charts.vega_bundle().encode(),
        f"{FOLDER}charts.js": script.encode(),
    }


def script_json(value: object) -> str:
    """Write JSON that is safe inside a script, whatever text it holds."""
    text = orjson.dumps(value).decode()
    for character, escape in _ESCAPES.items():
        text = text.replace(character, escape)
    return text


def _files(folder: Path, suffix: str) -> list[Path]:
    return sorted(folder.glob(f"*.{suffix}"))


def _joined(paths: Iterable[Path]) -> bytes:
    return b"\n".join(path.read_bytes() for path in paths)
