"""The stored tables of evidence, read straight from their files."""

from __future__ import annotations

import json
from typing import Any

from builder.evidence.tables import FOLDER
from tests.projects import ROOT

STORED = ROOT / FOLDER


def content(name: str) -> Any:
    """What a table says."""
    return json.loads((STORED / f"{name}.json").read_bytes())["table"]
