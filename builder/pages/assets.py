"""Everything a page loads: styles, scripts, fonts, the icon, Vega and the chart templates."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from builder import charts
from builder.content.strings import Strings
from builder.content.text_file import read_regular
from builder.pages.scripts import FOLDER, assignment
from model.tensors import Range

SHARED = ("idle", "data", "state", "make")
"""Scripts that every widget may use while it is defined, in this order."""

OF_FIGURES = tuple(
    f"figure.{name}" for name in ("axis_", "head", "layer", "part", "stage_", "target")
)
"""Words of figures that scripts need too, where they name a cell."""

_ENGINE = b"""(globalThis.Article ??= {}).defineEngine = function () {
%s
};
Article.defineEngine();
"""


def static_assets(templates: Path, short: Callable[[Sequence[Path]], bytes]) -> dict[str, bytes]:
    """Return what comes from the templates' folder.

    Styles are joined in the order of their names: cascade layers, declared in the first, decide
    which rule wins. Scripts are joined so that each finds what it uses: the engine, what the
    widgets share, the widgets, and last main. The engine is defined by a function, whose text is
    sent to workers too; it travels as it is written, since it is there to be read, and the rest as
    `short` says it.

    Raises
    ------
    OSError
        If a file or folder is missing or cannot be read, or if a folder holds nothing.
    """
    scripts = templates / "js"
    engine = _joined(_files(scripts / "engine", "js"))
    shared = [*(scripts / f"{name}.js" for name in SHARED), *_files(scripts / "widgets", "js")]
    found = {
        "style.css": _joined(_files(templates / "css", "css")),
        "main.js": _ENGINE % engine + short([*shared, scripts / "main.js"]),
        "theme.js": read_regular(scripts / "theme.js"),
        "favicon.png": read_regular(templates / "favicon.png"),
    }
    found |= {font.name: read_regular(font) for font in _files(templates / "fonts", "woff2")}
    found["OFL.txt"] = read_regular(templates / "fonts" / "OFL.txt")
    return {FOLDER + name: content for name, content in found.items()}


def string_assets(strings: Mapping[str, Strings]) -> dict[str, bytes]:
    """Return the texts that scripts use, one file for each language, such as `strings.zh.js`."""
    return {
        f"{FOLDER}strings.{code}.js": assignment("strings", _script_strings(texts))
        for code, texts in strings.items()
    }


def seed_assets(seeds: Mapping[str, Any]) -> dict[str, bytes]:
    """Return `seeds.js`, what scripts need of each seed that can be chosen, if there are any."""
    return {f"{FOLDER}seeds.js": assignment("seeds", seeds)} if seeds else {}


def chart_assets() -> dict[str, bytes]:
    """Return Vega and the heatmap templates, loaded when the first figure is near.

    They depend on nothing but `charts.py` and the versions of altair and vl_convert.
    """
    specs = {kind.value: charts.compiled(charts.matrix_spec(kind)) for kind in Range}
    return {
        f"{FOLDER}vega.js": charts.vega_bundle().encode(),
        f"{FOLDER}charts.js": assignment("charts", specs),
    }


def _script_strings(texts: Strings) -> dict[str, str]:
    prefix = "script."
    own = {name.removeprefix(prefix): t for name, t in texts.items() if name.startswith(prefix)}
    return own | {name: text for name, text in texts.items() if name.startswith(OF_FIGURES)}


def _files(folder: Path, suffix: str) -> list[Path]:
    found = sorted(path for path in folder.iterdir() if path.suffix == f".{suffix}")
    if not found:
        raise FileNotFoundError(errno.ENOENT, f"no file `*.{suffix}` in this folder", str(folder))
    return found


def _joined(paths: Iterable[Path]) -> bytes:
    return b"\n".join(read_regular(path) for path in paths)
