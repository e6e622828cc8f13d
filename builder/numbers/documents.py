"""Numbers that are no tensor's: counts, losses, digests and what claims rest on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from builder.claims.result import ClaimResult
from builder.errors import did_you_mean
from builder.evidence.tables import CENSUS, TABLES
from builder.numbers.address import Address, AddressError
from builder.numbers.arrays import readable
from model.snapshot import Snapshot

DOCUMENTS = ("manifest", "dataset", "training")
SOURCES = (*DOCUMENTS, "claims", "evidence")
"""First names of addresses of numbers that are no tensor's."""


def document_of(
    snapshot: Snapshot, claims: Mapping[str, ClaimResult], address: Address
) -> Mapping[str, Any]:
    """Return what the names after the first of an address are looked up in.

    Raises
    ------
    AddressError
        If there is no such table of evidence, or if the snapshot's file is damaged.
    """
    source, *names = address.key.split(".")
    if source == "claims":
        return {id_: claim.numbers for id_, claim in claims.items()}
    with readable():
        if source == "evidence":
            return _table(snapshot, address, names[0] if names else "")
        document: Mapping[str, Any] = snapshot.document(f"{source}.json")
        return document


def _table(snapshot: Snapshot, address: Address, name: str) -> Mapping[str, Any]:
    """One table of evidence by its name."""
    paths = {table.name: table.snapshot_path for table in TABLES}
    if name not in paths or not has_file(snapshot, paths[name]):
        present = [table for table, path in paths.items() if has_file(snapshot, path)]
        message = f"`{address.text}` is not there: no table of evidence `{name}`"
        raise AddressError("unknown-number", message, did_you_mean(name, present))
    return {name: snapshot.document(paths[name])}


def has_file(snapshot: Snapshot, path: str) -> bool:
    """Whether a snapshot has a file, as its manifest says."""
    return any(file["path"] == path for file in snapshot.manifest["files"])


def census_of(snapshot: Snapshot) -> Mapping[str, tuple[int, int]]:
    """Return of how many seeds each claim holds, and of how many it was asked.

    Empty where the snapshot has no census.
    """
    with readable():
        if not has_file(snapshot, CENSUS.snapshot_path):
            return {}
        census = snapshot.document(CENSUS.snapshot_path)
        return {id_: (c["holds"], census["n_seeds"]) for id_, c in census["claims"].items()}


def number_at(document: Any, address: Address) -> float:
    """Follow the names after the first of an address's key through nested mappings.

    Raises
    ------
    AddressError
        If a name is missing or what is found is not a number.
    """
    found = document
    for name in address.key.split(".")[1:]:
        if not isinstance(found, Mapping) or name not in found:
            choices = list(found) if isinstance(found, Mapping) else []
            message = f"`{address.text}` is not there: no `{name}`"
            raise AddressError("unknown-number", message, did_you_mean(name, choices))
        found = found[name]
    return _number(found, address)


def _number(found: Any, address: Address) -> float:
    if isinstance(found, list) and address.selectors:
        index = ",".join(address.selectors)
        if not re.fullmatch(r"-?[0-9]{1,9}", index) or not -len(found) <= int(index) < len(found):
            hint = f"`[0]` to `[{len(found) - 1}]`" if found else ""
            raise AddressError("unknown-number", f"`{address.text}`: no such entry", hint)
        found = found[int(index)]
    elif isinstance(found, list) and not any(isinstance(item, (int, float)) for item in found):
        return len(found)
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        hint = f"it is `{found}`"
        if isinstance(found, list):
            hint = "choose an entry: `[0]`, or `[-1]` for the last"
        if isinstance(found, Mapping):
            hint = did_you_mean("", found)
        raise AddressError("not-a-number", f"`{address.text}` is not a number", hint)
    return found
