"""`::: training`: train the model in the reader's browser, and compare every weight."""

from __future__ import annotations

from builder.blocks.directive import Argument, Body, Context, Directive, Options
from model import task

NAME = "training"
TASK = task.NAME
ARGUMENT = Argument.NONE
BODY = Body.OPTIONS
OPTIONS: Options = {}


def render(directive: Directive, context: Context) -> str:
    """Return the controls, which a script brings to life; without one, a sentence."""
    run, verdict = (
        context.ids.reserve(name, directive.line) for name in ("train-here", "train-verdict")
    )

    def words(name: str) -> str:
        return context.html(f"training.{name}")

    readings = "".join(
        f'<div><dt>{words(name)}</dt><dd data-part="{name}">–</dd></div>'
        for name in ("step", "loss", "correct")
    )
    return (
        f'<section class="training" aria-label="{words("title")}" hidden>'
        f'<p class="training-controls"><button id="{run}" type="button">{words("run")}'
        f'</button> <button type="button" data-command="step">{words("one_step")}</button> '
        f'<button type="button" data-command="reset">{words("reset")}</button> '
        f'<label><input type="checkbox" data-follow> {words("follow")}</label></p>'
        f'<progress max="1" value="0" aria-label="{words("progress")}"></progress>'
        f'<dl class="training-readings">{readings}</dl>'
        f'<p id="{verdict}" role="status"></p></section>'
        f"<noscript><p>{words('without_scripts')}</p></noscript>\n"
    )
