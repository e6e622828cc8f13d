"""YAML holds no surprises, and each problem is said once, at its line."""

from __future__ import annotations

import time
from typing import Any

import pytest

from builder.content.section import Section
from builder.content.strict_yaml import read_section
from builder.errors import Diagnostics


def read(text: str, first_line: int = 1) -> tuple[Section, Diagnostics]:
    diagnostics = Diagnostics()
    return read_section(text, "site.yml", diagnostics, first_line), diagnostics


def problems(diagnostics: Diagnostics) -> list[str]:
    return [str(diagnostic) for diagnostic in diagnostics]


def only_problem(text: str) -> str:
    (problem,) = problems(read(text)[1])
    return problem


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("yes", "yes"),
        ("on", "on"),
        ("True", "True"),
        ("true", True),
        ("false", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("010", "010"),
        ("0x10", "0x10"),
        ("0o7", "0o7"),
        ("1:30", "1:30"),
        ("1_000", "1_000"),
        ("2026-11-29", "2026-11-29"),
        (".nan", ".nan"),
        (".inf", ".inf"),
        ("<<", "<<"),
        ("=", "="),
        ("0", 0),
        ("-7", -7),
        ("0.5", 0.5),
        ("1e-2", 0.01),
        ("'8'", "8"),
        ('"true"', "true"),
        ("[a, 1, [no]]", ["a", 1, ["no"]]),
    ],
)
def test_only_true_false_null_and_decimal_numbers_are_not_text(text: str, value: Any) -> None:
    section, diagnostics = read(f"x: {text}")
    assert problems(diagnostics) == []
    assert section.get("x", object) == value
    assert type(section.get("x", object)) is type(value)


def test_a_duplicate_key_is_an_error_that_names_both_lines() -> None:
    assert only_problem("a: 1\nb: 2\na: 3\n") == (
        "site.yml:3:1: error: `a` is already given on line 1 [duplicate-field]\n    a: 3"
    )


def test_the_first_of_two_equal_keys_stands() -> None:
    assert read("a: 1\na: 3\n")[0].get("a", int) == 1


def test_a_nested_duplicate_key_is_an_error() -> None:
    assert "site.yml:3:3: error: `x` is already given on line 2" in only_problem(
        "a:\n  x: 1\n  x: 2\n"
    )


def test_lines_count_from_the_start_of_the_file_when_the_text_does_not() -> None:
    _, diagnostics = read("a: 1\na: 2\n", first_line=2)
    assert problems(diagnostics)[0].startswith(
        "site.yml:3:1: error: `a` is already given on line 2"
    )


def test_a_syntax_error_shows_its_line_and_the_text_there() -> None:
    problem = only_problem("a: 1\nb: 2\n c: 3\n")
    assert problem == (
        "site.yml:3:3: error: not valid YAML: mapping values are not allowed in this context "
        "[yaml]\n    c: 3\n    hint: indent the fields of one mapping alike; quote a text that "
        "holds signs of YAML"
    )


QUOTE_IT = "put the text in quotes"
SLIPS = [
    # what is written, the line and column to blame, what is said, and what would be right
    ("q: `a` 是几？", "1:4", "a text cannot begin with a backtick here", QUOTE_IT),
    ("q: {value}`probs` 是几？", "1:4", "a text cannot begin with `{` here", QUOTE_IT),
    ("a:\n  - b: {value}`probs`", "2:8", "a text cannot begin with `{` here", QUOTE_IT),
    ("q: @a 是几？", "1:4", "a text cannot begin with `@` here", QUOTE_IT),
    ("q: %a 是几？", "1:4", "a text cannot begin with `%` here", QUOTE_IT),
    ("q: **a** 是几？", "1:4", "a text cannot begin with `*` here", QUOTE_IT),
    ("q: [a] 是几？", "1:4", "a text cannot begin with `[` here", QUOTE_IT),
    ("q: >a\nb: 1", "1:4", "a text cannot begin with `>` here", QUOTE_IT),
    ("q: 问: 题", "1:4", "a text cannot hold `: ` here", QUOTE_IT),
    ("a:\n\tq: 1", "2:1", "a tab indents this line", "spaces alone"),
    ("a:\n  q: 1\n\tb: 2", "3:1", "a tab indents this line", "spaces alone"),
    ("a:\n\u00a0\u00a0q: 1\n", "2:1", "a no-break space indents this line", "spaces alone"),
    ("a:\n  q: 1\n\u3000b: 2\n  c: 3", "3:1", "a full-width space indents", "spaces alone"),
    ("a:\n  q：1\n  b: 2", "2:4", "`：` is a full-width colon", "`:` and a space"),
    ("a:\n  b: 2\n\n  q：1\n\n  c: 2", "4:4", "`：` is a full-width colon", "`:` and a space"),
    ("a:\n  q:1\n  b: 2", "2:4", "there is no space after this `:`", "`:` and a space"),
    ("a: 1\nq: 'abc\nb: 1\nc: 2\n", "2:4", "the quote that opens here is never closed", ""),
    ('a: 1\nq: "abc\nb: 1\nc: 2\n', "2:4", "the quote that opens here is never closed", ""),
    ("q: 'abc\nb: 'd'\n", "1:4", "not closed before the next one", "on its own line"),
    ("q: 'it's a'\n", "1:4", "the text goes on after the ' that closes it", "quote all of it"),
    ('q: "a" b\n', "1:4", 'the text goes on after the " that closes it', "quote all of it"),
    ("q: [\n", "1:4", "the `[` that opens here is never closed", "end it with `]`"),
    ("a: 1\nb: [1, 2\nc: 3\n", "2:4", "the `[` that opens here is never closed", "`]`"),
    ("a: {b: 1\nc: 3\n", "1:4", "the `{` that opens here is never closed", "`}`"),
]


