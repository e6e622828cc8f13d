"""Beside a claim stands of how many seeds it is true: counted again here, from stored weights."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from builder.numbers.documents import census_of
from model.encoding import encode
from model.packed import unpacked
from model.snapshot import Snapshot
from tests import reference
from tests.site_build import BuiltSite
from tests.tables import content
from tests.trained_models import CONFIG

TIMES, EQUALS, END = 10, 11, 12
WORDS = {"zh": "{total} 个种子里有 {count} 个如此", "en": "true for {count} of {total} seeds"}
MARK = re.compile(
    r'<a class="claim" href="[^"]*#claim-([\w-]+)" title="([^"]*)" aria-label="([^"]*)">✓'
    r"(?:<small>(\d+)/(\d+)</small>)?</a>"
)
ITEM = re.compile(r'<div class="claim-item" id="claim-([\w-]+)">(.*?)</div>', re.DOTALL)
COLUMN = re.compile(
    r'<dd class="claim-seeds"><span aria-hidden="true">(\d+)/(\d+)</span>'
    r'<span class="visually-hidden">([^<]*)</span></dd>'
)


@cache
def counted() -> dict[str, tuple[int, int]]:
    """Of how many seeds each claim holds, and how many there are: by the seeds that fail."""
    census = content("census")
    total = len(set(census["seeds"]))
    return {
        claim: (total - len(set(found["fails_for"])), total)
        for claim, found in census["claims"].items()
    }


def pages(site: BuiltSite) -> Iterator[tuple[str, str]]:
    for path in site.pages:
        if path.name != "404.html":
            yield "en" if path.parent.name == "en" else "zh", path.read_text("utf-8")


# --- what is shown --------------------------------------------------------------------------


def test_every_claim_in_the_text_says_of_how_many_seeds_it_is_true(site: BuiltSite) -> None:
    shown = set()
    for language, page in pages(site):
        marks = MARK.findall(page)
        assert len(marks) == page.count('<a class="claim"')
        for claim, title, label, *numbers in marks:
            if claim not in counted():  # about tables, not about one model
                assert numbers == ["", ""], claim
                assert title == label
                continue
            count, total = counted()[claim]
            assert numbers == [str(count), str(total)], claim
            assert WORDS[language].format(count=count, total=total) in title
            assert title in label
            assert label.startswith(f"{count}/{total}"), "what is seen is part of the name"
            shown.add((language, claim))
    assert {("zh", "head-follows-zero"), ("zh", "all-correct"), ("en", "all-correct")} <= shown
    assert len({counted()[claim] for _, claim in shown}) > 3


@pytest.mark.parametrize(("folder", "language"), [("", "zh"), ("en", "en")])
def test_the_list_of_claims_has_a_column_of_them(
    site: BuiltSite, folder: str, language: str
) -> None:
    page = (site.folder / folder / "about.html").read_text("utf-8")
    items = dict(ITEM.findall(page))
    assert set(items) >= set(counted())
    for claim, item in items.items():
        if claim not in counted():
            assert "claim-seeds" not in item
            continue
        ((count, total, words),) = COLUMN.findall(item)
        assert (int(count), int(total)) == counted()[claim]
        assert words == WORDS[language].format(count=count, total=total)
    assert page.count("claim-column") == 1


def test_without_a_census_nothing_is_said(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_bytes(encode({"schema": 1, "files": []}))
    assert census_of(Snapshot(tmp_path)) == {}


# --- what is true ---------------------------------------------------------------------------


def holds(weights: dict[str, NDArray[np.float64]]) -> dict[str, bool]:
    """Some claims about a model, from the equations alone."""
    shares = np.empty((2, 2, 10, 10, 4))  # [layer head a b source], of what `=` reads
    queries, right, loss = [], 0, []
    for a in range(10):
        for b in range(10):
            ids = [a, TIMES, b, EQUALS, *map(int, str(a * b)), END]
            found = reference.forward(weights, ids[:-1], n_layers=2, n_heads=2)
            for layer in range(2):
                shares[layer, :, a, b] = found[f"blocks.{layer}.attn.pattern"][:, 3, :4]
            queries.append(found["blocks.1.attn.q"][:, 3].ravel())
            probs = found["probs"]
            loss += [-math.log(probs[i, id_]) for i, id_ in enumerate(ids[1:])]
            right += all(probs[i].argmax() == id_ for i, id_ in enumerate(ids[1:]) if i >= 3)

    most = shares[0].argmax(-1)  # [head a b]
    follows = [int((m[1:, 0] == 2).sum() + (m[0, 1:] == 0).sum()) for m in most]
    head = follows.index(max(follows))
    other = 1 - head
    own = shares[0, head]  # [a b source]
    apart = np.abs(np.subtract.outer(queries, queries).diagonal(axis1=1, axis2=3)).max(-1)
    return {
        "all-correct": right == 100,
        "loss-near-floor": 100 * math.log(10) / 558 <= sum(loss) / 558 < 0.42,
        "head-follows-zero": follows[head] == 18,
        "other-head-does-not-follow": follows[other] == 0,
        "other-head-reads-times": bool((most[other] == 1).all()),
        "zero-read-most": not own[:, :, 2].argmax(1).any() and not own[:, :, 0].argmax(0).any(),
        "one-order-in-layer-1": orders(shares[0], max) == 1 and orders(shares[1], min) == 10,
        "layer-2-query-differs": bool((apart + np.eye(100) > 1e-6).all()),
    }


def orders(shares: NDArray[np.float64], pick: Any) -> int:
    """In how many orders a head ranks the ten values of an operand: over heads and operands."""
    lines = [x for own in shares for x in (own[:, :, 2], own[:, :, 0].T)]  # [other this] each
    return int(pick(len({tuple(line.argsort()) for line in table}) for table in lines))


def test_seeds_are_counted_from_their_weights() -> None:
    records = content("seeds")
    held = [
        holds({k: w.astype(np.float64) for k, w in unpacked(r["weights"], CONFIG).items()})
        for r in records.values()
    ]
    assert len(held) >= 64
    for claim in held[0]:
        assert (sum(found[claim] for found in held), len(held)) == counted()[claim], claim
    assert len({counted()[claim] for claim in held[0]}) > 5, "not all of them hold for all"
