"""Reads `content/<language>/quiz/`: one YAML file a chapter, `NAME: {question: ..., ...}` an item.

A language without the folder has no quiz, and its chapters no `::: quiz`. An item has either
`options`, of which one is right, or a `number`, an address of the snapshot with the `mistakes` that
make its wrong options.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from builder.content.config import check_problem
from builder.content.quiz import Item, Mistake, Number, Option, Quiz
from builder.content.quiz_text import paragraph, word
from builder.content.section import Section
from builder.content.site import Chapter, Language
from builder.content.strict_yaml import read_section
from builder.content.text_file import read_text
from builder.errors import Diagnostics, Location, did_you_mean, nearest
from model.task import Task

FOLDER = "quiz"

FEWEST_OPTIONS, MOST_OPTIONS = 3, 6
"""Of two options, one is right by half; more than six are read by nobody."""

KINDS = ("options", "number")
"""What an item has one of."""

WAYS = ("mistake", "address")
"""How a wrong number is made."""

OF_NUMBER = ("stage", "target", "decimals", "format", "until", "because", "mistakes")
"""What an item with a `number` has besides."""


def load_quizzes(
    content: Path,
    languages: Sequence[Language],
    chapters: Mapping[tuple[str, str], Chapter],
    diagnostics: Diagnostics,
) -> dict[tuple[str, str], Quiz]:
    """Read the quizzes of every language; (language code, slug) -> quiz."""
    found: dict[tuple[str, str], Quiz] = {}
    for language in languages:
        written = {
            slug: chapter for (code, slug), chapter in chapters.items() if code == language.code
        }
        for path in _files(content / language.code / FOLDER):
            shown = f"{content.name}/{language.code}/{FOLDER}/{path.name}"
            problem = _misnamed(path, written)
            if problem:
                diagnostics.add(Location(shown).problem("quiz-name", *problem))
                continue
            quiz = _load(path, shown, written[path.stem], diagnostics)
            if quiz:
                found[language.code, path.stem] = quiz
    return found


def _files(folder: Path) -> list[Path]:
    """What an author can have meant for a quiz: not what editors and systems put beside it."""
    found = (path for ending in ("yml", "yaml") for path in folder.glob(f"*.{ending}"))
    return sorted(path for path in found if not path.name.startswith("."))


def _misnamed(path: Path, chapters: Mapping[str, Chapter]) -> tuple[str, str] | None:
    if path.suffix != ".yml":
        return "only files called `CHAPTER.yml` are read here", f"call it `{path.stem}.yml`"
    if path.stem not in chapters:
        hint = did_you_mean(path.stem, chapters)
        return f"there is no chapter `{path.stem}` in this language", hint
    return None


def _load(path: Path, shown: str, chapter: Chapter, diagnostics: Diagnostics) -> Quiz | None:
    source = read_text(path, shown, diagnostics)
    if source is None:
        return None
    top = read_section(source, shown, diagnostics)
    items = [_item(name, top.section(name), top, chapter) for name in top]
    if not items and not diagnostics.are_fatal():
        message, hint = "this file has no item", "write one, or delete the file"
        diagnostics.add(Location(shown).problem("missing-field", message, hint))
    return Quiz(chapter.slug, shown, source, items)


def _item(name: str, fields: Section, top: Section, chapter: Chapter) -> Item:
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        message = f"`{name}` is not a name: use a-z, 0-9 and single hyphens"
        top.complain(*top.place(name), "item-name", message, "such as `row-of-a`")
    if isinstance(top.entries[name].value, Section):
        _check_kind(name, fields, top)
    problem = check_problem(fields, "problem", chapter.problem, chapter.task)
    given = [kind for kind in KINDS if kind in fields]
    item = Item(
        name=name,
        section=word(fields, "section"),
        problem=problem,
        question=paragraph(fields, "question"),
        location=top.locate(name),
        options=_options(fields) if given == ["options"] else (),
        number=_number(fields, problem, chapter.task) if given == ["number"] else None,
    )
    fields.finish(ignored=KINDS if len(given) == 1 else (*KINDS, *OF_NUMBER))
    return item


def _check_kind(name: str, fields: Section, top: Section) -> None:
    given = [kind for kind in KINDS if kind in fields]
    if len(given) > 1:
        message = f"`{name}` has both `options` and `number`"
        top.complain(*top.place(name), "item-kind", message, "leave one of them out")
    elif not given and not any(nearest(field, KINDS) for field in fields):
        message = f"`{name}` has neither `options` nor a `number`"
        hint = "write `options:` and a list, or `number: ADDRESS`"
        top.complain(*top.place(name), "item-kind", message, hint)


def _options(fields: Section) -> list[Option]:
    options = list(_each_option(fields))
    right = [option for option in options if option.is_right]
    place = fields.place("options")
    given = [option.entries.get("right") for option in _mappings(fields, "options")]
    is_said = all(entry is None or isinstance(entry.value, bool) for entry in given)
    if options and len(right) != 1 and is_said:
        message = f"{len(right) or 'none'} of the options {'are' if right else 'is'} right"
        fields.complain(*place, "right-option", message, "one has `right: true`, and only one")
    if 0 < len(options) < FEWEST_OPTIONS:
        message = f"{len(options)} options are too few"
        fields.complain(*place, "few-options", message, f"at least {FEWEST_OPTIONS}")
    _check_most(fields, "options", len(options), MOST_OPTIONS)
    return options


def _check_most(fields: Section, name: str, n_given: int, most: int) -> None:
    if n_given > most:
        message = f"{n_given} {name} are too many"
        fields.complain(*fields.place(name), "many-options", message, f"at most {most}")


def _each_option(fields: Section) -> Iterator[Option]:
    seen: dict[str, int] = {}
    for option in _sections(fields, "options", "{text: ..., because: ...}"):
        text = paragraph(option, "text")
        yield Option(text, paragraph(option, "because"), option.get("right", bool, False))
        option.finish()
        if text.markdown and text.markdown in seen:
            message = f"this option stands on line {seen[text.markdown]} already"
            hint = "write another, or delete one of them"
            option.complain(*option.place("text"), "repeated-option", message, hint)
        seen.setdefault(text.markdown, text.line)


def _number(fields: Section, problem: str, task: Task) -> Number:
    address = word(fields, "number")
    mistakes = list(_mistakes(fields, problem, task))
    _check_most(fields, "mistakes", len(mistakes), MOST_OPTIONS - 1)
    given = {name: fields.get(name, str, "") for name in ("stage", "target", "format", "until")}
    decimals = fields.get("decimals", int, 0) if "decimals" in fields else None
    given["decimals"] = "" if decimals is None else str(decimals)
    return Number(
        address=address.markdown,
        options={name: text for name, text in given.items() if text},
        locations={name: fields.locate(name) for name in ("number", "problem", *given)},
        because=paragraph(fields, "because"),
        mistakes=mistakes,
    )


def _mistakes(fields: Section, problem: str, task: Task) -> Iterator[Mistake]:
    seen: dict[tuple[str, str], int] = {}
    for entry in _sections(fields, "mistakes", "{mistake: NAME, because: ...}"):
        kind = _way(entry)
        made = word(entry, kind)
        location = entry.locate(kind)
        name, address = (made.markdown, "") if kind == "mistake" else ("", made.markdown)
        read = check_problem(entry, "problem", problem, task) if address else problem
        yield Mistake(name, address, read, paragraph(entry, "because"), location)
        entry.finish(ignored=WAYS)
        if (made.markdown, read) in seen:
            message = f"`{made.markdown}` stands on line {seen[made.markdown, read]} already"
            hint = "name another mistake, or delete one of them"
            entry.complain(*entry.place(kind), "repeated-option", message, hint)
        seen.setdefault((made.markdown, read), made.line)


def _way(entry: Section) -> str:
    """Which of `WAYS` a wrong number is made; a misspelt one counts."""
    given = [way for way in WAYS if way in entry]
    if len(given) > 1:
        message = "here are both `mistake` and `address`"
        hint = "leave one of them out: a wrong number is made in one way"
        entry.complain(*entry.place("address"), "item-kind", message, hint)
    meant = [*given, *filter(None, (nearest(name, WAYS) for name in entry))]
    return meant[0] if meant else WAYS[0]


def _mappings(fields: Section, name: str) -> list[Section]:
    entries = fields.entries[name].items if name in fields else ()
    return [entry.value for entry in entries if isinstance(entry.value, Section)]


def _sections(fields: Section, name: str, form: str) -> Iterator[Section]:
    """The mappings of a list; whatever else it has is a problem."""
    yield from _mappings(fields, name)
    for entry in fields.items(name):
        if not isinstance(entry.value, Section):
            message = f"each of `{name}` is a mapping, not {entry.shown}"
            fields.complain(entry.line, entry.column, "wrong-type", message, f"such as `{form}`")
