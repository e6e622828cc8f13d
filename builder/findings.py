"""What stages of pages and of quizzes find besides HTML: links, and what is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

from builder.content.site import Site
from builder.errors import Diagnostic, Location
from builder.links import Link, dangling, ids_in
from builder.stages import Result


@dataclass(frozen=True, slots=True)
class Findings:
    """What one stage found; `url` is the page that its links are followed from."""

    url: str
    links: Sequence[Link]
    diagnostics: Sequence[Diagnostic]

    @classmethod
    def of(cls, url: str, result: Result) -> Findings:
        """Read the facts of a result that `facts` made."""
        links = [Link(href, Location(*place)) for href, place in result.facts["links"]]
        return cls(url, links, [Diagnostic(**each) for each in result.facts["diagnostics"]])


def facts(links: Iterable[Link], diagnostics: Iterable[Diagnostic]) -> dict[str, Any]:
    """Return links and problems as facts of a result, which JSON can hold."""
    return {
        "links": [[link.href, astuple(link.location)] for link in links],
        "diagnostics": [diagnostic.as_dict() for diagnostic in diagnostics],
    }


def citations(found: Iterable[Findings]) -> Mapping[str, Sequence[Location]]:
    """Return where claims are cited, by the claim's id."""
    places: dict[str, list[Location]] = {}
    for link in (link for each in found for link in each.links):
        places.setdefault(link.href.partition("#claim-")[2], []).append(link.location)
    return places


def dangling_links(
    found: Sequence[Findings], files: Mapping[str, bytes], site: Site
) -> Iterator[Diagnostic]:
    """Report links to what is not among the files of the site.

    What a page lacks whose own blocks have failed is no more problem.
    """
    broken = {each.url for each in found if any(x.severity == "error" for x in each.diagnostics)}
    ids = {path: None if path in broken else ids_in(path, data) for path, data in files.items()}
    for each in found:
        problems = (dangling(link, each.url, ids, site.base_url, site.task) for link in each.links)
        yield from filter(None, problems)
