"""What `content/` says: languages, chapter order, model, and each chapter's front matter."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builder.errors import Diagnostic, Diagnostics, did_you_mean
from builder.strict_yaml import Section, read_section
from model import task
from model.config import PRESETS, ConfigError, Preset, preset_fields

LANGUAGE_STATES = ("finished", "in progress")


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


def load_site(content: Path, diagnostics: Diagnostics) -> Site | None:
    """Read `site.yml` and every chapter it lists.

    Parameters
    ----------
    content
        The folder with `site.yml` and one folder of chapters per language.
    diagnostics
        Receives every problem found; empty when it is given.

    Returns
    -------
    Site or None
        None if it is not clear which languages and chapters there are.
    """
    config_path = content / "site.yml"
    shown = f"{content.name}/site.yml"
    text = read_text(config_path, shown, diagnostics)
    if text is None:
        return None
    top = read_section(text, shown, diagnostics)
    languages, slugs = _languages(top), _slugs(top)
    if diagnostics.found:  # what follows from a damaged list would hide what is wrong with it
        return None
    problem = check_problem(top, "problem", "7x8")
    site = Site(
        title=_by_language(top, "title", languages),
        description=_by_language(top, "description", languages),
        languages=languages,
        slugs=slugs,
        base_url=_base_url(top),
        problem=problem,
        preset=_preset(top),
        chapters=_chapters(content, languages, slugs, problem, diagnostics),
    )
    top.finish()
    _report_unwritten(site, top)
    return site


def read_text(path: Path, shown: str, diagnostics: Diagnostics) -> str | None:
    """Read a UTF-8 text file; report what is wrong with it and return None if that fails."""
    try:
        return path.read_bytes().decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n")
    except FileNotFoundError:
        diagnostics.add(Diagnostic(shown, 0, 0, "missing-file", "this file does not exist"))
    except OSError as error:
        diagnostics.add(Diagnostic(shown, 0, 0, "unreadable-file", str(error.strerror)))
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        message = f"byte {error.object[error.start]:#04x} is not UTF-8 text"
        diagnostics.add(Diagnostic(shown, line, 0, "not-utf8", message))
    return None


def check_problem(section: Section, name: str, default: str) -> str:
    """Return a problem's name such as `7x8`, checked to be one of the hundred."""
    problem = section.get(name, str, default)
    if problem in task.BY_NAME:
        return problem
    line, column = section.place(name)
    hint = did_you_mean(problem.replace("×", "x").replace("*", "x"), task.BY_NAME)
    section.complain(
        line, column, "unknown-problem", f"there is no problem `{problem}`", hint or "such as `7x8`"
    )
    return default


def split_front_matter(text: str) -> tuple[str | None, str, int]:
    """Split a chapter into its YAML, its body, and the line on which the body starts.

    The YAML is None if the file does not start with a closed `---` block.
    """
    match = re.match(r"---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", text, re.DOTALL | re.MULTILINE)
    if match is None:
        return None, text, 1
    return match[1], text[match.end() :], text[: match.end()].count("\n") + 1


def load_chapter(
    path: Path, shown: str, language: Language, problem: str, diagnostics: Diagnostics
) -> Chapter | None:
    """Read one chapter; None if the file cannot be read."""
    text = read_text(path, shown, diagnostics)
    if text is None:
        return None
    front, body, body_line = split_front_matter(text)
    if front is None:
        message = "the chapter does not start with front matter between two `---` lines"
        diagnostics.add(Diagnostic(shown, 1, 1, "front-matter", message))
    section = read_section(front or "", shown, diagnostics, first_line=2)
    if front is None:
        section.entries = {}
        return None
    title = section.get("title", str)
    chapter = Chapter(
        slug=path.stem,
        language=language,
        path=shown,
        title=title,
        short_title=section.get("short_title", str, title),
        summary=section.get("summary", str, ""),
        problem=check_problem(section, "problem", problem),
        body=body,
        body_line=body_line,
    )
    section.finish()
    return chapter


def _languages(top: Section) -> list[Language]:
    languages: list[Language] = []
    for item in top.get("languages", list):
        if not isinstance(item, Section):
            line, column = top.place("languages")
            top.complain(line, column, "wrong-type", "`languages` lists mappings with `code`")
            continue
        code, state = item.get("code", str), item.get("state", str, "finished")
        name = item.get("name", str)
        item.finish()
        if state not in LANGUAGE_STATES:
            line, column = item.place("state")
            hint = did_you_mean(state, LANGUAGE_STATES)
            item.complain(line, column, "unknown-state", f"unknown state `{state}`", hint)
        if not re.fullmatch(r"[a-z]{2,3}(-[A-Za-z]+)?", code) or code in {
            x.code for x in languages
        }:
            line, column = item.place("code")
            item.complain(line, column, "language-code", f"`{code}` is not a new language code")
            continue
        prefix = f"{code}/" if languages else ""
        languages.append(Language(code, name, prefix, state == "finished"))
    _require_some(top, "languages")
    return languages


