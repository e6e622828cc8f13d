"""Every tensor, every head, both stages: autograd, the equations and finite differences agree."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from model import task
from model.encoding import rows_up_to
from model.snapshot import STAGES
from model.transformer import transformer
from tests import reference
from tests.trained_models import (
    CONFIG,
    VOCABULARY,
    activations,
    forward,
    gradients,
    ids,
    largest_difference,
    weights,
)

Array = NDArray[np.float64]

LAYERS = ("blocks.0", "blocks.1")
LAYER_NORMS = ("blocks.0.ln1", "blocks.0.ln2", "blocks.1.ln1", "blocks.1.ln2", "ln_final")
WITH_GRADIENT = {key for key in VOCABULARY.activations if VOCABULARY[key].has_gradient}
PROBLEM_OF_TARGET = [task.PROBLEMS.index(task.BY_NAME[t.problem]) for t in task.TARGETS]
POSITION = np.array([t.position for t in task.TARGETS])

# Float64 has 16 digits; sums of up to 64 terms of size up to 100, a dozen deep, lose about three.
SAME_NUMBER = 1e-12


# --- (a) autograd and the equations ---------------------------------------------------------


@pytest.mark.parametrize("stage", STAGES)
def test_every_activation_equals_the_recomputation(stage: str) -> None:
    found = activations(stage)
    for row, problem in enumerate(task.PROBLEMS):
        expected = reference.forward(weights(stage), ids(problem.inputs), 2, 2)
        assert set(found) == set(expected) == set(VOCABULARY.activations)
        for key, value in expected.items():
            own = rows_up_to(VOCABULARY[key], found[key][row], len(problem.inputs))
            largest_difference(f"{stage} {problem.name} {key}", own, value, SAME_NUMBER)


@pytest.mark.parametrize("stage", STAGES)
def test_every_gradient_of_every_target_equals_the_recomputation(stage: str) -> None:
    found = gradients(stage)
    values = {p.name: reference.forward(weights(stage), ids(p.inputs), 2, 2) for p in task.PROBLEMS}
    for row, target in enumerate(task.TARGETS):
        read = ids(task.BY_NAME[target.problem].inputs)
        loss, of_activations, of_weights = reference.backward(
            weights(stage),
            values[target.problem],
            read,
            target.position,
            task.TOKEN_ID[target.target],
            n_layers=2,
            n_heads=2,
        )
        where = f"{stage} {target.problem} after position {target.position}"
        assert abs(found.loss[row] - loss) < SAME_NUMBER, f"{where}: loss"
        assert set(found.activations) == set(of_activations) == WITH_GRADIENT
        assert set(found.weights) == set(of_weights) == set(VOCABULARY.weights)
        for key, value in of_activations.items():
            own = rows_up_to(VOCABULARY[key], found.activations[key][row], len(read))
            largest_difference(f"{where}: gradient of {key}", own, value, SAME_NUMBER)
        for key, value in of_weights.items():
            own = found.weights[key][row]
            largest_difference(f"{where}: gradient of {key}", own, value, SAME_NUMBER)


@pytest.mark.parametrize("stage", STAGES)
def test_no_gradient_reaches_rows_after_the_target(stage: str) -> None:
    for key, gradient in gradients(stage).activations.items():
        axis = 1 + next(i for i, a in enumerate(VOCABULARY[key].axes) if a in ("pos", "query"))
        rows = np.moveaxis(gradient, axis, 1)  # [target pos ...]
        later = np.arange(rows.shape[1]) > POSITION[:, None]  # [target pos]
        assert later.any()
        assert not rows[later].any(), f"{stage} {key}: a later row has a gradient"


# --- (b) finite differences -----------------------------------------------------------------

STEP = 2.0**-20
# The central difference is off by STEP² f'''/6, with STEP² = 9e-13, and by the rounding of the
# loss, 2e-16 a unit, over STEP: 1e-9 where the loss is 5. Entry by entry; gradients are up to 10.
DIFFERENCE_TOLERANCE = 2e-8

# Early and late positions, right and wrong predictions, one- and two-digit answers.
PROBES = (("7x8", 3), ("7x8", 4), ("9x9", 5), ("0x4", 4), ("3x6", 0))


def quotients(stage: str, key: str, problem: str, position: int) -> tuple[Array, NDArray[np.bool_]]:
    """Central difference of one target's loss by every entry of a tensor, in one forward pass.

    Entry i has two sequences of the batch to itself, one with i raised and one with i lowered.
    The second result says where a ReLU switched between the two: there is no derivative there.
    """
    read = ids(task.BY_NAME[problem].inputs[: position + 1])
    wanted = task.TOKEN_ID[task.BY_NAME[problem].tokens[position + 1]]
    spec = VOCABULARY[key]
    shape = spec.shape(CONFIG, None if spec.is_weight else len(read))
    n = int(np.prod(shape))
    nudge = torch.eye(n, dtype=torch.float64).reshape(n, *shape) * STEP
    nudge = torch.cat([nudge, -nudge])  # [sequence, axes of the key]
    open_units: list[Tensor] = []

    def record(name: str, tensor: Tensor) -> Tensor:
        tensor = tensor + nudge if name == key else tensor
        if name.endswith("mlp.pre"):
            open_units.append((tensor > 0).flatten(1))
        return tensor

    tensors = {name: torch.from_numpy(w) for name, w in weights(stage).items()}
    if spec.is_weight:
        tensors[key] = tensors[key] + nudge
    with torch.no_grad():
        logits = transformer(tensors, torch.tensor([read] * 2 * n), CONFIG, record)[:, -1]
    loss = (logits.logsumexp(-1) - logits[:, wanted]).numpy()
    units = torch.cat(open_units, 1).numpy()
    switched = (units[:n] != units[n:]).any(1)
    return ((loss[:n] - loss[n:]) / (2 * STEP)).reshape(shape), switched.reshape(shape)


@pytest.mark.parametrize("stage", STAGES)
def test_every_entry_of_every_gradient_is_the_slope_of_the_loss(stage: str) -> None:
    found = gradients(stage)
    compared: dict[str, NDArray[np.bool_]] = {}
    for problem, position in PROBES:
        row = next(
            i for i, t in enumerate(task.TARGETS) if (t.problem, t.position) == (problem, position)
        )
        for key in [*VOCABULARY.weights, *sorted(WITH_GRADIENT)]:
            spec = VOCABULARY[key]
            if spec.is_weight:
                own = found.weights[key][row]
            else:
                own = rows_up_to(spec, found.activations[key][row], position + 1)
            slope, switched = quotients(stage, key, problem, position)
            name = f"{stage} {problem} after position {position}: slope along {key}"
            largest_difference(name, np.where(switched, own, slope), own, DIFFERENCE_TOLERANCE)
            rows = () if spec.is_weight else ("pos", "query", "key")
            over_rows = tuple(i for i, axis in enumerate(spec.axes) if axis in rows)
            compared[key] = compared.get(key, False) | (~switched).any(over_rows)
    for key, entries in compared.items():
        assert entries.all(), f"{key}: an entry or a head was next to a switch in every probe"


# --- (c) invariants of the values -----------------------------------------------------------


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("layer", LAYERS)
def test_attention_reads_shares_that_sum_to_one_and_nothing_of_the_future(
    stage: str, layer: str
) -> None:
    values = activations(stage)
    pattern = values[f"{layer}.attn.pattern"]  # [problem head query key]
    future = np.triu(np.ones(pattern.shape[-2:], dtype=bool), 1)
    assert pattern.shape[1] == CONFIG.n_heads
    assert (pattern >= 0).all()
    largest_difference("rows of A", pattern.sum(-1), np.ones(pattern.shape[:-1]), SAME_NUMBER)
    assert (pattern[..., future] == 0).all()
    assert np.isneginf(values[f"{layer}.attn.attn_scores"][..., future]).all()
    assert np.isfinite(values[f"{layer}.attn.attn_scores"][..., ~future]).all()


@pytest.mark.parametrize("stage", STAGES)
def test_probabilities_sum_to_one_and_are_the_softmax_of_the_logits(stage: str) -> None:
    P, logits = activations(stage)["probs"], activations(stage)["logits"]
    assert (P > 0).all()
    largest_difference("rows of P", P.sum(-1), np.ones(P.shape[:-1]), SAME_NUMBER)
    odds = np.log(P) - np.log(P[..., :1])
    largest_difference("log odds", odds, logits - logits[..., :1], 1e-11)


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("name", LAYER_NORMS)
def test_layer_norm_centres_and_scales_each_row(stage: str, name: str) -> None:
    values = activations(stage)
    normalized, scale = values[f"{name}.normalized"], values[f"{name}.scale"]
    gain, bias = weights(stage)[f"{name}.w"], weights(stage)[f"{name}.b"]
    assert (scale > 0).all()
    largest_difference("mean", normalized.mean(-1), np.zeros_like(scale), SAME_NUMBER)
    # var / (var + eps), with var + eps = scale²
    spread = (normalized**2).mean(-1)
    largest_difference("variance", spread, 1 - CONFIG.ln_eps / scale**2, SAME_NUMBER)
    out = normalized * gain + bias
    largest_difference(f"{name}.out", values[f"{name}.out"], out, SAME_NUMBER)


@pytest.mark.parametrize("stage", STAGES)
def test_the_residual_stream_is_a_chain_of_sums(stage: str) -> None:
    v = activations(stage)
    sums = {
        "blocks.0.resid_pre": v["embed"] + v["pos_embed"],
        "blocks.1.resid_pre": v["blocks.0.resid_post"],
    }
    for layer in LAYERS:
        sums[f"{layer}.attn_out"] = v[f"{layer}.attn.result"].sum(1)
        sums[f"{layer}.resid_mid"] = v[f"{layer}.resid_pre"] + v[f"{layer}.attn_out"]
        sums[f"{layer}.resid_post"] = v[f"{layer}.resid_mid"] + v[f"{layer}.mlp_out"]
    for key, expected in sums.items():
        largest_difference(f"{stage} {key}", v[key], expected, SAME_NUMBER)


# --- (d) causality --------------------------------------------------------------------------


@pytest.mark.parametrize("stage", STAGES)
def test_the_trace_of_a_prefix_is_the_first_rows_of_the_whole(stage: str) -> None:
    whole = activations(stage)
    for n_pos in range(1, task.MAX_INPUTS + 1):
        rows = [i for i, p in enumerate(task.PROBLEMS) if len(p.inputs) >= n_pos]
        prefixes = [ids(task.PROBLEMS[i].inputs[:n_pos]) for i in rows]
        for key, value in forward(stage, prefixes).items():
            first_rows = [rows_up_to(VOCABULARY[key], whole[key][i], n_pos) for i in rows]
            name = f"{stage} {key} of prefixes of {n_pos}"
            largest_difference(name, value, np.stack(first_rows), SAME_NUMBER)


# --- (e) invariants of the gradients --------------------------------------------------------


def of_targets(stage: str, key: str) -> Array:
    """The activation that each target's gradient belongs to [target, axes of the key]."""
    return activations(stage)[key][PROBLEM_OF_TARGET]


