"""On what the numbers of a build were made: for people who wonder, never compared."""

from __future__ import annotations

import json
import os
import platform
from importlib import metadata
from pathlib import Path

PACKAGES = ("torch", "numpy", "altair", "vl-convert-python", "markdown-it-py", "jinja2", "orjson")


def provenance() -> bytes:
    """Return `provenance.json`: versions, processor and number of threads."""
    document = {
        "python": platform.python_version(),
        "packages": {name: metadata.version(name) for name in PACKAGES},
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "threads": os.cpu_count(),
    }
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "") or platform.processor()  # the latter starts a process
