"""Numbers are computed once, and only good numbers are let through."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from builder import compute, requirements
from builder.cli import main
from builder.code import SourceCode
from builder.compute import Computer
from builder.content.loader import load_site
from builder.errors import BuildError, Diagnostics
from builder.progress import Progress
from builder.snapshot_files import Computed
from builder.stages import Cache, Event
from model.config import PRESETS, Preset
from model.divergence import DivergenceError
from model.encoding import sha256
from model.evidence import Evidence
from tests.projects import ROOT, overwrite, substitute, tree

PRESET = PRESETS["multiplication"]


def run(project: Path, preset: Preset = PRESET) -> tuple[Computed, list[Event]]:
    events: list[Event] = []
    cache = Cache(project / ".cache", on_event=events.append)
    seeds = load_site(project / "content", Diagnostics()).seeds
    computer = Computer(preset, cache, SourceCode(ROOT), Progress(is_quiet=True), seeds)
    return computer.run(), events


def failure(project: Path, preset: Preset) -> str:
    with pytest.raises(BuildError) as caught:
        run(project, preset)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.path == "content/site.yml"
    return str(diagnostic)


def test_the_manifest_lists_every_file_with_its_digest(project: Path) -> None:
    computed, _ = run(project)
    manifest = json.loads(computed.files["manifest.json"])
    listed = {file["path"]: file["sha256"] for file in manifest["files"]}
    others = computed.files.keys() - {"manifest.json"}
    assert listed == {path: sha256(computed.files[path]) for path in others}
    assert tree(project / "dist/snapshots").keys() == {*computed.files, "provenance.json"}


def test_a_second_run_finds_everything_and_the_same(project: Path) -> None:
    first, _ = run(project)
    second, events = run(project)
    assert second == first
    assert [event for event in events if event.is_rebuilt] == []
    assert [event.stage for event in events] == [
        "train",
        "trace",
        "gradients",
        "tables",
        "seeds",
        "evidence",
        "claims",
        "manifest",
    ]


def test_a_build_with_nothing_to_compute_imports_none_of_the_heavy_libraries(
    project: Path,
) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "builder", "build", "--quiet"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    finished = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True, cwd=project
    )
    lines = finished.stderr.splitlines()
    imported = {line.rpartition("|")[2].strip().split(".")[0] for line in lines}
    assert "builder" in imported
    assert not imported & {"torch", "altair", "vl_convert", "numpy", "markdown_it", "jinja2"}


def test_another_model_takes_no_result_away(project: Path) -> None:
    preset = PRESET.override(steps=2)
    with pytest.raises(BuildError):
        run(project, preset)
    _, events = run(project)
    assert all(not event.is_rebuilt for event in events)


def test_a_seed_that_misses_problems_is_one_message(project: Path) -> None:
    message = failure(project, PRESET.override(seed=3, steps=20))
    assert message.startswith("content/site.yml: error: with seed 3 and 20 steps the model gets ")
    assert " of 100 problems right [training]" in message
    assert "hint: choose another `seed`, or more `steps`, under `model`" in message


def test_the_poor_result_is_cached_and_refused_again(project: Path) -> None:
    preset = PRESET.override(seed=3, steps=20)
    assert failure(project, preset) == failure(project, preset)


@pytest.mark.parametrize("fields", [{"learning_rate": 1e300}, {"eps": 1e-320, "beta2": 0.0}])
def test_a_training_that_diverges_or_fails_is_one_message(
    project: Path, fields: dict[str, float]
) -> None:
    message = failure(project, PRESET.override(steps=5, **fields))
    assert "[training]" in message


def test_a_training_too_close_to_a_rounding_boundary_is_one_message(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed, _ = run(project)
    margin = json.loads(computed.files["manifest.json"])["training"]["portability_margin"]
    monkeypatch.setattr(requirements, "SMALLEST_MARGIN", margin)
    run(project)
    monkeypatch.setattr(requirements, "SMALLEST_MARGIN", 2 * margin)
    message = failure(project, PRESET)
    assert f"in the training a gradient came within {margin:.1e} of a rounding" in message
    assert message.endswith(
        "hint: choose another `seed` or `gradient_grid` under `model` in content/site.yml"
    )


def forget(project: Path, stage: str) -> None:
    for stored in (project / ".cache").glob(f"{stage}.*.result"):
        stored.unlink()


def test_a_control_too_close_to_a_rounding_boundary_is_refused_as_well(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget(project, "evidence")
    close = Evidence(
        decoded=100,
        overwritten_uniform=2,
        overwritten_heads=[[9, 9], [9, 9]],
        second_digit_without_equals=47,
        raised_by_step=556,
        first_step=(0.05, 0.06),
        sum_of_norms=2.0,
        norm_of_sum=0.5,
        control_uniform=100,
        control_loss=0.41,
        control_margin=9e-15,
    )
    monkeypatch.setattr("model.evidence.gather", lambda _initial, _weights, _preset: close)
    message = failure(project, PRESET)
    assert "in the training of the control a gradient came within 9.0e-15" in message
    assert "[portability]" in message


def test_a_control_that_diverges_is_one_message(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gather(*_weights_and_preset: object) -> None:
        raise DivergenceError(7, 1e9)

    forget(project, "evidence")
    monkeypatch.setattr("model.evidence.gather", gather)
    message = failure(project, PRESET)
    assert "the training of the control diverged: at step 7 the loss is 1e+09" in message


def stages() -> Iterator[tuple[str, list[str], set[str]]]:
    """Each stage, the modules that its key names, and those that its code imports."""
    code = ast.parse(Path(compute.__file__).read_text(encoding="utf-8"))
    for method in ast.walk(code):
        if not isinstance(method, ast.FunctionDef):
            continue
        used = {node.module for node in ast.walk(method) if isinstance(node, ast.ImportFrom)}
        for call in ast.walk(method):
            match call:
                case ast.Call(ast.Attribute(attr="_get" | "_with_torch"), [stage, modules, *_]):
                    if isinstance(stage, ast.Constant):
                        yield stage.value, ast.literal_eval(modules), used


def test_the_code_that_computes_a_stage_is_in_its_key() -> None:
    source, seen = SourceCode(ROOT), []
    for stage, modules, used in stages():
        assert used <= set(source.closure(modules)), stage
        assert not [module for module in used if "builder.errors" in source.closure([module])]
        seen.append(stage)
    stages_of_torch = ["train", "trace", "gradients", "evidence"]
    assert seen == [*stages_of_torch, "claims", "claims", "interventions", "manifest"]


def test_tracing_and_claims_are_no_part_of_what_decides_the_training() -> None:
    (modules,) = (modules for stage, modules, _ in stages() if stage == "train")
    closure = SourceCode(ROOT).closure(modules)
    assert "model.transformer" in closure
    assert not {"model.trace", "model.evidence", "builder.claims.world"} & set(closure)


def test_every_stage_that_is_damaged_is_computed_again_alone(project: Path) -> None:
    before, _ = run(project)
    for stage in ("trace", "claims", "manifest"):
        for stored in (project / ".cache").glob(f"{stage}.*.result"):
            data = stored.read_bytes()
            overwrite(stored, data[: len(data) // 2])
        after, events = run(project)
        assert after == before
        assert [event.stage for event in events if event.is_rebuilt] == [stage]


def test_a_training_that_diverges_is_one_message(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = "  preset: multiplication"
    substitute(project / "content/site.yml", model, "  learning_rate: 1e30\n  steps: 3")
    assert main(["build", "--quiet"]) == 1
    assert "the training diverged: at step 1 the loss is" in capsys.readouterr().err


def test_a_model_that_fails_leaves_the_old_site(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = tree(project / "dist")
    line = substitute(project / "content/site.yml", "  preset: multiplication", "  steps: 20")
    assert main(["build", "--quiet"]) == 1
    message = capsys.readouterr().err
    assert message.startswith(f"content/site.yml:{line}:3: error: ")
    assert "of 100 problems right [training]\n    steps: 20\n" in message
    assert tree(project / "dist") == before
