"""The primer's figures and sentences agree with each other, as they are shown."""

from __future__ import annotations

import re

import pytest

from tests.site_build import BuiltSite
from tests.test_quiz_numbers import plain, shown


@pytest.fixture(scope="module")
def primer(site: BuiltSite) -> str:
    return (site.folder / "primer.html").read_text(encoding="utf-8")


def test_a_matrix_of_positions_has_the_same_size_in_every_figure(primer: str) -> None:
    """All are cut to the prompt, which is what a reader sees."""
    figures = re.findall(
        r'<figure class="matrix"[^>]* data-key="([^"]*)"([^>]*)>.*?"matrix-shape">(.*?)</span>',
        primer,
        re.DOTALL,
    )
    of_problem = [each for each in figures if "data-problem" in each[1]]
    assert len(of_problem) > 8
    for key, attributes, shape in of_problem:
        assert 'data-until="3"' in attributes, key
        rows = 4 if "data-rows" not in attributes else 1
        assert shape.startswith(f"{rows} × ") or 'data-transposed="true"' in attributes, key
        assert rows == 4 or "全矩阵 4 × " in plain(shape), key


def test_shares_and_what_they_bring_have_the_same_decimals(primer: str) -> None:
    tables = {
        kind: re.findall(rf'<figure class="worked {kind}".*?</figure>', primer, re.DOTALL)
        for kind in ("softmax", "mixture")
    }
    for kind, (table,) in tables.items():
        body = re.findall(r"<td[^>]*data-value[^>]*>(.*?)</td>", table, re.DOTALL)
        decimals = {len(plain(number).partition(".")[2]) for number in body}
        assert len(body) > 8, kind
        assert decimals == {4}, kind


def test_the_share_that_is_asked_for_can_be_worked_out(site: BuiltSite) -> None:
    """Beside a probability: the other shares of the row are told, and the four add up to 1."""
    item = shown(site.folder / "primer.html")["primer/share-or-probability"]
    stem = item.html.split("</legend>")[0]
    told = [float(x) for x in re.findall(r'data-cell="[^"]*pattern[^>]*data-value="([^"]*)"', stem)]
    right = float(item.options[item.right])
    assert len(told) == 3
    assert abs(sum(told) + right - 1) < 0.001
    assert any(option == plain(p) for p in _probabilities(stem) for option in item.options)


def _probabilities(html: str) -> list[str]:
    return re.findall(r'<span class="value"[^>]*data-cell="probs[^>]*>(.*?)</span>', html)


def test_it_announces_no_count_of_questions_that_is_not_kept(primer: str) -> None:
    before = primer.partition('id="practice"')[2].partition('<section class="quiz"')[0]
    assert before
    assert not re.search(r"[两二三四五六七八九\d]个数", plain(before))
