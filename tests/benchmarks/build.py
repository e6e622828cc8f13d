"""How fast the builder is, as ratios and seconds measured in one run.

    python tests/benchmarks/build.py [--rounds N] [--only NAME ...]

Each figure is the median of several rounds. Things that are compared run in turn, in processes of
their own, so that a busy machine slows both. Exit code 1 if a limit is exceeded.
"""

from __future__ import annotations

import gzip
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from figures import ROOT, Benchmark, Figure, main

N_CHAPTERS = 500
CHAPTER_BYTES = 8_000

BARE_TRAINING = """
import altair, torch
from model.config import PRESETS
from model.train import train
torch.set_num_threads(1)
train(PRESETS["multiplication"])
"""

BARE_PAGES = """
import sys
from pathlib import Path
import jinja2
from markdown_it import MarkdownIt
source, out = map(Path, sys.argv[1:])
markdown = MarkdownIt("commonmark").enable("table")
page = jinja2.Template("<!doctype html><title>{{ title }}</title><main>{{ body }}</main>")
for path in sorted(source.glob("*.md")):
    text = path.read_text(encoding="utf-8").split("---", 2)[2]
    html = page.render(title=path.stem, body=markdown.render(text))
    (out / f"{path.stem}.html").write_text(html, encoding="utf-8")
"""


def run(arguments: list[str], cwd: Path) -> float:
    """Run a Python command and return its seconds, interpreter start included."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=environment, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)} failed:\n{done.stderr[-2000:]}")
    return time.perf_counter() - started


def build(project: Path, *options: str) -> float:
    """Build a project and return the seconds it took."""
    return run(["-m", "builder", "build", "--quiet", *options], project)


@contextmanager
def project() -> Iterator[Path]:
    """A copy of the project's sources in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        for name in ("content", "site_templates"):
            shutil.copytree(ROOT / name, Path(folder, name))
        yield Path(folder)


def cold_build(rounds: int) -> Iterator[Figure]:
    """Everything from nothing, against the bare training loop and the imports it cannot avoid."""
    with project() as folder:
        pairs = [
            (build(folder, "--no-cache"), run(["-c", BARE_TRAINING], folder)) for _ in range(rounds)
        ]
    ratio = statistics.median(whole / bare for whole, bare in pairs)
    yield Figure("cold build / (bare training + imports)", ratio, 3, "times")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024**2
    yield Figure("peak memory of a cold build", peak, 1.5, "GB")


def warm_build(rounds: int) -> Iterator[Figure]:
    """Nothing changed, then one sentence, then one item of a quiz."""
    with project() as folder:
        build(folder)
        unchanged = [build(folder) for _ in range(rounds)]
        chapter = folder / "content" / "zh" / "isolated-rows.md"
        text = chapter.read_text(encoding="utf-8")
        edited = []
        for edition in range(rounds):
            chapter.write_text(f"{text}\n改了一句，第 {edition} 版。\n", encoding="utf-8")
            edited.append(build(folder))
        quiz = folder / "content" / "zh" / "quiz" / "scores.yml"
        items = quiz.read_text(encoding="utf-8")
        asked = []
        for edition in range(rounds):
            quiz.write_text(items.replace("忘了除以", f"忘了（{edition}）除以"), encoding="utf-8")
            asked.append(build(folder))
    yield Figure("warm build, nothing changed", statistics.median(unchanged), 0.6, "s")
    yield Figure("warm build, one sentence changed", statistics.median(edited), 1.0, "s")
    yield Figure("warm build, one item of a quiz changed", statistics.median(asked), 0.6, "s")


