"""The configured parser: CommonMark, tables, footnotes, definition lists, mathematics, blocks."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import autolink, html_inline, image, link
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin

from builder.markdown import cjk, directives, headings, lint, mathematics, roles
from builder.markdown.rendering import Rendering

_INTERRUPTS: RuleOptionsType = {
    "alt": ["paragraph", "reference", "blockquote", "list", "footnote_def"]
}
_MAX_NESTING = 100


@functools.cache
def parser() -> MarkdownIt:
    """Return the parser; it has no state, everything about a page is in its `env`."""
    md = _Markdown("commonmark", {"maxNesting": _MAX_NESTING}, renderer_cls=_Renderer)
    md.enable("table").use(deflist_plugin).use(footnote_plugin, inline=False)
    md.block.ruler.before("fence", "directive", directives.directive, _INTERRUPTS)
    md.block.ruler.before("fence", "math_block", mathematics.block_math, _INTERRUPTS)
    md.block.ruler.at("fence", lint.closed_fence, _INTERRUPTS)

    md.inline.ruler.before("escape", "math_inline", mathematics.inline_math)
    md.inline.ruler.before("escape", "role", roles.role)
    md.inline.ruler.at("emphasis", cjk.emphasis)
    md.inline.ruler.at("link", lint.linked(link))
    md.inline.ruler.at("autolink", lint.linked(autolink))
    no_html = ("raw-html", "chapters hold no raw HTML", lint.HTML_HINT)
    md.inline.ruler.at("html_inline", lint.refused(html_inline, *no_html))
    no_image = ("image", "chapters hold no images", "figures are blocks, such as `::: matrix`")
    md.inline.ruler.at("image", lint.refused(image, *no_image))
    md.inline.ruler.push("dangling", lint.dangling)
    md.inline.ruler2.after("emphasis", "literal_asterisks", lint.literal_asterisks)
    md.inline.ruler2.push("literal_backticks", lint.literal_backticks)

    md.core.ruler.before("inline", "heading_ids", headings.heading_ids)
    md.core.ruler.before("inline", "deep_nesting", lint.deep_nesting)
    md.core.ruler.before("inline", "html_blocks", lint.html_blocks)
    md.core.ruler.at("inline", _inline)
    md.core.ruler.after("inline", "hand_typed_numbers", lint.hand_typed_numbers)
    md.core.ruler.after("inline", "footnotes", lint.footnotes)
    return md


def _inline(state: StateCore) -> None:
    """Core rule: parse the text of every block, telling the page where it stands."""
    rendering: Rendering = state.env["rendering"]
    first_line = state.env.get("line")
    for index, token in enumerate(state.tokens):
        if token.type != "inline":
            continue
        if first_line is not None:
            rendering.inline_line = first_line
        elif token.map:
            rendering.inline_line = rendering.line(token.map[0])
        token.children = []
        state.md.inline.parse(token.content, state.md, state.env, token.children)
        opening = state.tokens[index - 1]
        if opening.type == "heading_open" and "id" in opening.attrs:
            text = headings.plain(token.children)
            rendering.add_heading(int(opening.tag[1]), str(opening.attrs["id"]), text)


class _Markdown(MarkdownIt):
    """Takes every target of a link for one, so that `builder.links` can say what is wrong."""

    def validateLink(self, _url: str) -> bool:  # noqa: N802 - the library's name
        """Accept a target, whatever its scheme."""
        return True


class _Renderer(RendererHTML):
    """Renders our own tokens; each method is the rule for the token type of its name."""

    def render(self, tokens: Sequence[Token], options: Any, env: Any) -> str:
        """Render block tokens; a block's body is rendered before the block."""
        parts: list[str] = []
        start = index = 0
        while index < len(tokens):
            if tokens[index].type == "directive_open":
                end = _close(tokens, index)
                parts.append(super().render(tokens[start:index], options, env))
                body = self.render(tokens[index + 1 : end], options, env)
                parts.append(_block(tokens[index], body, env["rendering"]))
                start = index = end + 1
            else:
                index += 1
        parts.append(super().render(tokens[start:], options, env))
        return "".join(parts)

    def directive(self, tokens: Sequence[Token], idx: int, _options: Any, env: Any) -> str:
        """Render a block that reads its body itself."""
        return _block(tokens[idx], "", env["rendering"])

    def role(self, tokens: Sequence[Token], idx: int, _options: Any, env: Any) -> str:
        """Render an inline role."""
        return roles.render(tokens[idx], env["rendering"])

    def math_inline(self, tokens: Sequence[Token], idx: int, _options: Any, env: Any) -> str:
        """Render a formula within a line."""
        return mathematics.render_inline(tokens[idx], env["rendering"])

    def math_block(self, tokens: Sequence[Token], idx: int, _options: Any, env: Any) -> str:
        """Render a displayed formula."""
        return mathematics.render_block(tokens[idx], env["rendering"])

    def softbreak(self, tokens: Sequence[Token], idx: int, _options: Any, _env: Any) -> str:
        """Render a line break of the source."""
        return cjk.soft_break(tokens, idx)


def _block(opening: Token, body: str, rendering: Rendering) -> str:
    return directives.render(opening, body, rendering, rendered_inline)


def rendered_inline(text: str, line: int, rendering: Rendering) -> str:
    """Render inline Markdown that starts on a line of the file."""
    return str(parser().renderInline(text, {"rendering": rendering, "line": line}))


def _close(tokens: Sequence[Token], index: int) -> int:
    """Index of the token that closes the block that opens at `index`."""
    depth = 0
    for end in range(index, len(tokens)):
        depth += {"directive_open": 1, "directive_close": -1}.get(tokens[end].type, 0)
        if depth == 0:
            return end
    raise AssertionError("every directive_open has its directive_close")
