"""Chapters to HTML pages: what each template is told, and what a broken template says."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
from markupsafe import Markup

from builder.errors import BuildError, Diagnostic
from builder.site import Chapter, Language, Site
from builder.strings import Strings

if TYPE_CHECKING:
    from builder.markdown import Heading, Rendered

COVER, ABOUT = "index", "about"

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self' blob:",
        "worker-src blob:",
        "style-src 'self' 'unsafe-inline'",
        "font-src 'self'",
        "img-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
    ]
)
"""Content-Security-Policy of every page: nothing leaves the folder, nothing is evaluated."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A chapter as navigation shows it.

    `href` is relative to the page that shows it. `language` is that of its title: another one if
    the chapter is not written in the page's language.
    """

    href: str
    title: str
    short_title: str
    summary: str
    language: Language
    is_written: bool
    is_current: bool


@dataclass(frozen=True, slots=True)
class Alternate:
    """The same page in one language; `absolute` is empty if the site has no base URL."""

    language: Language
    href: str
    absolute: str
    title: str
    is_current: bool


@dataclass(frozen=True)
class Page:
    """Everything a template may say about a page.

    Attributes
    ----------
    chapter
        None for a chapter that is not written in this language yet.
    html, contents
        The body, and the headings of its table of contents.
    """

    site: Site
    language: Language
    slug: str
    chapter: Chapter | None
    html: Markup = Markup()
    contents: Sequence[Heading] = ()
    script_strings: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_cover(self) -> bool:
        """Whether this is the first page of the article."""
        return self.slug == COVER

    @property
    def title(self) -> str:
        """Title of the chapter, in the language it is written in."""
        return _written(self.site, self.language, self.slug).title

    @property
    def summary(self) -> str:
        """One or two sentences under the title; may be empty."""
        return self.chapter.summary if self.chapter else ""

    @property
    def site_title(self) -> str:
        """Title of the article."""
        return self.site.title[self.language.code]

    @property
    def description(self) -> str:
        """What search engines and previews show."""
        return self.summary or self.site.description[self.language.code]

    @property
    def root(self) -> str:
        """Relative path from this page to the root of the site, empty or such as `../`."""
        return "../" * self.language.prefix.count("/")

    @property
    def home(self) -> str:
        """Link to the cover in this language."""
        return self._href(self.language, COVER)

    @property
    def canonical(self) -> str:
        """Absolute URL of this page, or empty."""
        return self._absolute(self.language)

    @cached_property
    def chapters(self) -> Sequence[Entry]:
        """All chapters in reading order, those not written in this language marked."""
        return [self._entry(slug) for slug in self.site.slugs]

    @property
    def previous(self) -> Entry | None:
        """The chapter before this one."""
        return self._neighbour(-1)

    @property
    def next(self) -> Entry | None:
        """The chapter after this one."""
        return self._neighbour(+1)

    @property
    def about(self) -> Entry | None:
        """The chapter about the build, if the site has one."""
        return self._entry(ABOUT) if ABOUT in self.site.slugs else None

    @cached_property
    def alternates(self) -> Sequence[Alternate]:
        """This page in every language of the site."""
        return [self._alternate(language) for language in self.site.languages]

    @property
    def written_in(self) -> Sequence[Alternate]:
        """This page in the languages in which it can be read."""
        return [a for a in self.alternates if (a.language.code, self.slug) in self.site.chapters]

    def _alternate(self, language: Language) -> Alternate:
        return Alternate(
            language,
            self._href(language, self.slug),
            self._absolute(language),
            _written(self.site, language, self.slug).title,
            language == self.language,
        )

    def _entry(self, slug: str) -> Entry:
        chapter = _written(self.site, self.language, slug)
        return Entry(
            self._href(self.language, slug),
            chapter.title,
            chapter.short_title,
            chapter.summary,
            chapter.language,
            chapter.language == self.language,
            slug == self.slug,
        )

    def _neighbour(self, step: int) -> Entry | None:
        index = self.site.slugs.index(self.slug) + step
        return self.chapters[index] if 0 <= index < len(self.chapters) else None

    def _href(self, language: Language, slug: str) -> str:
        if language == self.language:
            return f"{slug}.html"
        return self.root + self.site.url(language, slug)

    def _absolute(self, language: Language) -> str:
        return absolute_url(self.site, language, self.slug)


def _written(site: Site, language: Language, slug: str) -> Chapter:
    """Return a chapter in this language, or else in the first one that has it."""
    codes = [language.code, *(other.code for other in site.languages)]
    return next(site.chapters[code, slug] for code in codes if (code, slug) in site.chapters)


def absolute_url(site: Site, language: Language, slug: str) -> str:
    """Return a page's public address, or nothing if the site has no base URL."""
    if not site.base_url:
        return ""
    url = site.base_url + site.url(language, slug)
    return url.removesuffix("index.html") if slug == COVER else url


