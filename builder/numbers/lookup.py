"""From an address to the numbers of the snapshot."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from builder.claims.result import ClaimResult
from builder.errors import did_you_mean
from builder.numbers.address import Address, AddressError, Axis, select
from builder.numbers.arrays import Arrays, readable
from builder.numbers.documents import SOURCES, document_of, number_at
from builder.numbers.gradients import Gradients
from builder.numbers.matrix import Array, Matrix, Target, Value
from builder.numbers.slices import axis_of, of_head, place_of
from model.config import ModelConfig
from model.derived import Product, products
from model.snapshot import STAGES, Snapshot
from model.task import MULTIPLICATION, TOKEN_ID, Task
from model.tensors import TensorSpec, UnknownTensorError, Vocabulary

NEXT = "@next"
"""Names, on an axis of tokens to come, the one that comes."""


@dataclass(frozen=True, slots=True)
class _Whole:
    """A tensor with all its heads, its domain, and the tokens that it has rows for."""

    values: Array
    domain: float
    tokens: tuple[str, ...] = ()
    target: Target | None = None


@dataclass(frozen=True)
class Numbers:
    """Looks up addresses.

    Attributes
    ----------
    snapshot, claims
        Where numbers come from.
    domains
        Key -> colour domain, from `builder.numbers.domains`; 1 where it is missing.
    task
        What the model has learned.
    """

    snapshot: Snapshot
    claims: Mapping[str, ClaimResult]
    domains: Mapping[str, float]
    task: Task = MULTIPLICATION

    def matrix(self, address: str, stage: str, problem: str, target: str = "") -> Matrix:
        """Return the matrix that an address without a cell names.

        `target` is the token, or `@N` the position, after which the loss of a gradient asks; by
        itself the end of the question.

        Raises
        ------
        AddressError
            If there is no such matrix, or if the snapshot's file is damaged.
        """
        parsed, found_by = self._with_head(Address.parse(address))
        matrix, cell = self._resolve(parsed, stage, problem, target)
        if cell:
            raise AddressError(
                "address",
                f"`{address}` is one cell, not a matrix",
                f"`{matrix.address}`; `rows` and `columns` show a part of it",
            )
        return replace(matrix, found_by=found_by) if found_by else matrix

    def value(self, address: str, stage: str, problem: str, target: str = "") -> Value:
        """Return the number that an address names.

        Besides cells of tensors: `manifest.training.final_loss` and any other number of
        manifest.json, dataset.json and training.json (an entry of a list as `[N]`, negative from
        the end; a list of anything but numbers stands for its length), `claims.ID.NUMBER`, and
        `evidence.TABLE.NAME` of a table of evidence.
        The column `@next` of `probs` and `logits` is that of the token which follows the row.

        Raises
        ------
        AddressError
            If there is no such number, or if the snapshot's file is damaged.
        """
        parsed, found_by = self._with_head(Address.parse(address))
        if parsed.key.split(".")[0] in SOURCES:
            document = document_of(self.snapshot, self.claims, parsed)
            return Value(number_at(document, parsed), parsed.text)
        matrix, cell = self._resolve(parsed, stage, problem, target)
        if not cell:
            heads = "HEAD," if matrix.head is not None else ""
            form = f"{'∂' * parsed.is_gradient}{parsed.key}[{heads}ROW,COLUMN]"
            raise AddressError("address", f"`{address}` is a matrix, not a number", f"`{form}`")
        row = matrix.rows.index(cell[0]) if len(cell) > 1 else 0
        column = self._column(matrix, row, cell[-1])
        number = float(matrix.values[row, column])
        shown = None if np.isnan(number) else number
        place = place_of(matrix, row, NEXT[1:] if cell[-1] == NEXT else str(column), self.config)
        return Value(
            shown,
            parsed.text,
            stage=matrix.stage,
            problem=matrix.problem,
            cell=place,
            matrix=matrix.address,
            target=matrix.target.position if matrix.target else None,
            found_by=found_by,
        )

    def position(self, token: str, problem: str) -> int:
        """Return the position of a problem's token; without one, of the end of its question.

        Raises
        ------
        AddressError
            If the problem has no such token.
        """
        if not token:
            return self.task.by_name[problem].asks_at
        return Axis("pos", self._tokens(problem), has_tokens=True).index(token)

    def head_of(self, claim_id: str, key: str) -> int | None:
        """Return the head of a tensor that a claim has found, or None if no such claim finds one.

        Such a claim has the numbers `layer` and `head`, counted from 1.

        Raises
        ------
        AddressError
            If the head is one of another layer than the tensor's.
        """
        if claim_id not in self.finders:
            return None
        numbers = self.claims[claim_id].numbers
        layer, head = numbers["layer"] - 1, int(numbers["head"]) - 1
        if not key.startswith(f"blocks.{layer}."):
            message = f"the head that `{claim_id}` finds is one of `blocks.{layer}`, not of `{key}`"
            raise AddressError("unknown-head", message, "say which head by its index")
        return head

    @functools.cached_property
    def finders(self) -> Sequence[str]:
        """Claims that find a head."""
        return [id_ for id_, claim in self.claims.items() if "head" in claim.numbers]

    @functools.cached_property
    def gradients(self) -> Gradients:
        """Gradients of the same snapshot."""
        return Gradients(self.snapshot)

    @functools.cached_property
    def arrays(self) -> Arrays:
        """Values of the same snapshot."""
        return Arrays(self.snapshot)

    @property
    def config(self) -> ModelConfig:
        """Sizes of the model."""
        return self.arrays.config

    @functools.cached_property
    def _vocabulary(self) -> Vocabulary:
        return Vocabulary(self.config)

    @functools.cached_property
    def _products(self) -> Mapping[str, Product]:
        return products(self.config)

    def _resolve(
        self, address: Address, stage: str, problem: str, target: str
    ) -> tuple[Matrix, tuple[str, ...]]:
        config, spec = self.config, self._spec(address)
        selection = select(address, spec, config.n_heads, self.finders)
        whole = self._whole(address, spec, stage, problem, target)
        tokens = () if spec.is_weight else whole.tokens
        values, head = whole.values, selection.head
        sizes = zip(spec.axes, values.shape, strict=True)
        axes = [axis_of(name, tokens, size) for name, size in sizes]
        if head is not None:
            values, axes = of_head(values, axes, spec, head, config.d_head)
        if len(axes) == 1:
            name = spec.letter or spec.name.rsplit(".", 1)[-1]
            values, axes = values[None], [Axis("vector", (name,), has_tokens=False), *axes]
        shown = "" if spec.is_weight and whole.target is None else problem
        rows, columns = axes
        matrix = Matrix(
            values, rows, columns, spec, head, stage, shown, whole.domain, target=whole.target
        )
        return matrix, selection.cell

    def _whole(
        self, address: Address, spec: TensorSpec, stage: str, problem: str, target: str
    ) -> _Whole:
        if address.is_gradient:
            tokens = self._up_to(problem, target)
            with readable():
                asked, values = self.gradients.of(spec, stage, problem, len(tokens) - 1)
                domain = self.gradients.domain(spec, problem, asked.position)
            return _Whole(values, domain, tokens, asked)
        if spec.key in self._products:
            values = self.arrays.product(spec.key, stage)
            return _Whole(values, self.arrays.product_domain(spec.key))
        path = f"weights/{stage}.json" if spec.is_weight else f"traces/{stage}/{problem}.json"
        tokens = () if spec.is_weight else self.arrays.tokens(path)
        values = self.arrays.tensor(path, spec, spec.shape(self.config, len(tokens) or None))
        return _Whole(values, self.domains.get(spec.key) or 1.0, tokens)

    def _with_head(self, address: Address) -> tuple[Address, str]:
        """The same address with the index of a head that a claim has found, and that claim."""
        claim = address.selectors[0] if address.selectors else ""
        head = self.head_of(claim, address.key)
        return (address, "") if head is None else (address.with_first(str(head)), claim)

    def _up_to(self, problem: str, token: str) -> tuple[str, ...]:
        return self._tokens(problem)[: self.position(token, problem) + 1]

    def _tokens(self, problem: str) -> tuple[str, ...]:
        return self.arrays.tokens(f"traces/{STAGES[0]}/{problem}.json")

    def _column(self, matrix: Matrix, row: int, selector: str) -> int:
        """Return the index of a column; `@next` is the token that follows the row's position."""
        if selector == NEXT and matrix.columns.name == "d_vocab" and matrix.problem:
            return TOKEN_ID[self.task.by_name[matrix.problem].tokens[row + 1]]
        return matrix.columns.index(selector)

    def _spec(self, address: Address) -> TensorSpec:
        vocabulary, made = self._vocabulary, self._products
        try:
            return made[address.key].spec if address.key in made else vocabulary[address.key]
        except UnknownTensorError as error:
            message = f"no tensor is called `{address.key}`"
            hint = did_you_mean(address.key, [*vocabulary, *made])
            raise AddressError("unknown-tensor", message, hint) from error
