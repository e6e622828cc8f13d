"""The numbers: every snapshot file, each from its own cached stage.

What a number is, and how it is written, is decided in the modules that are ingredients of the
stages; here it is only said which stage needs what. A build meets torch here, and for the seeds to
choose in `builder.evidence.chosen`: only when a stage has to be computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from builder.claims.result import ClaimResult
from builder.code import SourceCode
from builder.evidence.chosen import ChosenSeeds
from builder.evidence.stored import StoredTables, warnings
from builder.evidence.tables import FOLDER, INTERVENTIONS
from builder.progress import Progress, Update
from builder.requirements import not_diverging, require_all_correct, require_portable
from builder.snapshot_files import MANIFEST, Computed, result_of, snapshot_of
from builder.stages import Cache, Result, Stored, digest
from model.config import Preset
from model.task import Task
from model.tasks import task_of

_TRAININGS = {"train": "the training", "evidence": "the training of the control"}
"""What is trained in which stage."""


@dataclass(frozen=True, slots=True)
class Computer:
    """Computes the stages of a preset, or finds them in the cache; `seeds` are those to choose."""

    preset: Preset
    cache: Cache
    source: SourceCode
    progress: Progress
    seeds: Sequence[int] = ()

    @property
    def evidence_folder(self) -> Path:
        """Where tables of evidence are stored: with the code that made them."""
        return self.source.root / FOLDER

    @property
    def _task(self) -> Task:
        return task_of(self.preset)

    def run(self) -> Computed:
        """Compute everything.

        Raises
        ------
        BuildError
            If the model misses a problem, or if the training of the model or of its control
            diverges or is not portable.
        """
        trained = self.train()
        with self.progress.stage("trace"):
            traces = self._trace(trained)
        with self.progress.stage("gradients"):
            gradients = self._gradients(trained)
        with self.progress.stage("tables"):
            tables = self._tables(trained)
            seeds = self._chosen(tables[0])
        claims = self._checked([trained, traces, gradients, *tables])
        with self.progress.stage("manifest"):
            computed = self._manifest([trained, traces, gradients, *tables, claims])
        return replace(computed, seeds=seeds)

    def train(self) -> Stored:
        """Train the model, or find it.

        Raises
        ------
        BuildError
            If it misses a problem, or if its training diverges or is not portable.
        """
        with self.progress.stage("train") as update:
            trained = self._train(update)
        training = trained.facts["training"]
        require_all_correct(training, len(self._task.problems))
        require_portable(_TRAININGS["train"], training["portability_margin"])
        return trained

    def _train(self, update: Update) -> Stored:
        steps = self.preset.training.steps

        def on_step(step: int, loss: float, correct: int) -> None:
            update(f"step {step} of {steps}, loss {loss:.4f}, {correct} correct")

        def compute() -> Result:
            from model.lessons import course_of
            from model.run_files import run_facts, run_files
            from model.train import train

            course = course_of(self.preset)
            run = train(self.preset, on_step=on_step, course=course)
            return result_of(run_files(run, self.preset), run_facts(run, self.preset))

        return self._with_torch("train", ["model.run_files"], [], compute)

    def _trace(self, trained: Stored) -> Stored:
        def compute() -> Result:
            from model.trace_files import every_stage, trace_files

            snapshot = snapshot_of([trained])
            config, problems = self.preset.model, self._task.problems
            return result_of(every_stage(trace_files, snapshot, config, problems))

        return self._with_torch("trace", ["model.trace_files"], [trained], compute)

    def _gradients(self, trained: Stored) -> Stored:
        def compute() -> Result:
            from model.trace_files import every_stage, gradient_files

            snapshot = snapshot_of([trained])
            config, problems = self.preset.model, self._task.problems
            return result_of(every_stage(gradient_files, snapshot, config, problems))

        return self._with_torch("gradients", ["model.trace_files"], [trained], compute)

    def _evidence(self, trained: Stored) -> Stored:
        def compute() -> Result:
            from model.evidence import gather

            snapshot = snapshot_of([trained])
            initial, weights = snapshot.weights("initial"), snapshot.weights("trained")
            return Result({}, asdict(gather(initial, weights, self.preset)))

        return self._with_torch(
            "evidence", ["model.evidence", "model.snapshot"], [trained], compute
        )

    def _checked(self, numbers: list[Stored]) -> Stored:
        """What came of every claim; of a task without evidence there is none."""
        if not self._task.has_evidence:
            return self._get("claims", ["model.documents"], [], _no_claims)
        with self.progress.stage("evidence"):
            evidence = self._evidence(numbers[0])
        require_portable(_TRAININGS["evidence"], evidence.facts["control_margin"])
        with self.progress.stage("claims"):
            return self._claims(numbers, evidence)

    def _claims(self, numbers: list[Stored], evidence: Stored) -> Stored:
        def compute() -> Result:
            from builder.claims.predicates import check_claims
            from builder.claims.tables import check_claims_of_tables
            from builder.claims.world import World
            from model.documents import claims_file

            training = numbers[0].facts["training"]
            world = World(snapshot_of(numbers), self.preset.model, training, evidence.facts)
            results = [*check_claims(world), *check_claims_of_tables(world)]
            claims = [asdict(result) for result in results]
            return result_of([claims_file(claims)], {"claims": claims})

        return self._get(
            "claims",
            ["builder.claims.predicates", "builder.claims.tables", "model.documents"],
            [*numbers, evidence],
            compute,
        )

    def _tables(self, trained: Stored) -> list[Stored]:
        """The stored tables of evidence; interventions in another model are made here."""
        weights_digest = trained.facts["weights_sha256"]["trained"]
        reader = StoredTables(self.preset, self.source, self.evidence_folder, weights_digest)
        tables = self.cache.get("tables", reader.ingredients(), reader.result)
        is_about_this = INTERVENTIONS.snapshot_path in tables.files
        if is_about_this or not INTERVENTIONS.is_of(self.preset):
            return [tables]
        return [tables, self._interventions(trained)]

    def _chosen(self, tables: Stored) -> Mapping[str, Any]:
        chosen = ChosenSeeds(self.preset, self.source, self.seeds, tables)
        return self.cache.get("seeds", chosen.ingredients(), chosen.result).facts

    def _interventions(self, trained: Stored) -> Stored:
        def compute() -> Result:
            from model.documents import File
            from model.interventions import intervene

            weights = snapshot_of([trained]).weights("trained")
            table = intervene(weights, self.preset.model)
            return result_of([File.of(INTERVENTIONS.snapshot_path, table)])

        return self._with_torch(
            "interventions", ["model.interventions", "model.documents"], [trained], compute
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
            return Result({MANIFEST: written})

        manifest = self._get("manifest", ["model.documents"], parts, compute)
        files = {path: data for part in [*parts, manifest] for path, data in part.files.items()}
        claims = tuple(ClaimResult(**claim) for claim in parts[-1].facts["claims"])
        problems = [problem for part in parts for problem in part.facts.get("problems", ())]
        return Computed(files, claims, manifest.digest, warnings(problems))

    def _with_torch(
        self, stage: str, modules: list[str], parts: list[Stored], compute: Callable[[], Result]
    ) -> Stored:
        """Get a stage that torch computes.

        On one thread: the model is so small that a second one only gets in the way.
        """

        def on_one_thread() -> Result:
            import torch

            torch.set_num_threads(1)
            with not_diverging(_TRAININGS.get(stage, stage)):
                return compute()

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


def _no_claims() -> Result:
    from model.documents import claims_file

    return result_of([claims_file([])], {"claims": []})
