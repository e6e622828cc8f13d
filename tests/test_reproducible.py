"""One seed, one model, one set of numbers: whatever the instruction set and the threads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reproduced_run
from numpy.typing import NDArray

BEST = None  # ATEN_CPU_CAPABILITY unset: the best instructions that this machine has
SETTINGS = [("default", 1), ("default", 2), (BEST, 1), (BEST, 2)]

Numbers = dict[str, NDArray[np.float64]]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[dict[str, Any], Numbers]]:
    """Headline figures and rounded numbers of a whole run under each setting."""
    folder = tmp_path_factory.mktemp("runs")
    return [run_apart(folder / f"{i}.npz", *setting) for i, setting in enumerate(SETTINGS)]


def run_apart(out: Path, capability: str | None, threads: int) -> tuple[dict[str, Any], Numbers]:
    environment = {k: v for k, v in os.environ.items() if k != "ATEN_CPU_CAPABILITY"}
    environment["OMP_WAIT_POLICY"] = "PASSIVE"  # spinning threads crawl where others need the CPU
    if capability:
        environment["ATEN_CPU_CAPABILITY"] = capability
    command = [sys.executable, reproduced_run.__file__, str(out), str(threads)]
    subprocess.run(command, env=environment, check=True)
    with np.load(out) as archive:
        numbers = {name: archive[name] for name in archive.files if name != "summary"}
        return json.loads(str(archive["summary"])), numbers


def test_the_runs_use_the_instructions_they_were_told_to(runs: list[Any]) -> None:
    used = [summary["capability"] for summary, _ in runs]
    assert used[:2] == ["DEFAULT", "DEFAULT"]
    assert used[2] == used[3]


def test_every_run_ends_with_the_same_weights(runs: list[Any]) -> None:
    digests = [summary["sha256"] for summary, _ in runs]
    for before, after in pairwise(digests):
        assert before == after
    assert digests[0]["initial"] != digests[0]["trained"]


def test_every_run_learns_the_whole_table_with_room_for_noise(runs: list[Any]) -> None:
    for summary, _ in runs:
        assert summary["correct"] == 100
        assert summary["loss"] < 0.42
        assert summary["margin"] >= 1e-14


def test_every_run_writes_the_same_numbers(runs: list[Any]) -> None:
    (_, expected), *others = runs
    assert sum(values.size for values in expected.values()) > 3_900_000
    for setting, (_, found) in zip(SETTINGS[1:], others, strict=True):
        assert list(found) == list(expected)
        differ = {n: int((found[n] != expected[n]).sum()) for n in expected}
        differ = {name: count for name, count in differ.items() if count}
        assert not differ, (
            f"{sum(differ.values())} numbers of {setting} differ from {SETTINGS[0]}, "
            f"the first in {next(iter(differ))}"
        )
