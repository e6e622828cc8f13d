"""`::: effect_atlas`: what an intervention does to each of the hundred problems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from html import escape
from typing import Any

from builder.blocks.directive import FIGURE, Argument, BlockError, Body, Context, Directive, Options
from builder.blocks.evidence import effects_of
from builder.blocks.figure import note
from builder.blocks.hundred import hundred_figure, of_problems
from builder.blocks.part import head_index, index
from builder.blocks.selects import layers_and_heads, selects
from builder.errors import did_you_mean
from builder.numbers.effects import CHANGES, SHOWN, Effect
from builder.numbers.matrix import Matrix
from model import task
from model.tensors import Range

NAME = "effect_atlas"
TASK = task.NAME
ARGUMENT = Argument.NONE
BODY = Body.OPTIONS
OPTIONS: Options = {**FIGURE, "layer": int, "head": object, "change": str}

KINDS = {"share": ("A", Range.PROBABILITY), "change": ("ΔP", Range.SIGNED)}
"""The two tables -> letter and kind of their numbers, in percent."""

DECIMALS = 0


@dataclass(frozen=True, slots=True)
class Choice:
    """The intervention that is shown."""

    layer: int
    head: int
    change: str

    @classmethod
    def of(cls, options: Mapping[str, Any], context: Context) -> Choice:
        """Read the options."""
        layer = index(options["layer"], context.numbers.config.n_layers, "layer")
        change = options["change"] or CHANGES[0]
        if change not in CHANGES:
            hint = did_you_mean(change, CHANGES)
            raise BlockError("unknown-change", f"there is no change `{change}`", hint, "change")
        head, _ = head_index(options["head"], layer, context)
        return cls(layer, head, change)

    @property
    def name(self) -> str:
        """What `effects` calls it."""
        return f"{self.layer}.{self.head}.{self.change}"


def render(directive: Directive, context: Context) -> str:
    """Return two tables, a cell a problem: the share that suggests something, and what is so."""
    choice, known = Choice.of(directive.options, context), effects_of(context)
    figure_id = context.ids.figure(directive.options["id"], directive.line)
    tables = "".join(
        _table(shown, choice, known[choice.name], context.ids.part(figure_id, shown), context)
        for shown in SHOWN
    )
    total = context.words("script.effects_total", **known[choice.name].totals)
    return (
        f'<div class="evidence effects wide" id="{figure_id}" data-layer="{choice.layer}"'
        f' data-head="{choice.head}" data-change="{choice.change}">{_controls(choice, context)}'
        f'<p class="effects-total">{escape(total)}</p>'
        f'<div class="figures-row">{tables}</div>{note(directive.caption)}</div>\n'
    )


def _table(shown: str, choice: Choice, effect: Effect, own_id: str, context: Context) -> str:
    change = context.words(f"effects.change_{choice.change}")
    return hundred_figure(
        _matrix(shown, choice, effect, context),
        context.words(f"script.effects_{shown}", change=change),
        own_id,
        {"shows": shown, "decimals": DECIMALS},
        context,
        decimals=DECIMALS,
    )


def _matrix(shown: str, choice: Choice, effect: Effect, context: Context) -> Matrix:
    address = f"blocks.{choice.layer}.attn.pattern[{choice.head}]"
    tables = context.numbers.matrix(address, "trained", context.chapter.problem)
    letter, kind = KINDS[shown]
    spec = replace(tables.spec, letter=letter, range=kind)
    return of_problems(effect.percent(shown), spec, choice.head, domain=100)


def _controls(choice: Choice, context: Context) -> str:
    """Which intervention is shown, hidden until a script can follow it."""
    listed = {
        **layers_and_heads(context),
        "change": [(name, context.words(f"effects.change_{name}")) for name in CHANGES],
    }
    return selects(listed, asdict(choice), context)
