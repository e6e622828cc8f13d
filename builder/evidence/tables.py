"""The tables of evidence: which there are, and how they are stored with the code.

Nearly all take minutes to compute, so that each is committed as `model/tables/NAME.json` with the
fingerprint of what it was made by. A build reads it; only the commands `evidence` and `census`
compute it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builder.content.text_file import read_regular
from builder.errors import Diagnostic, UsageError
from builder.evidence import shapes
from builder.evidence.agreement import require_agreement
from builder.stages import digest
from model.config import PRESETS, Preset
from model.task import NAME

FOLDER = "model/tables"


@dataclass(frozen=True, slots=True)
class Table:
    """One table.

    Attributes
    ----------
    name
        Of its file, in `model/tables/` and in the snapshot's `evidence/`.
    modules
        What decides it, with all that they import.
    command
        What makes it anew.
    shape
        What it looks like, as `builder.evidence.shapes` says it.
    task
        What a site must be about to have it; empty if any may.
    preset
        Whose sizes and recipe it is about; empty for those of the site.
    require
        Raises `ValueError` where its numbers deny each other.
    """

    name: str
    modules: tuple[str, ...]
    command: str
    shape: Any
    task: str = NAME
    preset: str = ""
    require: Callable[[Mapping[str, Any]], None] | None = None

    @property
    def snapshot_path(self) -> str:
        """Its path in the snapshot."""
        return f"evidence/{self.name}.json"

    @property
    def shown_path(self) -> str:
        """Where it is stored, as seen from the project's root."""
        return f"{FOLDER}/{self.name}.json"

    def preset_of(self, site: Preset) -> Preset:
        """Whose sizes and recipe it is about, in a site of a preset."""
        return PRESETS[self.preset] if self.preset else site

    def is_of(self, site: Preset) -> bool:
        """Whether a site of a preset has it."""
        return self.task in ("", site.task)

    def path(self, folder: Path) -> Path:
        """Where it is stored."""
        return folder / f"{self.name}.json"


CONTROLS = Table("controls", ("model.controls",), "evidence controls", shapes.CONTROLS)
HELD_OUT = Table("held-out", ("model.held_out",), "evidence held-out", shapes.HELD_OUT)
RECALL = Table(
    "recall", ("model.recall_controls",), "evidence recall", shapes.RECALL, task="", preset="recall"
)
INTERVENTIONS = Table(
    "interventions", ("model.interventions",), "evidence interventions", shapes.INTERVENTIONS
)
SEEDS = Table("seeds", ("model.census",), "census", shapes.SEEDS)
CENSUS = Table(
    "census",
    ("builder.evidence.seed_claims",),
    "census",
    shapes.CENSUS,
    require=require_agreement,
)

OF_EVIDENCE: Mapping[str, Table] = {
    table.name: table for table in (CONTROLS, HELD_OUT, RECALL, INTERVENTIONS)
}
"""By name, the tables that the command `evidence` makes."""

TABLES = (*OF_EVIDENCE.values(), SEEDS, CENSUS)


@dataclass(frozen=True, slots=True)
class StoredTable:
    """A table as it is stored: what it was made by, and what it says."""

    fingerprint: str
    content: Mapping[str, Any]


def read_table(table: Table, folder: Path) -> StoredTable:
    """Read a stored table.

    Raises
    ------
    OSError, ValueError
        If there is none, or if the file holds something else; the latter says what is wrong.
    """
    try:
        document = json.loads(read_regular(table.path(folder)))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    shapes.require(document, {"fingerprint": str, "table": table.shape}, table.name)
    if table.require:
        table.require(document["table"])
    return StoredTable(document["fingerprint"], document["table"])


def write_table(table: Table, folder: Path, fingerprint: str, content: Mapping[str, Any]) -> Path:
    """Store a table in one step and return its file.

    Raises
    ------
    UsageError
        If something else stands in its place.
    """
    from model.encoding import encode

    path = table.path(folder)
    if (path.exists() and not path.is_file()) or not folder.parent.is_dir():
        message = "the table cannot be written here"
        hint = "run the command in the project's folder; move away what is in the file's place"
        raise UsageError(Diagnostic(str(path), 0, 0, "evidence", message, hint))
    folder.mkdir(exist_ok=True)
    new = path.with_name(f".{path.name}.new")
    new.write_bytes(encode({"fingerprint": fingerprint, "table": content}))
    new.replace(path)
    return path


def digest_of(records: Mapping[str, Mapping[str, Any]]) -> str:
    """Identify the stored weights that a census is about, by the content of `SEEDS`."""
    return digest("".join(str(record["weights"]) for record in records.values()))
