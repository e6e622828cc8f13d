import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

PROJECT = Path(__file__).parent.parent
TEXT = (PROJECT / ".github/workflows/site.yml").read_text("utf-8")
WORKFLOW: dict[Any, Any] = yaml.safe_load(TEXT)
JOBS: dict[str, Any] = WORKFLOW["jobs"]
STEPS = [step for job in JOBS.values() for step in job["steps"]]


def test_pushes_to_main_and_pull_requests_run_it() -> None:
    triggers = WORKFLOW[True]  # YAML 1.1 reads the key `on` as true
    assert triggers == {"push": {"branches": ["main"]}, "pull_request": None}


def test_only_deploying_may_write() -> None:
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert JOBS["deploy"]["permissions"] == {"pages": "write", "id-token": "write"}
    assert [name for name, job in JOBS.items() if "permissions" in job] == ["deploy"]


def test_only_main_is_deployed_and_only_after_the_tests() -> None:
    deploy = JOBS["deploy"]
    assert "github.ref == 'refs/heads/main'" in deploy["if"]
    assert set(deploy["needs"]) == {"test", "build"}


def test_every_job_ends_in_time_and_every_action_is_pinned() -> None:
    assert all(job["timeout-minutes"] <= 30 for job in JOBS.values())
    actions = [step["uses"] for step in STEPS if "uses" in step]
    assert all(re.fullmatch(r"actions/[a-z-]+@v\d+", action) for action in actions)
    assert {"actions/upload-pages-artifact", "actions/deploy-pages"} <= {
        action.partition("@")[0] for action in actions
    }


def test_it_runs_the_same_tests_as_everybody() -> None:
    assert "bash tests/run" in [step.get("run") for step in JOBS["test"]["steps"]]
    assert "tests/run" in (PROJECT / ".ci/run").read_text("utf-8")


def commands() -> list[tuple[str, list[str]]]:
    """Every `python -m builder COMMAND` with its options, wherever a machine runs one."""
    text = TEXT + (PROJECT / "tests/run").read_text("utf-8")
    found = re.findall(r"-m builder (\w+)([^\n>|]*)", text)
    return sorted({name: re.findall(r"--[a-z-]+", rest) for name, rest in found}.items())


@pytest.mark.parametrize(("name", "options"), commands())
def test_every_command_that_it_uses_exists(name: str, options: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "builder", name, "--help"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert [option for option in options if option not in done.stdout] == []


@pytest.mark.parametrize("script", ["tests/run", ".ci/run"])
def test_the_scripts_are_valid_bash(script: str) -> None:
    done = subprocess.run(["bash", "-n", str(PROJECT / script)], check=False)
    assert done.returncode == 0


@pytest.mark.parametrize(
    "step", [s for s in STEPS if "run" in s], ids=lambda s: s["run"].splitlines()[0]
)
def test_the_steps_are_valid_bash(step: dict[str, Any]) -> None:
    done = subprocess.run(["bash", "-n", "-c", step["run"]], check=False)
    assert done.returncode == 0


def compare_snapshots(tmp_path: Path, base: str, exit_code: int) -> tuple[int, str]:
    """Run the step that compares snapshots, with a `python` that exits as told."""
    (step,) = [s for s in STEPS if "diff base/dist" in s.get("run", "")]
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\necho compared\nexit {exit_code}\n", "utf-8")
    python.chmod(0o755)
    summary = tmp_path / "summary"
    environment = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "BASE_BUILD": base,
        "GITHUB_STEP_SUMMARY": str(summary),
    }
    command = ["bash", "-e", "-o", "pipefail", "-c", step["run"]]
    done = subprocess.run(command, env=environment, check=False)
    return done.returncode, summary.read_text("utf-8")


@pytest.mark.parametrize(("exit_code", "expected"), [(0, 0), (1, 0), (2, 2)])
def test_differing_numbers_are_no_failure_but_unreadable_ones_are(
    tmp_path: Path, exit_code: int, expected: int
) -> None:
    assert compare_snapshots(tmp_path, "success", exit_code) == (expected, "compared\n")


def test_a_base_that_cannot_be_built_is_mentioned(tmp_path: Path) -> None:
    status, summary = compare_snapshots(tmp_path, "failure", 2)
    assert status == 0
    assert "could not be built" in summary


@pytest.mark.parametrize(
    ("options", "expected"),
    [([], 0), (["-p", "tests.no_skips"], 1), (["-p", "tests.no_skips", "-n", "1"], 1)],
)
def test_skipped_tests_fail_only_where_they_must_not_be(
    tmp_path: Path, options: list[str], expected: int
) -> None:
    test = tmp_path / "test_skipped.py"
    test.write_text("import pytest\ndef test_it(): pytest.skip('no reason')\n", "utf-8")
    command = [sys.executable, "-m", "pytest", "-c", "/dev/null", *options, str(test)]
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == expected, done.stdout
