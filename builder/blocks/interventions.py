"""`::: interventions`: what becomes of the right token without a head, a source or a layer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape

from builder.blocks.directive import FIGURE, Argument, Body, Context, Directive, Options
from builder.blocks.evidence import table_of
from builder.blocks.figure import whereabouts
from builder.blocks.part import head_index, index
from builder.blocks.rows import head_row
from builder.blocks.selects import labelled, layers_and_heads
from builder.numbers.display import display, token_label
from builder.numbers.effects import OF_HEAD, OF_LAYER, address_of, figures_at, sources_of
from builder.numbers.matrix import Matrix
from model import task

NAME = "interventions"
TASK = task.NAME
ARGUMENT = Argument.NONE
BODY = Body.OPTIONS
OPTIONS: Options = {**FIGURE, "layer": int, "head": object}

DECIMALS = 3


@dataclass(frozen=True, slots=True)
class Line:
    """One intervention: what is overwritten, what was read there, and P of the right token.

    `read` is the source with the share from which a reader would guess; empty without one.
    """

    kind: str
    label: str
    read: str
    share: float | None
    probability: float
    source: int | None = None


def render(directive: Directive, context: Context) -> str:
    """Return the stored effects on the chapter's problem; a script computes and applies others."""
    layer = index(directive.options["layer"], context.numbers.config.n_layers, "layer")
    head, found_by = head_index(directive.options["head"], layer, context)
    problem = task.BY_NAME[context.chapter.problem]
    address = f"blocks.{layer}.attn.pattern[{found_by or head}]"
    pattern = context.numbers.matrix(address, "trained", problem.name)
    before = _on(problem, "interventions.full", context)["probability"]
    lines = _lines(layer, head, pattern, problem, context)
    rows = "".join(_row(line, before, context) for line in lines)
    figure_id = context.ids.figure(directive.options["id"], directive.line)
    found = f' data-head-of="{found_by}"' if found_by else ""
    return (
        f'<figure class="interventions" id="{figure_id}" data-key="{pattern.spec.key}"'
        f' data-head="{head}"{found} data-stage="trained" data-problem="{problem.name}"'
        f' data-follows="problem layer head position">'
        f'<p class="interventions-where"><span>{escape(whereabouts(pattern, context))}</span>'
        f"{_controls(layer, head, context)}</p>"
        f'<p class="interventions-before">{_before(before, problem, context)}</p>'
        f'<div class="worked-scroll"><table class="interventions-table">{_head(context)}'
        f"<tbody>{rows}</tbody></table></div>{directive.figcaption}</figure>\n"
    )


def _lines(
    layer: int, head: int, pattern: Matrix, problem: task.Problem, context: Context
) -> Iterator[Line]:
    """Every intervention in a head and in the sources of `=`, and one in the whole layer."""

    def line(kind: str, label: str, read: str, change: str, source: int | None = None) -> Line:
        effect = _on(problem, address_of(layer, head, change), context)
        return Line(kind, label, read, effect.get("share"), effect["probability"], source)

    row = pattern.values[task.EQUALS_POSITION]
    most = token_label(problem.prompt[int(row.argmax())])
    for kind in OF_HEAD:
        label = context.html(f"interventions.{kind}")
        if kind == "another_problem":
            mean = context.html("interventions.mean")
            label += f'<span class="interventions-donor">{mean}</span>'
        yield line(kind, label, most, kind)
    for change, source in sources_of(task.EQUALS_POSITION).items():
        name = token_label(problem.prompt[source])
        label = context.html("interventions.source", token=f"<code>{name}</code>")
        yield line("source", label, name, change, source)
    yield line("layer", context.html("interventions.layer"), "", OF_LAYER)


def _on(problem: task.Problem, address: str, context: Context) -> Mapping[str, float]:
    """What the table has of one problem at an address."""
    each = figures_at(address, table_of("interventions", context))["of_problem"]
    place = task.PROBLEMS.index(problem)
    return {name: of_problem[place] for name, of_problem in each.items()}


def _row(line: Line, before: float, context: Context) -> str:
    """A row; what only a script knows, the tokens that come first, is for it to fill in."""
    after = f'<b data-value="{line.probability!r}">{display(line.probability, DECIMALS)}</b>'
    change = round(line.probability, DECIMALS) - round(before, DECIMALS)
    share = "–" if line.share is None else _share(line.read, line.share)
    source = "" if line.source is None else f' data-source="{line.source}"'
    apply = context.html("interventions.apply")
    return (
        f'<tr data-kind="{line.kind}"{source}><th scope="row">{line.label}'
        f'<small class="interventions-top"></small></th>'
        f'<td class="interventions-share">{share}</td>'
        f'<td class="interventions-after">{after} <small>{display(change, DECIMALS)}</small></td>'
        f'<td><button type="button" hidden>{apply}</button></td></tr>'
    )


def _share(token: str, share: float) -> str:
    number = f'<b data-value="{share!r}">{display(share, DECIMALS)}</b>'
    return f"<code>{token}</code> {number}"


def _before(probability: float, problem: task.Problem, context: Context) -> str:
    """P of the right token as the model has it."""
    prompt, right = "".join(problem.prompt), problem.tokens[task.EQUALS_POSITION + 1]
    words = context.words("script.interventions_before", prompt=prompt, token=token_label(right))
    number = f'<b data-value="{probability!r}">{display(probability, DECIMALS)}</b>'
    return f'<span>{escape(words)}</span> {number} <small class="interventions-top"></small>'


def _head(context: Context) -> str:
    title, *names = (
        context.html(f"interventions.{name}") for name in ("title", "what", "share", "after")
    )
    return f'<caption class="visually-hidden">{title}</caption>{head_row([*names, ""])}'


def _controls(layer: int, head: int, context: Context) -> str:
    """Layer, head and position, to choose once a script can follow."""
    chosen = {"layer": layer, "head": head}
    target = context.html("one_step.target")
    selects = [
        *labelled(layers_and_heads(context), chosen, context),
        f'<label>{target} <select name="position"></select></label>',
    ]
    spaced = "".join(f" {select}" for select in selects)
    return f'<span class="interventions-controls" hidden>{spaced}</span>'
