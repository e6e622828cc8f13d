"""The toy of the plane: it computes what attention is, and its shown numbers add up."""

from __future__ import annotations

import math

import pytest

from builder.blocks import toy
from builder.numbers.display import adds_up

CASES = toy.presets()


@pytest.mark.parametrize("receiver", range(len(toy.TOKENS)))
@pytest.mark.parametrize("name", CASES)
def test_a_reading_is_attention_as_it_is_defined(name: str, receiver: int) -> None:
    case = CASES[name]
    found = toy.read(case, receiver)
    seen = range(receiver + 1)
    scores = [
        sum(a * b for a, b in zip(case.q[receiver], key, strict=True)) / math.sqrt(2)
        for key in case.k
    ]
    total = sum(math.exp(scores[source]) for source in seen)
    shares = [math.exp(s) / total if j in seen else 0 for j, s in enumerate(scores)]
    output = [
        sum(share * value[d] for share, value in zip(shares, case.v, strict=True)) for d in (0, 1)
    ]
    assert found.scores.tolist() == pytest.approx(scores, rel=1e-6)
    assert found.shares.tolist() == pytest.approx(shares, rel=1e-6)
    assert found.output == pytest.approx(output, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_shown_numbers_of_every_case_add_up(name: str) -> None:
    reading = toy.read(CASES[name])
    assert adds_up(reading.shares.tolist(), 1.0, 3)
    for d in (0, 1):
        assert adds_up(reading.brought[:, d].tolist(), reading.output[d], 3)


def test_the_cases_are_what_they_are_called() -> None:
    start, same, zero, long, value = (
        toy.read(CASES[name]) for name in ("start", "same", "zero", "long", "value")
    )
    assert same.shares[0] == same.shares[toy.TOKENS.index("tired")]
    assert zero.shares.tolist() == [0.25] * 4
    assert long.shares.max() > 0.99
    assert value.shares.tolist() == start.shares.tolist()
    assert value.output != start.output
    (x, y), (far_x, far_y) = CASES["start"].q[toy.RECEIVER], CASES["long"].q[toy.RECEIVER]
    assert (far_x, far_y) == (4 * x, 4 * y)  # as its text says
