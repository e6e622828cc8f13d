"""`::: quiz`: the items of this chapter, from its file in the folder `quiz` of its language."""

from __future__ import annotations

from collections.abc import Iterator

from builder.blocks.directive import Argument, BlockError, Body, Context, Directive, Options
from builder.blocks.quiz_item import place_items
from builder.errors import Diagnostic, Location

NAME = "quiz"
ARGUMENT = Argument.NONE
BODY = Body.OPTIONS
OPTIONS: Options = {}


def render(directive: Directive, context: Context) -> str:
    """Return the place of the items; a script makes them answer, and brings back what was missed.

    The items themselves are rendered by `builder.quiz_items`.
    """
    chapter = context.chapter
    quiz = context.site.quizzes.get((chapter.language.code, chapter.slug))
    if quiz is None:
        message = f"the chapter `{chapter.slug}` has no quiz in this language"
        hint = (
            f"write `content/{chapter.language.code}/quiz/{chapter.slug}.yml`, or delete the block"
        )
        raise BlockError("no-quiz", message, hint)
    if NAME in context.ids.taken:
        message = f"these items stand on line {context.ids.taken[NAME]} already"
        raise BlockError("duplicate-id", message, "delete one of the two blocks")
    own_id = context.ids.take(NAME, directive.line)
    label = context.html("quiz.title")
    items = place_items(quiz, directive.line, context)
    return f'<section class="quiz" id="{own_id}" aria-label="{label}">\n{items}</section>\n'


def unshown(context: Context) -> Iterator[Diagnostic]:
    """Report the quiz of a chapter that has been rendered without it."""
    chapter = context.chapter
    quiz = context.site.quizzes.get((chapter.language.code, chapter.slug))
    if quiz is not None and NAME not in context.ids.taken:
        message = f"`{chapter.path}` does not show these items"
        hint = "write a line `::: quiz` and a line `:::` where they belong"
        yield Location(quiz.path).problem("unshown-quiz", message, hint, "warning")
