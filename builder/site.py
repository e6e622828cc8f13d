"""What a site is: its languages, its chapters, and the model it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from model.config import Preset


@dataclass(frozen=True, slots=True)
class Language:
    """A language of the article. The first one listed in `site.yml` stands at the root.

    Attributes
    ----------
    code, name
        Such as `zh` and 中文.
    prefix
        Folder of its pages, empty or such as `en/`.
    is_finished
        Whether every chapter must exist in it.
    """

    code: str
    name: str
    prefix: str
    is_finished: bool


@dataclass(frozen=True, slots=True)
class Chapter:
    """One Markdown file. `body` starts at line `body_line` of the file.

    Attributes
    ----------
    slug
        File name without `.md`, the same in every language, and the page's name.
    language
        The language it is written in.
    path
        The file as messages name it.
    title, short_title, summary
        For the heading, for navigation, and for the description of the page.
    problem
        The problem whose numbers the chapter shows unless a block says otherwise.
    """

    slug: str
    language: Language
    path: str
    title: str
    short_title: str
    summary: str
    problem: str
    body: str
    body_line: int


@dataclass(frozen=True, slots=True)
class Site:
    """Everything in `content/site.yml`, and the chapters that exist.

    Attributes
    ----------
    title, description
        By language code.
    languages
        The default language first.
    slugs
        Chapters in reading order.
    base_url
        Where the site will live, such as `https://example.org/attention/`, or empty.
    problem
        The default problem.
    preset
        The model to train, overrides applied.
    chapters
        (language code, slug) -> chapter; one may be missing in a language in progress.
    """

    title: Mapping[str, str]
    description: Mapping[str, str]
    languages: Sequence[Language]
    slugs: Sequence[str]
    base_url: str
    problem: str
    preset: Preset
    chapters: Mapping[tuple[str, str], Chapter]

    def url(self, language: Language, slug: str) -> str:
        """Return the page's path from the root of the site."""
        return f"{language.prefix}{slug}.html"
