"""A small snapshot and a context for tests that render Markdown."""

from __future__ import annotations

import atexit
import dataclasses
import functools
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from builder.blocks.directive import Context
from builder.claims.result import ClaimResult
from builder.content.quiz_files import load_quizzes
from builder.content.site import Chapter, Language, Site
from builder.content.strings import Texts, load_texts
from builder.errors import Diagnostics
from builder.markdown import Rendered, render
from builder.numbers.lookup import Numbers
from builder.pages.minified import minified
from model import task
from model.config import PRESETS
from model.encoding import encode
from model.snapshot import Snapshot
from model.tensors import Vocabulary
from model.trace_files import gradient_files, trace_files
from model.train import train
from tests import toy_evidence

ROOT = Path(__file__).parents[1]
PRESET = PRESETS["multiplication"].override(steps=3, seed=8, learning_rate=1e-2)
PROBLEMS = ("7x8", "8x7", "7x0", "7x7")
LANGUAGES = (Language("zh", "中文", "", True), Language("en", "English", "en/", False))
CLAIMS = {
    "equals-row-identical": ClaimResult("equals-row-identical", True, {"max_difference": 0.0}),
    "never-true": ClaimResult("never-true", False, {"difference": 0.5, "n": 3}),
    "every-form": ClaimResult(
        "every-form", True, {"pairs": 4950, "change": -0.0268223, "error": 4.613228e-07}
    ),
    "head-found": ClaimResult("head-found", True, {"layer": 1, "head": 2}),
}
STATEMENTS = {
    "claim.head-found": "找到的是第 {head} 个头。",
    "claim.equals-row-identical": "“=”那一行处处相同。",
    "claim.never-true": "7 < 8 & 8 < 7",
    "claim.every-form": "数有各种写法。",
}
QUIZZED = Chapter("index", LANGUAGES[0], "zh/index.md", "一章", "一章", "", "7x8", "", 1)
"""A chapter that has the quiz of the fixtures."""
FILES = [
    {"path": "claims.json", "bytes": 1407, "numbers": 30},
    *(
        {"path": f"evidence/{name}.json", "bytes": 100, "numbers": 10}
        for name in toy_evidence.NAMES
    ),
    {"path": "traces/trained/7x0.json", "bytes": 31415, "numbers": 2992},
    {"path": "traces/trained/7x8.json", "bytes": 41415, "numbers": 3590},
    {"path": "training.json", "bytes": 27182, "numbers": 2409},
]
"""What the manifest lists: files, by path."""
DOMAINS = dict.fromkeys(Vocabulary(PRESET.model), 1.0)


@functools.cache
def snapshot_folder() -> Path:
    """Train three steps and write the files that figures read."""
    folder = Path(tempfile.mkdtemp(prefix="snapshot-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    run = train(PRESET)
    sizes = {**dataclasses.asdict(PRESET.model), "d_head": PRESET.model.d_head}
    manifest = {
        "schema": 1,
        "model": sizes,
        "training": {"final_loss": 2.5, "seed": 8},
        "weights_sha256": {"initial": "0f" * 32, "trained": "a1" * 32},
        "files": FILES,
    }
    _write(folder / "manifest.json", manifest)
    problems = [{"problem": p.name, "tokens": list(p.tokens)} for p in task.PROBLEMS]
    dataset = {"vocab": list(task.VOCAB), "problems": problems, "n_targets": 558}
    _write(folder / "dataset.json", dataset)
    training = {"loss": run.loss, "correct": run.correct, "checkpoints": sorted(run.checkpoints)}
    _write(folder / "training.json", training)
    for name, table in toy_evidence.tables(run.checkpoints[3], PRESET.model).items():
        _write(folder / f"evidence/{name}.json", table)
    for step, weights in run.checkpoints.items():
        _write(folder / f"weights/step-{step:04d}.json", {"step": step, "tensors": weights})
    for stage, step in (("initial", 0), ("trained", 3)):
        weights = run.checkpoints[step]
        _write(folder / f"weights/{stage}.json", {"step": step, "tensors": weights})
        for make in (trace_files, gradient_files):
            for file in make(stage, weights, PRESET.model):
                _store(folder / file.path, file.data)
    return folder


def _write(path: Path, document: dict[str, Any]) -> None:
    _store(path, encode(document))


def _store(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def numbers() -> Numbers:
    return Numbers(Snapshot(snapshot_folder()), CLAIMS, DOMAINS)


@functools.cache
def _shared() -> tuple[Site, Texts, Numbers]:
    chapters = {("zh", "index"): QUIZZED}
    quizzes = load_quizzes(ROOT / "tests/fixtures/content", LANGUAGES, chapters, Diagnostics())
    site = Site({}, {}, LANGUAGES, ["index"], "", PRESET, {}, chapters, quizzes)
    texts = load_texts(ROOT / "site_templates/strings.yml", LANGUAGES, Diagnostics())
    statements = dict.fromkeys(texts.strings, STATEMENTS)
    return site, texts | Texts(statements, {}), numbers()


def context(body: str, language: str = "zh", body_line: int = 1) -> Context:
    """A context for one rendering; the snapshot is shared by all of them."""
    site, texts, shared = _shared()
    spoken = {spoken.code: spoken for spoken in LANGUAGES}[language]
    chapter = Chapter("index", spoken, "zh/index.md", "", "", "", "7x8", body, body_line)
    return Context(
        chapter=chapter,
        site=site,
        texts=texts,
        numbers=shared,
        diagnostics=Diagnostics(),
        svg=lambda _figure_id, spec: f"<svg>{len(spec)}</svg>",
    )


def rendered(body: str, language: str = "zh", body_line: int = 1) -> tuple[Rendered, list[str]]:
    """Render a chapter; return it with its messages, without path and excerpt."""
    made = context(body, language, body_line)
    page = render(made)
    return page, [_message(str(d)) for d in made.diagnostics]


def html(body: str) -> str:
    """Render a chapter that must have no problems."""
    page, problems = rendered(body)
    assert problems == []
    return page.html


def problems(body: str) -> list[str]:
    """Render a chapter and return only its messages."""
    return rendered(body)[1]


def _message(text: str) -> str:
    lines = text.removeprefix("zh/index.md:").split("\n")
    return "\n".join([lines[0], *(line.strip() for line in lines if line.startswith("    hint: "))])


def minified_all(paths: Sequence[Path]) -> bytes:
    """Scripts as a build joins them."""
    return b"".join(minified(path.name, path.read_bytes()) for path in paths)
