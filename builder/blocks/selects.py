"""Choices above an atlas: what else it can show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from builder.blocks.directive import Context


def selects(
    listed: Mapping[str, Iterable[tuple[str, str]]], chosen: Mapping[str, Any], context: Context
) -> str:
    """Return a choice for each name, from pairs of value and text.

    They are hidden until a script can follow them.
    """
    made = "".join(
        f'<label>{escape(context.words(f"atlas.{name}"))} <select name="{name}">'
        f"{_options(options, str(chosen[name]))}</select></label>"
        for name, options in listed.items()
    )
    return f'<div class="atlas-controls" hidden>{made}</div>'


def _options(options: Iterable[tuple[str, str]], chosen: str) -> str:
    return "".join(
        f'<option value="{value}"{" selected" * (value == chosen)}>{escape(text)}</option>'
        for value, text in options
    )
