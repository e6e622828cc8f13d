from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.numbers.address import Address, AddressError
from builder.numbers.display import (
    adds_up,
    display,
    display_exact,
    display_percent,
    display_power,
    display_scientific,
    display_whole,
    token_label,
)
from builder.numbers.domains import covering, domains, domains_of
from builder.numbers.lookup import Numbers
from builder.numbers.matrix import Target
from model import derived, task
from model.snapshot import Snapshot
from model.tensors import Range, Vocabulary
from tests import reference
from tests.rendering import PRESET, PROBLEMS, numbers, snapshot_folder


def error(address: str, problem: str = "7x8", stage: str = "trained") -> AddressError:
    with pytest.raises(AddressError) as caught:
        numbers().value(address, stage, problem)
    return caught.value


@pytest.mark.parametrize(
    ("text", "key", "selectors"),
    [
        ("probs", "probs", ()),
        (" probs[=, 5] ", "probs", ("=", "5")),
        ("blocks.0.attn.pattern[1,@3,×]", "blocks.0.attn.pattern", ("1", "@3", "×")),
        ("probs[=,<end>]", "probs", ("=", "<end>")),
        ("claims.equals-row.n", "claims.equals-row.n", ()),
        ("∂logits[=,@next]", "logits", ("=", "@next")),
    ],
)
def test_address_splits_into_key_and_selectors(
    text: str, key: str, selectors: tuple[str, ...]
) -> None:
    address = Address.parse(text)
    assert (address.key, address.selectors) == (key, selectors)
    assert address.text == text.replace(" ", "")
    assert address.is_gradient == text.startswith("∂")


@pytest.mark.parametrize(
    "text", ["", "[1]", "probs[", "probs[]", "probs[1,]", "a b", "probs[[1]]", "∂", "∂∂probs"]
)
def test_malformed_address_is_refused(text: str) -> None:
    with pytest.raises(AddressError, match="is not an address"):
        Address.parse(text)


def test_cell_is_the_same_by_label_and_by_index() -> None:
    found = {
        numbers().value(f"probs[{row},{column}]", "trained", "7x8").number
        for row in ("=", "@3")
        for column in ("5", "@5")
    }
    trace = Snapshot(snapshot_folder()).trace("trained", "7x8")
    assert found == {trace.values["probs"][3, 5]}


def test_head_of_an_activation_is_its_own_matrix() -> None:
    trace = Snapshot(snapshot_folder()).trace("trained", "7x8")
    matrix = numbers().matrix("blocks.1.attn.pattern[1]", "trained", "7x8")
    np.testing.assert_array_equal(matrix.values, trace.values["blocks.1.attn.pattern"][1])
    assert matrix.rows.labels == matrix.columns.labels == ("7", "×", "8", "=", "5", "6")
    assert (matrix.rows.name, matrix.columns.name) == ("query", "key")


@pytest.mark.parametrize("name", ["W_Q", "W_K", "W_V"])
def test_head_of_an_input_weight_is_its_columns(name: str) -> None:
    whole = numbers().matrix(f"blocks.0.attn.{name}", "initial", "7x8")
    parts = [numbers().matrix(f"blocks.0.attn.{name}[{head}]", "initial", "") for head in (0, 1)]
    np.testing.assert_array_equal(np.hstack([part.values for part in parts]), whole.values)
    assert parts[1].columns.labels == ("0", "1", "2", "3")


def test_head_of_the_output_weight_is_its_rows() -> None:
    whole = numbers().matrix("blocks.0.attn.W_O", "initial", "7x8")
    parts = [numbers().matrix(f"blocks.0.attn.W_O[{head}]", "initial", "") for head in (0, 1)]
    np.testing.assert_array_equal(np.vstack([part.values for part in parts]), whole.values)


def test_cell_of_a_weight_takes_a_head_or_none() -> None:
    whole = numbers().value("blocks.0.attn.W_Q[2,5]", "trained", "")
    of_head = numbers().value("blocks.0.attn.W_Q[1,2,1]", "trained", "")
    assert whole.number == of_head.number
    assert whole.problem == ""
    assert whole.cell == of_head.cell == "blocks.0.attn.W_Q[2,5]"


