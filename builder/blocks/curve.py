"""`::: curve loss`, `::: curve correct`: what training did, step by step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from builder.blocks.directive import (
    FIGURE,
    Argument,
    BlockError,
    Body,
    Context,
    Directive,
)
from builder.blocks.rows import head_row, row
from builder.charts import CURVE_FRAME, curve_spec
from builder.errors import did_you_mean
from builder.numbers.display import display, display_whole
from model.task import Task

NAME = "curve"
ARGUMENT = Argument.REQUIRED
BODY = Body.OPTIONS
OPTIONS = FIGURE

TABLE_STEP = 50
"""The table has every so many steps, and the last."""


@dataclass(frozen=True, slots=True)
class Curve:
    """One quantity over the steps of training; entry i of `values` belongs to step i."""

    name: str
    values: Sequence[float]
    ticks: Sequence[float]
    decimals: int
    floor: float | None = None

    @property
    def last_step(self) -> int:
        """The step of the trained model."""
        return len(self.values) - 1

    def shown(self, step: int) -> str:
        """Return the value at a step as readers see it."""
        return display(self.values[step], self.decimals)


def render(directive: Directive, context: Context) -> str:
    """Return the figure: a chart, and its numbers as a table."""
    curve = _curve(directive.argument, context)
    figure_id = context.ids.figure(directive.options["id"], directive.line)
    chart = context.svg(figure_id, curve_spec(curve.values, curve.ticks, _floor(curve)))
    words = {"first": curve.shown(0), "last": curve.shown(-1), "steps": curve.last_step}
    label = context.words(f"curve.{curve.name}_label", floor=_floor_shown(curve), **words)
    return (
        f'<figure class="curve" id="{figure_id}" data-curve="{curve.name}"'
        f' data-steps="{curve.last_step}" data-top="{curve.ticks[-1]}"'
        f' data-frame="{" ".join(map(str, CURVE_FRAME))}">'
        f'<p class="curve-axes" aria-hidden="true"><span>{_title(curve, context)}</span>'
        f"<span>{context.html('curve.steps')}</span></p>"
        f'<div class="curve-chart" role="img" aria-label="{escape(label)}">{chart}</div>'
        f"{_caption(curve, directive, context)}{_details(curve, context)}</figure>\n"
    )


def _curve(name: str, context: Context) -> Curve:
    known = {"loss": _loss, "correct": _correct}
    if name not in known:
        hint = did_you_mean(name, known)
        raise BlockError("unknown-curve", f"there is no curve `{name}`", hint)
    values = context.numbers.snapshot.document("training.json")[name]
    return known[name](values, context.chapter.task)


def _loss(values: Sequence[float], task: Task) -> Curve:
    ticks = range(math.ceil(max(values)) + 1)
    return Curve("loss", values, ticks, decimals=4, floor=task.loss_floor or None)


def _correct(values: Sequence[float], task: Task) -> Curve:
    n_problems = len(task.problems)
    return Curve("correct", values, range(0, n_problems + 1, n_problems // 4), decimals=0)


def _floor(curve: Curve) -> float | None:
    return None if curve.floor is None else round(curve.floor, 5)


def _floor_shown(curve: Curve) -> str:
    return "" if curve.floor is None else display(curve.floor, 5)


def _title(curve: Curve, context: Context) -> str:
    return context.html(f"curve.{curve.name}_title")


def _caption(curve: Curve, directive: Directive, context: Context) -> str:
    parts = [directive.caption]
    if curve.floor is not None:
        parts.append(escape(context.words("curve.floor_note", floor=_floor_shown(curve))))
    spans = "".join(f"<span>{part}</span>" for part in parts if part)
    return f"<figcaption>{spans}</figcaption>" if spans else ""


def _details(curve: Curve, context: Context) -> str:
    steps = sorted({*range(0, curve.last_step, TABLE_STEP), curve.last_step})
    rows = "".join(row(display_whole(step), [curve.shown(step)]) for step in steps)
    head = head_row([context.html("curve.steps"), _title(curve, context)])
    return (
        f"<details><summary>{context.html('curve.table')}</summary>"
        f"<table>{head}<tbody>{rows}</tbody></table></details>"
    )
