"""Addresses: how a chapter names one matrix or one number.

::

    ADDRESS   = KEY | KEY[HEAD] | KEY[ROW,COLUMN] | KEY[HEAD,ROW,COLUMN] | KEY[INDEX] | ∂ADDRESS
    HEAD = N | CLAIM
    ROW, COLUMN = token label | @N | N

A key is one of `model.tensors`; heads count from 0, as in the keys. The id of a claim that finds a
head, such as `head-follows-zero`, stands for that head. `KEY[INDEX]` is for tensors
with one axis. `∂` asks for the gradient of a loss instead of the value. A label names a place on
an axis of tokens (`=`, `7`, `<end>`), `@N` its index where the label would be ambiguous, and a
plain `N` an index on an axis without labels.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from builder.errors import did_you_mean, nearest
from model.tensors import TensorSpec

_ADDRESS = re.compile(r"(∂?)([A-Za-z_][\w.-]*)(?:\[([^\[\]]*)\])?")


class AddressError(ValueError):
    """An address that names nothing. Carries the rule and the hint of its diagnostic."""

    def __init__(self, rule: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.rule = rule
        self.message = message
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Address:
    """A key and the selectors in its brackets; `text` is all of it, without spaces."""

    text: str
    key: str
    selectors: tuple[str, ...]
    is_gradient: bool = False

    @classmethod
    def parse(cls, text: str) -> Address:
        """Split an address into key and selectors.

        Raises
        ------
        AddressError
            If the text is not of the form above.
        """
        match = _ADDRESS.fullmatch(text.strip())
        selectors = match[3].split(",") if match and match[3] is not None else []
        stripped = tuple(selector.strip() for selector in selectors)
        if match is None or not all(stripped):
            raise AddressError(
                "address", f"`{text}` is not an address", "such as `blocks.0.attn.pattern[1,=,7]`"
            )
        return cls._made(match[1], match[2], stripped)

    @classmethod
    def _made(cls, mark: str, key: str, selectors: tuple[str, ...]) -> Address:
        brackets = f"[{','.join(selectors)}]" if selectors else ""
        return cls(mark + key + brackets, key, selectors, bool(mark))

    def with_first(self, selector: str) -> Address:
        """Return the same address with another first selector."""
        mark = "∂" if self.is_gradient else ""
        return self._made(mark, self.key, (selector, *self.selectors[1:]))


@dataclass(frozen=True, slots=True)
class Axis:
    """One edge of a matrix.

    Attributes
    ----------
    name
        An axis word of `model.tensors`, `vector` for the one row of a vector, or `a` or `b` for
        the operands of the hundred problems.
    labels
        What stands at each place: tokens, or indices as text.
    has_tokens
        Whether the labels are tokens, which then name the places.
    """

    name: str
    labels: tuple[str, ...]
    has_tokens: bool

    def index(self, selector: str) -> int:
        """Return the place that a selector names.

        Raises
        ------
        AddressError
            If no place has the label or index, or if several places have the label.
        """
        if self.has_tokens and not selector.startswith("@"):
            return self._labelled(selector)
        digits = selector.removeprefix("@")
        if not re.fullmatch(r"[0-9]{1,9}", digits) or int(digits) >= len(self.labels):
            last = len(self.labels) - 1
            at = "@" if self.has_tokens else ""
            raise AddressError("unknown-label", self._absent(selector), f"`{at}0` to `{at}{last}`")
        return int(digits)

    def _labelled(self, selector: str) -> int:
        places = [place for place, label in enumerate(self.labels) if label == selector]
        if not places:
            near = did_you_mean(selector, self.labels)
            hint = f"{near} (or a place, `@0` to `@{len(self) - 1}`)"
            raise AddressError("unknown-label", self._absent(selector), hint)
        if len(places) > 1:
            choices = " or ".join(f"`@{place}`" for place in places)
            raise AddressError(
                "ambiguous-label",
                f"`{selector}` stands at positions {', '.join(map(str, places))}",
                f"say which: {choices}",
            )
        return places[0]

    def _absent(self, selector: str) -> str:
        return f"the axis `{self.name}` has no `{selector}`"

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True, slots=True)
class Selection:
    """What the selectors of an address mean for its tensor."""

    head: int | None
    cell: tuple[str, ...]


def select(
    address: Address, spec: TensorSpec, n_heads: int, finders: Sequence[str] = ()
) -> Selection:
    """Read the selectors: a head where the tensor has heads, then a cell.

    A hint about a head names the `finders` too, the claims that find one.

    Raises
    ------
    AddressError
        If there are too many or too few of them, or no such head.
    """
    given = address.selectors
    has_heads = "head" in spec.axes
    rank = len(spec.axes) - has_heads
    may_have_head = has_heads or spec.head_axis is not None
    if not has_heads and len(given) in (0, rank):
        return Selection(None, given)
    if may_have_head and len(given) in (1, 1 + rank):
        return Selection(_head(address, n_heads, finders), given[1:])
    message = f"`{address.text}` has {len(given)} indices, which does not fit `{spec.key}`"
    if has_heads and not given:
        message = f"`{address.text}` is a matrix for each head: say which head"
    raise AddressError("address", message, _forms(spec, rank, may_have_head))


def _head(address: Address, n_heads: int, finders: Sequence[str]) -> int:
    text = address.selectors[0]
    if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) >= n_heads:
        heads = [f"`{address.key}[{head}]`" for head in range(n_heads)]
        claim = nearest(text, finders)
        hint = f"did you mean `{claim}`?" if claim else f"one of {', '.join(heads)}"
        if finders and not claim and not text.isdigit():
            hint += f", or a claim that finds one: {', '.join(f'`{id_}`' for id_ in finders)}"
        raise AddressError("unknown-head", f"`{address.key}` has no head `{text}`", hint)
    return int(text)


def _forms(spec: TensorSpec, rank: int, may_have_head: bool) -> str:
    cell = "ROW,COLUMN" if rank == 2 else "INDEX"
    forms = [] if "head" in spec.axes else [spec.key, f"{spec.key}[{cell}]"]
    if may_have_head:
        forms += [f"{spec.key}[HEAD]", f"{spec.key}[HEAD,{cell}]"]
    return "one of " + ", ".join(f"`{form}`" for form in forms)
