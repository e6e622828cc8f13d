"""The numbers: every snapshot file, each from its own cached stage.

This is the one place where the builder meets torch, and only when a stage has to be computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from builder.code import SourceCode
from builder.errors import BuildError, Diagnostic
from builder.progress import Progress, Update
from builder.stages import Cache, Ingredients, Result, digest
from model import task
from model.config import Preset

if TYPE_CHECKING:
    from model.documents import File
    from model.train import Run

SMALLEST_MARGIN = 1e-14
"""A training whose gradients come closer than this to a rounding boundary is not portable."""

LARGEST = 1e7
"""No loss and no learning rate of a training that goes well comes near."""

STAGES = ("initial", "trained")
SNAPSHOTS = "snapshots/"


@dataclass(frozen=True, slots=True)
class Computed:
    """The snapshot of a build.

    Attributes
    ----------
    files
        Path in the snapshot folder -> content; all but `provenance.json`.
    claims
        Each claim's id, whether it holds, and its numbers.
    digest
        Identifies all of it.
    """

    files: Mapping[str, bytes]
    claims: tuple[Mapping[str, Any], ...]
    digest: str


@dataclass(frozen=True, slots=True)
class Computer:
    """Computes the stages of a preset, or finds them in the cache."""

    preset: Preset
    cache: Cache
    source: SourceCode
    progress: Progress

    def run(self) -> Computed:
        """Compute everything.

        Raises
        ------
        BuildError
            If the model misses a problem, or its training is not portable.
        """
        with self.progress.stage("train") as update:
            trained = self._train(update)
        _require_good_training(trained.facts["training"])
        with self.progress.stage("trace"):
            traces = self._after_training("trace", trained, _trace_files)
        with self.progress.stage("gradients"):
            gradients = self._after_training("gradients", trained, _gradient_files)
        with self.progress.stage("evidence"):
            evidence = self._evidence(trained)
        with self.progress.stage("claims"):
            claims = self._claims([trained, traces], evidence)
        with self.progress.stage("manifest"):
            return self._manifest([trained, traces, gradients, claims])

    def _train(self, update: Update) -> Result:
        steps = self.preset.training.steps

        def on_step(step: int, loss: float, correct: int) -> None:
            update(f"step {step} of {steps}, loss {loss:.4f}, {correct} correct")

        def compute() -> Result:
            import numpy as np

            from model import documents
            from model.train import train

            _use_one_thread()
            with np.errstate(all="ignore"):  # what overflows is reported below
                run = train(self.preset, on_step=on_step)
            _require_ordinary_training(run)
            files = [
                documents.dataset_file(),
                documents.training_file(run),
                *documents.weight_files(run, self.preset.model),
            ]
            facts = {
                "training": documents.training_figures(run, self.preset),
                "weights_sha256": documents.digests(run, self.preset.model),
            }
            return _result(files, facts)

        modules = ("model.train", "model.documents")
        return self.cache.get("train", self._ingredients(*modules), compute)

    def _after_training(self, stage: str, trained: Result, make: Any) -> Result:
        """Derive files from the initial and the trained weights."""

        def compute() -> Result:
            return _result(make(trained.files, self.preset))

        ingredients = self._ingredients("model.trace", "model.documents")
        return self.cache.get(stage, {**ingredients, "train": trained.digest}, compute)

    def _evidence(self, trained: Result) -> Result:
        def compute() -> Result:
            from model import evidence

            _use_one_thread()
            weights = _weights(trained.files, "trained")
            return Result({}, asdict(evidence.gather(weights, self.preset)))

        ingredients = {**self._ingredients("model.evidence"), "train": trained.digest}
        return self.cache.get("evidence", ingredients, compute)

    def _claims(self, numbers: list[Result], evidence: Result) -> Result:
        def compute() -> Result:
            from builder.claims import World, check_claims
            from model import documents
            from model.snapshot import Snapshot

            files = {path: data for result in numbers for path, data in result.files.items()}
            files["manifest.json"] = documents.manifest(
                self.preset, numbers[0].facts["training"], numbers[0].facts["weights_sha256"], []
            )
            world = World(Snapshot(Path(SNAPSHOTS), files), evidence.facts)
            claims = [asdict(result) for result in check_claims(world)]
            return _result([documents.claims_file(claims)], {"claims": claims})

        parts = enumerate([*numbers, evidence])
        ingredients = {
            **self._ingredients("builder.claims", "model.documents"),
            **{f"part {index}": result.digest for index, result in parts},
        }
        return self.cache.get("claims", ingredients, compute)

    def _manifest(self, parts: list[Result]) -> Computed:
        def compute() -> Result:
            from model import documents

            files = [
                documents.File(path, data, part.facts["numbers"][path])
                for part in parts
                for path, data in part.files.items()
            ]
            facts = parts[0].facts
            manifest = documents.manifest(
                self.preset, facts["training"], facts["weights_sha256"], files
            )
            return Result({"manifest.json": manifest})

        ingredients = {
            **self._ingredients("model.documents"),
            **{f"part {index}": part.digest for index, part in enumerate(parts)},
        }
        manifest = self.cache.get("manifest", ingredients, compute)
        files = {path: data for part in [*parts, manifest] for path, data in part.files.items()}
        return Computed(files, tuple(parts[-1].facts["claims"]), manifest.digest)

    def _ingredients(self, *modules: str) -> Ingredients:
        tools = ("torch", "numpy", "orjson")
        preset = digest(repr(self.preset))
        return {**self.source.ingredients(*modules, tools=tools), "preset": preset}


def _trace_files(files: Mapping[str, bytes], preset: Preset) -> Iterator[File]:
    from model import documents, trace

    for stage in STAGES:
        activations = trace.activations(_weights(files, stage), preset.model)
        yield from documents.trace_files(stage, activations, preset.model)


def _gradient_files(files: Mapping[str, bytes], preset: Preset) -> Iterator[File]:
    from model import documents, trace

    for stage in STAGES:
        gradients = trace.gradients(_weights(files, stage), preset.model)
        yield from documents.gradient_files(stage, gradients, preset.model)


def _use_one_thread() -> None:
    """Keep torch to one thread: the model is so small that a second one only gets in the way."""
    import torch

    torch.set_num_threads(1)


def _weights(files: Mapping[str, bytes], stage: str) -> Mapping[str, Any]:
    """Read weights back from their file: what is traced is exactly what is stored."""
    from model.snapshot import Snapshot

    return Snapshot(Path(SNAPSHOTS), files).weights(stage)


def _result(files: Iterable[File], facts: Mapping[str, Any] | None = None) -> Result:
    made = list(files)
    numbers = {file.path: file.numbers for file in made}
    return Result({file.path: file.data for file in made}, {**(facts or {}), "numbers": numbers})


def _require_ordinary_training(run: Run) -> None:
    steps = enumerate(zip(run.loss, run.learning_rate, strict=True))
    step = next((i for i, values in steps if not all(v < LARGEST for v in values)), None)
    if step is not None:
        hint = "choose a smaller `learning_rate` under `model` in content/site.yml"
        message = f"the training diverged: at step {step} the loss is {run.loss[step]:.3g}"
        raise BuildError(Diagnostic("content/site.yml", 0, 0, "training", message, hint))


def _require_good_training(training: Mapping[str, Any]) -> None:
    problems = len(task.PROBLEMS)
    if training["correct"] != problems:
        message = (
            f"with seed {training['seed']} and {training['steps']} steps the model gets "
            f"{training['correct']} of {problems} problems right"
        )
        hint = "choose another `seed`, or more `steps`, under `model` in content/site.yml"
        raise BuildError(Diagnostic("content/site.yml", 0, 0, "training", message, hint))
    if training["portability_margin"] < SMALLEST_MARGIN:
        message = (
            f"a gradient came within {training['portability_margin']:.1e} of a rounding boundary; "
            f"under {SMALLEST_MARGIN:.0e} another machine may train another model"
        )
        hint = "choose another `seed` or `gradient_grid` under `model` in content/site.yml"
        raise BuildError(Diagnostic("content/site.yml", 0, 0, "portability", message, hint))