def sitemap(site: Site) -> str:
    """List every written page for search engines; the site needs a base URL."""
    urls = [
        absolute_url(site, language, slug)
        for language in site.languages
        for slug in site.slugs
        if (language.code, slug) in site.chapters
    ]
    entries = "".join(f"<url><loc>{jinja2.filters.escape(url)}</loc></url>\n" for url in urls)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        f"{entries}</urlset>\n"
    )


class Pages:
    """Renders the pages of a site.

    Parameters
    ----------
    templates
        The folder `site_templates`.
    site
        Languages, chapters and their order.
    strings
        Texts of the interface by language code.

    Raises
    ------
    BuildError
        From every method, if a template is malformed or uses what does not exist.
    """

    def __init__(self, templates: Path, site: Site, strings: Mapping[str, Strings]) -> None:
        self._templates = templates
        self._site = site
        self._strings = strings
        self._environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(templates),
            undefined=jinja2.StrictUndefined,
            autoescape=jinja2.select_autoescape(["html"]),
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )

    def chapter(self, chapter: Chapter, rendered: Rendered) -> str:
        """Return the page of a chapter."""
        contents = [heading for heading in rendered.headings if heading.level in (2, 3)]
        page = Page(
            self._site,
            chapter.language,
            chapter.slug,
            chapter,
            Markup(rendered.html),  # noqa: S704 - made by our own renderer
            contents if len(contents) > 1 else (),
            self._script_strings(chapter.language),
        )
        return self._page("chapter.html", page)

    def placeholder(self, language: Language, slug: str) -> str:
        """Return the page of a chapter that is not written in this language yet."""
        strings = self._script_strings(language)
        page = Page(self._site, language, slug, None, script_strings=strings)
        return self._page("placeholder.html", page)

    def not_found(self) -> str:
        """Return the page for addresses that do not exist; it works at any depth."""
        languages = [
            {
                "language": language,
                "t": self._strings[language.code],
                "site_title": self._site.title[language.code],
                "home": absolute_url(self._site, language, COVER),
            }
            for language in self._site.languages
        ]
        return self._render("404.html", languages=languages)

    def _script_strings(self, language: Language) -> dict[str, str]:
        prefix = "script."
        texts = self._strings[language.code].items()
        return {name.removeprefix(prefix): t for name, t in texts if name.startswith(prefix)}

    def _page(self, template: str, page: Page) -> str:
        return self._render(template, page=page, t=self._strings[page.language.code], policy=POLICY)

    def _render(self, name: str, **variables: Any) -> str:
        with _template_errors(self._templates, name):
            return self._environment.get_template(name).render(**variables)


@contextmanager
def _template_errors(templates: Path, name: str) -> Iterator[None]:
    """Turn what Jinja raises into a message with the template's file and line."""
    try:
        yield
    except jinja2.TemplateNotFound as error:
        place = _last_template_line(templates, error) or (name, 0)
        raise _problem(templates, *place, f"there is no template `{error.name}`") from error
    except jinja2.TemplateSyntaxError as error:
        raise _problem(templates, error.name or name, error.lineno, str(error.message)) from error
    except (jinja2.TemplateError, LookupError, TypeError, ValueError, UnicodeDecodeError) as error:
        place = _last_template_line(templates, error)
        if place is None:
            raise
        raise _problem(templates, *place, str(error)) from error


def _last_template_line(templates: Path, error: Exception) -> tuple[str, int] | None:
    """Find the innermost line of a template that an error passed through."""
    root = str(templates) + os.sep
    frames = traceback.extract_tb(error.__traceback__)
    places = [
        (f.filename.removeprefix(root), f.lineno or 0)
        for f in frames
        if f.filename.startswith(root)
    ]
    return places[-1] if places else None


def _problem(templates: Path, name: str, line: int, message: str) -> BuildError:
    lines = (
        (templates / name).read_text("utf-8").splitlines() if (templates / name).exists() else []
    )
    excerpt = lines[line - 1] if 0 < line <= len(lines) else ""
    return BuildError(
        Diagnostic(f"{templates.name}/{name}", line, 0, "template", message, excerpt=excerpt)
    )
