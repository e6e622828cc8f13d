"""The whole build on a copy of the project: what it rebuilds, what it refuses, what survives."""

from __future__ import annotations

import fcntl
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from builder import build as build_module
from builder.build import Options, Project, Report, build
from builder.claims.result import ClaimResult
from builder.cli import main
from builder.compute import Computer
from builder.errors import BuildError, Diagnostic
from builder.links import ids_in
from builder.lock import LOCK
from builder.progress import Progress
from builder.snapshot_files import Computed
from builder.stages import Event
from builder.tree import PageIds, examine_tree
from tests.projects import ROOT, SENTENCE, copy_project, overwrite, substitute, tree

COMMAND = [sys.executable, "-m", "builder", "build", "--quiet"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
EDITED = "改了一句。"


def run(project: Path, **options: object) -> tuple[Report, list[Event]]:
    events: list[Event] = []
    chosen = replace(Options(Path("dist"), on_event=events.append), **options)
    return build(Project(project), chosen, Progress(is_quiet=True)), events


def rebuilt(events: list[Event]) -> list[tuple[str, str]]:
    return [(event.stage, event.reason) for event in events if event.is_rebuilt]


def failure(project: Path, **options: object) -> tuple[Diagnostic, ...]:
    """Build what must fail; the old site must stand as it was."""
    before = tree(project / "dist")
    with pytest.raises(BuildError) as caught:
        run(project, **options)
    assert tree(project / "dist") == before
    assert sorted(path.name for path in project.iterdir()) == [
        ".cache",
        "content",
        "dist",
        "site_templates",
    ]
    return caught.value.diagnostics


def test_a_build_with_nothing_changed_rebuilds_and_writes_nothing(project: Path) -> None:
    report, events = run(project)
    assert rebuilt(events) == []
    assert not report.is_changed
    assert report.warnings == ()
    assert report.n_pages == sum(path.endswith(".html") for path in tree(project / "dist"))


def test_editing_one_sentence_rebuilds_exactly_that_page(project: Path) -> None:
    before = tree(project / "dist")
    substitute(project / "content/zh/about.md", SENTENCE, EDITED)
    report, events = run(project)
    assert rebuilt(events) == [("pages/zh/about", "changed: content/zh/about.md")]
    assert report.is_changed
    after = tree(project / "dist")
    assert {path for path in before if before[path] != after[path]} == {
        ".build.json",
        "about.html",
    }
    assert EDITED.encode() in after["about.html"]


def test_editing_an_item_of_a_quiz_renders_its_quiz_and_no_page(project: Path) -> None:
    before = tree(project / "dist")
    substitute(project / "content/zh/quiz/scores.yml", "忘了除以 2", "没有除以 2")
    _, events = run(project)
    assert rebuilt(events) == [("quizzes/zh/scores", "changed: content/zh/quiz/scores.yml")]
    after = tree(project / "dist")
    assert {path for path in before if before[path] != after[path]} == {
        ".build.json",
        "review.html",
        "scores.html",
    }
    for page in ("review.html", "scores.html"):
        assert "没有除以 2".encode() in after[page]


def test_a_new_item_stands_on_its_page_and_in_the_review(project: Path) -> None:
    path = project / "content/zh/quiz/limit.yml"
    item = path.read_text("utf-8").partition("proved:\n")[2].partition("\n\n")[0]
    path.write_text(f"{path.read_text('utf-8')}\nproved-too:\n{item}\n", "utf-8")
    _, events = run(project)
    assert {stage for stage, _ in rebuilt(events)} == {
        "pages/zh/limit",
        "pages/zh/review",
        "quizzes/zh/limit",
    }
    after = tree(project / "dist")
    for page in ("review.html", "limit.html"):
        assert after[page].count(b'id="quiz-limit-proved-too"') == 1
    assert not [path for path, data in after.items() if b"<!--items of" in data]


def test_a_mistake_in_a_quiz_is_one_message_whatever_pages_show_it(project: Path) -> None:
    path = project / "content/zh/quiz/scores.yml"
    line = substitute(path, "mistake: query-with-query", "mistake: query-with-qery")
    (diagnostic,) = failure(project)
    assert (diagnostic.path, diagnostic.line) == ("content/zh/quiz/scores.yml", line)
    assert diagnostic.rule == "unknown-mistake"
    assert diagnostic.hint == "did you mean `query-with-query`?"


def test_a_section_that_an_item_names_must_be_there(project: Path) -> None:
    path = project / "content/zh/quiz/limit.yml"
    line = substitute(path, "section: definition", "section: definitions")
    (diagnostic,) = failure(project)
    assert (diagnostic.path, diagnostic.line) == ("content/zh/quiz/limit.yml", line)
    assert diagnostic.rule == "dangling-link"
    assert "`limit.html#definition`" in diagnostic.hint or "`definition`" in diagnostic.hint


def test_going_back_needs_no_rendering(project: Path) -> None:
    before = tree(project / "dist")
    about = project / "content/zh/about.md"
    substitute(about, SENTENCE, EDITED)
    run(project)
    substitute(about, EDITED, SENTENCE)
    assert rebuilt(run(project)[1]) == []
    assert tree(project / "dist") == before


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("site_templates/base.html", "<head>", "<head><!-- new -->"),
        ("content/site.yml", "en: Attention, made checkable", "en: Another title"),
        ("content/zh/isolated-rows.md", "title: ", "title: 新"),
    ],
)
def test_what_every_page_shows_rebuilds_every_page_and_quiz(
    project: Path, name: str, old: str, new: str
) -> None:
    path = project / name
    path.write_text(path.read_text("utf-8").replace(old, new, 1), encoding="utf-8")
    stages = {event.stage for event in run(project)[1] if event.is_rebuilt}
    whole = ("pages/", "quizzes/")
    assert stages == {event.stage for event in run(project)[1] if event.stage.startswith(whole)}