@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: repr(slip[0]))
def test_a_slip_that_makes_no_yaml_is_explained_at_its_own_line(slip: tuple[str, ...]) -> None:
    text, place, message, hint = slip
    problem = only_problem(text)
    assert problem.startswith(f"site.yml:{place}: error: not valid YAML: ")
    assert message in problem
    assert hint in problem.partition("\n    hint: ")[2]
    assert text.splitlines()[int(place[0]) - 1].strip() in problem  # the line is shown


@pytest.mark.parametrize(
    "text",
    [
        "q: |\n  {value}`a` 和 '\n  b：c\n  d:e: f\n",
        "q: '`a` 是几：'\nb: \"it's\"\nc: 'it''s'\n",
        "q:\n  - '{value}`a`'  # why\n  - [1, 2]\n",
        "q: |\n  　　一段\n  　　二段\n",
        "q: https://example.org/a:b\n",
    ],
)
def test_what_looks_like_a_slip_in_a_text_that_is_quoted_is_none(text: str) -> None:
    assert problems(read(text)[1]) == []


@pytest.mark.parametrize(
    ("text", "shown"), [("- a\n- b\n", "a list"), ("just text", "`just text`"), ("7", "`7`")]
)
def test_a_top_level_that_is_no_mapping_is_an_error(text: str, shown: str) -> None:
    assert only_problem(text) == (
        f"site.yml:1:1: error: expected `field: value` lines [yaml]\n    hint: it is {shown}"
    )


def test_a_damaged_file_is_not_also_said_to_lack_its_fields() -> None:
    section, diagnostics = read("a: [")
    assert section.get("title", str) == ""
    assert len(problems(diagnostics)) == 1


def test_a_mapping_of_the_wrong_type_is_not_also_said_to_lack_its_fields() -> None:
    section, diagnostics = read("title: text")
    assert section.section("title").get("zh", str) == ""
    assert problems(diagnostics) == [
        "site.yml:1:1: error: `title` must be a mapping [wrong-type]\n    title: text\n"
        "    hint: write its fields below it, indented"
    ]


def test_a_problem_shows_its_line_wherever_the_text_starts() -> None:
    section, diagnostics = read("a: 1\nb:\n  c: [1, x]  # why\n", first_line=7)
    section.section("b").get("c", int)
    section.section("b").get("d", int)
    (lacking, wrong) = sorted(diagnostics, key=lambda problem: problem.column)
    assert (wrong.line, wrong.column, wrong.excerpt) == (9, 3, "  c: [1, x]  # why")
    assert (lacking.rule, lacking.line, lacking.excerpt) == ("missing-field", 8, "")


def test_an_empty_text_is_an_empty_mapping() -> None:
    for text in ("", "# a comment\n"):
        section, diagnostics = read(text)
        assert list(section) == []
        assert problems(diagnostics) == []


def test_a_field_that_nobody_asked_for_is_an_error_with_the_nearest_name() -> None:
    section, diagnostics = read("titel: x\n")
    section.get("title", str, "")
    section.finish()
    assert problems(diagnostics) == [
        "site.yml:1:1: error: unknown field `titel` [unknown-field]\n"
        "    titel: x\n    hint: did you mean `title`?"
    ]


def test_a_field_like_none_that_exists_is_answered_with_all_of_them() -> None:
    section, diagnostics = read("qqqq: x\n")
    section.get("title", str, "")
    section.get("order", list, [])
    section.finish()
    assert problems(diagnostics)[0].endswith("hint: one of `order`, `title`")


@pytest.mark.parametrize(
    ("text", "name"),
    [("titel: x\n", "titel"), ("titles: x\n", "titles"), ("q: x\n", "q")],
)
def test_a_slip_in_the_name_of_a_field_that_must_be_there_is_one_problem(
    text: str, name: str
) -> None:
    section, diagnostics = read(text)
    section.get("title", str)
    section.get("order", int, 0)
    section.finish()
    assert problems(diagnostics) == [
        f"site.yml:1:1: error: unknown field `{name}` [unknown-field]\n"
        f"    {name}: x\n    hint: did you mean `title`?"
    ]


