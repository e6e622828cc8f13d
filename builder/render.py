"""Chapters to pages, each from its own cached stage, and the files that pages load."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from builder.code import SourceCode
from builder.content.site import Chapter, Language, Site
from builder.content.strings import Texts
from builder.content.text_file import read_regular
from builder.errors import Diagnostics, Location
from builder.findings import Findings, citations, dangling_links, facts
from builder.quizzes import Quizzes
from builder.short_scripts import short_scripts
from builder.snapshot_files import SNAPSHOTS, Computed
from builder.stages import Cache, Ingredients, Result, Stored, digest

if TYPE_CHECKING:
    from builder.blocks.directive import Context
    from builder.numbers.lookup import Numbers
    from builder.pages.templates import Pages
    from model.snapshot import Snapshot

CHART_TOOLS = ("altair", "vl-convert-python", "orjson")
PAGE_TOOLS = ("jinja2", "markdown-it-py", "mdit-py-plugins", "math-core", "numpy", "pyyaml")


@dataclass
class Renderer:
    """Renders a site from its computed numbers.

    Whatever is heavy to import or to read is prepared on first use, so that a build which finds
    every page in the cache needs none of it.
    """

    site: Site
    texts: Texts
    computed: Computed
    templates: Path
    source: SourceCode
    cache: Cache
    diagnostics: Diagnostics

    def pages(self) -> dict[str, bytes]:
        """Render every page; problems go to the diagnostics."""
        for each in self._findings:
            self.diagnostics.extend(each.diagnostics)
        pages = {url: result.files[url] for url, result in self._chapters.items()}
        return self._quizzes.put_on(pages) | self._other_pages()

    @property
    def citations(self) -> Mapping[str, Sequence[Location]]:
        """Where chapters and quizzes cite claims, by the claim's id."""
        return citations(self._findings)

    def check_links(self, files: Mapping[str, bytes]) -> None:
        """Report links of chapters and quizzes to what is not among the files of the site."""
        self.diagnostics.extend(dangling_links(self._findings, files, self.site))

    def assets(self) -> dict[str, bytes]:
        """Return styles, scripts, fonts, Vega, the chart templates and the model's numbers."""

        def compute() -> Result:
            from builder.pages.assets import chart_assets

            return Result(chart_assets())

        def compute_model() -> Result:
            from builder.pages.model_assets import model_assets

            return Result(model_assets(self._snapshot, self.site.task))

        from builder.pages.assets import seed_assets, static_assets, string_assets

        ingredients = self.source.ingredients("builder.pages.assets", tools=CHART_TOOLS)
        charts = self.cache.get("assets/charts", ingredients, compute)
        ingredients = self._of_snapshot("builder.pages.model_assets", tools=("numpy", "orjson"))
        model = self.cache.get("assets/model", ingredients, compute_model)
        short = partial(
            short_scripts, root=self.templates.parent, source=self.source, cache=self.cache
        )
        own = static_assets(self.templates, short) | string_assets(self.texts.strings)
        return {**own, **charts.files, **model.files, **seed_assets(self.computed.seeds)}

    @cached_property
    def _findings(self) -> Sequence[Findings]:
        """Links of every page and quiz, and what is wrong with it."""
        pages = [Findings.of(url, result) for url, result in self._chapters.items()]
        return [*pages, *self._quizzes.findings]

    @cached_property
    def _chapters(self) -> Mapping[str, Stored]:
        """The page of every chapter in every language, by its path, with marks for its quizzes."""
        with _rarely_collected():
            return {
                self.site.url(language, slug): self._page(language, slug)
                for language in self.site.languages
                for slug in self.site.slugs
            }

    @cached_property
    def _quizzes(self) -> Quizzes:
        def context(chapter: Chapter) -> Context:
            return self._context(chapter, Diagnostics())

        return Quizzes(self.site, self.texts, self.cache, self._shared_ingredients, context)

    def _page(self, language: Language, slug: str) -> Stored:
        chapter = self.site.chapters.get((language.code, slug))
        name = chapter.path if chapter else "placeholder"
        quizzes = {
            f"names of the items in {quiz.path}": digest(repr([item.name for item in quiz.items]))
            for quiz in self.site.quizzes_on(language, slug)
        }
        ingredients = {**self._shared_ingredients, name: digest(repr(chapter)), **quizzes}
        url = self.site.url(language, slug)

        def compute() -> Result:
            if chapter is None:
                page = self._pages.placeholder(language, slug)
                return Result({url: page.encode()}, facts((), ()))
            return self._render(chapter, url)

        return self.cache.get(f"pages/{language.code}/{slug}", ingredients, compute)

    def _render(self, chapter: Chapter, url: str) -> Result:
        from builder.blocks.quiz import unshown
        from builder.markdown import render

        found = Diagnostics()
        context = self._context(chapter, found)
        rendered = render(context)
        found.extend(unshown(context))
        page = self._pages.chapter(chapter, rendered)
        return Result({url: page.encode()}, facts(rendered.links, found))

    def _context(self, chapter: Chapter, diagnostics: Diagnostics) -> Context:
        from builder.blocks.directive import Context

        return Context(
            chapter=chapter,
            site=self.site,
            texts=self.texts,
            numbers=self._numbers,
            diagnostics=diagnostics,
            svg=partial(self._svg, f"charts/{chapter.language.code}/{chapter.slug}"),
        )

    def _other_pages(self) -> dict[str, bytes]:
        def compute() -> Result:
            from builder.pages.view import sitemap

            found = {"404.html": self._pages.not_found().encode(), ".nojekyll": b""}
            if self.site.base_url:
                found["sitemap.xml"] = sitemap(self.site).encode()
            return Result(found)

        return dict(self.cache.get("pages/other", self._shared_ingredients, compute).files)

    @cached_property
    def _shared_ingredients(self) -> Ingredients:
        """What decides every page."""
        site = self.site
        titles = {key: (c.title, c.short_title, c.summary) for key, c in site.chapters.items()}
        shape = (site.title, site.description, site.languages, site.slugs, site.base_url, titles)
        templates = {
            f"{self.templates.name}/{path.relative_to(self.templates)}": digest(read_regular(path))
            for path in sorted(self.templates.rglob("*.html"))
        }
        return {
            **self.source.ingredients(
                "builder.render", "builder.pages.templates", tools=PAGE_TOOLS + CHART_TOOLS
            ),
            **templates,
            "titles and order of chapters": digest(repr(shape)),
            "words of the interface": digest(repr(sorted(self.texts.strings.items()))),
            "snapshot": self.computed.digest,
            "seeds to choose": " ".join(self.computed.seeds),
        }

    @cached_property
    def _pages(self) -> Pages:
        from builder.pages.templates import Pages

        return Pages(self.templates, self.site, self.texts.strings, list(self.computed.seeds))

    @cached_property
    def _snapshot(self) -> Snapshot:
        from model.snapshot import Snapshot

        return Snapshot(Path(SNAPSHOTS), self.computed.files)

    @cached_property
    def _numbers(self) -> Numbers:
        from builder.numbers.lookup import Numbers

        claims = {claim.id: claim for claim in self.computed.claims}
        return Numbers(self._snapshot, claims, self._domains(), self.site.task)

    def _domains(self) -> Mapping[str, float]:
        def compute() -> Result:
            from builder.numbers.domains import domains

            return Result({}, {"domains": domains(self._snapshot)})

        ingredients = self._of_snapshot("builder.numbers.domains", tools=("numpy",))
        found: Mapping[str, float] = self.cache.get("domains", ingredients, compute).facts[
            "domains"
        ]
        return found

    def _of_snapshot(self, module: str, tools: Sequence[str]) -> Ingredients:
        """What decides a result that a module makes of the snapshot."""
        found = self.source.ingredients(module, tools=tools)
        return {**found, "snapshot": self.computed.digest}

    def _svg(self, page: str, figure_id: str, spec: dict[str, Any]) -> str:
        """Draw a chart, or find the drawing in the cache."""

        def compute() -> Result:
            from builder.charts import svg

            return Result({"chart.svg": svg(spec).encode()})

        ingredients = self.source.ingredients("builder.charts", tools=CHART_TOOLS)
        ingredients = {**ingredients, "spec": digest(json.dumps(spec, sort_keys=True))}
        result = self.cache.get(f"{page}/{figure_id}", ingredients, compute)
        return result.files["chart.svg"].decode()


@contextmanager
def _rarely_collected() -> Iterator[None]:
    """Look for garbage rarely: tokens are soon gone, and looking takes a fifth of the time."""
    before = gc.get_threshold()
    gc.set_threshold(200_000, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
