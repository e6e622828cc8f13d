"""What each command prints, where, and with which exit code it ends."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from builder import check, commands
from builder.build import Project
from builder.cli import EXIT_CODES, main, parser
from builder.errors import BuildError
from builder.lock import LOCK
from tests.projects import ROOT, SENTENCE, overwrite, substitute, tree

Captured = pytest.CaptureFixture[str]

OPTIONS = {
    "build": ["--out", "--strict", "--explain", "--no-cache", "--json", "--quiet"],
    "serve": ["--out", "--host", "--port"],
    "check": ["--quiet"],
    "diff": ["OLD", "NEW", "--json", "--markdown"],
    "lock": ["--quiet"],
    "evidence": ["TABLE", "--jobs", "--dask", "--quiet"],
    "census": ["--seeds", "--jobs", "--dask", "--quiet"],
    "clean": ["--out"],
    "doctor": [],
}


def spoil(project: Path) -> int:
    """Make a mistake in a chapter; return its line."""
    chapter = project / "content/zh/about.md"
    text = chapter.read_text("utf-8")
    chapter.write_text(f"{text}\n::: matrx probs\n:::\n", encoding="utf-8")
    return text.count("\n") + 2


def as_process(project: Path, *arguments: str, **environment: str) -> Any:
    return subprocess.run(
        [sys.executable, "-m", "builder", *arguments],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )


# --- help -----------------------------------------------------------------------------------


def help_of(arguments: list[str], capsys: Captured) -> str:
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--help"])
    assert ended.value.code == 0
    return capsys.readouterr().out


def test_the_overview_names_every_command(capsys: Captured) -> None:
    text = help_of([], capsys)
    assert all(re.search(rf"^    {command} +\w", text, re.MULTILINE) for command in OPTIONS)
    assert EXIT_CODES in text


@pytest.mark.parametrize("command", OPTIONS)
def test_the_help_of_a_command_explains_it_its_options_and_its_exit_codes(
    command: str, capsys: Captured
) -> None:
    text = help_of([command], capsys)
    options = set(re.findall(r"^  (?:-h, )?(--[a-z-]+|[A-Z]+)", text, re.MULTILINE))
    assert options == {*OPTIONS[command], "--help", "--verbose"}
    assert EXIT_CODES in text
    assert len(text.split("options:")[0].split()) > 15, "more than one line of explanation"
    assert max(map(len, text.splitlines())) <= 100


def test_every_command_has_a_test_of_its_help() -> None:
    (subparsers,) = (a for a in parser()._actions if hasattr(a, "choices") and a.choices)
    assert set(subparsers.choices or ()) == OPTIONS.keys()


@pytest.mark.parametrize(
    "arguments", [[], ["bild"], ["build", "--nope"], ["diff", "one"], ["build", "extra"]]
)
def test_a_wrong_command_line_exits_with_2(arguments: list[str], capsys: Captured) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "usage: python -m builder" in capsys.readouterr().err


# --- build ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("project")
def test_build_says_where_the_site_is_and_whether_its_numbers_are_the_accepted_ones(
    capsys: Captured,
) -> None:
    assert main(["build"]) == 0
    printed = capsys.readouterr()
    first, second = printed.out.splitlines()
    assert re.fullmatch(r"dist/index\.html: \d+ pages, unchanged", first)
    assert second.startswith("numbers: ")
    stages = [line.split()[0] for line in printed.err.splitlines()]
    assert stages[:2] == ["load", "train"]
    assert stages[-1] == "write"


def test_quiet_prints_nothing_on_success(project: Path, capsys: Captured) -> None:
    substitute(project / "content/zh/about.md", SENTENCE, "改了一句。")
    assert main(["build", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_quiet_still_prints_problems(project: Path, capsys: Captured) -> None:
    line = spoil(project)
    assert main(["build", "--quiet"]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == (
        f"content/zh/about.md:{line}:1: error: there is no block `matrx` [unknown-block]\n"
        "    ::: matrx probs\n"
        "    hint: did you mean `matrix`?\n"
    )


def test_several_problems_are_counted(project: Path, capsys: Captured) -> None:
    spoil(project)
    (project / "content/en/draft.md").write_text("---\ntitle: x\n---\n", encoding="utf-8")
    assert main(["build", "--quiet"]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == "2 problems, 1 of them errors"


def test_out_chooses_the_folder(project: Path, capsys: Captured) -> None:
    assert main(["build", "--quiet", "--out", "deep/site"]) == 0
    assert tree(project / "deep/site") == tree(project / "dist")
    assert capsys.readouterr() == ("", "")


def test_strict_turns_a_warning_into_a_failure(project: Path, capsys: Captured) -> None:
    (project / "content/en/draft.md").write_text("---\ntitle: x\n---\n", encoding="utf-8")
    assert main(["build", "--quiet"]) == 0
    assert "draft.md: warning: this chapter is not listed" in capsys.readouterr().err
    assert main(["build", "--quiet", "--strict"]) == 1
    assert "draft.md: warning: this chapter is not listed" in capsys.readouterr().err


def test_explain_says_of_every_stage_what_happened_and_why(project: Path, capsys: Captured) -> None:
    substitute(project / "content/zh/about.md", SENTENCE, "改了一句。")
    assert main(["build", "--quiet", "--explain"]) == 0
    lines = [line.split(maxsplit=2) for line in capsys.readouterr().out.splitlines()]
    found = {stage: (state, reason) for stage, state, reason in lines}
    assert found.pop("pages/zh/about") == ("rebuilt", "changed: content/zh/about.md")
    assert set(found.values()) == {("kept", "unchanged")}
    assert {
        "train",
        "trace",
        "gradients",
        "evidence",
        "claims",
        "assets/charts",
        "assets/model",
        "pages/en/index",
    } <= (found.keys())


def test_json_is_one_document_on_success(project: Path, capsys: Captured) -> None:
    (project / "content/en/draft.md").write_text("---\ntitle: x\n---\n", encoding="utf-8")
    assert main(["build", "--json"]) == 0
    printed = capsys.readouterr()
    document = json.loads(printed.out)
    assert printed.err == ""
    assert document["diagnostics"][0]["rule"] == "unlisted-chapter"
    assert document["changed"] is False
    assert document["numbers_equal_lock"] is False
    assert document["pages"] > 5
    assert {"stage": "train", "rebuilt": False, "reason": "unchanged"} in document["stages"]
    assert "write" in document["seconds"]


def test_json_is_one_document_on_failure(project: Path, capsys: Captured) -> None:
    line = spoil(project)
    assert main(["build", "--json"]) == 1
    printed = capsys.readouterr()
    assert printed.err == ""
    assert json.loads(printed.out) == {
        "diagnostics": [
            {
                "path": "content/zh/about.md",
                "line": line,
                "column": 1,
                "rule": "unknown-block",
                "message": "there is no block `matrx`",
                "hint": "did you mean `matrix`?",
                "excerpt": "::: matrx probs",
                "severity": "error",
            }
        ]
    }


@pytest.mark.usefixtures("project")
def test_json_is_one_document_on_wrong_usage(capsys: Captured) -> None:
    assert main(["build", "--json", "--out", "content"]) == 2
    printed = capsys.readouterr()
    assert printed.err == ""
    assert json.loads(printed.out)["diagnostics"][0]["rule"] == "output-folder"


# --- what cannot be done --------------------------------------------------------------------


def no_content(project: Path) -> None:
    shutil.rmtree(project / "content")


def no_strings(project: Path) -> None:
    (project / "site_templates/strings.yml").unlink()


def no_templates(project: Path) -> None:
    shutil.rmtree(project / "site_templates")


def no_icon(project: Path) -> None:
    (project / "site_templates/favicon.png").unlink()


def no_template(project: Path) -> None:
    (project / "site_templates/chapter.html").unlink()


def cache_is_a_file(project: Path) -> None:
    shutil.rmtree(project / ".cache")
    (project / ".cache").write_text("")


def stage_is_a_file(project: Path) -> None:
    shutil.rmtree(project / ".cache/pages")
    (project / ".cache/pages").write_text("")


def lock_is_a_folder(project: Path) -> None:
    (project / LOCK).mkdir(parents=True)


def out_is_a_file(project: Path) -> None:
    shutil.rmtree(project / "dist")
    (project / "dist").write_text("")


def out_holds_other_things(project: Path) -> None:
    (project / "dist/notes.txt").write_text("")


def out_was_not_built(project: Path) -> None:
    (project / "dist/.build.json").unlink()


def site_is_not_utf8(project: Path) -> None:
    (project / "content/site.yml").write_bytes(b"title: \xff\n")


@pytest.mark.parametrize(
    ("harm", "code", "expected"),
    [
        (no_content, 2, "there is no folder `content` here"),
        (no_strings, 1, "site_templates/strings.yml: error: this file does not exist"),
        (no_templates, 1, "site_templates/strings.yml: error: this file does not exist"),
        (no_icon, 1, "\nsite_templates/favicon.png: error: No such file or directory"),
        (no_template, 1, "site_templates/chapter.html: error: there is no template"),
        (cache_is_a_file, 1, "\n.cache: error: this is not a folder"),
        (stage_is_a_file, 1, ".cache/pages/"),
        (lock_is_a_folder, 2, "the lock cannot be read: this is not a regular file"),
        (out_is_a_file, 2, "dist: error: this is not a folder"),
        (out_holds_other_things, 2, "dist/notes.txt: error: this file was not written by a build"),
        (out_was_not_built, 2, "dist/.nojekyll: error: this file was not written by a build"),
        (site_is_not_utf8, 1, "content/site.yml:1: error: byte 0xff is not UTF-8 text"),
    ],
)
def test_what_cannot_be_built_is_one_message_and_an_exit_code(
    project: Path, capsys: Captured, harm: Callable[[Path], None], code: int, expected: str
) -> None:
    harm(project)
    before = tree(project / "dist")
    assert main(["build", "--quiet"]) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert expected in f"\n{printed.err}"
    assert len(re.findall(r": error: ", printed.err)) == 1
    assert "Traceback" not in printed.err
    assert "internal error" not in printed.err
    assert tree(project / "dist") == before


def test_a_full_disk_under_the_cache_is_one_message(
    project: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, _data: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", path.suffix)

    substitute(project / "content/zh/about.md", SENTENCE, "改了一句。")
    before = tree(project / "dist")
    monkeypatch.setattr(Path, "write_bytes", refuse)
    assert main(["build", "--quiet"]) == 1
    monkeypatch.undo()
    assert capsys.readouterr().err == ".result: error: No space left on device [system]\n"
    assert tree(project / "dist") == before


def test_a_full_disk_that_names_no_file_is_met_in_the_cache(
    project: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_path: Path, _data: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    substitute(project / "content/zh/about.md", SENTENCE, "改了一句。")
    before = tree(project / "dist")
    monkeypatch.setattr(Path, "write_bytes", refuse)
    assert main(["build", "--quiet"]) == 1
    monkeypatch.undo()
    assert capsys.readouterr().err == (
        ".cache: error: results cannot be stored: No space left on device [cache]\n"
        "    hint: the output folder is as it was before\n"
    )
    assert tree(project / "dist") == before


def test_a_bug_of_ours_is_one_line_and_a_traceback_only_when_asked_for(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(commands, "build", fail)
    assert main(["build"]) == 1
    assert capsys.readouterr().err.splitlines() == [
        "internal error: ZeroDivisionError: by zero",
        "this is a bug; the same command with `--verbose` shows where",
    ]
    for arguments in (["--verbose", "build"], ["build", "--verbose"]):
        assert main(arguments) == 1
        assert "Traceback" in capsys.readouterr().err


def test_an_interruption_ends_without_a_traceback(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "build", interrupt)
    assert main(["build"]) == 130
    assert capsys.readouterr().err == "interrupted\n"


@pytest.mark.parametrize("command", [[], ["build"], ["census"]])
def test_the_exit_code_of_an_interruption_stands_in_the_help(
    command: list[str], capsys: Captured
) -> None:
    with pytest.raises(SystemExit):
        main([*command, "--help"])
    assert "130 interrupted (Ctrl-C)" in capsys.readouterr().out


def test_a_bug_of_ours_is_json_where_json_was_asked_for(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "build", lambda *_arguments: 1 / 0)
    assert main(["build", "--json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["diagnostics"]
    assert (found["rule"], found["severity"]) == ("internal-error", "error")


@pytest.mark.parametrize(
    ("redirection", "code"),
    [(">/dev/full", 1), ("--json >/dev/full", 1), ("2>&-", 0), ("2>/dev/full", 0), (">&-", 0)],
)
def test_what_cannot_be_printed_ends_quietly(project: Path, redirection: str, code: int) -> None:
    command = f"{sys.executable} -m builder build {redirection}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    finished = subprocess.run(
        command, cwd=project, env=environment, shell=True, capture_output=True, text=True
    )
    assert finished.returncode == code
    assert "Traceback" not in finished.stderr
    assert "internal error" not in finished.stderr
    assert "Exception ignored" not in finished.stderr


def test_an_interruption_during_start_is_one_word(project: Path) -> None:
    (project / "argparse.py").write_text("raise KeyboardInterrupt")
    finished = as_process(project, "build")
    assert (finished.returncode, finished.stderr) == (130, "interrupted\n")


def test_messages_survive_a_terminal_without_chinese(project: Path) -> None:
    substitute(project / "content/zh/about.md", SENTENCE, f"$\\nope$ {SENTENCE}")
    for arguments in (["build", "--quiet"], ["build", "--json"]):
        finished = as_process(project, *arguments, PYTHONIOENCODING="ascii", LC_ALL="C")
        assert finished.returncode == 1
        assert "internal error" not in finished.stderr
        assert "nope" in finished.stderr + finished.stdout


# --- the other commands ---------------------------------------------------------------------


def test_lock_accepts_the_numbers_and_builds_then_say_so(project: Path, capsys: Captured) -> None:
    (project / "model").mkdir()
    assert main(["lock", "--quiet"]) == 0
    printed = capsys.readouterr()
    assert re.fullmatch(rf"numbers: all \d+ files equal {LOCK}\n", printed.out)
    assert main(["build"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == printed.out.strip()
    substitute(project / LOCK, '"correct": 100', '"correct": 99')
    assert main(["build"]) == 0
    assert "differ from" in capsys.readouterr().out


def test_lock_repairs_a_damaged_lock(project: Path, capsys: Captured) -> None:
    (project / "model").mkdir()
    (project / LOCK).write_text("{")
    assert main(["lock", "--quiet"]) == 0
    assert "files equal" in capsys.readouterr().out


def test_clean_removes_the_site_and_the_cache_and_nothing_else(
    project: Path, capsys: Captured
) -> None:
    n_files = len(tree(project / "dist"))
    (project / "dist/notes.txt").write_text("mine")
    before = tree(project / "content")
    assert main(["clean"]) == 0
    assert capsys.readouterr().out == f"removed {n_files} files of dist and the cache\n"
    assert tree(project / "dist") == {"notes.txt": b"mine"}
    assert sorted(path.name for path in project.iterdir()) == ["content", "dist", "site_templates"]
    assert tree(project / "content") == before


@pytest.mark.parametrize("command", ["build", "check", "clean", "lock", "serve"])
def test_a_folder_that_is_no_project_is_left_alone(
    command: str, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".cache").mkdir()
    (tmp_path / ".cache/x.result").write_text("mine")
    monkeypatch.chdir(tmp_path)
    assert main([command]) == 2
    assert "there is no folder `content` here" in capsys.readouterr().err
    assert tree(tmp_path) == {".cache/x.result": b"mine"}


@pytest.mark.parametrize("out", ["content/dist", "site_templates/a/b", ".cache/dist", "content"])
@pytest.mark.usefixtures("project")
def test_a_site_never_stands_among_its_sources(out: str, capsys: Captured) -> None:
    assert main(["build", "--out", out]) == 2
    assert "[output-folder]" in capsys.readouterr().err
    assert out == "content" or not Path(out).exists()


@pytest.mark.parametrize("pipe", ["content/zh/index.md", "site_templates/css/new.css"])
def test_a_pipe_is_no_source(project: Path, capsys: Captured, pipe: str) -> None:
    (project / pipe).unlink(missing_ok=True)
    os.mkfifo(project / pipe)
    assert main(["build", "--quiet"]) == 1
    assert f"{pipe}: error: this is not a regular file" in capsys.readouterr().err


def test_many_problems_and_long_lines_are_cut_short(project: Path, capsys: Captured) -> None:
    with (project / "content/zh/about.md").open("a", encoding="utf-8") as chapter:
        chapter.write("\n" + "{valu}`probs` " * 200 + "\n")
    assert main(["build", "--quiet"]) == 1
    printed = capsys.readouterr().err
    assert printed.splitlines()[-2:] == ["and 150 more", "200 problems, 200 of them errors"]
    assert max(map(len, printed.splitlines())) < 140
    assert main(["build", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)["diagnostics"]
    assert len(found) == 200
    assert max(len(problem["excerpt"]) for problem in found) < 140


@pytest.mark.usefixtures("project")
def test_clean_of_a_clean_project_is_fine(capsys: Captured) -> None:
    assert main(["clean"]) == 0
    assert main(["clean"]) == 0
    assert capsys.readouterr().out.endswith("removed 0 files of dist and the cache\n")


def test_diff_ends_with_0_1_and_2(project: Path, capsys: Captured) -> None:
    shutil.copytree(project / "dist", project / "other")
    assert main(["diff", "dist", "other"]) == 0
    weights = project / "other/snapshots/weights/trained.json"
    text = weights.read_bytes()
    place = [match.start() for match in re.finditer(rb"[0-9]", text)][-1]
    overwrite(weights, text[:place] + bytes([text[place] ^ 1]) + text[place + 1 :])
    assert main(["diff", "dist", "other"]) == 1
    overwrite(weights, text[:100])
    capsys.readouterr()
    assert main(["diff", "dist", "other"]) == 2
    assert len(capsys.readouterr().err.splitlines()) <= 2


def test_doctor_ends_with_0_or_1(capsys: Captured) -> None:
    assert main(["doctor"]) in (0, 1)
    assert "torch" in capsys.readouterr().out


def second_build(*changes: tuple[str, bytes]) -> Callable[[Project, Path], None]:
    """What a second build might make: the first one's site, with changes."""

    def build_elsewhere(project: Project, out: Path) -> None:
        shutil.copytree(project.root / "dist", out)
        for path, data in changes:
            (out / path).write_bytes(data)

    return build_elsewhere


