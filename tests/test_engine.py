"""The engine of the page in Chromium, against the snapshot: every tensor, every problem, every target.

The engine's numbers are rounded as the snapshot's are, and must then be equal. A number that lies
within summation noise of a rounding boundary may round the other way; it is compared unrounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Page

from model import task
from model.encoding import rounded, rows_up_to, weights_sha256
from model.snapshot import STAGES, Snapshot
from model.tensors import TensorSpec, Vocabulary
from tests.browser import Chromium
from tests.site_build import ROOT, BuiltSite

Array = NDArray[np.float64]

ENGINE = sorted((ROOT / "site_templates" / "js" / "engine").glob("*.js"))
NOISE = 1e-12
"""Relative to the largest number of a tensor: far above summation noise, far below 7 digits."""

SET_UP = """({sizes, recipe, dataset}) => {
  const {engine} = Article;
  const ids = new Map(dataset.vocab.map((token, id) => [token, id]));
  const flat = (tensors) => Float64Array.from(Float32Array.from(Object.values(tensors).flat(3)));
  const model = (tokens) =>
    new engine.Transformer(sizes, engine.sequence(tokens.map((token) => ids.get(token)), sizes.n_ctx));
  const plain = (arrays) => Object.fromEntries(
    Object.entries(arrays).map(([key, array]) => [key, [...array]]));
  Object.assign(window, {
    engine, sizes, recipe, dataset, ids, flat,
    forward(tensors, tokens) {
      const found = model(tokens);
      found.forward(flat(tensors));
      return plain(found.values);
    },
    backward(tensors, tokens, position, target) {
      const found = model(tokens), w = flat(tensors), g = new Float64Array(w.length);
      const n = tokens.length, V = sizes.d_vocab;
      const counts = new Float64Array(n * V), totals = new Float64Array(n);
      counts[position * V + ids.get(target)] = 1;
      totals[position] = 1;
      found.forward(w);
      const loss = engine.crossEntropy(found, {counts, totals, n: 1});
      found.backward(w, g);
      return {loss, grads: plain(found.grads), weights: [...g]};
    },
  });
}"""

TRAIN = """(initial) => {
  const training = new engine.Training(sizes, recipe, dataset, flat(initial));
  const checkpoints = {0: [...Float32Array.from(training.weights)]};
  const loss = [], correct = [];
  while (training.steps < recipe.steps) {
    const measured = training.step();
    loss.push(measured.loss);
    correct.push(measured.correct);
    checkpoints[training.steps] = [...Float32Array.from(training.weights)];
  }
  const last = training.measure();
  return {checkpoints, loss: [...loss, last.loss], correct: [...correct, last.correct]};
}"""


@dataclass(frozen=True)
class Engine:
    """A page that holds nothing but the engine, and the snapshot it is compared with."""

    page: Page
    snapshot: Snapshot

    def weights(self, stage: str) -> Any:
        """The stored tensors of a stage, as they stand in the file."""
        return self.snapshot.document(f"weights/{stage}.json")["tensors"]


@pytest.fixture(scope="module")
def engine(site: BuiltSite, chromium: Chromium) -> Iterator[Engine]:
    """Load the engine's files, and only them, into an empty page."""
    context = chromium.browser.new_context()
    page = context.new_page()
    for script in ENGINE:
        page.add_script_tag(content=script.read_text(encoding="utf-8"))
    manifest = site.snapshot.manifest
    parts = {"sizes": manifest["model"], "recipe": manifest["training"]}
    page.evaluate(SET_UP, {**parts, "dataset": site.snapshot.document("dataset.json")})
    yield Engine(page, site.snapshot)
    context.close()


@pytest.mark.parametrize("stage", STAGES)
def test_every_activation_of_every_problem_equals_the_snapshots(engine: Engine, stage: str) -> None:
    vocabulary = engine.snapshot.vocabulary
    weights = engine.weights(stage)
    for problem in task.PROBLEMS:
        trace = engine.snapshot.trace(stage, problem.name)
        found = engine.page.evaluate("(a) => forward(...a)", [weights, list(trace.tokens)])
        assert list(found) == list(vocabulary.activations)
        for key, stored in trace.values.items():
            value = in_shape(vocabulary[key], np.array(found[key]), len(trace.tokens), vocabulary)
            assert_same(value, stored, f"{stage} {problem.name} {key}")


