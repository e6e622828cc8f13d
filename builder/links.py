"""Links within the site: what was written, where it leads, and whether anything is there."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from builder.errors import did_you_mean

Ids = Mapping[str, Collection[str] | None]
"""Path of a file of the site -> the ids it defines; None if any fragment will do."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link as it was written, and the line on which it stands."""

    href: str
    line: int


def unresolved(href: str, page: str, ids: Ids, base_url: str = "") -> tuple[str, str] | None:
    """Return what is wrong with a link, and a hint; None if it resolves or leaves the site.

    A fragment is an id, a state of the page, or both, as in `#section?step=120`.

    Parameters
    ----------
    href
        The link.
    page
        Path of the page it stands on, from the root of the site.
    ids
        The files of the site.
    base_url
        Where the site will live; a link that starts with it must resolve too.
    """
    is_absolute = bool(base_url) and href.startswith(base_url)
    try:
        parts = urlsplit(href.removeprefix(base_url) if is_absolute else href)
    except ValueError as error:
        return f"`{href}` is not an address: {error}", ""
    if parts.scheme or parts.netloc:
        return None
    if parts.path.startswith("/"):
        return f"`{href}` starts at the root of the server, not of the site", ""
    path = _path("" if is_absolute else page, unquote(parts.path))
    if path not in ids:
        return f"`{href}` leads to no file of the site", did_you_mean(path, ids)
    defined, fragment = ids[path], unquote(parts.fragment).partition("?")[0]
    if fragment and defined is not None and fragment not in defined:
        return f"`{href}`: {path} has no id `{fragment}`", did_you_mean(fragment, defined)
    return None


def _path(page: str, path: str) -> str:
    """Return the file that a path leads to; from no page, it is what a server shows for it."""
    if not path:
        return page or "index.html"
    if not page and path.endswith("/"):
        path += "index.html"
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
