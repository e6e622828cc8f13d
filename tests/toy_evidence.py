"""Small tables of evidence for tests that render Markdown; the interventions are a real model's."""

from __future__ import annotations

from typing import Any

CONTROLS = {
    "full": {
        "parameters": 3040,
        "seeds": 3,
        "all_correct": 3,
        "correct": 100,
        "fewest": 100,
        "most": 100,
        "loss": 0.415837,
        "steps": 204.5,
        "of_seed": {
            "seed": [0, 1, 2],
            "correct": [100] * 3,
            "loss": [0.4158] * 3,
            "steps": [201, 204, 399],
        },
    },
    "no_mlp": {
        "parameters": 816,
        "seeds": 3,
        "all_correct": 0,
        "correct": 81,
        "fewest": 58,
        "most": 96,
        "loss": 0.5416269,
        "steps": None,
        "of_seed": {
            "seed": [0, 1, 2],
            "correct": [81, 96, 58],
            "loss": [0.5416] * 3,
            "steps": [None] * 3,
        },
    },
}
HELD_OUT = {
    "splits": 2,
    "trained_on": 97,
    "held_out": 3,
    "of_split": [
        {
            "split": 0,
            "trained_right": 97,
            "right": 2,
            "problems": {"0x5": True, "1x6": False, "2x9": True},
        },
        {
            "split": 1,
            "trained_right": 96,
            "right": 0,
            "problems": {"3x0": False, "7x8": False, "8x8": False},
        },
    ],
}
CENSUS = {
    "n_seeds": 3,
    "seeds": [7, 8, 9],
    "claims": {
        "equals-row-identical": {"holds": 3, "fails_for": []},
        "head-found": {"holds": 1, "fails_for": [7, 9]},
    },
}


NAMES = ("census", "controls", "held-out", "interventions")


def tables(weights: Any, config: Any) -> dict[str, Any]:
    """Every table by its name."""
    from model.interventions import intervene

    made = CENSUS, CONTROLS, HELD_OUT, intervene(weights, config)
    return dict(zip(NAMES, made, strict=True))
