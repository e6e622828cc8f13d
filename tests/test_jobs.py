"""Long computations in pieces: parallel, stored piece by piece, and never done twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from builder.cli import main
from builder.code import SourceCode
from builder.errors import UsageError
from builder.evidence.jobs import Job, Jobs, chunks
from builder.evidence.workers import Call, Cluster, Processes, Workers
from builder.stages import Cache
from model.census import train_seeds
from model.config import ConfigError
from model.divergence import DivergenceError
from model.snapshot import SnapshotError
from tests.projects import ROOT, substitute
from tests.trained_models import PRESET

Captured = pytest.CaptureFixture[str]


def jobs_of(tmp_path: Path, workers: Workers) -> Jobs:
    return Jobs(Cache(tmp_path / "cache"), SourceCode(ROOT), workers)


def job(call: Call) -> Job:
    return Job(f"evidence/{call.function.split(':')[1]}-{call.arguments[0]}", ("model.task",), call)


@pytest.mark.parametrize("n", [1, 2])
def test_results_come_in_the_order_of_the_jobs(tmp_path: Path, n: int) -> None:
    states: list[str] = []
    asked = [job(Call("tests.calls:square", (number,))) for number in (3, 1, 2)]
    assert jobs_of(tmp_path, Processes(n)).results(asked, states.append) == [9, 1, 4]
    assert [state.split(" parts")[0] for state in states] == ["1 of 3", "2 of 3", "3 of 3"]
    assert states[-1].endswith("about 0 s left")


def test_what_is_stored_is_not_computed_again(tmp_path: Path) -> None:
    asked = [job(Call("tests.calls:once", (number, str(tmp_path)))) for number in (1, 2)]
    for _ in range(3):
        assert jobs_of(tmp_path, Processes(1)).results(asked, no_news) == [1, 4]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1.0", "2.0", "cache"]


def no_news(_state: str) -> None:
    pass


@pytest.mark.parametrize("n", [1, 2])
def test_an_interrupted_run_goes_on_where_it_was(tmp_path: Path, n: int) -> None:
    def jobs(bad: int) -> list[Job]:
        calls = [("fail_at", (number, -1, str(tmp_path))) for number in range(4)]
        calls[3] = ("fail_at", (3, bad, str(tmp_path)))
        return [job(Call(f"tests.calls:{name}", arguments)) for name, arguments in calls]

    with pytest.raises(RuntimeError, match="caught fire"):
        jobs_of(tmp_path, Processes(n)).results(jobs(bad=3), no_news)
    states: list[str] = []
    found = jobs_of(tmp_path, Processes(n)).results(jobs(bad=-1), states.append)
    assert found == [0, 1, 4, 9]
    assert states[-1].startswith("4 of 4")
    assert len(states) < 4
    done = [path.name for path in tmp_path.iterdir() if path.name != "cache"]
    assert "3.0" in done
    assert n > 1 or sorted(done) == ["0.0", "1.0", "2.0", "3.0"]


INTERRUPTED = """
import sys
from pathlib import Path
from builder.code import SourceCode
from builder.evidence.jobs import Job, Jobs
from builder.evidence.workers import Call, Processes
from builder.stages import Cache

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    endless = [Call("tests.calls:endless", (number, str(folder))) for number in (0, 1)]
    calls = [Call("tests.calls:square", (2,)), *endless]
    asked = [Job(f"evidence/{place}", ("model.task",), call) for place, call in enumerate(calls)]
    source, workers = SourceCode(Path(sys.argv[2])), Processes(int(sys.argv[3]))
    Jobs(Cache(folder / "cache"), source, workers).results(asked, print)
