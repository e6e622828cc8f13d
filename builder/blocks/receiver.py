"""`::: receiver`: the position whose row the figures show, chosen among those of the question."""

from __future__ import annotations

from html import escape

from builder.blocks.choice import choice
from builder.blocks.directive import Argument, Body, Context, Directive, Options, where
from builder.blocks.problem import part_that_follows
from model import task

NAME = "receiver"
ARGUMENT = Argument.NONE
BODY = Body.OPTIONS
OPTIONS: Options = {"id": str}

_PARTS = {0: "a", 2: "b"}
"""Operands, by position: they follow the page's problem."""


def render(directive: Directive, context: Context) -> str:
    """Return the choice, which a script brings to life; without one, `=` reads."""
    _, name = where(directive.options, context)
    own_id = context.ids.figure(directive.options["id"], directive.line)
    labels = [
        part_that_follows(_PARTS[place], token)
        if place in _PARTS
        else f"<code>{escape(token)}</code>"
        for place, token in enumerate(task.BY_NAME[name].prompt)
    ]
    legend = context.words("plane.receiver")
    chosen = task.EQUALS_POSITION
    buttons = choice(own_id, legend, labels, chosen, context)
    return f'<div class="receiver" id="{own_id}" data-written="{chosen}" hidden>{buttons}</div>\n'
