"""Examines a finished site folder: links, anchors and ids, as a browser would resolve them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from builder.errors import Diagnostic, did_you_mean

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


@dataclass(frozen=True, slots=True)
class Reference:
    """A link or a reference to an id, and the line it stands on."""

    target: str
    line: int


@dataclass
class PageIds(HTMLParser):
    """What a page defines and what it refers to."""

    ids: dict[str, int] = field(default_factory=dict)
    repeated: list[tuple[str, int]] = field(default_factory=list)
    references: list[Reference] = field(default_factory=list)

    def __post_init__(self) -> None:
        HTMLParser.__init__(self)

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the ids and references of one element."""
        line = self.getpos()[0]
        for name, value in attrs:
            if value is None:
                continue
            if name == "id":
                if value in self.ids:
                    self.repeated.append((value, line))
                self.ids.setdefault(value, line)
            elif name in _REFERENCES:
                self.references.append(Reference(value, line))
            elif name in _ID_REFERENCES:
                self.references.extend(Reference(f"#{i}", line) for i in value.split())
            else:
                self.references.extend(Reference(i, line) for i in _PAINT.findall(value))


def examine_tree(folder: Path, base_url: str = "") -> list[Diagnostic]:
    """Find what does not resolve in a site folder.

    Parameters
    ----------
    folder
        The site.
    base_url
        Where the site will live; links that start with it must resolve too.

    Returns
    -------
    list of Diagnostic
        Repeated ids, links to files or anchors that do not exist, and links that are absolute
        although they stay on the site.
    """
    files = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    pages = {name: _read(folder / name) for name in sorted(files) if name.endswith(".html")}
    return [problem for name in pages for problem in _examine(name, pages, files, base_url)]


def _read(path: Path) -> PageIds:
    page = PageIds()
    page.feed(path.read_text(encoding="utf-8"))
    page.close()
    return page


def _examine(
    name: str, pages: dict[str, PageIds], files: set[str], base_url: str
) -> Iterator[Diagnostic]:
    page = pages[name]
    for repeated, line in page.repeated:
        message = f"the id `{repeated}` stands on line {page.ids[repeated]} already"
        yield Diagnostic(name, line, 0, "repeated-id", message)
    for reference in page.references:
        problem = _unresolved(name, reference, pages, files, base_url)
        if problem:
            message, hint = problem
            yield Diagnostic(name, reference.line, 0, "dangling-link", message, hint)


def _unresolved(
    name: str, reference: Reference, pages: dict[str, PageIds], files: set[str], base_url: str
) -> tuple[str, str] | None:
    """Return what is wrong with a reference and a hint; None if it resolves."""
    target = reference.target
    here = name
    if base_url and target.startswith(base_url):
        here, target = "", target.removeprefix(base_url)
    try:
        parts = urlsplit(target)
    except ValueError as error:
        return f"`{reference.target}` is not an address: {error}", ""
    if parts.scheme or parts.netloc:
        return None
    if parts.path.startswith("/"):
        return f"`{reference.target}` starts at the root of the server, not of the site", ""
    path = here
    if parts.path:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(here), unquote(parts.path)))
    if not here and (not parts.path or parts.path.endswith("/")):
        path = posixpath.join(path, "index.html")  # what a server shows for a folder
    if path not in files:
        return f"`{reference.target}` leads to no file of the site", did_you_mean(path, files)
    fragment = unquote(parts.fragment)
    if fragment and path in pages and fragment not in pages[path].ids:
        hint = did_you_mean(fragment, pages[path].ids)
        return f"`{reference.target}`: {path} has no id `{fragment}`", hint
    return None
