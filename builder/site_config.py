"""The fields of `content/site.yml`, each read and checked by one function."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from builder.errors import Location, did_you_mean
from builder.site import Language, nearest_problem
from builder.strict_yaml import Section
from model import task
from model.config import PRESETS, ConfigError, Preset, preset_fields

LANGUAGE_STATES = ("finished", "in progress")


def check_problem(section: Section, name: str, default: str) -> str:
    """Return a problem's name such as `7x8`, checked to be one of the hundred."""
    problem = section.get(name, str, default)
    if problem in task.BY_NAME:
        return problem
    message = f"there is no problem `{problem}`"
    section.complain(*section.place(name), "unknown-problem", message, nearest_problem(problem))
    return default


def read_languages(top: Section) -> list[Language]:
    """Return the languages, the default one first."""
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


def read_slugs(top: Section) -> list[str]:
    """Return the names of the chapters in reading order; the first is `index`."""
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


def read_by_language(top: Section, name: str, languages: list[Language]) -> dict[str, str]:
    """Return a text that every language of the site must have, by language code."""
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
        if isinstance(value, (Section, list)):
            section.complain(*section.place(field), "wrong-type", f"`{field}` must be a number")
            return preset
    return _overridden(preset, overrides, section)


def locate_model(top: Section) -> dict[str, Location]:
    """Return the places of the section `model` and of what it gives, for later messages."""
    section = top.section("model")
    return {"model": top.locate("model"), **{name: section.locate(name) for name in section}}


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
