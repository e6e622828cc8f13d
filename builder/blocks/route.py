"""`::: route`: from one source to the row that is asked, every number on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

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
from builder.blocks.figure import whereabouts
from builder.blocks.part import head_index, index
from builder.blocks.problem import part_places, part_that_follows
from builder.blocks.table import n_decimals
from builder.blocks.worked import place
from builder.numbers.address import Axis
from builder.numbers.display import display
from builder.numbers.matrix import Matrix
from model.task import Problem

NAME = "route"
ARGUMENT = Argument.NONE
BODY = Body.OPTIONS
OPTIONS: Options = {
    **WHERE,
    **FIGURE,
    "layer": int,
    "head": object,
    "source": object,
    "decimals": int,
}


@dataclass(frozen=True, slots=True)
class Head:
    """One head of one problem; numbers are looked up by the name of a tensor and a place."""

    directive: Directive
    context: Context
    stage: str
    problem: Problem
    layer: int
    index: int
    found_by: str

    @classmethod
    def of(cls, directive: Directive, context: Context) -> Head:
        """Read the options."""
        options = directive.options
        stage, name = where(options, context)
        layer = index(options["layer"], context.numbers.config.n_layers, "layer")
        found = head_index(options["head"], layer, context)
        return cls(directive, context, stage, context.chapter.task.by_name[name], layer, *found)

    def matrix(self, name: str) -> Matrix:
        """The matrix of a tensor."""
        return self.context.numbers.matrix(self._address(name), self.stage, self.problem.name)

    def shown(self, name: str, row: int, column: int | str) -> str:
        """The number as it stands in a sentence, which follows what readers look at."""
        address = f"blocks.{self.layer}.attn.{name}[{self.found_by or self.index},@{row},{column}]"
        decimals = str(self.decimals)
        return value.within(
            self.directive, self.context, address, decimals=decimals, follow="layer,head"
        )

    def product(self, number: float, name: str, row: int, column: int) -> str:
        """A number that is no cell, but a term of one: it opens that."""
        return (
            f'<span data-opens="{self._address(name)[:-1]},{row},{column}]"{self.data}'
            f' data-stage="{self.stage}" data-problem="{self.problem.name}"'
            f' data-follows="{self.follows}" data-value="{number!r}">'
            f"{display(number, self.decimals)}</span>"
        )

    def label(self, position: int) -> str:
        """The token at a position of the question, which may follow the page's problem."""
        token, parts = self.problem.prompt[position], part_places(self.problem)
        if position in parts and not self.directive.options["problem"]:
            return part_that_follows(parts[position], token)
        return f"<code>{token}</code>"

    @property
    def follows(self) -> str:
        """What of the reader's choices."""
        return "layer head" if self.directive.options["problem"] else "problem layer head"

    @property
    def data(self) -> str:
        """The attribute that says which claim has found the head, if one has."""
        return f' data-head-of="{self.found_by}"' if self.found_by else ""

    @property
    def decimals(self) -> int:
        """Of every number."""
        return n_decimals(self.directive.options, 3)

    def _address(self, name: str) -> str:
        return f"blocks.{self.layer}.attn.{name}[{self.index}]"


def render(directive: Directive, context: Context) -> str:
    """Return the sources as a choice of one, and for each the numbers on its way; no script."""
    head = Head.of(directive, context)
    pattern, tokens = head.matrix("pattern"), head.problem.prompt
    chosen = place(directive, "source", Axis("key", tokens, has_tokens=True))
    figure_id = context.ids.figure(directive.options["id"], directive.line)
    sources = "".join(
        f'<input type="radio" name="{figure_id}" id="{context.ids.part(figure_id, str(source))}"'
        f"{' checked' * (source == chosen)}>"
        f'<label for="{figure_id}-{source}">{head.label(source)}</label>'
        f'<table class="route-way">{_way(head, source)}</table>'
        for source in range(len(tokens))
    )
    legend = context.html("route.source")
    return (
        f'<figure class="route" id="{figure_id}" data-stage="{head.stage}"'
        f' data-problem="{head.problem.name}" data-key="{pattern.spec.key}"'
        f' data-head="{head.index}"{head.data}'
        f' data-follows="{head.follows}" data-decimals="{head.decimals}">'
        f'<p class="route-where">{escape(whereabouts(pattern, context))}</p>'
        f"<fieldset><legend>{legend}</legend>{sources}</fieldset>{directive.figcaption}</figure>\n"
    )


def _way(head: Head, source: int) -> str:
    """From q and k to S and A, and on to A × V."""
    receiver, config = head.problem.asks_at, head.context.numbers.config
    each = range(config.d_head)
    share = float(head.matrix("pattern").values[receiver, source])
    brought = (share * head.matrix("v").values[source]).tolist()
    rows = {
        "q": [head.shown("q", receiver, d) for d in each],
        "k": [head.shown("k", source, d) for d in each],
        "score": [head.shown("attn_scores", receiver, f"@{source}")],
        "share": [head.shown("pattern", receiver, f"@{source}")],
        "content": [head.shown("v", source, d) for d in each],
        "brought": [head.product(brought[d], "z", receiver, d) for d in each],
    }
    labels = {"token": head.label(source), "receiver": head.label(receiver)}
    root = f"{config.d_head**0.5:g}"
    return "".join(_row(name, numbers, head, labels, root) for name, numbers in rows.items())


def _row(
    name: str, numbers: Sequence[str], head: Head, labels: Mapping[str, str], root: str
) -> str:
    """One step; the words of the interface have the labels of tokens in them."""
    words = head.context.html(f"route.{name}", root=root, **labels)
    rest = head.context.numbers.config.d_head - len(numbers)
    cells = "".join(f"<td>{number}</td>" for number in numbers)
    filler = f'<td colspan="{rest}"></td>' if rest else ""
    return f'<tr class="route-{name}"><th scope="row">{words}</th>{cells}{filler}</tr>'
