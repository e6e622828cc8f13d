"""One item of a quiz as a page shows it: the question, its options, and the folded answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from html import escape

from builder.blocks import value
from builder.blocks.directive import Context, Role
from builder.blocks.part import BETWEEN
from builder.blocks.quiz_choices import Choice, RightNumber, asked, choices, reporting
from builder.content.quiz import Item, Number, Quiz, Text
from builder.links import Link
from builder.numbers.display import problem_label
from builder.numbers.matrix import Value
from builder.quiz.marks import SOURCE, items_mark

Inline = Callable[[str, int, Context], str]
"""Renders inline Markdown that starts on a line of the chapter in the context."""


@dataclass(frozen=True, slots=True)
class ShownItem:
    """An item as HTML, its question alone, and the right number if it asks for one."""

    item: Item
    html: str
    question: str
    right: RightNumber | None


def place_items(quiz: Quiz, line: int, context: Context) -> str:
    """Return the mark of a chapter's items, whose ids are given out to a block on a line."""
    for item in quiz.items:
        context.ids.reserve(_item_id(item, quiz), line)
    return items_mark(quiz.slug)


def _item_id(item: Item, quiz: Quiz) -> str:
    return f"quiz-{quiz.slug}-{item.name}"


def shown_item(item: Item, quiz: Quiz, context: Context, render: Inline) -> ShownItem:
    """Return one item, which reads without scripts: choose, then open the answer.

    Numbers in an item are those of its own problem, whatever the reader looks at: the answers
    would not follow.
    """
    own = replace(context, chapter=replace(context.chapter, problem=item.problem))

    def inline(text: Text) -> str:
        return render(text.markdown, text.line, own)

    key, item_id = f"{quiz.slug}/{item.name}", _item_id(item, quiz)
    found, question = choices(item, own, inline), inline(item.question)
    options = "".join(
        f'<label><input type="radio" name="{key}"><span>{choice.html}</span></label>'
        for choice in found
    )
    answers = "".join(_answer(choice, context) for choice in found)
    number = _number(item, item.number, own) if item.number and found else ""
    html = (
        f'<div class="quiz-item" id="{item_id}" data-item="{key}">'
        f"<fieldset><legend>{question}</legend>{options}</fieldset>"
        f"<details><summary>{context.html('quiz.answers')}</summary>"
        f'<ul class="quiz-answers">{answers}</ul>{number}</details>'
        f"{_source(item, quiz, context)}</div>\n"
    )
    right = next((choice.number for choice in found if choice.is_right), None)
    return ShownItem(item, html, question, right)


def _answer(choice: Choice, context: Context) -> str:
    verdict = escape(context.words("quiz.right" if choice.is_right else "quiz.wrong"))
    name = "is-right" if choice.is_right else "is-wrong"
    return f'<li class="{name}"><b>{choice.html}</b> <b>{verdict}</b> {choice.because}</li>'


def _number(item: Item, number: Number, context: Context) -> str:
    """Which number of the snapshot is asked for; one of a tensor opens like any other."""
    options = {**number.options, "problem": item.problem}
    with reporting(number.locations, context):
        asked_for = asked(item, number, context).value
        role = Role(number.address, options, item.location.line)
        address, shown = f"<code>{escape(asked_for.address)}</code>", value.render(role, context)
        if asked_for.cell:
            where = escape(_where(asked_for, context))
            text = context.html("quiz.number", address=address, value=shown, where=where)
        else:
            text = context.html("quiz.listed", address=address, value=shown)
        return f'<p class="quiz-number">{text}</p>'
    return ""


def _where(number: Value, context: Context) -> str:
    stage = context.words(f"figure.stage_{number.stage}")
    return BETWEEN.join([problem_label(number.problem), stage] if number.problem else [stage])


def _source(item: Item, quiz: Quiz, context: Context) -> str:
    """The section to read again."""
    href = f"{quiz.slug}.html#{item.section.markdown}"
    context.links.append(Link(href, item.section.location))
    link = f'<a href="{escape(href)}">{SOURCE}</a>'
    return f'<p class="quiz-source">{link} <span class="quiz-when"></span></p>'
