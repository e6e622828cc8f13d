"""The fields of `content/site.yml`, each read and checked by one function."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from builder.content.section import Entry, Section
from builder.content.site import COVER, Language, nearest_problem
from builder.errors import Location, did_you_mean
from model.config import LARGEST_SEED, PRESETS, ConfigError, Preset, preset_fields
from model.task import Task
from model.tasks import task_of

LANGUAGE_STATES = ("finished", "in progress")

FEWEST_LAYERS = 2
"""Claims about a model say what its second layer does that the first does not."""


def check_problem(section: Section, name: str, default: str, task: Task) -> str:
    """Return a problem's name such as `7x8`, checked to be one of the task's."""
    problem = section.get(name, str, default)
    if problem in task.by_name:
        return problem
    message, hint = f"there is no problem `{problem}`", nearest_problem(problem, task)
    section.complain(*section.place(name), "unknown-problem", message, hint)
    return default


def read_languages(top: Section) -> list[Language]:
    """Return the languages, the default one first."""
    languages: list[Language] = []
    lines: dict[str, int] = {}
    for entry in top.items("languages"):
        item = entry.value
        if not isinstance(item, Section):
            message = f"a language is a mapping, not {entry.shown}"
            hint = "such as `{code: en, name: English}`"
            top.complain(entry.line, entry.column, "wrong-type", message, hint)
            continue
        code, name = item.get("code", str), item.get("name", str)
        is_finished = _is_finished(item)
        item.finish()
        given = item.entries.get("code")
        if given and isinstance(given.value, str):
            _check_code(item, given, lines)
        prefix = f"{code}/" if languages else ""
        languages.append(Language(code, name, prefix, is_finished))
    return languages


def _is_finished(item: Section) -> bool:
    state = item.get("state", str, "finished")
    if state not in LANGUAGE_STATES:
        hint = did_you_mean(state, LANGUAGE_STATES)
        item.complain(*item.place("state"), "unknown-state", f"unknown state `{state}`", hint)
    return state == "finished"


def _check_code(item: Section, code: Entry, lines: dict[str, int]) -> None:
    """Check a language's code; `lines` says where each one stands."""
    if not re.fullmatch(r"[a-z]{2,3}(-[A-Za-z]+)?", code.value):
        message, hint = f"{code.shown} is not a language code", "such as `en` or `zh-Hant`"
        item.complain(code.line, code.column, "language-code", message, hint)
    elif code.value in lines:
        message = f"the language {code.shown} is already listed on line {lines[code.value]}"
        item.complain(code.line, code.column, "language-code", message)
    lines.setdefault(code.value, code.line)


def read_slugs(top: Section) -> list[str]:
    """Return the names of the chapters in reading order; the first is the cover."""
    listed: dict[str, Entry] = {}
    for item in top.items("chapters"):
        message, hint = _wrong_slug(item, listed)
        if message:
            top.complain(item.line, item.column, "chapter-name", message, hint)
        else:
            listed[item.value] = item
    first = next(iter(listed), COVER)
    if first != COVER:
        line, column = listed[first].line, listed[first].column
        message = f"the first chapter must be `{COVER}`, not `{first}`"
        top.complain(line, column, "chapter-name", message)
    return list(listed)


def _wrong_slug(item: Entry, listed: Mapping[str, Entry]) -> tuple[str, str]:
    """Return what is wrong with a chapter after those listed before it, and a hint."""
    slug = item.value
    if not isinstance(slug, str) or not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug):
        name = re.sub(r"\.(md|html)$", "", slug.lower()) if isinstance(slug, str) else ""
        plain = "-".join(re.findall(r"[a-z0-9]+", name))
        hint = f"did you mean `{plain}`?" if plain else "such as `reading-table`"
        return f"{item.shown} is not a page name: use a-z, 0-9 and single hyphens", hint
    if slug in listed:
        return f"the chapter `{slug}` is already listed on line {listed[slug].line}", ""
    if slug == "404":
        return "`404` is the page for addresses that do not exist", "choose another name"
    return "", ""


def read_by_language(top: Section, name: str, languages: list[Language]) -> dict[str, str]:
    """Return a text that every language of the site must have, by language code."""
    if name not in top:
        top.get(name, object)
        return {language.code: "" for language in languages}
    section = top.section(name)
    texts = {language.code: section.get(language.code, str) for language in languages}
    section.finish()
    return texts


def read_base_url(top: Section) -> str:
    """Return where the site will live, with a final slash, or nothing."""
    base_url = top.get("base_url", str, "")
    if base_url and not _is_address(base_url):
        line, column = top.place("base_url")
        message = f"`base_url` = `{base_url}` is not an http(s) address without `?` and `#`"
        top.complain(line, column, "base-url", message)
    return base_url.rstrip("/") + "/" if base_url else ""


def _is_address(text: str) -> bool:
    """Whether this is an http(s) address in ASCII, with a host, and without `?` and `#`."""
    try:
        parts = urlsplit(text)
        is_valid = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
    return is_valid and bool(re.fullmatch(r"https?://[!-~]+", text)) and not re.search("[?#]", text)


def read_preset(top: Section) -> Preset:
    """Return the model's preset with the fields that the section `model` overrides."""
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
        if value is None or isinstance(value, (Section, list)):
            message, hint = f"`{field}` must be a number", f"it is {section.entries[field].shown}"
            section.complain(*section.place(field), "wrong-type", message, hint)
            return preset
    return _overridden(preset, overrides, section)


def read_seeds(top: Section, task: Task) -> tuple[int, ...]:
    """Return the seeds whose models readers can choose, if any are listed."""
    seeds: list[int] = []
    if "seeds" in top and not task.has_evidence:
        message = f"of the task `{task.name}` no other seeds are stored, for readers to choose"
        top.complain(*top.place("seeds"), "other-task", message, "take `seeds` out")
    for item in top.items("seeds") if "seeds" in top else ():
        if type(item.value) is not int or not 0 <= item.value <= LARGEST_SEED:
            message, hint = f"{item.shown} is not a seed", f"a whole number, 0 to {LARGEST_SEED}"
            top.complain(item.line, item.column, "bad-seed", message, hint)
        elif item.value in seeds:
            message = f"the seed {item.shown} is already listed"
            top.complain(item.line, item.column, "bad-seed", message)
        else:
            seeds.append(item.value)
    return tuple(seeds)


def locate_model(top: Section) -> dict[str, Location]:
    """Return the places of `model`, of what it gives, and of each seed, for later messages."""
    section = top.section("model")
    places = {name: section.locate(name) for name in section}
    items = top.items("seeds") if "seeds" in top else ()
    seeds = {str(item.value): top.locate_at(item.line, item.column) for item in items}
    return {**seeds, "model": top.locate("model"), **places}


def _overridden(preset: Preset, overrides: Mapping[str, Any], section: Section) -> Preset:
    try:
        preset = preset.override(**overrides)
    except ConfigError as error:
        named = (error.field, *re.findall(r"`(\w+)`", str(error)))
        given = next((name for name in named if name in section), error.field)
        section.complain(*section.place(given), "impossible-model", str(error))
        return preset
    task = task_of(preset)
    misfit = task.misfit(preset.model) or _too_few_layers(task, preset.model.n_layers)
    if misfit:
        line, column = section.place(misfit[0])
        section.complain(line, column, "impossible-model", misfit[1])
    return preset


def _too_few_layers(task: Task, n_layers: int) -> tuple[str, str] | None:
    if task.has_evidence and n_layers < FEWEST_LAYERS:
        return "n_layers", f"`n_layers` = {n_layers} is too small: claims compare two layers"
    return None