def test_next_is_the_token_that_follows_the_row() -> None:
    for row, token in (("=", "5"), ("@4", "6"), ("@5", "<end>")):
        named = numbers().value(f"probs[{row},@next]", "trained", "7x8")
        assert named.number == numbers().value(f"probs[{row},{token}]", "trained", "7x8").number
        assert named.cell.endswith(",next]")
    with pytest.raises(AddressError, match="has no `@next`"):
        numbers().value("blocks.0.attn.q[0,=,@next]", "trained", "7x8")


def test_vector_is_one_row() -> None:
    matrix = numbers().matrix("ln_final.scale", "trained", "7x8")
    assert matrix.values.shape == (1, 6)
    assert matrix.columns.labels[3] == "="
    value = numbers().value("ln_final.scale[=]", "trained", "7x8")
    assert value.number == matrix.values[0, 3]


@pytest.mark.parametrize("stage", ["initial", "trained"])
@pytest.mark.parametrize("position", [0, 3, 5])
def test_a_gradient_is_that_of_the_target_after_a_token(stage: str, position: int) -> None:
    """The files have it, and so does a computation of its own, to the digits that are stored."""
    tokens = task.BY_NAME["7x8"].tokens
    weights = {
        key: np.asarray(value, dtype=np.float64)
        for key, value in Snapshot(snapshot_folder()).weights(stage).items()
    }
    ids = [task.TOKEN_ID[token] for token in tokens[: position + 1]]
    values = reference.forward(weights, ids, n_layers=2, n_heads=2)
    _, activations, matrices = reference.backward(
        weights, values, ids, position, task.TOKEN_ID[tokens[position + 1]], n_layers=2, n_heads=2
    )
    (stored,) = (
        target.grads
        for target in Snapshot(snapshot_folder()).gradients(stage, "7x8")
        if target.position == position
    )
    attention = {key for key in matrices if key.endswith(("W_Q", "W_K", "W_V", "W_O"))}
    assert stored.keys() == activations.keys() | attention
    for key, own in stored.items():
        computed = {**activations, **matrices}[key]
        np.testing.assert_allclose(own, computed, rtol=1e-6, atol=1e-11)
        for head, expected in enumerate(own) if own.ndim == 3 else [(None, own)]:
            brackets = "" if head is None else f"[{head}]"
            matrix = numbers().matrix(f"∂{key}{brackets}", stage, "7x8", f"@{position}")
            np.testing.assert_array_equal(matrix.values, np.atleast_2d(expected))
            assert matrix.target == Target(position, tokens[position + 1])
            assert (matrix.problem, matrix.address) == ("7x8", f"∂{key}{brackets}")
            assert matrix.range is Range.SIGNED
            assert np.abs(matrix.values).max() <= matrix.domain


def test_a_gradient_has_the_rows_up_to_its_target() -> None:
    matrix = numbers().matrix("∂blocks.0.attn.attn_scores[1]", "trained", "7x0", "×")
    assert matrix.rows.labels == matrix.columns.labels == ("7", "×")
    assert matrix.values[0, 1] == 0  # where scores are masked
    value = numbers().value("∂blocks.0.attn.W_Q[1,2,1]", "trained", "7x8", "=")
    assert (value.cell, value.problem, value.target) == ("blocks.0.attn.W_Q[2,5]", "7x8", 3)


def test_gradients_of_a_kind_share_their_domain_with_the_other_stage_layer_and_head() -> None:
    domains_ = {
        numbers().matrix(f"∂blocks.{layer}.attn.q[{head}]", stage, "7x8").domain
        for stage in ("initial", "trained")
        for layer in (0, 1)
        for head in (0, 1)
    }
    assert len(domains_) == 1


