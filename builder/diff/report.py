"""A comparison in words: for a terminal, and as Markdown for a job summary."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from builder.diff.cells import is_evidence
from builder.diff.meaning import (
    AnswerChange,
    AttentionChange,
    ClaimChange,
    ItemChange,
    PredictionChange,
)
from builder.diff.tensors import TensorDifference
from builder.snapshot_files import MANIFEST
from model.tensors import in_prose

if TYPE_CHECKING:
    from builder.diff.comparison import Difference

MOST_ROWS, MOST_TENSORS, MOST_NAMES, LONGEST_ROW = 8, 4, 3, 400
"""Longer lists end in "and N more", longer rows in "…"; `--json` has everything."""

_DIGEST = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{52}\b")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the rows under it, already cut short."""

    title: str
    rows: tuple[str, ...] = ()


def sections(difference: Difference) -> list[Section]:
    """Order what was found: the verdict, why, what it means, where it is, what else is odd."""
    d = difference
    found = [
        _section("seed, recipe and headline figures that changed", map(_item, d.headline)),
        _claims(d.claims),
        _section("answers that changed", map(_answer, d.answers)),
        _section("predictions that changed", map(_prediction, d.predictions)),
        _section("rows of attention that read another token most", map(_attention, d.attention)),
        _section(f"files only in {d.new}", d.added),
        _section(f"files only in {d.old}", d.removed),
        *_tensors(d.tensors),
        _section(
            "other entries that changed",
            (f"{f.name} in {f.file}: {f.old} → {f.new}" for f in d.fields),
        ),
        _section("warnings", d.warnings),
    ]
    return [Section(_verdict(d)), *(section for section in found if section.rows)]


def plain(found: Sequence[Section]) -> list[str]:
    """Return the lines for a terminal."""
    lines = []
    for section in found:
        lines.append(_printable(section.title) + (":" if section.rows else ""))
        lines += [f"  {_printable(row)}" for row in section.rows]
    return lines


def markdown(found: Sequence[Section]) -> str:
    """Return Markdown whose rows are shown as they are, whatever characters they hold."""
    verdict, *rest = found
    parts = [f"### Snapshots\n\n{_escaped(verdict.title)}\n"]
    for section in rest:
        rows = "\n".join(map(_escaped, section.rows))
        parts.append(f"**{_escaped(section.title)}**\n\n<pre>\n{rows}\n</pre>\n")
    return "\n".join(parts)


def _verdict(d: Difference) -> str:
    others = {None: "", 0: "; all other files are the same"}.get(
        d.n_others, f"; other files that differ, such as pages: {d.n_others}"
    )
    if d.is_same:
        return f"snapshots: same, {d.n_files} files, byte for byte{others}"
    counts = [f"{len(d.changed)} of {d.n_files} common files"] if d.changed else []
    if 0 < len(d.changed) <= MOST_NAMES:
        counts[0] += f" ({', '.join(d.changed)})"
    counts += [f"{len(d.added)} added"] if d.added else []
    counts += [f"{len(d.removed)} removed"] if d.removed else []
    verdict = f"snapshots: different, {', '.join(counts)}{others}"
    says_something = d.added or d.removed or d.headline or d.claims or d.tensors or d.fields
    if says_something or d.changed == (MANIFEST,):
        return verdict
    return f"{verdict}; but only in how they are written: every value is equal"


def _section(title: str, rows: Iterable[str], most: int = MOST_ROWS) -> Section:
    kept = list(rows)
    hidden = len(kept) - most
    title = f"{title} ({len(kept)})" if len(kept) > 1 else title
    if hidden > 0:
        kept[most:] = [f"and {hidden} more"]
    cut = (row if len(row) <= LONGEST_ROW else f"{row[:LONGEST_ROW]}…" for row in kept)
    return Section(title, tuple(cut))


def _claims(claims: Sequence[ClaimChange]) -> Section:
    """Say first whether any verdict changed: most often only the numbers behind them move."""
    n_changed = sum(claim.old != claim.new for claim in claims)
    verdicts = f"{n_changed} changed" if n_changed else "none changed"
    moved = f"; numbers moved in {len(claims) - n_changed}" if len(claims) > n_changed else ""
    rows = _section("", map(_claim, claims)).rows
    return Section(f"claims, verdicts: {verdicts}{moved}", rows)


def _tensors(tensors: Iterable[TensorDifference]) -> Iterator[Section]:
    for group, members in groupby(tensors, key=lambda tensor: tensor.group):
        kind, most = ("numbers", MOST_ROWS) if is_evidence(group) else ("tensors", MOST_TENSORS)
        yield _section(f"{kind} of {group}", map(_tensor, members), most)


def _tensor(d: TensorDifference) -> str:
    if d.n_compared == 1:
        return str(d.cell)
    largest = "a mask" if d.largest is None else f"{d.largest:.3g}"
    files = f" in {d.n_files} files" if d.n_files > 1 else ""
    return (
        f"{d.cell}; largest difference {largest}, mean {d.mean:.2g}, "
        f"{d.n_changed} of {d.n_compared} numbers{files}"
    )


def _item(item: ItemChange) -> str:
    return _DIGEST.sub(r"\1…", str(item))


def _claim(claim: ClaimChange) -> str:
    words = {True: "holds", False: "does not hold", None: "absent"}
    holds = words[claim.old]
    if claim.old != claim.new:
        holds += f" → {words[claim.new]}"
    numbers = "; ".join(map(str, claim.numbers))
    return f"{claim.id}: {holds} ({numbers})" if numbers else f"{claim.id}: {holds}"


def _answer(answer: AnswerChange) -> str:
    is_right = {answer.old: "wrong", answer.new: "wrong", answer.correct: "right"}
    return (
        f"{answer.problem}, {answer.stage}: {answer.old} ({is_right[answer.old]}) → "
        f"{answer.new} ({is_right[answer.new]})"
    )


def _prediction(p: PredictionChange) -> str:
    return (
        f"{p.problem}, {p.stage}: after {p.context} (row {in_prose(p.position)}): "
        f"{p.old} → {p.new}, where {p.target} follows"
    )


def _attention(a: AttentionChange) -> str:
    old, new = in_prose(a.old_position), in_prose(a.new_position)
    return (
        f"{a.problem}, {a.stage}: layer {a.layer}, head {a.head}, "
        f"row {in_prose(a.position)} ({a.token}): "
        f"column {old} ({a.old_token}) → column {new} ({a.new_token})"
    )


def _printable(text: str) -> str:
    """Replace what could move the cursor: file names and keys come from the folders."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)


def _escaped(text: str) -> str:
    return html.escape(_printable(text), quote=False)
