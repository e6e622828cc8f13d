from __future__ import annotations

import dataclasses
import re
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from markdown_it.utils import read_fixture_file

from builder.blocks import BLOCKS, ROLES
from builder.blocks.directive import BlockError
from builder.blocks.operation import Equation, verify
from builder.errors import Location
from builder.links import Link
from builder.markdown import render
from tests import toy_evidence
from tests.rendering import context, rendered

FIXTURES = Path(__file__).parent / "fixtures" / "blocks"
OURS = tuple(block.NAME for block in (*BLOCKS, *ROLES))
_BREAK = re.compile(
    r"(?=<(?:figure|figcaption|div|table|thead|tbody|tr|p class|span class=.product))"
)


_LONG = re.compile(r'(?<=<path class="all" d=")[^"]+|(?<=<path class="most" d=")[^"]+')
"""Data and points, which are compared with the files where the site is looked at."""


def shown(body: str) -> str:
    """The messages of a chapter, or its HTML without what is long, one table row a line."""
    page, messages = rendered(body)
    text = "\n".join(messages) or _BREAK.sub("\n", _LONG.sub("…", page.html))
    return "\n".join(line for line in text.splitlines() if line.strip())


def cases(name: str) -> list[tuple[int, str, str, str]]:
    return [tuple(case) for case in read_fixture_file(FIXTURES / f"{name}.md")]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(body.rstrip("\n"), expected, id=f"{name}:{line}: {title}")
        for name in OURS
        for line, title, body, expected in cases(name)
    ],
)
def test_block_renders_as_its_fixture_says(body: str, expected: str) -> None:
    assert shown(body) == expected.rstrip("\n")


@pytest.mark.parametrize("block", [*BLOCKS, *ROLES], ids=lambda block: block.NAME)
def test_fixture_has_an_error_for_every_option(block: object) -> None:
    name, options = block.NAME, block.OPTIONS  # type: ignore[attr-defined]
    wrong = [body for _, _, body, expected in cases(name) if ": error: " in expected]
    untested = [o for o in options if not any(re.search(rf"\b{o}[:=]", body) for body in wrong)]
    assert wrong
    assert untested == []


def test_every_displayed_cell_is_the_snapshots_own_number() -> None:
    made = context("::: matrix blocks.1.attn.z[0]\nproblem: 7x0\nstage: initial\n:::\n")
    html = render(made).html
    values = made.numbers.snapshot.trace("initial", "7x0").values["blocks.1.attn.z"][0]
    rows = re.findall(r'<tr data-row="(\d+)">(.*?)</tr>', html)
    assert [int(row) for row, _ in rows] == list(range(len(values)))
    for row, cells in rows:
        found = re.findall(r'<td data-value="([^"]+)"', cells)
        assert [float(value) for value in found] == values[int(row)].tolist()


PRODUCTS = [
    *[f"ln1.out|attn.W_{w}[{h}]|attn.{w.lower()}[{h}]|" for w in "QKV" for h in (0, 1)],
    *[f"attn.pattern[{h}]|attn.v[{h}]|attn.z[{h}]|" for h in (0, 1)],
    *[f"attn.z[{h}]|attn.W_O[{h}]|attn.result[{h}]|" for h in (0, 1)],
    *[f"attn.q[{h}]|attn.k[{h}]|attn.attn_scores[{h}]|scale: 1/2" for h in (0, 1)],
]
FACTORS = (("left", "pattern"), ("right", "v"), ("result", "z"))
SUMS = ["resid_pre|attn_out|resid_mid", "resid_mid|mlp_out|resid_post"]


