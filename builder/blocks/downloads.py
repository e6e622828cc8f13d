"""`::: downloads`: the files of the snapshot, grouped by folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby
from posixpath import dirname
from typing import Any

from builder.blocks.directive import Argument, Body, Context, Directive, Options
from builder.blocks.rows import head_row, row
from builder.numbers.display import display_whole
from builder.snapshot_files import MANIFEST, SNAPSHOTS

NAME = "downloads"
ARGUMENT = Argument.NONE
BODY = Body.OPTIONS
OPTIONS: Options = {}

File = Mapping[str, Any]
"""What the manifest says of one file."""


def render(_directive: Directive, context: Context) -> str:
    """Return tables of links with sizes: the top folder in sight, the others folded."""
    root = context.chapter.language.root + SNAPSHOTS
    groups = _by_folder(context.numbers.snapshot.manifest["files"])
    # The manifest cannot say how large it is itself.
    manifest = row(_link(MANIFEST, root), ["", ""])
    rows = manifest + _rows(groups.pop("", []), root)
    top = _table(context.words("figure.files"), rows, context)
    rest = "".join(_folder(name, files, root, context) for name, files in groups.items())
    return f'<div class="downloads">{top}{rest}</div>\n'


def _by_folder(files: Sequence[File]) -> dict[str, list[File]]:
    def folder(file: File) -> str:
        return dirname(str(file["path"]))

    return {name: list(group) for name, group in groupby(sorted(files, key=folder), folder)}


def _folder(name: str, files: Sequence[File], root: str, context: Context) -> str:
    summary = context.words(
        "figure.folder",
        name=name,
        files=display_whole(len(files)),
        numbers=display_whole(sum(file["numbers"] for file in files)),
        bytes=display_whole(sum(file["bytes"] for file in files)),
    )
    table = _table(f"{name}/", _rows(files, root), context)
    return f"<details><summary>{escape(summary)}</summary>{table}</details>"


def _table(caption: str, rows: str, context: Context) -> str:
    names = ("figure.file", "figure.file_numbers", "figure.file_bytes")
    head = head_row(context.html(name) for name in names)
    return (
        f'<table><caption class="visually-hidden">{escape(caption)}</caption>'
        f"{head}<tbody>{rows}</tbody></table>"
    )


def _rows(files: Sequence[File], root: str) -> str:
    return "".join(
        row(
            _link(file["path"], root),
            [display_whole(file["numbers"]), display_whole(file["bytes"])],
        )
        for file in files
    )


def _link(path: str, root: str) -> str:
    return f'<a href="{escape(root + path)}">{escape(path)}</a>'
