"""`::: plane`: attention in two dimensions, where readers turn the query; a toy, not the model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from html import escape

from builder.blocks import arrows, plane_tables
from builder.blocks.choice import choice
from builder.blocks.directive import FIGURE, Argument, Body, Context, Directive, Options
from builder.blocks.toy import MOST, RECEIVER, STEP, TOKENS, Reading, Toy, Vectors, presets, read
from builder.errors import Location
from builder.links import Link
from builder.numbers.display import display

NAME = "plane"
ARGUMENT = Argument.NONE
BODY = Body.OPTIONS
OPTIONS: Options = {**FIGURE, "real": str}

_TEMPERATURES = (0.2, 4.0)


def render(directive: Directive, context: Context) -> str:
    """Return planes and tables, complete for the start; controls are hidden until a script."""
    cases = presets()
    figure_id = context.ids.figure(directive.options["id"], directive.line)
    toys = escape(json.dumps(_differences(cases)))
    panels = "".join(_panels(cases["start"], figure_id, context))
    without = _said(context, "without_scripts")
    return (
        f'<figure class="plane wide" id="{figure_id}" aria-label="{_said(context, "label")}"'
        f' data-toys="{toys}">'
        f'<p class="plane-note">{_said(context, "note")}</p>{_controls(figure_id, context)}'
        f'<ul class="plane-cases">{"".join(_cases(cases, context))}</ul>'
        f'<p class="plane-summary" role="status" hidden></p>'
        f'<div class="plane-panels">{panels}</div>'
        f"{_real(directive, context)}{directive.figcaption}</figure>"
        f"<noscript><p>{without}</p></noscript>\n"
    )


def _differences(cases: Mapping[str, Toy]) -> Mapping[str, Mapping[str, Vectors]]:
    """Return all of the start, and of the others where they differ from it."""
    plain = {name: asdict(toy) for name, toy in cases.items()}
    start = plain.pop("start")
    differences = {
        name: {part: vectors for part, vectors in toy.items() if vectors != start[part]}
        for name, toy in plain.items()
    }
    return {"start": start, **differences}


def _said(context: Context, name: str, **values: object) -> str:
    """A text of the block as HTML."""
    return escape(context.words(f"plane.{name}", **values))


def _controls(figure_id: str, context: Context) -> str:
    reader = choice(figure_id, context.words("plane.receiver"), TOKENS, RECEIVER, context)
    bounds = f'min="{-MOST:g}" max="{MOST:g}" step="{STEP}"'
    turning = "".join(
        f'<label>{_said(context, "query", number=d)} <input type="range" name="q{d}" {bounds}>'
        f' <output aria-live="off"></output></label>'
        for d in range(2)
    )
    switches = "".join(
        f'<label><input type="checkbox" name="{name}" checked> {_said(context, name)}</label>'
        for name in ("mask", "scale")
    )
    how = _said(context, "how")
    return (
        f'<div class="plane-controls" hidden><p class="plane-note">{how}</p>'
        f'{reader}<div class="plane-turn">{turning}</div>'
        f'<p class="plane-switches">{switches}'
        f'<button type="button" value="start">{_said(context, "reset")}</button></p>'
        f"{_temperature(context)}</div>"
    )


def _temperature(context: Context) -> str:
    title, text, label = (
        _said(context, name) for name in ("temperature_title", "temperature_text", "temperature")
    )
    least, most = _TEMPERATURES
    return (
        f"<details><summary>{title}</summary><p>{text}</p>"
        f'<label>{label} <input type="range" name="temperature" min="{least}" max="{most}"'
        f' step="{STEP}" value="1"> <output aria-live="off"></output></label></details>'
    )


def _panels(toy: Toy, figure_id: str, context: Context) -> Iterator[str]:
    """What decides the shares on the left, what they are shares of on the right."""
    reading = read(toy)
    for tip in arrows.TIPS:
        context.ids.part(figure_id, f"tip-{tip}")
    for name, draw, tabulate in (
        ("matching", arrows.matching, plane_tables.matched),
        ("mixing", arrows.mixing, plane_tables.mixed),
    ):
        drawing = draw(toy, reading, context.words(f"plane.{name}"), figure_id)
        yield (
            f'<div class="plane-panel"><p class="plane-title">{_said(context, name)}</p>'
            f'<p class="plane-note">{_said(context, f"plane_{name}")}</p>{drawing}'
            f"{tabulate(toy, reading, context)}</div>"
        )


def _cases(cases: Mapping[str, Toy], context: Context) -> Iterator[str]:
    """The instructive ones, each with what there is to see, as computed."""
    readings = {name: read(toy) for name, toy in cases.items()}
    before = _vector(readings["start"])
    for name in list(cases)[1:]:
        shares = (_number(float(share)) for share in readings[name].shares)
        values = dict(
            zip(TOKENS, shares, strict=True), before=before, after=_vector(readings[name])
        )
        label = _said(context, f"name_{name}")
        button = f'<button type="button" value="{name}" disabled>{label}</button>'
        yield f"<li>{button} <span>{_said(context, f'case_{name}', **values)}</span></li>"


def _vector(reading: Reading) -> str:
    return f"({', '.join(map(_number, reading.output))})"


def _number(value: float) -> str:
    return display(value, plane_tables.DECIMALS)


def _real(directive: Directive, context: Context) -> str:
    """The way to the figures of the model that show the same, for the same position."""
    place = directive.options["real"]
    if not place:
        return ""
    context.links.append(Link(f"#{place}", Location(context.chapter.path, directive.line)))
    text = _said(context, "real")
    return f'<p class="plane-real"><a href="#{escape(place)}">{text}</a></p>'
