"""Every claim holds for the article's model, and none of them holds whatever the numbers are."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from builder.claims import tables
from builder.claims.predicates import PREDICATES, check_claims
from builder.claims.training import NEAR_FLOOR
from builder.claims.world import World
from model import task
from model.snapshot import Snapshot
from tests.projects import ROOT

Evidence = dict[str, Any]
Change = Callable[["Doctor"], None]

EVIDENCE: Evidence = {
    "decoded": 100,
    "overwritten_uniform": 10,
    "overwritten_heads": [[31, 10], [46, 31]],
    "second_digit_without_equals": 47,
    "raised_by_step": 556,
    "first_step": [0.0458, 0.0598],
    "sum_of_norms": 221.8,
    "norm_of_sum": 67.6,
    "control_uniform": 100,
    "control_loss": 0.413,
    "control_margin": 1e-13,
}
AT_EQUALS = task.EQUALS_POSITION


class Doctor:
    """Changes single numbers of a snapshot and of the evidence."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.training = dict(snapshot.manifest["training"])
        self.evidence = dict(EVIDENCE)
        self.documents: dict[str, Any] = {}

    def trace(self, problem: str) -> dict[str, Any]:
        return self.document(f"traces/trained/{problem}.json")["values"]

    def document(self, path: str) -> dict[str, Any]:
        if path not in self.documents:
            self.documents[path] = json.loads((self.snapshot.folder / path).read_bytes())
        return self.documents[path]

    @property
    def world(self) -> World:
        documents = self.snapshot._documents | self.documents
        snapshot = Snapshot(self.snapshot.folder, _documents=documents)
        return World(snapshot, self.snapshot.config, self.training, self.evidence)


def evidence(name: str, value: Any) -> Change:
    def change(doctor: Doctor) -> None:
        doctor.evidence[name] = value

    return change


def final_loss(value: float) -> Change:
    def change(doctor: Doctor) -> None:
        doctor.training["final_loss"] = value

    return change


def nudge(problem: str, key: str, *place: int, by: float) -> Change:
    def change(doctor: Doctor) -> None:
        row = doctor.trace(problem)[key]
        for index in place[:-1]:
            row = row[index]
        row[place[-1]] += by

    return change


def same_row(doctor: Doctor) -> None:
    row = doctor.trace("7x8")["blocks.0.resid_mid"][AT_EQUALS]
    doctor.trace("8x7")["blocks.0.resid_mid"][AT_EQUALS] = list(row)


def reads(problem: str, position: int) -> Change:
    def change(doctor: Doctor) -> None:
        for head in doctor.trace(problem)["blocks.0.attn.pattern"]:
            row = head[AT_EQUALS]
            row[:] = [0.0] * len(row)
            row[position] = 1.0

    return change


def weight(stage: str, key: str, token: str, change: Callable[[list[float]], None]) -> Change:
    """Change one token's row of a table."""

    def of(doctor: Doctor) -> None:
        change(doctor.document(f"weights/{stage}.json")["tensors"][key][task.TOKEN_ID[token]])

    return of


def position_moved(position: int) -> Change:
    def change(doctor: Doctor) -> None:
        longer(doctor.document("weights/trained.json")["tensors"]["pos_embed.W_pos"][position])

    return change


def same_queries(doctor: Doctor) -> None:
    for head in (0, 1):
        row = doctor.trace("7x8")["blocks.1.attn.q"][head][AT_EQUALS]
        doctor.trace("8x7")["blocks.1.attn.q"][head][AT_EQUALS] = list(row)


def zero_stands_out(doctor: Doctor) -> None:
    """Give the bare 0 the embedding whose key has the largest score with the query of `=`."""
    tensors = doctor.document("weights/trained.json")["tensors"]
    E = np.array(tensors["embed.W_E"])
    Q, K = (np.array(tensors[f"blocks.0.attn.{name}"])[:, 4:] for name in ("W_Q", "W_K"))
    tensors["embed.W_E"][0] = (100 * K @ (E[task.TOKEN_ID["="]] @ Q)).tolist()


def gradient(problem: str, position: int, key: str, by: float) -> Change:
    def change(doctor: Doctor) -> None:
        target = doctor.document(f"gradients/initial/{problem}.json")["targets"][position]
        target["grads"][key][0][0] += by

    return change


