"""Choices above a figure: what else it can show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Any

from builder.blocks.directive import Context
from model.tensors import in_prose

Choices = Iterable[tuple[str, str]]
"""Pairs of value and text."""


def selects(listed: Mapping[str, Choices], chosen: Mapping[str, Any], context: Context) -> str:
    """Return a choice for each name, hidden until a script can follow it."""
    made = "".join(labelled(listed, chosen, context))
    return f'<div class="atlas-controls" hidden>{made}</div>'


def labelled(
    listed: Mapping[str, Choices], chosen: Mapping[str, Any], context: Context
) -> Iterator[str]:
    """Yield a choice for each name, with what it is called."""
    for name, choices in listed.items():
        label = context.html(f"atlas.{name}")
        found = _options(choices, str(chosen[name]))
        yield f'<label>{label} <select name="{name}">{found}</select></label>'


def layers_and_heads(context: Context) -> dict[str, list[tuple[str, str]]]:
    """Return what there is to choose of both."""
    config = context.numbers.config
    counts = {"layer": config.n_layers, "head": config.n_heads}
    return {
        name: [(str(i), str(in_prose(i))) for i in range(count)] for name, count in counts.items()
    }


def _options(choices: Choices, chosen: str) -> str:
    return "".join(
        f'<option value="{value}"{" selected" * (value == chosen)}>{escape(text)}</option>'
        for value, text in choices
    )