def test_check_examines_a_site_of_its_own_twice(
    project: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "_build_elsewhere", second_build())
    before = tree(project / "dist")
    (project / "model").mkdir()
    assert main(["lock", "--quiet"]) == 0
    capsys.readouterr()
    assert main(["check", "--quiet"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    first, *others = printed.out.splitlines()
    assert re.fullmatch(r"build: \d+ pages, \d+ claims hold", first)
    assert others[0] == "links, anchors and ids: all resolve"
    assert others[1].endswith(f"files equal {LOCK}")
    assert others[2:] == ["two builds: the same bytes in every file"]
    assert tree(project / "dist") == before


def test_check_reports_together_all_that_is_wrong(
    project: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = (("index.html", b"x"), ("new.html", b""), ("snapshots/provenance.json", b"{}"))
    substitute(project / "site_templates/base.html", "</main>", '</main><a href="no.html"></a>')
    assert main(["build", "--quiet"]) == 0
    monkeypatch.setattr(check, "_build_elsewhere", second_build(*changes))
    assert main(["check", "--quiet"]) == 1
    printed = capsys.readouterr()
    rules = re.findall(r"^(\S+?): error: .*\[([a-z-]+)\]$", printed.err, re.MULTILINE)
    assert ("index.html", "not-reproducible") in rules
    assert ("new.html", "not-reproducible") in rules
    assert {rule for _, rule in rules} == {"dangling-link", "lock", "not-reproducible"}
    assert "provenance" not in printed.err
    assert "all resolve" not in printed.out


def test_check_is_strict(project: Path, capsys: Captured) -> None:
    (project / "content/en/draft.md").write_text("---\ntitle: x\n---\n", encoding="utf-8")
    assert main(["check", "--quiet"]) == 1
    assert "draft.md: warning" in capsys.readouterr().err


def test_a_second_build_that_fails_is_one_message(project: Path, tmp_path: Path) -> None:
    substitute(project / "content/site.yml", "problem: 7x8", "problem: 7x88")
    with pytest.raises(BuildError) as caught:
        check._build_elsewhere(Project(project), tmp_path / "second")
    assert "the second build failed" in str(caught.value)
    assert "there is no problem `7x88`" in str(caught.value)


def test_a_reader_that_goes_away_is_no_error(project: Path) -> None:
    command = [sys.executable, "-m", "builder", "build", "--explain"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    reader, writer = os.pipe()
    os.close(reader)
    with contextlib.closing(os.fdopen(writer, "w")) as closed:
        finished = subprocess.run(
            command,
            cwd=project,
            env=environment,
            stdout=closed,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert "Traceback" not in finished.stderr
    assert "internal error" not in finished.stderr
