"""`::: ledger forward`, `::: ledger backward`: every matrix of a layer and head, at both stages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from builder.blocks.directive import Argument, BlockError, Body, Context, Directive, Options
from builder.blocks.figure import matrix_figure
from builder.blocks.part import head_index, index, place, sign, subscripts, word
from builder.blocks.table import Part as Shown
from builder.errors import did_you_mean
from builder.numbers.matrix import Matrix
from model.parts import Part, groups
from model.snapshot import STAGES
from model.tensors import TensorSpec, Vocabulary

NAME = "ledger"
ARGUMENT = Argument.REQUIRED
BODY = Body.OPTIONS
OPTIONS: Options = {"layer": int, "head": object, "only": list, "without": list}

DIRECTIONS = ("forward", "backward")
FOLLOWS = ("problem", "layer", "head")


def render(directive: Directive, context: Context) -> str:
    """Return a section for each box; its figures follow the page's problem, layer and head."""
    if directive.argument not in DIRECTIONS:
        hint = did_you_mean(directive.argument, DIRECTIONS)
        raise BlockError("unknown-direction", f"there is no ledger `{directive.argument}`", hint)
    is_backward = directive.argument == "backward"
    config = context.numbers.config
    layer = index(directive.options["layer"], config.n_layers, "layer")
    head, found_by = head_index(directive.options["head"], layer, context)
    vocabulary = Vocabulary(config)
    parts = [
        part
        for group in groups(vocabulary)
        if group.layer in (None, layer)
        for part in group.parts
        if part.head in (None, head)
    ]
    made = dict(_made(parts, vocabulary, layer))
    wanted = _wanted(directive, parts)
    order = reversed(wanted) if is_backward else wanted
    html = "".join(
        _section(part, made[part.makes.key], directive, context, found_by or str(head), is_backward)
        for part in order
    )
    if not html:
        hint = "let `only` or `without` leave a box that has matrices in this direction"
        raise BlockError("empty-part", "this ledger shows nothing", hint)
    return html


def _wanted(directive: Directive, parts: Sequence[Part]) -> Sequence[Part]:
    """The boxes that `only` lists, by what they make, without those that `without` lists."""
    names = [part.makes.name for part in parts]
    only, without = (directive.options[name] for name in ("only", "without"))
    for option, listed in (("only", only or ()), ("without", without or ())):
        for name in map(str, listed):
            if name not in names:
                message, hint = f"no box makes `{name}`", did_you_mean(name, names)
                raise BlockError("unknown-box", message, hint, option)
    kept = set(names if only is None else map(str, only)) - set(map(str, without or ()))
    return [part for part in parts if part.makes.name in kept]


def _made(
    parts: Sequence[Part], vocabulary: Vocabulary, layer: int
) -> Iterator[tuple[str, list[TensorSpec]]]:
    """Each part's result with what is computed on the way to it since the part before."""
    results = {part.makes.key for part in parts}
    pending: list[TensorSpec] = []
    for key in vocabulary.activations:
        if vocabulary[key].layer in (None, layer):
            pending.append(vocabulary[key])
        if key in results:
            yield key, pending
            pending = []


def _section(
    part: Part,
    made: Sequence[TensorSpec],
    directive: Directive,
    context: Context,
    head: str,
    is_backward: bool,
) -> str:
    """One box: its name, and its matrices at both stages side by side."""
    specs = [*made[::-1], *part.weights] if is_backward else [*part.weights, *made]
    rows = "".join(_row(spec, directive, context, head, is_backward) for spec in specs)
    if not rows:
        return ""
    own = context.ids.reserve(place(part), directive.line)
    called = word(part, context)
    name = subscripts(f"{sign(part)} {called}".strip())
    return (
        f'<div class="ledger-part wide" id="{own}" role="group" aria-label="{escape(called)}">'
        f'<p class="ledger-name">{name}</p>{rows}</div>\n'
    )


def _row(
    spec: TensorSpec, directive: Directive, context: Context, head: str, is_backward: bool
) -> str:
    matrices = _matrices(spec, context, head, is_backward)
    figures = "".join(
        matrix_figure(
            matrix,
            Shown.of(matrix, {}),
            context,
            context.ids.figure(None, directive.line),
            follows=FOLLOWS,
        )
        for matrix in matrices
    )
    return f'<div class="figures-row">{figures}</div>' if figures else ""


def _matrices(spec: TensorSpec, context: Context, head: str, is_backward: bool) -> Iterator[Matrix]:
    """The tensor at both stages; nothing for a gradient that is not taken."""
    if is_backward and (not spec.has_gradient or (spec.is_weight and spec.head_axis is None)):
        return
    has_head = "head" in spec.axes or spec.head_axis is not None
    address = f"{'∂' * is_backward}{spec.key}{f'[{head}]' * has_head}"
    for stage in STAGES:
        yield context.numbers.matrix(address, stage, context.chapter.problem)
