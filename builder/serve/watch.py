"""`serve`: watch the sources, rebuild on every change, and show the result in the browser."""

from __future__ import annotations

import errno
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from watchfiles import DefaultFilter, watch

from builder.errors import BuildError, Diagnostic, UsageError
from builder.serve.server import Live, LiveServer

Build = Callable[[], Sequence[Diagnostic]]
"""Builds the site and returns what it has to say; the build is good if that holds no error."""

_DEBOUNCE = 400
"""Milliseconds over which a burst of changes is gathered into one build."""

_QUIET = 200
"""Milliseconds after which the watcher says that nothing has changed."""

_PORTS_TRIED = 50


def fresh_build(out: Path) -> Build:
    """Return a build in a process of its own, which therefore sees changed Python code too."""
    command = [sys.executable, "-m", "builder", "build", "--json", "--out", str(out)]

    def build() -> Sequence[Diagnostic]:
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
        return _reported(done)

    return build


def serve(
    build: Build,
    out: Path,
    watched: Sequence[Path],
    host: str = "127.0.0.1",
    port: int = 8000,
    *,
    say: Callable[[str], None],
    stop: threading.Event | None = None,
) -> None:
    """Serve `out`, and build again whenever a file under `watched` changes, until Ctrl-C.

    A change during a build leads to another one. Browsers reload after a good build and show the
    problems of a bad one.

    Parameters
    ----------
    build
        What to run, once at the start and after changes.
    out
        The output folder, which is never watched.
    watched
        Files and folders; those that do not exist are left out.
    host, port
        Where to listen; port 0 is any free one.
    say
        Receives lines for the terminal.
    stop
        Ends serving, like Ctrl-C.

    Raises
    ------
    UsageError
        If it is not possible to listen there.
    """
    stop, changed = stop or threading.Event(), threading.Event()
    live = Live()
    sources = [path.resolve() for path in watched if path.exists()]
    with _listening(host, port, out, live) as server:
        building = threading.Thread(
            target=_keep_building, args=(build, live, changed, stop, say), daemon=True
        )
        try:
            say(f"{server.url} shows the site and follows your changes; Ctrl-C ends.")
            for has_changed in _watched(sources, out, stop):
                if building.ident is None:  # no change is lost once the watcher speaks
                    changed.set()
                    building.start()
                elif has_changed:
                    changed.set()
        except KeyboardInterrupt:
            say("")
        stop.set()
        changed.set()
        with suppress(KeyboardInterrupt):
            if building.is_alive():
                building.join()


def _watched(sources: Sequence[Path], out: Path, stop: threading.Event) -> Iterator[bool]:
    """Say again and again whether anything has changed; the watcher is at work from the first."""
    found = watch(
        *sources,
        watch_filter=DefaultFilter(ignore_paths=[out.resolve()]),
        debounce=_DEBOUNCE,
        stop_event=stop,
        rust_timeout=_QUIET,
        yield_on_timeout=True,
    )
    return (bool(changes) for changes in found)


def _keep_building(
    build: Build,
    live: Live,
    changed: threading.Event,
    stop: threading.Event,
    say: Callable[[str], None],
) -> None:
    while changed.wait() and not stop.is_set():
        changed.clear()
        start = time.perf_counter()
        diagnostics = _outcome(build)
        if stop.is_set():
            return
        for diagnostic in diagnostics:
            say(str(diagnostic))
        n_errors = sum(diagnostic.severity == "error" for diagnostic in diagnostics)
        seconds = time.perf_counter() - start
        problems = "1 problem" if n_errors == 1 else f"{n_errors} problems"
        say(f"{problems}; waiting for a change" if n_errors else f"built in {seconds:.1f} s")
        live.publish(diagnostics)


def _outcome(build: Build) -> Sequence[Diagnostic]:
    """Run a build; whatever it raises is shown too, since nobody else would see it."""
    try:
        return build()
    except BuildError as error:
        return error.diagnostics
    except Exception as error:
        return [Diagnostic("build", 0, 0, "crash", f"{type(error).__name__}: {error}")]


def _reported(done: subprocess.CompletedProcess[str]) -> Sequence[Diagnostic]:
    """Read the diagnostics that a build has printed as JSON."""
    try:
        listed = json.loads(done.stdout)["diagnostics"]
        diagnostics = [Diagnostic(**fields) for fields in listed]
    except (ValueError, KeyError, TypeError):
        diagnostics = []
    if done.returncode == 0 or any(d.severity == "error" for d in diagnostics):
        return diagnostics
    output = done.stderr.strip() or done.stdout.strip() or "it said nothing"
    message = f"the build ended with exit code {done.returncode}: {output.splitlines()[-1]}"
    return [*diagnostics, Diagnostic("build", 0, 0, "crash", message, excerpt=output)]


@contextmanager
def _listening(host: str, port: int, out: Path, live: Live) -> Iterator[LiveServer]:
    try:
        server = LiveServer(host, port, out, live)
    except (OSError, OverflowError) as error:
        raise UsageError(_refusal(host, port, error)) from error
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        live.close()
        server.shutdown()
        server.server_close()


def _refusal(host: str, port: int, error: Exception) -> Diagnostic:
    if isinstance(error, OverflowError):
        return Diagnostic("--port", 0, 0, "port", f"port `{port}` is not between 0 and 65535")
    if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
        free = _next_free(host, port)
        hint = f"`--port {free}` is free" if free else "`--port 0` takes any free one"
        return Diagnostic("--port", 0, 0, "port-taken", f"port `{port}` is taken", hint)
    reason = getattr(error, "strerror", None) or str(error)
    return Diagnostic("--host", 0, 0, "host", f"cannot listen on `{host}:{port}`: {reason}")


def _next_free(host: str, port: int) -> int | None:
    for candidate in range(port + 1, min(port + 1 + _PORTS_TRIED, 65536)):
        with socket.socket() as probe, suppress(OSError):
            probe.bind((host, candidate))
            return candidate
    return None
