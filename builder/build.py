"""The pipeline on one screen: load -> compute -> render -> check -> write."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builder.code import SourceCode
from builder.compute import Computer
from builder.content.loader import load_site
from builder.content.site import Site
from builder.content.strings import Texts, load_texts
from builder.errors import BuildError, Diagnostic, Diagnostics, Location, UsageError
from builder.evidence.claimed import denied_claims, problems_of_tables
from builder.lock import LOCK, Verdict, compare_with_lock
from builder.output.exclusive import exclusively
from builder.output.folder import Output
from builder.progress import Progress
from builder.provenance import provenance
from builder.render import Renderer
from builder.snapshot_files import MANIFEST, PROVENANCE, SNAPSHOTS, Computed
from builder.stages import Cache, Event
from model.task import Task


@dataclass(frozen=True, slots=True)
class Project:
    """Where things are. The root is the folder that holds `content/` and `site_templates/`."""

    root: Path

    @property
    def content(self) -> Path:
        """The words."""
        return self.root / "content"

    @property
    def templates(self) -> Path:
        """What the browser gets."""
        return self.root / "site_templates"

    @property
    def cache(self) -> Path:
        """Results of stages."""
        return self.root / ".cache"

    @property
    def lock(self) -> Path:
        """The accepted numbers."""
        return self.root / LOCK

    @property
    def source(self) -> SourceCode:
        """The code that computes and renders."""
        return SourceCode(Path(__file__).resolve().parent.parent)

    def require_content(self) -> None:
        """Make sure, before anything is written or removed, that this is a project.

        Raises
        ------
        UsageError
            If it has no `content/`.
        """
        if not self.content.is_dir():
            message = "there is no folder `content` here"
            hint = "run the command in the project's folder"
            raise UsageError(Diagnostic(str(self.root.absolute()), 0, 0, "project", message, hint))


@dataclass(frozen=True, slots=True)
class Options:
    """What `build` is asked for: the folder, warnings as errors, and whether to use the cache."""

    out: Path
    is_strict: bool = False
    use_cache: bool = True
    on_event: Callable[[Event], None] = lambda _event: None


@dataclass(frozen=True, slots=True)
class Report:
    """What a build did.

    Attributes
    ----------
    verdict
        Whether the numbers are the locked ones.
    warnings
        Problems that did not stop it.
    is_changed
        False if the folder already held exactly this site.
    n_pages, n_claims
        How much there is.
    base_url
        Where the site will live, or empty.
    task
        What the model has learned.
    """

    verdict: Verdict
    warnings: tuple[Diagnostic, ...]
    is_changed: bool
    n_pages: int
    n_claims: int
    base_url: str
    task: Task


def build(project: Project, options: Options, progress: Progress) -> Report:
    """Build the site.

    Raises
    ------
    BuildError
        With everything that is wrong; the output folder is then as it was before.
    """
    project.require_content()
    with exclusively(progress, project.root, options.out), storing(project.cache):
        return _build(project, options, progress)


@contextmanager
def storing(cache: Path) -> Iterator[None]:
    """Say where a full disk is met: the system names no file that it cannot write to the end."""
    try:
        yield
    except OSError as error:
        if error.filename is not None:
            raise
        message = f"results cannot be stored: {error.strerror or error}"
        hint = "the output folder is as it was before"
        raise BuildError(Diagnostic(str(cache), 0, 0, "cache", message, hint)) from error


def _build(project: Project, options: Options, progress: Progress) -> Report:
    diagnostics = Diagnostics()
    output = Output(options.out)
    _refuse_sources(project, options.out)
    cache = Cache(project.cache, options.use_cache, options.on_event)
    cache.prepare()
    with progress.stage("load"):
        site, texts = load(project, diagnostics)
        diagnostics.raise_if_fatal(strict=options.is_strict)

    computed = compute(project, site, cache, progress)
    diagnostics.extend(problems_of_tables(computed, texts))
    diagnostics.raise_if_fatal(strict=options.is_strict)
    renderer = Renderer(
        site, texts, computed, project.templates, project.source, cache, diagnostics
    )
    with progress.stage("pages"):
        pages = renderer.pages()
    diagnostics.extend(denied_claims(computed, texts, renderer.citations))
    with progress.stage("assets"):
        assets = renderer.assets()
    output.add_all(pages)
    output.add_all(assets)
    output.add_all(computed.files, SNAPSHOTS)
    output.add(SNAPSHOTS + PROVENANCE, provenance())
    renderer.check_links(output.files)
    diagnostics.raise_if_fatal(strict=options.is_strict)
    verdict = compare_with_lock(project.lock, manifest_of(computed))

    with progress.stage("write"):
        is_changed = output.publish()
    n_pages = sum(path.endswith(".html") for path in pages)
    return Report(
        verdict,
        tuple(diagnostics),
        is_changed,
        n_pages,
        len(computed.claims),
        site.base_url,
        site.task,
    )


def _refuse_sources(project: Project, out: Path) -> None:
    """Refuse to write the site among what it is made from, such as in a new `content/dist`."""
    for folder in (project.content, project.templates, project.cache):
        if out.resolve().is_relative_to(folder.resolve()):
            message = f"a site cannot stand in `{folder.name}`, which it is made from"
            hint = "choose another folder with --out"
            raise UsageError(Diagnostic(str(out), 0, 0, "output-folder", message, hint))


def load(project: Project, diagnostics: Diagnostics) -> tuple[Site, Texts]:
    """Read the configuration, the chapters and the words of the interface.

    Raises
    ------
    BuildError
        If there is nothing to go on with.
    """
    site = load_site(project.content, diagnostics)
    words, sentences = project.templates / "strings.yml", project.content / "claims.yml"
    interface = load_texts(words, site.languages, diagnostics)
    claims = load_texts(sentences, site.languages, diagnostics, only="claim")
    return site, interface | claims


def compute(project: Project, site: Site, cache: Cache, progress: Progress) -> Computed:
    """Compute the numbers of a site.

    Raises
    ------
    BuildError
        If there is no such model; at the field of `content/site.yml` that the hint names first, or
        else at the section `model`.
    """
    try:
        return Computer(site.preset, cache, project.source, progress, site.seeds).run()
    except BuildError as error:
        located = (_located(found, site.locations) for found in error.diagnostics)
        raise type(error)(*located) from error


def _located(found: Diagnostic, locations: Mapping[str, Location]) -> Diagnostic:
    if found.line or found.path != locations["model"].path:
        return found
    named = (name for name in re.findall(r"`(\w+)`", found.hint) if name in locations)
    return locations[next(named, "model")].problem(found.rule, found.message, found.hint)


def manifest_of(computed: Computed) -> Mapping[str, Any]:
    """Return the parsed manifest of a computed snapshot."""
    manifest: Mapping[str, Any] = json.loads(computed.files[MANIFEST])
    return manifest
