"""The site of another seed, built as if its claims held: what the picker of seeds must show."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from builder import build as pipeline
from builder.build import Options, Project
from builder.compute import Computed
from builder.progress import Progress
from tests.projects import ROOT, copy_project
from tests.shared import once
from tests.site_build import BuiltSite

OTHER_SEED = 3
"""One that readers can choose, and for which claims fail; what they call a head is another head."""


@pytest.fixture(scope="session")
def other_site(
    site: BuiltSite,  # noqa: ARG001  # its build has filled the cache, and is done with it
    tmp_path_factory: pytest.TempPathFactory,
) -> BuiltSite:
    """Build the project's content with another seed, and believe every claim."""

    def build(folder: Path) -> None:
        root = copy_project(ROOT, folder / "project")
        config = root / "content/site.yml"
        model = "  preset: multiplication\n"
        text = config.read_text(encoding="utf-8")
        config.write_text(text.replace(model, f"{model}  seed: {OTHER_SEED}\n"), encoding="utf-8")
        compute = pipeline.compute

        def as_if_true(*arguments: Any) -> Computed:
            computed = compute(*arguments)
            claims = tuple(replace(claim, holds=True) for claim in computed.claims)
            return replace(computed, claims=claims, digest="as if its claims were true")

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(pipeline, "compute", as_if_true)
            pipeline.build(Project(root), Options(root / "dist"), Progress(is_quiet=True))

    return BuiltSite(once(tmp_path_factory, "other", build) / "project" / "dist")
