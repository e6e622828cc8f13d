"""How a number is written, and what a damaged snapshot says."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from model.config import ModelConfig
from model.encoding import encode, rounded, rows_up_to, weights_sha256
from model.snapshot import Snapshot, SnapshotError
from model.tensors import Vocabulary
from model.train import initial_weights

ordinary = st.floats(-9.9e6, 9.9e6)
matrices = hnp.arrays(
    np.float64, hnp.array_shapes(min_dims=2, max_dims=3, max_side=4), elements=ordinary
)

# --- rounded --------------------------------------------------------------------------------


def seven_digits(value: float) -> float:
    return float(f"{value:.6e}")


@given(ordinary)
@example(1e-12)
@example(9.9999995e-13)
@example(9.99999951)
@example(0.1)
@example(123456.75)
def test_rounding_is_to_seven_digits_as_python_formats_them(value: float) -> None:
    found = float(rounded(np.array(value)))
    if abs(value) < 1e-12:
        assert found == 0
        return
    if found != seven_digits(value):
        # Only where the value is, to the last bit, half-way between two such numbers.
        neighbours = {
            seven_digits(math.nextafter(value, edge)) for edge in (-math.inf, math.inf)
        } | {seven_digits(value * (1 - 3e-16)), seven_digits(value * (1 + 3e-16))}
        assert found in neighbours
        half_a_unit = abs(seven_digits(value) - found) / 2
        assert abs(found - value) == pytest.approx(half_a_unit, rel=1e-8)


@given(ordinary)
def test_a_rounded_number_has_at_most_seven_digits_and_stays(value: float) -> None:
    found = float(rounded(np.array(value)))
    assert found == seven_digits(found)
    assert found == float(rounded(np.array(found)))
    digits = repr(found).split("e")[0].replace("-", "").replace(".", "").strip("0")
    assert len(digits) <= 7


@given(st.floats(-1e-12, 1e-12, exclude_min=True, exclude_max=True))
def test_what_is_too_small_becomes_a_zero_without_a_sign(value: float) -> None:
    found = float(rounded(np.array(value)))
    assert found == 0
    assert math.copysign(1, found) == 1


@given(st.integers(-9_999_999, 9_999_999), st.integers(0, 12))
def test_a_decimal_of_seven_digits_is_left_alone(digits: int, places: int) -> None:
    value = float(f"{digits}e-{places}")
    assert float(rounded(np.array(value))) == value


@pytest.mark.parametrize("value", [math.nan, math.inf, 1e7, -1e7, 1e300])
def test_a_number_of_no_ordinary_size_cannot_be_rounded(value: float) -> None:
    with pytest.raises(ValueError, match="ordinary size"):
        rounded(np.array([0.0, value]))


def test_minus_infinity_is_masked_and_its_neighbours_are_rounded() -> None:
    found = rounded(np.array([[0.123456789, -np.inf], [1.0, 2.0]]))
    assert isinstance(found, np.ma.MaskedArray)
    assert found.tolist() == [[0.1234568, None], [1.0, 2.0]]


def test_noise_of_summation_does_not_show() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=10_000)
    noisy = values * (1 + rng.normal(size=values.size) * 1e-15)
    assert (values != noisy).mean() > 0.5
    assert np.array_equal(rounded(values), rounded(noisy))


# --- encode ---------------------------------------------------------------------------------


@given(matrices)
def test_an_array_reads_back_as_it_was_one_row_a_line(array: np.ndarray) -> None:
    text = encode({"a": array}).decode()
    assert np.array_equal(np.array(json.loads(text)["a"]), array)
    assert "-0.0," not in text.replace("]", ",")
    rows = text.splitlines()[1:-1]
    assert len(rows) == int(np.prod(array.shape[:-1]))
    for line in rows:
        assert line.count(",") - line.endswith(",") == array.shape[-1] - 1


@given(
    hnp.arrays(
        np.float32, (3, 4), elements=st.floats(width=32, allow_nan=False).filter(np.isfinite)
    )
)
def test_float32_weights_come_back_to_the_bit(array: np.ndarray) -> None:
    back = np.array(json.loads(encode({"w": array}))["w"], dtype=np.float32)
    assert (back + 0).tobytes() == (array + np.float32(0)).tobytes()


def test_float32_is_written_in_as_few_digits_as_it_takes() -> None:
    assert (
        encode({"w": np.array([0.1, 1 / 3], dtype=np.float32)}) == b'{\n"w": [0.1,0.33333334]\n}\n'
    )


@given(matrices, st.sampled_from([math.nan, math.inf, -math.inf]), st.data())
def test_an_array_with_nan_or_infinity_is_refused(
    array: np.ndarray, bad: float, data: st.DataObject
) -> None:
    array.flat[data.draw(st.integers(0, array.size - 1))] = bad
    with pytest.raises(ValueError, match="NaN or infinity"):
        encode({"a": array})


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_not_finite_is_refused_at_any_depth(bad: float) -> None:
    for document in (bad, [1.0, bad], {"a": {"b": bad}}, [{"a": bad}], {"a": [[1.0], [bad]]}):
        with pytest.raises(ValueError, match=r"cannot be written"):
            encode(document)


def test_a_masked_array_with_nan_elsewhere_is_refused() -> None:
    array = np.ma.MaskedArray([1.0, np.nan, 3.0], [True, False, False])
    with pytest.raises(ValueError, match="NaN or infinity"):
        encode({"a": array})


def test_masked_cells_are_null() -> None:
    scores = rounded(np.array([[1.0, -np.inf], [2.0, 3.0]]))
    assert encode({"S": scores}) == b'{\n"S": [[1.0,null],\n[2.0,3.0]]\n}\n'


def test_no_zero_is_negative() -> None:
    array = np.array([[-0.0, 0.0]])
    document = {"a": array, "b": array.astype(np.float32), "c": -0.0, "d": [-0.0, [-0.0]]}
    assert b"-0" not in encode(document)


@given(st.permutations(["beta", "alpha", "ζ", "10", "9"]))
def test_keys_keep_their_order_and_the_file_ends_with_a_newline(keys: list[str]) -> None:
    data = encode(dict.fromkeys(keys, 1))
    assert list(json.loads(data)) == keys
    assert data.endswith(b"\n}\n")
    assert b"\r" not in data
    assert data.count(b"\n") == len(keys) + 2


def test_a_document_is_the_same_bytes_every_time() -> None:
    weights = initial_weights(ModelConfig(), 8)
    assert encode(weights) == encode(dict(weights.items()))


# --- digests and rows -----------------------------------------------------------------------


def test_the_digest_depends_on_every_bit_and_not_on_the_order_of_keys() -> None:
    config = ModelConfig()
    weights = {k: w.astype(np.float32) for k, w in initial_weights(config, 8).items()}
    digest = weights_sha256(weights, config)
    assert weights_sha256(dict(reversed(weights.items())), config) == digest
    for key in weights:
        changed = {k: w.copy() for k, w in weights.items()}
        changed[key].flat[-1] = np.nextafter(changed[key].flat[-1], np.float32(9))
        assert weights_sha256(changed, config) != digest, key


def test_rows_are_cut_on_every_axis_of_positions_and_on_no_other() -> None:
    vocabulary, config = Vocabulary(ModelConfig()), ModelConfig()
    for key in vocabulary.activations:
        spec = vocabulary[key]
        whole = np.arange(np.prod(spec.shape(config, 6))).reshape(spec.shape(config, 6))
        cut = rows_up_to(spec, whole, 4)
        assert cut.shape == spec.shape(config, 4)
        assert cut.flat[0] == whole.flat[0]


# --- reading --------------------------------------------------------------------------------

MODEL = {name: getattr(ModelConfig(), name) for name in ModelConfig.__dataclass_fields__}
GRADIENTS = {"position": 0, "token": "7", "target": "×", "loss": 0.5, "grads": {"embed": [[1.0]]}}
FILES: dict[str, Any] = {
    "manifest.json": {"schema": 1, "model": MODEL},
    "weights/initial.json": {"step": 0, "tensors": {"embed.W_E": [[1.0, 2.0]]}},
    "traces/initial/7x8.json": {
        "problem": "7x8",
        "tokens": ["7"],
        "values": {"blocks.0.attn.attn_scores": [[[1.0, None], [2.0, 3.0]]]},
    },
    "gradients/initial/7x8.json": {"problem": "7x8", "targets": [GRADIENTS]},
}
READS: dict[str, Callable[[Snapshot], object]] = {
    "manifest.json": lambda snapshot: snapshot.config,
    "weights/initial.json": lambda snapshot: snapshot.weights("initial"),
    "traces/initial/7x8.json": lambda snapshot: snapshot.trace("initial", "7x8"),
    "gradients/initial/7x8.json": lambda snapshot: snapshot.gradients("initial", "7x8"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, document in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encode(document))
    return tmp_path


def test_a_snapshot_gives_back_what_was_written(folder: Path) -> None:
    snapshot = Snapshot(folder)
    assert snapshot.config == ModelConfig()
    assert list(snapshot.vocabulary) == list(Vocabulary(ModelConfig()))
    weights = snapshot.weights("initial")["embed.W_E"]
    assert (weights.dtype, weights.tolist()) == (np.float32, [[1.0, 2.0]])
    trace = snapshot.trace("initial", "7x8")
    assert trace.tokens == ("7",)
    scores = trace.values["blocks.0.attn.attn_scores"]
    assert np.isnan(scores).tolist() == [[[False, True], [False, False]]]
    (gradients,) = snapshot.gradients("initial", "7x8")
    assert (gradients.position, gradients.token, gradients.target) == (0, "7", "×")
    assert gradients.grads["embed"].tolist() == [[1.0]]


def test_a_file_in_memory_takes_the_place_of_the_one_on_disk(folder: Path) -> None:
    other = encode({"step": 0, "tensors": {"embed.W_E": [[3.0]]}})
    snapshot = Snapshot(folder, {"weights/initial.json": other})
    assert snapshot.weights("initial")["embed.W_E"].tolist() == [[3.0]]


def test_a_file_is_read_once(folder: Path) -> None:
    snapshot = Snapshot(folder)
    first = snapshot.weights("initial")
    shutil.rmtree(folder)
    assert snapshot.weights("initial").keys() == first.keys()


DAMAGE: dict[str, bytes | None] = {
    "missing": None,
    "empty": b"",
    "truncated": b'{"schema": 1, "mod',
    "not text": b"\xff\xfe\x00",
    "a list": b"[1, 2]",
    "null": b"null",
    "nothing in it": b"{}",
    "parts that are no objects": json.dumps(
        {"schema": 1, "model": 3, "tensors": [1], "values": 4, "tokens": 5, "targets": [[]]}
    ).encode(),
    "ragged rows": json.dumps(
        {
            "schema": 1,
            "model": {**MODEL, "n_heads": 3},
            "tensors": {"embed.W_E": [[1.0], [1.0, 2.0]]},
            "tokens": ["7"],
            "values": {"embed": [[1.0], [1.0, 2.0]]},
            "targets": [{**GRADIENTS, "grads": {"embed": [[1.0], "x"]}}],
        }
    ).encode(),
    "a target without gradients": json.dumps(
        {"schema": 1, "model": {}, "tensors": 1, "values": [], "tokens": [], "targets": [{}]}
    ).encode(),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_one_error_that_names_it(folder: Path, name: str, damage: str) -> None:
    data = DAMAGE[damage]
    if data is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(data)
    with pytest.raises(SnapshotError) as caught:
        READS[name](Snapshot(folder))
    assert caught.value.path == folder / name
    assert str(caught.value).startswith(f"{folder / name}: ")
    assert "\n" not in str(caught.value)


def test_another_schema_is_refused(folder: Path) -> None:
    (folder / "manifest.json").write_bytes(encode({**FILES["manifest.json"], "schema": 2}))
    with pytest.raises(SnapshotError, match="schema 2 instead of 1"):
        _ = Snapshot(folder).config
