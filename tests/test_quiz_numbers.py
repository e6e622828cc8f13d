"""The items as they are shown: every right number, and every wrong one, recomputed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from builder.numbers.address import AddressError
from builder.numbers.display import MINUS, display, display_whole
from builder.numbers.lookup import Numbers
from builder.quiz.asked import Asked
from builder.quiz.mistakes import mistakes_about, value_of
from tests import stored
from tests.independent import is_stored
from tests.mistaken import GENERAL, OF_TENSOR, Place, mistaken, of_document
from tests.site_build import ROOT, BuiltSite

QUIZZES = sorted((ROOT / "content/zh/quiz").glob("*.yml"))
ITEMS = {
    f"{path.stem}/{name}": item
    for path in QUIZZES
    for name, item in yaml.safe_load(path.read_text(encoding="utf-8")).items()
}
"""Every item as its author wrote it."""
NUMERIC = [name for name, item in ITEMS.items() if "number" in item]

TABLES = ("attn_scores", "pattern")

_ITEM = re.compile(r'<div class="quiz-item" id="[^"]*" data-item="([^"]*)">(.*?)</div>', re.DOTALL)
_ANSWER = re.compile(
    r'<li class="is-(right|wrong)"><b>(.*?)</b> <b>[^<]*</b> (.*?)</li>', re.DOTALL
)
_CELL = re.compile(r'<p class="quiz-number">.*?<span class="value"([^>]*)>(.*?)</span>', re.DOTALL)


@dataclass(frozen=True)
class Shown:
    """An item of a page: the options in their order, and what is said of each."""

    options: list[str]
    answers: list[tuple[bool, str, str]]
    html: str

    @property
    def right(self) -> int:
        (index,) = (i for i, (is_right, _, _) in enumerate(self.answers) if is_right)
        return index


def shown(page: Path) -> dict[str, Shown]:
    """The items of a page by name."""
    return {
        name: Shown(
            [
                plain(option)
                for option in re.findall(r"<input [^>]*><span>(.*?)</span></label>", html)
            ],
            [(is_right == "right", plain(o), why) for is_right, o, why in _ANSWER.findall(html)],
            html,
        )
        for name, html in _ITEM.findall(page.read_text(encoding="utf-8"))
    }


def plain(html: str) -> str:
    return unescape(re.sub("<[^>]*>", "", html))


@pytest.fixture(scope="module")
def items(site: BuiltSite) -> dict[str, Shown]:
    return shown(site.folder / "review.html")


def test_there_are_many_items_in_every_chapter_and_half_ask_for_a_number(site: BuiltSite) -> None:
    chapters = re.findall(r"^  - ([\w-]+)$", (ROOT / "content/site.yml").read_text("utf-8"), re.M)
    tested = chapters[: chapters.index("limit") + 1]
    assert set(tested) - {"primer"} <= {path.stem for path in QUIZZES}
    assert len(ITEMS) >= 40
    assert 2 * len(NUMERIC) >= len(ITEMS)
    for path in QUIZZES:
        assert list(shown(site.folder / f"{path.stem}.html")) == [
            name for name in ITEMS if name.startswith(f"{path.stem}/")
        ]


def test_the_review_shows_the_items_of_the_chapters_as_they_do(
    site: BuiltSite, items: dict[str, Shown]
) -> None:
    assert items.keys() == ITEMS.keys()
    source = re.compile(r"<a href=[^>]*>([^<]*)</a> <span class=.quiz-when")
    for path in QUIZZES:
        for name, item in shown(site.folder / f"{path.stem}.html").items():
            own, other = (source.findall(html)[0] for html in (item.html, items[name].html))
            assert (own, other[:3]) == ("回去看这一节", "出自“")
            assert replace(item, html=item.html.replace(own, other)) == items[name]


def test_options_differ_and_one_is_right(items: dict[str, Shown]) -> None:
    for name, item in items.items():
        assert len(set(item.options)) == len(item.options) >= 3, name
        assert item.options == [option for _, option, _ in item.answers], name
        assert item.right >= 0
        assert all(len(plain(why)) > 5 for _, _, why in item.answers), name


def test_the_right_option_is_not_always_in_the_same_place(items: dict[str, Shown]) -> None:
    for names in (set(NUMERIC), ITEMS.keys() - set(NUMERIC)):
        places = Counter(items[name].right for name in names)
        assert len(places) >= 4 - (len(names) < 4)
        assert max(places.values()) < len(names) / 2


def test_the_right_text_is_not_told_by_its_length(items: dict[str, Shown]) -> None:
    texts = [item for name, item in items.items() if name not in NUMERIC]
    longest = [item for item in texts if max(item.options, key=len) == item.options[item.right]]
    assert len(longest) <= len(texts) / 3


def test_numbers_stand_by_size(items: dict[str, Shown]) -> None:
    for name in NUMERIC:
        values = numbers(items[name])
        assert values == sorted(values), name


def numbers(item: Shown) -> list[float]:
    labels = item.html.split("<details>")[0].split("</legend>")[1]
    return [float(value) for value in re.findall(r'<span data-value="([^"]*)">', labels)]


@pytest.mark.parametrize("name", NUMERIC)
def test_every_number_of_an_item_is_recomputed(
    site: BuiltSite, items: dict[str, Shown], name: str
) -> None:
    written, item = ITEMS[name], items[name]
    found = dict(zip(item.options, numbers(item), strict=True))
    right, wrong = expected(site.folder, written, item)
    assert is_stored(found[item.options[item.right]], right)
    assert item.options[item.right] == as_shown(found[item.options[item.right]], written)
    why = {plain(why).strip(): found[option] for _, option, why in item.answers}
    texts = {as_shown(right, written)}
    for value, because in wrong:
        text = as_shown(value, written)
        if text not in texts:  # or else it is left out
            (value_shown,) = (v for told, v in why.items() if told.startswith(because))
            assert abs(value_shown - value) <= 4e-6 * max(1, abs(value)), because
            assert as_shown(value_shown, written) in item.options
        texts.add(text)
    assert len(texts) == len(item.options)


COUNTS = ("manifest.", "claims.", "evidence.")
"""Where the numbers of items that are no tensor's are counts."""


