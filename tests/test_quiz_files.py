"""Quiz files: what is read from them, and what is said of each mistake in them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from builder.content.quiz import Quiz
from builder.content.quiz_files import load_quizzes
from builder.errors import Diagnostic, Diagnostics
from builder.markdown import render
from builder.quiz.marks import filled
from builder.quiz_items import rendered_quiz
from tests.rendering import LANGUAGES, QUIZZED, ROOT, context

FIXTURE = (ROOT / "tests/fixtures/content/zh/quiz/index.yml").read_text(encoding="utf-8")
SHOWN = "content/zh/quiz/index.yml"


def load(folder: Path, text: str, name: str = "index.yml") -> tuple[Quiz | None, list[str]]:
    """Read a quiz; return it with its messages."""
    path = folder / "content/zh/quiz" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    found = Diagnostics()
    quizzes = load_quizzes(folder / "content", LANGUAGES, {("zh", "index"): QUIZZED}, found)
    return quizzes.get(("zh", "index")), [str(diagnostic) for diagnostic in found]


def shown(folder: Path, text: str) -> tuple[str, list[str]]:
    """Show a quiz that reads well; return its items with their messages."""
    quiz, problems = load(folder, text)
    assert quiz is not None
    assert problems == []
    facts = rendered_quiz(quiz, context("")).facts
    return facts["html"], [str(Diagnostic(**fact)) for fact in facts["diagnostics"]]


def changed(old: str, new: str) -> str:
    """The fixture with a text changed that it has once."""
    assert FIXTURE.count(old) == 1, old
    return FIXTURE.replace(old, new)


def line_of(problem: str, text: str) -> str:
    """The line of a quiz that a message names."""
    path, line, _ = problem.split(":", 2)
    assert path == SHOWN
    return text.splitlines()[int(line) - 1]


def test_a_quiz_is_read_with_the_place_of_everything(tmp_path: Path) -> None:
    quiz, problems = load(tmp_path, FIXTURE)
    assert problems == []
    assert quiz is not None
    side, share = quiz.items
    assert [item.name for item in quiz.items] == ["side", "share"]
    assert [option.is_right for option in side.options] == [True, False, False]
    assert (side.problem, share.problem) == ("7x8", "7x0")
    assert share.number is not None
    assert share.number.options == {"decimals": "3"}
    assert [m.name or m.address for m in share.number.mistakes] == [
        "no-scale",
        "uniform",
        "blocks.0.attn.pattern[head-found,×,×]",
    ]
    lines = FIXTURE.splitlines()
    assert "right" in lines[side.options[0].text.line]
    assert "分数是" in lines[share.question.line - 1]  # a literal text starts below its field


MALFORMED = [
    # what is changed, what stands on the line that is named, and what is said
    ("side:\n", "Side A:\n", "Side A:", "`Side A` is not a name: use a-z, 0-9 and single hyphens"),
    (
        "  section: one-row\n  question: 混合",
        "  question: 混合",
        "side:",
        "`section` is missing in `side`",
    ),
    ("question: 混合", "qestion: 混合", "qestion", "did you mean `question`?"),
    (
        "      right: true\n",
        "",
        "options:",
        "none of the options is right",
        "one has `right: true`",
    ),
    ("- text: 右边", "- right: true\n      text: 右边", "options:", "2 of the options are right"),
    (
        "right: true",
        "right: True",
        "right: True",
        "`right` must be true or false",
        "it is `True`: write `true` or `false`",
    ),
    ("options:\n", "options: []\n  else:\n", "options:", "`options` lists nothing"),
    (
        '    - text: 两边\n      because: "`A` 只有一张。"\n',
        "",
        "options:",
        "2 options are too few",
        "3",
    ),
    ("- text: 右边", "- text: 左边", "- text: 左边", "this option stands on line 6 already"),
    ("- text: 右边", "- txt: 右边", "- txt", "did you mean `text`?"),
    ("      because: 那样只混合一行之内的数。\n", "", "- text: 右边", "`because` is missing"),
    ("because: 平分。", "because: ''", "because: ''", "`because` is empty", "because: ..."),
    ("because: 平分。", "because:", "because:", "`because` is empty", "write `because: ...`"),
    ("because: 平分。", "because: '- 平分'", "because", "begins no block here", "figures stand"),
    ("because: 平分。", "because: '# 平分'", "because", "`#` begins no block here"),
    ("because: 平分。", "because: 平分 # 四处", "because", "is a comment", "quote the text"),
    ("because: 平分。", 'because: "$\\frac 1 2$"', "because", "is an escape", "single quotes"),
    ("because: 平分。", 'because: "$W^\\top$"', "because", "is an escape", "single quotes"),
    ("because: 平分。", 'because: "$2 \\neq 3$"', "because", "is an escape", "single quotes"),
    ("because: 平分。", 'because: "$\\sqrt 4$"', "because", "escape character", "single quotes"),
    (
        "    和 {value}",
        "    ::: matrix embed\n    :::\n    和 {value}",
        "::: matrix",
        "`:::` begins no block",
    ),
    ("    和 {value}", "\n    和 {value}", "", "an empty line ends the paragraph", "leave"),
    (
        "- mistake: uniform",
        "- mistake: uniform\n      address: logits",
        "address: logits",
        "both `mistake` and `address`",
        "leave one of them out",
    ),
    ("- address: blocks", "- adress: blocks", "adress", "did you mean `address`?"),
    ("decimals: 3", 'decimals: "3"', "decimals", "it is `3` in quotes: leave them out"),
    ("side:\n", "sides: 一句话\nside:\n", "sides:", "must be a mapping", "below it, indented"),
    ("  options:\n", "  number: logits\n  options:\n", "side:", "both `options` and `number`"),
    (
        "  number: blocks",
        "  place: blocks",
        "share:",
        "neither `options` nor a `number`",
        "ADDRESS",
    ),
    ("  number: blocks", "  nunber: blocks", "nunber", "did you mean `number`?"),
    ("problem: 7x0", "problem: 7x10", "7x10", "there is no problem `7x10`", "did you mean `7x1`?"),
    ("decimals: 3", "decimals: three", "three", "`decimals` must be a whole number"),
    (
        "- mistake: uniform",
        "- mistake: no-scale",
        "no-scale",
        "`no-scale` stands on line",
        "already",
    ),
    ("- mistake: uniform", "- mistke: uniform", "mistke", "did you mean `mistake`?"),
    (
        "- mistake: uniform\n      because: 平分。",
        "- uniform",
        "- uniform",
        "is a mapping, not `uniform`",
    ),
    ("share:\n", "side:\n", "side:", "`side` is already given on line 2"),
    ("question: 混合", "question: *a 混合", "*a", "not valid YAML", "quote it"),
    (
        "混合各行的矩阵，乘在哪一边？",
        "[混合]",
        "question",
        "`question` must be text",
        "it is a list",
    ),
]


BREAKS_MORE = ("options: []\n  else:\n", "  place: blocks")
"""Changes of these that are wrong in other ways too."""


def test_more_options_than_anybody_reads_are_an_error(tmp_path: Path) -> None:
    more = "".join(f"    - text: 第 {n} 边\n      because: 没有。\n" for n in range(4))
    _, (problem,) = load(tmp_path, changed("    - text: 右边\n", f"{more}    - text: 右边\n"))
    assert "7 options are too many [many-options]" in problem
    assert "at most 6" in problem
    more = "".join(f"    - mistake: no-{n}\n      because: 没有。\n" for n in range(3))
    text = changed("    - mistake: uniform\n", f"{more}    - mistake: uniform\n")
    _, (problem,) = load(tmp_path, text)
    assert "6 mistakes are too many [many-options]" in problem


def test_options_that_are_numbers_are_not_said_to_be_one_option(tmp_path: Path) -> None:
    text = FIXTURE.replace("- text: 左边", "- text: 4").replace("- text: 右边", "- text: 8")
    _, problems = load(tmp_path, text)
    assert len(problems) == 2
    assert all("must be text" in problem for problem in problems)


@pytest.mark.parametrize("case", MALFORMED, ids=lambda case: f"{case[1]!r}")
def test_a_mistake_in_the_form_of_a_quiz_is_said_with_its_line(
    tmp_path: Path, case: tuple[str, ...]
) -> None:
    old, new, at, *said = case
    text = changed(old, new)
    _, problems = load(tmp_path, text)
    (found,) = [problem for problem in problems if all(part in problem for part in said)]
    assert at in line_of(found, text)
    assert problems == [found] or new in BREAKS_MORE


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("indx.yml", "there is no chapter `indx` in this language [quiz-name]", "`index`"),
        ("index.yaml", "only files called `CHAPTER.yml` are read here", "call it `index.yml`"),
    ],
)
def test_a_file_of_no_chapter_is_an_error(
    tmp_path: Path, name: str, message: str, hint: str
) -> None:
    quiz, (problem,) = load(tmp_path, FIXTURE, name)
    assert quiz is None
    assert problem.startswith(f"content/zh/quiz/{name}: error: {message}")
    assert hint in problem


@pytest.mark.parametrize(
    "name", [".index.yml.swp", ".#index.yml", "index.yml~", "#index.yml#", ".DS_Store", "notes.txt"]
)
def test_what_editors_and_systems_leave_beside_a_quiz_is_no_quiz(tmp_path: Path, name: str) -> None:
    load(tmp_path, FIXTURE)
    beside = tmp_path / "content/zh/quiz" / name
    if name.startswith(".#"):
        beside.symlink_to("user@host.4711")
    else:
        beside.write_bytes(b"\xff")
    (tmp_path / "content/zh/quiz/empty").mkdir()
    quiz, problems = load(tmp_path, FIXTURE)
    assert quiz is not None
    assert problems == []


def test_a_link_to_a_quiz_that_is_gone_is_said_to_be_one(tmp_path: Path) -> None:
    load(tmp_path, FIXTURE)
    path = tmp_path / "content/zh/quiz/index.yml"
    path.unlink()
    path.symlink_to("nowhere.yml")
    found = Diagnostics()
    quizzes = load_quizzes(tmp_path / "content", LANGUAGES, {("zh", "index"): QUIZZED}, found)
    assert quizzes == {}
    (problem,) = found
    assert "this file does not exist [missing-file]" in str(problem)


def test_an_empty_file_is_an_error(tmp_path: Path) -> None:
    _, (problem,) = load(tmp_path, "# nothing\n")
    assert "this file has no item [missing-field]" in problem


def test_a_language_without_a_folder_has_no_quiz(tmp_path: Path) -> None:
    found = Diagnostics()
    chapters = {("zh", "index"): QUIZZED}
    assert load_quizzes(tmp_path / "content", LANGUAGES, chapters, found) == {}
    assert list(found) == []


ASKED = "number: blocks.0.attn.pattern[head-found,×,7]"
READ = "- address: blocks.0.attn.pattern[head-found,×,×]"
SCORE = "blocks.0.attn.attn_scores[head-found,×,=]"
WRONG = [
    # what is changed, what stands on the line that is named, and what is said
    (ASKED, "number: blocks.0.attn.patern[1,×,7]", "", "no tensor is called", "did you mean"),
    (ASKED, "number: blocks.0.attn.pattern[1]", "", "is a matrix, not a number [address]"),
    (ASKED, f"number: {SCORE}", "", "is masked: there is no number to predict", "up to the row"),
    ("- mistake: no-scale", "- mistake: no-scales", "", "no mistake with", "mean `no-scale`?"),
    ("- mistake: no-scale", "- mistake: no-relu", "", "`no-relu` is no mistake with"),
    (READ, "- address: blocks.0.attn.pattern[1,×,8]", "", "the axis `key` has no `8`"),
    (READ, f"- address: {SCORE}", "", "is masked: there is no number to take for the right one"),
    ("decimals: 3", "decimals: 13", "", "`decimals` = `13` must be 0 to 12 [bad-decimals]"),
    ("decimals: 3", "stage: traned", "", "there is no stage `traned`", "did you mean `trained`?"),
    ("decimals: 3", "format: hole", "", "there is no format `hole`", "did you mean `whole`?"),
    ("decimals: 3", 'target: "="', "", "is no gradient, so it has no target"),
    ("decimals: 3", 'target: "+"', "", "has no `+`", "`@0` to `@4`"),
    ("decimals: 3", 'until: "@9"', "", "has no `@9`", "`@0` to `@4`"),
    ("decimals: 3", "decimals: 12", "", "more than are stored of every number", "at most 6"),
    ("decimals: 3", "format: whole", "", "`whole` makes 1 of 0.5739717, which is not whole"),
    (
        READ,
        "- address: blocks.0.attn.pattern[1,@1,@0]",
        "",
        "is the very number that is asked for [right-address]",
        "a reader takes for it",
    ),
    (ASKED, "number: blocks.0.attn.pattern[head-fond,×,7]", "", "did you mean `head-found`?"),
    (ASKED, "number: blocks.0.attn.pattern[head,×,7]", "", "a claim that finds one: `head-found`"),
    ("text: 右边", "text: '**左边**'", "", "looks like the one on line 6 [repeated-option]"),
    ("text: 右边", "text: '右边`'", "", "this backtick stays literal [literal-backtick]"),
    ("decimals: 3", "decimals: 0", ASKED, "only 2 options differ as they are shown", "`decimals`"),
    (
        "那样只混合",
        "见 {value}`prob[=,5]`",
        "",
        "no tensor is called `prob`",
        "did you mean `probs`?",
    ),
    (
        "和 {value}`blocks.0.attn.attn_scores[head-found,×,×]`",
        "和 {value}`probs[=,y]`",
        "",
        "no `y`",
    ),
    ("平分。", "平分 {claim}`head-fond`。", "", "there is no claim `head-fond`", "`head-found`?"),
    ("平分。", "平分，就是 0.25。", "", "warning: `0.25` is typed by hand", "{value}`ADDRESS`"),
    (
        "平分。",
        "平分 {value}`probs[=,5] follow=position`。",
        "",
        "numbers of a quiz follow nothing",
    ),
    ("平分。", "平分，见[别处]()。", "", "this link has no target"),
]


@pytest.mark.parametrize("case", WRONG, ids=lambda case: case[3])
def test_what_is_wrong_with_the_numbers_of_an_item_is_said_at_its_line(
    tmp_path: Path, case: tuple[str, ...]
) -> None:
    old, new, at, *said = case
    text = changed(old, new)
    _, (problem,) = shown(tmp_path, text)
    assert all(part in problem for part in said), problem
    assert (at or new) in line_of(problem, text)
    assert (at or new) in problem  # the line is shown


def test_a_mistake_needs_a_source_that_its_reader_sees(tmp_path: Path) -> None:
    text = changed(ASKED, "number: blocks.0.attn.pattern[head-found,×,=]")
    _, problems = shown(tmp_path, text)
    assert {line_of(problem, text).strip() for problem in problems} == {
        "- mistake: no-scale",
        "- mistake: uniform",
    }
    assert all("is of a source that comes after its reader [no-number]" in p for p in problems)


def test_a_mistake_that_looks_like_another_option_is_left_out_with_a_warning(
    tmp_path: Path,
) -> None:
    text = changed(
        "    - mistake: uniform\n",
        "    - address: blocks.0.attn.pattern[0,@0,@0]\n      because: 第一格。\n"
        "    - address: blocks.0.attn.pattern[1,@0,@0]\n      because: 又一格。\n"
        "    - mistake: uniform\n",
    )
    html, (problem,) = shown(tmp_path, text)
    assert "第一格" in html
    assert "又一格" not in html
    assert html.count('name="index/share"') == 5
    assert "warning: `blocks.0.attn.pattern[1,@0,@0]` gives 1.000 like" in problem
    assert "[left-out]" in problem
    assert line_of(problem, text).strip() == "- address: blocks.0.attn.pattern[1,@0,@0]"


def test_a_mistake_with_what_has_no_catalogue_says_what_to_write_instead(tmp_path: Path) -> None:
    text = changed(ASKED, "number: claims.head-found.layer")
    _, problems = shown(tmp_path, text)
    assert "say by `address` what is read instead" in problems[0]


SECOND = """
second:
  section: one-row
  question: |
    这一格是 {value}`blocks.0.attn.pattern[1,@1,@0] decimals=1`。
  options:
    - text: 左边
      right: true
      because: 是。
    - text: 右边
      because: 不是。
    - text: 两边
      because: 不是。
