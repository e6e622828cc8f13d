"""The cache finds what is unchanged, notices what is damaged, and survives company."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from builder.errors import BuildError
from builder.stages import KEPT_RESULTS, Cache, Event, Result, digest

INGREDIENTS = {"input": "1", "code": "2"}
RESULT = Result({"a.txt": b"first\nfile", "b.bin": bytes(range(256)), "empty": b""}, {"n": [1, 2]})


@pytest.fixture
def events() -> list[Event]:
    return []


@pytest.fixture
def cache(tmp_path: Path, events: list[Event]) -> Cache:
    return Cache(tmp_path / "cache", on_event=events.append)


def fail() -> Result:
    raise AssertionError("computed although it was stored")


def stored_files(cache: Cache) -> list[Path]:
    return [path for path in cache.folder.rglob("*") if path.is_file()]


def test_a_result_comes_back_whole_and_is_not_computed_again(
    cache: Cache, events: list[Event]
) -> None:
    made = cache.get("stage", INGREDIENTS, lambda: RESULT)
    found = cache.get("stage", dict(reversed(INGREDIENTS.items())), fail)
    assert found == made
    assert (found.files, found.facts) == (RESULT.files, RESULT.facts)
    assert events == [
        Event("stage", True, "no result is stored"),
        Event("stage", False, "unchanged"),
    ]


def test_the_digest_identifies_ingredients_files_and_facts(cache: Cache) -> None:
    digests = {
        cache.get("a", INGREDIENTS, lambda: RESULT).digest,
        cache.get("b", {**INGREDIENTS, "x": "3"}, lambda: RESULT).digest,
        cache.get("c", INGREDIENTS, lambda: Result({"a.txt": b"x"}, RESULT.facts)).digest,
        cache.get("d", INGREDIENTS, lambda: Result(RESULT.files, {"n": [1]})).digest,
    }
    assert len(digests) == 4
    assert cache.get("e", INGREDIENTS, lambda: RESULT).digest in digests


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"input": "9", "code": "2"}, "changed: input"),
        ({"input": "1"}, "changed: code"),
        ({"input": "1", "code": "2", "tool": "3"}, "changed: tool"),
        ({"a": "", "b": "", "c": "", "d": ""}, "changed: a, b, c, code and 2 more"),
    ],
)
def test_the_reason_names_the_ingredients_that_changed(
    cache: Cache, events: list[Event], changed: dict[str, str], reason: str
) -> None:
    cache.get("stage", INGREDIENTS, lambda: RESULT)
    cache.get("stage", changed, lambda: RESULT)
    assert events[-1] == Event("stage", True, reason)


def test_going_back_to_earlier_ingredients_finds_their_result(cache: Cache) -> None:
    cache.get("stage", {"input": "1"}, lambda: Result({"f": b"1"}))
    cache.get("stage", {"input": "2"}, lambda: Result({"f": b"2"}))
    assert cache.get("stage", {"input": "1"}, fail).files == {"f": b"1"}


@pytest.mark.parametrize("other", ["two", "one/two", "one.two", "on"])
def test_stages_share_neither_results_nor_reasons(
    cache: Cache, events: list[Event], other: str
) -> None:
    cache.get("one", INGREDIENTS, lambda: Result({"f": b"1"}))
    again = Cache(cache.folder, on_event=events.append)
    assert again.get(other, INGREDIENTS, lambda: Result({"f": b"2"})).files == {"f": b"2"}
    assert events[-1] == Event(other, True, "no result is stored")
    assert again.get("one", INGREDIENTS, fail).files == {"f": b"1"}


def test_the_reason_compares_with_the_result_that_was_used_last(
    cache: Cache, events: list[Event]
) -> None:
    for a, b in ("11", "22", "11", "12"):
        cache.get("stage", {"a": a, "b": b}, lambda: RESULT)
        for path in stored_files(cache):  # clocks of file systems are too coarse for this loop
            earlier = path.stat().st_mtime_ns - 10**9
            os.utime(path, ns=(earlier, earlier))
    assert events[-1].reason == "changed: b"


def test_a_cache_that_is_off_computes_but_stores(cache: Cache, events: list[Event]) -> None:
    off = Cache(cache.folder, is_enabled=False, on_event=events.append)
    off.get("stage", INGREDIENTS, lambda: Result({"f": b"old"}))
    off.get("stage", INGREDIENTS, lambda: RESULT)
    assert [event.reason for event in events] == ["the cache is off"] * 2
    assert cache.get("stage", INGREDIENTS, fail).files == RESULT.files


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def flip_last_byte(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))


def flip_digest(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(bytes([data[0] ^ 1]) + data[1:])


def append(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"x")


def empty(path: Path) -> None:
    path.write_bytes(b"")


def garbage(path: Path) -> None:
    path.write_bytes(os.urandom(500))


def json_of_another_kind(path: Path) -> None:
    path.write_bytes(b"[1]\n[2]\n")


def folder(path: Path) -> None:
    path.unlink()
    (path / "inside").mkdir(parents=True)


def dangling_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("nowhere")


DAMAGES = (
    truncate,
    flip_last_byte,
    flip_digest,
    append,
    empty,
    garbage,
    json_of_another_kind,
    folder,
    dangling_link,
)


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_noticed_and_mended(
    cache: Cache, events: list[Event], damage: Callable[[Path], None]
) -> None:
    made = cache.get("stage", INGREDIENTS, lambda: RESULT)
    (path,) = stored_files(cache)
    damage(path)
    assert cache.get("stage", INGREDIENTS, lambda: RESULT) == made
    missing = damage is dangling_link
    reason = "no result is stored" if missing else "the stored result was damaged"
    assert events[-1] == Event("stage", True, reason)
    assert cache.get("stage", INGREDIENTS, fail) == made


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_to_another_result_does_not_matter(
    cache: Cache, events: list[Event], damage: Callable[[Path], None]
) -> None:
    cache.get("stage", {"input": "0"}, lambda: RESULT)
    damage(stored_files(cache)[0])
    cache.get("stage", INGREDIENTS, lambda: RESULT)
    assert events[-1] == Event("stage", True, "no result is stored")


def test_every_single_flipped_byte_is_noticed(cache: Cache) -> None:
    cache.get("stage", INGREDIENTS, lambda: Result({"f": b"1"}, {"n": 1}))
    (path,) = stored_files(cache)
    data = path.read_bytes()
    for index in range(len(data)):
        path.write_bytes(data[:index] + bytes([data[index] ^ 4]) + data[index + 1 :])
        made: list[int] = []

        def compute(made: list[int] = made) -> Result:
            made.append(1)
            return Result({"f": b"1"}, {"n": 1})

        cache.get("stage", INGREDIENTS, compute)
        assert made, f"byte {index}"


def test_a_computation_that_fails_stores_nothing(cache: Cache) -> None:
    def compute() -> Result:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        cache.get("stage", INGREDIENTS, compute)
    assert stored_files(cache) == []


def test_old_results_are_removed(cache: Cache) -> None:
    for index in range(KEPT_RESULTS + 3):
        cache.get("stage", {"input": str(index)}, lambda: RESULT)
        for age, path in enumerate(sorted(stored_files(cache), key=lambda p: p.stat().st_mtime)):
            os.utime(path, (age, age))  # clocks of file systems are too coarse for this loop
    assert len(stored_files(cache)) == KEPT_RESULTS
    for index in range(3, KEPT_RESULTS + 3):
        cache.get("stage", {"input": str(index)}, fail)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_result_that_a_killed_build_left_half_written_is_computed_again(
    cache: Cache, share: float
) -> None:
    cache.get("stage", INGREDIENTS, lambda: RESULT)
    (path,) = stored_files(cache)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    cache.get("stage", INGREDIENTS, lambda: RESULT)
    assert path.read_bytes() == whole


def test_a_cache_that_was_deleted_is_made_again(cache: Cache) -> None:
    cache.get("stage", INGREDIENTS, lambda: RESULT)
    shutil.rmtree(cache.folder)
    cache.get("stage", INGREDIENTS, lambda: RESULT)
    cache.get("stage", INGREDIENTS, fail)


def test_many_writers_of_one_stage_never_read_half_a_result(cache: Cache) -> None:
    wrong: list[object] = []

    def work(worker: int) -> None:
        for round_ in range(20):
            name = str((worker + round_) % 6)
            data = digest(name).encode() * 500
            off = Cache(cache.folder, is_enabled=round_ % 2 == 0)
            try:
                found = off.get("stage", {"input": name}, lambda d=data: Result({"f": d}))
                if found.files != {"f": data}:
                    wrong.append(found)
            except Exception as error:
                wrong.append(error)

    workers = [threading.Thread(target=work, args=(index,)) for index in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []
    assert len(stored_files(cache)) <= 6


@pytest.mark.parametrize(
    "header", [b"[]", b"{}", b"{", b'{"ingredients": {}, "sizes": {"a": 9}, "facts": {}}']
)
def test_a_stored_result_with_the_right_digest_but_no_sense_is_computed_again(
    cache: Cache, events: list[Event], header: bytes
) -> None:
    made = cache.get("stage", INGREDIENTS, lambda: RESULT)
    (path,) = stored_files(cache)
    body = header + b"\nfile"
    path.write_bytes(digest(body).encode() + b"\n" + body)
    assert cache.get("stage", INGREDIENTS, lambda: RESULT) == made
    assert events[-1] == Event("stage", True, "the stored result was damaged")


def test_a_result_of_other_ingredients_under_this_name_is_computed_again(
    cache: Cache, events: list[Event]
) -> None:
    cache.get("other", {"input": "else"}, lambda: Result({"x": b"y"}))
    (foreign,) = stored_files(cache)
    made = cache.get("stage", INGREDIENTS, lambda: RESULT)
    (path,) = (path for path in stored_files(cache) if path != foreign)
    path.write_bytes(foreign.read_bytes())
    assert cache.get("stage", INGREDIENTS, lambda: RESULT) == made
    assert events[-1] == Event("stage", True, "the stored result was damaged")


def test_clearing_removes_results_and_nothing_else(cache: Cache) -> None:
    for stage in ("train", "pages/zh", "charts/zh/index/fig-1"):
        cache.get(stage, INGREDIENTS, lambda: RESULT)
    (cache.folder / "mine").mkdir()
    (cache.folder / "pages/notes.txt").write_text("mine")
    cache.clear()
    assert stored_files(cache) == [cache.folder / "pages/notes.txt"]
    assert (cache.folder / "mine").is_dir()
    assert not (cache.folder / "charts").exists()


def leave_a_file(path: Path) -> None:
    path.write_text("mine")


def leave_a_link_to_nothing(path: Path) -> None:
    path.symlink_to("nowhere")


@pytest.mark.parametrize("harm", [leave_a_file, leave_a_link_to_nothing])
def test_what_is_no_folder_is_named_and_left_alone(
    cache: Cache, harm: Callable[[Path], None]
) -> None:
    harm(cache.folder)
    before = cache.folder.lstat()
    with pytest.raises(BuildError) as caught:
        cache.prepare()
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.path, diagnostic.rule) == (str(cache.folder), "cache")
    assert "not a folder" in diagnostic.message
    assert "move it away" in diagnostic.hint
    assert cache.folder.lstat() == before


def test_a_prepared_cache_has_a_folder_with_nothing_in_it(cache: Cache) -> None:
    for _ in range(2):
        cache.prepare()
        assert list(cache.folder.iterdir()) == []
