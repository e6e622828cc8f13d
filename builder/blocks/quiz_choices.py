"""The answers of an item as they are shown: those of its author, or a number and its mistakes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from html import escape, unescape

from builder.blocks.directive import BlockError, Context, no_target, where
from builder.blocks.value import decimals_in, formatted, usual_format
from builder.content.quiz import Item, Mistake, Number, Option, Text
from builder.content.quiz_files import FEWEST_OPTIONS
from builder.errors import Diagnostic, Location
from builder.numbers.address import AddressError
from builder.quiz.asked import Asked
from builder.quiz.mistakes import value_of

Inline = Callable[[Text], str]

MOST_DIGITS = 6
"""What is computed is stored with 7 digits; with as many, the right answer alone seems exact."""


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
        shown = [Choice(inline(o.text), inline(o.because), o.is_right) for o in options]
        context.diagnostics.extend(_alike(options, shown))
        return shown
    found = _numbers(item, item.number, context)
    return [
        Choice(
            _number_html(value, shown),
            inline(because),
            is_right,
            RightNumber(value, shown) if is_right else None,
        )
        for value, shown, because, is_right in sorted(found, key=lambda each: each[0])
    ]


def _alike(options: Sequence[Option], shown: Sequence[Choice]) -> Iterator[Diagnostic]:
    """Report options that differ in their Markdown and look the same."""
    seen: dict[str, Option] = {}
    pairs = sorted(zip(options, shown, strict=True), key=lambda pair: pair[0].text.line)
    for option, choice in pairs:
        plain = unescape(re.sub("<[^>]*>", "", choice.html)).strip()
        if plain in seen and seen[plain].text.markdown != option.text.markdown:
            message = f"this option looks like the one on line {seen[plain].text.line}"
            hint = "write another, or delete one of them"
            yield option.text.location.problem("repeated-option", message, hint)
        seen.setdefault(plain, option)


def _mixed(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _number_html(value: float, shown: str) -> str:
    return f'<span data-value="{value!r}">{escape(shown)}</span>'


Shown = tuple[float, str, Text, bool]
"""A number, as it is written, what is said of it, and whether it is right."""


def _numbers(item: Item, number: Number, context: Context) -> Sequence[Shown]:
    """The right number, and each mistake whose number looks like none before it."""
    with reporting(number.locations, context):
        at = asked(item, number, context)
        right = at.value.number
        if right is None:
            message = f"`{at.value.address}` is masked: there is no number to predict"
            raise BlockError("masked", message, "choose a column up to the row", "number")
        kind = number.options.get("format", usual_format(right))
        decimals = decimals_in(number.options)
        first = formatted(right, kind, decimals)
        _check_form(right, first, kind)
        made = list(_made(number, at, kind, decimals, context))
        names = {first: "the right answer"}
        found, left_out = [(right, first, number.because, True)], []
        for mistake, value, shown in made:
            if shown in names:
                left_out.append(_left_out(mistake, shown, names[shown]))
            else:
                found.append((value, shown, mistake.because, False))
            names.setdefault(shown, mistake.named)
        if len(found) < FEWEST_OPTIONS and len(made) == len(number.mistakes):
            raise _too_few(first, made)
        context.diagnostics.extend(left_out)
        return found
    return []


Wrong = tuple[Mistake, float, str]
"""A mistake, the number that it leads to, and as it is written."""


def _made(
    number: Number, at: Asked, kind: str, decimals: int | None, context: Context
) -> Iterator[Wrong]:
    """What each mistake leads to; one that leads nowhere is reported."""
    for mistake in number.mistakes:
        with reporting({"number": mistake.location}, context):
            value = _mistaken(mistake, at)
            yield mistake, value, formatted(value, kind, decimals)


def _check_form(right: float, shown: str, kind: str) -> None:
    """Refuse a form in which the right number is another, or is told by its many digits."""
    if kind == "whole" and right != int(right):
        message = f"`whole` makes {shown} of {right}, which is not whole"
        raise BlockError("bad-format", message, "leave `format` out", "format")
    digits = re.sub(r"[^0-9]", "", shown).lstrip("0")
    if kind == "number" and len(digits) > MOST_DIGITS:
        message = f"{shown} has {len(digits)} digits, more than are stored of every number"
        raise BlockError("bad-decimals", message, f"at most {MOST_DIGITS} digits", "decimals")


def _left_out(mistake: Mistake, shown: str, same: str) -> Diagnostic:
    message = f"{mistake.named} gives {shown} like {same}, and is left out"
    hint = "show more `decimals`, or name another mistake"
    return mistake.location.problem("left-out", message, hint, "warning")


def asked(item: Item, number: Number, context: Context) -> Asked:
    """Return the place that an item asks for.

    Raises
    ------
    AddressError, BlockError
        If there is no such place.
    """
    options = {**number.options, "problem": item.problem}
    stage, problem = where(options, context)
    target, until = (_token(name, options, context) for name in ("target", "until"))
    at = Asked.at(number.address, context.numbers, stage, problem, target, until)
    if "target" in options and at.value.target is None:
        raise no_target(at.value.address)
    return at


def _token(name: str, options: Mapping[str, str], context: Context) -> str:
    """Return the token that an option names, which the problem must have."""
    token = options.get(name, "")
    try:
        context.numbers.position(token, options["problem"])
    except AddressError as error:
        raise BlockError(error.rule, error.message, error.hint, name) from error
    return token


def _mistaken(mistake: Mistake, at: Asked) -> float:
    if mistake.name:
        return value_of(mistake.name, at)
    found = at.numbers.value(mistake.address, at.stage, mistake.problem, at.target)
    if found.number is None:
        message = f"`{mistake.address}` is masked: there is no number to take for the right one"
        raise AddressError("masked", message, "choose a column up to the row")
    if found.place == at.value.place:
        message = f"`{mistake.address}` is the very number that is asked for"
        raise AddressError("right-address", message, "name the place that a reader takes for it")
    return found.number


def _too_few(right: str, made: Sequence[Wrong]) -> BlockError:
    same: dict[str, list[str]] = {right: []}
    for mistake, _, shown in made:
        same.setdefault(shown, []).append(mistake.named)
    gives = [f"{' '.join(names)} gives `{shown}`" for shown, names in same.items() if names]
    message = f"only {len(same)} options differ as they are shown: {'; '.join(gives)}"
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
