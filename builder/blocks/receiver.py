"""`::: receiver`: the position whose row the figures show, chosen among those of the question."""

from __future__ import annotations

from html import escape

from builder.blocks.choice import choice
from builder.blocks.directive import Argument, Body, Context, Directive, Options, where
from builder.blocks.problem import part_places, part_that_follows

NAME = "receiver"
ARGUMENT = Argument.NONE
BODY = Body.OPTIONS
OPTIONS: Options = {"id": str}


def render(directive: Directive, context: Context) -> str:
    """Return the choice, which a script brings to life; without one, the last reads."""
    _, name = where(directive.options, context)
    problem = context.chapter.task.by_name[name]
    parts = part_places(problem)
    own_id = context.ids.figure(directive.options["id"], directive.line)
    labels = [
        part_that_follows(parts[place], token)
        if place in parts
        else f"<code>{escape(token)}</code>"
        for place, token in enumerate(problem.prompt)
    ]
    legend = context.words("plane.receiver")
    chosen = problem.asks_at
    buttons = choice(own_id, legend, labels, chosen, context)
    return f'<div class="receiver" id="{own_id}" data-written="{chosen}" hidden>{buttons}</div>\n'
