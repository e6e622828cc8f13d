"""The matrix figure, shared by every block that shows a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from builder.blocks.directive import BlockError, Context, Directive, no_target, where
from builder.blocks.follow import of_matrix
from builder.blocks.legend import legend
from builder.blocks.part import BETWEEN, head_name, layer_name, subscripts
from builder.blocks.table import DEFAULT_DECIMALS, Part, axis_word, table
from builder.numbers.address import AddressError
from builder.numbers.display import problem_label, token_label
from builder.numbers.matrix import Matrix

_WIDE = 12
"""Columns from which on a matrix of its own takes more than the width of the text."""


def look_up(directive: Directive, context: Context, option: str = "") -> Matrix:
    """Return the matrix that an option, or else the argument, names, cut where `until` says."""
    address = directive.required(option) if option else directive.argument
    stage, problem = where(directive.options, context)
    target = directive.options.get("target")
    try:
        matrix = context.numbers.matrix(
            address, stage, problem, "" if target is None else str(target)
        )
    except AddressError as error:
        at = "target" if error.rule.endswith("-label") else option  # no other label is looked up
        raise BlockError(error.rule, error.message, error.hint, at) from error
    until = directive.options.get("until")
    try:
        return matrix.until(until) if until else matrix
    except AddressError as error:
        raise BlockError(error.rule, error.message, error.hint, "until") from error


def require_gradient(target: object, *matrices: Matrix) -> None:
    """Refuse a target where nothing asks for one."""
    if target is not None and not any(matrix.is_gradient for matrix in matrices):
        raise no_target(matrices[-1].address)


def matrix_figure(
    matrix: Matrix,
    part: Part,
    context: Context,
    figure_id: str,
    *,
    caption: str = "",
    role: str = "",
    follows: Sequence[str] = (),
) -> str:
    """Return the `<figure>` of a matrix.

    Parameters
    ----------
    matrix, part
        The numbers, and which of them to show.
    context
        Gives the words.
    figure_id
        The element's id.
    caption
        The author's caption as HTML.
    role
        `left`, `right` or `result` within an equation of matrices.
    follows
        What the block follows, from `builder.blocks.follow`.
    """
    name_id = context.ids.part(figure_id, "name")
    size = f' style="--rows:{len(part.rows)};--columns:{len(part.columns)}"'
    meaning = _meaning(matrix, context)
    cells = table(matrix, part, context, spoken(matrix, meaning, context))
    wide = " wide" if len(part.columns) >= _WIDE else ""
    return (
        f'<figure class="matrix{wide}" id="{figure_id}"{_data(matrix, part, role, follows)}>'
        f"<figcaption>{named(matrix, context, name_id)}"
        f'<span class="matrix-meaning">{escape(meaning)}</span> '
        f'<span class="matrix-shape">{escape(_shape(matrix, part, context))}</span> '
        f'<code class="matrix-key">{escape(matrix.address)}</code></figcaption>'
        f"{faces(cells, name_id, size)}{legend(matrix)}{note(caption)}</figure>\n"
    )


def faces(cells: str, name_id: str, more: str = "") -> str:
    """Return the place of a table of cells, named by another element; `more` are attributes."""
    return (
        f'<div class="matrix-faces"{more}><div class="matrix-scroll" tabindex="0" role="group"'
        f' aria-labelledby="{name_id}">{cells}</div></div>'
    )


def note(caption: str) -> str:
    """Return the author's caption below a matrix, if there is one."""
    return f'<p class="matrix-caption">{caption}</p>' if caption else ""


def letter(matrix: Matrix) -> str:
    """Return the article's letter as HTML, or the key's last word where there is none."""
    text = matrix.spec.letter
    if not text:
        return f"<code>{'∂' * matrix.is_gradient}{escape(matrix.spec.name)}</code>"
    html = subscripts(text)
    if matrix.is_gradient:
        html = f"G<sub>{html}</sub>"
    return html + "<sup>⊤</sup>" if matrix.is_transposed else html


def _data(matrix: Matrix, part: Part, role: str, follows: Sequence[str]) -> str:
    data = {
        "key": matrix.spec.key,
        "head": "" if matrix.head is None else str(matrix.head),
        "head-of": matrix.found_by,
        "stage": matrix.stage,
        "problem": matrix.problem,
        "target": str(matrix.target.position) if matrix.target else "",
        "range": matrix.range.value,
        "domain": f"{matrix.domain:g}",
        "transposed": "true" if matrix.is_transposed else "",
        "role": role,
        "follows": " ".join(of_matrix(follows, matrix)),
        **_shown(matrix, part),
    }
    return "".join(f' data-{name}="{escape(text)}"' for name, text in data.items() if text)


def _shown(matrix: Matrix, part: Part) -> dict[str, str]:
    """What is shown, where not all is: scripts find cells by it, and show as much of another."""
    edges = {"rows": (matrix.rows, part.rows), "columns": (matrix.columns, part.columns)}
    parts = {
        name: " ".join(map(str, places))
        for name, (axis, places) in edges.items()
        if list(places) != list(range(len(axis)))
    }
    return {
        "until": "" if matrix.last is None else str(matrix.last),
        **parts,
        "highlighted": " ".join(map(str, sorted(part.highlighted))),
        "decimals": _unusual(part.decimals),
    }


def _unusual(decimals: int) -> str:
    return "" if decimals == DEFAULT_DECIMALS else str(decimals)


def named(matrix: Matrix, context: Context, name_id: str) -> str:
    """Return the head of the caption: the letter, and where the matrix stands."""
    place = escape(whereabouts(matrix, context))
    return (
        f'<span class="matrix-name" id="{name_id}"><span class="matrix-letter">{letter(matrix)}'
        f'</span> <span class="matrix-where">{place}</span></span> '
    )


def whereabouts(matrix: Matrix, context: Context) -> str:
    """Return layer, head, stage and problem, as far as they apply."""
    layer, head = matrix.spec.layer, matrix.head
    parts = [
        "" if layer is None else layer_name(layer, context),
        "" if head is None else head_name(head, context),
        context.words(f"figure.stage_{matrix.stage}"),
        problem_label(matrix.problem),
        context.words("figure.target", token=token_label(matrix.target.token))
        if matrix.target
        else "",
    ]
    return BETWEEN.join(part for part in parts if part)


def _meaning(matrix: Matrix, context: Context) -> str:
    meaning = matrix.spec.meaning.get(context.chapter.language.code, matrix.spec.en)
    if matrix.is_transposed:
        meaning = context.words("figure.turned", of=meaning)
    return context.words("figure.gradient", of=meaning) if matrix.is_gradient else meaning


def _shape(matrix: Matrix, part: Part, context: Context) -> str:
    whole = f"{len(matrix.rows)} × {len(matrix.columns)}"
    shown = f"{len(part.rows)} × {len(part.columns)}"
    if shown == whole:
        return whole
    return context.words("figure.part", shown=shown, whole=whole)


def spoken(matrix: Matrix, meaning: str, context: Context) -> str:
    """Return what a table of numbers is, for those who cannot see it."""
    letters = matrix.spec.letter or matrix.spec.name
    return context.words(
        "figure.table_caption",
        name="∂" * matrix.is_gradient + letters + "⊤" * matrix.is_transposed,
        where=whereabouts(matrix, context),
        meaning=meaning,
        rows=axis_word(matrix.rows, context),
        columns=axis_word(matrix.columns, context),
    )
