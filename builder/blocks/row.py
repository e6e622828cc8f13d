"""`:::: row`: figures side by side."""

from __future__ import annotations

from builder.blocks.directive import Argument, Body, Context, Directive, Options

NAME = "row"
ARGUMENT = Argument.NONE
BODY = Body.MARKDOWN
OPTIONS: Options = {}


def render(directive: Directive, _context: Context) -> str:
    """Return the figures in one box."""
    return f'<div class="figures-row">\n{directive.body}</div>\n'
