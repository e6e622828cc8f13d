"""Which source files a module's results depend on: itself and all that it imports of ours."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

from builder.stages import Ingredients, digest

PACKAGES = ("model", "builder")

_NOT_CODE = re.compile(r"#[^\n]*|\\\n")
_IMPORT = re.compile(
    r"^[ \t]*(?:from (?P<source>(?:model|builder)(?:\.\w+)*) import\s*(?P<names>\([^)]*\)|[^\n(]+)"
    r"|import (?P<modules>[^\n]+))",
    re.MULTILINE,
)


@dataclass
class SourceCode:
    """The project's own Python files, each read once.

    Parameters
    ----------
    root
        The folder that holds `model/` and `builder/`.
    """

    root: Path
    _text: dict[str, str | None] = field(default_factory=dict)
    _imports: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _versions: dict[str, str] = field(default_factory=dict)

    def ingredients(self, *modules: str, tools: Iterable[str] = ()) -> Ingredients:
        """Digests of the modules and of all they import, and versions of external tools."""
        found = {name: digest(self.text(name)) for name in self.closure(modules)}
        return found | {tool: self._version(tool) for tool in tools}

    def text(self, module: str) -> str:
        """The text of a module; empty if there is no such module."""
        return self._source(module) or ""

    def _version(self, tool: str) -> str:
        if tool not in self._versions:
            self._versions[tool] = metadata.version(tool)
        return self._versions[tool]

    def closure(self, modules: Iterable[str]) -> tuple[str, ...]:
        """Names of the modules and of all modules of ours that they import, sorted."""
        seen: set[str] = set()
        pending = list(modules)
        while pending:
            name = pending.pop()
            if name not in seen:
                seen.add(name)
                pending.extend(self._imported_by(name))
        return tuple(sorted(seen))

    def _imported_by(self, name: str) -> tuple[str, ...]:
        if name not in self._imports:
            self._imports[name] = tuple(self._modules_in(self._source(name) or ""))
        return self._imports[name]

    def _modules_in(self, source: str) -> Iterator[str]:
        for match in _IMPORT.finditer(_NOT_CODE.sub(" ", source)):
            if match["modules"]:
                yield from (name for name in _names(match["modules"]) if self._is_ours(name))
                continue
            # `from package import name` imports a module of that name, if there is one.
            if self._source(match["source"]):
                yield match["source"]
            names = (f"{match['source']}.{name}" for name in _names(match["names"]))
            yield from (name for name in names if self._is_ours(name))

    def _is_ours(self, name: str) -> bool:
        return name.split(".")[0] in PACKAGES and self._source(name) is not None

    def _source(self, name: str) -> str | None:
        """The module's text; None if there is no such module."""
        if name not in self._text:
            stem = self.root.joinpath(*name.split("."))
            candidates = [stem.with_suffix(".py"), stem / "__init__.py"]
            path = next((path for path in candidates if path.is_file()), None)
            self._text[name] = path.read_text(encoding="utf-8") if path else None
        return self._text[name]


def _names(listed: str) -> Iterator[str]:
    """The names of `a, b as c`, with or without brackets."""
    for part in listed.strip("() \n").split(","):
        yield from part.split()[:1]
