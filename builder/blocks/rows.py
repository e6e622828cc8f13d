"""Rows of tables; names and cells are HTML."""

from __future__ import annotations

from collections.abc import Iterable


def head_row(names: Iterable[str]) -> str:
    """Return the head of a table; a column without a name has no head."""
    cells = (f'<th scope="col">{name}</th>' if name else "<td></td>" for name in names)
    return f"<thead><tr>{''.join(cells)}</tr></thead>"


def row(name: str, cells: Iterable[str], more: str = "") -> str:
    """Return a row; `more` are attributes, each after a space."""
    filled = "".join(f"<td>{cell}</td>" for cell in cells)
    return f'<tr{more}><th scope="row">{name}</th>{filled}</tr>'
