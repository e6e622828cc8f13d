"""The HTTP side of `serve`: the files of the built site, and news of the builds."""

from __future__ import annotations

import json
import mimetypes
import secrets
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingTCPServer
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from builder.errors import Diagnostic
from builder.serve import live_page

_HEARTBEAT = 15.0
"""Seconds after which a silent connection is written to, so that a closed one is noticed."""

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".woff2": "font/woff2",
}


@dataclass
class Live:
    """What the browsers are told: which build they should show, and what is wrong with the last.

    `problems` is None until the first build has ended.
    """

    problems: tuple[str, ...] | None = None
    _session: str = field(default_factory=lambda: secrets.token_hex(4))
    _n_good: int = 0
    _n_published: int = 0
    _is_closed: bool = False
    _changed: threading.Condition = field(default_factory=threading.Condition)

    @property
    def revision(self) -> str:
        """Names the last good build; a page that shows another one must reload."""
        return f"{self._session}-{self._n_good}"

    def publish(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Tell of a build that has ended: a good one, unless there are errors."""
        errors = tuple(str(d) for d in diagnostics if d.severity == "error")
        with self._changed:
            self.problems = errors
            self._n_good += not errors
            self._n_published += 1
            self._changed.notify_all()

    def close(self) -> None:
        """End every wait."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def wait(self, seen: int, timeout: float) -> tuple[int, str] | None:
        """Wait for news after number `seen`.

        Returns
        -------
        tuple
            The number of the news, and the news as JSON; `seen` and nothing after `timeout`
            seconds without any; None when there will be no more.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._is_closed or self._n_published > seen, timeout)
            if self._is_closed:
                return None
            if self._n_published <= seen:
                return seen, ""
            state = {"revision": self.revision, "problems": self.problems or ()}
            return self._n_published, json.dumps(state)


class LiveServer(ThreadingTCPServer):
    """Serves `out` on a host and port; port 0 is any free one."""

    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, host: str, port: int, out: Path, live: Live) -> None:
        self.out, self.live = out, live
        super().__init__((host, port), _Handler)

    @property
    def url(self) -> str:
        """Address of the site."""
        host, port = self.server_address[:2]
        return f"http://{host if isinstance(host, str) else host.decode()}:{port}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of browsers that hang up."""


class _Handler(BaseHTTPRequestHandler):
    server: LiveServer

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        if path == live_page.EVENTS:
            self._send_events()
        elif path == live_page.SCRIPT:
            self._respond(200, _TYPES[".js"], live_page.RELOAD.encode())
        else:
            self._send_file(path)

    do_HEAD = do_GET

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Leave the terminal to the builds."""

    def _send_file(self, path: str) -> None:
        revision = self.server.live.revision  # before reading: a stale page then reloads
        file = self._find(path)
        if file and file.is_dir():
            if path.endswith("/"):
                file /= "index.html"
            else:
                folder = file.relative_to(self.server.out.resolve()).as_posix()
                return self._respond(302, "text/plain", b"", location=f"/{quote(folder)}/")
        data = _read(file)
        if file is None or data is None:
            return self._send_missing(revision)
        kind = _TYPES.get(file.suffix) or mimetypes.guess_type(file.name)[0]
        if file.suffix == ".html":
            return self._send_page(200, data.decode("utf-8", "replace"), revision)
        return self._respond(200, kind or "application/octet-stream", data)

    def _find(self, path: str) -> Path | None:
        """Return the file or folder that a path names inside the output folder."""
        root = self.server.out.resolve()
        try:
            file = (root / path.lstrip("/")).resolve()
            exists = file.exists()
        except (OSError, ValueError):
            return None
        return file if exists and file.is_relative_to(root) else None

    def _send_missing(self, revision: str) -> None:
        out, problems = self.server.out, self.server.live.problems
        if not (out / "index.html").is_file():
            return self._send_page(503, live_page.substitute(problems), revision)
        page = _read(out / "404.html")
        return self._send_page(404, page.decode("utf-8", "replace") if page else "404", revision)

    def _send_page(self, status: int, page: str, revision: str) -> None:
        body = live_page.with_reload(page, revision).encode()
        self._respond(status, _TYPES[".html"], body)

    def _respond(self, status: int, kind: str, body: bytes, location: str = "") -> None:
        self._start(status, kind, {"Location": location} if location else {})
        if self.command != "HEAD":
            self.wfile.write(body)

    def _start(self, status: int, kind: str, headers: dict[str, str]) -> None:
        self.send_response(status)
        common = {"Content-Type": kind, "Cache-Control": "no-store"}
        for name, value in {**common, **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def _send_events(self) -> None:
        self._start(200, "text/event-stream", {})
        seen = 0
        if self.command == "HEAD":
            return
        while (news := self.server.live.wait(seen, _HEARTBEAT)) is not None:
            seen, state = news
            self.wfile.write(f"data: {state}\n\n".encode() if state else b": quiet\n\n")


def _read(file: Path | None) -> bytes | None:
    try:
        return file.read_bytes() if file else None
    except OSError:
        return None
