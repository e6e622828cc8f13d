"""What CommonMark takes in silence and an author should hear about."""

from __future__ import annotations

import re
from collections.abc import Callable

from markdown_it.rules_block import StateBlock, fence
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline

from builder.errors import did_you_mean
from builder.links import Link
from builder.markdown.rendering import Rendering

InlineRule = Callable[[StateInline, bool], bool]

_DEEPEST = 40
"""Levels of blocks; `parser` gives up at more than twice as many."""

_DECIMAL = re.compile(r"(?<![\w.])\d+\.\d{2,}(?![\w.]*\d)", re.ASCII)

_FOOTNOTE = re.compile(r"\[\^([^\]\s]+)\]")
_REFERENCE = re.compile(r"\[[^\[\]]*\](?:\[([^\[\]]+)\]|(\())")


def closed_fence(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Block rule: a fenced code block, which must be closed."""
    if not fence(state, start, end, silent):
        return False
    if not silent:
        token, last = state.tokens[-1], state.line - 1
        text = state.src[state.bMarks[last] + state.tShift[last] : state.eMarks[last]].strip()
        if last == start or text.strip(token.markup[0]) or len(text) < len(token.markup):
            rendering: Rendering = state.env["rendering"]
            hint = f"end it with a line {token.markup}"
            place = (rendering.line(start), 0)
            rendering.report(place, "unclosed", "this code is never closed", hint)
    return True


def linked(rule: InlineRule) -> InlineRule:
    """Wrap an inline rule for links: keep where each link goes and where it stands."""

    def located(state: StateInline, silent: bool) -> bool:
        start, n_tokens = state.pos, len(state.tokens)
        if not rule(state, silent):
            return False
        if not silent:
            rendering: Rendering = state.env["rendering"]
            opening = next(t for t in state.tokens[n_tokens:] if t.type == "link_open")
            href, place = str(opening.attrs.get("href", "")), rendering.place(state.src, start)
            if not href:
                hint = "write it between the brackets"
                rendering.report(place, "broken-link", "this link has no target", hint)
            rendering.context.links.append(Link(href, rendering.location(place)))
        return True

    return located


def refused(rule: InlineRule, name: str, message: str, hint: str) -> InlineRule:
    """Wrap an inline rule for something that chapters may not hold."""

    def reporting(state: StateInline, silent: bool) -> bool:
        start = state.pos
        if not rule(state, silent):
            return False
        if not silent:
            rendering: Rendering = state.env["rendering"]
            rendering.report(rendering.place(state.src, start), name, message, hint)
        return True

    return reporting


def dangling(state: StateInline, silent: bool) -> bool:
    """Inline rule, after all others: a reference or link that none of them could resolve."""
    if silent or state.src[state.pos] != "[":
        return False
    rendering: Rendering = state.env["rendering"]
    place = rendering.place(state.src, state.pos)
    note = _FOOTNOTE.match(state.src, state.pos)
    reference = _REFERENCE.match(state.src, state.pos)
    if note:
        known = (label[1:] for label in state.env.get("footnotes", {}).get("refs", {}))
        hint = did_you_mean(note[1], known) or f"define it: `[^{note[1]}]: ...`"
        rendering.report(place, "dangling-footnote", f"there is no footnote `{note[1]}`", hint)
    elif reference and reference[2]:
        hint = r"a target has no spaces; write `\[` for a bracket"
        rendering.report(place, "broken-link", "this link has no valid target", hint)
    elif reference:
        known = (label.lower() for label in state.env.get("references", {}))
        hint = did_you_mean(reference[1].lower(), known) or r"write `\[` for a bracket"
        message = f"`[{reference[1]}]` is not defined"
        rendering.report(place, "dangling-reference", message, hint)
    return False


def literal_asterisks(state: StateInline) -> None:
    """Second-pass rule: `**` that neither opened nor closed anything."""
    left = -1
    for token in state.tokens:
        if not token.meta or "marker" not in token.meta:
            continue
        at, is_literal = token.meta["marker"], token.type == "text" and token.content == "*"
        if is_literal and at == left + 1 and left >= 0:
            rendering: Rendering = state.env["rendering"]
            place = rendering.place(state.src, left)
            hint = r"it lacks a partner or has a space inside; write `\*` for an asterisk"
            rendering.report(place, "literal-asterisks", "`**` stays literal here", hint)
            left = -1
        else:
            left = at if is_literal else -1


def literal_backticks(state: StateInline) -> None:
    """Second-pass rule: a backtick that opens no code."""
    rendering: Rendering = state.env["rendering"]
    for token in state.tokens:
        if token.type == "text" and "`" in token.content:
            at = state.src.find(token.content) + token.content.index("`")
            hint = "close the code with as many backticks, or put a backslash before it"
            message = "this backtick stays literal"
            rendering.report(rendering.place(state.src, at), "literal-backtick", message, hint)


def footnotes(state: StateCore) -> None:
    """Core rule, before footnotes are moved: each must be used and defined once."""
    rendering: Rendering = state.env["rendering"]
    refs = state.env.get("footnotes", {}).get("refs", {})
    seen: set[str] = set()
    for token in state.tokens:
        if token.type != "footnote_reference_open":
            continue
        label = token.meta["label"]
        place = (rendering.line_of(token), 0)
        if label in seen:
            message = f"footnote `{label}` is already defined"
            rendering.report(place, "duplicate-footnote", message, "give one of them another name")
        elif refs.get(f":{label}", -1) < 0:
            message, hint = (
                f"nothing refers to footnote `{label}`",
                f"write `[^{label}]`, or delete it",
            )
            rendering.report(place, "unused-footnote", message, hint)
        seen.add(label)


def deep_nesting(state: StateCore) -> None:
    """Core rule: blocks so deep that the parser soon drops what they hold."""
    deep = next((token for token in state.tokens if token.level > _DEEPEST), None)
    if deep:
        rendering: Rendering = state.env["rendering"]
        place = (rendering.line_of(deep), 0)
        message = f"lists, quotes and blocks are nested deeper than {_DEEPEST} levels"
        rendering.report(place, "nesting", message, "each level of a list counts as two")


def hand_typed_numbers(state: StateCore) -> None:
    """Core rule, before footnotes are moved: decimals of the model that nobody checks.

    Code, formulas and roles are tokens of their own; links and footnotes cite other works.
    """
    rendering: Rendering = state.env["rendering"]
    is_footnote = False
    for token in state.tokens:
        if token.type in ("footnote_reference_open", "footnote_reference_close"):
            is_footnote = token.nesting > 0
        if is_footnote or token.type != "inline" or "." not in token.content:
            continue
        line = state.env.get("line") or rendering.line_of(token)
        in_link = 0
        for part in token.children or ():
            in_link += part.nesting if part.type.startswith("link_") else 0
            line += part.type in ("softbreak", "hardbreak")
            for number in _DECIMAL.findall(part.content) if part.type == "text" else ():
                if not in_link:
                    place = (line, rendering.source(line).find(number) + 1)
                    message = f"`{number}` is typed by hand, so that no build checks it"
                    hint = "show a number of the snapshot with {value}`ADDRESS`"
                    rendering.report(place, "hand-typed-number", message, hint, "warning")


def html_blocks(state: StateCore) -> None:
    """Core rule: report raw HTML that stands on lines of its own."""
    rendering: Rendering = state.env["rendering"]
    for token in state.tokens:
        if token.type == "html_block":
            place = (rendering.line_of(token), 0)
            rendering.report(place, "raw-html", "chapters hold no raw HTML", HTML_HINT)


HTML_HINT = r"use a block; write `\<` for the sign, or put code between backticks"
