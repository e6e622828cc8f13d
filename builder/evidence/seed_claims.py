"""Every claim again, for other seeds: recomputed from their stored weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from builder.claims.predicates import check_claims
from builder.claims.result import ClaimResult
from builder.claims.world import INTERVENTIONS, World
from model.config import Preset

Record = Mapping[str, Any]
"""The figures of a seed's training, and its packed weights."""


def claims_of_seeds(preset: Preset, records: Mapping[str, Record]) -> dict[str, list[Any]]:
    """Check every claim for some seeds.

    Parameters
    ----------
    preset
        Sizes and recipe.
    records
        Seed, as text -> what `model.census.train_seeds` has made of it.

    Returns
    -------
    dict
        Seed -> the result of each claim, as a mapping.
    """
    from model.evidence import train_uniform

    seeds = [int(seed) for seed in records]
    controls = train_uniform(preset, seeds)
    return {
        str(seed): [
            asdict(result)
            for result in _claims(preset.override(seed=seed), records[str(seed)], control)
        ]
        for seed, control in zip(seeds, controls, strict=True)
    }


def _claims(preset: Preset, record: Record, control: Any) -> list[ClaimResult]:
    from model.census import WEIGHTS
    from model.evidence import gather
    from model.packed import unpacked
    from model.train import initial_weights

    config = preset.model
    start = initial_weights(config, preset.training.seed)
    initial = {key: weight.astype("float32") for key, weight in start.items()}
    trained = unpacked(record[WEIGHTS], config)
    evidence = asdict(gather(initial, trained, preset, control))
    figures = {name: value for name, value in record.items() if name != WEIGHTS}
    account = asdict(preset.training) | figures
    world = World(_snapshot(initial, trained, preset), config, account, evidence)
    return check_claims(world)


def _snapshot(initial: Mapping[str, Any], trained: Mapping[str, Any], preset: Preset) -> Any:
    """The part of a site's snapshot that claims look at, written and read back like all of it."""
    from model.documents import File
    from model.interventions import intervene
    from model.snapshot import Snapshot
    from model.trace_files import gradient_files, trace_files

    files = [
        File.of("weights/initial.json", {"step": 0, "tensors": initial}),
        File.of("weights/trained.json", {"step": preset.training.steps, "tensors": trained}),
        *trace_files("trained", trained, preset.model),
        *gradient_files("initial", initial, preset.model),
        File.of(INTERVENTIONS, intervene(trained, preset.model)),
    ]
    return Snapshot(Path("snapshots"), {file.path: file.data for file in files})


def table(claims: Mapping[str, list[Record]]) -> dict[str, Any]:
    """Return the table: of how many seeds each claim holds.

    Parameters
    ----------
    claims
        Seed -> results of all claims, as `claims_of_seeds` returns them.
    """
    seeds = sorted(map(int, claims))
    holds = {
        seed: {result["id"]: result["holds"] for result in claims[str(seed)]} for seed in seeds
    }
    ids = [result["id"] for result in claims[str(seeds[0])]]
    return {
        "n_seeds": len(seeds),
        "seeds": seeds,
        "claims": {
            claim: {
                "holds": sum(holds[seed][claim] for seed in seeds),
                "fails_for": [seed for seed in seeds if not holds[seed][claim]],
            }
            for claim in ids
        },
        "all_hold_for": [seed for seed in seeds if all(holds[seed].values())],
        "of_seed": {
            str(seed): {result["id"]: result["numbers"] for result in claims[str(seed)]}
            for seed in seeds
        },
    }
