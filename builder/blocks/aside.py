"""`::: aside`: a remark that may be skipped."""

from __future__ import annotations

from builder.blocks.directive import Argument, Body, Context, Directive, Options

NAME = "aside"
ARGUMENT = Argument.NONE
BODY = Body.MARKDOWN
OPTIONS: Options = {}


def render(directive: Directive, _context: Context) -> str:
    """Return the aside."""
    return f'<aside class="aside">\n{directive.body}</aside>\n'
