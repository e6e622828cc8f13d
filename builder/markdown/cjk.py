"""Chinese in CommonMark: emphasis beside full-width text, and line breaks within it.

CommonMark decides by spaces and punctuation whether `**` opens or closes, and Chinese has no
spaces: `**重点：**注意力` stays literal (CommonMark issue 650). Here punctuation counts only if it
is not East Asian wide, and a wide neighbour allows what a space would.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from markdown_it.common.utils import isMdAsciiPunct, isPunctChar, isWhiteSpace
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Delimiter, Scanned
from markdown_it.token import Token

_FIRST_WIDE = "\u2e80"
_EMOJI = ("\U0001f000", "\U0001fbff")
_HANGUL = (("\uac00", "\ud7af"), ("\u3130", "\u318f"))
_AMBIGUOUS = "“”‘’—…·"
"""Punctuation of Chinese and of Western text; beside a wide character it is Chinese."""


def is_wide(char: str) -> bool:
    """Return whether a character is East Asian wide, emoji excepted."""
    if char < _FIRST_WIDE or _EMOJI[0] <= char <= _EMOJI[1]:
        return False
    return unicodedata.east_asian_width(char) in "WFH"


def emphasis(state: StateInline, silent: bool) -> bool:
    """Inline rule: read a run of `*` or `_`, as markdown-it's own rule does but for `scan`."""
    marker = state.src[state.pos]
    if silent or marker not in "*_":
        return False
    scanned = scan(state, state.pos)
    for offset in range(scanned.length):
        token = state.push("text", "", 0)
        token.content = marker
        token.meta = {"marker": state.pos + offset}
        place = len(state.tokens) - 1
        delimiter = Delimiter(ord(marker), scanned.length, place, -1, *scanned[:2])
        state.delimiters.append(delimiter)
    state.pos += scanned.length
    return True


def scan(state: StateInline, start: int) -> Scanned:
    """Decide whether the run of markers at `start` can open and can close emphasis."""
    marker = state.src[start]
    scanned = state.scanDelims(start, marker == "*")
    before = state.src[start - 1] if start > 0 else " "
    end = start + scanned.length
    after = state.src[end] if end < state.posMax else " "
    if not (is_wide(before) or is_wide(after)):
        return scanned
    opens = _flanks(after, before)
    closes = _flanks(before, after)
    if marker == "_":
        opens, closes = (
            opens and (not closes or _is_punct(before)),
            closes and (not opens or _is_punct(after)),
        )
    return Scanned(opens, closes, scanned.length)


def _flanks(inner: str, outer: str) -> bool:
    """Return whether a run can stand between text inside the emphasis and text outside it."""
    if isWhiteSpace(ord(inner)):
        return False
    if not _is_punct(inner) or is_wide(inner):
        return True
    return isWhiteSpace(ord(outer)) or _is_punct(outer) or is_wide(outer)


def _is_punct(char: str) -> bool:
    return isMdAsciiPunct(ord(char)) or isPunctChar(char)


def soft_break(tokens: Sequence[Token], index: int) -> str:
    """Return what a line break in the source becomes: nothing between wide characters."""
    before, after = _neighbour(tokens, index, -1), _neighbour(tokens, index, 1)
    joins = _is_chinese(before) and _is_chinese(after)
    if (
        joins
        or (is_wide(before) and after in _AMBIGUOUS)
        or (before in _AMBIGUOUS and is_wide(after))
    ):
        return ""
    return "\n"


def _neighbour(tokens: Sequence[Token], index: int, step: int) -> str:
    """The nearest character of text on one side; NUL if something else stands there."""
    index += step
    while 0 <= index < len(tokens):
        token = tokens[index]
        if token.type == "text" and token.content:
            return token.content[-1 if step < 0 else 0]
        if token.nesting == 0 and token.type != "text":
            break
        index += step
    return "\0"


def _is_chinese(char: str) -> bool:
    """Wide, but not Hangul: Korean separates words by spaces."""
    return is_wide(char) and not any(first <= char <= last for first, last in _HANGUL)
