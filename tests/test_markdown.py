from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin

from builder.links import ids_in
from builder.markdown import Heading, render
from builder.markdown.cjk import is_wide
from tests.rendering import context, html, problems, rendered


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("**重点：**注意力", "<strong>重点：</strong>注意力"),
        ("这是**“动态寻址”**的", "这是<strong>“动态寻址”</strong>的"),
        ("**Query（Q）**是", "<strong>Query（Q）</strong>是"),
        ("它**（A）**与*「B」*。", "它<strong>（A）</strong>与<em>「B」</em>。"),
        ("用**`code`**说", "用<strong><code>code</code></strong>说"),
        ("**第一。**第二", "<strong>第一。</strong>第二"),
        ("（_重点_）", "（<em>重点</em>）"),
        ("これは**「強調」**です", "これは<strong>「強調」</strong>です"),
        ("a_重_b", "a_重_b"),
        ("***甲。***乙", "<em><strong>甲。</strong></em>乙"),
    ],
)
def test_emphasis_works_beside_chinese(source: str, expected: str) -> None:
    assert html(source) == f"<p>{expected}</p>\n"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("注意\n力", "注意力"),
        ("注意，\n力", "注意，力"),
        ("他说：\n“好”", "他说：“好”"),
        ("好”\n他", "好”他"),
        ("**注意**\n**力**", "<strong>注意</strong><strong>力</strong>"),
        ("attention\nis", "attention\nis"),
        ("注意\nattention", "注意\nattention"),
        ("注意\n`A`", "注意\n<code>A</code>"),
        ("“a”\n“b”", "“a”\n“b”"),
        ("주의\n어텐션", "주의\n어텐션"),
        ("> 注意\n> 力", None),
    ],
)
def test_line_break_between_wide_characters_is_dropped(source: str, expected: str | None) -> None:
    assert html(source) == (
        f"<p>{expected}</p>\n" if expected else "<blockquote>\n<p>注意力</p>\n</blockquote>\n"
    )


STOCK = MarkdownIt("commonmark").enable("table").use(deflist_plugin)
STOCK.use(footnote_plugin, inline=False)
WESTERN = st.text(st.sampled_from(list("ab é*_`\"'().,-#>\n1~|\\😀—“”")), max_size=60)


@settings(max_examples=1500, deadline=None)
@given(WESTERN)
def test_text_without_chinese_renders_as_in_stock_markdown_it(source: str) -> None:
    assert not any(map(is_wide, source))
    assert rendered(source)[0].html == STOCK.render(source)


def test_stock_parser_is_left_as_it_was() -> None:
    html("**重点：**注意力")
    assert MarkdownIt().render("**重点：**注意力") == "<p>**重点：**注意力</p>\n"


def test_mathematics_becomes_mathml() -> None:
    assert html("设 $A_{ij}$。") == (
        '<p>设 <span class="joined"><math><msub><mi>A</mi><mrow><mi>i</mi><mi>j</mi></mrow></msub>'
        "</math>。</span></p>\n"
    )
    assert (
        html("$$\nQ\n$$") == '<div class="equation"><math display="block"><mi>Q</mi></math></div>\n'
    )
    assert html("设 $Q$，\n它").endswith("，</span>它</p>\n")  # and no space from the line break
    assert html("文字\n$$ Q $$\n文字").count("<p>") == 2
    assert html("- $$\n  Q\n  $$").count("<mi>Q</mi>") == 1


def test_prices_are_not_mathematics() -> None:
    assert html(r"\$5 and \$6 and `$7`") == "<p>$5 and $6 and <code>$7</code></p>\n"
    found = problems("$5 and $6")
    assert [text.split(" ")[0] for text in found] == ["1:1:", "1:8:"]
    assert all("[dollar]" in text and r"\$" in text for text in found)


