"""Examines a finished site folder: links, anchors and ids, as a browser would resolve them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from html.parser import HTMLParser
from pathlib import Path

from builder.errors import Diagnostic, Location
from builder.links import Ids, Link, dangling, ids_in
from model.task import MULTIPLICATION, Task

_REFERENCES = ("action", "href", "poster", "src", "xlink:href")
_ID_REFERENCES = (
    "aria-activedescendant",
    "aria-controls",
    "aria-describedby",
    "aria-details",
    "aria-labelledby",
    "aria-owns",
    "for",
    "headers",
)
_PAINT = re.compile(r"url\(\s*[\"']?(#[^\"')\s]+)")
"""How SVG names a gradient or a clip of its own, in any attribute."""


@dataclass
class PageIds(HTMLParser):
    """What a page defines and what it refers to; `path` names it in messages."""

    path: str
    ids: dict[str, int] = field(default_factory=dict)
    repeated: list[tuple[str, Location]] = field(default_factory=list)
    references: list[Link] = field(default_factory=list)

    def __post_init__(self) -> None:
        HTMLParser.__init__(self)

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the ids and references of one element."""
        location = Location(self.path, self.getpos()[0])
        for name, value in attrs:
            if value is None:
                continue
            if name == "id":
                if value in self.ids:
                    self.repeated.append((value, location))
                self.ids.setdefault(value, location.line)
            elif name in _REFERENCES:
                self.references.append(Link(value, location))
            elif name in _ID_REFERENCES:
                self.references.extend(Link(f"#{i}", location) for i in value.split())
            else:
                self.references.extend(Link(i, location) for i in _PAINT.findall(value))


def examine_tree(folder: Path, base_url: str = "", task: Task = MULTIPLICATION) -> list[Diagnostic]:
    """Find what does not resolve in a site folder.

    Parameters
    ----------
    folder
        The site.
    base_url
        Where the site will live; links that start with it must resolve too.
    task
        Whose problems links may show.

    Returns
    -------
    list of Diagnostic
        Repeated ids, links to files or anchors that do not exist, and links that are absolute
        although they stay on the site.
    """
    files = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    pages = {name: _read(folder, name) for name in sorted(files) if name.endswith(".html")}
    ids: Ids = {
        name: pages[name].ids if name in pages else ids_in(name, (folder / name).read_bytes())
        for name in files
    }
    wrong = partial(dangling, ids=ids, base_url=base_url, task=task)
    return [problem for name, page in pages.items() for problem in _examine(name, page, wrong)]


def _read(folder: Path, name: str) -> PageIds:
    page = PageIds(name)
    page.feed((folder / name).read_text(encoding="utf-8"))
    page.close()
    return page


def _examine(
    name: str, page: PageIds, wrong: Callable[[Link, str], Diagnostic | None]
) -> Iterator[Diagnostic]:
    for repeated, location in page.repeated:
        message = f"the id `{repeated}` stands on line {page.ids[repeated]} already"
        yield location.problem("repeated-id", message)
    yield from filter(None, (wrong(link, name) for link in page.references))
