"""What a build takes from the stored tables of evidence, and what it has to say about them."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builder.code import SourceCode
from builder.errors import Diagnostic
from builder.evidence.fingerprint import fingerprint
from builder.evidence.tables import (
    CENSUS,
    INTERVENTIONS,
    SEEDS,
    TABLES,
    StoredTable,
    Table,
    digest_of,
    read_table,
)
from builder.snapshot_files import result_of
from builder.stages import Ingredients, Result, digest
from model.config import ModelConfig, Preset


@dataclass(frozen=True, slots=True)
class StoredTables:
    """Reads the tables for one trained model.

    Attributes
    ----------
    preset, source, folder
        The model with its recipe, the code, and where tables are stored.
    weights_digest
        SHA-256 of the trained weights' bytes.
    """

    preset: Preset
    source: SourceCode
    folder: Path
    weights_digest: str

    def ingredients(self) -> Ingredients:
        """Everything that decides what is read."""
        tables = self._tables
        modules = [module for table in tables for module in table.modules]
        return {
            **self.source.ingredients(*modules, "builder.evidence.stored"),
            "preset": digest(repr(self.preset)),
            "weights": self.weights_digest,
            **{table.name: _digest(table.path(self.folder)) for table in tables},
        }

    def result(self) -> Result:
        """Return the tables as files of the snapshot; the facts say which are not as they should.

        A table of other code or another recipe is passed on with a warning; one that is missing or
        damaged is not there. A census is not compared where the weights that it is about are
        damaged, or not there. Interventions are about one model, and left out for any other: they
        take a second to compute.
        """
        from model.documents import File

        files: list[File] = []
        problems: list[list[str]] = []
        subjects: dict[str, str | None] = dict.fromkeys((table.name for table in TABLES), "")
        subjects |= {INTERVENTIONS.name: self.weights_digest, CENSUS.name: None}
        for table in self._tables:
            stored, problem = self._read(table, subjects[table.name])
            if table == SEEDS and stored:
                damage = "" if problem else damaged_weights(stored.content, self.preset.model)
                problem = problem or damage or self._other_weights(stored.content)
                subjects[CENSUS.name] = None if damage else digest_of(stored.content)
            if table == INTERVENTIONS and problem:
                continue
            if problem:
                problems.append([table.name, problem])
            if stored:
                files.append(File.of(table.snapshot_path, stored.content))
        return result_of(files, {"problems": problems})

    @property
    def _tables(self) -> list[Table]:
        return [table for table in TABLES if table.is_of(self.preset)]

    def _read(self, table: Table, subject: str | None) -> tuple[StoredTable | None, str]:
        """The table, and what is wrong with it; without a subject it is not compared."""
        try:
            stored = read_table(table, self.folder)
        except FileNotFoundError:
            return None, "this table of evidence is not there"
        except (OSError, ValueError) as error:
            return None, f"this table of evidence is damaged: {error}"
        if subject is None:
            return stored, ""
        preset = table.preset_of(self.preset)
        expected = fingerprint(self.source, table.modules, preset, subject)
        other = "this table was made by other code, sizes, recipe or weights than are here now"
        if table == CENSUS:
            other += f"; the weights are those in {SEEDS.shown_path}"
        return stored, "" if stored.fingerprint == expected else other

    def _other_weights(self, records: Mapping[str, Any]) -> str:
        """Compare the stored weights of the site's own seed with those that it has trained."""
        seed = self.preset.training.seed
        record = records.get(str(seed))
        if record is None or _digest_of_packed(record["weights"]) == self.weights_digest:
            return ""
        return f"the weights stored for seed {seed} are not those that this training has made"


def damaged_weights(records: Mapping[str, Any], config: ModelConfig) -> str:
    """Return which is the first seed whose stored weights are not those of a whole model."""
    from model.packed import unpacked

    for seed, record in records.items():
        try:
            unpacked(record["weights"], config)
        except ValueError as error:
            return f"the weights stored for seed {seed} are damaged: {error}"
    return ""


def warnings(problems: list[list[str]]) -> tuple[Diagnostic, ...]:
    """Return what is to be said of tables that are not as they should be."""
    tables = {table.name: table for table in TABLES}
    return tuple(_warning(tables[name], message) for name, message in problems)


def _warning(table: Table, message: str) -> Diagnostic:
    hint = f"`python -m builder {table.command}` makes it anew; README says how long that takes"
    return Diagnostic(table.shown_path, 0, 0, "stale-evidence", message, hint, severity="warning")


def _digest_of_packed(weights: str) -> str:
    """What `model.encoding.weights_sha256` says of the same weights: the bytes are the same."""
    return digest(base64.b64decode(weights, validate=True))


def _digest(path: Path) -> str:
    return digest(path.read_bytes()) if path.is_file() else "missing"
