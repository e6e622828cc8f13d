"""Products of weights: each is what its table row says, by a computation of its own."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from model import derived
from model.encoding import rounded
from tests.trained_models import CONFIG, VOCABULARY, weights

Array = NDArray[np.float64]


def expected(stage: str, layer: int, head: int) -> dict[str, Array]:
    """Every product of one head, from slices of its matrices."""
    w = weights(stage)
    own = slice(4 * head, 4 * head + 4)
    Q, K, V = (w[f"blocks.{layer}.attn.{name}"][:, own] for name in ("W_Q", "W_K", "W_V"))
    out, E, U = w[f"blocks.{layer}.attn.W_O"][own], w["embed.W_E"], w["unembed.W_U"]
    return {
        "W_QK": Q @ K.T,
        "W_OV": V @ out,
        "token_q": E @ Q,
        "token_k": E @ K,
        "token_scores": E @ Q @ K.T @ E.T / 2,
        "token_result": E @ V @ out,
        "token_logits": E @ V @ out @ U,
    }


@pytest.mark.parametrize("stage", ["initial", "trained"])
@pytest.mark.parametrize("layer", [0, 1])
@pytest.mark.parametrize("head", [0, 1])
def test_every_product_is_that_of_its_matrices(head: int, layer: int, stage: str) -> None:
    stored = {key: value.astype(np.float32) for key, value in weights(stage).items()}
    products = expected(stage, layer, head)
    names = {key.rpartition(".")[2] for key in derived.products(CONFIG)}
    assert names == products.keys()
    for name, product in products.items():
        found = derived.value(f"blocks.{layer}.attn.{name}", stored, CONFIG)[head]
        assert found.shape == product.shape
        np.testing.assert_allclose(found, product, rtol=1e-6, atol=1e-11)
        np.testing.assert_array_equal(found, rounded(found))


def test_a_product_says_what_it_is_as_a_tensor_does() -> None:
    products = derived.products(CONFIG)
    assert len(products) == 7 * CONFIG.n_layers
    assert not products.keys() & VOCABULARY.keys()
    for key, product in products.items():
        assert product.spec.key == key
        assert (product.spec.axes[0], product.spec.is_weight) == ("head", True)
        assert product.spec.zh != product.spec.en
        for side in (product.left, product.right):
            assert side in VOCABULARY or side in products
