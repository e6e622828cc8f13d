"""`::: note TITLE`: a remark that the reader should not miss."""

from __future__ import annotations

from builder.blocks.directive import Argument, Body, Context, Directive, Options

NAME = "note"
ARGUMENT = Argument.OPTIONAL
BODY = Body.MARKDOWN
OPTIONS: Options = {}


def render(directive: Directive, _context: Context) -> str:
    """Return the note, with its title if it has one."""
    title = directive.inline(directive.argument, "") if directive.argument else ""
    head = f'<p class="note-title">{title}</p>\n' if title else ""
    return f'<aside class="note" role="note">\n{head}{directive.body}</aside>\n'
