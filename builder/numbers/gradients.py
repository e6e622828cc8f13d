"""Gradients of the snapshot, and the colour domain that those of a kind share."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from builder.numbers.address import AddressError
from builder.numbers.domains import covering
from builder.numbers.matrix import Array, Target
from model.snapshot import STAGES, Snapshot, TargetGradients
from model.tensors import TensorSpec


@dataclass(frozen=True)
class Gradients:
    """Looks up gradients; each file is parsed once."""

    snapshot: Snapshot
    _targets: dict[tuple[str, str], tuple[TargetGradients, ...]] = field(default_factory=dict)

    def of(self, spec: TensorSpec, stage: str, problem: str, position: int) -> tuple[Target, Array]:
        """Return what should follow a position, and the gradient of the loss that asks for it.

        Raises
        ------
        AddressError
            If the snapshot has none for this tensor.
        """
        target = self._asked_at(stage, problem, position)
        if spec.key not in target.grads:
            message = f"the snapshot has no gradient of `{spec.key}` for one target"
            hint = "it has those of activations, and of `W_Q`, `W_K`, `W_V` and `W_O`"
            raise AddressError("no-gradient", message, hint)
        return Target(position, target.target), target.grads[spec.key]

    def domain(self, spec: TensorSpec, problem: str, position: int) -> float:
        """Return the domain of all gradients of a kind for one target.

        It is the same for both stages, all layers and all heads.
        """
        end = f".{spec.name}"
        sizes = [
            np.abs(gradient).max()
            for stage in STAGES
            for key, gradient in self._asked_at(stage, problem, position).grads.items()
            if f".{key}".endswith(end)
        ]
        return covering(float(max(sizes)))

    def _asked_at(self, stage: str, problem: str, position: int) -> TargetGradients:
        targets = {target.position: target for target in self._of_problem(stage, problem)}
        if position not in targets:
            message = f"nothing is asked after position {position} of `{problem}`"
            hint = f"a target follows {', '.join(f'`@{known}`' for known in targets)}"
            raise AddressError("no-target", message, hint)
        return targets[position]

    def _of_problem(self, stage: str, problem: str) -> tuple[TargetGradients, ...]:
        if (stage, problem) not in self._targets:
            self._targets[stage, problem] = self.snapshot.gradients(stage, problem)
        return self._targets[stage, problem]