@pytest.mark.parametrize("stage", STAGES)
def test_the_gradient_of_the_logits_is_the_probabilities_minus_the_truth(stage: str) -> None:
    found = gradients(stage)
    G, P = found.activations["logits"], of_targets(stage, "probs")
    at = np.arange(len(task.TARGETS))
    wanted = np.array([task.TOKEN_ID[t.target] for t in task.TARGETS])
    expected = np.zeros_like(G)
    expected[at, POSITION] = P[at, POSITION]
    expected[at, POSITION, wanted] -= 1
    largest_difference("G_logits", G, expected, SAME_NUMBER)
    largest_difference("rows of G_logits", G.sum(-1), np.zeros(G.shape[:-1]), SAME_NUMBER)
    largest_difference("loss", found.loss, -np.log(P[at, POSITION, wanted]), SAME_NUMBER)


def test_the_gradient_of_a_nearly_certain_target_keeps_its_digits() -> None:
    G, P = gradients("trained").activations["logits"], of_targets("trained", "probs").copy()
    at = np.arange(len(task.TARGETS))
    wanted = np.array([task.TOKEN_ID[t.target] for t in task.TARGETS])
    P[at, POSITION, wanted] = 0
    others = P[at, POSITION].sum(-1)  # 1 - P of the target, without the subtraction
    assert others.min() < 1e-3
    relative = G[at, POSITION, wanted] / -others
    largest_difference("G_logits of the target", relative, np.ones_like(relative), 5e-14)


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("layer", LAYERS)
def test_gradients_of_attention_are_products_of_matrices(stage: str, layer: str) -> None:
    found = gradients(stage)
    G = {name: found.activations[f"{layer}.attn.{name}"] for name in ("q", "k", "v", "z")}
    G_S, G_A = (found.activations[f"{layer}.attn.{name}"] for name in ("attn_scores", "pattern"))
    Q, K, V, H = (of_targets(stage, f"{layer}.attn.{name}") for name in ("q", "k", "v", "z"))
    A = of_targets(stage, f"{layer}.attn.pattern")  # [target head query key]
    X_norm = of_targets(stage, f"{layer}.ln1.out")  # [target pos d_model]
    future = np.triu(np.ones(G_S.shape[-2:], dtype=bool), 1)
    assert (G_S[..., future] == 0).all()

    def transposed(x: Array) -> Array:
        return x.swapaxes(-1, -2)

    def side_by_side(x: Array) -> Array:
        return x.swapaxes(1, 2).reshape(X_norm.shape)  # [target pos d_model]

    equations = {
        "rows of G_S sum to 0": (G_S.sum(-1), np.zeros(G_S.shape[:-1])),
        "G_A = G_H Vᵀ": (G_A, G["z"] @ transposed(V)),
        "G_V = Aᵀ G_H": (G["v"], transposed(A) @ G["z"]),
        "G_Q = G_S K / 2": (G["q"], G_S @ K / 2),
        "G_K = G_Sᵀ Q / 2": (G["k"], transposed(G_S) @ Q / 2),
        "G_WO = Hᵀ G_AttentionOut": (
            found.weights[f"{layer}.attn.W_O"],
            transposed(side_by_side(H)) @ found.activations[f"{layer}.attn_out"],
        ),
    }
    for letter, name in (("Q", "q"), ("K", "k"), ("V", "v")):
        equations[f"G_W{letter} = X_normᵀ G_{letter}"] = (
            found.weights[f"{layer}.attn.W_{letter}"],
            transposed(X_norm) @ side_by_side(G[name]),
        )
    for name, (left, right) in equations.items():
        largest_difference(f"{stage} {layer} {name}", left, right, SAME_NUMBER)


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("layer", LAYERS)
def test_gradients_of_the_mlp_are_products_of_matrices(stage: str, layer: str) -> None:
    found = gradients(stage)
    G, W = found.activations, found.weights
    normed, post = of_targets(stage, f"{layer}.ln2.out"), of_targets(stage, f"{layer}.mlp.post")
    G_pre, G_out = G[f"{layer}.mlp.pre"], G[f"{layer}.mlp_out"]
    equations = {
        "W_in": (W[f"{layer}.mlp.W_in"], normed.swapaxes(1, 2) @ G_pre),
        "b_in": (W[f"{layer}.mlp.b_in"], G_pre.sum(1)),
        "W_out": (W[f"{layer}.mlp.W_out"], post.swapaxes(1, 2) @ G_out),
        "b_out": (W[f"{layer}.mlp.b_out"], G_out.sum(1)),
        "pre": (G_pre, np.where(post > 0, G[f"{layer}.mlp.post"], 0)),
    }
    for name, (left, right) in equations.items():
        largest_difference(f"{stage} {layer} gradient of {name}", left, right, SAME_NUMBER)


