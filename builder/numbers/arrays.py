"""The arrays of a snapshot by the names of its files, and what is derived from its weights."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from builder.numbers.address import AddressError
from builder.numbers.domains import covering
from builder.numbers.matrix import Array
from model import derived
from model.config import ModelConfig
from model.snapshot import STAGES, Snapshot, SnapshotError
from model.tensors import TensorSpec


@contextmanager
def readable() -> Iterator[None]:
    """Report a damaged snapshot as an address that cannot be read."""
    try:
        yield
    except AddressError:
        raise
    except SnapshotError as error:
        raise AddressError("snapshot", f"{error.path.name}: {error.message}") from error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise AddressError("snapshot", f"the snapshot is damaged: {error}") from error


@dataclass(frozen=True)
class Arrays:
    """Reads arrays, each once; where the snapshot is damaged they raise AddressError."""

    snapshot: Snapshot
    _known: dict[tuple[str, str], Array] = field(default_factory=dict, repr=False)

    @property
    def config(self) -> ModelConfig:
        """Sizes of the model."""
        with readable():
            return self.snapshot.config

    def tokens(self, path: str) -> tuple[str, ...]:
        """Return the tokens of the problem that a trace is of."""
        tokens = self._part(path, "tokens")
        return tuple(map(str, tokens)) if isinstance(tokens, list) else ()

    def tensor(self, path: str, spec: TensorSpec, shape: tuple[int, ...]) -> Array:
        """Return the file's decimals as they stand: weights too are read as float64."""
        if (path, spec.key) not in self._known:
            tensors = self._part(path, "tensors" if spec.is_weight else "values")
            with readable():
                array = np.array(tensors.get(spec.key), dtype=np.float64)
            if array.shape != shape:
                raise AddressError("snapshot", f"{path}: `{spec.key}` does not have shape {shape}")
            self._known[path, spec.key] = array
        return self._known[path, spec.key]

    def product(self, key: str, stage: str) -> Array:
        """Return a product of weights."""
        if (stage, key) not in self._known:
            with readable():
                weights = self.snapshot.weights(stage)
                self._known[stage, key] = derived.value(key, weights, self.config)
        return self._known[stage, key]

    def product_domain(self, key: str) -> float:
        """Return one domain for both stages and all heads."""
        with readable():
            return covering(max(float(np.abs(self.product(key, stage)).max()) for stage in STAGES))

    def _part(self, path: str, name: str) -> Any:
        with readable():
            part = self.snapshot.document(path).get(name)
        if part is None:
            raise AddressError("snapshot", f"{path}: `{name}` is missing")
        return part
