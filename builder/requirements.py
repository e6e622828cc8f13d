"""What a training must have come to, for a site to be made of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from builder.errors import BuildError, Diagnostic
from model.divergence import DivergenceError

SMALLEST_MARGIN = 1e-14
"""A training whose gradients come closer than this to a rounding boundary is not portable."""


@contextmanager
def not_diverging(training: str) -> Iterator[None]:
    """Turn the divergence of a training into the problem that it is.

    Raises
    ------
    BuildError
        If the training diverges.
    """
    try:
        yield
    except DivergenceError as error:
        hint = "choose a smaller `learning_rate` under `model` in content/site.yml"
        message = f"{training} diverged: {error}"
        raise BuildError(Diagnostic("content/site.yml", 0, 0, "training", message, hint)) from error


def require_all_correct(training: Mapping[str, Any], problems: int) -> None:
    """Refuse a model that misses one of so many problems."""
    if training["correct"] != problems:
        message = (
            f"with seed {training['seed']} and {training['steps']} steps the model gets "
            f"{training['correct']} of {problems} problems right"
        )
        hint = "choose another `seed`, or more `steps`, under `model` in content/site.yml"
        raise BuildError(Diagnostic("content/site.yml", 0, 0, "training", message, hint))


def require_portable(training: str, margin: float) -> None:
    """Refuse a training whose gradients come too close to where rounding could go two ways."""
    if margin < SMALLEST_MARGIN:
        message = (
            f"in {training} a gradient came within {margin:.1e} of a rounding boundary; "
            f"under {SMALLEST_MARGIN:.0e} another machine may train another model"
        )
        hint = "choose another `seed` or `gradient_grid` under `model` in content/site.yml"
        raise BuildError(Diagnostic("content/site.yml", 0, 0, "portability", message, hint))