@pytest.mark.parametrize("stage", STAGES)
def test_every_gradient_of_every_target_equals_the_snapshots(engine: Engine, stage: str) -> None:
    vocabulary = engine.snapshot.vocabulary
    weights = engine.weights(stage)
    places = dict(weight_places(vocabulary))
    for problem in task.PROBLEMS:
        tokens = list(problem.inputs)
        total = np.zeros(vocabulary.n_params)
        for target in engine.snapshot.gradients(stage, problem.name):
            arguments = [weights, tokens, target.position, target.target]
            found = engine.page.evaluate("(a) => backward(...a)", arguments)
            where = f"{stage} {problem.name} position {target.position}"
            assert_same(np.array([found["loss"]]), np.array([target.loss]), f"{where} loss")
            gradient = np.array(found["weights"])
            total += gradient
            for key, stored in target.grads.items():
                spec = vocabulary[key]
                if spec.is_weight:
                    value = gradient[places[key]].reshape(stored.shape)
                else:
                    value = in_shape(spec, np.array(found["grads"][key]), len(tokens), vocabulary)
                    value = rows_up_to(spec, np.nan_to_num(value), target.position + 1)
                assert_same(value, stored, f"{where} {key}")
        sums = engine.snapshot.document(f"gradients/{stage}/{problem.name}.json")["sum"]
        for key, stored in sums.items():
            shape = np.shape(stored)
            assert_same(total[places[key]].reshape(shape), np.array(stored), f"{where} sum {key}")


def test_training_ends_in_the_very_same_weights(engine: Engine) -> None:
    snapshot = engine.snapshot
    run = engine.page.evaluate(TRAIN, engine.weights("initial"))
    training = snapshot.document("training.json")
    for step in training["checkpoints"]:
        stored = np.concatenate([w.ravel() for w in snapshot.weights(f"step-{step:04d}").values()])
        found = np.array(run["checkpoints"][str(step)], dtype=np.float32)
        different = np.flatnonzero(found != stored)
        assert different.size == 0, f"step {step}: {different.size} of {stored.size} differ"
    last = np.array(run["checkpoints"][str(training["checkpoints"][-1])], dtype=np.float32)
    places = weight_places(snapshot.vocabulary)
    weights = {key: last[place] for key, place in places}
    digest = snapshot.manifest["weights_sha256"]["trained"]
    assert weights_sha256(weights, snapshot.config) == digest
    assert run["correct"] == training["correct"]
    assert_same(np.array(run["loss"]), np.array(training["loss"]), "loss")


@pytest.mark.parametrize("length", [1, 2, 7, 16])
def test_a_prefix_of_any_length_and_content_gives_probabilities(
    engine: Engine, length: int
) -> None:
    tokens = [task.VOCAB[(5 * i + 3) % len(task.VOCAB)] for i in range(length)]
    found = engine.page.evaluate("(a) => forward(...a)", [engine.weights("trained"), tokens])
    probs = np.array(found["probs"]).reshape(length, -1)
    np.testing.assert_allclose(probs.sum(1), 1, rtol=0, atol=1e-12)


def in_shape(spec: TensorSpec, flat: Array, n_pos: int, vocabulary: Vocabulary) -> Array:
    """Turn the engine's [row ...] layout into the snapshot's; masked scores become NaN."""
    config = vocabulary.config
    if "query" in spec.axes:
        values = flat.reshape(n_pos, config.n_heads, config.n_ctx)[:, :, :n_pos].swapaxes(0, 1)
        future = np.triu(np.ones((n_pos, n_pos), dtype=bool), 1)
        return np.where(future, np.nan, values) if spec.name == "attn.attn_scores" else values
    if "head" in spec.axes:
        return flat.reshape(n_pos, config.n_heads, -1).swapaxes(0, 1)
    return flat.reshape(spec.shape(config, n_pos))


def weight_places(vocabulary: Vocabulary) -> list[tuple[str, slice]]:
    """Where each weight stands in the engine's flat array."""
    places, start = [], 0
    for key in vocabulary.weights:
        size = int(np.prod(vocabulary[key].shape(vocabulary.config)))
        places.append((key, slice(start, start + size)))
        start += size
    return places


def assert_same(found: Array, stored: Array, what: str) -> None:
    """Demand equality after the snapshot's rounding, and name the largest difference."""
    assert found.shape == stored.shape, what
    assert np.array_equal(np.isnan(found), np.isnan(stored)), what
    found, stored = np.nan_to_num(found), np.nan_to_num(stored)
    wrong = rounded(found) != stored
    on_boundary = rounded(found * (1 + NOISE)) != rounded(found * (1 - NOISE))
    if (wrong & ~on_boundary).any():
        difference = np.abs(found - stored).max()
        raise AssertionError(f"{what}: largest difference {difference:.3g}")
