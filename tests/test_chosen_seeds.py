"""Seeds that readers can choose are listed in `site.yml`, and come from the stored tables."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from builder.cli import main
from builder.code import SourceCode
from builder.content.loader import load_site
from builder.errors import BuildError, Diagnostics
from builder.evidence.chosen import ChosenSeeds
from builder.evidence.tables import CENSUS, SEEDS
from builder.stages import Stored
from model.config import Preset
from model.packed import unpacked
from model.train import initial_weights
from tests.other_site import OTHER_SEED
from tests.projects import ROOT, substitute
from tests.site_build import BuiltSite
from tests.tables import content
from tests.trained_models import PRESET


def chosen(*seeds: int, problems: tuple[str, ...] = (), preset: Preset = PRESET) -> dict[str, Any]:
    """What pages get, where tables have problems."""
    from model.encoding import encode

    files = {table.snapshot_path: encode(content(table.name)) for table in (SEEDS, CENSUS)}
    facts = {"problems": [[name, "something"] for name in problems]}
    tables = Stored(files, facts, digest="tables")
    return dict(ChosenSeeds(preset, SourceCode(ROOT), seeds, tables).result().facts)


def test_a_seed_has_its_weights_figures_and_claims() -> None:
    (found,) = chosen(OTHER_SEED).values()
    record = content("seeds")[str(OTHER_SEED)]
    assert found["trained"] == record["weights"]
    start = initial_weights(PRESET.model, OTHER_SEED)
    initial = unpacked(found["initial"], PRESET.model)
    assert all(np.array_equal(initial[key], start[key]) for key in start)
    assert found["figures"]["seed"] == OTHER_SEED
    assert found["figures"]["final_loss"] == record["final_loss"]
    assert found["figures"]["steps"] == PRESET.training.steps
    census = content("census")
    assert list(found["claims"]) == list(census["claims"])
    for claim, verdict in found["claims"].items():
        assert verdict["holds"] == (OTHER_SEED not in census["claims"][claim]["fails_for"])
        assert verdict["numbers"] == census["of_seed"][str(OTHER_SEED)][claim]


def test_the_sites_own_seed_is_not_among_the_others() -> None:
    assert list(chosen(8, 3, 9)) == ["3", "9"]
    assert list(chosen(8, 3, 9, preset=PRESET.override(seed=3))) == ["8", "9"]
    assert chosen(8) == chosen() == {}


def test_weights_of_another_recipe_are_not_to_choose() -> None:
    assert chosen(3, 9, problems=(SEEDS.name,)) == {}


def test_a_census_of_other_code_says_nothing_of_claims() -> None:
    found = chosen(3, problems=(CENSUS.name,))
    assert found["3"]["claims"] == {}
    assert found["3"]["trained"]


def test_a_seed_without_stored_weights_is_one_message() -> None:
    with pytest.raises(BuildError) as refused:
        chosen(8, 12345)
    (problem,) = refused.value.diagnostics
    assert problem.message == "no weights are stored for seed 12345"
    assert problem.hint.startswith("take `12345` out, or train it with ")


def test_a_seed_without_stored_weights_is_told_on_its_own_line(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = substitute(project / "content/site.yml", "\n  - 26 ", "\n  - 12345 ") + 1
    assert main(["build", "--quiet"]) == 1
    said = capsys.readouterr().err
    assert said.startswith(
        f"content/site.yml:{line}:5: error: no weights are stored for seed 12345"
    )
    assert "\n    - 12345 " in said


def test_the_list_covers_what_the_census_denies() -> None:
    """What the comment in `site.yml` says of the list."""
    site = load_site(ROOT / "content", Diagnostics())
    claims = content("census")["claims"]
    often = {claim: set(found["fails_for"]) for claim, found in claims.items()}
    often = {claim: seeds for claim, seeds in often.items() if len(seeds) > 3}
    assert len(often) > 5
    assert all(seeds & set(site.seeds) for seeds in often.values())
    n_failing = {
        seed: sum(seed in found["fails_for"] for found in claims.values())
        for seed in content("census")["seeds"]
    }
    assert max(n_failing, key=n_failing.__getitem__) in site.seeds
    counted = r"^  - (\d+) +# .*?(three|five|seven|fourteen)(?: claims)? (?:do|fail)"
    comments = dict(re.findall(counted, _config(), re.MULTILINE))
    words = {"three": 3, "five": 5, "seven": 7, "fourteen": 14}
    assert {int(seed): words[word] for seed, word in comments.items()} == {
        seed: n_failing[seed] for seed in site.seeds if seed != PRESET.training.seed
    }


def _config() -> str:
    return (ROOT / "content/site.yml").read_text(encoding="utf-8")


def test_a_site_of_another_seed_lists_its_own_first(other_site: BuiltSite) -> None:
    page = (other_site.folder / "index.html").read_text(encoding="utf-8")
    (seeds,) = re.findall(r'data-seeds="([^"]*)"', page)
    listed = load_site(ROOT / "content", Diagnostics()).seeds
    others = [seed for seed in listed if seed != OTHER_SEED]
    assert seeds.split() == [str(seed) for seed in (OTHER_SEED, *others)]
