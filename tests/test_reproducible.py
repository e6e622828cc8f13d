"""One seed, one model, one set of numbers: whatever the instruction set and the threads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
BEST = None  # ATEN_CPU_CAPABILITY unset: the best instructions that this machine has
SETTINGS = [("default", 1), ("default", 2), (BEST, 1), (BEST, 2)]


@dataclass(frozen=True)
class Apart:
    """What a run in a process of its own left behind."""

    setting: str
    folder: Path
    summary: dict[str, Any]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Apart]:
    return [run_apart(tmp_path_factory.mktemp("run"), *setting) for setting in SETTINGS]


def run_apart(folder: Path, capability: str | None, n_threads: int) -> Apart:
    environment = {k: v for k, v in os.environ.items() if k != "ATEN_CPU_CAPABILITY"}
    environment["OMP_WAIT_POLICY"] = "PASSIVE"  # spinning threads crawl where others need the CPU
    if capability:
        environment["ATEN_CPU_CAPABILITY"] = capability
    command = [sys.executable, "-m", "tests.reproduced_run", str(folder), str(n_threads)]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    summary = json.loads((folder / "summary.json").read_text())
    (folder / "summary.json").unlink()
    return Apart(f"{summary['capability']} with {n_threads} threads", folder, summary)


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.json"))


def differences(left: Any, right: Any, where: str) -> Iterator[str]:
    """Every number, text or length that two documents do not share."""
    if isinstance(left, dict) and isinstance(right, dict) and list(left) == list(right):
        for key in left:
            yield from differences(left[key], right[key], f"{where} {key}")
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for i, (a, b) in enumerate(zip(left, right, strict=True)):
            yield from differences(a, b, f"{where}[{i}]")
    elif left != right:
        yield f"{where}: {left} and {right}"


def test_the_runs_use_the_instructions_they_were_told_to(runs: list[Apart]) -> None:
    used = [run.summary["capability"] for run in runs]
    assert used[:2] == ["DEFAULT", "DEFAULT"]
    assert used[2] == used[3]


def test_every_run_ends_with_the_same_weights(runs: list[Apart]) -> None:
    first = runs[0].summary["sha256"]
    assert first["initial"] != first["trained"]
    for run in runs[1:]:
        assert run.summary["sha256"] == first, run.setting


def test_every_run_learns_the_whole_table_with_room_for_noise(runs: list[Apart]) -> None:
    for run in runs:
        assert run.summary["correct"] == 100
        assert run.summary["loss"] < 0.42
        assert min(run.summary["margins"]) >= 1e-14, "of the training and of the control's"


def test_every_run_writes_the_same_bytes(runs: list[Apart]) -> None:
    first = runs[0]
    assert len(files(first.folder)) > 400
    assert "evidence.json" in files(first.folder)
    assert first.summary["numbers"] > 3_900_000
    found: list[str] = []
    for run in runs[1:]:
        assert files(run.folder) == files(first.folder)
        for name in files(first.folder):
            pair = [(folder / name).read_bytes() for folder in (first.folder, run.folder)]
            if pair[0] != pair[1]:
                where = f"{first.setting} and {run.setting}: {name}"
                found += differences(*map(json.loads, pair), where) or [f"{where}: bytes"]
    assert not found, f"{len(found)} numbers differ, the first: {found[0]}"


def test_a_difference_between_documents_is_named() -> None:
    left = {"values": {"embed": [[1.0, 2.0]], "probs": [[0.5]]}}
    right = {"values": {"embed": [[1.0, 2.5]], "probs": [[0.5]]}}
    assert list(differences(left, right, "7x8")) == ["7x8 values embed[0][1]: 2.0 and 2.5"]
    assert list(differences(left, left, "7x8")) == []
