"""The words of the interface, by language, from `site_templates/strings.yml`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Formatter

from builder.content.section import Section
from builder.content.site import Language
from builder.content.strict_yaml import read_section
from builder.content.text_file import read_text
from builder.errors import BuildError, Diagnostics, Location, did_you_mean, nearest

Strings = Mapping[str, str]
"""Text by dotted name, such as `figure.layer`, in one language."""


_PLACE_HINT = "a place is a name in braces, such as `{number}`; a brace itself is `{{`"


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts in every language, and where they stand.

    Attributes
    ----------
    strings
        Language code -> dotted name -> text.
    locations
        Dotted name of a group, of a text, or of a text in one language -> its place.
    """

    strings: Mapping[str, Strings]
    locations: Mapping[str, Location]

    def filled(self, name: str, code: str, values: Mapping[str, object]) -> str:
        """Return a text in a language, its `{places}` filled in.

        Raises
        ------
        BuildError
            If there is no such text, or if it has other places.
        """
        text = self.strings[code].get(name)
        if text is None:
            nowhere = Location("site_templates/strings.yml")
            near = nearest(name, list(self.strings[code]))
            location = self.locations.get(near or name.partition(".")[0], nowhere)
            hint = did_you_mean(name, self.strings[code])
            raise BuildError(location.problem("text", f"there is no text `{name}`", hint))
        try:
            return text.format(**values)
        except (AttributeError, LookupError, ValueError) as error:
            places = {place for _, place, _, _ in Formatter().parse(text) if place}
            wrong = ", ".join(f"`{{{place}}}`" for place in sorted(places - set(values)))
            message = f"the text `{name}` has no such place to fill in as {wrong}"
            hint = f"it has {', '.join(f'`{{{place}}}`' for place in sorted(values)) or 'none'}"
            raise BuildError(
                self.locations[f"{name}.{code}"].problem("text", message, hint)
            ) from error

    def __or__(self, other: Texts) -> Texts:
        strings = {code: {**self.strings[code], **other.strings[code]} for code in self.strings}
        return Texts(strings, {**self.locations, **other.locations})


def load_texts(
    path: Path, languages: Sequence[Language], diagnostics: Diagnostics, only: str = ""
) -> Texts:
    """Read every text in every language of the site.

    The file has groups of names of languages: ``figure: {layer: {zh: ..., en: ...}}``. A text
    that lacks a language of the site is an error. A language that the site does not have may
    stand with every text, not with some: that would be a slip. A group besides `only`, if given,
    is an error.
    """
    shown = f"{path.parent.name}/{path.name}"
    top = read_section(read_text(path, shown, diagnostics) or "", shown, diagnostics)
    locations: dict[str, Location] = {}
    found: dict[str, Section] = {}
    for group in top:
        if only and group != only:
            hint = did_you_mean(group, [only])
            top.complain(*top.place(group), "unknown-field", f"unknown group `{group}`", hint)
            continue
        names = top.section(group)
        locations[group] = top.locate(group)
        locations |= {f"{group}.{name}": names.locate(name) for name in names}
        found |= {f"{group}.{name}": names.section(name) for name in names}
    codes = [language.code for language in languages]
    strings = {code: {name: text.get(code, str) for name, text in found.items()} for code in codes}
    spoken = set.intersection(*(set(text) for text in found.values())) if found else set()
    for name, text in found.items():
        locations |= {f"{name}.{code}": text.locate(code) for code in codes}
        text.finish(ignored=spoken)
        for code in codes:
            if not _has_plain_places(strings[code][name]):
                message = f"`{name}` has a brace that is no place to fill in"
                diagnostics.add(locations[f"{name}.{code}"].problem("text", message, _PLACE_HINT))
    return Texts(strings, locations)


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
