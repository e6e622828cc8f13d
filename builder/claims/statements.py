"""What claims say in words: which of it is false, and which claim has no words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from builder.claims.result import ClaimResult
from builder.content.strings import Texts
from builder.errors import Diagnostic, Location, did_you_mean, nearest


def false_claims(
    claims: Iterable[ClaimResult],
    texts: Texts,
    citations: Mapping[str, Sequence[Location]],
    sources: Mapping[str, str],
) -> Iterator[Diagnostic]:
    """Report claims that do not hold, with the numbers they rest on and where they are cited.

    Parameters
    ----------
    claims
        What came of every claim.
    texts
        Has a text for each of them.
    citations
        A claim's id -> where chapters cite it.
    sources
        A claim's id -> what says so whatever the seed of the site, if something does.
    """
    for claim in claims:
        if not claim.holds:
            numbers = ", ".join(f"{name} = {value}" for name, value in claim.numbers.items())
            message = f"the claim `{claim.id}` does not hold: {numbers}"
            cited = (f"{place.path}:{place.line}" for place in citations.get(claim.id, ()))
            places = list(dict.fromkeys(cited))  # two pages may show one sentence of a quiz
            sentences = f"what stands at {' and '.join(places)}" if places else "the sentence"
            source = sources.get(claim.id)
            seed = ", or the seed under `model` in content/site.yml"
            hint = f"change {sentences}" + (f": so says {source}" if source else seed)
            yield texts.locations[f"claim.{claim.id}"].problem("false-claim", message, hint)


def unmatched_claims(
    claims: Iterable[ClaimResult], texts: Texts, unchecked: Collection[str]
) -> Iterator[Diagnostic]:
    """Report claims that have no text, and texts of claims that do not exist.

    Those that could not be checked are neither. A text that was probably meant for a claim without
    one is one problem, not two.
    """
    known = [claim.id for claim in claims]
    told = {
        name.removeprefix("claim.")
        for name in next(iter(texts.strings.values()))
        if name.startswith("claim.")
    }.difference(unchecked)
    untold = [claim_id for claim_id in known if claim_id not in told]
    for claim_id in sorted(told - set(known)):
        meant = nearest(claim_id, untold)
        untold = [other for other in untold if other != meant]
        message = f"there is no claim `{claim_id}` in builder/claims/predicates.py"
        hint = f"did you mean `{meant}`?" if meant else did_you_mean(claim_id, known)
        yield texts.locations[f"claim.{claim_id}"].problem("unknown-claim", message, hint)
    group = texts.locations.get("claim", Location("content/claims.yml"))
    for claim_id in untold:
        message, hint = f"the claim `{claim_id}` has no text", "say what it means"
        yield group.problem("unknown-claim", message, hint)