def test_a_style_reaches_the_site_without_rebuilding_a_page(project: Path) -> None:
    style = project / "site_templates/css/print.css"
    style.write_text(style.read_text("utf-8") + "\n/* new */\n", encoding="utf-8")
    report, events = run(project)
    assert rebuilt(events) == []
    assert report.is_changed
    assert b"/* new */" in (project / "dist/assets/style.css").read_bytes()


def test_without_the_cache_pages_come_out_the_same(project: Path) -> None:
    before = tree(project / "dist")
    for stage in (project / ".cache/pages").rglob("*.result"):
        stage.unlink()
    _, events = run(project)
    assert {stage.split("/")[0] for stage, _ in rebuilt(events)} == {"pages"}
    assert tree(project / "dist") == before


def test_a_drawing_in_the_cache_is_named_after_its_figure(project: Path) -> None:
    shutil.rmtree(project / ".cache/pages")
    shutil.rmtree(project / ".cache/charts/zh")
    _, events = run(project)
    drawn = {event.stage: event.is_rebuilt for event in events if event.stage.startswith("charts/")}
    curves = re.compile(r'<figure class="curve" id="([^"]+)"')
    assert drawn == {
        f"charts/{code}/index/{figure}": code == "zh"
        for code, page in (("zh", "index.html"), ("en", "en/index.html"))
        for figure in curves.findall((project / "dist" / page).read_text("utf-8"))
    }


