"""Tables of evidence fit their code, are read by builds, and say so where they do not fit."""

from __future__ import annotations

import base64
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from builder.claims import tables
from builder.claims.predicates import PREDICATES
from builder.cli import main
from builder.code import SourceCode
from builder.compute import Computer
from builder.errors import UsageError
from builder.evidence.fingerprint import fingerprint, without_words
from builder.evidence.seed_claims import claims_of_seeds, table
from builder.evidence.stored import StoredTables, warnings
from builder.evidence.tables import CONTROLS, INTERVENTIONS, TABLES, read_table, write_table
from builder.numbers.address import AddressError
from builder.numbers.lookup import Numbers
from builder.progress import Progress
from builder.stages import Cache
from model.config import Preset
from model.encoding import encode, weights_sha256
from model.packed import packed, unpacked
from model.snapshot import Snapshot
from tests.projects import ROOT, substitute
from tests.site_build import BuiltSite
from tests.tables import STORED, content, put
from tests.trained_models import CONFIG, PRESET, weights

SOURCE = SourceCode(ROOT)


def reader(folder: Path = STORED, preset: Preset = PRESET, digest: str = "") -> StoredTables:
    own = weights_sha256({k: w.astype(np.float32) for k, w in weights("trained").items()}, CONFIG)
    return StoredTables(preset, SOURCE, folder, digest or own)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the stored tables."""
    return Path(shutil.copytree(STORED, tmp_path / "model" / "tables"))


# --- what is stored fits --------------------------------------------------------------------


def test_every_stored_table_was_made_by_the_code_that_is_here() -> None:
    result = reader().result()
    assert result.facts["problems"] == []
    assert set(result.files) == {f"evidence/{table.name}.json" for table in TABLES}


def test_a_site_has_every_table_under_the_contract(site: BuiltSite) -> None:
    listed = {file["path"]: file for file in site.snapshot.manifest["files"]}
    for one in TABLES:
        data = (site.folder / "snapshots" / one.snapshot_path).read_bytes()
        assert listed[one.snapshot_path]["bytes"] == len(data)
        assert data == encode(content(one.name))


def test_the_claims_of_the_sites_own_seed_are_those_of_the_census(site: BuiltSite) -> None:
    seed = str(site.snapshot.manifest["training"]["seed"])
    own = {claim["id"]: claim for claim in site.snapshot.document("claims.json")["claims"]}
    assert own.keys() == {*PREDICATES, *tables.PREDICATES}
    assert content("census")["of_seed"][seed] == {id_: own[id_]["numbers"] for id_ in PREDICATES}
    assert int(seed) in content("census")["all_hold_for"]
    record = content("seeds")[seed]
    training = site.snapshot.manifest["training"]
    assert {name: training[name] for name in record if name != "weights"} == {
        name: value for name, value in record.items() if name != "weights"
    }


# --- the census -----------------------------------------------------------------------------


def test_the_census_counts_at_least_64_seeds_and_every_claim() -> None:
    census = content("census")
    assert census["n_seeds"] == len(census["seeds"]) >= 64
    assert list(census["claims"]) == list(PREDICATES)
    assert list(map(str, census["seeds"])) == list(content("seeds")) == list(census["of_seed"])
    for claim in census["claims"].values():
        assert claim["holds"] + len(claim["fails_for"]) == census["n_seeds"]
        assert set(claim["fails_for"]) <= set(census["seeds"])
    failing = {seed for claim in census["claims"].values() for seed in claim["fails_for"]}
    assert census["all_hold_for"] == sorted(set(census["seeds"]) - failing)


def test_claims_of_two_seeds_are_recomputed_from_their_stored_weights() -> None:
    """One for which the story holds, and one for which it does not."""
    census, records = content("census"), content("seeds")
    failing = census["claims"]["head-follows-zero"]["fails_for"]
    seeds = [census["all_hold_for"][0], failing[0]]
    found = claims_of_seeds(PRESET, {str(seed): records[str(seed)] for seed in seeds})
    for seed in seeds:
        results = found[str(seed)]
        assert {r["id"]: r["numbers"] for r in results} == census["of_seed"][str(seed)]
        for result in results:
            fails_for = census["claims"][result["id"]]["fails_for"]
            assert result["holds"] == (seed not in fails_for), (seed, result["id"])


def test_stored_weights_decide_and_not_what_is_said_of_them() -> None:
    """The weights of another seed under a seed's name give that one's numbers."""
    census, records = content("census"), content("seeds")
    failing = str(census["claims"]["head-follows-zero"]["fails_for"][0])
    swapped = {"8": {**records["8"], "weights": records[failing]["weights"]}}
    (results,) = claims_of_seeds(PRESET, swapped).values()
    by_id = {result["id"]: result for result in results}
    assert not by_id["head-follows-zero"]["holds"]
    assert by_id["head-follows-zero"]["numbers"] == census["of_seed"][failing]["head-follows-zero"]


def test_a_table_of_claims_is_counted_from_their_results() -> None:
    def results(first: bool, second: bool) -> list[dict[str, Any]]:
        return [
            {"id": "one", "holds": first, "numbers": {"n": 1}},
            {"id": "two", "holds": second, "numbers": {}},
        ]

    found = table({"10": results(True, True), "9": results(True, False)})
    assert found == {
        "n_seeds": 2,
        "seeds": [9, 10],
        "claims": {
            "one": {"holds": 2, "fails_for": []},
            "two": {"holds": 1, "fails_for": [9]},
        },
        "all_hold_for": [10],
        "of_seed": {"9": {"one": {"n": 1}, "two": {}}, "10": {"one": {"n": 1}, "two": {}}},
    }


def test_weights_are_packed_and_come_back() -> None:
    own = {key: weight.astype(np.float32) for key, weight in weights("trained").items()}
    text = packed(own, CONFIG)
    assert text == content("seeds")["8"]["weights"]
    for key, weight in unpacked(text, CONFIG).items():
        np.testing.assert_array_equal(weight, own[key])
    with pytest.raises(ValueError, match="weights instead of 3136"):
        unpacked(base64.b64encode(b"1234").decode(), CONFIG)
    with pytest.raises(ValueError):
        unpacked("§" + text[1:], CONFIG)


# --- what no longer fits --------------------------------------------------------------------

OTHER = "this table was made by other code, sizes, recipe or weights than are here now"
OF_CENSUS = f"{OTHER}; the weights are those in model/tables/seeds.json"


def problems(folder: Path, **given: Any) -> dict[str, str]:
    return dict(reader(folder, **given).result().facts["problems"])


def change(folder: Path, name: str, edit: Callable[[Any], None]) -> None:
    path = folder / f"{name}.json"
    document = json.loads(path.read_bytes())
    edit(document)
    path.write_bytes(encode(document))


def test_another_recipe_makes_every_table_old() -> None:
    found = problems(STORED, preset=PRESET.override(steps=601))
    assert found == {
        **dict.fromkeys(("controls", "held-out", "seeds"), OTHER),
        "census": OF_CENSUS,
    }


def test_another_seed_makes_only_the_interventions_another_matter() -> None:
    result = reader(preset=PRESET.override(seed=11), digest=other_digest()).result()
    assert result.facts["problems"] == []
    assert INTERVENTIONS.snapshot_path not in result.files


def other_digest() -> str:
    record = content("seeds")["11"]
    return weights_sha256(unpacked(record["weights"], CONFIG), CONFIG)


def test_weights_that_are_not_those_of_this_training_are_noticed() -> None:
    assert problems(STORED, digest="0" * 64) == {
        "seeds": "the weights stored for seed 8 are not those that this training has made"
    }


def test_a_census_of_other_weights_is_noticed(folder: Path) -> None:
    def swap(document: Any) -> None:
        records = document["table"]
        records["1"], records["2"] = records["2"], records["1"]

    change(folder, "seeds", swap)
    assert problems(folder) == {"census": OF_CENSUS}


DAMAGED = "this table of evidence is damaged: "


def cut_short(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


@pytest.mark.parametrize(
    ("name", "spoil", "says"),
    [
        *((table.name, cut_short, "line ") for table in TABLES),
        ("controls", put("table", value=[1]), "`controls.table` is [1], not a mapping"),
        ("controls", put("table", "uniform", "loss", value="0"), "uniform.loss` is '0', not a num"),
        (
            "controls",
            put("table", "uniform", "of_seed", "seed", 3, value={}),
            "seed[3]` is {}, not",
        ),
        ("held-out", put("table", "of_split", 0, "right", value=...), "[0]` has no `right`"),
        ("held-out", put("table", "mean", value=float("nan")), "mean` is nan, not a number"),
        ("recall", put("table", "full", "solved", value=True), "solved` is True, not a whole"),
        ("interventions", put("table", "full", value=...), "`interventions.table` has no `full`"),
        ("seeds", put("table", "8", value=None), "`seeds.table.8` is None, not a mapping"),
        ("seeds", put("table", "8", "weights", value=...), "`seeds.table.8` has no `weights`"),
        ("seeds", put("table", "8", "weights", value=3), "weights` is 3, not a text"),
        ("census", put("table", "claims", value=[]), "`census.table.claims` is [], not a mapping"),
        ("census", put("table", "claims", "all-correct", "holds", value=1.5), "holds` is 1.5, not"),
        ("controls", put("table", "no_mlp", value=...), "`controls.table` has no `no_mlp`"),
        ("recall", put("table", value={}), "`recall.table` has no `full`"),
        (
            "census",
            put("table", "claims", "zero-is-used", value=...),
            "`census.table.claims` has no `zero-is-used`",
        ),
        (
            "census",
            put("table", "claims", "head-follows-zero", "holds", value=60),
            "claims.head-follows-zero` holds for 60 seeds and fails for 34, of 64",
        ),
        ("census", put("table", "n_seeds", value=63), "seeds` lists 64 seeds, not 63"),
        (
            "census",
            put("table", "claims", "head-follows-zero", "fails_for", 0, value=64),
            "fails_for` lists 64, which is none of its seeds",
        ),
        ("census", put("table", "all_hold_for", value=[1]), "is not the seeds for which no claim"),
        ("census", put("table", "of_seed", "3", value=...), "`census.table.of_seed` has other se"),
        ("census", put("fingerprint", value=7), "`census.fingerprint` is 7, not a text"),
    ],
)
def test_a_damaged_table_is_named_with_what_is_wrong_and_what_mends_it(
    folder: Path, name: str, spoil: Callable[[Path], None], says: str
) -> None:
    spoil(folder / f"{name}.json")
    result = reader(folder).result()
    (table,) = (table for table in TABLES if table.name == name)
    assert table.snapshot_path not in result.files
    if name == "interventions":
        with pytest.raises(ValueError, match=re.escape(says)):
            read_table(table, folder)
        return  # a build makes it anew without a word: it takes a second
    found = {warning.path: warning for warning in warnings(result.facts["problems"])}
    warning = found[f"model/tables/{name}.json"]
    assert warning.message.startswith(DAMAGED)
    assert says in warning.message
    assert f"`python -m builder {table.command}` makes it anew" in warning.hint


@pytest.mark.parametrize(("seed", "text"), [("8", "!!"), ("26", "!!"), ("26", "AAAAAA==")])
def test_weights_of_a_seed_that_are_no_model_are_named_alone(
    folder: Path, seed: str, text: str
) -> None:
    put("table", seed, "weights", value=text)(folder / "seeds.json")
    ((name, said),) = problems(folder).items()
    assert name == "seeds"
    assert said.startswith(f"the weights stored for seed {seed} are damaged: ")


def test_other_weights_of_a_seed_name_the_file_that_has_them(folder: Path) -> None:
    other = content("seeds")["27"]["weights"]
    put("table", "26", "weights", value=other)(folder / "seeds.json")
    assert problems(folder) == {"census": OF_CENSUS}


# --- what a build says of a table that is not there ------------------------------------------


@pytest.fixture
def tables_of_build(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Tables that builds read in place of the stored ones."""
    monkeypatch.setattr(Computer, "evidence_folder", folder)
    return folder