@pytest.mark.parametrize(
    ("source", "place"),
    [
        (r"前文 $\foo$", "1:5"),
        ("前文\n再看 $A + \\foo$", "2:9"),
        ("$$\nA +\n  \\foo\n$$", "3:1"),
        ("$$ \\foo $$", "1:4"),
        ("- 一\n- 二 $\\foo$", "2:6"),
        ("$\\frac{1$", "1:9"),
        ("$" + "x^{" * 6000 + "}" * 6000 + "$", "1:5002"),
        ("$" + "x^{" * 1000 + "}" * 1000 + "$", "1:304"),
    ],
)
def test_bad_tex_has_its_place(source: str, place: str) -> None:
    (found,) = problems(source)
    assert found.startswith(f"{place}: error: ")
    assert "[tex]" in found


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("正文\n\n```python\nx = 1", "3: error: this code is never closed [unclosed]"),
        ("~~~~\n~~~", "1: error: this code is never closed [unclosed]"),
        ("> ```\n> x\n\ny", "1: error: this code is never closed [unclosed]"),
        ("$$\nA", "1: error: this `$$` is never closed [unclosed]"),
        ("::: note\n正文", "1:1: error: `::: note` is never closed [unclosed]"),
        ("> ::: note\n> 正文\n\n正文", "1:3: error: `::: note` is never closed [unclosed]"),
        ("正文\n\n" + "> " * 150 + "x", "3: error: lists, quotes and blocks are nested"),
        ("".join(" " * 2 * i + "- x\n" for i in range(120)), "20: error: lists, quotes and"),
        ("说\n是 0.98。", "2:3: warning: `0.98` is typed by hand"),
        ("正文\n:::", "2:1: error: these `:::` close nothing [stray-colons]"),
        ("::: matrx embed\n:::", "1:1: error: there is no block `matrx` [unknown-block]"),
        ("# 标题 {#a}", "1:1: error: a chapter has no heading of level 1 [heading-level]"),
        ("## 标题", "1:1: error: this heading has no id [heading-id]"),
        ("### 标题", "1:1: error: this heading has no id [heading-id]"),
        ("## 标题 {.big}", "1:7: error: `{.big}` is not an id [heading-id]"),
        ("## 标题 {#标题}", "1:7: error: `标题` cannot be an id [bad-id]"),
        ("## 甲 {#a}\n\n## 乙 {#a}", "3:6: error: the id `a` is already given on line 1"),
        *(
            (f"## 标题 {{#{name}}}", f"1:7: error: `{name}` is given out automatically [bad-id]")
            for name in ("chapter-list-title", "content", "fig-1-name", "fn1", "chart-0123abcd-4")
        ),
        ("文 **字", "1:3: error: `**` stays literal here [literal-asterisks]"),
        ("a ** b", "1:3: error: `**` stays literal here [literal-asterisks]"),
        ("<b>x", "1:1: error: chapters hold no raw HTML [raw-html]"),
        ("一\n二 <end>", "2:3: error: chapters hold no raw HTML [raw-html]"),
        ("<div>\n</div>", "1: error: chapters hold no raw HTML [raw-html]"),
        ("![图](a.png)", "1:1: error: chapters hold no images [image]"),
        ("见 [甲][乙]", "1:3: error: `[乙]` is not defined [dangling-reference]"),
        ("见[^1]", "1:2: error: there is no footnote `1` [dangling-footnote]"),
        ("见[甲]()", "1:2: error: this link has no target [broken-link]"),
        ("[甲](a b)", "1:1: error: this link has no valid target [broken-link]"),
        (
            "[^1]: 注",
            "1: error: nothing refers to footnote `1` [unused-footnote]\nhint: write `[^1]`",
        ),
        ("[^1]\n\n[^1]: 注\n\n[^1]: 注", "5: error: footnote `1` is already defined"),
        ("| a |\n|---|\n| $\\foo$ |", "3:4: error: unknown command `\\foo` [tex]"),
        ("文\n\n术语\n: {vale}`x`", "4:3: error: there is no role `vale` [unknown-role]"),
        ("文[^1]\n\n[^1]: 注 {vale}`x`", "3:9: error: there is no role `vale` [unknown-role]"),
    ],
)
def test_trap_is_reported_where_it_stands(source: str, expected: str) -> None:
    (found,) = problems(source)
    assert found.startswith(expected)


def test_nearest_name_is_offered() -> None:
    assert problems("{valu}`probs[=,5]`")[0].endswith("did you mean `value`?")
    assert problems("[甲][refs]\n\n[ref]: x.html")[0].endswith("did you mean `ref`?")


def test_lines_count_from_the_top_of_the_file() -> None:
    _, (found,) = rendered("正文\n\n{vale}`x`", body_line=7)
    assert found.startswith("9:1: ")


def test_diagnostic_quotes_the_line() -> None:
    made = context("一\n二 {vale}`x`", body_line=4)
    render(made)
    (found,) = made.diagnostics
    assert (found.line, found.column, found.excerpt) == (5, 3, "二 {vale}`x`")


def test_windows_line_ends_keep_the_lines() -> None:
    assert problems("一\r\n二 {vale}`x`")[0].startswith("2:3: ")


def test_all_problems_of_a_chapter_are_found_together() -> None:
    found = problems("## 甲\n\n$5\n\n::: nothing\n:::\n\n{vale}`x`")
    assert [text.split(":")[0] for text in found] == ["1", "3", "5", "8"]


