"""Reads `content/`: the configuration, and every chapter that it lists, with its quiz."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from builder.content.config import (
    check_problem,
    locate_model,
    read_base_url,
    read_by_language,
    read_languages,
    read_preset,
    read_seeds,
    read_slugs,
)
from builder.content.quiz_files import load_quizzes
from builder.content.section import Section
from builder.content.site import Chapter, Language, Site
from builder.content.strict_yaml import read_section
from builder.content.text_file import read_text
from builder.errors import Diagnostics, Location, excerpt, nearest
from model.task import Task
from model.tasks import task_of


def load_site(content: Path, diagnostics: Diagnostics) -> Site:
    """Read `site.yml`, every chapter it lists, and their quizzes.

    Parameters
    ----------
    content
        The folder with `site.yml` and one folder of chapters per language.
    diagnostics
        Receives every problem found.

    Raises
    ------
    BuildError
        If it is not clear which languages and chapters there are.
    """
    shown = f"{content.name}/site.yml"
    text = read_text(content / "site.yml", shown, diagnostics)
    diagnostics.raise_if_fatal()
    top = read_section(text or "", shown, diagnostics)
    base_url, preset = read_base_url(top), read_preset(top)
    task = task_of(preset)
    problem = check_problem(top, "problem", task.example, task)
    languages, slugs = read_languages(top), read_slugs(top)
    if diagnostics.are_fatal():  # what follows from a damaged list would hide what is wrong
        top.finish(ignored=("title", "description", "seeds"))
    diagnostics.raise_if_fatal()
    chapters = _chapters(content, languages, problem, task, top)
    site = Site(
        title=read_by_language(top, "title", languages),
        description=read_by_language(top, "description", languages),
        languages=languages,
        slugs=slugs,
        base_url=base_url,
        preset=preset,
        locations=locate_model(top),
        chapters=chapters,
        quizzes=load_quizzes(content, languages, chapters, diagnostics),
        seeds=read_seeds(top, task),
    )
    top.finish()
    _report_differences(content, languages, top)
    return site


def split_front_matter(text: str) -> tuple[str | None, str, int]:
    """Split a chapter into its YAML, its body, and the line on which the body starts.

    The YAML is None if the file does not start with a closed `---` block.
    """
    match = re.match(r"---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", text, re.DOTALL | re.MULTILINE)
    if match is None:
        return None, text, 1
    return match[1], text[match.end() :], text[: match.end()].count("\n") + 1


def load_chapter(
    path: Path,
    shown: str,
    language: Language,
    problem: str,
    task: Task,
    diagnostics: Diagnostics,
) -> Chapter | None:
    """Read one chapter; None if the file cannot be read."""
    text = read_text(path, shown, diagnostics)
    if text is None:
        return None
    front, body, body_line = split_front_matter(text)
    if front is None:
        first = text.partition("\n")[0]
        message = "the chapter does not start with front matter between two `---` lines"
        form = "such as `---`, then `title: One row`, then `---`"
        hint = "end it with a line `---`" if first.rstrip() == "---" else form
        found = Location(shown, 1, 1, excerpt(first)).problem("front-matter", message, hint)
        diagnostics.add(found)
        return None
    section = read_section(front, shown, diagnostics, first_line=2)
    title = section.get("title", str)
    chapter = Chapter(
        slug=path.stem,
        language=language,
        path=shown,
        title=title,
        short_title=section.get("short_title", str, title),
        summary=section.get("summary", str, ""),
        problem=check_problem(section, "problem", problem, task),
        task=task,
        body=body,
        body_line=body_line,
    )
    section.finish()
    return chapter


def _chapters(
    content: Path, languages: Sequence[Language], problem: str, task: Task, top: Section
) -> dict[tuple[str, str], Chapter]:
    """Read every chapter that is there."""
    chapters: dict[tuple[str, str], Chapter] = {}
    for language in languages:
        for item in top.items("chapters"):
            path, shown = _file(content, language, item.value)
            if _is_absent(path):
                continue
            chapter = load_chapter(path, shown, language, problem, task, top.diagnostics)
            if chapter:
                chapters[language.code, item.value] = chapter
    return chapters


def _file(content: Path, language: Language, slug: str) -> tuple[Path, str]:
    """Return where a chapter is, and how messages name that."""
    name = f"{language.code}/{slug}.md"
    return content / name, f"{content.name}/{name}"


def _is_absent(path: Path) -> bool:
    """Whether nothing at all has the name: a broken link or a file as the folder is a mistake."""
    if os.path.lexists(path.parent) and not path.parent.is_dir():
        return False
    return not os.path.lexists(path)


def _report_differences(content: Path, languages: Sequence[Language], top: Section) -> None:
    """Report chapters that are listed but not there, and those that are there but not listed."""
    items = top.items("chapters")
    listed = {item.value for item in items}
    unlisted = [
        (path.stem, f"{content.name}/{language.code}/{path.name}")
        for language in languages
        for path in sorted((content / language.code).glob("*.md"))
        if path.stem not in listed
    ]
    meant = set[str]()
    for item in items:
        files = _missing(content, languages, item.value)
        if not files:
            continue
        near = nearest(item.value, [name for name, _ in unlisted])
        hint = f"did you mean `{near}`?" if near else "write it, or take it off the list"
        meant |= {near} if near else set()
        message = f"there is no {' and no '.join(f'`{file}`' for file in files)}"
        top.complain(item.line, item.column, "missing-chapter", message, hint)
    hint = "add it to `chapters` in content/site.yml"
    message = "this chapter is not listed and will not be built"
    for name, file in unlisted:
        if name not in meant:
            found = Location(file).problem("unlisted-chapter", message, hint, "warning")
            top.diagnostics.add(found)


def _missing(content: Path, languages: Sequence[Language], slug: str) -> list[str]:
    """Files that must be there and are not: in finished languages all, else one at least."""
    absent = [x for x in languages if _is_absent(_file(content, x, slug)[0])]
    finished = [x for x in absent if x.is_finished]
    required = absent if not finished and len(absent) == len(languages) else finished
    return [_file(content, x, slug)[1] for x in required]