def test_a_field_that_is_missing_beside_one_that_is_unknown_is_another_problem() -> None:
    section, diagnostics = read("q: x\n")
    for name in ("title", "name"):
        section.get(name, str)
    section.finish()
    assert [d.rule for d in diagnostics] == ["missing-field", "missing-field", "unknown-field"]


def test_sections_of_one_text_miss_their_fields_each_for_itself() -> None:
    section, diagnostics = read("a: {titel: x}\nb: {title: x}\n")
    for name in "ab":
        section.section(name).get("title", str)
        section.section(name).finish()
    assert [(d.line, d.rule, d.hint) for d in diagnostics] == [
        (1, "unknown-field", "did you mean `title`?")
    ]


def test_an_item_of_a_list_knows_its_place() -> None:
    section, diagnostics = read("a: 1\nb:\n  - x\n  - {y: z}\n  -   [1]\n", first_line=4)
    assert [(item.line, item.column, item.shown) for item in section.items("b")] == [
        (6, 5, "`x`"),
        (7, 5, "a mapping"),
        (8, 7, "a list"),
    ]
    assert section.items("missing") == ()
    assert [d.rule for d in diagnostics] == ["missing-field"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("null", "`null`"),
        ("true", "`true`"),
        ("7", "`7`"),
        ("1e-2", "`0.01`"),
        ("a b", "`a b`"),
        ("[a]", "a list"),
        ("{a: b}", "a mapping"),
        ("x" * 500, f"`{'x' * 120}…`"),
    ],
)
def test_a_value_is_shown_as_its_author_wrote_it(text: str, shown: str) -> None:
    assert read(f"x: {text}")[0].entries["x"].shown == shown


def test_a_missing_field_is_reported_at_its_mapping() -> None:
    section, diagnostics = read("a: 1\nb:\n  x: 1\n")
    section.section("b").get("code", str)
    assert problems(diagnostics) == [
        "site.yml:2: error: `code` is missing in `b` [missing-field]\n    hint: write `code: ...`"
    ]


@pytest.mark.parametrize(
    ("text", "kind", "wanted"),
    [
        ("7", str, "text"),
        ("true", str, "text"),
        ("[a]", str, "text"),
        ("{a: b}", str, "text"),
        ("seven", int, "a whole number"),
        ("7.0", int, "a whole number"),
        ("true", int, "a whole number"),
        ("1", bool, "true or false"),
        ("yes", bool, "true or false"),
        ("a, b", list, "a list"),
    ],
)
def test_a_value_of_another_type_is_an_error(text: str, kind: type, wanted: str) -> None:
    section, diagnostics = read(f"a: 1\nx: {text}")
    assert section.get("x", kind) == kind()
    (problem,) = problems(diagnostics)
    assert problem.startswith(f"site.yml:2:1: error: `x` must be {wanted} [wrong-type]")


def test_a_text_that_is_not_there_is_empty() -> None:
    section, diagnostics = read("a: 1\nx:\n")
    assert section.get("x", str) == ""
    assert problems(diagnostics) == [
        "site.yml:2:1: error: `x` is empty [missing-field]\n    x:\n    hint: write `x: ...`"
    ]


@pytest.mark.parametrize(
    ("text", "kind", "hint"),
    [
        ("'3'", int, "it is `3` in quotes: leave them out"),
        ("True", bool, "it is `True`: write `true` or `false`"),
        ("three", int, "it is `three`"),
        ("maybe", bool, "it is `maybe`"),
    ],
)
def test_a_value_that_is_nearly_of_the_type_is_told_how_to_be(
    text: str, kind: type, hint: str
) -> None:
    section, diagnostics = read(f"x: {text}")
    section.get("x", kind)
    assert [found.hint for found in diagnostics] == [hint]


def test_aliases_are_refused_before_they_can_multiply() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    started = time.process_time()
    assert only_problem("\n".join(lines)).startswith(
        "site.yml:2:10: error: not valid YAML: aliases are not used here"
    )
    assert time.process_time() - started < 1


@pytest.mark.parametrize("text", ["x: !!bool maybe", "x: !!timestamp soon", "x: !!python/name:os"])
def test_tags_are_refused(text: str) -> None:
    found = only_problem(text)
    assert found.startswith("site.yml:1:4: error: not valid YAML: tags are not used")
    assert found.endswith("hint: write the value out, or quote it")


@pytest.mark.parametrize(
    "text",
    [
        "x: &a [*a]",
        "[" * 100_000,
        "{a: " * 5000,
        "- " * 3000,
        "x: " + "9" * 5000,
        "x: \x00",
        "x: \x1b",
        "a: b: c",
        "\tx: 1",
        "x: 'unclosed",
        "--- a\n--- b\n",
        "? [a, b]\n: 1\n? {c: d}\n: 2\n",
        'x: "\\ud800"',
        "%YAML 9.9\n---\nx: 1\n",
    ],
)
def test_whatever_the_text_the_answer_is_a_diagnostic(text: str) -> None:
    diagnostics = read(text)[1]
    assert diagnostics.found
    assert all(diagnostic.rule in ("yaml", "duplicate-field") for diagnostic in diagnostics)
