"""Says what a build is doing: a live line on a terminal, plain lines elsewhere, or nothing."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

Update = Callable[[str], None]


@dataclass
class Progress:
    """Reports stages and how long they took, on standard error.

    Parameters
    ----------
    is_quiet
        Say nothing.
    """

    is_quiet: bool = False
    seconds: dict[str, float] = field(default_factory=dict)

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[Update]:
        """Announce a stage while it runs and state its time when it ends.

        Yields a function that is told how far the stage has come.
        """
        started = time.perf_counter()
        with self._live(name) as update:
            yield update
        self.seconds[name] = time.perf_counter() - started
        self.say(f"{name:<12}{self.seconds[name]:7.2f} s")

    @contextlib.contextmanager
    def _live(self, name: str) -> Iterator[Update]:
        """Show a spinner if somebody is watching."""
        if self.is_quiet or not sys.stderr.isatty():
            yield lambda _state: None
            return
        from rich.console import Console

        with Console(stderr=True).status(name) as status:
            yield lambda state: status.update(f"{name}: {state}")

    def say(self, line: str) -> None:
        """Print a line, unless nothing is to be said."""
        if not self.is_quiet:
            tell(line)


def tell(line: str) -> None:
    """Print a line on standard error; that nobody can read it stops no build."""
    with contextlib.suppress(OSError):
        sys.stderr.write(line + "\n")
