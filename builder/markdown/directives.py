"""Blocks between colons: reading `::: NAME ARGUMENT` and handing it to its module."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from builder.blocks import BLOCKS
from builder.blocks.block import Block
from builder.blocks.directive import Argument, Body, Directive
from builder.content.section import Section
from builder.content.strict_yaml import read_section
from builder.errors import Diagnostics, did_you_mean
from builder.markdown.rendering import Place, Rendering

Inline = Callable[[str, int, Rendering], str]

_BY_NAME = {block.NAME: block for block in BLOCKS}
_OPENING = re.compile(r"(:{3,})[ \t]*([^\s:]\S*)?[ \t]*(.*)")


def directive(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Block rule: one block, from its opening colons to as many on a line of their own."""
    begin = state.bMarks[start] + state.tShift[start]
    if not state.src.startswith(":::", begin) or state.is_code_block(start):
        return False
    if silent:
        return True
    rendering: Rendering = state.env["rendering"]
    place = (rendering.line(start), begin - state.src.rfind("\n", 0, begin))
    match = _OPENING.fullmatch(_text(state, start))
    colons, name = (match[1], match[2]) if match else (":::", None)
    state.line = start + 1
    if match is None or name is None:
        hint = "a block that holds others needs more colons than they have"
        rendering.report(place, "stray-colons", f"these `{colons}` close nothing", hint)
        return True
    block = _BY_NAME.get(name)
    if block is None:
        hint = did_you_mean(name, _BY_NAME)
        rendering.report(place, "unknown-block", f"there is no block `{name}`", hint)
    close = _closing(state, start, end, colons)
    if close is None:
        message = f"`{colons} {name}` is never closed"
        rendering.report(place, "unclosed", message, f"end it with a line `{colons}`")
        return True
    state.line = close + 1
    if block is not None:
        _push(state, block, {"argument": match[3].strip(), "place": place}, start, close)
    return True


def render(opening: Token, body: str, rendering: Rendering, inline: Inline) -> str:
    """Return the HTML of a block.

    Parameters
    ----------
    opening
        The token that `directive` made.
    body
        The block's body as HTML, if it is Markdown.
    rendering
        Where problems are reported.
    inline
        Renders inline Markdown that starts on a line of a file.
    """
    block: Block = opening.meta["block"]
    place: Place = opening.meta["place"]
    section = Section(rendering.context.chapter.path, place[0], rendering.context.diagnostics)
    n_before = len(rendering.context.diagnostics.found)
    if block.BODY is Body.OPTIONS:
        section = _options(opening, place, rendering)
    options: dict[str, Any] = {
        name: section.get(name, kind, None) for name, kind in block.OPTIONS.items()
    }
    section.finish()
    _check_scalars(section, block, options)
    _check_labels(section, options)
    _check_argument(block, opening.meta["argument"], place, rendering)
    _check_task(block, place, rendering)
    if len(rendering.context.diagnostics.found) > n_before:
        return ""
    places = {name: section.place(name) for name in section}
    made = Directive(
        block.NAME,
        opening.meta["argument"],
        options,
        opening.content if block.BODY is Body.TEXT else body,
        place[0],
        lambda text, option: inline(text, places.get(option, place)[0], rendering),
    )
    with rendering.reporting(place, places):
        return block.render(made, rendering.context)
    return ""


def _options(opening: Token, place: Place, rendering: Rendering) -> Section:
    """Read a block's options; of one that runs on into other text only that is reported."""
    path, first_line = rendering.context.chapter.path, place[0] + 1
    lines = enumerate(opening.content.rstrip().split("\n"), first_line)
    beyond = next((n for n, line in lines if line.startswith(":::") or not line.strip()), None)
    if beyond is not None:
        trial = Diagnostics()
        read_section(opening.content, path, trial, first_line)
        if trial.are_fatal():
            opened = rendering.source(place[0])[place[1] - 1 :].strip()
            message = f"`{opened}` is not closed before line {beyond}"
            colons = re.match(":+", opened)
            hint = f"end it with a line `{colons[0] if colons else ':::'}`"
            rendering.report(place, "unclosed", message, hint)
            return Section.unheard(path, first_line)
    return read_section(opening.content, path, rendering.context.diagnostics, first_line)


def _push(state: StateBlock, block: Block, meta: dict[str, Any], start: int, close: int) -> None:
    """Add the tokens: one for a block that reads its body itself, else a pair around them."""
    is_pair = block.BODY is Body.MARKDOWN
    token = state.push("directive_open" if is_pair else "directive", "div", int(is_pair))  # type: ignore[arg-type]
    token.meta = {"block": block, **meta}
    token.map = [start, close + 1]
    token.block = True
    if not is_pair:
        token.content = state.getLines(start + 1, close, state.sCount[start], False)
        return
    old_parent, old_line_max, line = state.parentType, state.lineMax, state.line
    state.parentType, state.lineMax = "container", close
    state.md.block.tokenize(state, start + 1, close)
    state.parentType, state.lineMax, state.line = old_parent, old_line_max, line
    state.push("directive_close", "div", -1).block = True


def _closing(state: StateBlock, start: int, end: int, colons: str) -> int | None:
    """Line that closes a block: the very same colons. None if the block is never closed."""
    rendering: Rendering = state.env["rendering"]
    known = (end, len(colons))
    if known in rendering.unclosed:
        return None
    for line in range(start + 1, end):
        if state.sCount[line] < state.blkIndent and not state.isEmpty(line):
            return None
        if _text(state, line) == colons:
            return line
    rendering.unclosed.add(known)
    return None


def _text(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip()


def _check_scalars(section: Section, block: Block, options: dict[str, Any]) -> None:
    """An option of any kind is one label or index."""
    for name, value in options.items():
        if block.OPTIONS[name] is object and isinstance(value, (Section, list, bool)):
            line, column = section.place(name)
            message = f"`{name}` must be a label or an index"
            hint = f"it is {section.entries[name].shown}"
            section.complain(line, column, "wrong-type", message, hint)


def _check_labels(section: Section, options: dict[str, Any]) -> None:
    """Lists hold labels and indices, nothing deeper."""
    for name in (name for name, value in options.items() if isinstance(value, list)):
        for item in section.entries[name].items:
            if isinstance(item.value, bool) or not isinstance(item.value, (str, int)):
                message = f"`{name}` lists labels and indices, not {item.shown}"
                hint = 'such as `["=", 7, "@2"]`'
                section.complain(item.line, item.column, "wrong-type", message, hint)


def _check_task(block: Block, place: Place, rendering: Rendering) -> None:
    """Refuse a block that shows another task than the site's."""
    task = rendering.context.chapter.task
    wanted = getattr(block, "TASK", task.name)
    if wanted != task.name:
        message = f"`{block.NAME}` is about `{wanted}`, and this site is about `{task.name}`"
        rendering.report(place, "other-task", message, "leave it out")


def _check_argument(block: Block, argument: str, place: Place, rendering: Rendering) -> None:
    if argument and block.ARGUMENT is Argument.NONE:
        message = f"`{block.NAME}` takes nothing after its name, but here is `{argument}`"
        rendering.report(place, "argument", message, f"write `{_form(block)}`")
    if not argument and block.ARGUMENT is Argument.REQUIRED:
        message = f"`{block.NAME}` needs an argument after its name"
        rendering.report(place, "argument", message, f"write `{_form(block)}`")


def _form(block: Block) -> str:
    """How a block is opened, as the docstring of its module begins."""
    form = re.match(r"`(:+ [^`]+)`", block.__doc__ or "")
    return form[1] if form else f"::: {block.NAME} ..."
