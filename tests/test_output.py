"""The site folder changes as a whole or not at all, and nothing that is not ours is touched."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from builder.errors import BuildError, UsageError
from builder.output.folder import MARKER, Output, remove
from tests.projects import ROOT, tree

SITE = {"index.html": b"one", "en/index.html": b"two", "assets/style.css": b"three"}
CHANGED = {"index.html": b"ONE", "about.html": b"four", "assets/style.css": b"three"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "dist"


def publish(folder: Path, files: dict[str, bytes]) -> bool:
    made = Output(folder)
    made.add_all(files)
    return made.publish()


def content(folder: Path) -> dict[str, bytes]:
    return {path: data for path, data in tree(folder).items() if path != MARKER}


def beside(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.parent.iterdir())


def refusal(folder: Path) -> str:
    with pytest.raises(UsageError) as caught:
        Output(folder)
    return str(caught.value)


def test_a_site_is_written_with_the_list_of_its_files(folder: Path) -> None:
    assert publish(folder, SITE)
    assert content(folder) == SITE
    assert json.loads((folder / MARKER).read_bytes())["files"].keys() == SITE.keys()
    assert beside(folder) == ["dist"]
    assert folder.stat().st_mode & 0o777 == 0o755


def test_a_new_site_replaces_the_old_one_whole(folder: Path) -> None:
    publish(folder, SITE)
    assert publish(folder, CHANGED)
    assert content(folder) == CHANGED
    assert not (folder / "en").exists()
    assert beside(folder) == ["dist"]


def test_the_same_site_is_not_written_again(folder: Path) -> None:
    publish(folder, SITE)
    before = {path: path.stat().st_ino for path in [folder, *folder.rglob("*")]}
    assert not publish(folder, SITE)
    assert {path: path.stat().st_ino for path in [folder, *folder.rglob("*")]} == before


def test_unchanged_files_keep_their_time_and_are_not_shared_with_other_folders(
    folder: Path,
) -> None:
    publish(folder, SITE)
    style = folder / "assets/style.css"
    os.utime(style, (1000, 1000))
    publish(folder, CHANGED)
    assert style.stat().st_mtime == 1000
    assert all(p.stat().st_nlink == 1 for p in folder.rglob("*") if p.is_file())


def test_files_are_written_where_the_file_system_has_no_links(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_arguments: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    publish(folder, SITE)
    monkeypatch.setattr(Path, "hardlink_to", refuse)
    publish(folder, CHANGED)
    assert content(folder) == CHANGED


def test_an_empty_folder_is_taken(folder: Path) -> None:
    folder.mkdir()
    assert publish(folder, SITE)
    assert content(folder) == SITE


def test_folders_above_are_made(tmp_path: Path) -> None:
    publish(tmp_path / "a/b/dist", SITE)
    assert content(tmp_path / "a/b/dist") == SITE


@pytest.mark.parametrize("name", ["notes.txt", "en/notes.txt", ".hidden", "empty-folder/"])
def test_a_folder_with_anything_of_somebody_else_is_refused(folder: Path, name: str) -> None:
    publish(folder, SITE)
    foreign = folder / name
    if name.endswith("/"):
        foreign.mkdir()
    else:
        foreign.write_text("mine")
    before = tree(folder)
    message = refusal(folder)
    assert message.startswith(f"{foreign}")
    assert "this file was not written by a build" in message
    assert "--out" in message
    assert tree(folder) == before
    assert foreign.exists()


def test_a_folder_without_the_list_of_its_files_is_refused(folder: Path) -> None:
    publish(folder, SITE)
    (folder / MARKER).unlink()
    assert "was not written by a build" in refusal(folder)


@pytest.mark.parametrize(
    "marker",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"files": []}',
        b'{"files": null}',
        b'{"files": "index.html"}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_a_damaged_list_makes_every_file_foreign(folder: Path, marker: bytes) -> None:
    publish(folder, SITE)
    (folder / MARKER).write_bytes(marker)
    before = tree(folder)
    assert "was not written by a build" in refusal(folder)
    assert remove(folder) == 1
    assert tree(folder) == {k: v for k, v in before.items() if k != MARKER}


def test_foreign_files_that_appear_during_a_build_are_noticed(folder: Path) -> None:
    publish(folder, SITE)
    made = Output(folder)
    made.add_all(CHANGED)
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(UsageError):
        made.publish()
    assert content(folder) == {**SITE, "notes.txt": b"mine"}


@pytest.mark.parametrize("below", ["", "/sub", "/sub/dist"])
def test_a_file_in_place_of_the_folder_is_one_message(folder: Path, below: str) -> None:
    folder.write_text("mine")
    with pytest.raises(BuildError) as caught:
        publish(Path(f"{folder}{below}"), SITE)
    assert len(caught.value.diagnostics) == 1
    assert folder.read_text() == "mine"
    assert beside(folder) == ["dist"]


def test_a_name_that_no_folder_can_have_is_one_message(tmp_path: Path) -> None:
    assert "this cannot be a folder: File name too long" in refusal(tmp_path / ("x" * 300))


def edit(folder: Path) -> None:
    (folder / "index.html").write_text("edited")


def delete(folder: Path) -> None:
    (folder / "en/index.html").unlink()


def delete_folder(folder: Path) -> None:
    (folder / "en/index.html").unlink()
    (folder / "en").rmdir()


def link(folder: Path) -> None:
    target = folder.parent / "elsewhere.html"
    target.write_bytes(SITE["index.html"])
    (folder / "index.html").unlink()
    (folder / "index.html").symlink_to(target)


@pytest.mark.parametrize("harm", [edit, delete, delete_folder, link])
def test_a_file_of_ours_that_was_changed_is_mended(
    folder: Path, harm: Callable[[Path], None]
) -> None:
    publish(folder, SITE)
    harm(folder)
    assert publish(folder, SITE)
    assert content(folder) == SITE
    assert not any(path.is_symlink() for path in folder.rglob("*"))
    elsewhere = folder.parent / "elsewhere.html"
    assert not elsewhere.exists() or elsewhere.read_bytes() == SITE["index.html"]


def test_a_link_to_a_folder_stays_a_link(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    folder.symlink_to("real")
    for files in (SITE, CHANGED):
        assert publish(folder, files)
        assert folder.is_symlink()
        assert content(tmp_path / "real") == files
    assert beside(folder) == ["dist", "real"]
    remove(folder)
    assert beside(folder) == ["dist"]


def test_a_link_to_nothing_makes_what_it_names(folder: Path, tmp_path: Path) -> None:
    folder.symlink_to("real")
    publish(folder, SITE)
    assert content(tmp_path / "real") == SITE


def test_a_link_to_itself_is_one_message(folder: Path) -> None:
    folder.symlink_to("dist")
    assert "this is not a folder" in refusal(folder)
    assert folder.is_symlink()


def test_a_linked_folder_inside_the_site_is_foreign_and_never_followed(
    folder: Path, tmp_path: Path
) -> None:
    publish(folder, SITE)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/index.html").write_text("mine")
    (folder / "en/index.html").unlink()
    (folder / "en").rmdir()
    (folder / "en").symlink_to(tmp_path / "mine")
    assert str(folder / "en") in refusal(folder)
    remove(folder)
    assert (tmp_path / "mine/index.html").read_text() == "mine"
    assert (folder / "en").is_symlink()


def test_a_name_with_pattern_characters_is_only_a_name(tmp_path: Path) -> None:
    other = tmp_path / ".a.partial-x"
    other.mkdir()
    publish(tmp_path / "*", SITE)
    publish(tmp_path / "[a]", SITE)
    assert other.is_dir()


@pytest.mark.parametrize(
    "path", ["../x", "/etc/x", "a/../../x", "a//b", "./a", "", ".", "a/", MARKER]
)
def test_nothing_is_written_outside_the_folder(folder: Path, path: str) -> None:
    with pytest.raises(ValueError, match="is not a path inside the site"):
        Output(folder).add(path, b"")


def test_a_path_is_written_only_once(folder: Path) -> None:
    made = Output(folder)
    made.add("a", b"1")
    with pytest.raises(ValueError, match="`a` is written twice"):
        made.add("a", b"2")
    with pytest.raises(ValueError, match="`b/a` is written twice"):
        made.add_all({"b/a": b"1"})
        made.add_all({"a": b"1"}, prefix="b/")


def forged(folder: Path, *paths: str) -> None:
    """Write a list that claims files for ours that lie elsewhere."""
    document = json.loads((folder / MARKER).read_bytes())
    document["files"] |= dict.fromkeys(paths, "0" * 64)
    (folder / MARKER).write_text(json.dumps(document))


def test_a_forged_list_gives_nothing_away(folder: Path, tmp_path: Path) -> None:
    publish(folder, SITE)
    mine = tmp_path / "mine.txt"
    mine.write_text("mine")
    forged(folder, "../mine.txt", str(mine), "en/../../mine.txt")
    assert publish(folder, CHANGED)
    assert mine.read_text() == "mine"
    forged(folder, "../mine.txt", str(mine))
    remove(folder)
    assert mine.read_text() == "mine"
    assert beside(folder) == ["mine.txt"]


def abandoned(folder: Path) -> Path:
    """Make what a build leaves that is killed while it writes."""
    left = folder.parent / ".dist.partial-abc12345"
    (left / "en").mkdir(parents=True)
    (left / "en/index.html").write_text("half")
    (left / MARKER).write_text("{}")
    return left


@pytest.mark.parametrize("files", [SITE, CHANGED])
def test_what_killed_builds_left_is_cleaned_up(folder: Path, files: dict[str, bytes]) -> None:
    publish(folder, SITE)
    abandoned(folder)
    publish(folder, files)
    assert beside(folder) == ["dist"]


def test_removing_a_site_removes_what_killed_builds_left(folder: Path) -> None:
    abandoned(folder)
    assert remove(folder) == 0
    assert beside(folder) == []


def test_folders_with_such_a_name_are_ours_only_if_they_are_empty_or_have_our_list(
    folder: Path, tmp_path: Path
) -> None:
    (tmp_path / ".dist.partial-notes").mkdir()
    (tmp_path / ".dist.partial-emptyone").mkdir()
    (tmp_path / ".dist.partial-myfolder").mkdir()
    (tmp_path / ".dist.partial-myfolder/mine.txt").write_text("mine")
    publish(folder, SITE)
    assert beside(folder) == [".dist.partial-myfolder", ".dist.partial-notes", "dist"]
    assert (tmp_path / ".dist.partial-myfolder/mine.txt").read_text() == "mine"


def test_a_leftover_that_cannot_be_deleted_stops_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_arguments: object, **_named: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    left = abandoned(folder)
    monkeypatch.setattr("shutil.rmtree", refuse)
    publish(folder, SITE)
    assert content(folder) == SITE
    assert left.is_dir()


def test_a_folder_that_cannot_be_read_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_path: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    folder.mkdir()
    monkeypatch.setattr(Path, "iterdir", refuse)
    assert "this folder cannot be read: Permission denied" in refusal(folder)


def test_a_folder_inside_another_site_is_refused(folder: Path) -> None:
    publish(folder, SITE)
    assert "this is inside another site" in refusal(folder / "en/new")


def test_a_large_folder_of_somebody_else_is_refused_without_looking_through_it() -> None:
    started = time.process_time()
    assert "was not written by a build" in refusal(Path("/"))
    assert time.process_time() - started < 1


def test_files_and_links_with_such_a_name_are_not_ours(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / ".dist.partial-link").symlink_to("mine")
    (tmp_path / ".dist.partial-file").write_text("mine")
    publish(folder, SITE)
    assert beside(folder) == [".dist.partial-file", ".dist.partial-link", "dist", "mine"]


def test_remove_deletes_only_what_a_build_wrote(folder: Path) -> None:
    publish(folder, SITE)
    (folder / "en/mine.txt").write_text("mine")
    (folder / "empty").mkdir()
    assert remove(folder) == len(SITE) + 1
    assert sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*")) == [
        "empty",
        "en",
        "en/mine.txt",
    ]


def test_remove_leaves_no_empty_folders_of_ours(folder: Path) -> None:
    publish(folder, SITE)
    assert remove(folder) == len(SITE) + 1
    assert beside(folder) == []


def test_remove_of_nothing_is_nothing(folder: Path) -> None:
    assert remove(folder) == 0
    folder.mkdir()
    (folder / "mine").write_text("mine")
    assert remove(folder) == 0
    assert (folder / "mine").exists()


def test_remove_of_a_file_is_refused(folder: Path) -> None:
    folder.write_text("mine")
    with pytest.raises(UsageError):
        remove(folder)
    assert folder.read_text() == "mine"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    mount = tmp_path / "small"
    mount.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(mount)]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        pytest.xfail("mounting a small file system needs the right to")
    yield mount
    subprocess.run(["umount", str(mount)], check=True)


def test_a_full_disk_leaves_the_old_site_and_nothing_else(small_disk: Path) -> None:
    folder = small_disk / "dist"
    publish(folder, SITE)
    before = tree(folder)
    with pytest.raises(BuildError) as caught:
        publish(folder, {**SITE, "large.bin": bytes(2_000_000)})
    assert "the site cannot be written: No space left on device" in str(caught.value)
    assert "hint: nothing was replaced" in str(caught.value)
    assert tree(folder) == before
    assert beside(folder) == ["dist"]
    assert publish(folder, CHANGED)


@pytest.mark.parametrize("files_before_failure", [0, 1, 2])
def test_a_write_that_fails_leaves_the_old_site_and_nothing_else(
    folder: Path, monkeypatch: pytest.MonkeyPatch, files_before_failure: int
) -> None:
    publish(folder, SITE)
    before = tree(folder)
    original, written = Path.write_bytes, []

    def write_bytes(path: Path, data: bytes) -> int:
        if len(written) == files_before_failure:
            raise OSError(errno.ENOSPC, "No space left on device")
        written.append(path)
        return original(path, data)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", write_bytes)
        with pytest.raises(BuildError) as caught:
            publish(folder, CHANGED)
    assert "No space left on device" in str(caught.value)
    assert tree(folder) == before
    assert beside(folder) == ["dist"]


@pytest.mark.parametrize("number", [errno.EBUSY, errno.EACCES, errno.EROFS])
def test_an_exchange_that_fails_leaves_the_old_site_and_nothing_else(
    folder: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    publish(folder, SITE)
    before = tree(folder)

    def refuse(*_arguments: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("builder.output.folder.swap", refuse)
    with pytest.raises(BuildError) as caught:
        publish(folder, CHANGED)
    assert os.strerror(number) in str(caught.value)
    assert tree(folder) == before
    assert beside(folder) == ["dist"]


def test_a_parent_that_cannot_be_written_is_one_message(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_arguments: object, **_named: object) -> str:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("tempfile.mkdtemp", refuse)
    with pytest.raises(BuildError) as caught:
        publish(folder, SITE)
    assert "Permission denied" in str(caught.value)
    assert beside(folder) == []


def test_the_exchange_works_in_two_steps_where_the_system_has_no_single_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(folder, SITE)

    class WithoutExchange:
        def __init__(self, *_arguments: object, **_named: object) -> None: ...

    monkeypatch.setattr("ctypes.CDLL", WithoutExchange)
    assert publish(folder, CHANGED)
    assert content(folder) == CHANGED
    assert beside(folder) == ["dist"]


def test_a_reader_always_sees_one_whole_site(folder: Path) -> None:
    """Another process looks on while two sites take turns."""
    publish(folder, SITE)
    watch = (
        "import sys\n"
        "while True:\n"
        "    text = open(sys.argv[1] + '/index.html').read()\n"
        "    assert text in ('one', 'ONE'), text\n"
        "    print(text, flush=True)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", watch, str(folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as watcher:
        assert watcher.stdout is not None
        watcher.stdout.readline()
        for _ in range(50):
            publish(folder, CHANGED)
            publish(folder, SITE)
        still_watching = watcher.poll() is None
        with contextlib.suppress(ProcessLookupError):
            watcher.terminate()
        _, errors = watcher.communicate()
    assert still_watching, errors.decode()


KILLED = """
import os, signal, sys
from pathlib import Path
from builder.output.folder import Output

made = Output(Path(sys.argv[1]))
made.add_all({"index.html": b"ONE", "about.html": b"four", "assets/style.css": b"three"})
left = int(sys.argv[2])

def count(event, _arguments):
    global left
    if event.split(".")[0] in ("open", "os", "shutil", "tempfile", "ctypes"):
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(count)
made.publish()
"""


def test_a_build_killed_at_any_step_of_writing_leaves_a_whole_site(folder: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    seen = []
    for step in range(1, 1000):
        publish(folder, SITE)
        command = [sys.executable, "-c", KILLED, str(folder), str(step)]
        code = subprocess.run(command, env=environment, check=False).returncode
        seen.append(content(folder))
        assert seen[-1] in (SITE, CHANGED), f"step {step}"
        assert json.loads((folder / MARKER).read_bytes())["files"].keys() == seen[-1].keys()
        if code == 0:
            break
        assert code == -signal.SIGKILL
    assert seen[0] == SITE
    assert seen[-1] == CHANGED
    assert seen.count(CHANGED) > 1, "some builds die after the exchange"
    publish(folder, SITE)
    assert beside(folder) == ["dist"]