@pytest.mark.parametrize(
    ("command", "name", "spoil", "says"),
    [
        ("build", "census", cut_short, "is damaged: "),
        ("build", "controls", put("table", "full", value=...), "has no `full`"),
        ("lock", "recall", lambda path: path.write_text("[1,2]"), "is damaged: "),
        ("build", "held-out", Path.unlink, "is not there"),
    ],
)
def test_a_table_that_claims_need_is_one_error_in_its_own_file(
    project: Path,  # noqa: ARG001
    tables_of_build: Path,
    command: str,
    name: str,
    spoil: Callable[[Path], None],
    says: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    spoil(tables_of_build / f"{name}.json")
    assert main([command, "--quiet"]) == 1
    first, hint, *more = capsys.readouterr().err.splitlines()
    assert first.startswith(f"model/tables/{name}.json: error: this table of evidence ")
    assert says in first
    assert "makes it anew" in hint
    assert more == []


def test_without_stored_seeds_there_is_a_site_with_a_warning(
    project: Path,  # noqa: ARG001
    tables_of_build: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tables_of_build / "seeds.json").unlink()
    assert main(["build", "--quiet"]) == 0
    said = capsys.readouterr().err
    assert said.startswith("model/tables/seeds.json: warning: this table of evidence is not there")
    assert "error" not in said


def test_a_claim_that_a_table_denies_is_not_laid_to_the_seed(
    project: Path,  # noqa: ARG001
    tables_of_build: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    put("table", "no_mlp", "all_correct", value=1)(tables_of_build / "controls.json")
    assert main(["build", "--quiet"]) == 1
    said = capsys.readouterr().err
    assert "the claim `mlp-missed` does not hold: " in said
    (hint,) = (line for line in said.splitlines() if "hint: change what stands at " in line)
    assert hint.endswith(
        ": so says model/tables/controls.json, which `python -m builder evidence controls` makes, "
        "for any seed of the site"
    )
    assert "or the seed" not in said


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"table": {}}', b'{"fingerprint": "x"}'])
def test_a_damaged_table_is_one_warning_and_left_out(folder: Path, data: bytes) -> None:
    (folder / "controls.json").write_bytes(data)
    result = reader(folder).result()
    ((name, message),) = result.facts["problems"]
    assert name == "controls"
    assert "is damaged" in message
    assert CONTROLS.snapshot_path not in result.files


def test_a_missing_table_is_one_warning_that_says_how_to_make_it(folder: Path) -> None:
    (folder / "census.json").unlink()
    (warning,) = warnings(reader(folder).result().facts["problems"])
    assert warning.severity == "warning"
    assert warning.path == "model/tables/census.json"
    assert "`python -m builder census`" in warning.hint


def test_a_strict_build_refuses_tables_that_do_not_fit(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    preset = "  preset: multiplication\n"
    substitute(project / "content/site.yml", preset, f"{preset}  steps: 601\n")
    assert main(["build", "--strict", "--quiet"]) == 1
    assert "[stale-evidence]" in capsys.readouterr().err


def test_interventions_in_another_model_are_computed_by_its_build(tmp_path: Path) -> None:
    computer = Computer(PRESET.override(seed=11), Cache(tmp_path), SOURCE, Progress(is_quiet=True))
    made = computer._tables(computer.train())
    (own,) = (part for part in made if INTERVENTIONS.snapshot_path in part.files)
    found = json.loads(own.files[INTERVENTIONS.snapshot_path])
    assert found["full"]["correct"] == 100
    stored = content("interventions")
    assert found["layer_1"]["head_1"] != stored["layer_1"]["head_1"]
    assert found.keys() == stored.keys()


def test_a_table_is_not_written_over_something_else(tmp_path: Path) -> None:
    folder = tmp_path / "model" / "tables"
    with pytest.raises(UsageError):
        write_table(CONTROLS, folder, "x", {})
    (folder / "controls.json").mkdir(parents=True)
    with pytest.raises(UsageError):
        write_table(CONTROLS, folder, "x", {})


# --- fingerprints ---------------------------------------------------------------------------

CODE = '''"""Words
of two lines."""

import os  # why


class A:
    """More."""

    text = "kept # this too"  # not this

    def b(self) -> str:
        """数。"""
        return """kept"""
'''
ESSENCE = '''import os
class A:
    text = "kept # this too"
    def b(self) -> str:
        return """kept"""'''


def test_code_without_words_is_all_that_decides() -> None:
    assert without_words(CODE) == ESSENCE


def test_a_fingerprint_changes_with_code_sizes_and_recipe_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(ROOT / "model", tmp_path / "model", ignore=shutil.ignore_patterns("tables"))
    train = tmp_path / "model/train.py"
    text = train.read_text("utf-8")

    def now(preset: Preset = PRESET, subject: str = "") -> str:
        return fingerprint(SourceCode(tmp_path), ("model.controls",), preset, subject)

    first = now()
    assert first == fingerprint(SOURCE, ("model.controls",), PRESET, "")
    train.write_text(text.replace('"""Train a model', '# why\n    """Learn a model'), "utf-8")
    assert now() == first
    assert now(PRESET.override(seed=5)) == first
    train.write_text(text.replace("0.0)", "1.0)"), "utf-8")
    assert now() != first
    train.write_text(text, "utf-8")
    others = [now(PRESET.override(steps=599)), now(PRESET.override(d_mlp=65)), now(subject="x")]
    monkeypatch.setattr("builder.evidence.fingerprint.STEP_RATE", 0.02)
    others.append(now())
    assert len({first, *others}) == 5


# --- numbers by address ---------------------------------------------------------------------


def numbers(site: BuiltSite) -> Numbers:
    return Numbers(site.snapshot, {}, {})


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("evidence.controls.uniform.correct", ("controls", "uniform", "correct")),
        ("evidence.controls.no_attention.loss", ("controls", "no_attention", "loss")),
        ("evidence.held-out.mean", ("held-out", "mean")),
        ("evidence.census.n_seeds", ("census", "n_seeds")),
        (
            "evidence.census.claims.head-follows-zero.holds",
            ("census", "claims", "head-follows-zero", "holds"),
        ),
        ("evidence.seeds.8.final_loss", ("seeds", "8", "final_loss")),
        (
            "evidence.interventions.layer_1.head_2.row_3.source_2.probability",
            ("interventions", "layer_1", "head_2", "row_3", "source_2", "probability"),
        ),
    ],
)
def test_a_number_of_a_table_has_an_address(
    site: BuiltSite, address: str, path: tuple[str, ...]
) -> None:
    found = content(path[0])
    for name in path[1:]:
        found = found[name]
    assert numbers(site).value(address, "trained", "7x8").number == found


def test_an_entry_of_a_list_has_an_address_too(site: BuiltSite) -> None:
    address = "evidence.controls.one_layer.of_seed.correct[3]"
    expected = content("controls")["one_layer"]["of_seed"]["correct"][3]
    assert numbers(site).value(address, "trained", "7x8").number == expected


@pytest.mark.parametrize(
    ("address", "hint"),
    [
        ("evidence.control.uniform.correct", "`controls`"),
        ("evidence.controls.unifrom.correct", "`uniform`"),
        ("evidence", ""),
    ],
)
def test_a_number_that_no_table_has_is_refused(site: BuiltSite, address: str, hint: str) -> None:
    with pytest.raises(AddressError) as refused:
        numbers(site).value(address, "trained", "7x8")
    assert refused.value.rule == "unknown-number"
    assert hint in refused.value.hint


def test_an_address_in_a_snapshot_without_tables_says_so(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_bytes(encode({"schema": 1, "files": []}))
    with pytest.raises(AddressError, match="no table of evidence `census`"):
        Numbers(Snapshot(tmp_path), {}, {}).value("evidence.census.n_seeds", "trained", "7x8")
