import http.client
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from builder.errors import BuildError, Diagnostic, UsageError
from builder.serve import watch as serve_module
from builder.serve.live_page import relaxed, with_reload
from builder.serve.watch import fresh_build, serve
from tests.browser import Chromium

PAGE = (
    '<!doctype html><html><head><meta http-equiv="Content-Security-Policy" '
    "content=\"default-src 'none'; script-src 'self' blob:\"></head>"
    "<body>version {}</body></html>"
)
PROBLEM = Diagnostic("content/zh/index.md", 7, 1, "unknown-block", "no block `<script>`")
TIMEOUT = 20


@dataclass
class Served:
    """A running server, with a build that the test controls."""

    folder: Path
    problems: list[Diagnostic] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)
    listening: threading.Event = field(default_factory=threading.Event)
    hold: threading.Event = field(default_factory=threading.Event)
    started: threading.Event = field(default_factory=threading.Event)
    n_builds: int = 0
    port: int = 0

    @property
    def source(self) -> Path:
        return self.folder / "content" / "page.md"

    def build(self) -> Sequence[Diagnostic]:
        self.n_builds += 1
        text = self.source.read_text("utf-8")
        self.started.set()
        assert self.hold.wait(TIMEOUT)
        if not self.problems:
            for name in ("index.html", "404.html", "en/index.html"):
                path = self.folder / "dist" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(PAGE.replace("{}", text), "utf-8")
            (self.folder / "dist" / "main.js").write_text("1;", "utf-8")
        return list(self.problems)

    def say(self, line: str) -> None:
        self.lines.append(line)
        if line.startswith("http://"):
            self.port = int(line.split("/")[2].split(":")[1])
            self.listening.set()

    def run(self) -> None:
        watched = [self.folder / "content", self.folder / "missing"]
        serve(self.build, self.folder / "dist", watched, port=0, say=self.say, stop=self.stop)

    def request(self, path: str, method: str = "GET") -> tuple[int, str, dict[str, str]]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        connection.request(method, path)
        response = connection.getresponse()
        return response.status, response.read().decode(), dict(response.headers)

    def events(self) -> Iterator[dict[str, Any]]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        connection.request("GET", "/_live/events")
        response = connection.getresponse()
        deadline = time.monotonic() + TIMEOUT
        while line := response.readline():
            assert time.monotonic() < deadline, "no news but heartbeats"
            if line.startswith(b"data: "):
                yield json.loads(line.removeprefix(b"data: "))
                deadline = time.monotonic() + TIMEOUT


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    running: list[tuple[Served, threading.Thread]] = []

    def start(*problems: Diagnostic, hold: bool = False) -> Served:
        served = Served(tmp_path, list(problems))
        served.source.parent.mkdir()
        served.source.write_text("1", "utf-8")
        if not hold:
            served.hold.set()
        thread = threading.Thread(target=served.run)
        thread.start()
        running.append((served, thread))
        assert served.listening.wait(TIMEOUT)
        return served

    yield start
    for served, thread in running:
        served.hold.set()
        served.stop.set()
        thread.join(TIMEOUT)
        assert not thread.is_alive()


def test_a_change_is_built_and_announced(start: Callable[..., Served]) -> None:
    served = start()
    events = served.events()
    first = next(events)
    assert first["problems"] == []
    served.source.write_text("2", "utf-8")
    assert next(events)["revision"] != first["revision"]
    assert "version 2" in served.request("/")[1]
    assert any(line.startswith("built in") for line in served.lines)


def test_a_new_quiz_and_a_changed_one_are_built(start: Callable[..., Served]) -> None:
    served = start()
    events = served.events()
    next(events)
    quiz = served.folder / "content" / "zh" / "quiz" / "page.yml"
    quiz.parent.mkdir(parents=True)
    quiz.write_text("one: {}", "utf-8")
    assert next(events)["problems"] == []
    n_builds = served.n_builds
    quiz.write_text("two: {}", "utf-8")
    assert next(events)["problems"] == []
    assert served.n_builds > n_builds


def test_a_page_names_the_build_it_came_from(start: Callable[..., Served]) -> None:
    served = start()
    revision = next(served.events())["revision"]
    _, page, headers = served.request("/")
    assert f'data-revision="{revision}" data-events="/_live/events"></script></body>' in page
    assert "connect-src &#x27;self&#x27;" in page
    assert headers["Cache-Control"] == "no-store"
    assert served.request("/_live/reload.js")[2]["Content-Type"].startswith("text/javascript")


