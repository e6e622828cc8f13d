"""What a page shows, held against a computation of its own from the stored weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from builder.numbers.display import MASKED, MINUS, display, token_label
from model import task
from tests import independent

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Seen:
    """What the reader looks at."""

    site: Path
    problem: str | None = None
    step: int | None = None
    layer: int | None = None
    head: int | None = None

    @property
    def change(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("problem", "step", "layer", "head")}

    def weights(self, stage: str) -> str:
        return stage if self.step is None or stage == "initial" else f"step-{self.step:04d}"

    def resolved(self, data: Mapping[str, str], address: str | None = None) -> dict[str, str]:
        """Attributes of the matrix that a figure shows, or that a calculation is made of."""
        follows, found = data.get("follows", "").split(), dict(data)
        if address is not None:
            mark, key, head = _parse(address)
            own = {"key": key, "target": data.get("target", "") if mark else "", "head": head}
            found = {**found, **own, "transposed": ""}
        for name in ("problem", "layer", "head"):
            chosen = getattr(self, name)
            if name not in follows or chosen is None:
                continue
            if name == "layer" and "key" in found:
                parts = found["key"].split(".")
                parts[1] = str(chosen) if parts[0] == "blocks" else parts[1]
                found["key"] = ".".join(parts)
            elif found.get(name):
                found[name] = str(chosen)
        if found.get("target"):
            last = len(task.BY_NAME[found["problem"]].inputs) - 1
            found["target"] = str(min(int(found["target"]), last))
        return found

    def matrix(self, data: Mapping[str, str], address: str | None = None) -> Array:
        found = self.resolved(data, address)
        weights = self.weights(data["stage"])
        return independent.matrix(self.site, weights, {k: v for k, v in found.items() if v})


def check_figure(figure: Mapping[str, Any], seen: Seen) -> None:
    data = figure["data"]
    for name, chosen in (("problem", seen.problem), ("head", seen.head)):
        if name in data and chosen is not None and name in data.get("follows", ""):
            assert data[name] == str(chosen), figure["id"]
    matrix = seen.matrix({**data, "follows": ""})  # it says itself what it shows
    assert figure["cells"], figure["id"]
    for cell in figure["cells"]:
        exact = float(matrix[cell["row"], cell["column"]])
        if np.isnan(exact):
            assert (cell["value"], cell["text"]) == (None, MASKED), figure["id"]
            continue
        _check_number(cell, exact, (figure["id"], cell["row"], cell["column"], seen))
        assert places(cell["text"]) == int(data.get("decimals", 2))
    if "target" in data:
        asked = task.BY_NAME[data["problem"]].targets[int(data["target"])].target
        assert f"目标 {token_label(asked)}" in figure["where"]
        assert f"目标 {token_label(asked)}" in figure["spoken"]


def check_prose(number: Mapping[str, Any], seen: Seen) -> None:
    data = number["data"]
    key, _, indices = data["cell"].rstrip("]").partition("[")
    *head, row, column = indices.split(",")
    mark = "∂" if data.get("target") else ""
    address = f"{mark}{key}[{head[0]}]" if head else f"{mark}{key}"
    matrix = seen.matrix(data, address)
    if column == "next":
        after = task.BY_NAME[seen.resolved(data)["problem"]].tokens[int(row) + 1]
        column = str(task.TOKEN_ID[after])
    exact = float(matrix[int(row), int(column)])
    assert independent.is_stored(float(data["value"]), exact), (data, seen)
    if "format" not in data:
        assert number["text"] == display(float(data["value"]), int(data.get("decimals", 2)))


def _check_number(cell: Mapping[str, Any], exact: float, place: object) -> None:
    assert independent.is_stored(cell["value"], exact), (place, cell, exact)
    assert cell["text"] == display(cell["value"], places(cell["text"])), place


def check_calculation(calculation: Mapping[str, Any], seen: Seen) -> None:
    data, place = calculation["data"], (calculation["id"], seen)
    row = int(data["row"])
    matrices = {
        name: seen.matrix(data, data[name])
        for name in ("left", "right", "result", "scores", "shares", "contents", "gradients")
        if name in data
    }
    for name in data.get("turned", "").split():
        matrices[name] = matrices[name].T
    names, lines, totals = EXPECTED[data["kind"]](matrices, row, data)
    assert len(calculation["lines"]) == len(lines), place
    for shown, expected in zip(calculation["lines"], lines, strict=True):
        assert len(shown) == len(expected)
        for cell, exact in zip(shown, expected, strict=True):
            _check_derived(cell, exact, place)
    for cell, exact in zip(calculation["totals"], totals, strict=True):
        _check_derived(cell, exact, place)
    _check_sums(calculation, data)
    if names:
        problem = seen.resolved(data)["problem"]
        tokens = task.BY_NAME[problem].inputs
        assert calculation["names"] == [token_label(tokens[index]) for index in names], place


def _check_derived(cell: Mapping[str, Any], exact: float, place: object) -> None:
    """A product of two stored numbers has the error of both, a sum that of all its terms."""
    assert abs(cell["value"] - exact) <= 4e-6 * max(1, abs(exact)), (place, cell, exact)
    text = cell["text"].removeprefix("≈ ")
    assert text == display(cell["value"], places(text)), place


def _check_sums(calculation: Mapping[str, Any], data: Mapping[str, str]) -> None:
    """What is shown adds up, digit for digit."""
    lines = [[_decimal(cell) for cell in line] for line in calculation["lines"]]
    totals = [_decimal(cell) for cell in calculation["totals"]]
    columns = [sum(column) for column in zip(*lines, strict=True)]
    added = {
        "dot": columns[-1:],
        "softmax": columns[1:],
        "mixture": columns[len(columns) // 2 + 1 :],
        "softmax_gradient": columns[2::2],
    }[data["kind"]]
    for cell, one, total in zip(calculation["totals"], added, totals, strict=False):
        assert (one == total) == ("≈" not in cell["text"]), calculation["id"]
        assert abs(one - total) < Decimal("0.01")


def opened_by(calculation: Mapping[str, Any], seen: Seen) -> list[tuple[str, bool]]:
    """The cell that each of its numbers opens, and whether the number is that cell's own.

    One that is only made on the way leads to a cell of the result whose arithmetic has it.
    """
    data = calculation["data"]
    kind, row, column = data["kind"], int(data["row"]), int(data.get("column", 0))
    first = {"dot": "left", "softmax": "scores"}.get(kind, "shares")
    given = seen.matrix(data, data[first])[row]
    if kind == "dot":
        other = seen.matrix(data, data["right"])
        given = given * (other.T if "right" in data.get("turned", "") else other)[:, column]
    if kind == "softmax_gradient":
        given = given[: row + 1]
    terms = [k for k, number in enumerate(given) if number and not np.isnan(number)]
    each = range(independent.D_HEAD)
    made = {
        "dot": lambda k: [("left", row, k), ("right", k, column), None],
        "softmax": lambda k: [("scores", row, k), None, ("result", row, k)],
        "mixture": lambda k: [("shares", row, k), *(("contents", k, d) for d in each), *each],
        "softmax_gradient": lambda k: [
            *(("shares", row, k), ("gradients", row, k)),
            *(None, None, ("result", row, k)),
        ],
    }[kind]
    totals = {
        "dot": [None, ("result", row, column)] if "factor" in data else [("result", row, column)],
        "softmax": [None],
        "mixture": [("result", row, d) for d in each],
        "softmax_gradient": [None],
    }[kind]
    found = []
    for k, numbers in [*((k, made(k)) for k in terms), (terms[0], totals)]:
        for number in numbers:
            if isinstance(number, tuple):
                found.append((_address(data, seen, *number), True))
                continue
            led = number if kind == "mixture" else column if kind == "dot" else k
            found.append((_address(data, seen, "result", row, led), False))
    return found


def _address(data: Mapping[str, str], seen: Seen, name: str, row: int, column: int) -> str:
    shown = seen.resolved(data, data[name])
    at = [column, row] if name in data.get("turned", "").split() else [row, column]
    indices = ",".join(map(str, [*filter(None, [shown["head"]]), *at]))
    target = f"@{shown['target']}" if shown["target"] else ""
    return f"{shown['problem']}:{shown['stage']}:{shown['key']}[{indices}]{target}"


def _dot(m: Mapping[str, Array], row: int, data: Mapping[str, str]) -> Any:
    column, factor = int(data["column"]), float(data.get("factor", 1))
    pairs = zip(m["left"][row], m["right"][:, column], strict=True)
    lines = [[a, b, a * b] for a, b in pairs if a and b]
    total = m["result"][row, column]
    return None, lines, [total] if factor == 1 else [total / factor, total]


def _softmax(m: Mapping[str, Array], row: int, _data: Mapping[str, str]) -> Any:
    scores, shares = m["scores"][row], m["result"][row]
    seen = [k for k, score in enumerate(scores) if not np.isnan(score)]
    powers = np.exp(scores[seen] - max(scores[seen]))
    lines = [[scores[k], power, shares[k]] for k, power in zip(seen, powers, strict=True)]
    return None if len(seen) > 6 else seen, lines, [sum(powers), 1.0]


def _mixture(m: Mapping[str, Array], row: int, _data: Mapping[str, str]) -> Any:
    sources = [k for k, share in enumerate(m["shares"][row]) if share]
    lines = [
        [m["shares"][row, k], *m["contents"][k], *(m["shares"][row, k] * m["contents"][k])]
        for k in sources
    ]
    return sources, lines, m["result"][row]


def _softmax_gradient(m: Mapping[str, Array], row: int, _data: Mapping[str, str]) -> Any:
    a, u, told = (m[name][row, : row + 1] for name in ("shares", "gradients", "result"))
    mean = float(a @ u)
    lines = [[a[k], u[k], a[k] * u[k], u[k] - mean, told[k]] for k in range(row + 1)]
    return list(range(row + 1)), lines, [mean, 0.0]


EXPECTED = {
    "dot": _dot,
    "softmax": _softmax,
    "mixture": _mixture,
    "softmax_gradient": _softmax_gradient,
}


def _parse(address: str) -> tuple[str, str, str]:
    """The mark of a gradient, the key and the head of an address."""
    key, _, head = address.removeprefix("∂").rstrip("]").partition("[")
    return "∂" if address.startswith("∂") else "", key, head


def places(text: str) -> int:
    return len(text.partition(".")[2])


def _decimal(cell: Mapping[str, Any]) -> Decimal:
    return Decimal(cell["text"].removeprefix("≈ ").replace(MINUS, "-"))
