"""The drawing of the network: its counts add up, its boxes have room, its links lead somewhere."""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from html import unescape

import pytest

from builder.blocks.part import target
from builder.drawing.boxes import Box
from builder.drawing.network import Drawing, draw
from builder.errors import Location
from builder.links import Link, ids_in
from builder.markdown import render
from model.config import ModelConfig
from model.parts import Part, groups
from model.task import BY_NAME, VOCAB
from model.tensors import Vocabulary
from tests.rendering import PRESET, context, html, numbers

BLOCK = "::: network\n图旁的话，{value}`manifest.model.d_model`。\n:::\n"
CONFIGS = [
    ModelConfig(),
    ModelConfig(n_layers=1, n_heads=1, d_mlp=4),
    ModelConfig(n_layers=3, n_heads=4, d_vocab=50, n_ctx=99),
    ModelConfig(n_layers=1, n_heads=8, d_model=64, d_mlp=256),
    ModelConfig(n_layers=1, n_heads=2, d_model=192, d_mlp=768),
]
NAMES = [f"{c.n_layers}x{c.n_heads}x{c.d_model}" for c in CONFIGS]
CELL = re.compile(r"#\?cell=(\w+):trained:([\w.]+)\[([\d,]+)\]")


def drawn(language: str = "zh") -> ET.Element:
    made = context(BLOCK, language)
    page = render(made)
    assert list(made.diagnostics) == []
    return ET.fromstring(page.html[page.html.index("<svg") : page.html.index("</svg>") + 6])


def boxes_of(svg: ET.Element) -> list[ET.Element]:
    """All boxes; a drawing without any would satisfy every test about each."""
    found = svg.findall("a")
    assert found
    return found


def texts(element: ET.Element, kind: str) -> list[str]:
    return ["".join(text.itertext()) for text in element.iter("text") if text.get("class") == kind]


def whole(text: str) -> int:
    return int(text.replace(",", ""))


def parts(config: ModelConfig) -> list[Part]:
    return [part for group in groups(Vocabulary(config)) for part in group.parts]


def n_stored() -> int:
    """Count the learned numbers in the file that has them."""
    tensors = numbers().snapshot.document("weights/trained.json")["tensors"]
    return sum(
        len(row) if isinstance(row, list) else 1 for tensor in tensors.values() for row in tensor
    )


def test_counts_of_the_boxes_add_up_to_what_the_model_has_learned() -> None:
    shown = [whole(count) for box in boxes_of(drawn()) for count in texts(box, "count")]
    assert len(shown) == len(parts(PRESET.model)) == 38
    assert sum(shown) == n_stored() == 3136


def test_subtotals_add_up_to_the_total_below_them() -> None:
    svg = drawn()
    subtotals = [whole(text) for text in texts(svg, "subtotal")]
    assert subtotals == [240, 1384, 1384, 128]
    assert [whole(text) for text in texts(svg, "total")] == [sum(subtotals)] == [n_stored()]


@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_box_shows_a_name_a_shape_and_a_count_and_says_them(language: str) -> None:
    for box in boxes_of(drawn(language)):
        (shape,), (count,) = texts(box, "shape"), texts(box, "count")
        title = box.findtext("title", "")
        assert any(texts(box, "name"))
        assert shape in title
        assert count in title.replace(shape, "")
        assert box.get("data-parameters") == str(whole(count))


def test_a_shape_of_weights_multiplied_out_is_their_count() -> None:
    for box in boxes_of(drawn()):
        (shape,), (count,) = texts(box, "shape"), texts(box, "count")
        if box.get("data-weights"):
            terms = (math.prod(map(int, term.split("×"))) for term in shape.split(" + "))
            assert sum(terms) == whole(count)
        else:
            assert count == "0"
            assert shape.startswith("n×")


@pytest.mark.parametrize("config", CONFIGS, ids=NAMES)
def test_every_weight_belongs_to_the_parts_exactly_once(config: ModelConfig) -> None:
    vocabulary, found = Vocabulary(config), dict.fromkeys(Vocabulary(config).weights, 0)
    for part in parts(config):
        for spec, shape in zip(part.weights, part.weight_shapes, strict=True):
            found[spec.key] += math.prod(shape)
    assert found == {key: math.prod(vocabulary[key].shape(config)) for key in vocabulary.weights}


def test_parts_come_in_the_order_of_the_forward_pass() -> None:
    order = [key for part in parts(PRESET.model) if (key := part.makes.key) and not part.head]
    known = [key for key in Vocabulary(PRESET.model).activations if key in order]
    assert order == known


def test_the_mlp_has_more_parameters_than_the_rest_of_its_layer() -> None:
    """The cover says so."""
    for group in groups(Vocabulary(ModelConfig()))[1:-1]:
        (mlp,) = (part for part in group.parts if part.makes.name == "mlp_out")
        assert mlp.n_params > group.n_params - mlp.n_params