def as_shown(value: float, item: dict[str, Any]) -> str:
    is_count = "decimals" not in item and item["number"].startswith(COUNTS)
    return display_whole(value) if is_count else display(value, item.get("decimals", 2))


def expected(
    site: Path, item: dict[str, Any], shown: Shown
) -> tuple[float, list[tuple[float, str]]]:
    """The right number, and each wrong one with what is said of it."""
    match = _CELL.search(shown.html)
    assert match is not None
    data = dict(re.findall(r'data-(\w+)="([^"]*)"', match[1]))
    if "cell" not in data:
        right = stored.number(site, item["number"], "trained", "7x8")
        made = of_document(site, item["number"])
    else:
        place = place_of(site, data)
        if "until" in item:
            place = replace(place, until=int(item["until"].removeprefix("@")))
        right, made = place.number(), {}
    wrong = []
    for mistake in item["mistakes"]:
        if "address" in mistake:
            value = read_instead(site, mistake, data)
        elif made or "cell" not in data:
            value = made[mistake["mistake"]]
        else:
            value = mistaken(place, mistake["mistake"])
        wrong.append((value, plain_source(mistake["because"])))
    return right, wrong


def place_of(site: Path, data: dict[str, str]) -> Place:
    key, indices = data["cell"].rstrip("]").split("[")
    at = tuple(int(index) for index in indices.split(","))
    target = int(data["target"]) if "target" in data else None
    return Place(site, key, at, data["stage"], data.get("problem", "7x8"), target)


def read_instead(site: Path, mistake: dict[str, Any], data: dict[str, str]) -> float:
    """What stands at another address, in the files of the snapshot."""
    address, problem = mistake["address"], mistake.get("problem", data.get("problem", "7x8"))
    if address.startswith(COUNTS):
        return stored.number(site, address, "trained", problem)
    key, selectors = address.removeprefix("∂").rstrip("]").split("[")
    head_found = stored.number(site, "claims.head-follows-zero.head", "trained", problem) - 1
    selectors = selectors.replace("head-follows-zero", str(int(head_found)))
    stage = data["stage"]
    if not address.startswith("∂"):
        return stored.number(site, f"{key}[{selectors}]", stage, problem)
    row, column = selectors.split(",")
    target = int(data["target"])
    tokens = stored.read(site, f"traces/{stage}/{problem}.json")["tokens"]
    vocab = stored.read(site, "dataset.json")["vocab"]
    at = int(row[1:]) if row.startswith("@") else tokens.index(row)
    targets = stored.read(site, f"gradients/{stage}/{problem}.json")["targets"]
    return float(targets[target]["grads"][key][at][vocab.index(column)])


def plain_source(markdown: str) -> str:
    """The text up to its first formula or role."""
    return re.sub(r"[`*]", "", re.split(r"[{$]", markdown)[0])


PLACES = [
    *(
        f"blocks.{layer}.attn.{name}[{head},=,@1]"
        for layer in (0, 1)
        for head in (0, 1)
        for name in TABLES
    ),
    *(f"blocks.1.attn.{name}[1,=,2]" for name in ("z", "result", "q", "v")),
    *(f"∂blocks.{layer}.attn.{name}[0,=,@2]" for layer in (0, 1) for name in TABLES),
    *("∂blocks.0.attn.q[1,=,3]", "∂blocks.0.attn.v[1,@2,0]", "∂blocks.1.attn.v[0,=,1]"),
    *(f"blocks.0.{name}[=,3]" for name in ("resid_pre", "resid_mid", "resid_post", "ln1.out")),
    *("blocks.0.resid_pre[@0,0]", "blocks.1.mlp.post[=,7]", "ln_final.out[=,2]", "logits[=,5]"),
    *("probs[=,5]", "probs[@0,0]", "∂logits[=,5]", "∂logits[=,0]", "unembed.W_U[3,5]"),
    *("blocks.0.attn.W_QK[1,2,5]", "blocks.1.attn.W_OV[0,0,6]", "blocks.0.attn.W_Q[0,3]"),
]


