"""`::: controls`: the network with one part changed, trained again from many seeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from builder.blocks.directive import FIGURE, Argument, Body, Context, Directive
from builder.blocks.evidence import details, number, table_of
from builder.blocks.rows import head_row, row
from builder.numbers.display import MASKED, display, display_whole

NAME = "controls"
ARGUMENT = Argument.NONE
BODY = Body.OPTIONS
OPTIONS = FIGURE

COLUMNS = ("variant", "parameters", "solved", "correct", "loss", "steps")
TICK = 200
"""Steps between two marks of the strips."""

DOT = 0.025
"""Width of a dot, as a share of the strip: those that are closer stand on each other."""


def render(directive: Directive, context: Context) -> str:
    """Return the table; its last column has a dot for each seed, where it first got all right."""
    table = table_of("controls", context)
    last = _last_tick(table)
    figure_id = context.ids.figure(directive.options["id"], directive.line)
    heads = [context.html(f"controls.{name}") for name in COLUMNS]
    caption = context.html("controls.caption")
    rows = "".join(_row(name, of, last, directive, context) for name, of in table.items())
    return (
        f'<figure class="evidence controls wide" id="{figure_id}"><table class="evidence-table">'
        f'<caption class="visually-hidden">{caption}</caption>'
        f"{head_row([*heads, _axis(last, context)])}<tbody>{rows}</tbody></table>"
        f"{directive.figcaption}{_by_seed(table, context)}</figure>\n"
    )


def _last_tick(table: Mapping[str, Any]) -> int:
    steps = [step for of in table.values() for step in of["of_seed"]["steps"] if step is not None]
    return -(-max(steps, default=1) // TICK) * TICK


def _axis(last: int, context: Context) -> str:
    marks = "".join(
        f'<span style="--x:{display(step / last)}">{step}</span>'
        for step in range(0, last + 1, TICK)
    )
    strip, never = (context.html(f"controls.{name}") for name in ("strip", "never"))
    return (
        f'{strip} <span class="strip-axis"><span class="strip-marks" aria-hidden="true">{marks}'
        f"</span> <span>{never}</span></span>"
    )


def _row(
    name: str, of: Mapping[str, Any], last: int, directive: Directive, context: Context
) -> str:
    at = f"controls.{name}"

    def shown(figure: str, **options: str) -> str:
        return number(f"{at}.{figure}", directive, context, **options)

    ends = [shown(end) for end in ("fewest", "most")] if of["fewest"] < of["most"] else []
    correct = f"{shown('correct')} <small>{'–'.join(ends)}</small>" if ends else shown("correct")
    steps = MASKED if of["steps"] is None else shown("steps", **_halves(of["steps"]))
    cells = [
        shown("parameters"),
        f"{shown('all_correct')}/{shown('seeds')}",
        correct,
        shown("loss", decimals="4"),
        steps,
        _strip(of, last, context),
    ]
    return row(context.html(f"controls.{name}"), cells, f' data-control="{name}"')


def _halves(median: float) -> dict[str, str]:
    """A median of counts has a half at most."""
    return {"decimals": "0" if median == int(median) else "1", "format": "number"}


def _strip(of: Mapping[str, Any], last: int, context: Context) -> str:
    found, never = _seeds(of)
    spoken = context.words(
        "controls.strip_spoken",
        solved=of["all_correct"],
        seeds=of["seeds"],
        steps=", ".join(str(step) for step, _ in found) or MASKED,
    )
    dots = "".join(
        f'<i style="--x:{display(step / last, 3)};--y:{level}"'
        f' title="{_title(seed, display_whole(step), context)}"></i>'
        for (step, seed), level in zip(found, _levels([s / last for s, _ in found]), strict=True)
    )
    missed = "".join(
        f'<i title="{_title(seed, correct, context, "missed")}"></i>' for correct, seed in never
    )
    return (
        f'<span class="strip" role="img" aria-label="{escape(spoken)}">'
        f'<span class="strip-field">{dots}</span><span class="strip-never">{missed}</span></span>'
    )


def _seeds(of: Mapping[str, Any]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Steps and seeds of those that got all right; correct and seeds of the others."""
    each = list(zip(*(of["of_seed"][name] for name in ("steps", "correct", "seed")), strict=True))
    found = sorted((steps, seed) for steps, _, seed in each if steps is not None)
    return found, sorted((correct, seed) for steps, correct, seed in each if steps is None)


def _levels(places: Sequence[float]) -> Iterator[int]:
    """How high each dot stands, from left to right: as low as there is room."""
    ends: list[float] = []
    for place in places:
        level = next((i for i, end in enumerate(ends) if end <= place), len(ends))
        ends[level : level + 1] = [place + DOT]
        yield level


def _title(seed: int, shown: object, context: Context, name: str = "reached") -> str:
    return escape(context.words(f"controls.{name}", seed=seed, number=shown))


def _by_seed(table: Mapping[str, Any], context: Context) -> str:
    """The same in numbers: when each seed got all right, or else how many it got."""
    heads = [context.html(f"controls.{name}") for name in table]
    seeds = next(iter(table.values()))["of_seed"]["seed"]
    rows = [
        row(str(seed), [_found(of, place, context) for of in table.values()])
        for place, seed in enumerate(seeds)
    ]
    first = context.html("controls.seed")
    return details(context.words("controls.by_seed"), [first, *heads], rows)


def _found(of: Mapping[str, Any], place: int, context: Context) -> str:
    steps, correct = (of["of_seed"][name][place] for name in ("steps", "correct"))
    if steps is not None:
        return display_whole(steps)
    return f"<em>{escape(context.words('controls.only', number=correct))}</em>"
