"""The stored tables of evidence, read straight from their files, and copies of them damaged."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from builder.evidence.tables import FOLDER
from tests.projects import ROOT

STORED = ROOT / FOLDER


def content(name: str) -> Any:
    """What a table says."""
    return json.loads((STORED / f"{name}.json").read_bytes())["table"]


def put(*place: str | int, value: object) -> Callable[[Path], None]:
    """Return what puts another value into a stored document; `...` takes the name away."""

    def spoil(path: Path) -> None:
        document = found = json.loads(path.read_bytes())
        for name in place[:-1]:
            found = found[name]
        if value is ...:
            del found[place[-1]]
        else:
            found[place[-1]] = value
        path.write_text(json.dumps(document), encoding="utf-8")

    return spoil