def test_every_damaged_page_in_the_cache_is_rendered_again(project: Path) -> None:
    before = tree(project / "dist")
    stored = sorted((project / ".cache/pages").rglob("*.result"))
    for index, path in enumerate(stored):
        data = path.read_bytes()
        overwrite(path, [data[: len(data) // 2], b"", data + b"x"][index % 3])
    _, events = run(project)
    pages = [event.stage for event in events if event.stage.startswith("pages/")]
    assert [stage for stage, _ in rebuilt(events)] == pages
    assert {reason for _, reason in rebuilt(events)} == {"the stored result was damaged"}
    assert tree(project / "dist") == before


def test_a_chapter_may_be_missing_in_a_language_in_progress(project: Path) -> None:
    (project / "content/en/isolated-rows.md").unlink()
    report, _ = run(project)
    assert report.warnings == ()
    page = (project / "dist/en/isolated-rows.html").read_text("utf-8")
    assert 'href="../isolated-rows.html"' in page


def test_a_warning_does_not_stop_a_build_unless_it_is_strict(project: Path) -> None:
    (project / "content/en/draft.md").write_text("---\ntitle: x\n---\n", encoding="utf-8")
    assert [str(d) for d in failure(project, is_strict=True)] == [
        "content/en/draft.md: warning: this chapter is not listed and will not be built "
        "[unlisted-chapter]\n    hint: add it to `chapters` in content/site.yml"
    ]
    report, _ = run(project)
    assert [warning.rule for warning in report.warnings] == ["unlisted-chapter"]


def test_a_tick_leads_to_the_claims_of_another_language_if_need_be(project: Path) -> None:
    (project / "content/en/about.md").unlink()
    substitute(project / "content/en/index.md", "](about.html#claims)", "](../about.html#claims)")
    report, _ = run(project, is_strict=True)
    assert report.warnings == ()
    page = (project / "dist/en/index.html").read_text("utf-8")
    assert 'href="../about.html#claim-' in page
    assert examine_tree(project / "dist") == []


def test_a_tick_that_leads_to_no_claim_is_found(project: Path) -> None:
    about = project / "content/zh/about.md"
    about.write_text(about.read_text("utf-8").replace("::: claims\n:::\n", ""), encoding="utf-8")
    found = failure(project)
    assert {d.rule for d in found} == {"dangling-link"}
    assert all("about.html has no id `claim-" in d.message and d.line for d in found)


VALID_LINKS = """
[a](404.html) [b](assets/style.css) [c](snapshots/manifest.json) [d](en/index.html) [e](#content)
[f](?x#claims) [g](en/about.html#claims) [h](snapshots/provenance.json) [i](assets/vega.js) [j](#)
[k](https://example.org/) [l](mailto:somebody@example.org) [m](index.html?x) [n](about.html#top)
"""


def test_a_chapter_may_link_to_every_file_and_id_of_the_site(project: Path) -> None:
    with (project / "content/zh/about.md").open("a", encoding="utf-8") as chapter:
        chapter.write(VALID_LINKS)
    report, _ = run(project, is_strict=True)
    assert report.warnings == ()
    assert examine_tree(project / "dist") == []


def test_links_to_the_sites_own_address_are_followed(project: Path) -> None:
    base = "https://example.org/attention/"
    with (project / "content/site.yml").open("a", encoding="utf-8") as config:
        config.write(f"\nbase_url: {base}\n")
    with (project / "content/zh/about.md").open("a", encoding="utf-8") as chapter:
        chapter.write(f"\n[a]({base}en/about.html#claims) [b]({base}en/) [c](sitemap.xml)\n")
        chapter.write(f"[d]({base}abot.html)\n")
    (found,) = failure(project)
    assert f"`{base}abot.html` leads to no file of the site" in found.message


def test_pages_define_the_ids_that_their_readers_find(project: Path) -> None:
    for page in (project / "dist").rglob("*.html"):
        parsed = PageIds(page.name)
        parsed.feed(page.read_text("utf-8"))
        assert parsed.ids.keys() == ids_in(page.name, page.read_bytes())


BAD_CHAPTERS = {
    "::: matrix blocks.0.attn.patern[0]\n:::": (
        0,
        "unknown-tensor",
        "did you mean `blocks.0.attn.pattern`?",
    ),
    "::: matrix probs\nproblem: 7x80\n:::": (1, "unknown-problem", "`7x8`"),
    "::: matrix probs\nstage: traned\n:::": (1, "unknown-stage", "did you mean `trained`?"),
    "::: matrix blocks.0.attn.pattern[2]\n:::": (0, "unknown-head", "`blocks.0.attn.pattern[1]`"),
    "::: matrx probs\n:::": (0, "unknown-block", "did you mean `matrix`?"),
    "::: matrix probs\nrow: ['=']\n:::": (1, "unknown-field", "did you mean `rows`?"),
    "::: matrix probs\ndecimals: two\n:::": (1, "wrong-type", "it is `two`"),
    "::: matrix probs\ndecimals: 1\ndecimals: 2\n:::": (2, "duplicate-field", ""),
    "::: matrix probs\n": (0, "unclosed", "end it with a line `:::`"),
    "```\ncode": (0, "unclosed", ""),
    "$\\fracc{1}{2}$": (0, "tex", "did you mean `\\frac`?"),
    "::: matrix qqqq\n:::": (0, "unknown-tensor", "the nearest is `"),
    "::: foo\n:::": (0, "unknown-block", "the nearest is `controls`"),
    "::: matrix\n:::": (0, "argument", "write `::: matrix ADDRESS`"),
    "::: product x\n:::": (0, "argument", "write `::: product`"),
    "{value}`probs[=,5`": (0, "address", "such as `blocks.0.attn.pattern[1,=,7]`"),
    "[x](abot.html)": (0, "dangling-link", "did you mean `about.html`?"),
    "[x](about.html#clams)": (0, "dangling-link", "did you mean `claims`?"),
    "[x](#clams)": (0, "dangling-link", "did you mean `claims`?"),
    "[x](?y#clams)": (0, "dangling-link", "did you mean `claims`?"),
    "[x](en/about.html#claim)": (0, "dangling-link", "did you mean `claims`?"),
    "[x](asets/style.css)": (0, "dangling-link", "did you mean `assets/style.css`?"),
    "[x](javascript:alert)": (0, "dangling-link", "one of `http`, `https`, `mailto`"),
    "<data:text/html,x>": (0, "dangling-link", "one of `http`, `https`, `mailto`"),
    "[x](snapshots/manifst.json)": (
        0,
        "dangling-link",
        "did you mean `snapshots/manifest.json`?",
    ),
    "{claim}`all-corect`": (0, "unknown-claim", "did you mean `all-correct`?"),
    "{vale}`probs[=,5]`": (0, "unknown-role", "did you mean `value`?"),
    "{value}`probs[=,55]`": (0, "unknown-label", "`5`"),
    "{value}`manifest.training.sed`": (0, "unknown-number", "did you mean `seed`?"),
    "text <br>": (0, "raw-html", ""),
}


@pytest.mark.parametrize("text", BAD_CHAPTERS)
def test_a_mistake_in_a_chapter_is_one_message_at_its_line(project: Path, text: str) -> None:
    offset, rule, hint = BAD_CHAPTERS[text]
    chapter = project / "content/zh/about.md"
    before = chapter.read_text("utf-8")
    chapter.write_text(f"{before}\n{text}\n", encoding="utf-8")
    (diagnostic,) = failure(project)
    assert (diagnostic.path, diagnostic.line) == (
        "content/zh/about.md",
        before.count("\n") + 2 + offset,
    )
    assert rule in diagnostic.rule
    assert hint in diagnostic.hint
    assert diagnostic.severity == "error"


def test_a_slip_in_the_id_of_a_claim_is_one_message(project: Path) -> None:
    line = substitute(project / "content/claims.yml", "  loss-near-floor:", "  loss-near-flor:")
    (diagnostic,) = failure(project)
    assert str(diagnostic) == (
        f"content/claims.yml:{line}:3: error: there is no claim `loss-near-flor` in "
        "builder/claims/predicates.py [unknown-claim]\n"
        "    loss-near-flor:\n"
        "    hint: did you mean `loss-near-floor`?"
    )


def test_a_claim_without_a_text_is_one_message(project: Path) -> None:
    claims = project / "content/claims.yml"
    text = claims.read_text("utf-8")
    start = text.index("  head-overwrite-fails:")
    end = start + re.search(r"\n  \w", text[start:]).start() + 1  # type: ignore[union-attr]
    claims.write_text(text[:start] + text[end:], encoding="utf-8")
    (diagnostic,) = failure(project)
    assert "the claim `head-overwrite-fails` has no text" in str(diagnostic)
    assert (diagnostic.path, diagnostic.line) == ("content/claims.yml", 3)


def test_all_mistakes_are_reported_together(project: Path) -> None:
    for language in ("zh", "en"):
        chapter = project / f"content/{language}/about.md"
        text = chapter.read_text("utf-8")
        chapter.write_text(f"{text}\n::: matrx\n:::\n\n$\\nope$\n", encoding="utf-8")
    assert [(d.path, d.rule) for d in failure(project)] == [
        ("content/en/about.md", "unknown-block"),
        ("content/en/about.md", "tex"),
        ("content/zh/about.md", "unknown-block"),
        ("content/zh/about.md", "tex"),
    ]


def test_mistakes_are_reported_again_from_the_cache(project: Path) -> None:
    substitute(project / "content/zh/about.md", SENTENCE, "[x](nowhere.html) $\\nope$")
    assert failure(project) == failure(project)


@pytest.mark.parametrize(
    ("file", "old", "new", "message", "hint"),
    [
        (
            "content/claims.yml",
            "第 1 层第 {head} 个头，在",
            "第 1 层第 {hed} 个头，在",
            "no such place to fill in as `{hed}`",
            "`{head}`",
        ),
        ("site_templates/strings.yml", "  votes:", "  votess:", "no text `figure.votes`", "votess"),
    ],
    ids=["place", "name"],
)
def test_a_text_that_cannot_be_filled_in_says_what_can(
    project: Path, file: str, old: str, new: str, message: str, hint: str
) -> None:
    substitute(project / file, old, new)
    (diagnostic,) = failure(project)
    assert diagnostic.path == file
    assert diagnostic.line
    assert message in diagnostic.message
    assert hint in diagnostic.hint


class Doubter(Computer):
    """Finds that a claim does not hold."""

    def run(self) -> Computed:
        computed = super().run()
        false = ClaimResult("all-correct", False, {"correct": 99, "of": 100})
        return replace(computed, claims=(false, *computed.claims[1:]))


def test_numbers_that_claims_deny_are_not_locked(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "model").mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setattr(build_module, "Computer", Doubter)
    assert main(["lock", "--quiet"]) == 1
    assert "the claim `all-correct` does not hold" in capsys.readouterr().err
    assert not (project / LOCK).exists()


def test_a_false_claim_is_one_message_with_its_numbers(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build_module, "Computer", Doubter)
    chapter = (project / "content/zh/evidence.md").read_text("utf-8").splitlines()
    (line,) = (n for n, text in enumerate(chapter, 1) if text == "::: census")
    (diagnostic,) = failure(project)
    assert str(diagnostic) == (
        "content/claims.yml:4:3: error: the claim `all-correct` does not hold: correct = 99, of = "
        "100 [false-claim]\n"
        "    all-correct:\n"
        "    hint: change what stands at content/zh/index.md:8 and "
        f"content/zh/evidence.md:{line} and content/en/index.md:8, "
        "or the seed under `model` in content/site.yml"
    )


@pytest.mark.parametrize(
    ("line", "old", "new", "message", "hint"),
    [
        (4, "  all-correct:", "  all-corect:", "there is no claim `all-corect`", "`all-correct`"),
        (6, "    en: Decoding", "    eng: Decoding", "unknown field `eng`", "`en`"),
        (6, "    en: Decoding", "    zh: Decoding", "`zh` is already given on line 5", ""),
        (3, "claim:", "claims:", "unknown group `claims`", "`claim`"),
    ],
)
def test_a_mistake_in_the_texts_of_claims_is_found(
    project: Path, line: int, old: str, new: str, message: str, hint: str
) -> None:
    substitute(project / "content/claims.yml", f"\n{old}", f"\n{new}")
    found = failure(project)
    assert all(diagnostic.path == "content/claims.yml" for diagnostic in found)
    (meant,) = (d for d in found if message in d.message)
    assert (meant.line, hint in meant.hint) == (line, True)


@pytest.mark.parametrize(
    ("name", "old", "new", "rule"),
    [
        ("base.html", "<head>", "{% if %}", "template"),
        ("base.html", "<head>", "{{ nothing.at.all }}", "template"),
        ("base.html", "<head>", '{% include "nothing.html" %}', "template"),
        ("404.html", "<head>", "{% endfor %}", "template"),
    ],
)
def test_a_broken_template_is_one_message_at_its_line(
    project: Path, name: str, old: str, new: str, rule: str
) -> None:
    template = project / "site_templates" / name
    line = substitute(template, old, new)
    (diagnostic,) = failure(project)
    assert (diagnostic.path, diagnostic.rule) == (f"site_templates/{name}", rule)
    assert diagnostic.line == line


@pytest.mark.parametrize("place", ["{number[0].x}", "{number:>9999999}", "{number!r}", "{", "{}"])
def test_a_text_has_only_plain_places(project: Path, place: str) -> None:
    line = substitute(project / "site_templates/strings.yml", "第 {number} 层", f"第 {place} 层")
    (diagnostic,) = failure(project)
    assert (diagnostic.line, diagnostic.rule) == (line, "text")


def remove_text(name: str) -> Callable[[Path], None]:
    def change(strings: Path) -> None:
        group, key = name.split(".")
        lines = strings.read_text("utf-8").splitlines()
        start = lines.index(f"{group}:")
        place = next(i for i in range(start, len(lines)) if lines[i].startswith(f"  {key}:"))
        lines[place] = lines[place].replace(f"{key}:", f"{key}_x:")
        strings.write_text("\n".join(lines), encoding="utf-8")

    return change


@pytest.mark.parametrize("name", ["page.skip", "figure.claim", "figure.stage_trained"])
def test_a_missing_text_of_the_interface_is_one_message(project: Path, name: str) -> None:
    remove_text(name)(project / "site_templates/strings.yml")
    (diagnostic,) = failure(project)
    assert diagnostic.path.startswith("site_templates/")
    assert name in diagnostic.message or name in diagnostic.excerpt


def test_a_wrong_place_in_a_text_is_one_message_at_its_line(project: Path) -> None:
    strings = project / "site_templates/strings.yml"
    line = substitute(strings, "已由构建检验：{statement}", "已由构建检验：{name}")
    (diagnostic,) = failure(project)
    assert (diagnostic.path, diagnostic.line) == ("site_templates/strings.yml", line)
    assert "{name}" in diagnostic.excerpt


@pytest.mark.parametrize("damage", [b"{", b"[]", b'{"files": 3}'])
def test_a_damaged_lock_is_noticed_before_the_site_is_replaced(
    project: Path, damage: bytes
) -> None:
    substitute(project / "content/zh/about.md", SENTENCE, EDITED)
    before = tree(project / "dist")
    (project / "model").mkdir()
    (project / "model/snapshots.lock.json").write_bytes(damage)
    with pytest.raises(BuildError) as caught:
        run(project)
    assert [diagnostic.rule for diagnostic in caught.value.diagnostics] == ["lock"]
    assert tree(project / "dist") == before


def test_a_folder_of_somebody_else_is_refused_before_anything_is_computed(project: Path) -> None:
    (project / "dist/notes.txt").write_text("mine")
    events: list[Event] = []
    (diagnostic,) = failure(project, on_event=events.append)
    assert diagnostic.path == "dist/notes.txt"
    assert events == []


@pytest.fixture
def both(project: Path) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """The old site, and the one that the next build will make; only the old one is there."""
    old = tree(project / "dist")
    substitute(project / "content/zh/about.md", SENTENCE, EDITED)
    run(project, out=project / "other")
    new = tree(project / "other")
    shutil.rmtree(project / "other")
    return old, new


def kill_after(seconds: float, project: Path) -> None:
    """Start a build and kill it if it still runs then."""
    with subprocess.Popen(COMMAND, env=ENVIRONMENT, cwd=project) as building:
        try:
            building.wait(seconds)
        except subprocess.TimeoutExpired:
            building.send_signal(signal.SIGKILL)


def test_a_build_that_is_killed_leaves_a_whole_site_whenever_it_is(
    project: Path, both: tuple[dict[str, bytes], dict[str, bytes]]
) -> None:
    about = project / "content/zh/about.md"
    started = time.perf_counter()
    subprocess.run(COMMAND, env=ENVIRONMENT, cwd=project, check=True)
    whole = time.perf_counter() - started
    moments = random.Random(2)
    for round_ in range(12):
        before, after = (SENTENCE, EDITED) if round_ % 2 else (EDITED, SENTENCE)
        substitute(about, before, after)
        if round_ % 4 == 3:
            shutil.rmtree(project / ".cache/pages", ignore_errors=True)
        kill_after(moments.uniform(0.2, 1.0) * whole, project)
        assert tree(project / "dist") in both
    run(project)
    assert tree(project / "dist") == both[1]
    assert not list(project.glob(".dist*"))


def test_two_builds_at_once_both_succeed(
    project: Path, both: tuple[dict[str, bytes], dict[str, bytes]]
) -> None:
    shutil.rmtree(project / ".cache/pages")
    builds = [subprocess.Popen(COMMAND, env=ENVIRONMENT, cwd=project) for _ in range(2)]
    assert [building.wait(60) for building in builds] == [0, 0]
    assert tree(project / "dist") == both[1]
    assert not list(project.glob(".dist*"))


@pytest.fixture
def held(project: Path) -> Iterator[int]:
    """The project's folder, held as a build holds it."""
    folder = os.open(project, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    yield folder
    os.close(folder)


def test_a_build_waits_for_another_one_and_says_so(project: Path, held: int) -> None:
    command = [part for part in COMMAND if part != "--quiet"]
    with subprocess.Popen(
        command, env=ENVIRONMENT, cwd=project, stderr=subprocess.PIPE, text=True
    ) as waiting:
        assert waiting.stderr is not None
        said = waiting.stderr.readline()
        is_waiting = waiting.poll() is None
        fcntl.flock(held, fcntl.LOCK_UN)  # first, so that it ends whatever it has said
        waiting.communicate(timeout=60)
    assert said == f"waiting for another build in {project}\n"
    assert is_waiting
    assert waiting.returncode == 0


def test_two_projects_with_one_site_folder_take_turns(project: Path, tmp_path: Path) -> None:
    copy_project(project, tmp_path / "other")
    out = tmp_path / "shared/site"
    command = [*COMMAND, "--out", str(out)]
    roots = [project, tmp_path / "other"]
    substitute(tmp_path / "other/content/zh/about.md", SENTENCE, EDITED)
    builds = [subprocess.Popen(command, env=ENVIRONMENT, cwd=root) for root in roots * 2]
    assert [building.wait(60) for building in builds] == [0] * 4


def test_a_failed_build_lets_the_next_one_in(project: Path) -> None:
    substitute(project / "content/zh/about.md", SENTENCE, "$\\nope$")
    failure(project)
    substitute(project / "content/zh/about.md", "$\\nope$", SENTENCE)
    run(project)
