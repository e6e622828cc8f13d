"""What a site is: its languages, its chapters, and the model it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from builder.content.quiz import Quiz
from builder.errors import Location, did_you_mean
from model.config import Preset
from model.task import MULTIPLICATION, Task
from model.tasks import TASKS, task_of

COVER, ABOUT = "index", "about"
"""Chapters with a part of their own: the first one, and the one about the build."""

LEDGER, LEDGER_OF_MLP = "ledger", "ledger-mlp"
"""Chapters that have every matrix, and those of the MLP: more numbers than all the others."""

REVIEW = "review"
"""The chapter that has the items of all quizzes."""


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

    @property
    def root(self) -> str:
        """Relative path from its pages to the root of the site, empty or such as `../`."""
        return "../" * self.prefix.count("/")


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
    task
        What its problem is one of.
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
    task: Task = field(default=MULTIPLICATION, repr=False)


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
    preset
        The model to train, overrides applied.
    locations
        `model`, each of its fields that is given, and each of `seeds` -> its place.
    chapters
        (language code, slug) -> chapter; one may be missing in a language in progress.
    quizzes
        (language code, slug) -> the items of that chapter, where it has any.
    seeds
        Those whose models readers can choose; the site's own may be among them.
    """

    title: Mapping[str, str]
    description: Mapping[str, str]
    languages: Sequence[Language]
    slugs: Sequence[str]
    base_url: str
    preset: Preset
    locations: Mapping[str, Location]
    chapters: Mapping[tuple[str, str], Chapter]
    quizzes: Mapping[tuple[str, str], Quiz] = field(default_factory=dict)
    seeds: Sequence[int] = ()

    @property
    def task(self) -> Task:
        """What the model learns."""
        return task_of(self.preset)

    def url(self, language: Language, slug: str) -> str:
        """Return the page's path from the root of the site."""
        return f"{language.prefix}{slug}.html"

    def href(self, here: Language, there: Language, slug: str) -> str:
        """Return a link from any page in one language to a page in another or the same."""
        return f"{slug}.html" if here == there else here.root + self.url(there, slug)

    def quizzes_on(self, language: Language, slug: str) -> Sequence[Quiz]:
        """Return the quizzes that a page may show, in reading order: its own, or in review all."""
        wanted = self.slugs if slug == REVIEW else [slug]
        keys = ((language.code, one) for one in wanted)
        return [self.quizzes[key] for key in keys if key in self.quizzes]

    def language_of(self, slug: str, preferred: Language) -> Language:
        """Return the language to read a chapter in: the first one that has it, if need be."""
        order = (preferred, *self.languages)
        return next((x for x in order if (x.code, slug) in self.chapters), preferred)


def nearest_problem(name: str, task: Task) -> str:
    """Return a hint for a name that is no problem's."""
    plain = name.replace("×", "x").replace("*", "x")
    others = (other for other in TASKS if other != task.name and plain in TASKS[other]().by_name)
    if other := next(others, ""):
        here = f"the site's model has learned `{task.name}`: such as `{task.example}`"
        return f"it is a problem of `{other}`, and {here}"
    return did_you_mean(plain, task.by_name, otherwise=f"such as `{task.example}`")