def test_the_files_of_the_site_stay_as_they_are(start: Callable[..., Served]) -> None:
    served = start()
    next(served.events())
    served.request("/")
    written = (served.folder / "dist/index.html").read_text("utf-8")
    assert written == PAGE.replace("{}", "1")
    assert served.request("/main.js")[1] == "1;"


def test_a_problem_shows_without_a_reload_and_goes_away_when_mended(
    start: Callable[..., Served],
) -> None:
    served = start()
    events = served.events()
    good = next(events)

    served.problems.append(PROBLEM)
    served.source.write_text("2", "utf-8")
    bad = next(events)
    assert bad == {"revision": good["revision"], "problems": [str(PROBLEM)]}
    assert "version 1" in served.request("/")[1]

    served.problems.clear()
    served.source.write_text("3", "utf-8")
    mended = next(events)
    assert mended["problems"] == []
    assert mended["revision"] != good["revision"]
    assert "version 3" in served.request("/")[1]


def test_warnings_do_not_stop_a_reload(start: Callable[..., Served]) -> None:
    served = start()
    events = served.events()
    good = next(events)
    warning = Diagnostic("a.md", 1, 1, "style", "odd", severity="warning")
    served.build = lambda: [warning]  # type: ignore[method-assign]
    served.problems.append(warning)
    served.source.write_text("2", "utf-8")
    state = next(events)
    assert state["problems"] == []
    assert state["revision"] != good["revision"]
    assert str(warning) in served.lines


def test_a_site_whose_first_build_fails_has_a_page_that_says_why(
    start: Callable[..., Served],
) -> None:
    served = start(PROBLEM)
    events = served.events()
    next(events)
    status, page, _ = served.request("/anything.html")
    assert status == 503
    assert "content/zh/index.md:7:1" in page
    assert "no block `&lt;script&gt;`" in page
    assert "/_live/reload.js" in page
    served.problems.clear()
    served.source.write_text("2", "utf-8")
    next(events)
    assert served.request("/")[0] == 200


def test_a_site_that_is_being_built_says_so(start: Callable[..., Served]) -> None:
    served = start(hold=True)
    status, page, _ = served.request("/")
    assert status == 503
    assert "Building" in page


def test_a_change_during_a_build_leads_to_another_one(start: Callable[..., Served]) -> None:
    served = start()
    events = served.events()
    next(events)
    served.hold.clear()
    served.started.clear()
    served.source.write_text("2", "utf-8")
    assert served.started.wait(TIMEOUT)
    served.started.clear()
    served.source.write_text("3", "utf-8")
    served.hold.set()
    assert served.started.wait(TIMEOUT)
    next(events)
    next(events)
    assert "version 3" in served.request("/")[1]
    assert served.n_builds == 3


def test_a_build_that_raises_is_shown_and_the_next_one_still_runs(
    start: Callable[..., Served],
) -> None:
    served = start()
    events = served.events()
    next(events)
    served.source.unlink()
    assert "FileNotFoundError" in next(events)["problems"][0]
    served.source.write_text("2", "utf-8")
    assert next(events)["problems"] == []


def test_a_build_error_is_shown_by_its_diagnostics() -> None:
    def build() -> Sequence[Diagnostic]:
        raise BuildError(PROBLEM)

    assert serve_module._outcome(build) == (PROBLEM,)


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "//../secret.txt",
        "/en/../../secret.txt",
        "/link.txt",
        "/%00",
        "/" + "a" * 5000,
    ],
)
def test_nothing_outside_the_site_is_served(start: Callable[..., Served], path: str) -> None:
    served = start()
    next(served.events())
    (served.folder / "secret.txt").write_text("secret", "utf-8")
    (served.folder / "dist" / "link.txt").symlink_to(served.folder / "secret.txt")
    status, page, _ = served.request(path)
    assert status == 404
    assert "secret" not in page


def test_folders_and_missing_pages(start: Callable[..., Served]) -> None:
    served = start()
    next(served.events())
    assert served.request("/en/")[0] == 200
    status, _, headers = served.request("/en")
    assert (status, headers["Location"]) == (302, "/en/")
    status, page, _ = served.request("/none.html")
    assert status == 404
    assert "version 1" in page
    assert served.request("/index.html?x=1", "HEAD")[:2] == (200, "")


