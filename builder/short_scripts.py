"""Scripts as short as they can be said, minified when one of them has changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from builder.code import SourceCode
from builder.content.text_file import read_regular
from builder.stages import Cache, Result, digest


def short_scripts(paths: Sequence[Path], root: Path, source: SourceCode, cache: Cache) -> bytes:
    """Minify scripts and join them, or find that in the cache; `root` is the project's folder.

    Raises
    ------
    BuildError
        If a file is no JavaScript.
    OSError
        If a file cannot be read.
    """
    scripts = {path.relative_to(root).as_posix(): read_regular(path) for path in paths}

    def compute() -> Result:
        from builder.pages.minified import minified

        return Result({"main.js": b"".join(minified(*script) for script in scripts.items())})

    code = source.ingredients("builder.pages.minified", tools=("tdewolff-minify",))
    contents = {path: digest(script) for path, script in scripts.items()}
    return cache.get("assets/scripts", {**code, **contents}, compute).files["main.js"]
