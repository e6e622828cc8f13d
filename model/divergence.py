"""A training that falls apart, and where it is given up."""

from __future__ import annotations

HIGHEST_LOSS = 1e6
"""No training that goes well has a mean loss near this, in nats."""


class DivergenceError(ArithmeticError):
    """A training whose loss became infinite, NaN, or larger than any that is still learning."""

    def __init__(self, step: int, loss: float) -> None:
        super().__init__(step, loss)  # both: a process pool makes errors anew from these
        self.step = step

    def __str__(self) -> str:
        return "at step {} the loss is {:.3g}".format(*self.args)