def test_rendered_lists_headings_ids_and_links() -> None:
    page, messages = rendered(
        "## 行 `X` 与 $S$ {#rows}\n\n见[下](#more)、<https://example.org/>\n与[页][r]。\n\n"
        "::: matrix embed\n:::\n\n#### 更多 {#more}\n\n注[^a]\n\n"
        "[r]: reading-table.html#x\n[^a]: 是\n"
    )
    assert messages == []
    assert page.headings == (Heading(2, "rows", "行 X 与 S"), Heading(4, "more", "更多"))
    assert [(link.href, link.location.line, link.location.column) for link in page.links] == [
        ("#more", 3, 2),
        ("https://example.org/", 3, 13),
        ("reading-table.html#x", 4, 2),
    ]
    assert page.links[2].location.excerpt == "与[页][r]。"
    ids = ids_in("index.html", page.html.encode())
    assert {"rows", "more", "fig-1", "fn1", "fnref1"} <= ids


def test_figures_are_numbered_in_page_order_through_nesting() -> None:
    part = "columns: [0]\n:::\n"
    page, _ = rendered(
        f"::: matrix embed\n{part}\n:::: row\n::: matrix pos_embed\n{part}::::\n\n"
        f"::: matrix logits\n{part}"
    )
    assert re.findall(r'id="(fig-\d)" data-key="(\w+)"', page.html) == [
        ("fig-1", "embed"),
        ("fig-2", "pos_embed"),
        ("fig-3", "logits"),
    ]


def test_markdown_beyond_commonmark() -> None:
    assert "<table>" in html("| a | b |\n|---|---|\n| 1 | 2 |")
    assert "<dt>词</dt>" in html("词\n: 义")


def test_every_render_starts_afresh() -> None:
    source = "## 甲 {#a}\n\n注[^1]\n\n::: equation e\nA\n:::\n\n[^1]: 是"
    assert html(source) == html(source)


PIECES = st.sampled_from(
    [
        *("::: matrix embed\n", "::: product\n", "::: note 题\n", ":::: row\n", ":::\n", "::::\n"),
        *("::: equation e\n", "::: x\n", ":::", "problem: 7x0\n", "rows: [\n", "rows: [7]\n"),
        *("caption: {value}`", "id: a\n", "scale: 1/2\n", "stage: [a]\n", "- ", "> ", "    ", "\t"),
        *("$", "$$\n", "\\frac{1}", "\\left(", "}", "{", "&", "\\\\", "^", "_", "\\begin{aligned}"),
        *("{value}`probs[=,5]`", "{claim}`x`", "{value}", "`", "```\n", "~~~\n", "[^1]", "[^1]: "),
        *("**", "*", "_", "[", "]", "](", ")", "![", "<b>", "<!--", "&amp;", "|", "|---|\n"),
        *(
            "注意",
            "，",
            "“",
            "a",
            " ",
            "\n",
            "\n\n",
            "## 标题 {#a}\n",
            "# ",
            "===\n",
            "---\n",
            "\0",
        ),
    ]
)


def test_heading_of_spaces_and_braces_does_not_hang() -> None:
    started = time.process_time()
    for filling in (" ", "{ ", "}", "{#a}"):
        render(context(f"## a{filling * 20_000}b }}"))
    assert time.process_time() - started < 10


@settings(max_examples=400, deadline=10_000)
@given(st.lists(PIECES, max_size=40).map("".join))
def test_mangled_chapter_raises_nothing(source: str) -> None:
    made = context(source)
    page = render(made)
    assert isinstance(page.html, str)
    for found in made.diagnostics:
        assert found.path == "zh/index.md"
        assert 0 <= found.line <= source.count("\n") + 2


@settings(max_examples=200, deadline=10_000)
@given(st.text(max_size=80))
def test_arbitrary_text_raises_nothing(source: str) -> None:
    render(context(source))


@pytest.mark.parametrize(
    "piece",
    [
        *("$a ", "$", "$$", "**", "*a ", "[", "[a][", "[^a]", "{value}", "{a}`", "`", "\\"),
        *("::: note\n", ":::\n", ":::: row\n", "::: matrix embed\n", "$$\n", "```\n", "> ", "- "),
        *("<a", "![", "](", "| ", "&", "注*", "“**", "[^a]: b\n\n", "{#a}", "## a {#b}\n"),
    ],
)
def test_repetition_does_not_hang(piece: str) -> None:
    started = time.process_time()
    render(context(piece * (12_000 // len(piece))))
    assert time.process_time() - started < 10
