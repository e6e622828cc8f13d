"""Figures of evidence in the built page: every number is the stored table's, and none is missing.

The page is read as text, and compared with the snapshot's JSON by arithmetic of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model import task
from tests import stored
from tests.site_build import BuiltSite

PAGE = "evidence.html"
CHANGES = ("ablated", "uniform", "own_mean", "another_problem")
MINUS = "−"

VALUE = re.compile(
    r'<span class="value" data-address="(evidence\.[^"]*)"[^>]*?data-value="([^"]*)"[^>]*>([^<]*)<'
)


@cache
def text(site: Path, page: str = PAGE) -> str:
    return (site / page).read_text("utf-8")


def part(site: BuiltSite, kind: str) -> str:
    """The figures of a class, one after the other."""
    found = re.findall(
        rf'<figure class="evidence {kind}[ "].*?</figure>', text(site.folder), re.DOTALL
    )
    assert found, kind
    return "".join(found)


def table(site: BuiltSite, name: str) -> Any:
    return stored.read(site.folder, f"evidence/{name}.json")


def at(site: BuiltSite, address: str) -> Any:
    """What stands at an address, found by its names alone."""
    _, name, *path = re.sub(r"\[(-?\d+)\]$", r".\1", address).split(".")
    found = table(site, name)
    for step in path:
        found = found[int(step)] if isinstance(found, list) else found[step]
    return found


def shown_as(value: float, shown: str) -> bool:
    """Whether a text is a number, rounded to the decimals that it has."""
    plain = shown.replace(",", "").replace(MINUS, "-")
    if plain.endswith("%"):
        value, plain = 100 * value, plain[:-1]
    decimals = len(plain.partition(".")[2])
    return abs(float(plain) - value) <= 0.5 * 10**-decimals + 1e-9


def cells(row: str) -> list[str]:
    """What a reader sees in the cells of a row, its head first."""
    found = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)
    return [" ".join(unescape(re.sub(r"<[^>]*>", "", cell)).split()) for cell in found]


def test_every_number_with_an_address_in_a_table_of_evidence_is_that_of_the_file(
    site: BuiltSite,
) -> None:
    found = [
        (page.name, *value)
        for page in site.pages
        for value in VALUE.findall(page.read_text("utf-8"))
    ]
    assert len(found) > 200
    for page, address, value, shown in found:
        expected = at(site, unescape(address))
        assert float(value) == expected, (page, address)
        assert shown_as(expected, shown), (page, address, shown)


def test_a_control_is_a_line_with_all_its_figures(site: BuiltSite) -> None:
    figure = part(site, "controls")
    rows = re.findall(r'<tr data-control="([^"]*)">(.*?)</tr>', figure, re.DOTALL)
    controls = table(site, "controls")
    assert [name for name, _ in rows] == list(controls)
    assert len(controls) == 10
    for name, row in rows:
        of = controls[name]
        assert of["seeds"] >= 20
        _, parameters, solved, correct, loss, steps, *_ = cells(row)
        assert parameters == f"{of['parameters']:,}"
        assert solved == f"{of['all_correct']}/{of['seeds']}"
        ends = f" {of['fewest']}–{of['most']}" if of["fewest"] < of["most"] else ""
        assert correct == f"{of['correct']}{ends}"
        assert shown_as(of["loss"], loss)
        assert steps == "–" if of["steps"] is None else float(steps) == of["steps"]


def test_every_seed_of_a_control_is_a_dot_where_it_got_all_right_or_a_ring(site: BuiltSite) -> None:
    figure = part(site, "controls")
    last = int(re.findall(r'<span style="--x:1.00">(\d+)</span>', figure)[0])
    for name, row in re.findall(r'<tr data-control="([^"]*)">(.*?)</tr>', figure, re.DOTALL):
        seeds = table(site, "controls")[name]["of_seed"]
        dots = re.findall(r'<i style="--x:([\d.]+);--y:(\d+)" title="\D*(\d+)\D+([\d,]+)', row)
        reached = {
            s: n for s, n in zip(seeds["seed"], seeds["steps"], strict=True) if n is not None
        }
        assert {int(seed): int(step) for _, _, seed, step in dots} == reached
        for x, _, _, step in dots:
            assert abs(float(x) - int(step) / last) <= 0.0005
        assert len({(x, y) for x, y, *_ in dots}) == len(dots), "no dot hides another"
        rings = re.findall(r'<i title="\D*(\d+)\D+(\d+)', row)
        missed = {
            seed: correct
            for seed, correct, step in zip(
                *(seeds[k] for k in ("seed", "correct", "steps")), strict=True
            )
            if step is None
        }
        assert {int(seed): int(correct) for seed, correct in rings} == missed
        assert len(dots) + len(rings) == len(seeds["seed"])


def test_the_same_stands_in_a_table_seed_by_seed(site: BuiltSite) -> None:
    figure = part(site, "controls")
    (opened,) = re.findall(r"<details>.*?<tbody>(.*?)</tbody>", figure, re.DOTALL)
    controls = table(site, "controls")
    rows = re.findall(r"<tr>(.*?)</tr>", opened, re.DOTALL)
    assert len(rows) == 20
    for place, row in enumerate(rows):
        head, *found = cells(row)
        assert int(head) == place
        for name, shown in zip(controls, found, strict=True):
            steps, correct = (controls[name]["of_seed"][k][place] for k in ("steps", "correct"))
            assert shown == (f"{steps}" if steps is not None else f"{correct} 道")


def test_every_held_out_problem_is_a_mark_and_stands_in_the_table(site: BuiltSite) -> None:
    figure = part(site, "held-out")
    columns = re.findall(r'<span class="held-out-marks">(.*?)</span>(\d+)</div>', figure, re.DOTALL)
    splits = table(site, "held-out")["of_split"]
    rows = re.findall(r"<tr>(.*?)</tr>", figure.partition("<tbody>")[2], re.DOTALL)
    assert len(splits) >= 20
    for split, (marks, right), row in zip(splits, columns, rows, strict=True):
        assert int(right) == split["right"] == sum(split["problems"].values())
        drawn = re.findall(r'<i class="(\w+) (\w+)" title="(\d)×(\d) (.)">', marks)
        assert {f"{a}x{b}": mark == "✓" for _, _, a, b, mark in drawn} == split["problems"]
        for kind, state, a, b, mark in drawn:
            assert (kind == "zero") == ("0" in (a, b))
            assert (state == "right") == (mark == "✓")
        states = [state for _, state, *_ in drawn]
        assert states == sorted(states, reverse=True), "what is right stands below"
        head, known, asked = cells(row)
        assert (int(head), int(known)) == (split["split"], split["trained_right"])
        listed = re.findall(r"(\d)×(\d) (.)", asked)
        assert {f"{a}x{b}": mark == "✓" for a, b, mark in listed} == split["problems"]


def test_every_claim_about_a_model_is_counted_and_drawn_seed_by_seed(site: BuiltSite) -> None:
    figure = part(site, "census")
    rows = re.findall(r'<tr data-claim="([^"]*)">(.*?)</tr>', figure, re.DOTALL)
    census = table(site, "census")
    assert sorted(name for name, _ in rows) == sorted(census["claims"])
    seed = site.snapshot.manifest["training"]["seed"]
    counts = []
    for name, row in rows:
        of = census["claims"][name]
        _, shown, _ = cells(row)
        assert shown == f"{of['holds']}/{census['n_seeds']}"
        counts.append(of["holds"])
        paths = re.findall(r'<path (?:class="own" )?d="([^"]*)"', row)
        places = [int(place) for place in re.findall(r"M(\d+) 1h1", paths[0])]
        assert [census["seeds"][place] for place in places] == [
            one for one in census["seeds"] if one not in of["fails_for"]
        ]
        assert paths[1] == f"M{census['seeds'].index(seed)} 0h1v10h-1z"
        assert f"claim-{name}" in row
    assert counts == sorted(counts)


def all_changes(site: BuiltSite) -> Iterator[tuple[str, Any, int]]:
    """Every intervention: its name in the page, its figures, and the row that P is asked after."""
    found = table(site, "interventions")
    for layer in (0, 1):
        for head in (0, 1):
            of_layer = found[f"layer_{layer + 1}"]
            of_head = of_layer[f"head_{head + 1}"]
            for change in CHANGES:
                yield f"{layer}.{head}.{change}", of_head[change], 3
            for row in (3, 4):
                for source in range(row + 1):
                    name = f"{layer}.{head}.{row}_{source}"
                    yield name, of_head[f"row_{row}"][f"source_{source}"], row
            yield f"{layer}.{head}.without_attention", of_layer["without_attention"], 3


NAMES = dict(zip(CHANGES, ("摘掉", "平均表", "自己的平均", "别题的表"), strict=True))


@pytest.mark.parametrize("change", CHANGES)
def test_an_intervention_has_one_name_in_list_tables_and_choices(
    site: BuiltSite, change: str
) -> None:
    name, html = NAMES[change], text(site.folder)
    assert f"<strong>{name}</strong>" in html
    assert f">{name}</th>" in part(site, "effect-table")
    (choice,) = re.findall(rf'<option value="{change}"[^>]*>([^<]*)<', html)
    (line,) = re.findall(rf'<tr data-kind="{change}"><th scope="row">([^<]*)<', html)
    assert name in choice
    assert choice.startswith(line.removesuffix("："))


def before(site: BuiltSite, row: int) -> np.ndarray:
    """P of the right token after a row, from the traces."""
    found = []
    for problem in task.PROBLEMS:
        trace = stored.read(site.folder, f"traces/trained/{problem.name}.json")
        column = task.VOCAB.index(problem.tokens[row + 1])
        found.append(trace["values"]["probs"][row][column])
    return np.array(found)


def scripts_know(site: BuiltSite) -> Any:
    """What scripts load: every intervention, by name."""
    script = text(site.folder, "assets/effects.js")
    return json.loads(re.findall(r"\.effects = (.*);", script)[0])


def test_the_atlas_has_what_every_intervention_does_to_every_problem(site: BuiltSite) -> None:
    effects = scripts_know(site)
    expected = {name: (figures, row) for name, figures, row in all_changes(site)}
    assert effects.keys() == expected.keys()
    assert len(effects) == 2 * 2 * (4 + 4 + 5 + 1)
    at_first = {row: before(site, row) for row in (3, 4)}
    for name, effect in effects.items():
        figures, row = expected[name]
        left = np.array(figures["of_problem"]["probability"])
        change = 100 * (left - at_first[row])
        np.testing.assert_allclose(np.array(effect["change"]) / 100, change, atol=0.00501)
        if "share" in figures["of_problem"]:
            share = 100 * np.array(figures["of_problem"]["share"])
            np.testing.assert_allclose(np.array(effect["share"]) / 100, share, atol=0.00501)
        else:
            assert effect["share"] is None
        total = effect["total"]
        assert shown_as(figures["correct"], total["correct"])
        assert shown_as(at_first[row].mean(), total["before"])
        assert shown_as(figures["probability"], total["after"])


@pytest.mark.parametrize(("shows", "field"), [("share", "share"), ("change", "change")])
def test_without_scripts_the_atlas_shows_the_intervention_of_its_author(
    site: BuiltSite, shows: str, field: str
) -> None:
    page = text(site.folder)
    (written,) = re.findall(r'data-layer="(\d)" data-head="(\d)" data-change="(\w+)"', page)
    effect = scripts_know(site)[".".join(written)]
    (figure,) = re.findall(rf'<figure [^>]*data-shows="{shows}".*?</figure>', page, re.DOTALL)
    found = re.findall(r'<td data-value="([^"]*)"[^>]*>([^<]*)</td>', figure)
    assert [float(value) for value, _ in found] == [number / 100 for number in effect[field]]
    assert all(shown_as(float(value), shown) for value, shown in found)
    total = re.findall(r'<p class="effects-total">([^<]*)<', page)[0]
    assert all(number in total for number in effect["total"].values())


def test_the_tables_of_effects_have_every_intervention_once(site: BuiltSite) -> None:
    addresses = re.findall(
        r'data-address="evidence\.(interventions\.[^"]*)"', part(site, "effect-table")
    )
    known = table(site, "interventions")
    expected = []
    for layer in (1, 2):
        for head in (1, 2):
            at_head = f"interventions.layer_{layer}.head_{head}"
            expected += [f"{at_head}.{change}" for change in CHANGES]
            expected += [f"{at_head}.row_{r}.source_{s}" for r in (3, 4) for s in range(r + 1)]
        expected.append(f"interventions.layer_{layer}.without_attention")
    for name in ("correct", "probability"):
        found = [
            address.removesuffix(f".{name}") for address in addresses if address.endswith(name)
        ]
        assert sorted(found) == sorted(expected)
    shares = {address.removesuffix(".share") for address in addresses if address.endswith("share")}
    assert {one for one in expected if ".source_" in one} <= shares
    assert len(known["problems"]) == 100


def points(path: str) -> np.ndarray:
    """Shares and losses of the points of a path."""
    found = np.array(re.findall(r"M([\d.]+) ([\d.]+)h0", path), dtype=float)
    share = (found[:, 0] - 40) / 260
    lost = (186 - found[:, 1]) / 178 * 1.05 - 0.05
    return np.stack([share, lost], 1)


def test_every_source_of_every_problem_is_a_point(site: BuiltSite) -> None:
    panels = re.findall(
        r"<svg viewBox=\"0 0 320 210\".*?</svg>", part(site, "share-effect"), re.DOTALL
    )
    heads = [(layer, head) for layer in (1, 2) for head in (1, 2)]
    full = np.array(table(site, "interventions")["full"]["of_problem"]["probability"])
    here = task.PROBLEMS.index(task.BY_NAME["7x8"])
    for (layer, head), panel in zip(heads, panels, strict=True):
        of = table(site, "interventions")[f"layer_{layer}"][f"head_{head}"]["row_3"]
        each = [of[f"source_{source}"]["of_problem"] for source in range(4)]
        share = np.array([one["share"] for one in each]).T  # [problem source]
        lost = full[:, None] - np.array([one["probability"] for one in each]).T
        expected = np.stack([share.ravel(), lost.ravel()], 1)
        drawn = {
            kind: points(d)
            for kind, d in re.findall(r'<path class="(all|most|here)" d="([^"]*)"', panel)
        }
        np.testing.assert_allclose(drawn["all"], expected, atol=0.0004)
        most = np.arange(100) * 4 + share.argmax(1)
        np.testing.assert_allclose(drawn["most"], expected[most], atol=0.0004)
        np.testing.assert_array_equal(drawn["here"], drawn["all"][4 * here : 4 * here + 4])
        assert of["agrees"] == int((share.argmax(1) == lost.argmax(1)).sum())


def test_the_axes_of_the_panels_say_where_a_point_is(site: BuiltSite) -> None:
    panel = re.findall(
        r"<svg viewBox=\"0 0 320 210\".*?</svg>", part(site, "share-effect"), re.DOTALL
    )[0]
    across = re.findall(r'<text x="([\d.]+)" y="204"[^>]*>(\d+)%', panel)
    up = re.findall(r'<path class="grid" d="M40 ([\d.]+)H300"/><text x="34" [^>]*>(\d+)%', panel)
    for x, mark in across:
        assert points(f"M{x} 0h0")[0, 0] == pytest.approx(int(mark) / 100, abs=1e-6)
    for y, mark in up:
        assert points(f"M0 {y}h0")[0, 1] == pytest.approx(int(mark) / 100, abs=5e-4)
    assert [mark for _, mark in across] == [mark for _, mark in up] == ["0", "50", "100"]


LINKS = {
    "table-follows-input.html": {"evidence.html#seeds", "evidence.html#zero"},
    "scores.html": {"evidence.html#controls"},
    "values.html": {"evidence.html#controls", "evidence.html#share"},
    "limit.html": {"evidence.html#controls", "evidence.html#held-out", "evidence.html#zero"},
}
"""Where a chapter could mislead: the passage that corrects it."""


@pytest.mark.parametrize("page", LINKS)
def test_a_chapter_that_could_mislead_leads_to_what_corrects_it(site: BuiltSite, page: str) -> None:
    assert set(re.findall(r'href="(evidence\.html#[^"]*)"', text(site.folder, page))) >= LINKS[page]
