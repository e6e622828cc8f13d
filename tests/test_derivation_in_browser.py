"""The chapters of the derivation in Chromium: each number once more, by a computation of its own.

Gradients, products of weights and calculations that are written out follow the problem, the step,
the layer and the head; whatever is shown is what `tests.reference` makes of the stored weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Page, expect

from builder.numbers.display import MASKED, MINUS, display, token_label
from model import task
from tests import independent, scene, stored
from tests.browser import Chromium, cell_at
from tests.site_build import BuiltSite

Array = NDArray[np.float64]

PAGES = [
    "scores.html",
    "values.html",
    "one-line.html",
    "answer.html",
    "next-token.html",
    "gradients.html",
    "votes.html",
    "one-route.html",
]
STEP = 60
PHONE = {"width": 360, "height": 740}
DESKTOP = {"width": 1280, "height": 900}


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


@pytest.mark.parametrize("page", PAGES)
def test_every_number_of_a_page_is_recomputed(
    site: BuiltSite, chromium: Chromium, page: str
) -> None:
    with chromium.visit(site.folder / page) as visit:
        for figure in scene.figures(visit.page):
            _check_stored(site, figure)
        for seen in (
            Seen(site.folder),
            Seen(site.folder, problem="2x3"),
            Seen(site.folder, problem="9x6", step=STEP, layer=1, head=0),
            Seen(site.folder, problem="7x0", step=STEP, layer=0, head=1),
        ):
            if seen.problem:
                scene.choose(visit.page, **seen.change)
            for figure in scene.figures(visit.page):
                _check_figure(figure, seen)
            for calculation in scene.calculations(visit.page):
                _check_calculation(calculation, seen)
            for number in scene.numbers(visit.page):
                _check_prose(number, seen)
        assert visit.complaints == []


def test_a_sum_that_no_rounding_makes_exact_says_that_it_is_not(
    site: BuiltSite, chromium: Chromium
) -> None:
    with chromium.visit(site.folder / "answer.html") as visit:
        scene.choose(visit.page, problem="5x6")
        found = scene.calculations(visit.page)
        for calculation in found:
            _check_calculation(calculation, Seen(site.folder, problem="5x6"))
        totals = [cell["text"] for calculation in found for cell in calculation["totals"]]
        assert sum("≈" in text for text in totals) == 1
        scene.choose(visit.page, problem=None)
        assert not any(
            "≈" in cell["text"] for c in scene.calculations(visit.page) for cell in c["totals"]
        )


@pytest.mark.parametrize(
    ("page", "figure", "address", "operands"),
    [
        ("gradients.html", "∂blocks.0.attn.attn_scores[1]", "attn_scores[1,3,2]@3", 8),
        ("gradients.html", "∂blocks.0.attn.W_Q", "attn.W_Q[3,2]@3", 6),
        ("one-line.html", "blocks.0.attn.token_scores[1]", "attn.token_scores[1,3,2]", 8),
    ],
)
def test_a_cell_of_a_gradient_and_of_a_product_opens_and_follows(
    site: BuiltSite, chromium: Chromium, page: str, figure: str, address: str, operands: int
) -> None:
    with chromium.visit(site.folder / page, viewport=DESKTOP) as visit:
        box = visit.page.locator("figure.matrix", has=visit.page.get_by_text(figure, exact=True))
        box.locator(cell_at(3, 2)).first.click()
        panel = visit.page.locator(".cell-panel")
        expect(panel).to_be_visible()
        assert address in visit.page.url
        assert panel.locator(".cell-terms tbody [data-cell]").count() == operands
        for problem in (None, "2x3"):
            if problem:
                scene.choose(visit.page, problem=problem)
            _check_open(visit.page, site)
        panel.locator(".cell-terms [data-cell]").last.click()
        _check_open(visit.page, site)
        assert visit.complaints == []


def _check_open(page: Page, site: BuiltSite) -> None:
    """The number that the panel shows in full is that of the cell in the address."""
    where = page.evaluate("Article.state.get().cell")
    problem, stage, cell = where.split(":")
    key, _, rest = cell.partition("[")
    indices, _, target = rest.partition("]")
    *head, row, column = map(int, indices.split(","))
    data = {"key": key, "problem": problem, "target": target.removeprefix("@")}
    if head:
        data["head"] = str(head[0])
    matrix = independent.matrix(site.folder, stage, {k: v for k, v in data.items() if v})
    full = page.locator(".cell-value > *").last.inner_text()
    shown = float(full.replace(MINUS, "-"))
    assert independent.is_stored(shown, float(matrix[row, column])), where
    assert page.locator(".cell-result output").inner_text() == display(
        shown, _places(page.locator(".cell-result output").inner_text())
    )


@pytest.mark.parametrize("position", [1, 4])
def test_gradients_follow_the_target_that_a_reader_chooses(
    site: BuiltSite, chromium: Chromium, position: int
) -> None:
    """Those that follow the position do; where the answer has one digit, 4 is beyond the last."""
    with chromium.visit(site.folder / "gradients.html") as visit:
        visit.page.evaluate(
            """() => document.querySelectorAll("[data-target]").forEach((figure) => {
              figure.dataset.follows = "problem position";
            })"""
        )
        for problem in ("7x8", "2x4"):
            scene.choose(visit.page, problem=problem, position=position)
            last = len(task.BY_NAME[problem].inputs) - 1
            shown = [f for f in scene.figures(visit.page) if "target" in f["data"]]
            assert len(shown) > 8
            for figure in shown:
                assert figure["data"]["target"] == str(min(position, last))
                _check_figure(figure, Seen(site.folder, problem=problem))


@pytest.mark.parametrize("page", PAGES)
def test_a_page_on_a_phone_has_no_barriers(site: BuiltSite, chromium: Chromium, page: str) -> None:
    with chromium.visit(site.folder / page, viewport=PHONE) as visit:
        assert visit.barriers() == []
        widths = visit.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert widths[0] <= widths[1]


def _check_stored(site: BuiltSite, figure: Mapping[str, Any]) -> None:
    """As it was built, a figure has the digits of the files."""
    if "problem" not in figure["data"] and "attn." in figure["data"]["key"].lower():
        names = figure["data"]["key"].rpartition(".")[2]
        if names in independent.PRODUCTS:
            return
    matrix = stored.matrix(site.folder, figure["data"])
    for cell in figure["cells"]:
        value = matrix[cell["row"], cell["column"]]
        assert cell["value"] == (None if np.isnan(value) else value), figure["id"]


def _check_figure(figure: Mapping[str, Any], seen: Seen) -> None:
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
        assert _places(cell["text"]) == int(data.get("decimals", 2))
    if "target" in data:
        asked = task.BY_NAME[data["problem"]].targets[int(data["target"])].target
        assert f"目标 {token_label(asked)}" in figure["where"]
        assert f"目标 {token_label(asked)}" in figure["spoken"]


def _check_prose(number: Mapping[str, Any], seen: Seen) -> None:
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
    assert cell["text"] == display(cell["value"], _places(cell["text"])), place


def _check_calculation(calculation: Mapping[str, Any], seen: Seen) -> None:
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
    assert text == display(cell["value"], _places(text)), place


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


def _places(text: str) -> int:
    return len(text.partition(".")[2])


def _decimal(cell: Mapping[str, Any]) -> Decimal:
    return Decimal(cell["text"].removeprefix("≈ ").replace(MINUS, "-"))
