"""One script as short as it can be said."""

from __future__ import annotations

import re

import minify

from builder.errors import BuildError, Diagnostic, excerpt


def minified(path: str, script: bytes) -> bytes:
    """Return a script that does the same, with short names and without comments, ended by `;`.

    Raises
    ------
    BuildError
        If the file at `path` is no JavaScript.
    """
    text = script.decode()
    try:
        short: str = minify.string("text/javascript", text)
    except minify.MinifyError as error:
        what, line, column = re.findall(r"(.*) on line (\d+) and column (\d+)", str(error))[0]
        shown = excerpt(text.splitlines()[int(line) - 1], int(column))
        problem = Diagnostic(path, int(line), int(column), "bad-script", what, excerpt=shown)
        raise BuildError(problem) from error
    return f"{short};\n".encode()