"""


@pytest.mark.parametrize("n", [1, 2])
def test_ctrl_c_stops_what_is_computed_at_once_and_says_what_is_kept(
    tmp_path: Path, n: int
) -> None:
    """As a terminal does it: every process of the group hears of it."""
    script = tmp_path / "interrupted.py"
    script.write_text(INTERRUPTED)
    started = subprocess.Popen(
        [sys.executable, str(script), str(tmp_path), str(ROOT), str(n)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert started.stdout
    assert started.stdout.readline().startswith("1 of 3 parts")
    wait_until(lambda: len(list(tmp_path.glob("*.busy"))) == n)
    os.killpg(started.pid, signal.SIGINT)
    said = started.communicate(timeout=10)[1]
    assert said.splitlines()[-1] == (
        "KeyboardInterrupt: interrupted; 1 of 3 parts are kept, run it again to go on"
    )
    assert said.count("Traceback") == 1, "that of the parent, which here is no command"
    busy = [int(path.stem) for path in tmp_path.glob("*.busy")]
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in busy))


def wait_until(is_so: Callable[[], bool], seconds: float = 60.0) -> None:
    ends = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < ends
        time.sleep(0.05)


@pytest.mark.parametrize("n", [1, 2])
def test_the_error_of_a_piece_is_told_as_it_is_from_another_process_too(n: int) -> None:
    def raised_by(name: str, argument: object, kind: type[Exception]) -> Exception:
        calls = [Call(f"tests.calls:{name}", (argument,)), Call("tests.calls:square", (2,))]
        with pytest.raises(kind) as caught:
            list(Processes(n).outcomes(calls))
        assert type(caught.value) is kind
        return caught.value

    diverged = raised_by("diverge", 7, DivergenceError)
    assert str(diverged) == "at step 7 the loss is 2e+06"
    assert isinstance(diverged, DivergenceError)
    assert diverged.step == 7
    impossible = raised_by("want_an_impossible_model", 3, ConfigError)
    assert isinstance(impossible, ConfigError)
    assert impossible.field == "n_heads"
    assert "`d_model` = 8 is not divisible by `n_heads` = 3" in str(impossible)
    missing = raised_by("read_nothing", "/nowhere", SnapshotError)
    assert isinstance(missing, SnapshotError)
    assert str(missing) == f"{missing.path}: No such file or directory"


def test_a_training_that_diverges_is_one_message(project: Path, capsys: Captured) -> None:
    preset = "  preset: multiplication\n"
    changed = f"{preset}  learning_rate: 1.0e+300\n  steps: 3\n"
    substitute(project / "content/site.yml", preset, changed)
    assert main(["census", "--seeds", "1", "--jobs", "1", "--quiet"]) == 1
    said = capsys.readouterr().err
    assert "a training diverged: at step 1 the loss is" in said
    assert "[training]" in said
    assert "Traceback" not in said


def test_another_call_of_the_same_name_has_another_result(tmp_path: Path) -> None:
    jobs = jobs_of(tmp_path, Processes(1))
    for number in (5, 6):
        call = Call("tests.calls:square", (number,))
        assert jobs.results([Job("evidence/x", ("model.task",), call)], no_news) == [number**2]


def test_seeds_are_parted_without_loss() -> None:
    assert chunks(range(5), 2) == [(0, 1), (2, 3), (4,)]
    assert chunks([], 2) == []


def test_seeds_trained_in_other_processes_are_the_same() -> None:
    preset = PRESET.override(steps=4)
    calls = [Call("model.census:train_seeds", (preset, (seed,))) for seed in (1, 2)]
    found = dict(Processes(2).outcomes(calls))
    assert found[0] | found[1] == train_seeds(preset, (1, 2))


# --- Dask -----------------------------------------------------------------------------------


def test_without_a_scheduler_there_is_one_message() -> None:
    with pytest.raises(UsageError) as refused:
        list(Cluster("nowhere").outcomes([]))
    assert "no Dask scheduler answers" in str(refused.value)


def test_without_dask_there_is_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dask.distributed", None)
    with pytest.raises(UsageError) as refused:
        list(Cluster("tcp://127.0.0.1:1").outcomes([]))
    assert "pip install -e '.[dask]'" in str(refused.value)


def test_a_worker_that_is_killed_loses_nothing(tmp_path: Path) -> None:
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-m", "tests.dask_run", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["results"][:16] == [[number, number * number] for number in range(16)]
    preset = PRESET.override(steps=5)
    assert found["results"][16:] == [train_seeds(preset, (seed,)) for seed in (0, 3)]
    assert len(found["killed"]) == 1
    assert len(found["workers"]) >= 2
