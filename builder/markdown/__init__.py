"""From a chapter's Markdown to the HTML of its article."""

from __future__ import annotations

import re
from dataclasses import dataclass

from builder.blocks.directive import Context
from builder.links import Link, unresolved
from builder.markdown.parser import parser
from builder.markdown.rendering import Heading, Rendering

__all__ = ["Heading", "Link", "Rendered", "render"]

_ID = re.compile(r'<[^<>]*\bid="([^"]*)"')


@dataclass(frozen=True, slots=True)
class Rendered:
    """One chapter as HTML.

    Attributes
    ----------
    html
        The article without its title.
    headings
        Those that have an id, in order.
    ids
        Every id in `html`.
    links
        Where the chapter links to.
    """

    html: str
    headings: tuple[Heading, ...]
    ids: frozenset[str]
    links: tuple[Link, ...]


def render(context: Context) -> Rendered:
    """Render a chapter; every problem goes to `context.diagnostics`, none is raised.

    Parameters
    ----------
    context
        The chapter and all that its blocks need. A context serves one rendering: it counts ids.
    """
    rendering = Rendering(context)
    md, env = parser(), {"rendering": rendering}
    tokens = md.parse(context.chapter.body, env)
    html = md.renderer.render(tokens, md.options, env)
    ids = frozenset(_ID.findall(html))
    _check_anchors(rendering, ids)
    return Rendered(html, tuple(rendering.headings), ids, tuple(context.links))


def _check_anchors(rendering: Rendering, ids: frozenset[str]) -> None:
    chapter = rendering.context.chapter
    url = rendering.context.site.url(chapter.language, chapter.slug)
    for link in rendering.context.links:
        problem = unresolved(link.href, url, {url: ids}) if link.href.startswith("#") else None
        if problem:
            rendering.report((link.line, 0), "dangling-anchor", *problem)
