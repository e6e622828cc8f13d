"""What a page says about itself and its neighbours: links, languages, addresses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape

from builder.content.site import ABOUT, COVER, Chapter, Language, Site
from builder.markdown.rendering import Heading
from builder.pages.choices import choices

MENU_SIZE = 30
"""The header's menu lists all chapters of a site that has no more than this..."""

MENU_REACH = 5
"""... and of a longer one this many before and after the current one."""


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
class PageView:
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
    html: str = ""
    contents: Sequence[Heading] = ()

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
    def problem(self) -> str:
        """The problem that the chapter speaks of; empty if there is no chapter."""
        return self.chapter.problem if self.chapter else ""

    @property
    def choices(self) -> str:
        """The problems that readers choose from: lists of names, or of parts of names."""
        listed = choices([problem.name for problem in self.site.task.problems])
        return "|".join(" ".join(names) for names in listed)

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
        return self.language.root

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

    @cached_property
    def menu(self) -> Sequence[Entry]:
        """The chapters in the header: all, or of a long article those around this one."""
        if self.is_menu_whole:
            return self.chapters
        first = max(0, self._index - MENU_REACH)
        return [self._entry(slug) for slug in self.site.slugs[first : self._index + MENU_REACH + 1]]

    @property
    def is_menu_whole(self) -> bool:
        """Whether the menu lists every chapter."""
        return len(self.site.slugs) <= MENU_SIZE

    @cached_property
    def previous(self) -> Entry | None:
        """The chapter before this one."""
        return self._neighbour(-1)

    @cached_property
    def next(self) -> Entry | None:
        """The chapter after this one."""
        return self._neighbour(+1)

    @cached_property
    def about(self) -> Entry | None:
        """The chapter about the build, if the site has one."""
        return self._entry(ABOUT) if ABOUT in self.site.slugs else None

    @cached_property
    def alternates(self) -> Sequence[Alternate]:
        """The same page in every language of the site."""
        return [self._alternate(language) for language in self.site.languages]

    @property
    def written_in(self) -> Sequence[Alternate]:
        """The same page in the languages in which it can be read."""
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

    @cached_property
    def _index(self) -> int:
        return self.site.slugs.index(self.slug)

    def _neighbour(self, step: int) -> Entry | None:
        index = self._index + step
        return self._entry(self.site.slugs[index]) if 0 <= index < len(self.site.slugs) else None

    def _href(self, language: Language, slug: str) -> str:
        return self.site.href(self.language, language, slug)

    def _absolute(self, language: Language) -> str:
        return absolute_url(self.site, language, self.slug)


def _written(site: Site, language: Language, slug: str) -> Chapter:
    """Return a chapter in this language, or else in the first one that has it."""
    return site.chapters[site.language_of(slug, language).code, slug]


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
    entries = "".join(f"<url><loc>{escape(url)}</loc></url>\n" for url in urls)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        f"{entries}</urlset>\n"
    )
