"""The numbers: every snapshot file, each from its own cached stage.

What a number is, and how it is written, is decided in the modules that are ingredients of the
stages; here it is only said which stage needs what. This is the one place where the builder meets
torch, and only when a stage has to be computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from builder.claims.result import ClaimResult
from builder.code import SourceCode
from builder.errors import BuildError, Diagnostic
from builder.progress import Progress, Update
from builder.stages import Cache, Result, Stored, digest
from model import task
from model.config import Preset

if TYPE_CHECKING:
    from model.documents import File
    from model.snapshot import Snapshot

SMALLEST_MARGIN = 1e-14
"""A training whose gradients come closer than this to a rounding boundary is not portable."""

SNAPSHOTS = "snapshots/"
_TRAININGS = {"train": "the training", "evidence": "the training of the control"}
"""What is trained in which stage."""


@dataclass(frozen=True, slots=True)
class Computed:
    """The snapshot of a build.

    Attributes
    ----------
    files
        Path in the snapshot folder -> content; all but `provenance.json`.
    claims
        What came of every claim.
    digest
        Identifies all of it.
    """

    files: Mapping[str, bytes]
    claims: tuple[ClaimResult, ...]
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
            If the model misses a problem, or if the training of the model or of its control
            diverges or is not portable.
        """
        with self.progress.stage("train") as update:
            trained = self._train(update)
        training = trained.facts["training"]
        _require_all_correct(training)
        _require_portable(_TRAININGS["train"], training["portability_margin"])
        with self.progress.stage("trace"):
            traces = self._trace(trained)
        with self.progress.stage("gradients"):
            gradients = self._gradients(trained)
        with self.progress.stage("evidence"):
            evidence = self._evidence(trained)
        _require_portable(_TRAININGS["evidence"], evidence.facts["control_margin"])
        with self.progress.stage("claims"):
            claims = self._claims([trained, traces, gradients], evidence)
        with self.progress.stage("manifest"):
            return self._manifest([trained, traces, gradients, claims])

    def _train(self, update: Update) -> Stored:
        steps = self.preset.training.steps

        def on_step(step: int, loss: float, correct: int) -> None:
            update(f"step {step} of {steps}, loss {loss:.4f}, {correct} correct")

        def compute() -> Result:
            from model.run_files import run_facts, run_files
            from model.train import train

            run = train(self.preset, on_step=on_step)
            return _result(run_files(run, self.preset.model), run_facts(run, self.preset))

        return self._with_torch("train", ["model.run_files"], [], compute)

    def _trace(self, trained: Stored) -> Stored:
        def compute() -> Result:
            from model.trace_files import every_stage, trace_files

            snapshot = _snapshot([trained])
            return _result(every_stage(trace_files, snapshot, self.preset.model))

        return self._with_torch("trace", ["model.trace_files"], [trained], compute)

    def _gradients(self, trained: Stored) -> Stored:
        def compute() -> Result:
            from model.trace_files import every_stage, gradient_files

            snapshot = _snapshot([trained])
            return _result(every_stage(gradient_files, snapshot, self.preset.model))

        return self._with_torch("gradients", ["model.trace_files"], [trained], compute)

    def _evidence(self, trained: Stored) -> Stored:
        def compute() -> Result:
            from model.evidence import gather

            snapshot = _snapshot([trained])
            initial, weights = snapshot.weights("initial"), snapshot.weights("trained")
            return Result({}, asdict(gather(initial, weights, self.preset)))

        return self._with_torch(
            "evidence", ["model.evidence", "model.snapshot"], [trained], compute
        )

    def _claims(self, numbers: list[Stored], evidence: Stored) -> Stored:
        def compute() -> Result:
            from builder.claims.predicates import check_claims
            from builder.claims.world import World
            from model.documents import claims_file

            training = numbers[0].facts["training"]
            world = World(_snapshot(numbers), self.preset.model, training, evidence.facts)
            claims = [asdict(result) for result in check_claims(world)]
            return _result([claims_file(claims)], {"claims": claims})

        return self._get(
            "claims",
            ["builder.claims.predicates", "model.documents"],
            [*numbers, evidence],
            compute,
        )

    def _manifest(self, parts: list[Stored]) -> Computed:
        facts = parts[0].facts

        def compute() -> Result:
            from model.documents import File, manifest

            files = [
                File(path, data, part.facts["numbers"][path])
                for part in parts
                for path, data in part.files.items()
            ]
            written = manifest(self.preset, facts["training"], facts["weights_sha256"], files)
            return Result({"manifest.json": written})

        manifest = self._get("manifest", ["model.documents"], parts, compute)
        files = {path: data for part in [*parts, manifest] for path, data in part.files.items()}
        claims = tuple(ClaimResult(**claim) for claim in parts[-1].facts["claims"])
        return Computed(files, claims, manifest.digest)

    def _with_torch(
        self, stage: str, modules: list[str], parts: list[Stored], compute: Callable[[], Result]
    ) -> Stored:
        """Get a stage that torch computes.

        On one thread: the model is so small that a second one only gets in the way.
        """

        def on_one_thread() -> Result:
            import torch

            from model.train import DivergenceError

            torch.set_num_threads(1)
            try:
                return compute()
            except DivergenceError as error:
                raise BuildError(_divergence(_TRAININGS[stage], str(error))) from error

        return self._get(stage, modules, parts, on_one_thread)

    def _get(
        self, stage: str, modules: list[str], parts: list[Stored], compute: Callable[[], Result]
    ) -> Stored:
        """Get a stage that these modules decide, and the results it starts from."""
        ingredients = {
            **self.source.ingredients(*modules, tools=("torch", "numpy", "orjson")),
            "preset": digest(repr(self.preset)),
            **{f"part {index}": part.digest for index, part in enumerate(parts)},
        }
        return self.cache.get(stage, ingredients, compute)


def _snapshot(parts: Iterable[Stored]) -> Snapshot:
    """Read numbers back from their files: what is built on is exactly what is stored."""
    from model.snapshot import Snapshot

    files = {path: data for part in parts for path, data in part.files.items()}
    return Snapshot(Path(SNAPSHOTS), files)


def _result(files: Iterable[File], facts: Mapping[str, Any] | None = None) -> Result:
    made = list(files)
    numbers = {file.path: file.numbers for file in made}
    return Result({file.path: file.data for file in made}, {**(facts or {}), "numbers": numbers})


def _divergence(training: str, reason: str) -> Diagnostic:
    hint = "choose a smaller `learning_rate` under `model` in content/site.yml"
    return Diagnostic("content/site.yml", 0, 0, "training", f"{training} diverged: {reason}", hint)


def _require_all_correct(training: Mapping[str, Any]) -> None:
    problems = len(task.PROBLEMS)
    if training["correct"] != problems:
        message = (
            f"with seed {training['seed']} and {training['steps']} steps the model gets "
            f"{training['correct']} of {problems} problems right"
        )
        hint = "choose another `seed`, or more `steps`, under `model` in content/site.yml"
        raise BuildError(Diagnostic("content/site.yml", 0, 0, "training", message, hint))


def _require_portable(training: str, margin: float) -> None:
    """Refuse a training whose gradients come too close to where rounding could go two ways."""
    if margin < SMALLEST_MARGIN:
        message = (
            f"in {training} a gradient came within {margin:.1e} of a rounding boundary; "
            f"under {SMALLEST_MARGIN:.0e} another machine may train another model"
        )
        hint = "choose another `seed` or `gradient_grid` under `model` in content/site.yml"
        raise BuildError(Diagnostic("content/site.yml", 0, 0, "portability", message, hint))
