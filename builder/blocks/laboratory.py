"""`::: laboratory`: a problem answered token by token, which the reader may choose and continue."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from builder.blocks.directive import Argument, Body, Context, Directive, Options, where
from builder.blocks.rows import row
from builder.numbers.display import display, token_label
from builder.numbers.matrix import Array
from model import task

NAME = "laboratory"
TASK = task.NAME
ARGUMENT = Argument.NONE
BODY = Body.OPTIONS
OPTIONS: Options = {"problem": str}

N_TOP = 3
TOP_DECIMALS = 4
"""The likeliest tokens show more digits than the cells, which agree with those of matrices."""

_CODES = {task.TIMES: "x", task.END: ".", task.PAD: "_"}
"""Tokens as an address writes them; the others stand for themselves."""


@dataclass(frozen=True, slots=True)
class Step:
    """One token is written: what was read, P after it [d_vocab], and the likeliest token's id."""

    read: Sequence[str]
    probs: Array
    written: int

    @property
    def position(self) -> int:
        """Where the last token that was read stands."""
        return len(self.read) - 1


def render(directive: Directive, context: Context) -> str:
    """Return the answer's steps, complete without scripts; controls are hidden until a script."""
    _, name = where(directive.options, context)
    problem = task.BY_NAME[name]
    steps = list(_steps(problem, context))
    tokens = [*problem.prompt, *(task.VOCAB[step.written] for step in steps)]
    own_id = context.ids.take(NAME, directive.line)
    data = {
        "problem": name,
        "prefix": "".join(_CODES.get(token, token) for token in tokens),
        "vocab": " ".join(task.VOCAB),
        "context": str(context.numbers.config.n_ctx),
    }
    attributes = "".join(f' data-{key}="{escape(text)}"' for key, text in data.items())
    label = context.html("laboratory.title")
    return (
        f'<section class="laboratory wide" id="{own_id}" aria-label="{label}"{attributes}>'
        f'<div class="laboratory-work">{_head(problem, context)}'
        f'<div class="laboratory-scroll"><ol class="laboratory-steps">'
        f"{''.join(_step(step, context) for step in steps)}</ol></div>"
        f'<p class="laboratory-status" role="status">{_status(problem, tokens, context)}</p>'
        f"{_controls(context)}</div>"
        f'<div class="laboratory-choice"></div></section>'
        f"<noscript><p>{context.html('laboratory.without_scripts')}</p></noscript>\n"
    )


def _steps(problem: task.Problem, context: Context) -> Iterator[Step]:
    """Greedy decoding, as far as the trace of the true sequence tells what it does."""
    probs = context.numbers.matrix("probs", "trained", problem.name).values
    for position in range(task.EQUALS_POSITION, len(problem.inputs)):
        written = int(np.argmax(probs[position]))
        yield Step(problem.inputs[: position + 1], probs[position], written)
        if task.VOCAB[written] != problem.tokens[position + 1]:
            return


def _head(problem: task.Problem, context: Context) -> str:
    """The question, and whose weights answer it."""
    tokens = " ".join(
        f'<span class="laboratory-digit">{token}</span>' if token in task.DIGITS else token
        for token in problem.prompt
    )
    last = context.numbers.snapshot.document("training.json")["checkpoints"][-1]
    weights = escape(context.words("script.laboratory_trained", step=last))
    return (
        f'<div class="laboratory-head"><p class="laboratory-prompt">{tokens}</p>'
        f'<p class="laboratory-weights">{weights}</p></div>'
    )


def _step(step: Step, context: Context) -> str:
    top = np.argsort(-step.probs, kind="stable")[:N_TOP]
    rows = "".join(
        row(_token(index), [_number(step, index, 2)], _share(step, index))
        for index in range(len(step.probs))
    )
    items = "".join(
        f"<li{_share(step, index)}>{_token(index)} {_number(step, index, TOP_DECIMALS)}</li>"
        for index in map(int, top)
    )
    read = "".join(map(token_label, step.read))
    summary = escape(context.words("laboratory.all", number=len(step.probs)))
    return (
        f'<li class="laboratory-step" data-position="{step.position}">'
        f'<p class="laboratory-read">{escape(read)}</p>'
        f'<p class="laboratory-token">{escape(_label(step.written))}</p>'
        f'<ol class="laboratory-top">{items}</ol><details><summary>{summary}</summary>'
        f'<table class="laboratory-all"><tbody>{rows}</tbody></table></details></li>'
    )


def _share(step: Step, index: int) -> str:
    written = ' class="is-written"' if index == step.written else ""
    return f'{written} style="--v:{step.probs[index]:.3f}"'


def _token(index: int) -> str:
    return f'<span class="laboratory-choose">{escape(_label(index))}</span>'


def _number(step: Step, index: int, decimals: int) -> str:
    value = float(step.probs[index])
    shown = display(value, decimals)
    return f'<span class="laboratory-number" data-value="{value!r}">{shown}</span>'


def _label(index: int) -> str:
    return token_label(task.VOCAB[index])


def _status(problem: task.Problem, tokens: Sequence[str], context: Context) -> str:
    """That the answer is right, where the trace tells all of it."""
    if tuple(tokens) != problem.tokens:
        return ""
    answer = "".join(problem.answer[:-1])
    return escape(context.words("script.laboratory_right", answer=answer))


def _controls(context: Context) -> str:
    buttons = " ".join(
        f'<button type="button" data-write="{name}">{context.html(f"laboratory.{name}")}</button>'
        for name in ("restart", "back", "next", "finish")
    )
    return f'<p class="laboratory-controls" hidden>{buttons}</p>'
