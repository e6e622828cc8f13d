"""`::: votes PREFIX`: what problems that begin alike ask of the next token, and its sum."""

from __future__ import annotations

from html import escape

import numpy as np

from builder.blocks.directive import Argument, BlockError, Body, Context, Directive, Options, where
from builder.blocks.rows import head_row
from builder.blocks.table import n_decimals, number_cell
from builder.numbers.display import problem_label, token_label
from builder.numbers.matrix import Matrix
from model import task

NAME = "votes"
ARGUMENT = Argument.REQUIRED
BODY = Body.OPTIONS
OPTIONS: Options = {"stage": str, "decimals": int, "caption": str, "id": str}


def render(directive: Directive, context: Context) -> str:
    """Return a table with the gradient of the logits of each problem, and their sum."""
    stage, _ = where(directive.options, context)
    prefix = directive.argument
    problems = [p for p in context.chapter.task.problems if "".join(p.inputs).startswith(prefix)]
    if not problems:
        message = f"no problem begins with `{prefix}`"
        raise BlockError("unknown-prefix", message, "such as `7` or `7×`")
    position = len(prefix) - 1
    matrices = [
        context.numbers.matrix("∂logits", stage, problem.name, f"@{position}")
        for problem in problems
    ]
    rows = np.stack([matrix.values[position] for matrix in matrices])  # [problem d_vocab]
    decimals = n_decimals(directive.options, 2)
    domain = max(matrix.domain for matrix in matrices)
    lines = "".join(
        _line(f"{problem_label(problem.name)} → {_target(matrix)}", row, decimals, domain, matrix)
        for problem, matrix, row in zip(problems, matrices, rows.tolist(), strict=True)
    )
    total = _line(context.words("figure.dot_sum"), rows.sum(0).tolist(), decimals, domain)
    heads = head_row(["", *map(token_label, task.VOCAB)])
    figure_id = context.ids.figure(directive.options["id"], directive.line)
    label = escape(context.words("figure.votes", prefix=prefix))
    return (
        f'<figure class="votes wide" id="{figure_id}" data-prefix="{escape(prefix)}"'
        f' data-key="logits" data-stage="{stage}" data-target="{position}"'
        f' data-decimals="{decimals}" data-domain="{domain:g}">'
        f'<div class="worked-scroll" tabindex="0" role="group" aria-label="{label}">'
        '<table class="matrix-table votes-table">'
        f'<caption class="visually-hidden">{label}</caption>'
        f"{heads}<tbody>{lines}</tbody><tfoot>{total}</tfoot>"
        f"</table></div>{directive.figcaption}</figure>\n"
    )


def _target(matrix: Matrix) -> str:
    return token_label(matrix.target.token) if matrix.target else ""


def _line(
    name: str, values: list[float], decimals: int, domain: float, matrix: Matrix | None = None
) -> str:
    cells = "".join(number_cell(value, domain, decimals) for value in values)
    return f'<tr{_place(matrix)}><th scope="row">{escape(name)}</th>{cells}</tr>'


def _place(matrix: Matrix | None) -> str:
    """The row of a matrix that a line is; scripts find its cells by it. A sum is none."""
    if matrix is None or matrix.target is None:
        return ""
    return f' data-row="{matrix.target.position}" data-problem="{matrix.problem}"'
