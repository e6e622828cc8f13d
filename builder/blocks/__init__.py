"""The blocks of a chapter, one module each.

To add a block, write a module whose docstring starts with the block's form, and with

- ``NAME``: what follows the colons, as in ``::: matrix``;
- ``ARGUMENT``: an `Argument`: whether more may or must follow on that line;
- ``BODY``: a `Body`: YAML options, Markdown, or text;
- ``OPTIONS``: option name -> type; values are checked before `render` sees them, an unknown option
  is an error, and one that was not given is None;
- ``render(directive: Directive, context: Context) -> str``: the HTML. It raises `BlockError`, with
  the option at fault, for anything that cannot be drawn;
- ``TASK``, if it shows one task alone: the task's name,

add it to `BLOCKS` and to the table in the README, and describe it in
``tests/fixtures/blocks/NAME.md``. A role, written ``{name}`target option=value` ``, has ``NAME``,
``OPTIONS`` (names only) and ``render(role: Role, context: Context) -> str``, and goes into `ROLES`.
"""

from __future__ import annotations

from builder.blocks import (
    aside,
    atlas,
    census,
    claim,
    claims,
    controls,
    curve,
    digests,
    dot,
    downloads,
    effect_atlas,
    effect_table,
    equation,
    held_out,
    interventions,
    laboratory,
    ledger,
    levels,
    matrix,
    mixture,
    network,
    note,
    one_step,
    plane,
    problem,
    product,
    quiz,
    receiver,
    relation,
    review,
    route,
    row,
    share_effect,
    softmax,
    softmax_gradient,
    timeline,
    training,
    value,
    votes,
)
from builder.blocks import sum as sum_block
from builder.blocks.block import Block, InlineBlock

BLOCKS: tuple[Block, ...] = (
    matrix,
    product,
    sum_block,
    dot,
    softmax,
    mixture,
    softmax_gradient,
    curve,
    equation,
    row,
    note,
    aside,
    claims,
    digests,
    downloads,
    training,
    timeline,
    laboratory,
    network,
    atlas,
    route,
    one_step,
    interventions,
    ledger,
    votes,
    relation,
    plane,
    receiver,
    quiz,
    review,
    levels,
    controls,
    held_out,
    effect_atlas,
    effect_table,
    share_effect,
    census,
)
ROLES: tuple[InlineBlock, ...] = (value, problem, claim)
