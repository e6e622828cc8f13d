"""`::: timeline`: a slider over the weights that were kept during training."""

from __future__ import annotations

from builder.blocks.directive import Argument, Body, Context, Directive, Options

NAME = "timeline"
ARGUMENT = Argument.NONE
BODY = Body.OPTIONS
OPTIONS: Options = {}


def render(directive: Directive, context: Context) -> str:
    """Return the slider, which a script brings to life; without one, a sentence."""
    steps = context.numbers.snapshot.document("training.json")["checkpoints"]
    last = len(steps) - 1
    slider = context.ids.reserve("timeline-slider", directive.line)
    label, without = (context.html(f"timeline.{name}") for name in ("label", "without_scripts"))
    return (
        f'<div class="timeline" data-steps="{" ".join(map(str, steps))}" hidden>'
        f'<label for="{slider}">{label}</label>'
        f'<input id="{slider}" type="range" min="0" max="{last}" value="{last}">'
        f'<output for="{slider}"></output></div>'
        f"<noscript><p>{without}</p></noscript>\n"
    )
