"""The commands `evidence` and `census`: what they compute again, and what they store."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from builder.cli import main
from builder.errors import UsageError
from builder.evidence.commands import seeds_of
from builder.evidence.tables import CENSUS, FOLDER, SEEDS, read_table
from builder.output.exclusive import exclusively
from builder.progress import Progress
from model.config import LARGEST_SEED
from tests.projects import ROOT, copy_project
from tests.tables import STORED, content, put


def test_seeds_are_listed_as_people_write_them() -> None:
    assert seeds_of("0-3") == [0, 1, 2, 3]
    assert seeds_of("7") == [7]
    assert seeds_of("9, 1-2,2") == [1, 2, 9]
    many = ",".join(f"{start}-{start + 4999}" for start in (0, 5000, 10000))
    assert len(seeds_of(many.rpartition(",")[0])) == 10_000


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ("", "a seed is missing"),
        ("1,,2", "a seed is missing"),
        ("a", "`a` is no seed and no range of seeds"),
        ("3,1-", "`1-` is no seed and no range of seeds"),
        ("-1", "`-1` is no seed and no range of seeds"),
        ("1.5", "`1.5` is no seed and no range of seeds"),
        ("0-3,5-2", "`5-2` runs backwards"),
        ("9" * 20, "is too large: seeds go up to "),
        (f"0-{LARGEST_SEED + 1}", "is too large: seeds go up to "),
        ("9" * 5000, "is too large: seeds go up to "),
        ("0-10000", "these are more seeds than 10,000"),
        (f"0-{LARGEST_SEED}", "these are more seeds than 10,000"),
        ("0-9999,10000", "these are more seeds than 10,000"),
    ],
)
def test_a_wrong_list_of_seeds_is_told_what_is_wrong(wrong: str, says: str) -> None:
    with pytest.raises(UsageError) as refused:
        seeds_of(wrong)
    assert says in refused.value.diagnostics[0].message
    assert len(refused.value.diagnostics[0].message) < 200


@pytest.mark.parametrize(
    "arguments",
    [["evidence", "contrls"], ["census", "--jobs", "0"], ["census", "--jobs", "1", "--dask", "x"]],
)
def test_a_wrong_command_line_is_refused(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "usage" in capsys.readouterr().err


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with its code and without stored evidence."""
    folder = copy_project(ROOT, tmp_path_factory.mktemp("checkout") / "project")
    shutil.rmtree(folder / ".cache", ignore_errors=True)
    for name in ("model", "builder"):
        ignored = shutil.ignore_patterns("__pycache__", "*.lock.json")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    shutil.rmtree(folder / FOLDER)
    return folder


def run(checkout: Path, *arguments: str) -> str:
    done = process(checkout, *arguments)
    assert done.returncode == 0, done.stderr
    if arguments[0] == "census":
        assert done.stdout.startswith(f"{FOLDER}/seeds.json and {FOLDER}/census.json: stored; ")
    return done.stderr


def process(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    return subprocess.run(
        [sys.executable, "-m", "builder", *arguments],
        cwd=checkout,
        env=environment,
        capture_output=True,
        text=True,
        timeout=500,
    )


def test_a_census_of_two_seeds_makes_again_what_is_stored_of_them(checkout: Path) -> None:
    said = run(checkout, "census", "--seeds", "3-4", "--jobs", "1")
    assert "training, 1 of 1 parts" in said
    assert "claims, 1 of 1 parts" in said
    seeds, census = (read_table(table, checkout / FOLDER).content for table in (SEEDS, CENSUS))
    assert seeds == {seed: content("seeds")[seed] for seed in ("3", "4")}
    for seed in ("3", "4"):
        assert census["of_seed"][seed] == content("census")["of_seed"][seed]

    again = run(checkout, "census", "--seeds", "3-4", "--jobs", "1")
    assert "training" not in again
    assert "claims" not in again
    shutil.rmtree(checkout / ".cache")
    stored = (checkout / FOLDER / "seeds.json").read_bytes()
    refused = process(checkout, "census", "--seeds", "4,5", "--jobs", "1")
    assert refused.returncode == 2
    path = f"{FOLDER}/seeds.json"
    assert f"1 of the seeds stored in {path} would be dropped, first 3" in refused.stderr
    assert "`--replace`" in refused.stderr
    assert (checkout / path).read_bytes() == stored
    from_weights = run(checkout, "census", "--seeds", "4", "--jobs", "1", "--replace")
    assert "training" not in from_weights, "its weights are stored"
    assert "claims, 1 of 1 parts" in from_weights
    assert read_table(CENSUS, checkout / FOLDER).content["seeds"] == [4]


def test_a_census_over_damaged_weights_says_so_and_trains_them_anew(checkout: Path) -> None:
    run(checkout, "census", "--seeds", "4", "--jobs", "1")
    put("table", "4", "weights", value="!!")(checkout / FOLDER / "seeds.json")
    said = run(checkout, "census", "--seeds", "4", "--jobs", "1")
    assert "seeds.json is damaged, all is trained anew: " in said
    assert read_table(SEEDS, checkout / FOLDER).content == {"4": content("seeds")["4"]}


def test_a_census_waits_for_a_build_and_a_build_for_a_census(checkout: Path) -> None:
    command = [sys.executable, "-m", "builder", "census", "--seeds", "4", "--jobs", "1"]
    with exclusively(Progress(is_quiet=True), checkout):
        waiting = subprocess.Popen(
            command,
            cwd=checkout,
            env={**os.environ, "PYTHONPATH": str(checkout)},
            stderr=subprocess.PIPE,
            text=True,
        )
        assert waiting.stderr
        assert "waiting for another build in " in waiting.stderr.readline()
        assert waiting.poll() is None
    waiting.communicate(timeout=300)
    assert waiting.returncode == 0


def test_interventions_are_stored_as_they_are(checkout: Path) -> None:
    run(checkout, "evidence", "interventions")
    stored = (checkout / FOLDER / "interventions.json").read_bytes()
    assert stored == (STORED / "interventions.json").read_bytes()
