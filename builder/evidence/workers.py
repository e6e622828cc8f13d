"""Where long computations run: in processes of this machine, or on a Dask cluster."""

from __future__ import annotations

import importlib
import multiprocessing
import signal
import sys
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

from builder.errors import Diagnostic, UsageError


@dataclass(frozen=True, slots=True)
class Call:
    """A function by its name, `module:function`, and its arguments; both can be sent away."""

    function: str
    arguments: tuple[Any, ...]

    def run(self) -> Any:
        """Call the function, with torch on one thread: parallel are the calls."""
        import torch

        torch.set_num_threads(1)
        module, _, name = self.function.partition(":")
        return getattr(importlib.import_module(module), name)(*self.arguments)


class Workers(Protocol):
    """Something that carries out calls."""

    def outcomes(self, calls: Sequence[Call]) -> Generator[tuple[int, Any]]:
        """Yield the place of each call and what it returned, as soon as it has.

        Whoever takes no more of them closes it, and nothing is left running.
        """


@dataclass(frozen=True, slots=True)
class Processes:
    """So many processes at once; with one, this one.

    Where a call fails, or nobody waits any more, the others are stopped, and not waited for.
    """

    n: int

    def outcomes(self, calls: Sequence[Call]) -> Generator[tuple[int, Any]]:
        """See `Workers`."""
        if self.n == 1:
            yield from ((place, call.run()) for place, call in enumerate(calls))
            return
        context = multiprocessing.get_context("spawn")  # torch's threads do not survive a fork
        others = set(multiprocessing.active_children())
        pool = ProcessPoolExecutor(self.n, mp_context=context)
        try:
            with _deaf_to_interrupts():
                places = {pool.submit(call.run): place for place, call in enumerate(calls)}
            for done in as_completed(places):
                yield places[done], done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in set(multiprocessing.active_children()) - others:
                process.kill()
            raise
        pool.shutdown()


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Let processes that start here not hear Ctrl-C: a terminal sends it to them too."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@dataclass(frozen=True, slots=True)
class Cluster:
    """An existing Dask cluster; each of its workers has this project installed.

    What a worker was busy with when it died is given to another one.
    """

    address: str

    def outcomes(self, calls: Sequence[Call]) -> Generator[tuple[int, Any]]:
        """See `Workers`.

        Raises
        ------
        UsageError
            If Dask is not installed, or if no scheduler answers.
        """
        try:
            from dask.distributed import Client
            from dask.distributed import as_completed as as_done
        except ImportError as error:
            self._refuse("Dask is not installed", "`pip install -e '.[dask]'` installs it", error)
        try:
            client = Client(self.address, timeout="20s")
        except (OSError, ValueError) as error:
            message = f"no Dask scheduler answers: {error}"
            self._refuse(message, "such as `tcp://127.0.0.1:8786`", error)
        with client:
            futures = [client.submit(call.run, pure=False) for call in calls]
            places = {future.key: place for place, future in enumerate(futures)}
            for done in as_done(futures):
                yield places[done.key], done.result()

    def _refuse(self, message: str, hint: str, error: Exception) -> NoReturn:
        raise UsageError(Diagnostic(self.address, 0, 0, "dask", message, hint)) from error
