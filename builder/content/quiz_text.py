"""The texts of a quiz: one paragraph of inline Markdown each, in a field of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from builder.content.quiz import Text
from builder.content.section import Section

_BLOCK = re.compile(r"[ ]{0,3}(?::::|```|~~~|#{1,6}[ \t]|[-+*>][ \t]|[0-9]{1,9}[.)][ \t])")
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")
_ESCAPE = re.compile(r'"(?:[^"\\]|\\.)*\\[abefnrtv]')
_LITERAL = re.compile(r":\s*[|>][-+]?\s*$")


def word(fields: Section, name: str) -> Text:
    """Read a field that holds a name or an address; an empty one is a problem."""
    given = fields.get(name, str)
    markdown, location = given.strip(), fields.locate(name)
    is_given = name in fields and isinstance(fields.entries[name].value, str)
    if is_given and not markdown:
        hint = f"write `{name}: ...`"
        fields.complain(*fields.place(name), "missing-field", f"`{name}` is empty", hint)
    is_below = _LITERAL.search(_line(fields, location.line)) is not None
    return Text(markdown, location.line + is_below, location)


def paragraph(fields: Section, name: str) -> Text:
    """Read a field that holds one paragraph, and report what would not be shown as it is meant."""
    text = word(fields, name)
    for line, rule, message, hint in _misread(fields, text):
        fields.complain(line, 1, rule, message, hint)
    return text


def _line(fields: Section, line: int) -> str:
    index = line - fields.first_line
    return fields.lines[index] if 0 <= index < len(fields.lines) else ""


def _misread(fields: Section, text: Text) -> Iterator[tuple[int, str, str, str]]:
    lines = text.markdown.splitlines()
    for line, content in enumerate(lines, text.line):
        if _BLOCK.match(content):
            message = f"`{content.split()[0]}` begins no block here: a text is one paragraph"
            yield line, "block-in-text", message, "write a sentence; figures stand in the chapter"
            break
        if not content.strip():
            message = "an empty line ends the paragraph, and a text is one"
            yield line, "block-in-text", message, "leave the line out"
    opening = _line(fields, text.location.line)
    value = opening[text.location.column - 1 :].partition(":")[2].strip()
    if _CONTROL.search(text.markdown) or _ESCAPE.match(value):
        message = "a backslash in double quotes is an escape, as `\\f` in `\\frac` is"
        yield text.line, "escape", message, "use single quotes, or write the text below `|`"
    if len(lines) == 1 and value.startswith(f"{text.markdown} #"):
        message = "what follows ` #` is a comment and is not shown"
        yield text.location.line, "comment", message, "quote the text, or delete the comment"