@pytest.mark.parametrize("stage", ["initial", "trained"])
@pytest.mark.parametrize("layer", [0, 1])
def test_every_product_and_sum_of_the_network_holds(layer: int, stage: str) -> None:
    blocks = []
    for block, texts in (("product", PRODUCTS), ("sum", SUMS)):
        for text in texts:
            left, right, result, *scale = text.split("|")
            options = [f"stage: {stage}"]
            options += [f"left: blocks.{layer}.{left}", f"right: blocks.{layer}.{right}"]
            options += [f"result: blocks.{layer}.{result}"]
            options += [f"transpose_right: true\n{scale[0]}"] if scale and scale[0] else []
            blocks.append("\n".join([f"::: {block}", *options, ":::", ""]))
    assert len(blocks) == 14
    assert rendered("\n".join(blocks))[1] == []


def test_one_unit_in_the_sixth_digit_makes_a_product_false() -> None:
    numbers = context("").numbers
    left, right, result = (
        numbers.matrix(f"blocks.0.{key}", "trained", "7x8")
        for key in ("ln1.out", "attn.W_Q[0]", "attn.q[0]")
    )
    computed, magnitude = left.values @ right.values, abs(left.values) @ abs(right.values)
    verify(Equation("product", left, right, result), computed, magnitude)
    wrong = result.values.copy()
    row, column = np.unravel_index(abs(wrong).argmax(), wrong.shape)
    wrong[row, column] *= 1 + 2e-5
    with pytest.raises(BlockError, match="this product is false"):
        changed = dataclasses.replace(result, values=wrong)
        verify(Equation("product", left, right, changed), computed, magnitude)


def test_weights_show_the_decimals_of_the_file() -> None:
    html = rendered("::: matrix embed.W_E\n:::\n")[0].html
    made = context("")
    stored = made.numbers.snapshot.document("weights/trained.json")["tensors"]["embed.W_E"]
    found = re.findall(r'data-value="([^"]+)"', html)
    assert found == [repr(float(value)) for row in stored for value in row]


def test_value_beyond_the_domain_is_marked_as_clipped() -> None:
    made = context("::: matrix embed\nrows: [7]\ncolumns: [0]\n:::\n")
    value = abs(made.numbers.snapshot.trace("trained", "7x8").values["embed"][0, 0])
    made.numbers.domains["embed"] = value / 2  # type: ignore[index]
    try:
        html = render(made).html
    finally:
        made.numbers.domains["embed"] = 1.0  # type: ignore[index]
    assert re.search(r'--v:1\.00" class="(positive|negative) clipped"', html)


def test_a_sum_of_votes_beyond_the_domain_is_marked_as_clipped() -> None:
    html = rendered("::: votes 7\nstage: initial\n:::\n")[0].html
    votes, total = html.split("<tfoot>")
    assert "clipped" not in votes
    assert re.search(r'--v:1\.00" class="negative clipped"', total)


def test_english_page_speaks_english() -> None:
    page, messages = rendered("::: matrix blocks.0.attn.pattern[1]\n:::\n", "en")
    assert messages == []
    assert "layer 1 · head 2 · after training · 7×8" in page.html
    assert "who reads ↓" in page.html
    assert not re.search(r"[\u4e00-\u9fff]", page.html)


def test_wide_matrix_scrolls_in_its_own_box() -> None:
    html = rendered("::: matrix blocks.0.mlp.W_in\n:::\n")[0].html
    assert html.count('<th scope="col">') == 64
    assert 'class="matrix-scroll" tabindex="0" role="group"' in html


@pytest.mark.parametrize("key", ["blocks.1.attn.attn_scores[0]", "blocks.1.attn.q[1]", "probs"])
def test_prefix_has_the_first_rows_of_the_whole(key: str) -> None:
    whole = context("").numbers.matrix(key, "trained", "7x8")
    prefix = whole.until("=")
    size = 4 if "key" in whole.spec.axes else whole.values.shape[1]
    assert prefix.values.shape == (4, size)
    np.testing.assert_array_equal(prefix.values, whole.values[:4, :size])
    assert prefix.transposed.values.shape == whole.transposed.until("=").values.shape


