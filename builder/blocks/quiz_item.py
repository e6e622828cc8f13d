"""One item of a quiz as a page shows it: the question, its options, and the folded answers."""

from __future__ import annotations

from dataclasses import replace
from html import escape

from builder.blocks import value
from builder.blocks.directive import Context, Directive, Role
from builder.blocks.quiz_choices import Choice, choices, reporting
from builder.content.quiz import Item, Number, Quiz, Text
from builder.links import Link


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
    number = _number(item, item.number, own) if item.number else ""
    return (
        f'<div class="quiz-item" id="{item_id}" data-item="{key}">'
        f"<fieldset><legend>{inline(item.question)}</legend>{options}</fieldset>"
        f"<details><summary>{escape(context.words('quiz.answers'))}</summary>"
        f'<ul class="quiz-answers">{answers}</ul>{number}</details>'
        f"{_source(item, quiz, context)}</div>\n"
    )


def _answer(choice: Choice, context: Context) -> str:
    verdict = escape(context.words("quiz.right" if choice.is_right else "quiz.wrong"))
    mark = ' class="is-right"' if choice.is_right else ""
    return f"<li{mark}><b>{choice.html}</b> <b>{verdict}</b> {choice.because}</li>"


def _number(item: Item, number: Number, context: Context) -> str:
    """Which number of the model is asked for; it opens like any other."""
    options = {**number.options, "problem": item.problem}
    with reporting(number.locations, context):
        shown = value.render(Role("value", number.address, options, item.location.line), context)
        address = f"<code>{escape(number.address)}</code>"
        text = escape(context.words("quiz.number", address="\0", value="\1"))
        return f'<p class="quiz-number">{text.replace(chr(0), address).replace(chr(1), shown)}</p>'
    return ""


def _source(item: Item, quiz: Quiz, context: Context) -> str:
    """The section to read again."""
    chapter = context.site.chapters[context.chapter.language.code, quiz.slug]
    href = f"{quiz.slug}.html#{item.section.markdown}"
    context.links.append(Link(href, item.section.location))
    text = escape(context.words("quiz.source", title=chapter.title))
    link = f'<a href="{escape(href)}">{text}</a>'
    return f'<p class="quiz-source">{link} <span class="quiz-when"></span></p>'
