"""`::: atlas`: a hundred problems at once: how much a row reads from a place, or how sure it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import numpy as np

from builder.blocks.directive import FIGURE, Argument, BlockError, Body, Context, Directive, Options
from builder.blocks.hundred import hundred_figure, of_problems
from builder.blocks.part import head_index, index
from builder.blocks.selects import layers_and_heads, selects
from builder.errors import did_you_mean
from builder.numbers.effects import RECEIVERS
from builder.numbers.matrix import Matrix
from model import task

NAME = "atlas"
TASK = task.NAME
ARGUMENT = Argument.NONE
BODY = Body.OPTIONS
OPTIONS: Options = {**FIGURE, "layer": int, "head": object, "receiver": str, "source": str}

SOURCES = {
    **{name: str(at) for at, name in enumerate(("a", task.TIMES, "b", task.EQUALS))},
    "self": "self",
    "next": "next",
}
"""Who is read, as authors and as addresses call it; `next` asks for the probability of the token
that comes, in place of a share."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Choice:
    """What the table shows; `position` is the receiver's, `head_of` is who has found the head."""

    layer: int
    head: int
    position: int
    source: str
    head_of: str

    @classmethod
    def of(cls, options: Mapping[str, Any], context: Context) -> Choice:
        """Read the options."""
        config = context.numbers.config
        layer = index(options["layer"], config.n_layers, "layer")
        head, found_by = head_index(options["head"], layer, context)
        return cls(
            layer,
            head,
            _named(options["receiver"] or task.EQUALS, RECEIVERS, "receiver"),
            _named(options["source"] or "b", SOURCES, "source"),
            found_by,
        )

    @property
    def fields(self) -> dict[str, object]:
        """What readers can choose, by its name."""
        return {name: value for name, value in asdict(self).items() if name != "head_of"}

    @property
    def is_probability(self) -> bool:
        """Whether it is about P, and not about A."""
        return self.source == "next"

    @property
    def address(self) -> str:
        """The matrix that has the number of each problem."""
        if self.is_probability:
            return "probs"
        return f"blocks.{self.layer}.attn.pattern[{self.head}]"

    def column(self, problem: task.Problem) -> int:
        """Where in the receiver's row the number of a problem is."""
        if self.is_probability:
            return task.TOKEN_ID[problem.tokens[self.position + 1]]
        return self.position if self.source == "self" else int(self.source)


def render(directive: Directive, context: Context) -> str:
    """Return the table, with choices that a script brings to life."""
    choice = Choice.of(directive.options, context)
    figure_id = context.ids.figure(directive.options["id"], directive.line)
    found = {"head-of": choice.head_of} if choice.head_of else {}
    figure = hundred_figure(
        _matrix(choice, context),
        _meaning(choice, context),
        figure_id,
        {**choice.fields, **found},
        context,
        controls=_controls(choice, context),
        caption=directive.caption,
    )
    return f"{figure}\n"


def _named(name: str, known: Mapping[str, T], option: str) -> T:
    if name not in known:
        message, hint = f"there is no {option} `{name}`", did_you_mean(name, known)
        raise BlockError(f"unknown-{option}", message, hint, option)
    return known[name]


def _matrix(choice: Choice, context: Context) -> Matrix:
    numbers = [
        context.numbers.matrix(choice.address, "trained", problem.name) for problem in task.PROBLEMS
    ]
    cells = [
        matrix.values[choice.position, choice.column(problem)]
        for matrix, problem in zip(numbers, task.PROBLEMS, strict=True)
    ]
    return of_problems(np.array(cells), numbers[0].spec, numbers[0].head, domain=1)


def _meaning(choice: Choice, context: Context) -> str:
    kind = "probability" if choice.is_probability else "share"
    position = context.words(f"atlas.position_{choice.position}")
    source = context.words(f"atlas.source_{choice.source}")
    return context.words(f"script.atlas_{kind}", position=position, source=source)


def _controls(choice: Choice, context: Context) -> str:
    """What else the table can show, hidden until a script can follow it."""
    listed = {
        **layers_and_heads(context),
        "position": [(str(i), context.words(f"atlas.position_{i}")) for i in RECEIVERS.values()],
        "source": [(i, context.words(f"atlas.source_{i}")) for i in SOURCES.values()],
    }
    return selects(listed, asdict(choice), context)
