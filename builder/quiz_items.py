"""The items of a quiz as HTML, apart from the pages that show them."""

from __future__ import annotations

from dataclasses import replace

from builder.blocks.directive import Context
from builder.blocks.quiz_item import shown_item
from builder.blocks.quiz_leaks import given_away
from builder.content.quiz import Quiz
from builder.findings import facts
from builder.markdown import inline
from builder.stages import Result


def rendered_quiz(quiz: Quiz, context: Context) -> Result:
    """Render the items of a chapter, whose context it is; the result's facts have them as HTML."""
    chapter = replace(context.chapter, path=quiz.path, body=quiz.source, body_line=1)
    own = replace(context, chapter=chapter, can_follow=False)
    items = [shown_item(item, quiz, own, inline) for item in quiz.items]
    own.diagnostics.extend(given_away(items))
    html = "".join(item.html for item in items)
    return Result({}, {"html": html, **facts(own.links, own.diagnostics)})
