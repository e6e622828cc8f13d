"""The words of the interface, by language, from `site_templates/strings.yml`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Formatter

from builder.errors import Diagnostics, did_you_mean
from builder.site import Language
from builder.strict_yaml import Section, read_section
from builder.text_file import read_text

Strings = Mapping[str, str]
"""Text by dotted name, such as `figure.receiver`, in one language."""


def load_strings(
    path: Path, languages: Sequence[Language], diagnostics: Diagnostics, only: str = ""
) -> dict[str, Strings]:
    """Read every text in every language of the site.

    The file has groups of names of languages: ``figure: {receiver: {zh: ..., en: ...}}``. A text
    that lacks a language of the site is an error, and so is a group besides `only`, if given.

    Returns
    -------
    dict
        Language code -> dotted name -> text.
    """
    shown = f"{path.parent.name}/{path.name}"
    texts: dict[str, dict[str, str]] = {language.code: {} for language in languages}
    source = read_text(path, shown, diagnostics)
    top = read_section(source or "", shown, diagnostics)
    for group in top:
        if only and group != only:
            hint = did_you_mean(group, [only])
            top.complain(*top.place(group), "unknown-field", f"unknown group `{group}`", hint)
            continue
        names = top.section(group)
        for name in names:
            _collect(names.section(name), f"{group}.{name}", texts)
    return dict(texts)


def _collect(section: Section, name: str, texts: Mapping[str, dict[str, str]]) -> None:
    for code, known in texts.items():
        known[name] = section.get(code, str)
        if not _has_plain_places(known[name]):
            message = f"`{name}` has a brace that is no place to fill in"
            hint = "a place is a name in braces, such as `{number}`; a brace itself is `{{`"
            section.complain(*section.place(code), "text", message, hint)


def _has_plain_places(text: str) -> bool:
    """Whether the text can be filled in without looking into what fills it."""
    try:
        places = list(Formatter().parse(text))
    except ValueError:
        return False
    return all(
        name is None or (name.isidentifier() and not spec and not conversion)
        for _, name, spec, conversion in places
    )
