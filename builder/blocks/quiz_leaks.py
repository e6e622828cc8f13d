"""Answers that a page gives away: the right number of an item in the stem of another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape

from builder.blocks.quiz_item import ShownItem
from builder.errors import Diagnostic

_VALUE = re.compile(r'<span class="value"[^>]* data-value="([^"]*)"[^>]*>(.*?)</span>', re.DOTALL)
_TYPED = re.compile(r"[−-]?\d[\d,]*(?:\.\d+)?")

FEWEST_DIGITS = 2
"""A count of one digit stands in many a stem and gives nothing away."""


def given_away(items: Sequence[ShownItem]) -> Iterator[Diagnostic]:
    """Report stems that show the right number of another item, however it is rounded there."""
    for asked in items:
        for other in items:
            shown = "" if asked is other else _number_in(other.question, asked)
            if shown:
                message = (
                    f"`{other.item.name}` shows {shown}, and the answer of `{asked.item.name}` "
                    "on the same page is that number"
                )
                hint = "let one of them ask about another place, or another problem"
                place = other.item.question.location
                yield place.problem("answer-given-away", message, hint, "warning")


def _number_in(question: str, asked: ShownItem) -> str:
    """Return the right number as a stem shows it, or nothing if it does not."""
    right = asked.right
    if right is None or len(re.findall(r"\d", right.shown)) < FEWEST_DIGITS:
        return ""
    for value, shown in _VALUE.findall(question):
        if float(value) == right.value:
            return str(shown)
    typed = _TYPED.findall(unescape(re.sub("<[^>]*>", " ", _VALUE.sub(" ", question))))
    return right.shown if right.shown in typed else ""
