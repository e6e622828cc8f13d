"""Which source files a module's results depend on: itself and all that it imports of ours."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

from builder.stages import Ingredients, digest

PACKAGES = ("model", "builder")

_IMPORT = re.compile(
    r"^[ \t]*(?:from (?P<source>(?:model|builder)[\w.]*) import (?P<names>\([^)]*\)|[^\n(]+)"
    r"|import (?P<module>(?:model|builder)[\w.]*))",
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

    def ingredients(self, *modules: str, tools: Iterable[str] = ()) -> Ingredients:
        """Digests of the modules and of all they import, and versions of external tools."""
        found = {name: digest(self._source(name) or "") for name in self.closure(modules)}
        return found | {tool: metadata.version(tool) for tool in tools}

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
        for match in _IMPORT.finditer(source):
            if match["module"]:
                yield match["module"]
                continue
            # `from package import name` imports a module of that name, if there is one.
            if self._source(match["source"]):
                yield match["source"]
            names = re.sub(r"#[^\n]*|[()]", " ", match["names"])
            for name in re.split(r"[,\s]+", names):
                if name and self._source(f"{match['source']}.{name}") is not None:
                    yield f"{match['source']}.{name}"

    def _source(self, name: str) -> str | None:
        """The module's text; None if there is no such module."""
        if name not in self._text:
            stem = self.root.joinpath(*name.split("."))
            candidates = [stem.with_suffix(".py"), stem / "__init__.py"]
            path = next((path for path in candidates if path.is_file()), None)
            self._text[name] = path.read_text(encoding="utf-8") if path else None
        return self._text[name]
