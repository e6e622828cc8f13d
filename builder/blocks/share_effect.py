"""`::: share_effect`: the share of a source against what its removal costs, head by head."""

from __future__ import annotations

from html import escape

import numpy as np

from builder.blocks.directive import FIGURE, Argument, Body, Context, Directive
from builder.blocks.evidence import effects_of, number
from builder.blocks.part import BETWEEN, head_name, layer_name
from builder.numbers.display import display
from builder.numbers.effects import Effect, address_of_head, sources_of
from builder.numbers.matrix import Array
from model import task

NAME = "share_effect"
ARGUMENT = Argument.NONE
BODY = Body.OPTIONS
OPTIONS = FIGURE

WIDTH, HEIGHT = 320, 210
LEFT, TOP, RIGHT, BOTTOM = 40, 8, 300, 186
"""The field of a panel, in units of its drawing."""

LEAST = -0.05
"""Lower end of the losses; the upper is 1, as is that of shares."""

MARKS = (0, 0.5, 1)
KINDS = ("most", "other", "here")


def render(directive: Directive, context: Context) -> str:
    """Return a panel for each head, a point for each source of the row of `=` in each problem."""
    known, config = effects_of(context), context.numbers.config
    figure_id = context.ids.figure(directive.options["id"], directive.line)
    panels = "".join(
        _panel(layer, head, known, directive, context)
        for layer in range(config.n_layers)
        for head in range(config.n_heads)
    )
    lost, share, *kinds = (
        context.html(f"effects.scatter_{name}") for name in ("lost", "share", *KINDS)
    )
    legend = "".join(
        f'<span><i class="{kind}"></i> {word}</span>'
        for kind, word in zip(KINDS, kinds, strict=True)
    )
    return (
        f'<figure class="evidence share-effect wide" id="{figure_id}">'
        f'<p class="share-effect-axes">{lost} ↑ <span>{share} →</span></p>'
        f'<div class="share-effect-panels">{panels}</div>'
        f'<p class="share-effect-legend" aria-hidden="true">{legend}</p>'
        f"{directive.figcaption}</figure>\n"
    )


def points(layer: int, head: int, known: dict[str, Effect]) -> tuple[Array, Array]:
    """Shares of the sources of `=`, and what P loses without each [problem source]."""
    sources = [known[f"{layer}.{head}.{change}"] for change in sources_of(task.EQUALS_POSITION)]
    shares = np.stack([np.array(effect.share) for effect in sources], 1)
    return shares, np.stack([effect.before - effect.after for effect in sources], 1)


def _panel(
    layer: int, head: int, known: dict[str, Effect], directive: Directive, context: Context
) -> str:
    shares, lost = points(layer, head, known)
    everything = [
        list(map(_point, *of_problem))
        for of_problem in zip(shares.tolist(), lost.tolist(), strict=True)
    ]
    most = [row[place] for row, place in zip(everything, shares.argmax(1), strict=True)]
    here = everything[task.PROBLEMS.index(task.BY_NAME[context.chapter.problem])]
    name = BETWEEN.join([layer_name(layer, context), head_name(head, context)])
    of_row = f"{address_of_head(layer, head)}.row_{task.EQUALS_POSITION}"
    agrees = number(f"{of_row}.agrees", directive, context)
    problems = str(len(everything))
    told = context.html("effects.scatter_agrees", number=agrees, problems=problems)
    paths = {"here": here, "all": map("".join, everything), "most": most}
    drawn = "".join(f'<path class="{kind}" d="{"".join(found)}"/>' for kind, found in paths.items())
    return (
        f'<div><p class="share-effect-name">{escape(name)}</p>'
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(name)}">'
        f"{_axes()}{drawn}</svg><p>{told}</p></div>"
    )


def _point(share: float, lost: float) -> str:
    """A dot, as a path that goes nowhere: its round cap is what is seen."""
    return f"M{_x(share)} {_y(lost)}h0"


def _x(share: float) -> str:
    return _short(LEFT + share * (RIGHT - LEFT))


def _y(lost: float) -> str:
    return _short(BOTTOM - (max(lost, LEAST) - LEAST) / (1 - LEAST) * (BOTTOM - TOP))


def _short(number: float) -> str:
    return display(number, 1).removesuffix(".0")


def _axes() -> str:
    return "".join(
        f'<path class="grid" d="M{LEFT} {_y(mark)}H{RIGHT}"/>'
        f'<text x="{LEFT - 6}" y="{_y(mark)}" dy="0.35em" text-anchor="end">{mark:.0%}</text>'
        f'<text x="{_x(mark)}" y="{HEIGHT - 6}" text-anchor="middle">{mark:.0%}</text>'
        for mark in MARKS
    )
