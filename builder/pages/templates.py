"""Chapters to HTML pages: what each template is told, and what a broken template says."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jinja2

from builder.content.site import COVER, Chapter, Language, Site
from builder.content.strings import Strings
from builder.errors import BuildError, Diagnostic, excerpt
from builder.markdown import Rendered
from builder.pages.view import PageView, absolute_url

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self' blob:",
        "worker-src blob:",
        "style-src 'self' 'unsafe-inline'",
        "font-src 'self'",
        "img-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
    ]
)
"""Content-Security-Policy of every page: nothing leaves the folder, nothing is evaluated."""


class Pages:
    """Renders the pages of a site.

    Parameters
    ----------
    templates
        The folder `site_templates`.
    site
        Languages, chapters and their order.
    strings
        Texts of the interface by language code.
    seeds
        Those that readers can choose, besides the model's own.

    Raises
    ------
    BuildError
        From every method, if a template is malformed or uses what does not exist.
    """

    def __init__(
        self,
        templates: Path,
        site: Site,
        strings: Mapping[str, Strings],
        seeds: Sequence[str] = (),
    ) -> None:
        self._templates = templates
        self._site = site
        self._strings = strings
        self._seeds = [str(site.preset.training.seed), *seeds] if seeds else []
        self._environment = jinja2.Environment(
            loader=_Loader(templates),
            undefined=jinja2.StrictUndefined,
            auto_reload=False,
            autoescape=jinja2.select_autoescape(["html"]),
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )

    def chapter(self, chapter: Chapter, rendered: Rendered) -> str:
        """Return the page of a chapter."""
        contents = [heading for heading in rendered.headings if heading.level in (2, 3)]
        page = PageView(
            self._site,
            chapter.language,
            chapter.slug,
            chapter,
            rendered.html,
            contents if len(contents) > 1 else (),
        )
        return self._page("chapter.html", page)

    def placeholder(self, language: Language, slug: str) -> str:
        """Return the page of a chapter that is not written in this language yet."""
        return self._page("placeholder.html", PageView(self._site, language, slug, None))

    def not_found(self) -> str:
        """Return the page for addresses that do not exist; it works at any depth."""
        languages = [
            {
                "language": language,
                "t": self._strings[language.code],
                "site_title": self._site.title[language.code],
                "home": absolute_url(self._site, language, COVER),
            }
            for language in self._site.languages
        ]
        return self._render("404.html", languages=languages)

    def _page(self, template: str, page: PageView) -> str:
        t = self._strings[page.language.code]
        return self._render(template, page=page, t=t, policy=POLICY, seeds=self._seeds)

    def _render(self, name: str, **variables: Any) -> str:
        with _template_errors(self._templates, name):
            page = self._environment.get_template(name).render(**variables)
            page.encode()  # half a surrogate pair fails here, where its template is known
            return page


class _Loader(jinja2.FileSystemLoader):
    """Reads templates; one that is no text is the template at fault, not the one that asks."""

    def get_source(self, environment: jinja2.Environment, template: str) -> Any:
        try:
            return super().get_source(environment, template)
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            message = f"byte {error.object[error.start]:#04x} is not UTF-8 text"
            raise jinja2.TemplateSyntaxError(message, line, template) from error


@contextmanager
def _template_errors(templates: Path, name: str) -> Iterator[None]:
    """Turn what Jinja raises into a message with the template's file and line."""
    try:
        yield
    except jinja2.TemplateNotFound as error:
        asking = _last_template_line(templates, error) or (name, 0)
        raise _problem(templates, *asking, f"there is no template `{error.name}`") from error
    except jinja2.TemplateSyntaxError as error:
        raise _problem(templates, error.name or name, error.lineno, str(error.message)) from error
    except Exception as error:  # a template can make anything fail, recursion included
        place = _last_template_line(templates, error) or (name, 0)
        message = str(error) or type(error).__name__
        raise _problem(templates, *place, message) from error


def _last_template_line(templates: Path, error: Exception) -> tuple[str, int] | None:
    """Find the innermost line of a template that an error passed through."""
    root = str(templates) + os.sep
    frames = traceback.extract_tb(error.__traceback__)
    places = [
        (f.filename.removeprefix(root), f.lineno or 0)
        for f in frames
        if f.filename.startswith(root)
    ]
    return places[-1] if places else None


def _problem(templates: Path, name: str, line: int, message: str) -> BuildError:
    lines = (
        (templates / name).read_text("utf-8", errors="replace").splitlines()
        if (templates / name).exists()
        else []
    )
    shown = excerpt(lines[line - 1]) if 0 < line <= len(lines) else ""
    return BuildError(
        Diagnostic(f"{templates.name}/{name}", line, 0, "template", message, excerpt=shown)
    )
