"""The article tells what its seeds tell, in sentences of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.site_build import ROOT

SEEDS = ROOT.parent / "shared" / "seeds"
LONGEST_SHARED = 19
"""Han characters in a row that two texts about the same thing may share."""

_NOT_PROSE = re.compile(r"`[^`]*`|\$[^$]*\$|https?://\S+")
_HAN = re.compile("[\u4e00-\u9fff]")


def han(text: str) -> str:
    """Return the Han characters of a text in order, without formulas and code."""
    return "".join(_HAN.findall(_NOT_PROSE.sub("", text)))


def shared_runs(text: str, other: str) -> Iterator[str]:
    """Yield every stretch of more than `LONGEST_SHARED` Han characters that both texts have."""
    size = LONGEST_SHARED + 1
    mine, theirs = han(text), han(other)
    known = {theirs[i : i + size] for i in range(len(theirs) - size + 1)}
    yield from (
        mine[i : i + size] for i in range(len(mine) - size + 1) if mine[i : i + size] in known
    )


def test_a_copied_sentence_is_found_whatever_its_punctuation() -> None:
    told = "训练从来没有收到过任何一条命令，说应该去读哪一个位置；它只收到答案。"
    again = "起初，训练从来没有收到过任何一条命令说应该去读哪一个位置，所以"
    assert len(list(shared_runs(again, told))) == 6
    assert not list(shared_runs("训练从来没有收到过任何一条`码`命令，它只收到答案", told))


def test_no_chapter_shares_a_sentence_with_the_seeds() -> None:
    seeds = [path.read_text(encoding="utf-8") for path in sorted(SEEDS.glob("*.txt"))]
    files = (ROOT / "content").rglob("*")
    chapters = sorted(path for path in files if path.suffix in (".md", ".yml"))
    found = {
        chapter.name: list(shared_runs(chapter.read_text(encoding="utf-8"), seed))
        for chapter in chapters
        for seed in seeds
    }
    assert len(chapters) > 10
    assert {name: runs for name, runs in found.items() if runs} == {}
