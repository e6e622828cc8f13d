"""From a chapter's Markdown to the HTML of its article."""

from __future__ import annotations

from dataclasses import dataclass

from builder.blocks.directive import Context
from builder.links import Link
from builder.markdown.parser import parser, rendered_inline
from builder.markdown.rendering import Heading, Rendering

__all__ = ["Heading", "Rendered", "inline", "render"]


@dataclass(frozen=True, slots=True)
class Rendered:
    """One chapter as HTML.

    Attributes
    ----------
    html
        The article without its title.
    headings
        Those that have an id, in order.
    links
        Where the chapter links to.
    """

    html: str
    headings: tuple[Heading, ...]
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
    return Rendered(html, tuple(rendering.headings), tuple(context.links))


def inline(text: str, line: int, context: Context) -> str:
    """Render inline Markdown that starts on a line of the chapter in the context."""
    return rendered_inline(text, line, Rendering(context))
