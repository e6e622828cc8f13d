"""One item of a quiz as a page shows it: the question, its options, and the folded answers."""

from __future__ import annotations

import re
from dataclasses import replace
from html import escape

from builder.blocks import value
from builder.blocks.directive import Context, Directive, Role
from builder.blocks.part import BETWEEN
from builder.blocks.quiz_choices import Choice, asked, choices, reporting
from builder.content.quiz import Item, Number, Quiz, Text
from builder.links import Link
from builder.numbers.display import problem_label
from builder.numbers.matrix import Value


def quiz_html(quiz: Quiz, directive: Directive, context: Context) -> str:
    """Return the items of a chapter, which read without scripts: choose, then open the answer.

    Numbers in an item are those of its own problem, whatever the reader looks at: the answers
    would not follow.
    """
    return "".join(_item(item, quiz, directive, context) for item in quiz.items)


def _item(item: Item, quiz: Quiz, directive: Directive, context: Context) -> str:
    chapter = replace(
        context.chapter, path=quiz.path, body=quiz.source, body_line=1, problem=item.problem
    )
    own = replace(context, chapter=chapter, can_follow=False)

    def inline(text: Text) -> str:
        return directive.quoted(text.markdown, own, text.line)

    key = f"{quiz.slug}/{item.name}"
    item_id = context.ids.reserve(f"quiz-{quiz.slug}-{item.name}", directive.line)
    found = choices(item, own, inline)
    options = "".join(
        f'<label><input type="radio" name="{key}"><span>{choice.html}</span></label>'
        for choice in found
    )
    answers = "".join(_answer(choice, context) for choice in found)
    number = _number(item, item.number, own) if item.number and found else ""
    return (
        f'<div class="quiz-item" id="{item_id}" data-item="{key}">'
        f"<fieldset><legend>{inline(item.question)}</legend>{options}</fieldset>"
        f"<details><summary>{escape(context.words('quiz.answers'))}</summary>"
        f'<ul class="quiz-answers">{answers}</ul>{number}</details>'
        f"{_source(item, quiz, context)}</div>\n"
    )


def _answer(choice: Choice, context: Context) -> str:
    verdict = escape(context.words("quiz.right" if choice.is_right else "quiz.wrong"))
    name = "is-right" if choice.is_right else "is-wrong"
    return f'<li class="{name}"><b>{choice.html}</b> <b>{verdict}</b> {choice.because}</li>'


def _number(item: Item, number: Number, context: Context) -> str:
    """Which number of the snapshot is asked for; one of a tensor opens like any other."""
    options = {**number.options, "problem": item.problem}
    with reporting(number.locations, context):
        asked_for = asked(item, number, context).value
        role = Role(value.NAME, number.address, options, item.location.line)
        html = {
            "address": f"<code>{escape(asked_for.address)}</code>",
            "value": value.render(role, context),
        }
        marked = {name: f"\0{name}\0" for name in html}
        if asked_for.cell:
            text = context.words("quiz.number", where=_where(asked_for, context), **marked)
        else:
            text = context.words("quiz.listed", **marked)
        filled = re.sub("\0(.*?)\0", lambda match: html[match[1]], escape(text))
        return f'<p class="quiz-number">{filled}</p>'
    return ""


def _where(number: Value, context: Context) -> str:
    stage = context.words(f"figure.stage_{number.stage}")
    return BETWEEN.join([problem_label(number.problem), stage] if number.problem else [stage])


def _source(item: Item, quiz: Quiz, context: Context) -> str:
    """The section to read again."""
    chapter = context.site.chapters[context.chapter.language.code, quiz.slug]
    href = f"{quiz.slug}.html#{item.section.markdown}"
    context.links.append(Link(href, item.section.location))
    text = escape(context.words("quiz.source", title=chapter.short_title))
    link = f'<a href="{escape(href)}">{text}</a>'
    return f'<p class="quiz-source">{link} <span class="quiz-when"></span></p>'