def test_changes_of_the_output_are_not_followed(start: Callable[..., Served]) -> None:
    served = start()
    events = served.events()
    next(events)
    (served.folder / "dist" / "main.js").write_text("2;", "utf-8")
    served.source.write_text("2", "utf-8")
    next(events)
    assert served.n_builds == 2


def test_a_taken_port_is_refused_with_a_free_one_as_hint(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(UsageError) as caught:
            serve(list, tmp_path, [], port=port, say=[].append)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message == f"port `{port}` is taken"
    free = int(diagnostic.hint.split()[1].rstrip("`"))
    assert free > port


@pytest.mark.parametrize(
    ("host", "port", "expected"),
    [("127.0.0.1", 70000, "not between"), ("256.0.0.1", 0, "cannot listen on `256.0.0.1:0`")],
)
def test_impossible_addresses_are_refused(
    tmp_path: Path, host: str, port: int, expected: str
) -> None:
    with pytest.raises(UsageError, match=expected):
        serve(list, tmp_path, [], host, port, say=[].append)


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("default-src 'none'", "default-src 'none'; script-src 'self'; connect-src 'self'"),
        (
            "script-src 'self' blob:; connect-src 'none';",
            "script-src 'self' blob:; connect-src 'self'",
        ),
    ],
)
def test_policies_are_widened_for_the_reload_script(policy: str, expected: str) -> None:
    assert relaxed(policy) == expected


def test_a_page_without_body_gets_the_script_too() -> None:
    assert with_reload("<p>x", "r1").startswith('<p>x<script defer src="/_live/reload.js"')


def test_a_browser_shows_a_problem_and_then_the_mended_page(
    start: Callable[..., Served], chromium: Chromium
) -> None:
    served = start()
    next(served.events())
    with chromium.browser.new_page() as page:
        complaints: list[str] = []
        page.on("console", lambda message: complaints.append(message.text))
        page.goto(f"http://127.0.0.1:{served.port}/")
        served.problems.append(PROBLEM)
        served.source.write_text("2", "utf-8")
        overlay = page.locator("#live-problems")
        overlay.wait_for()
        assert overlay.locator("pre").text_content() == str(PROBLEM)
        served.problems.clear()
        served.source.write_text("3", "utf-8")
        page.get_by_text("version 3").wait_for()
        assert overlay.count() == 0
        assert [text for text in complaints if "favicon" not in text and "404" not in text] == []


def run_as_builder(folder: Path, code: str, monkeypatch: pytest.MonkeyPatch) -> list[Diagnostic]:
    (folder / "builder").mkdir()
    (folder / "builder/__main__.py").write_text(code, "utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    return list(fresh_build(folder / "dist")())


def test_a_fresh_build_reads_the_diagnostics_of_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = json.dumps({"diagnostics": [PROBLEM.as_dict()]})
    code = (
        "import sys\n"
        f"assert sys.argv[1:] == ['build', '--json', '--out', {str(tmp_path / 'dist')!r}]\n"
        f"print({listed!r})\nsys.exit(1)\n"
    )
    assert run_as_builder(tmp_path, code, monkeypatch) == [PROBLEM]


def test_a_build_that_crashes_becomes_a_diagnostic(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (crash,) = run_as_builder(tmp_path, "1 / 0", monkeypatch)
    assert crash.rule == "crash"
    assert crash.message.endswith("exit code 1: ZeroDivisionError: division by zero")
    assert "Traceback" in crash.excerpt


def test_ctrl_c_ends_quietly(tmp_path: Path) -> None:
    (tmp_path / "content").mkdir()
    code = (
        "import signal\nfrom pathlib import Path\nfrom builder.serve.watch import serve\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # ignored in the background
        f"root = Path({str(tmp_path)!r})\n"
        "serve(list, root / 'dist', [root / 'content'], port=0,"
        " say=lambda line: print(line, flush=True))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout
        assert process.stdout.readline().startswith("http://")
        assert process.stdout.readline().startswith("built in")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=TIMEOUT)
    finally:
        process.kill()
    assert (process.returncode, errors) == (0, "")
