"""`::: one_step`: the probabilities before and after one step on one target, in the browser."""

from __future__ import annotations

from collections.abc import Iterator

from builder.blocks import value
from builder.blocks.directive import (
    FIGURE,
    WHERE,
    Argument,
    Body,
    Context,
    Directive,
    Options,
    where,
)
from builder.blocks.rows import head_row, row
from builder.numbers.display import token_label
from model import task
from model.config import STEP_RATE

NAME = "one_step"
ARGUMENT = Argument.NONE
BODY = Body.OPTIONS
OPTIONS: Options = {**WHERE, **FIGURE}

DECIMALS = "4"


def render(directive: Directive, context: Context) -> str:
    """Return the table, which a script completes: no file has what the step leads to."""
    stage, problem = where(directive.options, context)
    figure_id = context.ids.figure(directive.options["id"], directive.line)
    target = context.chapter.task.by_name[problem].asks_at

    def words(name: str) -> str:
        return context.html(f"one_step.{name}")

    heads = head_row(["", *map(token_label, task.VOCAB)])
    before, empty = _probabilities(directive, context, target), [""] * len(task.VOCAB)
    rows = {"before": before, "after": empty, "change": empty}
    lines = "".join(
        row(words(name), cells, f' class="one-step-{name}"') for name, cells in rows.items()
    )
    follows = "position" if directive.options["problem"] else "problem position"
    return (
        f'<figure class="one-step wide" id="{figure_id}" data-stage="{stage}"'
        f' data-problem="{problem}" data-target="{target}" data-rate="{STEP_RATE}"'
        f' data-follows="{follows}" hidden>'
        f'<p class="one-step-head"><span class="matrix-where"></span> <label>{words("target")}'
        f' <select></select></label></p><div class="worked-scroll" tabindex="0" role="group"'
        f' aria-label="{words("title")}"><table class="matrix-table">'
        f'<caption class="visually-hidden">{words("title")}</caption>'
        f"{heads}<tbody>{lines}</tbody></table></div>"
        f"{directive.figcaption}</figure><noscript><p>{words('without_scripts')}</p></noscript>\n"
    )


def _probabilities(directive: Directive, context: Context, position: int) -> Iterator[str]:
    """P of what is asked, as numbers of a sentence: they follow the reader, and open."""
    for token in range(len(task.VOCAB)):
        address = f"probs[@{position},@{token}]"
        yield value.within(directive, context, address, decimals=DECIMALS, follow="position")
