"""The engine of the page in Chromium against the snapshot: all tensors, problems and targets.

The engine's numbers are rounded as the snapshot's are, and must then be equal. A number that lies
within summation noise of a rounding boundary may round the other way; it is compared unrounded.
"""

from __future__ import annotations

from base64 import b64decode
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

SET_UP = """({sizes, recipe, dataset, weights}) => {
  const {engine} = Article;
  const ids = new Map(dataset.vocab.map((token, id) => [token, id]));
  const flat = (tensors) => Float64Array.from(Float32Array.from(Object.values(tensors).flat(3)));
  const stages = Object.fromEntries(
    Object.entries(weights).map(([stage, tensors]) => [stage, flat(tensors)]));
  const model = (tokens) => {
    const rows = engine.sequence(tokens.map((token) => ids.get(token)), sizes.n_ctx);
    return new engine.Transformer(sizes, rows);
  };
  const packed = (array) => {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    let text = "";
    for (const byte of bytes) text += String.fromCharCode(byte);
    return btoa(text);
  };
  const all = (arrays) => Object.fromEntries(
    Object.entries(arrays).map(([key, array]) => [key, packed(array)]));
  Object.assign(window, {
    forward(stage, tokens) {
      const found = model(tokens);
      found.forward(stages[stage]);
      return all(found.values);
    },
    backward(stage, tokens, targets) {
      const found = model(tokens), w = stages[stage];
      const n = tokens.length, V = sizes.d_vocab;
      found.forward(w);
      return targets.map((target, position) => {
        const counts = new Float64Array(n * V), totals = new Float64Array(n);
        counts[position * V + ids.get(target)] = 1;
        totals[position] = 1;
        const g = new Float64Array(w.length);
        const loss = engine.crossEntropy(found, {counts, totals, n: 1});
        found.backward(w, g);
        return {loss, grads: all(found.grads), weights: packed(g)};
      });
    },
    train() {
      const training = new engine.Training(sizes, recipe, dataset, stages.initial);
      const float32 = () => packed(Float64Array.from(Float32Array.from(training.weights)));
      const checkpoints = {0: float32()}, loss = [], correct = [];
      while (training.steps < recipe.steps) {
        const measured = training.step();
        loss.push(measured.loss);
        correct.push(measured.correct);
        checkpoints[training.steps] = float32();
      }
      const last = training.measure();
      return {checkpoints, loss: [...loss, last.loss], correct: [...correct, last.correct]};
    },
  });
}"""


@dataclass(frozen=True)
class Engine:
    """A page that holds nothing but the engine, and the snapshot it is compared with."""

    page: Page
    snapshot: Snapshot

    def call(self, function: str, *arguments: Any) -> Any:
        """Call one of the functions of `SET_UP`."""
        return self.page.evaluate(f"(given) => {function}(...given)", list(arguments))


@pytest.fixture(scope="module")
def engine(site: BuiltSite, chromium: Chromium) -> Iterator[Engine]:
    """Load the engine's files, and only them, into an empty page."""
    context = chromium.browser.new_context()
    page = context.new_page()
    for script in ENGINE:
        page.add_script_tag(content=script.read_text(encoding="utf-8"))
    manifest = site.snapshot.manifest
    parts = {
        "sizes": manifest["model"],
        "recipe": manifest["training"],
        "dataset": {
            "vocab": task.VOCAB,
            "problems": [{"tokens": p.tokens, "prompt": len(p.prompt)} for p in task.PROBLEMS],
        },
        "weights": {s: site.snapshot.document(f"weights/{s}.json")["tensors"] for s in STAGES},
    }
    page.evaluate(SET_UP, parts)
    yield Engine(page, site.snapshot)
    context.close()


@pytest.mark.parametrize("stage", STAGES)
def test_every_activation_of_every_problem_equals_the_snapshots(engine: Engine, stage: str) -> None:
    vocabulary = engine.snapshot.vocabulary
    for problem in task.PROBLEMS:
        trace = engine.snapshot.trace(stage, problem.name)
        found = engine.call("forward", stage, list(trace.tokens))
        assert list(found) == list(vocabulary.activations)
        for key, stored in trace.values.items():
            value = in_shape(vocabulary[key], unpacked(found[key]), len(trace.tokens), vocabulary)
            assert_same(value, stored, f"{stage} {problem.name} {key}")


@pytest.mark.parametrize("stage", STAGES)
def test_every_gradient_of_every_target_equals_the_snapshots(engine: Engine, stage: str) -> None:
    vocabulary = engine.snapshot.vocabulary
    places = dict(weight_places(vocabulary))
    for problem in task.PROBLEMS:
        tokens = list(problem.inputs)
        total = np.zeros(vocabulary.n_params)
        targets = engine.snapshot.gradients(stage, problem.name)
        answers = engine.call("backward", stage, tokens, [target.target for target in targets])
        for target, found in zip(targets, answers, strict=True):
            where = f"{stage} {problem.name} position {target.position}"
            assert_same(np.array([found["loss"]]), np.array([target.loss]), f"{where} loss")
            gradient = unpacked(found["weights"])
            total += gradient
            for key, stored in target.grads.items():
                spec = vocabulary[key]
                if spec.is_weight:
                    value = gradient[places[key]].reshape(stored.shape)
                else:
                    value = in_shape(spec, unpacked(found["grads"][key]), len(tokens), vocabulary)
                    value = rows_up_to(spec, np.nan_to_num(value), target.position + 1)
                assert_same(value, stored, f"{where} {key}")
        sums = engine.snapshot.document(f"gradients/{stage}/{problem.name}.json")["sum"]
        for key, stored in sums.items():
            shape = np.shape(stored)
            assert_same(total[places[key]].reshape(shape), np.array(stored), f"{where} sum {key}")


def test_training_ends_in_the_very_same_weights(engine: Engine) -> None:
    snapshot = engine.snapshot
    run = engine.call("train")
    training = snapshot.document("training.json")
    for step in training["checkpoints"]:
        stored = np.concatenate([w.ravel() for w in snapshot.weights(f"step-{step:04d}").values()])
        found = unpacked(run["checkpoints"][str(step)]).astype(np.float32)
        different = np.flatnonzero(found != stored)
        assert different.size == 0, f"step {step}: {different.size} of {stored.size} differ"
    last = found
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
    found = engine.call("forward", "trained", tokens)
    probs = unpacked(found["probs"]).reshape(length, -1)
    np.testing.assert_allclose(probs.sum(1), 1, rtol=0, atol=1e-12)


def unpacked(text: str) -> Array:
    """Read an array that the page has packed: little-endian float64 in base64."""
    return np.frombuffer(b64decode(text), dtype="<f8")


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
