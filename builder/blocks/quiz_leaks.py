"""Answers that a page gives away: the right number of an item in the stem of another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape

from builder.blocks.quiz_choices import RightNumber
from builder.blocks.quiz_item import ShownItem
from builder.errors import Diagnostic

_VALUE = re.compile(r'<span class="value"[^>]* data-value="([^"]*)"[^>]*>(.*?)</span>', re.DOTALL)
_TYPED = re.compile(r"[−-]?\d[\d,]*(?:\.\d+)?")

FEWEST_DIGITS = 2
"""A count of one digit stands in many a stem and gives nothing away."""


def given_away(items: Sequence[ShownItem]) -> Iterator[Diagnostic]:
    """Report stems that show the right number of another item, or one that looks like it.

    It may be rounded otherwise there.
    """
    for asked in items:
        right = asked.right
        if right is None or len(re.findall(r"\d", right.shown)) < FEWEST_DIGITS:
            continue
        for other in items:
            shown = "" if asked is other else _shown_in(other.question, right)
            if shown:
                message = (
                    f"`{other.item.name}` shows {shown}, and the answer of `{asked.item.name}` "
                    f"on the same page is {right.shown}"
                )
                hint = "let one of them ask about another place, or another problem"
                place = other.item.question.location
                yield place.problem("answer-given-away", message, hint, "warning")


def _shown_in(question: str, right: RightNumber) -> str:
    """Return the number as a stem shows it, or nothing if it does not."""
    for value, shown in _VALUE.findall(question):
        if float(value) == right.value or shown == right.shown:
            return str(shown)
    typed = _TYPED.findall(unescape(re.sub("<[^>]*>", " ", _VALUE.sub(" ", question))))
    return right.shown if right.shown in typed else ""
