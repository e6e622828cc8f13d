"""`::: relation`: a sentence token by token; readers choose who reads, and see whom it may read.

Each token is `token | what it may look for | what it has to offer`. Nothing here is measured, and
no weight is shown: an illustration, which works without scripts.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from builder.blocks.directive import (
    FIGURE,
    Argument,
    BlockError,
    Body,
    Context,
    Directive,
    Options,
)
from builder.blocks.worked import place as place_of
from builder.numbers.address import Axis

NAME = "relation"
ARGUMENT = Argument.NONE
BODY = Body.OPTIONS
OPTIONS: Options = {**FIGURE, "tokens": list, "receiver": object}

_PARTS = 3


def render(directive: Directive, context: Context) -> str:
    """Return the tokens as a choice of one; what comes after the chosen one is masked."""
    tokens = [_parts(str(item)) for item in directive.required("tokens")]
    axis = Axis("key", tuple(token for token, *_ in tokens), has_tokens=True)
    receiver = place_of(directive, "receiver", axis)
    figure_id = context.ids.figure(directive.options["id"], directive.line)
    items = "".join(
        _item(tokens, place, place == receiver, figure_id, context) for place in range(len(tokens))
    )
    note, legend = (context.html(f"relation.{name}") for name in ("note", "legend"))
    return (
        f'<figure class="relation" id="{figure_id}"><p class="relation-note">{note}</p>'
        f"<fieldset><legend>{legend}</legend><ol>{items}</ol></fieldset>"
        f"{directive.figcaption}</figure>\n"
    )


def _parts(item: str) -> tuple[str, str, str]:
    parts = [part.strip() for part in item.split(" | ")]
    if len(parts) != _PARTS or not all(parts):
        message = f"`{item}` is not a token, what it may look for, and what it has to offer"
        hint = "such as `it | whom does it mean? | a pronoun`"
        raise BlockError("bad-token", message, hint, "tokens")
    token, seeks, offers = parts
    return token, seeks, offers


def _item(
    tokens: Sequence[tuple[str, str, str]],
    place: int,
    is_chosen: bool,
    figure_id: str,
    context: Context,
) -> str:
    """One token: as the one who reads, as one that is read, and as one that is masked."""
    token, seeks, offers = tokens[place]
    button = context.ids.part(figure_id, str(place))

    def words(name: str) -> str:
        n_masked = len(tokens) - place - 1
        places = {"seeks": seeks, "offers": offers, "n_read": place + 1, "n_masked": n_masked}
        return escape(context.words(f"relation.{name}", **places))

    texts = "".join(
        f'<span class="relation-{name}">{words(name)}</span>'
        for name in ("reads", "read", "masked")
    )
    return (
        f'<li><input type="radio" name="{figure_id}" id="{button}"{" checked" * is_chosen}>'
        f'<label for="{button}">{escape(token)}</label>{texts}</li>'
    )