@pytest.mark.parametrize("stage", STAGES)
def test_a_sum_hands_its_whole_gradient_to_each_term(stage: str) -> None:
    G = gradients(stage).activations
    pairs = [("embed", "blocks.0.resid_pre"), ("pos_embed", "blocks.0.resid_pre")]
    pairs.append(("blocks.0.resid_post", "blocks.1.resid_pre"))
    for layer in LAYERS:
        pairs.append((f"{layer}.mlp_out", f"{layer}.resid_post"))
        pairs.append((f"{layer}.attn_out", f"{layer}.resid_mid"))
    for part, whole in pairs:
        assert np.array_equal(G[part], G[whole]), f"{stage}: {part} and {whole} differ"
    for layer in LAYERS:
        for head in range(CONFIG.n_heads):
            result = G[f"{layer}.attn.result"][:, head]
            assert np.array_equal(result, G[f"{layer}.attn_out"]), f"{stage} {layer} head {head}"


@pytest.mark.parametrize("stage", STAGES)
def test_gradients_of_tables_and_output_matrix_collect_rows(stage: str) -> None:
    found = gradients(stage)
    G_embed = found.activations["embed"]  # [target pos d_model]
    W_E, W_pos = np.zeros_like(found.weights["embed.W_E"]), found.weights["pos_embed.W_pos"]
    for row, target in enumerate(task.TARGETS):
        for pos, token in enumerate(ids(task.BY_NAME[target.problem].inputs)):
            W_E[row, token] += G_embed[row, pos]
    final = of_targets(stage, "ln_final.out")
    W_U = final.swapaxes(1, 2) @ found.activations["logits"]
    n_pos = G_embed.shape[1]
    largest_difference("gradient of W_E", found.weights["embed.W_E"], W_E, SAME_NUMBER)
    largest_difference("gradient of W_pos", W_pos[:, :n_pos], G_embed, SAME_NUMBER)
    assert not W_pos[:, n_pos:].any()
    largest_difference("gradient of W_U", found.weights["unembed.W_U"], W_U, SAME_NUMBER)


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("name", LAYER_NORMS)
def test_gradients_of_gain_and_bias_sum_over_rows(stage: str, name: str) -> None:
    found = gradients(stage)
    G_out = found.activations[f"{name}.out"]  # [target pos d_model]
    normalized = of_targets(stage, f"{name}.normalized")
    equations = {
        "w": (found.weights[f"{name}.w"], (G_out * normalized).sum(1)),
        "b": (found.weights[f"{name}.b"], G_out.sum(1)),
        "normalized": (
            found.activations[f"{name}.normalized"],
            G_out * weights(stage)[f"{name}.w"],
        ),
    }
    for part, (left, right) in equations.items():
        largest_difference(f"{stage} gradient of {name}.{part}", left, right, SAME_NUMBER)
