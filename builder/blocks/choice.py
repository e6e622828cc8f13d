"""A choice of one among tokens, as radio buttons that look like keys."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from builder.blocks.directive import Context


def choice(group: str, legend: str, labels: Sequence[str], chosen: int, context: Context) -> str:
    """Return the `<fieldset>`.

    Parameters
    ----------
    group
        Id of the element that it belongs to; the buttons are called after it.
    legend
        What is chosen, as text.
    labels
        What can be, as HTML; the values are their places from 0.
    chosen
        Place of the one that is chosen at first.
    """
    buttons = "".join(
        f'<input type="radio" name="{group}-choice" value="{place}"'
        f' id="{context.ids.part(group, f"choice-{place}")}"{" checked" * (place == chosen)}>'
        f'<label for="{group}-choice-{place}">{label}</label>'
        for place, label in enumerate(labels)
    )
    return f'<fieldset class="choice"><legend>{escape(legend)}</legend>{buttons}</fieldset>'
