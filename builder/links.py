"""What a link means: where it leads, and whether anything is there.

A link leads to a file of the site, named from the page it stands on, and there to an element by
its id, with or without a state of the page (`#rows?problem=7x0`); or it leaves the site with one of
`SCHEMES`. The site opens from a folder as it does from a server, so nothing else works everywhere:
a folder is not a page, and there is no server whose root or whose protocol a link could share.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from builder.errors import Diagnostic, Location, did_you_mean
from model.task import MULTIPLICATION, Task

SCHEMES = ("http", "https", "mailto")
"""How a link may leave the site."""

STATE = (
    *("seed", "step", "problem", "prefix", "position", "layer", "head", "source"),
    *("change", "edits", "cell"),
)
"""What the state of a page in a link may say; `site_templates/js/state.js` reads it."""

COUNTED = ("seed", "step", "position", "layer", "head")
"""What of the state is a number, from 0."""

Ids = Mapping[str, Collection[str] | None]
"""Path of a file of the site -> the ids that it defines; None if that is not known."""

_HOST = re.compile(r"[\w-]+(\.[\w-]+)*\.?|[0-9a-f]*:[0-9a-f.:]+")
_EXAMPLE = "such as `https://example.org/`"
_ID = re.compile(rb' id="([^"]*)"')


@dataclass(frozen=True, slots=True)
class Link:
    """A link as it was written, and where it stands."""

    href: str
    location: Location


def ids_in(path: str, data: bytes) -> frozenset[str]:
    """Return the ids that a file of ours defines: only pages and drawings do."""
    found = _ID.findall(data) if path.endswith((".html", ".svg")) else ()
    return frozenset(id_.decode() for id_ in found)


def dangling(
    link: Link, page: str, ids: Ids, base_url: str = "", task: Task = MULTIPLICATION
) -> Diagnostic | None:
    """Return what is wrong with a link; None if it leads somewhere or leaves the site.

    Parameters
    ----------
    link
        The link.
    page
        Path of the page it stands on, from the root of the site.
    ids
        The files of the site.
    base_url
        Where the site will live; a link that starts with it must resolve too.
    task
        Whose problems a link may show.
    """
    found = _wrong(link.href, page, ids, base_url, task)
    return link.location.problem("dangling-link", *found) if found else None


def _wrong(href: str, page: str, ids: Ids, base_url: str, task: Task) -> tuple[str, str] | None:
    """Return the message and the hint about a link that leads nowhere."""
    is_absolute = bool(base_url) and href.startswith(base_url)
    shown = f"`{_readable(href)}`"
    try:
        parts = urlsplit(href.removeprefix(base_url) if is_absolute else href)
        outside = _wrong_outside(parts) if parts.scheme or href.startswith("//") else None
    except ValueError as error:
        return f"{shown} is not an address: {error}", _EXAMPLE
    if outside:
        return f"{shown} {outside[0]}", _same_file(parts.netloc + parts.path, page, ids, outside[1])
    if parts.scheme:
        return None
    if parts.path.startswith("/"):
        message = f"{shown} starts at the root of the server, not of the site"
        return message, _nearest_file(parts.path, page, ids)
    path = _path("" if is_absolute else page, parts.path)
    if path not in ids:
        return f"{shown} leads to no file of the site", _nearest_file(parts.path, page, ids)
    wrong = _wrong_fragment(parts.fragment, path, page, ids, task)
    return (f"{shown}: {wrong[0]}", wrong[1]) if wrong else None


def _wrong_outside(parts: SplitResult) -> tuple[str, str] | None:
    """Return why an address outside the site can lead nowhere, and a hint."""
    if not parts.scheme:
        return "names a server, but not how to reach it", f"did you mean `https:{parts.geturl()}`?"
    if parts.scheme not in SCHEMES:
        hint = did_you_mean(parts.scheme, SCHEMES)
        return f"cannot be followed: pages do not lead to `{parts.scheme}:`", hint
    if parts.scheme == "mailto":
        is_address = re.fullmatch(r"[^@\s]+@[^@\s]+", unquote(parts.path))
        return None if is_address else ("names nobody", "such as `mailto:name@example.org`")
    is_server = parts.port != 0 and _HOST.fullmatch(parts.hostname or "")
    return None if is_server else ("names no server", _EXAMPLE)


def _path(page: str, path: str) -> str:
    """Return the file that a path leads to, as browsers resolve it; `..` if it leaves the site.

    From no page, it is what a server shows for it.
    """
    if not path and page:
        return page
    if not page and (not path or path.endswith("/")):
        path += "index.html"
    path = unquote(re.sub("(?i)%2f", "%252F", path))  # an escaped slash is part of a name
    found: list[str] = []
    for part in posixpath.join(posixpath.dirname(page), path).split("/"):
        if part == ".." and not found:
            return part
        if part == "..":
            found.pop()
        elif part != ".":
            found.append(part)
    return "/".join(found)


def _wrong_fragment(
    fragment: str, path: str, page: str, ids: Ids, task: Task
) -> tuple[str, str] | None:
    """Return the message and the hint about a place that a file does not have."""
    place, _, state = fragment.partition("?")
    name, known = unquote(place), ids[path]
    is_known = known is None or bool({place, name} & set(known))
    if name and not is_known and name.lower() != "top":
        elsewhere = (p for p in ids if posixpath.basename(p) == posixpath.basename(path))
        other = next((f"{_from(page, p)}#{place}" for p in elsewhere if name in (ids[p] or ())), "")
        other = other or ("" if known else _from(page, path))
        hint = f"did you mean `{other}`?" if other else did_you_mean(name, known or ())
        return f"{path} has no id `{name}`", hint
    pairs = parse_qsl(state, keep_blank_values=True)
    return next(filter(None, (_wrong_state(*pair, task) for pair in pairs)), None)


def _wrong_state(field: str, value: str, task: Task) -> tuple[str, str] | None:
    """Return the message and the hint about what no page's state can be."""
    if field not in STATE:
        return f"a page has no state `{field}`", did_you_mean(field, STATE)
    if field == "problem" and value not in task.by_name:
        return f"there is no problem `{value}`", did_you_mean(value, task.by_name)
    if field in COUNTED and not re.fullmatch("[0-9]{1,6}", value):
        return f"`{field}` = `{value}` is not a number", f"such as `{field}=1`"
    return None


def _nearest_file(path: str, page: str, ids: Ids) -> str:
    """Return a hint that names what a path nearly leads to, or else the pages beside it."""
    written = unquote(path).strip("/")
    files = {_from(page, other) for other in ids}
    beside = {file for file in files if file.endswith(".html") and "/" not in file}
    nearest = did_you_mean(written, files, otherwise=did_you_mean(written, beside))
    return _same_file(written, page, ids, nearest)


def _same_file(written: str, page: str, ids: Ids, otherwise: str) -> str:
    """Return a hint that names the file which a path would be, seen from the root or mended."""
    plain = unquote(written).strip("/")
    endings = ("", ".html", "/index.html") if plain else ()
    paths = (_path(root, plain + ending) for ending in endings for root in (page, ""))
    same = next((path for path in paths if path in ids), None)
    return f"did you mean `{_from(page, same)}`?" if same else otherwise


def _from(page: str, path: str) -> str:
    """Return the link that leads from a page to a file."""
    return posixpath.relpath(path, posixpath.dirname(page) or ".")


def _readable(href: str) -> str:
    """Return a link without its escapes, as its author thinks of it, if nothing is lost."""
    plain = unquote(href)
    return plain if plain.isprintable() and "\ufffd" not in plain else href