def share(problem: str, layer: int, head: int, source: int, value: float) -> Change:
    def change(doctor: Doctor) -> None:
        doctor.trace(problem)[f"blocks.{layer}.attn.pattern"][head][AT_EQUALS][source] = value

    return change


def same_order_in_layer_2(doctor: Doctor) -> None:
    """In one head, two first operands rank the second operands alike."""
    for b in range(10):
        one, other = (
            doctor.trace(f"{a}x{b}")["blocks.1.attn.pattern"][1][AT_EQUALS] for a in (3, 4)
        )
        other[2] = one[2]


def longer(row: list[float]) -> None:
    row[7] += 0.01


def swapped_heads(doctor: Doctor) -> None:
    """The other head follows 0 instead."""
    for problem in task.PROBLEMS:
        doctor.trace(problem.name)["blocks.0.attn.pattern"].reverse()


def intervention(*path: str, value: float, problem: str = "") -> Change:
    """Change a figure of a table of interventions: of all problems, or of one."""

    def change(doctor: Doctor) -> None:
        found = doctor.document("evidence/interventions.json")
        for name in path[:-1]:
            found = found[name]
        if problem:
            place = [p.name for p in task.PROBLEMS].index(problem)
            found["of_problem"][path[-1]][place] = value
        else:
            found[path[-1]] = value

    return change


def source(layer: int, head: int, of: int, name: str, value: float, problem: str) -> Change:
    at = (f"layer_{layer}", f"head_{head}", "row_3", f"source_{of}", name)
    return intervention(*at, value=value, problem=problem)


def shares_tell(doctor: Doctor) -> None:
    """What is left without a source is what is not read of it, but for every fifth row."""
    table = doctor.document("evidence/interventions.json")
    for layer in ("layer_1", "layer_2"):
        for head in ("head_1", "head_2"):
            for of in range(4):
                each = table[layer][head]["row_3"][f"source_{of}"]["of_problem"]
                each["probability"] = [
                    left if place % 5 == 0 else 0.99 - share
                    for place, (share, left) in enumerate(
                        zip(each["share"], each["probability"], strict=True)
                    )
                ]


