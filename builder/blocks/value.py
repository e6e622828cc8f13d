"""``{value}`ADDRESS ...` ``: one number of the snapshot within a sentence."""

from __future__ import annotations

import re
from html import escape

from builder.blocks.directive import BlockError, Context, Role, where
from builder.errors import did_you_mean
from builder.numbers.display import (
    MAX_DECIMALS,
    display,
    display_percent,
    display_scientific,
    display_whole,
)

NAME = "value"
OPTIONS = ("problem", "stage", "decimals", "format")
FORMATS = ("number", "whole", "percent", "scientific")


def render(role: Role, context: Context) -> str:
    """Return the number, formatted, with its address; whole numbers are counts by default."""
    stage, problem = where(role.options, context)
    value = context.numbers.value(role.target, stage, problem)
    if value.number is None:
        message = f"`{value.address}` is masked: there is no number to show"
        raise BlockError("masked", message)
    data = {
        "address": value.address,
        "stage": value.stage,
        "problem": value.problem,
        "value": repr(value.number),
    }
    attributes = "".join(f' data-{k}="{escape(v)}"' for k, v in data.items() if v)
    seen = (data["address"], data["problem"].replace("x", "×"), data["value"].replace("-", "−"))
    title = escape(" · ".join(filter(None, seen)))
    return (
        f'<span class="value"{attributes} title="{title}">{_formatted(value.number, role)}</span>'
    )


def _formatted(number: float, role: Role) -> str:
    kind = role.options.get("format", "whole" if isinstance(number, int) else "number")
    if kind not in FORMATS:
        hint = did_you_mean(kind, FORMATS)
        raise BlockError("unknown-format", f"there is no format `{kind}`", hint, "format")
    decimals = _decimals(role)
    if kind == "whole":
        return display_whole(number)
    formatter = {
        "number": display,
        "percent": display_percent,
        "scientific": display_scientific,
    }[kind]
    return formatter(number) if decimals is None else formatter(number, decimals)


def _decimals(role: Role) -> int | None:
    text = role.options.get("decimals")
    if text is None:
        return None
    if not re.fullmatch(r"[0-9]{1,2}", text) or int(text) > MAX_DECIMALS:
        message = f"`decimals` = `{text}` must be 0 to {MAX_DECIMALS}"
        raise BlockError("bad-decimals", message, "", "decimals")
    return int(text)
