"""Sizes, seed and training recipe: everything that decides the numbers, in three frozen records."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any

MOST_MATRIX_CELLS, MOST_STEPS = 1_000_000, 1_000_000
"""Far beyond what anybody could read; a mistyped size or number of steps ends here."""

STEP_RATE = 0.01
"""How far a step on one target alone goes: each weight loses this times its gradient."""

LARGEST_SEED = 2**53 - 1
"""Every whole number up to this is exact in JavaScript too."""


class ConfigError(ValueError):
    """A configuration that no model can have. `field` names the offending field."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(field, message)  # both: a process pool makes errors anew from these
        self.field = field

    def __str__(self) -> str:
        return str(self.args[1])


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """The sizes of the network. The defaults are the article's: 3,136 parameters.

    Attributes
    ----------
    n_layers, n_heads
        Blocks, and attention heads in each block.
    d_model
        Width of the residual stream; divisible by `n_heads`.
    d_mlp
        Width of the hidden layer of each MLP.
    d_vocab, n_ctx
        Number of tokens, and of positions that have an embedding.
    ln_eps
        Added to the variance in every LayerNorm.
    """

    n_layers: int = 2
    n_heads: int = 2
    d_model: int = 8
    d_mlp: int = 64
    d_vocab: int = 14
    n_ctx: int = 16
    ln_eps: float = 1e-5

    def __post_init__(self) -> None:
        for name in ("n_layers", "n_heads", "d_model", "d_mlp", "d_vocab", "n_ctx", "ln_eps"):
            _require_positive(name, getattr(self, name))
        per_layer = 4 * self.d_model + 2 * self.d_mlp
        cells = self.d_model * (2 * self.d_vocab + self.n_ctx + self.n_layers * per_layer)
        if cells > MOST_MATRIX_CELLS:
            message = f"the matrices would have {cells:,} cells, more than {MOST_MATRIX_CELLS:,}"
            raise ConfigError("d_model", message)
        if self.d_model % self.n_heads:
            divisors = [n for n in range(1, self.d_model + 1) if self.d_model % n == 0]
            raise ConfigError(
                "n_heads",
                f"`d_model` = {self.d_model} is not divisible by `n_heads` = {self.n_heads}; "
                f"`n_heads` can be one of {', '.join(map(str, divisors))}",
            )

    @property
    def d_head(self) -> int:
        """Width of one head: the heads share `d_model` evenly."""
        return self.d_model // self.n_heads


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """The recipe. Adam on the full batch, with every gradient rounded to a grid first.

    Attributes
    ----------
    seed
        Seed of NumPy's PCG64, from which the initial weights are drawn.
    steps
        Number of updates. The learning rate falls linearly from `learning_rate` to 0 over them.
    learning_rate, beta1, beta2, eps
        Adam's parameters (Kingma and Ba 2015, algorithm 1).
    gradient_grid
        Every gradient is rounded to a multiple of this, a power of two, before Adam sees it.
    """

    seed: int = 8
    steps: int = 600
    learning_rate: float = 1e-2
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    gradient_grid: float = 2.0**-20

    def __post_init__(self) -> None:
        for name in ("steps", "learning_rate", "eps", "gradient_grid"):
            _require_positive(name, getattr(self, name))
        if math.frexp(self.gradient_grid)[0] != 0.5:
            raise ConfigError(
                "gradient_grid", f"`gradient_grid` = {self.gradient_grid} must be a power of 2"
            )
        if self.seed < 0:
            raise ConfigError("seed", f"`seed` = {self.seed} must not be negative")
        for name, largest in (("seed", LARGEST_SEED), ("steps", MOST_STEPS)):
            if getattr(self, name) > largest:
                message = f"`{name}` = {getattr(self, name)} must be at most {largest}"
                raise ConfigError(name, message)
        for name in ("beta1", "beta2"):
            value = getattr(self, name)
            if not 0 <= value < 1:
                raise ConfigError(name, f"`{name}` = {value} must be at least 0 and less than 1")

    @property
    def checkpoints(self) -> tuple[int, ...]:
        """Steps whose weights are kept for the timeline: about 30, denser early, both ends in."""
        last = self.steps
        early = {1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 60, 80}
        late = {round(last * twentieth / 20) for twentieth in range(21)}
        return tuple(sorted(step for step in early | late if step <= last))


@dataclass(frozen=True, slots=True)
class Preset:
    """A model with its recipe, and the name of the task that it learns."""

    model: ModelConfig
    training: TrainingConfig
    task: str = "multiplication"

    def override(self, **values: Any) -> Preset:
        """Return a copy with fields of the model or of the recipe replaced.

        Raises
        ------
        ConfigError
            If a field is unknown, has the wrong type, or makes an impossible model.
        """
        parts: dict[str, ModelConfig | TrainingConfig] = {
            "model": self.model,
            "training": self.training,
        }
        owner = {field.name: part for part, record in parts.items() for field in fields(record)}
        changes: dict[str, dict[str, Any]] = {part: {} for part in parts}
        for name, value in values.items():
            if name not in owner:
                raise ConfigError(name, f"`{name}` is not a field of a preset")
            current = getattr(parts[owner[name]], name)
            changes[owner[name]][name] = _same_type(name, value, current)
        return replace(
            self,
            model=replace(self.model, **changes["model"]),
            training=replace(self.training, **changes["training"]),
        )


def preset_fields() -> tuple[str, ...]:
    """Names of the fields that `Preset.override` takes."""
    return tuple(field.name for record in (ModelConfig, TrainingConfig) for field in fields(record))


def _require_positive(name: str, value: float) -> None:
    if not 0 < value < math.inf:
        raise ConfigError(name, f"`{name}` = {value} must be finite and greater than 0")


def _same_type(name: str, value: Any, current: float) -> float:
    """Return `value` as the type of the default: a whole number stays whole."""
    wanted = type(current)
    if isinstance(value, bool) or not isinstance(value, (int, wanted)):
        kind = "a whole number" if wanted is int else "a number"
        raise ConfigError(name, f"`{name}` = {value!r} must be {kind}")
    try:
        return wanted(value)
    except OverflowError as error:
        raise ConfigError(name, f"`{name}` = {value} is too large") from error


PRESETS = {
    "multiplication": Preset(ModelConfig(), TrainingConfig()),
    "recall": Preset(ModelConfig(), TrainingConfig(steps=3000, learning_rate=5e-3), "recall"),
}
"""By name; `content/site.yml` asks for one."""
