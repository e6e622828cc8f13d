"""Inline roles: ``{name}`target option=value` ``."""

from __future__ import annotations

import re

from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from builder.blocks import ROLES
from builder.blocks.block import InlineBlock
from builder.blocks.directive import Role
from builder.errors import did_you_mean
from builder.markdown.rendering import Place, Rendering

_BY_NAME = {role.NAME: role for role in ROLES}
_ROLE = re.compile(r"\{([A-Za-z][\w-]*)\}`([^`]+)`")
_BARE = re.compile(r"\{(" + "|".join(map(re.escape, _BY_NAME)) + r")\}")
_TARGET = re.compile(r"\s*([^\s\[\]]*(?:\[[^\]]*\]?)?)")


def role(state: StateInline, silent: bool) -> bool:
    """Inline rule: a name in braces and a code span right after it."""
    if state.src[state.pos] != "{":
        return False
    match = _ROLE.match(state.src, state.pos, state.posMax)
    rendering: Rendering = state.env["rendering"]
    if match is None:
        bare = _BARE.match(state.src, state.pos)
        if bare and not silent:
            place = rendering.place(state.src, state.pos)
            hint = f"write {{{bare[1]}}}`...`"
            rendering.report(place, "bare-role", f"`{bare[0]}` has no target", hint)
        return False
    if not silent:
        token = state.push("role", "span", 0)
        token.content = match[2].replace("\n", " ")
        place = rendering.place(state.src, state.pos)
        token.meta = {"name": match[1], "place": place, "offset": match.start(2) - match.start()}
    state.pos = match.end()
    return True


def render(token: Token, rendering: Rendering) -> str:
    """Return the HTML of a role."""
    place: Place = token.meta["place"]
    block = _BY_NAME.get(token.meta["name"])
    if block is None:
        name = token.meta["name"]
        hint = did_you_mean(name, _BY_NAME)
        rendering.report(place, "unknown-role", f"there is no role `{name}`", hint)
        return ""
    match = _TARGET.match(token.content)
    target, end = (match[1], match.end()) if match else ("", 0)
    places: dict[str, Place] = {}
    options: dict[str, str] = {}
    for part in re.finditer(r"\S+", token.content[end:]):
        at = (place[0], place[1] and place[1] + token.meta["offset"] + end + part.start())
        if not _read_option(part[0], at, block, options, rendering):
            return ""
        places[part[0].partition("=")[0]] = at
    with rendering.reporting(place, places):
        return block.render(Role(target, options, place[0]), rendering.context)
    return ""


def _read_option(
    text: str, place: Place, block: InlineBlock, options: dict[str, str], rendering: Rendering
) -> bool:
    name, equals, value = text.partition("=")
    if not equals or not value:
        message = f"`{text}` is not `option=value`"
        rendering.report(place, "role-option", message, "such as `decimals=3`")
    elif name not in block.OPTIONS:
        hint = did_you_mean(name, block.OPTIONS)
        rendering.report(place, "unknown-option", f"`{block.NAME}` has no option `{name}`", hint)
    elif name in options:
        rendering.report(place, "duplicate-option", f"`{name}` is given twice")
    else:
        options[name] = value
        return True
    return False
