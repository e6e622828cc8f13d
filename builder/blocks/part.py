"""What a part of the network is called, what is said of it, and where it leads."""

from __future__ import annotations

import re
from html import escape

from builder.blocks.directive import BlockError, Context
from builder.content.site import LEDGER, LEDGER_OF_MLP
from builder.errors import did_you_mean
from builder.numbers.address import AddressError
from builder.numbers.display import display_whole
from model.parts import Group, Part
from model.task import BY_NAME, EQUALS_POSITION, TOKEN_ID
from model.tensors import in_prose

BETWEEN = " · "


def index(wanted: int | None, size: int, option: str) -> int:
    """Return the layer or head that an option asks for, the first by default."""
    found = int(wanted or 0)
    if not 0 <= found < size:
        message = f"`{option}` = {found} must be 0 to {size - 1}"
        raise BlockError(f"unknown-{option}", message, "", option)
    return found


def head_index(wanted: object, layer: int, context: Context) -> int:
    """Return the head that an option asks for, by its index or by the claim that found it."""
    try:
        found = context.numbers.head_of(str(wanted), f"blocks.{layer}.attn")
    except AddressError as error:
        raise BlockError(error.rule, error.message, error.hint, "head") from error
    if found is not None:
        return found
    n_heads = context.numbers.config.n_heads
    if wanted is None or type(wanted) is int:
        return index(wanted, n_heads, "head")
    message = f"`head` = {wanted} must be 0 to {n_heads - 1}, or the id of a claim that finds one"
    hint = did_you_mean(str(wanted), context.numbers.finders)
    raise BlockError("unknown-head", message, hint, "head")


def sign(part: Part) -> str:
    """Return a part's letter, + for a sum, or nothing."""
    return "+" if part.is_sum else part.letter


def word(part: Part, context: Context) -> str:
    """Return its name in words."""
    return context.words(f"network.part_{part.makes.name.replace('.', '_')}")


def full_name(part: Part, context: Context) -> str:
    """Return its head, if it has one, its letter and its name in words."""
    name = f"{sign(part)} {word(part, context)}".strip()
    return name if part.head is None else BETWEEN.join([head_name(part.head, context), name])


def subscripts(name: str) -> str:
    """Return a name as HTML: what follows `_` below the line, the sign of a transpose above it."""
    return re.sub(r"_(\w+)", r"<sub>\1</sub>", escape(name)).replace("⊤", "<sup>⊤</sup>")


def head_name(head: int, context: Context) -> str:
    """Return what a head is called."""
    return context.words("figure.head", number=in_prose(head))


def layer_name(layer: int, context: Context) -> str:
    """Return what a layer is called."""
    return context.words("figure.layer", number=in_prose(layer))


def group_name(group: Group, context: Context) -> str:
    """Return what a group of parts is called."""
    if group.layer is None:
        return context.words(f"network.group_{group.name}")
    return layer_name(group.layer, context)


def spoken(part: Part, context: Context) -> str:
    """Return a sentence with its full name, meaning, shape and count."""
    layer, meaning = part.makes.layer, part.makes.meaning
    name = full_name(part, context)
    return context.words(
        "network.part",
        name=name if layer is None else BETWEEN.join([layer_name(layer, context), name]),
        meaning=meaning.get(context.chapter.language.code, part.makes.en),
        shape=part.shape,
        count=display_whole(part.n_params),
    )


def address(part: Part) -> str:
    """Return the address of what it makes, such as `blocks.0.attn.q[1]`."""
    return part.makes.key if part.head is None else f"{part.makes.key}[{part.head}]"


def place(part: Part) -> str:
    """Return the id of its place in the ledger, which shows one layer and head at a time."""
    return f"part-{part.makes.name}"


def target(part: Part, context: Context) -> str:
    """Return where a part leads: its place in the ledger, or else to a cell that it makes.

    The cell stands in the row of `=`, first column; of what is said about every token, in the
    column of the token that is right.
    """
    site, here = context.site, context.chapter.language
    slug = LEDGER_OF_MLP if part.makes.name == "mlp_out" else LEDGER
    if slug in site.slugs:
        ledger = site.href(here, site.language_of(slug, here), slug)
        chosen = {"layer": part.makes.layer, "head": part.head}
        state = "&".join(f"{name}={index}" for name, index in chosen.items() if index is not None)
        return f"{ledger}#{place(part)}{f'?{state}' * bool(state)}"
    problem = BY_NAME[context.chapter.problem]
    answer = TOKEN_ID[problem.tokens[EQUALS_POSITION + 1]]
    column = answer if part.makes.axes[-1] == "d_vocab" else 0
    head = [] if part.head is None else [part.head]
    indices = ",".join(map(str, [*head, EQUALS_POSITION, column]))
    return f"#?cell={problem.name}:trained:{part.makes.key}[{indices}]"
