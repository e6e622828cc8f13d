"""Long computations in pieces: each is stored as soon as it is done, and none is done twice."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from builder.code import SourceCode
from builder.evidence.workers import Call, Workers
from builder.progress import Update
from builder.stages import Cache, Ingredients, Result, Stored, digest


class _MissingError(Exception):
    """A piece is not in the cache."""


@dataclass(frozen=True, slots=True)
class Job:
    """One piece.

    Attributes
    ----------
    stage
        Its name in the cache.
    modules
        What decides its result, with all that they import.
    call
        What computes it: JSON must hold its result, and the `repr` of its arguments all of them.
    """

    stage: str
    modules: tuple[str, ...]
    call: Call


@dataclass(frozen=True, slots=True)
class Jobs:
    """Finds pieces in the cache, and has the others computed."""

    cache: Cache
    source: SourceCode
    workers: Workers

    def results(self, jobs: Sequence[Job], tell: Update) -> list[Any]:
        """Return the result of each job, in their order.

        `tell` is told how far things are, after each piece that had to be computed.

        Raises
        ------
        KeyboardInterrupt
            That says how many pieces are stored, if one interrupts the computation.
        """
        found = [self._stored(job) for job in jobs]
        try:
            self._complete(found, jobs, tell)
        except KeyboardInterrupt:
            n_kept = sum(stored is not None for stored in found)
            said = f"interrupted; {n_kept} of {len(jobs)} parts are kept, run it again to go on"
            raise KeyboardInterrupt(said) from None
        return [stored.facts["result"] for stored in found if stored is not None]

    def _complete(self, found: list[Stored | None], jobs: Sequence[Job], tell: Update) -> None:
        """Have computed, and store, what is missing among the results that were found."""
        missing = [place for place, result in enumerate(found) if result is None]
        started = time.perf_counter()
        with closing(self.workers.outcomes([jobs[place].call for place in missing])) as outcomes:
            for n_done, (index, outcome) in enumerate(outcomes, start=1):
                place = missing[index]
                found[place] = self._store(jobs[place], outcome)
                left = (time.perf_counter() - started) / n_done * (len(missing) - n_done)
                n_ready = len(jobs) - len(missing) + n_done
                tell(f"{n_ready} of {len(jobs)} parts, about {left:.0f} s left")

    def _stored(self, job: Job) -> Stored | None:
        def missing() -> Result:
            raise _MissingError

        try:
            return self.cache.get(job.stage, self._ingredients(job), missing)
        except _MissingError:
            return None

    def _store(self, job: Job, outcome: Any) -> Stored:
        return self.cache.get(
            job.stage, self._ingredients(job), lambda: Result({}, {"result": outcome})
        )

    def _ingredients(self, job: Job) -> Ingredients:
        return {
            **self.source.ingredients(*job.modules, tools=("torch", "numpy", "orjson")),
            "call": digest(repr(job.call)),
        }


def chunks(items: Sequence[int], size: int) -> list[tuple[int, ...]]:
    """Return the items, so many at a time."""
    return [tuple(items[start : start + size]) for start in range(0, len(items), size)]