FALSIFIED: dict[str, list[Change]] = {
    "all-correct": [evidence("decoded", 99)],
    "loss-near-floor": [final_loss(NEAR_FLOOR), final_loss(task.LOSS_FLOOR - 1e-6)],
    "equals-row-identical": [
        nudge("9x9", "blocks.0.resid_pre", AT_EQUALS, 7, by=1e-6),
        nudge("0x0", "blocks.0.resid_pre", AT_EQUALS, 0, by=-1e-6),
    ],
    "equals-row-is-sum": [nudge("7x8", "blocks.0.resid_pre", AT_EQUALS, 7, by=1e-5)],
    "equals-row-differs": [same_row],
    "isolated-rows-limit": [nudge("9x9", "blocks.0.resid_pre", AT_EQUALS, 7, by=1e-6)],
    "pattern-rows-sum-to-one": [
        nudge("9x9", "blocks.1.attn.pattern", 1, AT_EQUALS, 2, by=1e-5),
        nudge("0x0", "blocks.0.attn.pattern", 0, 0, 3, by=1e-9),
    ],
    "pattern-moves-rows": [
        nudge("9x9", "blocks.1.attn.z", 1, 0, 0, by=1e-4),
        nudge("0x0", "blocks.0.attn.v", 0, 0, 0, by=1e-3),
    ],
    "head-follows-zero": [reads("7x0", 1), reads("0x9", 3)],
    "other-head-does-not-follow": [reads("7x0", 2), reads("0x9", 0)],
    "equals-query-identical": [nudge("9x9", "blocks.0.attn.q", 1, AT_EQUALS, 3, by=1e-6)],
    "layer-2-query-differs": [same_queries],
    "zero-outscores-seven": [
        nudge("7x0", "blocks.0.attn.attn_scores", 1, AT_EQUALS, 2, by=-0.5),
        nudge("7x0", "blocks.0.attn.attn_scores", 1, AT_EQUALS, 0, by=0.5),
    ],
    "bare-tokens-mislead": [zero_stands_out],
    "same-prefix-same-rows": [
        nudge("3x4", "blocks.1.resid_post", 1, 5, by=1e-6),
        nudge("9x9", "ln_final.scale", 0, by=1e-6),
        nudge("0x1", "blocks.1.attn.pattern", 1, 1, 0, by=1e-6),
        nudge("0x1", "blocks.1.attn.k", 0, 0, 3, by=1e-6),
    ],
    "second-operand-uniform": [nudge("5x0", "probs", 1, 3, by=0.03)],
    "step-raises": [
        evidence("raised_by_step", 552),
        evidence("first_step", [0.06, 0.05]),
    ],
    "shared-prefix-same-gradient": [
        gradient("7x9", 0, "blocks.0.attn.W_Q", by=1e-6),
        gradient("7x1", 0, "embed", by=1e-6),
    ],
    "gradients-cancel": [evidence("norm_of_sum", 111.0)],
    "unread-tokens-untouched": [
        weight("trained", "embed.W_E", task.PAD, longer),
        weight("trained", "embed.W_E", task.END, longer),
    ],
    "unused-positions-untouched": [position_moved(task.MAX_INPUTS), position_moved(15)],
    "other-head-reads-times": [
        share("9x9", 0, 0, 3, 1.0),
        nudge("0x0", "blocks.0.attn.v", 0, 1, 3, by=1e-6),
    ],
    "second-digit-reads-equals": [
        evidence("second_digit_without_equals", 58),
        evidence("second_digit_without_equals", 29),
    ],
    "zero-read-most": [share("7x0", 0, 1, 2, 0.0), share("0x4", 0, 1, 0, 0.0)],
    "one-order-in-layer-1": [
        share("7x0", 0, 0, 2, 0.9),
        share("3x3", 0, 1, 0, 0.0),
        same_order_in_layer_2,
    ],
    "uniform-control-solves": [evidence("control_uniform", 99)],
    "uniform-overwrite-fails": [evidence("overwritten_uniform", 11)],
    "head-overwrite-fails": [evidence("overwritten_heads", [[0, 11], [0, 0]])],
    "every-head-is-used": [
        intervention("layer_1", "head_2", "ablated", "correct", value=51),
        intervention("layer_2", "head_1", "ablated", "correct", value=51),
    ],
    "tables-must-follow": [
        intervention("layer_1", "head_1", "own_mean", "correct", value=91),
        intervention("layer_2", "head_2", "own_mean", "correct", value=91),
    ],
    "zero-is-used": [
        source(1, 2, 2, "probability", 0.51, "7x0"),
        source(1, 2, 0, "probability", 0.51, "0x3"),
        source(1, 2, 0, "probability", 0.49, "7x0"),
        source(1, 2, 3, "probability", 0.49, "0x9"),
    ],
    "times-is-used": [intervention("layer_1", "head_1", "row_3", "source_1", "correct", value=51)],
    "largest-share-misleads": [shares_tell],
    "share-contrast": [
        source(2, 1, 0, "probability", 0.5, "7x8"),
        source(2, 1, 1, "probability", 0.9, "7x8"),
    ],
}
CASES = [(claim, change) for claim, changes in FALSIFIED.items() for change in changes]


@pytest.fixture(scope="module")
def snapshot(built: Path) -> Snapshot:
    return Snapshot(built / "dist/snapshots")


def test_every_claim_holds_for_the_articles_model(snapshot: Snapshot) -> None:
    results = check_claims(Doctor(snapshot).world)
    assert [result.id for result in results if not result.holds] == []
    assert [result.id for result in results] == list(PREDICATES)


def test_every_number_of_a_claim_can_be_written(snapshot: Snapshot) -> None:
    for result in check_claims(Doctor(snapshot).world):
        assert result.numbers, result.id
        assert all(math.isfinite(number) for number in result.numbers.values()), result.id
        assert json.loads(json.dumps(result.numbers)) == result.numbers, result.id


def test_the_head_that_follows_is_found_wherever_it_is(snapshot: Snapshot) -> None:
    doctor = Doctor(snapshot)
    found = PREDICATES["head-follows-zero"](doctor.world).numbers["head"]
    swapped_heads(doctor)
    outcome = PREDICATES["head-follows-zero"](doctor.world)
    assert outcome.holds
    assert {found, outcome.numbers["head"]} == {1, 2}
    assert PREDICATES["other-head-does-not-follow"](doctor.world).numbers["head"] == found