@pytest.mark.parametrize(
    ("address", "target", "rule", "message"),
    [
        ("∂probs", "=", "no-gradient", "no gradient of `probs`"),
        ("∂ln_final.scale", "=", "no-gradient", "no gradient of `ln_final.scale`"),
        ("∂embed.W_E", "=", "no-gradient", "no gradient of `embed.W_E`"),
        ("∂blocks.0.attn.W_QK[0]", "=", "no-gradient", "no gradient of `blocks.0.attn.W_QK`"),
        ("∂embed", "9", "unknown-label", "no `9`"),
        ("∂embed", "@6", "unknown-label", "no `@6`"),
        ("∂embd", "=", "unknown-tensor", "`embd`"),
    ],
)
def test_a_gradient_that_is_not_there_is_named(
    address: str, target: str, rule: str, message: str
) -> None:
    with pytest.raises(AddressError, match=message) as caught:
        numbers().matrix(address, "trained", "7x8", target)
    assert caught.value.rule == rule


@pytest.mark.parametrize("stage", ["initial", "trained"])
@pytest.mark.parametrize("layer", [0, 1])
def test_a_product_of_weights_is_looked_up_as_a_tensor_with_heads(layer: int, stage: str) -> None:
    weights = Snapshot(snapshot_folder()).weights(stage)
    for key, product in derived.products(PRESET.model).items():
        if product.spec.layer != layer:
            continue
        made = derived.value(key, weights, PRESET.model)
        for head in (0, 1):
            matrix = numbers().matrix(f"{key}[{head}]", stage, "7x8")
            np.testing.assert_array_equal(matrix.values, made[head])
            assert (matrix.problem, matrix.target) == ("", None)
            assert np.abs(matrix.values).max() <= matrix.domain
    tokens = numbers().value(f"blocks.{layer}.attn.token_scores[1,=,0]", stage, "")
    scores = derived.value(f"blocks.{layer}.attn.token_scores", weights, PRESET.model)
    assert tokens.number == scores[1, task.TOKEN_ID["="], 0]


def test_masked_cell_has_no_number() -> None:
    matrix = numbers().matrix("blocks.0.attn.attn_scores[0]", "trained", "7x8")
    assert np.isnan(matrix.values[0, 1])
    value = numbers().value("blocks.0.attn.attn_scores[0,7,×]", "trained", "7x8")
    assert value.number is None


def test_ambiguous_label_names_the_positions() -> None:
    caught = error("probs[7,5]", problem="7x7")
    assert caught.rule == "ambiguous-label"
    assert "positions 0, 2" in caught.message
    assert "`@0` or `@2`" in caught.hint


def test_unknown_key_names_the_nearest() -> None:
    assert error("blocks.0.atn.pattern[1,=,7]").hint == "did you mean `blocks.0.attn.pattern`?"


@pytest.mark.parametrize("label", ["@6", "@-1", "@", "@x", "@99999999999", "9"])
def test_place_outside_the_axis_is_refused(label: str) -> None:
    assert error(f"probs[{label},5]").rule == "unknown-label"