def test_prefix_leaves_what_belongs_to_no_token_whole() -> None:
    numbers = context("").numbers
    for key in ("embed.W_E", "blocks.0.attn.W_Q[0]"):
        weight = numbers.matrix(key, "trained", "7x8")
        assert weight.until("=").values.shape == weight.values.shape


@pytest.mark.parametrize("column", range(4))
@pytest.mark.parametrize("row", ["×", "8", "=", "5", "6"])
def test_shown_terms_of_a_dot_product_add_up_to_the_shown_sum(row: str, column: int) -> None:
    options = [f"{side}: blocks.0.attn.{key}[1]" for side, key in FACTORS]
    lines, totals = worked("dot", [*options, f'row: "{row}"', f"column: {column}"])
    assert len(lines) == ["7", "×", "8", "=", "5", "6"].index(row) + 1
    assert sum(line[-1] for line in lines) == totals[0]


def test_a_sum_of_terms_is_halved_where_the_product_is() -> None:
    options = ["left: blocks.0.attn.q[1]", "right: blocks.0.attn.k[1]", "transpose_right: true"]
    options += ["result: blocks.0.attn.attn_scores[1]", 'row: "="', 'column: "8"', "scale: 1/2"]
    lines, (added, halved) = worked("dot", options)
    assert sum(line[-1] for line in lines) == added
    assert added / 2 == halved


@pytest.mark.parametrize("row", ["×", "8", "=", "5", "6"])
@pytest.mark.parametrize("head", [0, 1])
def test_shown_powers_and_shares_add_up_to_their_shown_sums(head: int, row: str) -> None:
    options = [
        f"scores: blocks.1.attn.attn_scores[{head}]",
        f"result: blocks.1.attn.pattern[{head}]",
    ]
    lines, totals = worked("softmax", [*options, f'row: "{row}"'])
    _, powers, shares = zip(*lines, strict=True)
    assert [sum(powers), sum(shares)] == totals
    assert (totals[1], max(powers)) == (1, 1)


@pytest.mark.parametrize("row", ["×", "8", "=", "5", "6"])
@pytest.mark.parametrize("head", [0, 1])
def test_shown_contributions_of_the_sources_add_up_to_the_row_that_is_read(
    head: int, row: str
) -> None:
    names = {"shares": "pattern", "contents": "v", "result": "z"}
    options = [f"{option}: blocks.1.attn.{name}[{head}]" for option, name in names.items()]
    lines, totals = worked("mixture", [*options, f'row: "{row}"'])
    assert [sum(column) for column in zip(*lines, strict=True)][-4:] == totals
    for share, *numbers in lines:
        for content, brought in zip(numbers[:4], numbers[4:], strict=True):
            assert abs(share * content - brought) < Decimal("0.005")


@pytest.mark.parametrize("stage", ["initial", "trained"])
@pytest.mark.parametrize(("target", "row"), [("=", "="), ("=", "8"), ("5", "5"), ("6", "=")])
@pytest.mark.parametrize("head", [0, 1])
def test_shown_gradients_of_scores_add_up_to_nothing(
    head: int, target: str, row: str, stage: str
) -> None:
    options = [f"shares: blocks.0.attn.pattern[{head}]", f"stage: {stage}", f'row: "{row}"']
    options += [f"gradients: ∂blocks.0.attn.pattern[{head}]", f'target: "{target}"']
    lines, totals = worked(
        "softmax_gradient", [*options, f"result: ∂blocks.0.attn.attn_scores[{head}]"]
    )
    _, u, products, above, told = zip(*lines, strict=True)
    assert [sum(products), sum(told)] == [totals[0], 0]
    for one, less in zip(u, above, strict=True):
        assert abs(one - totals[0] - less) < Decimal("0.0002")