@pytest.mark.parametrize(("claim", "change"), CASES, ids=[claim for claim, _ in CASES])
def test_a_claim_about_other_numbers_fails(snapshot: Snapshot, claim: str, change: Change) -> None:
    doctor = Doctor(snapshot)
    change(doctor)
    assert not PREDICATES[claim](doctor.world).holds


@pytest.mark.parametrize(
    ("claim", "change"),
    [
        ("same-prefix-same-rows", nudge("3x4", "blocks.1.resid_post", 2, 5, by=1.0)),
        ("same-prefix-same-rows", nudge("3x4", "blocks.1.attn.attn_scores", 0, 2, 1, by=1.0)),
        ("second-operand-uniform", nudge("5x0", "probs", 2, 3, by=0.5)),
        ("shared-prefix-same-gradient", gradient("7x9", 1, "blocks.0.attn.W_Q", by=1.0)),
        ("unread-tokens-untouched", weight("trained", "embed.W_E", "7", longer)),
        ("unused-positions-untouched", position_moved(task.MAX_INPUTS - 1)),
        ("other-head-reads-times", nudge("0x0", "blocks.0.attn.v", 1, 1, 3, by=1.0)),
        ("zero-is-used", source(1, 2, 0, "probability", 1.0, "0x0")),
        ("zero-is-used", source(1, 1, 2, "probability", 1.0, "7x0")),
    ],
)
def test_a_claim_does_not_look_beyond_what_it_says(
    snapshot: Snapshot, claim: str, change: Change
) -> None:
    doctor = Doctor(snapshot)
    change(doctor)
    assert PREDICATES[claim](doctor.world).holds


def test_what_shares_tell_is_counted_row_by_row(snapshot: Snapshot) -> None:
    doctor = Doctor(snapshot)
    table = doctor.document("evidence/interventions.json")
    before = table["full"]["of_problem"]["probability"]
    idle = agrees = harmless = least_read = without_looking = 0
    for layer, head in itertools.product(("layer_1", "layer_2"), ("head_1", "head_2")):
        sources = [table[layer][head]["row_3"][f"source_{of}"]["of_problem"] for of in range(4)]
        needed = []
        for place, whole in enumerate(before):
            share = {of: each["share"][place] for of, each in enumerate(sources)}
            lost = {of: whole - each["probability"][place] for of, each in enumerate(sources)}
            most_read = max(share, key=share.__getitem__)
            most_needed = max(lost, key=lost.__getitem__)
            least_read += lost[min(share, key=share.__getitem__)] > 1 / 2
            if lost[most_needed] < 0.01:
                idle += 1
                continue
            needed.append(most_needed)
            agrees += most_read == most_needed
            harmless += lost[most_read] < 0.01
        without_looking += max(map(needed.count, range(4)))
    assert PREDICATES["largest-share-misleads"](doctor.world).numbers == {
        "rows": 400,
        "idle": idle,
        "matter": 400 - idle,
        "agrees": agrees,
        "harmless": harmless,
        "least_read": least_read,
        "without_looking": without_looking,
    }


def test_every_claim_is_falsified_above() -> None:
    assert FALSIFIED.keys() == PREDICATES.keys()


def test_every_claim_has_its_text_and_every_text_its_claim() -> None:
    texts = yaml.safe_load((ROOT / "content/claims.yml").read_text(encoding="utf-8"))
    assert texts["claim"].keys() == {*PREDICATES, *tables.PREDICATES}
    assert all(text.keys() == {"zh", "en"} for text in texts["claim"].values())


def test_the_floor_of_the_loss_is_that_of_the_best_possible_guesses() -> None:
    """After each prefix the best guess is the distribution of what follows it."""
    following: dict[tuple[str, ...], list[str]] = {}
    for problem in task.PROBLEMS:
        for target in problem.targets:
            prefix = problem.tokens[: target.position + 1]
            following.setdefault(prefix, []).append(target.target)
    losses = [
        -math.log(tokens.count(token) / len(tokens))
        for tokens in following.values()
        for token in tokens
    ]
    assert math.isclose(sum(losses) / len(losses), task.LOSS_FLOOR)
