"""`::: review`: the items of all chapters, and the reader's progress; for the chapter `review`."""

from __future__ import annotations

from html import escape

from builder.blocks.directive import Argument, BlockError, Body, Context, Directive, Options
from builder.blocks.quiz_item import place_items
from builder.content.quiz import Quiz
from builder.content.site import REVIEW

NAME = "review"
ARGUMENT = Argument.NONE
BODY = Body.OPTIONS
OPTIONS: Options = {}


def render(directive: Directive, context: Context) -> str:
    """Return the place of every item by chapter; what keeps progress is hidden until a script."""
    chapter = context.chapter
    if chapter.slug != REVIEW:
        message = f"the items of all chapters stand in the chapter `{REVIEW}` alone"
        raise BlockError("misplaced", message, "`::: quiz` shows those of this chapter")
    quizzes = context.site.quizzes_on(chapter.language, chapter.slug)
    if not quizzes:
        hint = f"write `content/{chapter.language.code}/quiz/CHAPTER.yml`"
        raise BlockError("no-quiz", "no chapter has a quiz in this language", hint)
    own_id = context.ids.take(NAME, directive.line)
    contents = "".join(_entry(quiz, context) for quiz in quizzes)
    sections = "".join(_section(quiz, directive, context) for quiz in quizzes)
    without = context.html("review.without_scripts")
    return (
        f'<div class="review" id="{own_id}">{_due(context)}'
        f"<noscript><p>{without}</p></noscript>"
        f'<ul class="review-chapters">{contents}</ul>\n{sections}</div>\n'
    )


def _due(context: Context) -> str:
    """What is due now, and what can be done with the progress."""

    def words(name: str) -> str:
        return context.html(f"review.{name}")

    return (
        f'<section class="quiz review-due" aria-label="{words("due")}" hidden>'
        f'<p class="review-status" role="status"></p><div class="review-items"></div></section>'
        f'<p class="review-controls" hidden>'
        f'<button type="button" data-do="export">{words("export")}</button> '
        f'<label>{words("import")} <input type="file" accept=".json,application/json"></label> '
        f'<button type="button" data-do="erase">{words("erase")}</button> '
        f'<span class="review-said" role="status"></span></p>'
    )


def _entry(quiz: Quiz, context: Context) -> str:
    title = escape(_title(quiz, context))
    count = escape(context.words("script.review_items", length=len(quiz.items)))
    return f'<li><a href="#quiz-{quiz.slug}">{title}</a> <span>{count}</span></li>'


def _section(quiz: Quiz, directive: Directive, context: Context) -> str:
    own_id = context.ids.reserve(f"quiz-{quiz.slug}", directive.line)
    title_id = context.ids.part(own_id, "title")
    title = escape(_title(quiz, context))
    items = place_items(quiz, directive.line, context)
    return (
        f'<section class="quiz" id="{own_id}" aria-labelledby="{title_id}">'
        f'<h3 id="{title_id}">{title}</h3>\n<div class="review-items">{items}</div></section>\n'
    )


def _title(quiz: Quiz, context: Context) -> str:
    return context.site.chapters[context.chapter.language.code, quiz.slug].short_title
