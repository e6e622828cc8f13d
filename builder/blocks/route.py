"""`::: route`: from one source to the row that is asked, every number on the way."""

from __future__ import annotations

import re
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
from builder.blocks.part import BETWEEN, head_index, head_name, index, layer_name
from builder.blocks.problem import part_places, part_that_follows
from builder.blocks.table import n_decimals
from builder.blocks.worked import place
from builder.numbers.address import Axis
from builder.numbers.display import display, problem_label

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
    layer: int
    index: int
    found_by: str

    def number(self, name: str, row: int, column: int) -> float:
        """The number itself."""
        stage, problem = where(self.directive.options, self.context)
        matrix = self.context.numbers.matrix(self._address(name), stage, problem)
        return float(matrix.values[row, column])

    def shown(self, name: str, row: int, column: int | str) -> str:
        """The number as it stands in a sentence, which follows what readers look at."""
        address = f"blocks.{self.layer}.attn.{name}[{self.found_by or self.index},@{row},{column}]"
        decimals = str(self.decimals)
        return value.within(
            self.directive, self.context, address, decimals=decimals, follow="layer,head"
        )

    def product(self, number: float, name: str, row: int, column: int) -> str:
        """A number that is no cell, but a term of one: it opens that."""
        stage, problem = where(self.directive.options, self.context)
        return (
            f'<span data-opens="{self._address(name)[:-1]},{row},{column}]"{self.data}'
            f' data-stage="{stage}"'
            f' data-problem="{problem}" data-follows="{self.follows}" data-value="{number!r}">'
            f"{display(number, self.decimals)}</span>"
        )

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
    config, options = context.numbers.config, directive.options
    layer = index(options["layer"], config.n_layers, "layer")
    head = Head(
        directive,
        context,
        layer,
        *head_index(options["head"], layer, context),
    )
    stage, name = where(options, context)
    tokens = context.chapter.task.by_name[name].prompt
    chosen = place(directive, "source", Axis("key", tokens, has_tokens=True))
    figure_id = context.ids.figure(options["id"], directive.line)
    parts = [layer_name(head.layer, context), head_name(head.index, context)]
    parts += [context.words(f"figure.stage_{stage}"), problem_label(name)]
    sources = "".join(
        f'<input type="radio" name="{figure_id}" id="{context.ids.part(figure_id, str(source))}"'
        f"{' checked' * (source == chosen)}>"
        f'<label for="{figure_id}-{source}">{_label(tokens, source, head)}</label>'
        f'<table class="route-way">{_way(head, source, tokens)}</table>'
        for source in range(len(tokens))
    )
    legend = escape(context.words("route.source"))
    return (
        f'<figure class="route" id="{figure_id}" data-stage="{stage}" data-problem="{name}"'
        f' data-key="blocks.{head.layer}.attn.pattern" data-head="{head.index}"'
        f"{head.data}"
        f' data-follows="{head.follows}" data-decimals="{head.decimals}">'
        f'<p class="route-where">{escape(BETWEEN.join(parts))}</p>'
        f"<fieldset><legend>{legend}</legend>{sources}</fieldset>{directive.figcaption}</figure>\n"
    )


def _label(tokens: Sequence[str], source: int, head: Head) -> str:
    _, name = where(head.directive.options, head.context)
    parts = part_places(head.context.chapter.task.by_name[name])
    if source in parts and not head.directive.options["problem"]:
        return part_that_follows(parts[source], tokens[source])
    return f"<code>{tokens[source]}</code>"


def _way(head: Head, source: int, tokens: Sequence[str]) -> str:
    """From q and k to S and A, and on to A × V."""
    receiver, config = len(tokens) - 1, head.context.numbers.config
    each = range(config.d_head)
    share = head.number("pattern", receiver, source)
    rows = {
        "q": [head.shown("q", receiver, d) for d in each],
        "k": [head.shown("k", source, d) for d in each],
        "score": [head.shown("attn_scores", receiver, f"@{source}")],
        "share": [head.shown("pattern", receiver, f"@{source}")],
        "content": [head.shown("v", source, d) for d in each],
        "brought": [
            head.product(share * head.number("v", source, d), "z", receiver, d) for d in each
        ],
    }
    labels = {"token": _label(tokens, source, head), "receiver": _label(tokens, receiver, head)}
    root = f"{config.d_head**0.5:g}"
    return "".join(_row(name, numbers, head, labels, root) for name, numbers in rows.items())


def _row(
    name: str, numbers: Sequence[str], head: Head, labels: Mapping[str, str], root: str
) -> str:
    """One step; the words of the interface have the labels of tokens in them."""
    marked = {label: f"\0{label}\0" for label in labels}
    text = escape(head.context.words(f"route.{name}", root=root, **marked))
    words = re.sub("\0(.*?)\0", lambda match: labels[match[1]], text)
    rest = head.context.numbers.config.d_head - len(numbers)
    cells = "".join(f"<td>{number}</td>" for number in numbers)
    filler = f'<td colspan="{rest}"></td>' if rest else ""
    return f'<tr class="route-{name}"><th scope="row">{words}</th>{cells}{filler}</tr>'
