"""From weights to every number: activations, gradients and decoded answers.

Values and gradients come from the one forward pass of `model.transformer`, in float64, under the
same keys. Gradients are taken for all 558 targets in one backward pass: each target gets a row of
the batch and its own copy of the weights, so that nothing of one target mixes with another's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from model import task
from model.config import ModelConfig
from model.tensors import Vocabulary
from model.transformer import Record, transformer, unrecorded

Array = NDArray[np.float64]
StoredWeights = Mapping[str, NDArray[Any]]
Problems = Sequence[task.Problem]


@dataclass(frozen=True, slots=True)
class Gradients:
    """Gradients of each target's own loss: 558 of products, in the order of `task.TARGETS`.

    Attributes
    ----------
    loss
        -ln P(target) in nats [target].
    activations
        Key -> gradient of every activation that has one [target, axes of the key]; rows after
        the target's position are exactly 0.
    weights
        Key -> gradient of every weight [target, axes of the key].
    """

    loss: Array
    activations: dict[str, Array]
    weights: dict[str, Array]


def activations(
    weights: StoredWeights, config: ModelConfig, problems: Problems = task.PROBLEMS
) -> dict[str, Array]:
    """Compute every activation of some problems.

    Returns
    -------
    dict
        Key -> [problem, axes of the key], problems in their order and padded at the end to the
        longest. Future attention scores are minus infinity.
    """
    recorded: dict[str, Array] = {}

    def record(key: str, tensor: Tensor) -> Tensor:
        recorded[key] = tensor.numpy()
        return tensor

    with torch.no_grad():
        transformer(as_tensors(weights), _inputs(problems), config, record)
    return recorded


def gradients(
    weights: StoredWeights, config: ModelConfig, problems: Problems = task.PROBLEMS
) -> Gradients:
    """Differentiate the own loss of each target of some problems with respect to everything."""
    n_targets = sum(len(problem.targets) for problem in problems)
    copies = {
        key: weight.expand(n_targets, *weight.shape).clone().requires_grad_()
        for key, weight in as_tensors(weights).items()
    }  # [target, axes of the key]
    recorded: dict[str, Tensor] = {}
    vocabulary = Vocabulary(config)

    def record(key: str, tensor: Tensor) -> Tensor:
        if vocabulary[key].has_gradient:
            tensor.retain_grad()
            recorded[key] = tensor
        return tensor

    loss = _losses(copies, config, problems, record)  # [target]
    loss.sum().backward()  # type: ignore[no-untyped-call]

    return Gradients(
        loss.detach().numpy(),
        {key: _gradient(tensor) for key, tensor in recorded.items()},
        {key: _gradient(copy) for key, copy in copies.items()},
    )


def losses_after_step(
    weights: StoredWeights, found: Gradients, rate: float, config: ModelConfig
) -> Array:
    """Return the loss of each target of the products after a step on that target alone.

    Parameters
    ----------
    weights, found
        Where the step starts, and the gradients there.
    rate
        How far it goes: each weight loses `rate` times its gradient.
    """
    stepped = {
        key: weight - rate * torch.from_numpy(found.weights[key])
        for key, weight in as_tensors(weights).items()
    }  # [target, axes of the key]
    with torch.no_grad():
        losses: Array = _losses(stepped, config, task.PROBLEMS).numpy()
    return losses


def _losses(
    copies: Mapping[str, Tensor],
    config: ModelConfig,
    problems: Problems,
    record: Record = unrecorded,
) -> Tensor:
    """The loss of each target under weights of its own [target]."""
    pairs = [(problem, target) for problem in problems for target in problem.targets]
    inputs = _inputs([problem for problem, _ in pairs])  # [target pos]
    logits = transformer(copies, inputs, config, record)  # [target pos d_vocab]
    rows = torch.arange(len(pairs))
    positions = torch.tensor([target.position for _, target in pairs])
    wanted = torch.tensor([task.TOKEN_ID[target.target] for _, target in pairs])
    return negative_log_probability(logits[rows, positions], wanted)


def negative_log_probability(logits: Tensor, wanted: Tensor) -> Tensor:
    """-ln softmax(logits)[wanted], as ln(1 + Σ over the other tokens of exp(logit - wanted's)).

    Differentiating -ln P directly gives the wanted token P - 1, which loses the digits of a P
    close to 1. This form makes it minus the sum of the others' probabilities: the same number
    with all its digits, so that rounding writes the same one on every machine.

    Parameters
    ----------
    logits, wanted
        [target d_vocab] and [target].
    """
    is_wanted = torch.nn.functional.one_hot(wanted, logits.shape[-1]).bool()  # [target d_vocab]
    ahead = logits - logits[is_wanted].unsqueeze(-1)  # [target d_vocab]
    return ahead.exp().masked_fill(is_wanted, 0.0).sum(-1).log1p()  # [target]


def likeliest(
    weights: StoredWeights, config: ModelConfig, record: Record = unrecorded
) -> NDArray[np.int64]:
    """Return the id of the likeliest next token after each position [problem pos]."""
    with torch.no_grad():
        logits = transformer(as_tensors(weights), _inputs(task.PROBLEMS), config, record)
    ids: NDArray[np.int64] = logits.argmax(-1).numpy()
    return ids


def decode(
    weights: StoredWeights,
    prompt: Sequence[str],
    config: ModelConfig,
    record: Record = unrecorded,
) -> tuple[str, ...]:
    """Append the most likely token until the end token or until the context is full.

    Returns
    -------
    tuple of str
        What was appended to `prompt`, end token included.
    """
    tensors, tokens = as_tensors(weights), list(prompt)
    with torch.no_grad():
        while len(tokens) < config.n_ctx and tokens[-1] != task.END:
            ids = torch.tensor([[task.TOKEN_ID[token] for token in tokens]])  # [1 pos]
            logits = transformer(tensors, ids, config, record)  # [1 pos d_vocab]
            tokens.append(task.VOCAB[int(logits[0, -1].argmax())])
    return tuple(tokens[len(prompt) :])


def as_tensors(weights: StoredWeights) -> dict[str, Tensor]:
    """Return stored weights as float64 tensors of the same values."""
    return {key: torch.from_numpy(w.astype(np.float64)) for key, w in weights.items()}


def _inputs(problems: Problems) -> Tensor:
    """Token ids of each problem, padded to one length [problem pos]."""
    n_pos = max(len(problem.inputs) for problem in problems)
    return torch.tensor([task.padded_ids(problem.inputs, n_pos) for problem in problems])


def _gradient(tensor: Tensor) -> Array:
    if tensor.grad is None:
        raise RuntimeError("a recorded tensor took no part in the loss")
    gradient: Array = tensor.grad.numpy()
    return gradient