@pytest.mark.parametrize("config", CONFIGS, ids=NAMES)
def test_no_box_lies_on_another_or_outside_the_drawing(config: ModelConfig) -> None:
    drawing = draw(groups(Vocabulary(config)))
    for one, other in itertools.combinations(drawing.boxes, 2):
        assert apart(one, other), (one.part.makes.key, other.part.makes.key)
    for box in drawing.boxes:
        assert box.x >= 0
        assert box.x + box.width <= drawing.right
        assert drawing.top <= box.y < box.y + box.height <= 0


@pytest.mark.parametrize("config", CONFIGS, ids=NAMES)
def test_lines_end_at_the_boxes_that_they_join(config: ModelConfig) -> None:
    drawing = draw(groups(Vocabulary(config)))
    for box in drawing.boxes[2:]:
        starts = [tuple(map(float, m)) for m in re.findall(r"M(\S+) (\S+?)[VHq]", box.wire)]
        starts += [tuple(map(float, m)) for m in re.findall(r"M(\S+) (\S+?)[VHq]", box.stream)]
        assert starts, box.part.makes.key
        for x, y in starts:
            assert on_stream(x, drawing) or any(touches(b, x, y) for b in drawing.boxes), (x, y)


def apart(one: Box, other: Box) -> bool:
    beside = one.x + one.width <= other.x or other.x + other.width <= one.x
    return beside or one.bottom <= other.y or other.bottom <= one.y


def on_stream(x: float, drawing: Drawing) -> bool:
    return x == next(box.middle for box in drawing.boxes if box.part.is_sum)


def touches(box: Box, x: float, y: float) -> bool:
    return box.x <= x <= box.x + box.width and y in (box.y, box.bottom, box.y + box.height / 2)


def test_every_box_leads_to_a_cell_that_exists_in_the_row_of_the_equals_sign() -> None:
    for box in boxes_of(drawn()):
        match, head = CELL.fullmatch(box.get("href", "")), box.get("data-head")
        assert match
        problem, key, index = match.groups()
        assert key == box.get("data-key")
        array = numbers().snapshot.trace("trained", problem).values[key]
        indices = tuple(map(int, index.split(",")))
        assert not math.isnan(array[indices])
        assert BY_NAME[problem].inputs[indices[-2]] == "="
        assert indices[:-2] == (() if head is None else (int(head),))
        if key in ("logits", "probs"):
            assert VOCAB[indices[-1]] == "5"


@pytest.mark.parametrize(
    ("language", "written", "page"),
    [
        ("zh", ("zh", "en"), "ledger.html"),
        ("en", ("zh", "en"), "ledger.html"),
        ("en", ("zh",), "../ledger.html"),
    ],
)
def test_boxes_lead_to_the_ledger_once_there_is_one(
    language: str, written: tuple[str, ...], page: str
) -> None:
    made = context(BLOCK, language)
    ledgers = ["ledger", "ledger-mlp"]
    chapters = {(code, slug): made.chapter for code in written for slug in ledgers}
    site = dataclasses.replace(made.site, slugs=["index", *ledgers], chapters=chapters)
    made = dataclasses.replace(made, site=site)
    rendered = render(made)
    hrefs = [target(part, made) for part in parts(PRESET.model)]
    mlp = page.replace("ledger", "ledger-mlp")
    assert f"{page}#part-attn.q?layer=0&head=1" in hrefs
    assert f"{mlp}#part-mlp_out?layer=1" in hrefs
    assert all(href.startswith((f"{page}#", f"{mlp}#")) for href in hrefs)
    assert len(set(hrefs)) == len(hrefs)
    place = Location(made.chapter.path, 1)
    assert [Link(href, place) for href in hrefs] == list(rendered.links)
    found = re.findall(r'<a id="[^"]*" class="\w+" href="([^"]*)"', rendered.html)
    assert list(map(unescape, found)) == hrefs


def test_the_table_says_the_same_as_the_drawing() -> None:
    made = html(BLOCK)
    table = ET.fromstring(made[made.index("<table") : made.index("</table>") + 8])
    rows = list(cells(table))
    counts = [whole(row[-1]) for row in rows if len(row) == 3]
    sums = [whole(row[-1]) for row in rows if len(row) == 2]
    assert counts == [whole(c) for box in boxes_of(drawn()) for c in texts(box, "count")]
    assert sums == [240, 1384, 1384, 128, 3136]
    named = {re.sub(r"\[\d\]", "", code.text or "") for code in table.iter("code")}
    assert named >= {*Vocabulary(PRESET.model).weights, "blocks.1.attn.z"}


def cells(table: ET.Element) -> Iterator[list[str]]:
    for row in table.iter("tr"):
        if row.find("td") is not None:
            yield ["".join(cell.itertext()) for cell in row]


def test_the_authors_words_stand_beside_the_drawing() -> None:
    made = html(BLOCK)
    caption = made[made.index("<figcaption>") : made.index("</figcaption>")]
    assert '<p>图旁的话，<span class="value"' in caption


def test_a_box_has_an_id_to_lead_back_to() -> None:
    ids = ids_in("index.html", html(BLOCK).encode())
    assert ids >= {"network", "network-blocks.1.attn.z[0]", "network-blocks.0.resid_pre"}
