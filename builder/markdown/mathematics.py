"""Dollars: `$..$` within a line, `$$..$$` on lines of its own."""

from __future__ import annotations

from bisect import bisect_right

from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from builder.markdown.rendering import Rendering
from builder.tex import TexError, mathml


def inline_math(state: StateInline, silent: bool) -> bool:
    """Inline rule: a formula has no space inside its dollars and no digit after them.

    A dollar that starts no formula is an error, so that prices cannot become mathematics.
    """
    if state.src[state.pos] != "$":
        return False
    rendering: Rendering = state.env["rendering"]
    end = _closer(rendering, state)
    if end is None:
        if not silent:
            place = rendering.place(state.src, state.pos)
            rendering.report(place, "dollar", "this `$` starts no formula", _HINT)
        return False
    after = state.src[end + 1 : end + 2]
    is_joined = after != "" and after in _CLOSING
    if not silent:
        if is_joined:
            state.push("joined_open", "span", 1).attrSet("class", "joined")
        token = state.push("math_inline", "math", 0)
        token.content = state.src[state.pos + 1 : end]
        token.meta = {"place": rendering.place(state.src, state.pos + 1)}
        if is_joined:
            state.push("text", "", 0).content = after
            state.push("joined_close", "span", -1)
    state.pos = end + 1 + is_joined
    return True


_CLOSING = "，。；：！？、）」』》”’"
"""Punctuation that begins no line: browsers would break before it, where a formula stands."""

_HINT = r"write `\$` for a dollar, `$..$` within a line, `$$` on a line of its own"


def block_math(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Block rule: from a line that starts with `$$` to one that ends with it."""
    begin = state.bMarks[start] + state.tShift[start]
    if not state.src.startswith("$$", begin) or state.is_code_block(start):
        return False
    if silent:
        return True
    rendering: Rendering = state.env["rendering"]
    lines = [state.src[begin + 2 : state.eMarks[start]]]
    last = start
    while not lines[-1].rstrip().endswith("$$") and last + 1 < end:
        last += 1
        if state.sCount[last] < state.blkIndent and not state.isEmpty(last):
            break
        lines.append(state.src[state.bMarks[last] + state.tShift[last] : state.eMarks[last]])
    if not lines[-1].rstrip().endswith("$$"):
        place, message = (rendering.line(start), 0), "this `$$` is never closed"
        rendering.report(place, "unclosed", message, "end the formula with `$$`")
        state.line = start + 1
        return True
    token = state.push("math_block", "math", 0)
    token.content = "\n".join(lines).rstrip()[:-2]
    token.map = [start, last + 1]
    state.line = last + 1
    return True


def render_inline(token: Token, rendering: Rendering) -> str:
    """Return the MathML of a formula within a line."""
    line, column = token.meta["place"]
    return _render(token.content, rendering, line, column, display=False)


def render_block(token: Token, rendering: Rendering) -> str:
    """Return the MathML of a displayed formula."""
    line = rendering.line_of(token)
    column = rendering.source(line).find("$$") + 3
    formula = _render(token.content, rendering, line, column, display=True)
    return f'<div class="equation">{formula}</div>\n'


def _closer(rendering: Rendering, state: StateInline) -> int | None:
    begin = state.pos + 1
    if begin >= state.posMax or state.src[begin] in " \t\n$":
        return None
    closers = rendering.closers(state.src)
    index = bisect_right(closers, begin)
    return closers[index] if index < len(closers) and closers[index] < state.posMax else None


def _render(tex: str, rendering: Rendering, line: int, column: int, *, display: bool) -> str:
    try:
        return mathml(tex, display=display)
    except TexError as error:
        before = tex[: error.offset]
        is_first_line = "\n" not in before
        at = column + error.offset if is_first_line else error.offset - before.rfind("\n")
        place = (line + before.count("\n"), at)
        rendering.report(place, "tex", error.message, error.hint)
        return ""
