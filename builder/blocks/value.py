"""``{value}`ADDRESS ...` ``: one number of the snapshot within a sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape

from builder.blocks.directive import WHERE, BlockError, Context, Directive, Role, no_target, where
from builder.blocks.follow import following
from builder.errors import did_you_mean
from builder.numbers.display import (
    MAX_DECIMALS,
    display,
    display_percent,
    display_power,
    display_whole,
    problem_label,
)
from builder.numbers.matrix import Value

NAME = "value"
OPTIONS = ("problem", "stage", "target", "decimals", "format", "follow", "seed")
FORMATS = ("number", "whole", "percent", "scientific")

OF_SEED = ("claims.", "manifest.training.")
"""What addresses begin with whose number is no cell, and yet another one for another seed."""

OWN = "own"
"""The option `seed` of a number that stays that of the article's own, whichever seed is chosen."""


def render(role: Role, context: Context) -> str:
    """Return the number, formatted, with its address; whole numbers are counts by default."""
    stage, problem = where(role.options, context)
    value = context.numbers.value(role.target, stage, problem, role.options.get("target", ""))
    if "target" in role.options and value.target is None:
        raise no_target(value.address)
    if value.number is None:
        message = f"`{value.address}` is masked: there is no number to show"
        raise BlockError("masked", message, "choose a column up to the row")
    kind = role.options.get("format", usual_format(value.number))
    is_written_anew = bool(value.cell) or value.address.startswith(OF_SEED)
    found_by = value.found_by if context.can_follow else ""
    data = {
        "address": value.address,
        "cell": value.cell,
        "head-of": found_by,
        "stage": value.stage,
        "problem": value.problem,
        "target": "" if value.target is None else str(value.target),
        "follows": " ".join(_follows(role, value, context)),
        "format": kind if is_written_anew and kind != "number" else "",
        "decimals": role.options.get("decimals", "") if is_written_anew else "",
        "seed": _seed(role, value),
        "value": repr(value.number),
    }
    attributes = "".join(f' data-{k}="{escape(v)}"' for k, v in data.items() if v)
    seen = (data["address"], problem_label(data["problem"]), data["value"].replace("-", "−"))
    title = escape(" · ".join(filter(None, seen)))
    shown = formatted(value.number, kind, decimals_in(role.options))
    return f'<span class="value"{attributes} title="{title}">{shown}</span>'


def within(directive: Directive, context: Context, address: str, **options: str) -> str:
    """Return a number of a block's own stage and problem as it stands in a sentence."""
    given = {name: text for name in WHERE if (text := directive.options[name])}
    return render(Role(address, {**given, **options}, directive.line), context)


def _follows(role: Role, value: Value, context: Context) -> tuple[str, ...]:
    """Return what the number follows; numbers of documents and claims follow nothing."""
    wanted = role.options["follow"].split(",") if "follow" in role.options else []
    if wanted and not context.can_follow:
        raise BlockError("cannot-follow", "numbers of a quiz follow nothing", "", "follow")
    if not context.can_follow:
        return ()
    if not value.cell:
        if wanted:
            message = f"`{value.address}` is no number of the model"
            raise BlockError("cannot-follow", message, "", "follow")
        return ()
    matrix = context.numbers.matrix(value.matrix, value.stage, value.problem)
    if "head" in wanted and matrix.spec.head_axis is not None:
        message = f"`{value.address}` is written by its place in the whole matrix of all heads"
        raise BlockError("cannot-follow", message, "", "follow")
    return following(role.options, wanted, matrix, n_rows=1)


def _seed(role: Role, value: Value) -> str:
    """Return the option `seed`, which numbers have that turn with the seed."""
    wanted = role.options.get("seed", "")
    if wanted and wanted != OWN:
        hint = did_you_mean(wanted, [OWN])
        raise BlockError("unknown-seed", f"`seed` = `{wanted}` is not `{OWN}`", hint, "seed")
    if wanted and not value.address.startswith(OF_SEED):
        message = f"`{value.address}` is the same for every seed"
        raise BlockError("cannot-keep", message, "leave `seed` out", "seed")
    return wanted


def usual_format(number: float) -> str:
    """Return the format of a number that is not told its format: a count is whole."""
    return "whole" if isinstance(number, int) else "number"


def formatted(number: float, kind: str, decimals: int | None) -> str:
    """Return a number as one of `FORMATS`, with its own count of decimals if that is None.

    Raises
    ------
    BlockError
        If there is no such format.
    """
    if kind not in FORMATS:
        hint = did_you_mean(kind, FORMATS)
        raise BlockError("unknown-format", f"there is no format `{kind}`", hint, "format")
    if kind == "whole":
        return display_whole(number)
    formatter = {
        "number": display,
        "percent": display_percent,
        "scientific": display_power,
    }[kind]
    return formatter(number) if decimals is None else formatter(number, decimals)


def decimals_in(options: Mapping[str, str]) -> int | None:
    """Return the count of decimals that options ask for, or raise BlockError."""
    text = options.get("decimals")
    if text is None:
        return None
    if not re.fullmatch(r"[0-9]{1,2}", text) or int(text) > MAX_DECIMALS:
        message = f"`decimals` = `{text}` must be 0 to {MAX_DECIMALS}"
        raise BlockError("bad-decimals", message, "such as 3", "decimals")
    return int(text)
