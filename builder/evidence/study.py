"""Computing the tables of evidence, for the commands `evidence` and `census`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builder.code import SourceCode
from builder.evidence import seed_claims
from builder.evidence.fingerprint import fingerprint
from builder.evidence.jobs import Job, Jobs, chunks
from builder.evidence.stored import damaged_weights
from builder.evidence.tables import (
    CENSUS,
    CONTROLS,
    HELD_OUT,
    INTERVENTIONS,
    RECALL,
    SEEDS,
    Table,
    digest_of,
    read_table,
    write_table,
)
from builder.evidence.workers import Call
from builder.progress import Update
from builder.stages import digest
from model.config import Preset

N_SEEDS, N_SPLITS, N_RECALL_SEEDS = 20, 20, 10
"""Seeds of each control, splits into known and held-out problems, and seeds of each on recall."""

CONTROLS_AT_ONCE, CLAIMS_AT_ONCE = 5, 4
"""Size of a piece: small enough to lose little, large enough to be worth sending."""

RECALLED = ("full", "fixed_table")
"""Controls that are asked to recall."""

ALMOST_ALL = 0.99
"""A seed that gets more than this share of new sequences right has solved recall."""


@dataclass(frozen=True, slots=True)
class Study:
    """Computes tables and stores them in a folder, each with its fingerprint."""

    preset: Preset
    source: SourceCode
    jobs: Jobs
    folder: Path

    def controls(self, tell: Update) -> Path:
        """Train every control again from each seed."""
        from model.controls import BY_NAME, summary

        asked = [
            (name, seeds) for name in BY_NAME for seeds in chunks(range(N_SEEDS), CONTROLS_AT_ONCE)
        ]
        parts = self._results(CONTROLS, "model.controls:train_control", asked, tell)
        content = {
            name: summary([part for (of, _), part in zip(asked, parts, strict=True) if of == name])
            for name in BY_NAME
        }
        return self._write(CONTROLS, content)

    def held_out(self, tell: Update) -> Path:
        """Train on ninety problems, ask the other ten, split by split."""
        from model.held_out import summary

        asked = [(numbers,) for numbers in chunks(range(N_SPLITS), CONTROLS_AT_ONCE)]
        parts = self._results(HELD_OUT, "model.held_out:train_splits", asked, tell)
        return self._write(HELD_OUT, summary([split for part in parts for split in part]))

    def recall(self, tell: Update) -> Path:
        """Train controls on recall, from each seed."""
        from model.recall_controls import summary

        asked = [(name, (seed,)) for name in RECALLED for seed in range(N_RECALL_SEEDS)]
        parts = self._results(RECALL, "model.recall_controls:train_recall", asked, tell)
        found = list(zip(asked, parts, strict=True))
        content = {}
        for name in RECALLED:
            rows = [row for (of, _), (row,) in found if of == name]
            solved = sum(row["right"] > ALMOST_ALL for row in rows)
            content[name] = {"solved": solved, **summary(rows)}
        return self._write(RECALL, content)

    def interventions(self, weights: Mapping[str, Any], weights_digest: str) -> Path:
        """Intervene in the trained model."""
        call = Call("model.interventions:intervene", (weights, self.preset.model))
        content = call.run()  # a second: not worth sending away
        return self._write(INTERVENTIONS, content, weights_digest)

    def census(self, seeds: Sequence[int], tell: Update) -> tuple[Path, Path]:
        """Train seeds, and check every claim for each of them."""
        records = self._trained(seeds, tell)
        weights = self._write(SEEDS, records)
        asked = [
            ({str(seed): records[str(seed)] for seed in part},)
            for part in chunks(seeds, CLAIMS_AT_ONCE)
        ]
        function = "builder.evidence.seed_claims:claims_of_seeds"
        parts = self._results(CENSUS, function, asked, lambda state: tell(f"claims, {state}"))
        claims = {seed: results for part in parts for seed, results in part.items()}
        return weights, self._write(CENSUS, seed_claims.table(claims), digest_of(records))

    def stored_seeds(self) -> list[int]:
        """Those whose weights are stored, be they of other code; none if the table is damaged."""
        try:
            return list(map(int, read_table(SEEDS, self.folder).content))
        except (OSError, ValueError):
            return []

    def _trained(self, seeds: Sequence[int], tell: Update) -> dict[str, Any]:
        """Take the stored weights of seeds that have them from this very code, train the others."""
        from model.together import CHUNK

        known = self._known(tell)
        missing = [seed for seed in seeds if str(seed) not in known]
        asked = [(part,) for part in chunks(missing, CHUNK)]
        function = "model.census:train_seeds"
        for part in self._results(SEEDS, function, asked, lambda state: tell(f"training, {state}")):
            known |= part
        return {str(seed): known[str(seed)] for seed in seeds}

    def _known(self, tell: Update) -> dict[str, Any]:
        """The stored seeds; none if they are of other code, or damaged, which is said."""
        try:
            stored = read_table(SEEDS, self.folder)
            if stored.fingerprint != self._fingerprint(SEEDS):
                return {}
            if damage := damaged_weights(stored.content, self.preset.model):
                raise ValueError(damage)
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            tell(f"{SEEDS.path(self.folder)} is damaged, all is trained anew: {error}")
            return {}
        return dict(stored.content)

    def _results(
        self, table: Table, function: str, asked: Sequence[tuple[Any, ...]], tell: Update
    ) -> list[Any]:
        recipe = table.preset_of(self.preset).override(seed=0)  # each piece names its own seeds
        jobs = [
            Job(
                f"evidence/{table.name}-{digest(repr(arguments))[:12]}",
                table.modules,
                Call(function, (recipe, *arguments)),
            )
            for arguments in asked
        ]
        return self.jobs.results(jobs, tell)

    def _fingerprint(self, table: Table, subject: str = "") -> str:
        preset = table.preset_of(self.preset)
        return fingerprint(self.source, table.modules, preset, subject)

    def _write(self, table: Table, content: Mapping[str, Any], subject: str = "") -> Path:
        return write_table(table, self.folder, self._fingerprint(table, subject), content)