def _slugs(top: Section) -> list[str]:
    slugs: list[str] = []
    for slug in top.get("chapters", list):
        line, column = top.place("chapters")
        if not isinstance(slug, str) or not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug):
            message = f"`{slug}` is not a page name: use a-z, 0-9 and single hyphens"
            top.complain(line, column, "chapter-name", message)
        elif slug in slugs or slug == "404":
            top.complain(
                line, column, "chapter-name", f"chapter `{slug}` is listed twice or reserved"
            )
        else:
            slugs.append(slug)
    if slugs and slugs[0] != "index":
        line, column = top.place("chapters")
        top.complain(line, column, "chapter-name", "the first chapter must be `index`")
    _require_some(top, "chapters")
    return slugs


def _require_some(top: Section, name: str) -> None:
    if name in top.entries and top.entries[name].value == []:
        top.complain(*top.place(name), "missing-field", f"`{name}` lists nothing")


def _by_language(top: Section, name: str, languages: list[Language]) -> dict[str, str]:
    section = top.section(name)
    texts = {language.code: section.get(language.code, str) for language in languages}
    section.finish()
    return texts


def _base_url(top: Section) -> str:
    base_url = top.get("base_url", str, "")
    if base_url and not re.fullmatch(r"https?://[^\s/?#]+(/[^\s?#]*)?", base_url):
        line, column = top.place("base_url")
        message = f"`base_url` = `{base_url}` is not an http(s) address without `?` and `#`"
        top.complain(line, column, "base-url", message)
    return base_url.rstrip("/") + "/" if base_url else ""


def _preset(top: Section) -> Preset:
    section = top.section("model")
    name = section.get("preset", str, "multiplication")
    if name not in PRESETS:
        line, column = section.place("preset")
        section.complain(
            line,
            column,
            "unknown-preset",
            f"there is no preset `{name}`",
            did_you_mean(name, PRESETS),
        )
    preset = PRESETS.get(name, PRESETS["multiplication"])
    given = {field: section.get(field, object, None) for field in preset_fields()}
    section.finish()
    overrides = {field: given[field] for field in given if field in section.entries}
    for field, value in overrides.items():
        if isinstance(value, (Section, list)):
            section.complain(*section.place(field), "wrong-type", f"`{field}` must be a number")
            return preset
    return _overridden(preset, overrides, section)


def _overridden(preset: Preset, overrides: Mapping[str, Any], section: Section) -> Preset:
    try:
        preset = preset.override(**overrides)
    except ConfigError as error:
        line, column = section.place(error.field)
        section.complain(line, column, "impossible-model", str(error))
        return preset
    shortage = task.shortage(preset.model)
    if shortage:
        line, column = section.place(shortage[0])
        section.complain(line, column, "impossible-model", shortage[1])
    return preset


def _chapters(
    content: Path,
    languages: Sequence[Language],
    slugs: Sequence[str],
    problem: str,
    diagnostics: Diagnostics,
) -> dict[tuple[str, str], Chapter]:
    chapters: dict[tuple[str, str], Chapter] = {}
    for language in languages:
        folder = content / language.code
        for slug in slugs:
            shown = f"{content.name}/{language.code}/{slug}.md"
            if not language.is_finished and not (folder / f"{slug}.md").exists():
                continue
            chapter = load_chapter(folder / f"{slug}.md", shown, language, problem, diagnostics)
            if chapter:
                chapters[language.code, slug] = chapter
        _report_unlisted(content, language, slugs, diagnostics)
    return chapters


def _report_unwritten(site: Site, top: Section) -> None:
    """Report chapters that no language has: there would be nothing to show or to lead to."""
    written = {slug for _, slug in site.chapters}
    for slug in site.slugs:
        if slug not in written and not any(language.is_finished for language in site.languages):
            message = f"the chapter `{slug}` does not exist in any language"
            top.complain(*top.place("chapters"), "missing-chapter", message)


def _report_unlisted(
    content: Path, language: Language, slugs: Sequence[str], diagnostics: Diagnostics
) -> None:
    for path in sorted((content / language.code).glob("*.md")):
        if path.stem not in slugs:
            shown = f"{content.name}/{language.code}/{path.name}"
            hint = "add it to `chapters` in content/site.yml"
            message = "this chapter is not listed and will not be built"
            diagnostics.add(
                Diagnostic(shown, 0, 0, "unlisted-chapter", message, hint, severity="warning")
            )