def test_a_place_is_tried_for_every_mistake_there_is(site: BuiltSite) -> None:
    tried = {name for address in PLACES for name in mistakes_about(asked(site, address))}
    named = {n for table in ({**OF_TENSOR, "": GENERAL}).values() for n in table}
    assert tried == named


@pytest.mark.parametrize("stage", ["initial", "trained"])
@pytest.mark.parametrize("address", PLACES)
def test_every_mistake_leads_where_the_equations_say(
    site: BuiltSite, address: str, stage: str
) -> None:
    at = asked(site, address, stage)
    key, indices = at.value.cell.rstrip("]").split("[")
    place = tuple(map(int, indices.split(",")))
    where = Place(site.folder, key, place, stage, "7x8", at.value.target)
    assert is_stored(float(at.value.number or 0), where.number())
    for name in mistakes_about(at):
        exact = mistaken(where, name)
        if np.isfinite(exact):
            assert abs(value_of(name, at) - exact) <= 4e-6 * max(1, abs(exact)), name
        else:
            with pytest.raises(AddressError):
                value_of(name, at)


def asked(site: BuiltSite, address: str, stage: str = "trained") -> Asked:
    return Asked.at(address, Numbers(site.snapshot, {}, {}), stage, "7x8", "=")


def test_questions_state_the_numbers_of_their_own_problem(
    site: BuiltSite, items: dict[str, Shown]
) -> None:
    """Each number in a sentence of an item is the snapshot's."""
    checked = 0
    for item in items.values():
        for attributes, text in _values(item.html):
            data = dict(re.findall(r'data-(\w+)="([^"]*)"', attributes))
            assert "follows" not in data
            if "cell" in data:
                right = place_of(site.folder, data).number()
                assert is_stored(float(data["value"]), right)
                decimals = len(text.partition(".")[2])
                assert text == display(float(data["value"]), decimals).replace("-", MINUS)
                checked += 1
    assert checked > 150


def _values(html: str) -> Iterator[tuple[str, str]]:
    yield from re.findall(r'<span class="value"([^>]*)>([^<]*)</span>', html)


def test_no_stem_shows_the_answer_of_another_item_of_its_page(items: dict[str, Shown]) -> None:
    """Neither with its decimals nor with others, and neither looked up nor typed."""
    for name in NUMERIC:
        right = numbers(items[name])[items[name].right]
        shown_right = items[name].options[items[name].right]
        page = name.split("/")[0]
        for other in (o for o in items if o.split("/")[0] == page and o != name):
            stem = items[other].html.split("</legend>")[0]
            looked_up = [float(value) for value in re.findall(r'data-value="([^"]*)"', stem)]
            assert (abs(right) < 10 and right == int(right)) or right not in looked_up, (
                name,
                other,
            )
            typed = re.findall(r"[−]?\d[\d,]*(?:\.\d+)?", plain(stem))
            assert len(shown_right) == 1 or shown_right not in typed, (name, other)


def test_a_stem_with_numbers_of_a_head_names_problem_layer_and_head(
    items: dict[str, Shown],
) -> None:
    """A review shuffles the items, so that none can lean on the one before."""
    for name in NUMERIC:
        stem = plain(items[name].html.split("</legend>")[0])
        cells = re.findall(r'data-cell="([^"]*)"', items[name].html)
        of_head = [cell for cell in cells if re.search(r"attn\.(?!W_)", cell)]
        stages = set(re.findall(r'data-stage="([^"]*)"', items[name].html))
        if any(re.search(r"attn\.(q|k|v|z|pattern|attn_scores|W_)", cell) for cell in cells):
            assert re.search(r"第 \d 层(第 \d 个头|头 \d)", stem), name
        if of_head:
            assert re.search(r"\d×\d", stem), name
        if "initial" in stages:
            assert "训练之前" in stem, name
        assert not re.match(r"(这个|那个|还是|同一)", stem.strip()), name


def test_every_item_names_its_chapter_and_a_section_of_it(site: BuiltSite) -> None:
    source = (site.folder / "review.html").read_text(encoding="utf-8")
    for name, html in _ITEM.findall(source):
        chapter = name.split("/")[0]
        (href,) = re.findall(r'<p class="quiz-source"><a href="([^"]*)">', html)
        page, _, section = href.partition("#")
        assert page == f"{chapter}.html"
        assert f' id="{section}"' in (site.folder / page).read_text(encoding="utf-8")
