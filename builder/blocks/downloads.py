"""`::: downloads`: the files of the snapshot, grouped by folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from itertools import groupby
from posixpath import dirname
from typing import Any

from builder.blocks.directive import Argument, Body, Context, Directive, Options
from builder.display import display_whole

NAME = "downloads"
ARGUMENT = Argument.NONE
BODY = Body.OPTIONS
OPTIONS: Options = {}


def render(_directive: Directive, context: Context) -> str:
    """Return a table of links with sizes; long folders are folded."""
    root = "../" * context.chapter.language.prefix.count("/") + "snapshots/"
    files = context.snapshot.manifest["files"]
    by_folder = groupby(files, lambda file: dirname(file["path"]))
    groups = {folder: list(group) for folder, group in by_folder}
    top = "".join(_row(file, root) for file in groups.pop("", []))
    rest = "".join(_folder(name, group, root, context) for name, group in groups.items())
    head = "".join(
        f'<th scope="col">{escape(context.words(name))}</th>'
        for name in ("figure.file", "figure.file_numbers", "figure.file_bytes")
    )
    manifest = f'<tr><th scope="row"><a href="{root}manifest.json">manifest.json</a></th>'
    return (
        f'<div class="downloads"><table><thead><tr>{head}</tr></thead><tbody>'
        f"{manifest}<td></td><td></td></tr>{top}</tbody></table>{rest}</div>\n"
    )


def _row(file: Mapping[str, Any], root: str) -> str:
    path = escape(file["path"])
    return (
        f'<tr><th scope="row"><a href="{root}{path}">{path}</a></th>'
        f"<td>{display_whole(file['numbers'])}</td><td>{display_whole(file['bytes'])}</td></tr>"
    )


def _folder(name: str, files: Iterable[Mapping[str, Any]], root: str, context: Context) -> str:
    listed = list(files)
    summary = context.words(
        "figure.folder",
        name=name,
        files=display_whole(len(listed)),
        numbers=display_whole(sum(file["numbers"] for file in listed)),
        bytes=display_whole(sum(file["bytes"] for file in listed)),
    )
    rows = "".join(_row(file, root) for file in listed)
    return (
        f"<details><summary>{escape(summary)}</summary>"
        f"<table><tbody>{rows}</tbody></table></details>"
    )
