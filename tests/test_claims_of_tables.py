"""Claims about tables of evidence: they hold for the stored ones, and for no others."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from builder.claims.result import ClaimResult
from builder.claims.tables import PREDICATES, check_claims_of_tables
from builder.claims.world import World
from model.snapshot import Snapshot
from tests.projects import ROOT
from tests.tables import content
from tests.trained_models import CONFIG

Tables = dict[str, Any]
Change = Callable[[Tables], None]
NAMES = ("controls", "held-out", "recall", "census")
OWN = 8


def stored() -> Tables:
    return {name: content(name) for name in NAMES}


def results(tables: Tables, seed: int = OWN) -> dict[str, ClaimResult]:
    files = {f"evidence/{name}.json": b"" for name in tables}
    documents = {f"evidence/{name}.json": copy.deepcopy(table) for name, table in tables.items()}
    snapshot = Snapshot(ROOT, files, documents)
    found = check_claims_of_tables(World(snapshot, CONFIG, {"seed": seed}, {}))
    return {result.id: result for result in found}


def control(name: str, **figures: Any) -> Change:
    return lambda tables: tables["controls"][name].update(figures)


def held_out(split: int, problem: str, *, right: bool) -> Change:
    def change(tables: Tables) -> None:
        problems = tables["held-out"]["of_split"][split]["problems"]
        assert problems[problem] != right
        problems[problem] = right

    return change


def every(right: bool, *, with_zero: bool) -> Change:
    def change(tables: Tables) -> None:
        for split in tables["held-out"]["of_split"]:
            for problem in split["problems"]:
                if ("0" in problem) == with_zero:
                    split["problems"][problem] = right

    return change


def recall(name: str, **changes: Any) -> Change:
    return lambda tables: tables["recall"][name].update(changes)


def never_fails(claim: str) -> Change:
    return lambda tables: tables["census"]["claims"][claim].update(fails_for=[])


def holds_for(seeds: list[int]) -> Change:
    return lambda tables: tables["census"].update(all_hold_for=seeds)


FALSIFIED: dict[str, list[Change]] = {
    "scores-not-needed": [
        control("uniform", all_correct=19),
        control("fixed_table", all_correct=19),
        control("uniform", steps=257.5),
        control("fixed_table", steps=257.5),
        control("full", steps=230),
        control("uniform", all_correct=0, steps=None),
    ],
    "rows-must-meet": [
        control("no_attention", fewest=18),
        control("no_attention", most=20),
        control("no_attention", fewest=18, most=18),
    ],
    "one-part-not-needed": [
        control(name, all_correct=10)
        for name in ("k_tied_to_q", "v_tied_to_k", "one_head", "one_layer", "no_positions")
    ],
    "mlp-missed": [control("no_mlp", all_correct=1)],
    "recall-needs-reading": [
        recall("full", solved=5),
        recall("fixed_table", most=0.5),
    ],
    "only-zero-carries-over": [
        every(False, with_zero=True),
        every(True, with_zero=False),
        held_out(1, "5x5", right=True),  # its own mirror image
    ],
    "story-is-chosen": [holds_for([]), holds_for([1, 2]), holds_for(list(range(40)))],
    "following-is-not-using": [never_fails("zero-is-used")],
}
CASES = [(claim, change) for claim, changes in FALSIFIED.items() for change in changes]


def test_every_claim_holds_for_the_stored_tables() -> None:
    found = results(stored())
    assert [name for name, result in found.items() if not result.holds] == []
    assert list(found) == list(PREDICATES) == list(FALSIFIED)
    assert all(json.loads(json.dumps(r.numbers)) == r.numbers for r in found.values())


@pytest.mark.parametrize(("claim", "change"), CASES, ids=[claim for claim, _ in CASES])
def test_a_claim_about_another_table_fails(claim: str, change: Change) -> None:
    tables = stored()
    change(tables)
    found = results(tables)
    assert not found[claim].holds
    assert all(result.holds for name, result in found.items() if name != claim)


def test_the_story_is_that_of_the_sites_own_seed() -> None:
    assert not results(stored(), seed=11)["story-is-chosen"].holds


def test_a_table_that_is_not_there_has_no_claims() -> None:
    tables = stored()
    del tables["census"]
    assert set(results(tables)) == {
        name for name, (table, _) in PREDICATES.items() if table != "census"
    }


def test_held_out_problems_are_counted_by_hand() -> None:
    numbers = results(stored())["only-zero-carries-over"].numbers
    asked = [
        (name, right, split["problems"])
        for split in stored()["held-out"]["of_split"]
        for name, right in split["problems"].items()
    ]
    zeros = [right for name, right, _ in asked if name[0] == "0" or name[2] == "0"]
    assert numbers["zeros"] == len(zeros)
    assert numbers["zeros_right"] == zeros.count(True)
    assert numbers["others"] == len(asked) - len(zeros)
    assert numbers["zeros_right"] + numbers["others_right"] == sum(right for _, right, _ in asked)
    strangers = [
        name for name, _, split in asked if "0" not in name and f"{name[2]}x{name[0]}" in split
    ]
    assert numbers["strangers"] == len(strangers)
    assert numbers["mirrored"] == numbers["others"] - len(strangers)


def test_seeds_that_follow_and_use_zero_are_counted_by_hand() -> None:
    census = stored()["census"]
    numbers = results(stored())["following-is-not-using"].numbers
    follows, uses = (
        {seed for seed in census["seeds"] if seed not in census["claims"][claim]["fails_for"]}
        for claim in ("head-follows-zero", "zero-is-used")
    )
    assert numbers == {
        "seeds": 64,
        "follows": len(follows),
        "uses": len(uses),
        "both": sum(seed in uses for seed in follows),
        "fewest_lost": min(
            census["of_seed"][str(seed)]["zero-is-used"]["lost"]
            for seed in follows
            if seed not in uses
        ),
    }
