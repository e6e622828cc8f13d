"""Quiz files: what is read from them, and what is said of each mistake in them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from builder.content.quiz import Quiz
from builder.content.quiz_files import load_quizzes
from builder.errors import Diagnostics
from builder.markdown import render
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
    """Show a quiz that reads well; return the page with its messages."""
    quiz, problems = load(folder, text)
    assert quiz is not None
    assert problems == []
    made = context("::: quiz\n:::\n")
    site = replace(made.site, quizzes={("zh", "index"): quiz})
    made = replace(made, site=site)
    return render(made).html, [str(diagnostic) for diagnostic in made.diagnostics]


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
        "question: 混合",
        "`section` is missing",
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
    ("right: true", "right: yes", "right: yes", "`right` must be true or false", "it is `yes`"),
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
    ("because: 平分。", "because: ''", "because: ''", "`because` is empty"),
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


@pytest.mark.parametrize("case", MALFORMED, ids=lambda case: case[3])
def test_a_mistake_in_the_form_of_a_quiz_is_said_with_its_line(
    tmp_path: Path, case: tuple[str, ...]
) -> None:
    old, new, at, *said = case
    text = changed(old, new)
    _, problems = load(tmp_path, text)
    (found,) = [problem for problem in problems if all(part in problem for part in said)]
    assert at in line_of(found, text)


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


def test_a_mistake_that_looks_like_the_right_answer_is_left_out(tmp_path: Path) -> None:
    text = changed(
        "    - mistake: uniform\n",
        "    - address: blocks.0.attn.pattern[head-found,@1,@0]\n      because: 同一格。\n"
        "    - mistake: uniform\n",
    )
    html, problems = shown(tmp_path, text)
    assert problems == []
    assert "同一格" not in html
    assert html.count('name="index/share"') == 4


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
    assert page.html.count('class="quiz-item"') == 2
    assert 'href="#quiz-index"' in page.html
    assert {link.href for link in page.links} == {"index.html#one-row"}


def test_a_review_of_nothing_is_an_error() -> None:
    made = context("::: review\n:::\n")
    site = replace(made.site, slugs=["index", "review"], quizzes={})
    made = replace(made, site=site, chapter=replace(made.chapter, slug="review"))
    render(made)
    (problem,) = made.diagnostics
    assert "no chapter has a quiz in this language [no-quiz]" in str(problem)
