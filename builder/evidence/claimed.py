"""Claims about stored tables: what is said where a table cannot be read, or denies one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from builder.claims.statements import false_claims, unmatched_claims
from builder.content.strings import Texts
from builder.errors import Diagnostic, Location
from builder.evidence.tables import FOLDER, TABLES
from builder.snapshot_files import Computed

OF_SITE = "story-is-chosen"
"""A claim about a table that is also one about the site's own seed."""


def problems_of_tables(computed: Computed, texts: Texts) -> Iterator[Diagnostic]:
    """Return what is wrong with stored tables, and with the texts of claims.

    That a table cannot be read is an error if a text is about it. It stands for those texts: that
    their claims could not be checked follows from it.
    """
    unread = _unread(computed)
    claimed = {
        f"{FOLDER}/{table}.json" for claim, table in unread.items() if _is_told(claim, texts)
    }
    for found in computed.warnings:
        yield replace(found, severity="error") if found.path in claimed else found
    yield from unmatched_claims(computed.claims, _without(unread, texts))


def denied_claims(
    computed: Computed, texts: Texts, citations: Mapping[str, Sequence[Location]]
) -> Iterator[Diagnostic]:
    """Return claims that do not hold, as `false_claims` does; no other seed mends a table."""
    commands = {table.name: table.command for table in TABLES}
    for claim in computed.claims:
        for found in false_claims([claim], texts, citations):
            table = _tables_of_claims().get(claim.id)
            if table is None or claim.id == OF_SITE:
                yield found
                continue
            sentences = found.hint.partition(", or the seed")[0]
            made = f"which `python -m builder {commands[table]}` makes, for any seed of the site"
            yield replace(found, hint=f"{sentences}: so says {FOLDER}/{table}.json, {made}")


def _unread(computed: Computed) -> dict[str, str]:
    """Claims whose table should be there and is not, each with its table."""
    wrong = {problem.path for problem in computed.warnings}
    if not wrong:
        return {}
    return {
        claim: table
        for claim, table in _tables_of_claims().items()
        if f"{FOLDER}/{table}.json" in wrong and f"evidence/{table}.json" not in computed.files
    }


def _tables_of_claims() -> dict[str, str]:
    """Not asked where nothing is wrong: their predicates need numpy."""
    from builder.claims.tables import PREDICATES

    return {claim: table for claim, (table, _) in PREDICATES.items()}


def _is_told(claim: str, texts: Texts) -> bool:
    return any(f"claim.{claim}" in told for told in texts.strings.values())


def _without(claims: Mapping[str, str], texts: Texts) -> Texts:
    names = {f"claim.{claim}" for claim in claims}
    return Texts(
        {
            code: {name: text for name, text in told.items() if name not in names}
            for code, told in texts.strings.items()
        },
        texts.locations,
    )
