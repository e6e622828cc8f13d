"""The lock says whether the numbers are the accepted ones."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from builder.errors import UnreadableError, UsageError
from builder.lock import compare_with_lock, lock_of, write_lock

Manifest = dict[str, Any]

MANIFEST: Manifest = {
    "training": {
        "seed": 8,
        "steps": 600,
        "learning_rate": 0.01,
        "first_step_all_correct": 210,
        "final_loss": 0.4129,
        "correct": 100,
        "portability_margin": 3e-13,
    },
    "weights_sha256": {"initial": "aa", "trained": "bb"},
    "files": [
        {"path": "dataset.json", "sha256": "11", "bytes": 5, "numbers": 1},
        {"path": "training.json", "sha256": "22", "bytes": 5, "numbers": 1},
    ],
}


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    path = tmp_path / "snapshots.lock.json"
    write_lock(path, MANIFEST)
    return path


def test_the_lock_holds_digests_and_headline_figures(lock: Path) -> None:
    assert (
        json.loads(lock.read_text())
        == lock_of(MANIFEST)
        == {
            "weights_sha256": {"initial": "aa", "trained": "bb"},
            "headline": {
                "seed": 8,
                "steps": 600,
                "first_step_all_correct": 210,
                "final_loss": 0.4129,
                "correct": 100,
                "portability_margin": 3e-13,
            },
            "files": {"dataset.json": "11", "training.json": "22"},
        }
    )
    assert lock.read_text().endswith("}\n")


def test_the_same_numbers_are_equal(lock: Path) -> None:
    verdict = compare_with_lock(lock, copy.deepcopy(MANIFEST))
    assert verdict.is_equal
    assert verdict.line == "numbers: all 2 files equal model/snapshots.lock.json"


def change_file(manifest: Manifest) -> None:
    manifest["files"][1]["sha256"] = "33"


def add_file(manifest: Manifest) -> None:
    manifest["files"].append({"path": "extra.json", "sha256": "33"})


def remove_file(manifest: Manifest) -> None:
    del manifest["files"][0]


def change_weights(manifest: Manifest) -> None:
    manifest["weights_sha256"]["trained"] = "cc"


def change_headline(manifest: Manifest) -> None:
    manifest["training"]["portability_margin"] = 2e-13


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (change_file, "1 of 2 files differ from model/snapshots.lock.json, first training.json"),
        (add_file, "1 of 3 files differ from model/snapshots.lock.json, first extra.json"),
        (remove_file, "1 of 2 files differ from model/snapshots.lock.json, first dataset.json"),
        (change_weights, "0 of 2 files differ from model/snapshots.lock.json, first the headline"),
        (change_headline, "0 of 2 files differ from model/snapshots.lock.json, first the headline"),
    ],
)
def test_any_other_number_is_noticed(
    lock: Path, change: Callable[[Manifest], None], expected: str
) -> None:
    manifest = copy.deepcopy(MANIFEST)
    change(manifest)
    verdict = compare_with_lock(lock, manifest)
    assert not verdict.is_equal
    assert verdict.line.startswith(f"numbers: {expected}")
    assert "\n" not in verdict.line


def test_without_a_lock_nothing_is_equal(tmp_path: Path) -> None:
    verdict = compare_with_lock(tmp_path / "none.json", MANIFEST)
    assert not verdict.is_equal
    assert "no lock yet" in verdict.line


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"7",
        b'{"files": []}',
        b'{"files": 1}',
        b"{}",
        b"\xff",
        b"[" * 10**5,
    ],
)
def test_a_damaged_lock_is_one_message_with_a_way_out(lock: Path, damage: bytes) -> None:
    lock.write_bytes(damage)
    with pytest.raises(UnreadableError) as caught:
        compare_with_lock(lock, MANIFEST)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.path == str(lock)
    assert "the lock is damaged" in diagnostic.message
    assert "python -m builder lock" in diagnostic.hint
    assert caught.value.exit_code == 2


def test_a_pipe_in_place_of_the_lock_is_one_message_and_no_hang(lock: Path) -> None:
    lock.unlink()
    os.mkfifo(lock)
    with pytest.raises(UnreadableError):
        compare_with_lock(lock, MANIFEST)


def test_a_folder_in_place_of_the_lock_is_one_message(lock: Path) -> None:
    lock.unlink()
    lock.mkdir()
    with pytest.raises(UnreadableError):
        compare_with_lock(lock, MANIFEST)
    with pytest.raises(UsageError, match="cannot be written here"):
        write_lock(lock, MANIFEST)
    assert [path.name for path in lock.parent.iterdir()] == [lock.name]


def test_a_lock_without_its_folder_is_one_message(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written here"):
        write_lock(tmp_path / "model" / "lock.json", MANIFEST)
