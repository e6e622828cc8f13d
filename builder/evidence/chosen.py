"""The seeds that readers can choose: their weights, and what came of every claim for them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from builder.code import SourceCode
from builder.errors import BuildError, Diagnostic
from builder.evidence.tables import CENSUS, SEEDS
from builder.stages import Ingredients, Result, Stored, digest
from model.config import Preset


@dataclass(frozen=True, slots=True)
class ChosenSeeds:
    """Takes what pages need of other seeds from the stored tables: nothing is trained here.

    Where the stored weights are not those of this code and recipe there are none to choose, and
    where the census is not of these weights it says nothing of their claims.

    Attributes
    ----------
    preset, source
        The model with its recipe, and the code.
    seeds
        Those that the site lists; the preset's own may be among them.
    tables
        The tables of evidence; the facts have the problems of each.
    """

    preset: Preset
    source: SourceCode
    seeds: Sequence[int]
    tables: Stored

    def ingredients(self) -> Ingredients:
        """Everything that decides the result."""
        code = self.source.ingredients("builder.evidence.chosen", tools=("numpy",))
        decided = {"preset": digest(repr(self.preset)), "seeds": digest(repr(self.seeds))}
        return {**code, **decided, "tables": self.tables.digest}

    def result(self) -> Result:
        """Return as facts what a page needs of each seed but the preset's own.

        By the seed, as text: weights `initial` and `trained`, packed; the `figures` of its
        training; and of each claim whether it `holds`, and its `numbers`.

        Raises
        ------
        BuildError
            If no weights are stored for a seed.
        """
        unfit = {name for name, _ in self.tables.facts["problems"]}
        others = [seed for seed in self.seeds if seed != self.preset.training.seed]
        if SEEDS.name in unfit or not others:
            return Result({})
        records = self._table(SEEDS.snapshot_path)
        census = {} if CENSUS.name in unfit else self._table(CENSUS.snapshot_path)
        _require_stored(others, records)
        return Result({}, {str(seed): self._of(seed, records, census) for seed in others})

    def _table(self, path: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = json.loads(self.tables.files[path])
        return found

    def _of(self, seed: int, records: Mapping[str, Any], census: Mapping[str, Any]) -> Any:
        from model.census import WEIGHTS
        from model.packed import packed
        from model.train import initial_weights

        preset, record = self.preset.override(seed=seed), records[str(seed)]
        start = initial_weights(preset.model, seed)
        initial = {key: weight.astype("float32") for key, weight in start.items()}
        figures = {name: value for name, value in record.items() if name != WEIGHTS}
        numbers = census.get("of_seed", {}).get(str(seed), {})
        return {
            "initial": packed(initial, preset.model),
            "trained": record[WEIGHTS],
            "figures": asdict(preset.training) | figures,
            "claims": {
                claim: {"holds": seed not in census["claims"][claim]["fails_for"], "numbers": found}
                for claim, found in numbers.items()
            },
        }


def _require_stored(seeds: Sequence[int], records: Mapping[str, Any]) -> None:
    missing = next((seed for seed in seeds if str(seed) not in records), None)
    if missing is not None:
        message = f"no weights are stored for seed {missing}"
        hint = f"take `{missing}` out, or train it with `python -m builder census --seeds ...`"
        raise BuildError(Diagnostic("content/site.yml", 0, 0, "unknown-seed", message, hint))
