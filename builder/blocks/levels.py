"""`::: levels`: a table of steps and what is known of each, which a phone shows step by step."""

from __future__ import annotations

import re
from html import escape

from builder.blocks.directive import Argument, BlockError, Body, Context, Directive, Options

NAME = "levels"
ARGUMENT = Argument.NONE
BODY = Body.MARKDOWN
OPTIONS: Options = {}

_HEADS = re.compile(r"<th>(.*?)</th>", re.DOTALL)
_LINES = re.compile(r"<tr>(?=\s*<td>).*?</tr>", re.DOTALL)
_TAGS = re.compile(r"<[^>]*>")


def render(directive: Directive, _context: Context) -> str:
    """Return the table; each cell knows its column's name, and the first heads its row."""
    heads = [_TAGS.sub("", head) for head in _HEADS.findall(directive.body)]
    if not heads:
        raise BlockError("levels", "there is no table in `levels`", "write it as `| step | ... |`")
    table = _LINES.sub(lambda line: _labelled(line[0], heads), directive.body)
    named = table.replace("<th>", '<th scope="col">')
    return f'<div class="levels">\n{named}</div>\n'


def _labelled(line: str, heads: list[str]) -> str:
    cells = iter(heads)

    def label(_cell: re.Match[str]) -> str:
        return f'<td data-label="{escape(next(cells, ""))}">'

    named = re.sub("<td>", label, line)
    first, rest = named.split("</td>", 1)
    return re.sub('<td data-label="[^"]*">', '<th scope="row">', first) + "</th>" + rest