def test_every_tensor_of_every_kind_can_be_addressed() -> None:
    for key, spec in Vocabulary(PRESET.model).items():
        head = "[1]" if "head" in spec.axes else ""
        for stage in ("initial", "trained"):
            assert numbers().matrix(f"{key}{head}", stage, "7x0").values.size


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("traces/trained/7x8.json", None),
        ("traces/trained/7x8.json", b"{"),
        ("traces/trained/7x8.json", b"[]"),
        ("traces/trained/7x8.json", b'{"tokens": ["7"]}'),
        ("traces/trained/7x8.json", b'{"tokens": 3, "values": []}'),
        ("traces/trained/7x8.json", b'{"tokens": ["7"], "values": {}}'),
        ("traces/trained/7x8.json", b'{"tokens": ["7"], "values": {"probs": [[1], [2, 3]]}}'),
        ("traces/trained/7x8.json", b'{"tokens": ["7"], "values": {"probs": "x"}}'),
        ("manifest.json", b'{"schema": 1}'),
        ("manifest.json", b'{"schema": 2}'),
        ("manifest.json", b'{"schema": 1, "model": {"n_layers": "two"}}'),
    ],
)
def test_damaged_snapshot_is_an_address_error(
    tmp_path: Path, path: str, content: bytes | None
) -> None:
    for name in ("manifest.json", "traces/trained/7x8.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((snapshot_folder() / name).read_bytes())
    if content is None:
        (tmp_path / path).unlink()
    else:
        (tmp_path / path).write_bytes(content)
    with pytest.raises(AddressError) as caught:
        Numbers(Snapshot(tmp_path), {}, {}).value("probs[@0,@0]", "trained", "7x8")
    assert caught.value.rule == "snapshot"


def test_domain_covers_both_stages_all_problems_and_both_layers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    few = tuple(task.BY_NAME[name] for name in PROBLEMS)
    monkeypatch.setattr(task, "PROBLEMS", few)
    snapshot = Snapshot(snapshot_folder())
    found = domains(snapshot)
    assert list(found) == list(Vocabulary(PRESET.model))
    assert found["probs"] == found["blocks.0.attn.pattern"] == 1
    for name in ("attn.q", "attn.attn_scores", "mlp.W_in", "resid_post"):
        assert found[f"blocks.0.{name}"] == found[f"blocks.1.{name}"]
    for stage in ("initial", "trained"):
        for problem in PROBLEMS:
            for key, value in snapshot.trace(stage, problem).values.items():
                assert np.nanmax(np.abs(value)) <= found[key]


def test_domain_ignores_masked_cells_and_gives_zero_a_scale() -> None:
    arrays = {"blocks.0.attn.attn_scores": np.array([3.0, -np.inf, np.nan])}
    found = domains_of(Vocabulary(PRESET.model), [arrays])
    assert found["blocks.1.attn.attn_scores"] == 5
    assert found["embed"] == 1


@given(st.floats(min_value=1e-9, max_value=1e9))
def test_covering_is_the_smallest_round_number(size: float) -> None:
    domain = covering(size)
    mantissa = domain / 10 ** math.floor(math.log10(domain) + 1e-9)
    assert domain >= size
    assert round(mantissa, 6) in (1, 2, 5)
    assert domain <= size * 2.5 * (1 + 1e-12)


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (0.4312345, 2, "0.43"),
        (-0.4312345, 2, "−0.43"),
        (-0.001, 2, "0.00"),
        (-0.0, 2, "0.00"),
        (0.125, 2, "0.13"),
        (-0.125, 2, "−0.13"),
        (1.005, 2, "1.00"),
        (2.5, 0, "3"),
        (1e15, 2, "1000000000000000.00"),
        (None, 2, "–"),
    ],
)
def test_display(value: float | None, decimals: int, text: str) -> None:
    assert display(value, decimals) == text


def test_other_forms_of_numbers() -> None:
    assert display_whole(3136) == "3,136"
    assert display_whole(-1234567) == "−1,234,567"
    assert display_percent(0.981953, 1) == "98.2%"
    assert display_scientific(1.34e-13) == "1.3×10⁻¹³"
    assert display_scientific(-2e7, 0) == "−2×10⁷"
    assert [display_power(x) for x in (0.00999, 0.01, -0.9908)] == ["1.0×10⁻²", "0.01", "−0.99"]
    assert [token_label(token) for token in ("7", "<end>", "<pad>")] == ["7", "⟨end⟩", "⟨pad⟩"]


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 12))
def test_display_reads_back_within_half_a_unit(value: float, decimals: int) -> None:
    text = display(value, decimals)
    read = float(text.replace("−", "-"))
    assert abs(read - value) <= 0.5000001 * 10**-decimals + abs(value) * 1e-15
    assert "-" not in text
    assert not (read == 0 and "−" in text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (100, "100"),
        (4950, "4,950"),
        (-3.0, "−3"),
        (0.4157122, "0.4157122"),
        (-0.0268223, "−0.0268223"),
        (1234.5, "1,234.5"),
        (0.001, "0.001"),
        (4.613228e-07, "4.6×10⁻⁷"),
        (-1.8e-07, "−1.8×10⁻⁷"),
    ],
)
def test_evidence_keeps_its_digits_unless_it_is_tiny(value: float, text: str) -> None:
    assert display_exact(value) == text


def test_terms_add_up_only_as_they_are_shown() -> None:
    terms, total = [0.014, 0.014, -0.1], -0.072
    assert adds_up(terms, total, 3)
    assert not adds_up(terms, total, 2)  # 0.01 + 0.01 − 0.10 is not −0.07
    assert adds_up([0.125, 0.125], 0.26, 2)  # halves go away from zero, as they are shown