def worked(block: str, options: list[str]) -> tuple[list[list[Decimal]], list[Decimal]]:
    """The numbers of a calculation as they are shown: its lines, and its totals."""
    page, messages = rendered("\n".join([f"::: {block}", *options, ":::"]))
    assert messages == []
    body, foot = page.html.split("<tfoot>")
    lines = [_numbers(row) for row in body.split("<tbody>")[1].split("</tr>")[:-1]]
    return lines, _numbers(foot)


def _numbers(html: str) -> list[Decimal]:
    found = re.findall(r'<td[^>]* data-value="[^"]*">([−\d.]+)</td>', html)
    return [Decimal(text.replace("−", "-")) for text in found]


@pytest.mark.parametrize(
    "block",
    [
        "::: one_step",
        "::: route\nsource: ×",
        "::: votes 7",
        "::: atlas",
        "::: softmax\nscores: blocks.1.attn.attn_scores[0]\nrow: ×"
        "\nresult: blocks.1.attn.pattern[0]",
    ],
)
def test_a_link_in_a_caption_counts_once(block: str) -> None:
    page, messages = rendered(f"{block}\ncaption: 见[甲](a.html)。\n:::\n")
    assert messages == []
    assert [link.href for link in page.links] == ["a.html"]


MATRIX, SUM = "::: matrix embed\nid: foo\n:::", "::: sum\nleft: embed\nright: pos_embed\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            f"## 甲 {{#foo-name}}\n\n{MATRIX}",
            "4:1: error: the id `foo-name` is already given on line 1",
        ),
        (f"{MATRIX}\n\n::: equation foo-name\nA\n:::", "5:1: error: the id `foo-name`"),
        (
            f"## 甲 {{#e-left}}\n\n{SUM}result: blocks.0.resid_pre\nid: e\n:::",
            "7:1: error: the id `e-left` is already given on line 1",
        ),
        ("## 甲 {#claim-never-true}\n\n::: claims\n:::", "3:1: error: the id `claim-never-true`"),
        ("::: claims\n:::\n\n::: claims\n:::", "4:1: error: the id `claim-equals-row-identical`"),
        ("::: timeline\n:::\n\n::: timeline\n:::", "4:1: error: the id `timeline-slider`"),
        ("## 甲 {#train-here}\n\n::: training\n:::", "3:1: error: the id `train-here`"),
        ("::: training\n:::\n\n## 甲 {#train-verdict}", "1:1: error: the id `train-verdict`"),
    ],
)
def test_ids_that_a_block_makes_are_ids_of_the_page(body: str, expected: str) -> None:
    (found,) = rendered(body)[1]
    assert found.startswith(expected)
    assert "[duplicate-id]" in found


@pytest.mark.parametrize(
    ("language", "written", "href"),
    [
        ("zh", ("zh", "en"), "about.html"),
        ("en", ("zh", "en"), "about.html"),
        ("en", ("zh",), "../about.html"),
        ("zh", ("en",), "en/about.html"),
    ],
)
def test_a_tick_leads_to_the_list_of_claims_in_a_language_that_has_it(
    language: str, written: tuple[str, ...], href: str
) -> None:
    made = context("{claim}`equals-row-identical`", language)
    chapters = {(code, "about"): made.chapter for code in written}
    made = dataclasses.replace(made, site=dataclasses.replace(made.site, chapters=chapters))
    page = render(made)
    (link,) = page.links
    claim = f"{href}#claim-equals-row-identical"
    assert link == Link(claim, Location(made.chapter.path, 1))
    assert f'href="{link.href}"' in page.html


def test_downloads_of_a_page_in_a_folder_lead_out_of_it() -> None:
    page, _ = rendered("::: downloads\n:::\n", "en")
    links = re.findall(r'href="([^"]+)"', page.html)
    evidence = [f"evidence/{name}.json" for name in toy_evidence.NAMES]
    traces = ["traces/trained/7x0.json", "traces/trained/7x8.json"]
    paths = ["claims.json", "training.json", *evidence, *traces]
    assert links == [f"../snapshots/{path}" for path in ("manifest.json", *paths)]
