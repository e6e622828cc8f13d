"""Data for scripts, as scripts: a page from a file can load nothing else."""

from __future__ import annotations

import orjson

FOLDER = "assets/"
"""Where a site has all that its pages load."""

_ESCAPES = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}


def assignment(name: str, value: object) -> bytes:
    """Return a script that sets `Article.NAME` to a value that JSON can hold."""
    return f"(window.Article ??= {{}}).{name} = {_script_json(value)};\n".encode()


def _script_json(value: object) -> str:
    """Write JSON that is safe inside a script, whatever text it holds."""
    text = orjson.dumps(value).decode()
    for character, escape in _ESCAPES.items():
        text = text.replace(character, escape)
    return text
