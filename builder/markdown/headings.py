"""Headings carry ids of their own, so that links survive a retitle and a language switch."""

from __future__ import annotations

from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from builder.markdown.rendering import Rendering

_LAST_WITH_ID = 3
"""Headings down to this level must have an id: they stand in the table of contents."""


def heading_ids(state: StateCore) -> None:
    """Core rule: move `{#id}` from the end of a heading to its element."""
    rendering: Rendering = state.env["rendering"]
    for index, token in enumerate(state.tokens):
        if token.type == "heading_open":
            line, level = rendering.line_of(token), int(token.tag[1])
            heading_id = _take(state.tokens[index + 1], rendering, line, level)
            if heading_id:
                token.attrSet("id", heading_id)


def _take(inline: Token, rendering: Rendering, line: int, level: int) -> str:
    if level == 1:
        hint = "start with `##`: the page's title comes from the front matter"
        rendering.report((line, 1), "heading-level", "a chapter has no heading of level 1", hint)
    text = inline.content.rstrip()
    start = text.rfind("{")
    if start < 0 or not text.endswith("}"):
        if 1 < level <= _LAST_WITH_ID:
            hint = "end it with `{#name}`, the same name in every language"
            rendering.report((line, 1), "heading-id", "this heading has no id", hint)
        return ""
    inline.content, attributes = text[:start].rstrip(), text[start + 1 : -1].strip()
    place = (line, rendering.source(line).rfind("{") + 1)
    if not attributes.startswith("#"):
        message = f"`{text[start:]}` is not an id"
        rendering.report(place, "heading-id", message, "a heading takes `{#name}` only")
        return ""
    with rendering.reporting(place, {}):
        return rendering.context.ids.take(attributes[1:], line)
    return ""


def plain(tokens: list[Token]) -> str:
    """Return inline text without markup, for tables of contents."""
    parts = (" " if token.type.endswith("break") else token.content for token in tokens)
    return "".join(parts).strip()
