"""Claims about stored tables: what is said where a table cannot be read, or denies one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from builder.claims.statements import false_claims, unmatched_claims
from builder.content.strings import Texts
from builder.errors import Diagnostic, Location
from builder.evidence.tables import TABLES, Table
from builder.snapshot_files import Computed

OF_SITE = "story-is-chosen"
"""A claim about a table that is also one about the site's own seed."""


def problems_of_tables(computed: Computed, texts: Texts) -> Iterator[Diagnostic]:
    """Return what is wrong with stored tables, and with the texts of claims.

    That a table cannot be read is an error if a text is about it. It stands for those texts: that
    their claims could not be checked follows from it.
    """
    unread = _unread(computed)
    told = {
        table.shown_path for claim, table in unread.items() if f"claim.{claim}" in texts.locations
    }
    for found in computed.warnings:
        yield replace(found, severity="error") if found.path in told else found
    yield from unmatched_claims(computed.claims, texts, unread)


def denied_claims(
    computed: Computed, texts: Texts, citations: Mapping[str, Sequence[Location]]
) -> Iterator[Diagnostic]:
    """Return claims that do not hold; no other seed mends one about a table."""
    if all(claim.holds for claim in computed.claims):
        return
    sources = {
        claim: f"{table.shown_path}, which `python -m builder {table.command}` makes,"
        " for any seed of the site"
        for claim, table in _tables_of_claims().items()
        if claim != OF_SITE
    }
    yield from false_claims(computed.claims, texts, citations, sources)


def _unread(computed: Computed) -> dict[str, Table]:
    """Claims whose table should be there and is not, each with its table."""
    wrong = {problem.path for problem in computed.warnings}
    return {
        claim: table
        for claim, table in (_tables_of_claims() if wrong else {}).items()
        if table.shown_path in wrong and table.snapshot_path not in computed.files
    }


def _tables_of_claims() -> dict[str, Table]:
    """Not asked where nothing is wrong: their predicates need numpy."""
    from builder.claims.tables import PREDICATES

    by_name = {table.name: table for table in TABLES}
    return {claim: by_name[name] for claim, (name, _) in PREDICATES.items()}