def many_chapters(rounds: int) -> Iterator[Figure]:
    """Many chapters without charts, against Markdown and templates alone."""
    ratios, unchanged, seconds = [], [], {}
    for n_chapters in (N_CHAPTERS // 2, N_CHAPTERS):
        with project() as folder:
            build(folder)
            write_chapters(folder / "content", n_chapters)
            bare_out = folder / "bare"
            bare_out.mkdir()
            times = []
            for round_ in range(rounds):
                pages = folder / ".cache" / "pages"
                # Aside, not away: ext4 is slow to make files where many have just been deleted.
                pages.rename(folder / f"pages-before-{round_}")
                times.append(build(folder))
                bare = run(["-c", BARE_PAGES, str(folder / "content" / "zh"), "bare"], folder)
                if n_chapters == N_CHAPTERS:
                    ratios.append(times[-1] / bare)
                    unchanged.append(build(folder))
            seconds[n_chapters] = statistics.median(times)
    yield Figure(
        f"{N_CHAPTERS} chapters / (markdown-it-py + jinja2)", statistics.median(ratios), 2, "times"
    )
    yield Figure(f"{N_CHAPTERS} chapters, nothing changed", statistics.median(unchanged), 1.0, "s")
    growth = seconds[N_CHAPTERS] / seconds[N_CHAPTERS // 2]
    yield Figure("twice the chapters, times the time", growth, 2.2, "times")


def write_chapters(content: Path, n_chapters: int) -> None:
    """Replace the chapters and their quizzes by generated Chinese chapters of about 8 kB."""
    source = (content / "zh" / "isolated-rows.md").read_text(encoding="utf-8")
    prose = re.sub(r"^::+.*?^::+$\n", "", source.split("---", 2)[2], flags=re.MULTILINE | re.DOTALL)
    prose = re.sub(r"\{(?:value|claim)\}`[^`]*`| \{#[\w-]+\}|\[([^\]]*)\]\([^)]*\)", r"\1", prose)
    paragraphs = [p.strip() for p in prose.split("\n\n")]
    paragraphs = [p for p in paragraphs if p and not p.startswith((":", "#"))]
    names = ["index", *(f"chapter-{number}" for number in range(1, n_chapters))]
    for path in content.glob("*/*.md"):
        path.unlink()
    shutil.rmtree(content / "zh" / "quiz")
    for number, name in enumerate(names):
        parts, size, section = [], 0, 0
        while size < CHAPTER_BYTES:
            section += 1
            part = f"## 第 {section} 节 {{#section-{section}}}\n\n" + "\n\n".join(paragraphs[:6])
            parts.append(part)
            size += len(part.encode())
        text = f"---\ntitle: 第 {number} 章\n---\n\n" + "\n\n".join(parts) + "\n"
        (content / "zh" / f"{name}.md").write_text(text, encoding="utf-8")
    config = (content / "site.yml").read_text(encoding="utf-8")
    config = config.replace("  - {code: en, name: English, state: in progress}\n", "")
    config = re.sub(r"\n  en: .*", "", config)
    listed = "chapters:\n" + "".join(f"  - {name}\n" for name in names)
    config = re.sub(r"chapters:\n(?:  - .*\n)+", listed, config)
    (content / "site.yml").write_text(config, encoding="utf-8")


def page_weight(_rounds: int) -> Iterator[Figure]:
    """What the heaviest page loads, compressed, without Vega, which comes on demand."""
    with project() as folder:
        build(folder)
        pages = [path for path in (folder / "dist").rglob("*.html") if path.name != "404.html"]
        heaviest = max(sum(map(compressed, [page, *loaded_by(page)])) for page in pages)
    yield Figure("heaviest page with all that it loads, gzipped", heaviest / 1000, 150, "kB")


def loaded_by(page: Path) -> Iterator[Path]:
    """Styles, scripts and icons of a page, and the fonts of its styles."""
    text = page.read_text(encoding="utf-8")
    for reference in re.findall(
        r'<(?:link rel="(?:stylesheet|icon)"[^>]*href|script[^>]*src)="([^"]+)"', text
    ):
        path = (page.parent / reference).resolve()
        yield path
        if path.suffix == ".css":
            for font in re.findall(r"url\([\"']?([^)\"']+)", path.read_text(encoding="utf-8")):
                yield (path.parent / font).resolve()


def compressed(path: Path) -> int:
    """Return a file's size as it travels: gzip, except for what is compressed already."""
    data = path.read_bytes()
    return len(data if path.suffix == ".woff2" else gzip.compress(data))


BENCHMARKS: dict[str, Benchmark] = {
    "cold": cold_build,
    "warm": warm_build,
    "chapters": many_chapters,
    "weight": page_weight,
}


if __name__ == "__main__":
    sys.exit(main(__doc__.splitlines()[0], BENCHMARKS, rounds=5))