"""


def test_a_stem_that_shows_the_answer_of_another_item_is_a_warning(tmp_path: Path) -> None:
    text = FIXTURE + SECOND
    _, (problem,) = shown(tmp_path, text)
    assert "warning: `second` shows 0.6, and the answer of `share` on the same page" in problem
    assert "[answer-given-away]" in problem
    assert line_of(problem, text).strip() == "question: |"
    elsewhere = text.replace("[1,@1,@0] decimals=1", "[1,@1,@0] problem=8x7 decimals=1")
    assert shown(tmp_path, elsewhere)[1] == []
    alike = text.replace("0.attn.pattern[1,@1,@0] decimals=1", "1.attn.pattern[0,@1,@1] decimals=1")
    assert shown(tmp_path, alike)[1] == []
    alike = alike.replace("decimals: 3", "decimals: 1")
    assert any("on the same page is 0.6 [answer-" in found for found in shown(tmp_path, alike)[1])


def test_an_answer_may_not_be_typed_in_another_stem_either(tmp_path: Path) -> None:
    typed = SECOND.replace("{value}`blocks.0.attn.pattern[1,@1,@0] decimals=1`", "`0.574` 上下")
    _, (problem,) = shown(tmp_path, FIXTURE + typed)
    assert "`second` shows 0.574" in problem
    near = typed.replace("0.574", "10.574")
    assert shown(tmp_path, FIXTURE + near)[1] == []


def test_a_mistake_knows_no_more_of_a_problem_than_the_question(tmp_path: Path) -> None:
    def options(until: str) -> list[str]:
        text = changed("decimals: 3", f"decimals: 3\n  {until}").replace("uniform", "no-mask")
        html, _ = shown(tmp_path, text)
        return re.findall(r'<span data-value="[^"]*">([^<]*)</span></span></label>', html)

    usual, short, whole = (options(f'until: "{token}"') for token in ("=", "@1", "@4"))
    assert usual == options("stage: trained")
    assert usual != whole
    assert len(short) == len(usual) - 1  # up to the reader itself, a mask hides nothing


def test_numbers_of_an_item_stay_those_of_its_own_problem(tmp_path: Path) -> None:
    html, _ = shown(tmp_path, FIXTURE)
    assert 'data-problem="7x0"' in html
    assert "<code>7×0</code>" in html
    assert "data-follows" not in html
    assert "problem-part" not in html


def test_the_order_of_the_options_has_nothing_to_do_with_their_order_in_the_file(
    tmp_path: Path,
) -> None:
    def order(text: str) -> list[int]:
        html, _ = shown(tmp_path, text)
        return [html.index(f"<span>{word}</span>") for word in ("左边", "右边", "两边")]

    left, right = FIXTURE.split("    - text: 右边\n")[0], FIXTURE.split("    - text: 右边\n")[1]
    head, first = left.split("  options:\n")
    second, rest = right.split("    - text: 两边\n")
    turned = f"{head}  options:\n    - text: 右边\n{second}{first}    - text: 两边\n{rest}"
    before, after = order(FIXTURE), order(turned)
    assert sorted(range(3), key=before.__getitem__) == sorted(range(3), key=after.__getitem__)


def test_a_quiz_that_its_chapter_does_not_show_is_a_warning() -> None:
    from builder.blocks.quiz import unshown

    made = context("正文。\n")
    render(made)
    (problem,) = unshown(made)
    assert (problem.rule, problem.severity) == ("unshown-quiz", "warning")
    assert problem.path == SHOWN
    made = context("::: quiz\n:::\n")
    render(made)
    assert list(unshown(made)) == []


def test_a_block_without_a_file_says_where_to_write_it() -> None:
    made = context("::: quiz\n:::\n", "en")
    render(made)
    (problem,) = made.diagnostics
    assert "has no quiz in this language [no-quiz]" in str(problem)
    assert "write `content/en/quiz/index.yml`" in problem.hint


def test_the_review_has_every_item_by_chapter() -> None:
    made = context("::: review\n:::\n")
    site = replace(made.site, slugs=["index", "review"])
    chapter = replace(made.chapter, slug="review")
    made = replace(made, site=site, chapter=chapter)
    page = render(made)
    assert list(made.diagnostics) == []
    assert 'href="#quiz-index"' in page.html
    quiz = made.site.quizzes["zh", "index"]
    items = rendered_quiz(quiz, context("")).facts
    whole = filled(page.html, "index", items["html"], "回去看")
    assert whole.count('class="quiz-item"') == 2
    assert "<!--" not in whole
    assert {href for href, _ in items["links"]} == {"index.html#one-row"}


def test_items_read_as_they_always_did() -> None:
    """The HTML of the fixture, with its lines broken before some elements."""
    facts = rendered_quiz(context("").site.quizzes["zh", "index"], context("")).facts
    golden = (ROOT / "tests/fixtures/quiz_items.html").read_text(encoding="utf-8")
    assert re.sub(r"\s*\n\s*", "", facts["html"]) == re.sub(r"\s*\n\s*", "", golden)


def test_a_review_of_nothing_is_an_error() -> None:
    made = context("::: review\n:::\n")
    site = replace(made.site, slugs=["index", "review"], quizzes={})
    made = replace(made, site=site, chapter=replace(made.chapter, slug="review"))
    render(made)
    (problem,) = made.diagnostics
    assert "no chapter has a quiz in this language [no-quiz]" in str(problem)
