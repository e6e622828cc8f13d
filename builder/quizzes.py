"""The quizzes of a site: items from a cached stage of each file, put wherever pages show them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING

from builder.content.quiz import Quiz
from builder.content.site import Chapter, Site
from builder.content.strings import Texts
from builder.findings import Findings
from builder.quiz.marks import filled
from builder.stages import Cache, Ingredients, Result, Stored, digest

if TYPE_CHECKING:
    from builder.blocks.directive import Context


@dataclass
class Quizzes:
    """Renders each quiz once, whatever pages show it.

    A changed item leaves the stages of pages as they are: they have marks in place of items.

    Attributes
    ----------
    site, texts, cache
        What there is, the words of the interface, and where results are.
    ingredients
        What decides every quiz besides its own text.
    context
        Makes the context that the items of a chapter are rendered in.
    """

    site: Site
    texts: Texts
    cache: Cache
    ingredients: Ingredients
    context: Callable[[Chapter], Context]

    @property
    def findings(self) -> Iterator[Findings]:
        """Links of every quiz, and what is wrong with it."""
        for key, result in self._results.items():
            chapter = self.site.chapters[key]
            yield Findings.of(self.site.url(chapter.language, chapter.slug), result)

    def put_on(self, pages: Mapping[str, bytes]) -> dict[str, bytes]:
        """Return the pages with the items that they show."""
        found = dict(pages)
        for chapter in self.site.chapters.values():
            url = self.site.url(chapter.language, chapter.slug)
            for quiz in self.site.quizzes_on(chapter.language, chapter.slug):
                found[url] = self._with_items(found[url], quiz, chapter)
        return found

    @cached_property
    def _results(self) -> Mapping[tuple[str, str], Stored]:
        """The items of every quiz, its links and what is wrong with it."""
        return {key: self._result(key, quiz) for key, quiz in self.site.quizzes.items()}

    def _result(self, key: tuple[str, str], quiz: Quiz) -> Stored:
        def compute() -> Result:
            from builder.quiz_items import rendered_quiz

            return rendered_quiz(quiz, self.context(self.site.chapters[key]))

        ingredients = {**self.ingredients, quiz.path: digest(repr(quiz))}
        return self.cache.get(f"quizzes/{key[0]}/{quiz.slug}", ingredients, compute)

    def _with_items(self, page: bytes, quiz: Quiz, chapter: Chapter) -> bytes:
        key = (chapter.language.code, quiz.slug)
        if quiz.slug == chapter.slug:
            source = self.texts.filled("quiz.own_source", key[0], {})
        else:
            title = self.site.chapters[key].short_title
            source = self.texts.filled("quiz.source", key[0], {"title": title})
        items: str = self._results[key].facts["html"]
        return filled(page.decode(), quiz.slug, items, escape(source)).encode()
