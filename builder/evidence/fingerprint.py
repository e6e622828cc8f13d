"""What a stored table was made by: the code without its words, the sizes and the recipe.

Comments and docstrings decide no number, so that mending one does not ask for minutes of training.
"""

from __future__ import annotations

import ast
import functools
import io
import json
import tokenize
from collections.abc import Iterator
from dataclasses import asdict

from builder.code import SourceCode
from builder.stages import digest
from model.config import STEP_RATE, Preset
from model.tensors import Vocabulary

NOT_CODE = ("model.tensors", "model.config", "model.documents", "model.snapshot")
"""What decides a number in the first two enters by itself: what a tensor is, sizes and recipe, the
rate of a single step. The others write and read files."""


def fingerprint(source: SourceCode, modules: tuple[str, ...], preset: Preset, subject: str) -> str:
    """Return the digest of all that decides a table.

    Parameters
    ----------
    source, modules
        The code, and the modules that make the table.
    preset
        Its seed plays no part.
    subject
        Identifies what else the table is about, such as the trained weights; may be empty.
    """
    names = [name for name in source.closure(modules) if name not in NOT_CODE]
    code = [[name, digest(without_words(source.text(name)))] for name in names]
    vocabulary = Vocabulary(preset.model)
    tensors = [
        [spec.key, spec.axes, spec.is_weight, spec.has_gradient, spec.head_axis]
        for spec in vocabulary.values()
    ]
    recipe = asdict(preset.training)
    del recipe["seed"]
    sizes = asdict(preset.model)
    return digest(json.dumps([code, tensors, sizes, recipe, STEP_RATE, subject]))


@functools.cache
def without_words(source: str) -> str:
    """Return Python code without comments, docstrings and empty lines."""
    lines = source.splitlines()
    for first, start, last, end in sorted(_words(source), reverse=True):
        head, tail = lines[first - 1][:start], lines[last - 1][end:]
        lines[first - 1 : last] = [head + tail]
    return "\n".join(line.rstrip() for line in lines if line.strip())


def _words(source: str) -> Iterator[tuple[int, int, int, int]]:
    """First line, column, last line and column of each docstring and comment."""
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            constant = node.value
            if isinstance(constant.value, str) and constant.end_lineno and constant.end_col_offset:
                yield (
                    constant.lineno,
                    _characters(lines[constant.lineno - 1], constant.col_offset),
                    constant.end_lineno,
                    _characters(lines[constant.end_lineno - 1], constant.end_col_offset),
                )
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield (*token.start, *token.end)


def _characters(line: str, n_bytes: int) -> int:
    """How many characters so many bytes of a line are: `ast` counts bytes."""
    return len(line.encode()[:n_bytes].decode())
