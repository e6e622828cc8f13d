"""The answers of an item as they are shown: those of its author, or a number and its mistakes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from html import escape

from builder.blocks.directive import BlockError, Context, no_target, where
from builder.blocks.value import decimals_in, formatted, usual_format
from builder.content.quiz import Item, Mistake, Number, Text
from builder.content.quiz_files import FEWEST_OPTIONS
from builder.errors import Location
from builder.numbers.address import AddressError
from builder.quiz.asked import Asked
from builder.quiz.mistakes import value_of
from model.task import EQUALS

Inline = Callable[[Text], str]


@dataclass(frozen=True, slots=True)
class RightNumber:
    """The number that is asked for, and as it is written."""

    value: float
    shown: str


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer and what is said of it, as HTML; the right one knows its number, if it is one."""

    html: str
    because: str
    is_right: bool
    number: RightNumber | None = None


def choices(item: Item, context: Context, inline: Inline) -> Sequence[Choice]:
    """Return the answers in the order in which they are shown; problems are reported.

    Numbers stand by size. Texts stand in an order that the name of the item and their own words
    decide: it has nothing to do with which is right, and is the same in every build.
    """
    if item.number is None:
        options = sorted(item.options, key=lambda o: _mixed(f"{item.name} {o.text.markdown}"))
        return [Choice(inline(o.text), inline(o.because), o.is_right) for o in options]
    found = list(_numbers(item, item.number, context))
    return [
        Choice(
            _number_html(value, shown),
            inline(because),
            is_right,
            RightNumber(value, shown) if is_right else None,
        )
        for value, shown, because, is_right in sorted(found, key=lambda each: each[0])
    ]


def _mixed(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _number_html(value: float, shown: str) -> str:
    return f'<span data-value="{value!r}">{escape(shown)}</span>'


Shown = tuple[float, str, Text, bool]
"""A number, as it is written, what is said of it, and whether it is right."""


def _numbers(item: Item, number: Number, context: Context) -> Iterator[Shown]:
    """The right number, and each mistake whose number looks like none before it."""
    with reporting(number.locations, context):
        at = asked(item, number, context)
        right = at.value.number
        if right is None:
            message = f"`{at.value.address}` is masked: there is no number to predict"
            raise BlockError("masked", message, "choose a column up to the row", "number")
        kind = number.options.get("format", usual_format(right))
        decimals = decimals_in(number.options)
        seen = {formatted(right, kind, decimals): ""}
        yield right, next(iter(seen)), number.because, True
        n_before = len(context.diagnostics.found)
        for mistake in number.mistakes:
            with reporting({"number": mistake.location}, context):
                value = _mistaken(mistake, at)
                shown = formatted(value, kind, decimals)
                if shown not in seen:
                    yield value, shown, mistake.because, False
                seen[shown] = seen.get(shown, "") + f" `{mistake.name or mistake.address}`"
        if len(seen) < FEWEST_OPTIONS and len(context.diagnostics.found) == n_before:
            raise _too_few(seen)


def asked(item: Item, number: Number, context: Context) -> Asked:
    """Return the place that an item asks for.

    Raises
    ------
    AddressError, BlockError
        If there is no such place.
    """
    options = {**number.options, "problem": item.problem}
    stage, problem = where(options, context)
    target, until = options.get("target", EQUALS), options.get("until", EQUALS)
    at = Asked.at(number.address, context.numbers, stage, problem, target, until)
    if "target" in options and at.value.target is None:
        raise no_target(at.value.address)
    return at


def _mistaken(mistake: Mistake, at: Asked) -> float:
    if mistake.name:
        return value_of(mistake.name, at)
    found = at.numbers.value(mistake.address, at.stage, mistake.problem, at.target).number
    if found is None:
        message = f"`{mistake.address}` is masked: there is no number to take for the right one"
        raise AddressError("masked", message, "choose a column up to the row")
    return found


def _too_few(seen: Mapping[str, str]) -> BlockError:
    same = [f"{names.strip()} gives `{shown}`" for shown, names in seen.items() if names]
    message = f"only {len(seen)} options differ as they are shown: {'; '.join(same)}"
    hint = f"at least {FEWEST_OPTIONS} must differ: show more `decimals`, or name other mistakes"
    return BlockError("few-options", message, hint, "number")


@contextmanager
def reporting(locations: Mapping[str, Location], context: Context) -> Iterator[None]:
    """Report what is wrong at the field at fault, or at the address."""
    try:
        yield
    except BlockError as error:
        location = locations.get(error.option, locations["number"])
        context.diagnostics.add(location.problem(error.rule, error.message, error.hint))
    except AddressError as error:
        found = locations["number"].problem(error.rule, error.message, error.hint)
        context.diagnostics.add(found)
