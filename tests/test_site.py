"""`content/` is read strictly: each mistake is one message with its file, line and a way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from builder.content.loader import load_site, split_front_matter
from builder.content.site import Site
from builder.errors import BuildError, Diagnostic, Diagnostics, Location
from model.config import PRESETS
from tests.projects import substitute

CONFIG = """\
title: {zh: 标题, en: Title}
description: {zh: 说明, en: Description}
languages:
  - {code: zh, name: 中文}
  - {code: en, name: English, state: in progress}
chapters:
  - index
  - second
base_url: https://example.org/attention
problem: 7x8
model:
  preset: multiplication
  seed: 5
"""
CHAPTER = """\
---
title: Chapter
summary: One sentence.
---

Text.
"""


@pytest.fixture
def content(tmp_path: Path) -> Path:
    folder = tmp_path / "content"
    for language in ("zh", "en"):
        (folder / language).mkdir(parents=True)
        for slug in ("index", "second"):
            (folder / language / f"{slug}.md").write_text(CHAPTER, encoding="utf-8")
    (folder / "site.yml").write_text(CONFIG, encoding="utf-8")
    return folder


def load(content: Path) -> tuple[Site | None, list[str]]:
    diagnostics = Diagnostics()
    try:
        site = load_site(content, diagnostics)
    except BuildError as error:
        assert error.diagnostics == tuple(diagnostics)
        return None, [str(diagnostic) for diagnostic in diagnostics]
    return site, [str(diagnostic) for diagnostic in diagnostics]


def problem_after(content: Path, old: str, new: str, name: str = "site.yml") -> str:
    """Make one substitution; return the one problem that it makes."""
    substitute(content / name, old, new)
    problems = load(content)[1]
    assert len(problems) == 1, problems
    return problems[0]


def test_a_correct_configuration_is_read_whole(content: Path) -> None:
    site, problems = load(content)
    assert problems == []
    assert site is not None
    assert site.title == {"zh": "标题", "en": "Title"}
    assert [(x.code, x.prefix, x.is_finished) for x in site.languages] == [
        ("zh", "", True),
        ("en", "en/", False),
    ]
    assert list(site.slugs) == ["index", "second"]
    assert site.base_url == "https://example.org/attention/"
    assert site.preset == PRESETS["multiplication"].override(seed=5)
    assert site.url(site.languages[1], "second") == "en/second.html"
    chapter = site.chapters["en", "second"]
    assert (chapter.title, chapter.short_title, chapter.problem) == ("Chapter", "Chapter", "7x8")
    assert (chapter.path, chapter.body, chapter.body_line) == (
        "content/en/second.md",
        "\nText.\n",
        5,
    )


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("problem: 7x8", "problm: 7x8", "10:1: error: unknown field `problm` [unknown-field]"),
        ("problem: 7x8", "problem: 7x80", "10:1: error: there is no problem `7x80`"),
        ("problem: 7x8", "problem: 78", "10:1: error: `problem` must be text"),
        ("problem: 7x8", "base_url: x", "10:1: error: `base_url` is already given on line 9"),
        ("title: {zh: 标题, en: Title}", "title: Title", "1:1: error: `title` must be a mapping"),
        (", en: Title", "", "1: error: `en` is missing"),
        (", en: Title", ", en: T, fr: T", "1:24: error: unknown field `fr`"),
        ("state: in progress", "state: in-progress", "5:31: error: unknown state `in-progress`"),
        ("name: English, ", "nme: English, name: E, ", "5:16: error: unknown field `nme`"),
        ("{code: zh, name: 中文}", "zh", "4:5: error: a language is a mapping, not `zh`"),
        ("{code: zh, name: 中文}", "[zh]", "4:5: error: a language is a mapping, not a list"),
        ("{code: zh, name: 中文}", "null", "4:5: error: a language is a mapping, not `null`"),
        ("code: zh, ", "", "4: error: `code` is missing"),
        ("code: zh,", "code: 7,", "4:6: error: `code` must be text"),
        ("code: zh,", "code: [zh],", "4:6: error: `code` must be text"),
        (
            "preset: multiplication",
            "preset: addition",
            "12:3: error: there is no preset `addition`",
        ),
        ("  seed: 5", "  sed: 5", "13:3: error: unknown field `sed`"),
        ("  seed: 5", "  seed: five", "13:3: error: `seed` = 'five' must be a whole number"),
        ("  seed: 5", "  seed: 5.5", "13:3: error: `seed` = 5.5 must be a whole number"),
        ("  seed: 5", "  seed: true", "13:3: error: `seed` = True must be a whole number"),
        ("  seed: 5", "  seed: [5]", "13:3: error: `seed` must be a number"),
        ("  seed: 5", "  seed: {a: 5}", "13:3: error: `seed` must be a number"),
        ("  seed: 5", "  seed: -1", "13:3: error: `seed` = -1 must not be negative"),
        ("  seed: 5", "  seed: -1\nseeds: [3]", "13:3: error: `seed` = -1 must not be"),
        ("  seed: 5", "  seed: " + "9" * 20, "13:3: error: `seed` = 99999999999999999999 must be"),
        ("  seed: 5", "  steps: 0", "13:3: error: `steps` = 0 must be finite and greater than 0"),
        ("  seed: 5", "  steps: 1" + "0" * 400, "13:3: error: `steps` = 1000"),
        ("  seed: 5", "  learning_rate: 1" + "0" * 400, "13:3: error: `learning_rate` = 1000"),
        ("  seed: 5", "  learning_rate: 1e999", "13:3: error: `learning_rate` = inf must be"),
        (
            "  seed: 5",
            "  beta1: 1",
            "13:3: error: `beta1` = 1.0 must be at least 0 and less than 1",
        ),
        ("  seed: 5", "  gradient_grid: 0.3", "13:3: error: `gradient_grid` = 0.3 must be a power"),
        ("  seed: 5", "  d_model: 9", "13:3: error: `d_model` = 9 is not divisible by `n_heads`"),
        ("  seed: 5", "  seed: null", "13:3: error: `seed` must be a number"),
        ("languages:", "langauges:", "3:1: error: unknown field `langauges`"),
        ("chapters:", "chapter:", "6:1: error: unknown field `chapter`"),
        ("title: {", "titel: {", "1:1: error: unknown field `titel`"),
        (", en: Title", ", fr: Title", "1:17: error: unknown field `fr`"),
        ("  seed: 5", "  n_heads: 3", "13:3: error: `d_model` = 8 is not divisible by `n_heads`"),
        ("  seed: 5", "  n_heads: 0", "13:3: error: `n_heads` = 0 must be"),
        ("  seed: 5", "  n_layers: 1", "13:3: error: `n_layers` = 1 is too small: claims compare"),
        ("  seed: 5", "  d_vocab: 13", "13:3: error: `d_vocab` = 13 is too small: the task has 14"),
        ("  seed: 5", "  d_vocab: 20", "13:3: error: `d_vocab` = 20 is too large: the task has 14"),
        ("  seed: 5", "  n_ctx: 6", "13:3: error: `n_ctx` = 6 is too small: a problem has 7"),
        ("  seed: 5", "  d_model: 1" + "0" * 400, "13:3: error: the matrices would have 800,"),
        ("https://example.org/attention", "example.org", "9:1: error: `base_url` = `example.org`"),
        *(
            ("https://example.org/attention", address, "9:1: error: `base_url` = ")
            for address in ("https://e.org/?a", "https://:80/", "https://e:x/", "https://例.org/")
        ),
        ("https://example.org/attention", "ftp://e.org/", "9:1: error: `base_url` = "),
        ("  - index\n  - second", "  []", "6:1: error: `chapters` lists nothing"),
        ("  - second", "  - {second: x}", "8:5: error: a mapping is not a page name"),
        ("  - second", "  - [second]", "8:5: error: a list is not a page name"),
        ("  - second", "  -", "8:4: error: `null` is not a page name"),
        ("  - second", "  - true", "8:5: error: `true` is not a page name"),
        ("  - second", "  - 2.0", "8:5: error: `2.0` is not a page name"),
        ("problem: 7x8", "seeds: []", "10:1: error: `seeds` lists nothing"),
        ("problem: 7x8", "seeds: 3", "10:1: error: `seeds` must be a list"),
        *(
            ("problem: 7x8", f"seeds: [3, {seed}]", f"10:12: error: `{seed}` is not a seed")
            for seed in ("-1", "3.0", "x", "true", str(2**53))
        ),
        ("problem: 7x8", "seeds: [3, 9, 3]", "10:15: error: the seed `3` is already listed"),
    ],
)
def test_a_mistake_in_the_configuration_is_one_message_at_its_line(
    content: Path, old: str, new: str, expected: str
) -> None:
    assert problem_after(content, old, new).startswith(f"content/site.yml:{expected}")


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        ("state: in progress", "state: in-progress", "did you mean `in progress`?"),
        ("problem: 7x8", "problem: 7×8", "did you mean `7x8`?"),
        ("problem: 7x8", "problem: seven", "such as `7x8`"),
        ("preset: multiplication", "preset: multiplicaton", "did you mean `multiplication`?"),
        ("  seed: 5", "  n_head: 2", "did you mean `n_heads`?"),
        ("problem: 7x8", "problm: 7x8", "did you mean `problem`?"),
    ],
)
def test_the_nearest_valid_choice_is_named(content: Path, old: str, new: str, hint: str) -> None:
    assert problem_after(content, old, new).endswith(f"hint: {hint}")


@pytest.mark.parametrize(
    ("slug", "nearest"),
    [
        ("Second", "did you mean `second`?"),
        ("se_cond", "did you mean `se-cond`?"),
        ("-second", "did you mean `second`?"),
        ("se--cond", "did you mean `se-cond`?"),
        ("../second", "did you mean `second`?"),
        ("second.md", "did you mean `second`?"),
        ("第二章", "such as `reading-table`"),
    ],
)
def test_a_chapter_needs_a_plain_name(content: Path, slug: str, nearest: str) -> None:
    problem = problem_after(content, "  - second", f"  - {slug}")
    assert problem == (
        f"content/site.yml:8:5: error: `{slug}` is not a page name: use a-z, 0-9 and single "
        f"hyphens [chapter-name]\n    - {slug}\n    hint: {nearest}"
    )


@pytest.mark.parametrize(
    ("slug", "message"),
    [
        ("index", "the chapter `index` is already listed on line 7"),
        ("'404'", "`404` is the page for addresses that do not exist"),
    ],
)
def test_a_chapter_is_neither_listed_twice_nor_given_a_reserved_name(
    content: Path, slug: str, message: str
) -> None:
    problem = problem_after(content, "  - second", f"  - second\n  - {slug}")
    assert problem.startswith(f"content/site.yml:9:5: error: {message} [chapter-name]")


def test_the_first_chapter_is_the_cover(content: Path) -> None:
    problem = problem_after(content, "  - index\n  - second", "  - second\n  - index")
    assert problem.startswith(
        "content/site.yml:7:5: error: the first chapter must be `index`, not `second`"
    )


@pytest.mark.parametrize("code", ["ZH", "z", "zh_CN", "zh-", "../zh", "'no way'", "''"])
def test_a_language_needs_a_code(content: Path, code: str) -> None:
    problem = problem_after(content, "code: zh,", f"code: {code},")
    plain = code.strip("'")
    assert problem.startswith(f"content/site.yml:4:6: error: `{plain}` is not a language code")
    assert problem.endswith("hint: such as `en` or `zh-Hant`")


def test_a_language_is_listed_once(content: Path) -> None:
    problem = problem_after(content, "code: zh,", "code: en,")
    message = "the language `en` is already listed on line 4"
    assert problem.startswith(f"content/site.yml:5:6: error: {message} [language-code]")


@pytest.mark.parametrize("code", ["fr", "zh-Hant", "yue"])
def test_a_language_code_may_have_a_script_or_region(content: Path, code: str) -> None:
    config = content / "site.yml"
    config.write_text(config.read_text("utf-8").replace("en", code), encoding="utf-8")
    (content / "en").rename(content / code)
    site, _ = load(content)
    assert site is not None
    assert [language.code for language in site.languages] == ["zh", code]


def test_a_missing_chapter_of_a_finished_language_is_an_error(content: Path) -> None:
    (content / "zh/second.md").unlink()
    _, problems = load(content)
    assert problems == [
        "content/site.yml:8:5: error: there is no `content/zh/second.md` [missing-chapter]\n"
        "    - second\n    hint: write it, or take it off the list"
    ]


def test_a_chapter_whose_name_is_a_slip_is_one_message_that_offers_the_file(content: Path) -> None:
    problem = problem_after(content, "  - second", "  - secnd")
    assert problem == (
        "content/site.yml:8:5: error: there is no `content/zh/secnd.md` [missing-chapter]\n"
        "    - secnd\n    hint: did you mean `second`?"
    )


def test_a_missing_chapter_of_a_language_in_progress_is_fine(content: Path) -> None:
    (content / "en/second.md").unlink()
    site, problems = load(content)
    assert problems == []
    assert site is not None
    assert ("en", "second") not in site.chapters


def test_a_chapter_that_no_language_has_is_an_error(content: Path) -> None:
    substitute(content / "site.yml", "name: 中文}", "name: 中文, state: in progress}")
    for language in ("zh", "en"):
        (content / language / "second.md").unlink()
    assert load(content)[1] == [
        "content/site.yml:8:5: error: there is no `content/zh/second.md` and no "
        "`content/en/second.md` [missing-chapter]\n"
        "    - second\n    hint: write it, or take it off the list"
    ]


def test_a_chapter_that_is_not_listed_is_a_warning(content: Path) -> None:
    (content / "en/draft.md").write_text(CHAPTER, encoding="utf-8")
    site, problems = load(content)
    assert site is not None
    assert problems == [
        "content/en/draft.md: warning: this chapter is not listed and will not be built "
        "[unlisted-chapter]\n    hint: add it to `chapters` in content/site.yml"
    ]


def test_a_warning_of_before_does_not_stop_the_reading(content: Path) -> None:
    diagnostics = Diagnostics([Diagnostic("x", 0, 0, "before", "", severity="warning")])
    assert load_site(content, diagnostics).slugs == ["index", "second"]


def test_the_places_of_the_models_fields_are_kept(content: Path) -> None:
    site, _ = load(content)
    assert site is not None
    assert site.locations == {
        "model": Location("content/site.yml", 11, 1, "model:"),
        "preset": Location("content/site.yml", 12, 3, "  preset: multiplication"),
        "seed": Location("content/site.yml", 13, 3, "  seed: 5"),
    }


def test_a_missing_configuration_is_one_message(content: Path) -> None:
    (content / "site.yml").unlink()
    assert load(content) == (
        None,
        ["content/site.yml: error: this file does not exist [missing-file]"],
    )


def test_a_broken_link_is_no_unwritten_chapter(content: Path) -> None:
    (content / "en/second.md").unlink()
    (content / "en/second.md").symlink_to("nowhere.md")
    found = "\n".join(load(content)[1])
    assert "content/en/second.md: error: this file does not exist [missing-file]" in found


def test_a_control_character_has_its_line(content: Path) -> None:
    with (content / "zh/index.md").open("a", encoding="utf-8") as chapter:
        chapter.write("\n\n\x1b[31m")
    n_lines = (content / "zh/index.md").read_text("utf-8").count("\n") + 1
    message = f"content/zh/index.md:{n_lines}: error: character 0x1b is no text"
    hint = "    hint: delete it, or save the file as UTF-8"
    assert load(content)[1] == [f"{message} [control-character]\n{hint}"]


def test_a_folder_in_place_of_a_file_is_one_message(content: Path) -> None:
    (content / "zh/index.md").unlink()
    (content / "zh/index.md").mkdir()
    assert load(content)[1] == [
        "content/zh/index.md: error: this is not a regular file [unreadable-file]"
    ]


def test_bytes_that_are_not_utf8_are_reported_at_their_line(content: Path) -> None:
    (content / "zh/index.md").write_bytes(CHAPTER.encode() + b"\nabc \xff\n")
    assert load(content)[1] == [
        "content/zh/index.md:8: error: byte 0xff is not UTF-8 text [not-utf8]\n"
        "    hint: save the file as UTF-8"
    ]


def test_a_configuration_of_garbage_is_one_message(content: Path) -> None:
    for garbage in (b"\xff\xfe", b"\x00", b"[", b"- a", b"a: &x [*x]"):
        (content / "site.yml").write_bytes(garbage)
        site, problems = load(content)
        assert site is None
        assert len(problems) == 1


def test_windows_line_ends_and_a_byte_order_mark_change_nothing(content: Path) -> None:
    chapter = "\ufeff" + CHAPTER.replace("\n", "\r\n")
    (content / "zh/index.md").write_bytes(chapter.encode())
    site, problems = load(content)
    assert problems == []
    assert site is not None
    assert site.chapters["zh", "index"].body == "\nText.\n"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("summary:", "sumary:", "3:1: error: unknown field `sumary` [unknown-field]"),
        (
            "summary: One sentence.",
            "title: Again",
            "3:1: error: `title` is already given on line 2",
        ),
        ("title: Chapter", "short_title: x", "2: error: `title` is missing"),
        ("title: Chapter", "titel: Chapter", "2:1: error: unknown field `titel`"),
        ("title: Chapter", "title: 7", "2:1: error: `title` must be text"),
        ("title: Chapter", "title: [", "2:8: error: not valid YAML: "),
        ("title: Chapter", "title: Chapter\nproblem: 10x10", "3:1: error: there is no problem"),
        ("---\ntitle", "--\ntitle", "1:1: error: the chapter does not start with front matter"),
        ("sentence.\n---", "sentence.\n--", "1:1: error: the chapter does not start with front"),
    ],
)
def test_a_mistake_in_front_matter_is_one_message_at_its_line(
    content: Path, old: str, new: str, expected: str
) -> None:
    problem = problem_after(content, old, new, "zh/second.md")
    assert problem.startswith(f"content/zh/second.md:{expected}")


def test_a_chapter_may_choose_its_problem(content: Path) -> None:
    substitute(content / "zh/second.md", "title: Chapter", "title: Chapter\nproblem: 3x4")
    site, _ = load(content)
    assert site is not None
    assert site.chapters["zh", "second"].problem == "3x4"


def test_front_matter_ends_at_the_first_line_of_three_hyphens() -> None:
    assert split_front_matter("---\na: 1\n---\nx\n---\n") == ("a: 1\n", "x\n---\n", 4)
    assert split_front_matter("---\n---") == ("", "", 2)
    assert split_front_matter("text\n---\n---\n") == (None, "text\n---\n---\n", 1)
