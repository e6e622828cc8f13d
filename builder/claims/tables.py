"""Sentences about tables of evidence: what holds of other trainings, and not of one model.

They say the same whatever the seed of the site, so that the census does not count them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from builder.claims.result import ClaimResult
from builder.claims.world import Outcome, World
from model import task

Table = Mapping[str, Any]

ONE_PART_CHANGED = ("k_tied_to_q", "v_tied_to_k", "one_head", "one_layer", "no_positions")
"""Controls in which the tables A still follow the input."""

FOLLOWS, USES = "head-follows-zero", "zero-is-used"
"""Claims about a model that the census counts."""

RECALLED_BY_CHANCE = 0.5
"""A share of right answers that can be had without finding the key."""

RULE, NO_RULE = 0.9, 0.1
"""A share of right answers from which on something is called a rule, and up to which it is not."""


def scores_not_needed(controls: Table, _world: World) -> Outcome:
    """Tables that no input changes do as well, from every seed, and in no more steps."""
    full, uniform, fixed = (controls[name] for name in ("full", "uniform", "fixed_table"))
    numbers = {
        "seeds": uniform["seeds"],
        "uniform": uniform["all_correct"],
        "fixed_table": fixed["all_correct"],
        "uniform_steps": uniform["steps"],
        "fixed_table_steps": fixed["steps"],
        "full_steps": full["steps"],
    }
    solved = all(c["all_correct"] == c["seeds"] for c in (full, uniform, fixed))
    fast = solved and max(uniform["steps"], fixed["steps"]) <= full["steps"]
    return Outcome(fast, numbers)


def rows_must_meet(controls: Table, _world: World) -> Outcome:
    """Without attention every seed gets as many right as there are products of the commonest."""
    control = controls["no_attention"]
    products = [problem.a * problem.b for problem in task.PROBLEMS]
    limit = max(map(products.count, products))
    numbers = {"limit": limit, **{n: control[n] for n in ("seeds", "fewest", "most")}}
    return Outcome(control["fewest"] == control["most"] == limit, numbers)


def one_part_not_needed(controls: Table, _world: World) -> Outcome:
    """With any one of these parts changed, nearly every seed still gets all right."""
    solved = {name: controls[name]["all_correct"] for name in ONE_PART_CHANGED}
    numbers = {"seeds": controls["full"]["seeds"], "fewest": min(solved.values()), **solved}
    return Outcome(numbers["fewest"] > numbers["seeds"] / 2, numbers)


def mlp_missed(controls: Table, _world: World) -> Outcome:
    """Without the MLP no seed gets all right."""
    control = controls["no_mlp"]
    numbers = {name: control[name] for name in ("seeds", "all_correct", "fewest", "most")}
    return Outcome(control["all_correct"] == 0, numbers)


def recall_needs_reading(recall: Table, _world: World) -> Outcome:
    """Most seeds of the full model recall nearly all new sequences, a fixed table never half."""
    full, fixed = recall["full"], recall["fixed_table"]
    numbers = {
        "seeds": full["seeds"],
        "full": full["solved"],
        "full_right": full["right"],
        "full_least": full["least"],
        "fixed_table": fixed["solved"],
        "fixed_most": fixed["most"],
    }
    return Outcome(
        full["solved"] > full["seeds"] / 2 and fixed["most"] < RECALLED_BY_CHANCE, numbers
    )


def only_zero_carries_over(held_out: Table, _world: World) -> Outcome:
    """Of problems never seen, those with a 0 come out right, the others hardly ever.

    Of these others, only some whose mirror image was seen do.
    """
    asked = list(_held_out(held_out))
    zeros = [right for name, right, _ in asked if "0" in name]
    others = [right for name, right, _ in asked if "0" not in name]
    strangers = [right for name, right, is_known in asked if not is_known and "0" not in name]
    numbers = {
        "zeros": len(zeros),
        "zeros_right": sum(zeros),
        "others": len(others),
        "others_right": sum(others),
        "mirrored": len(others) - len(strangers),
        "strangers": len(strangers),
        "strangers_right": sum(strangers),
    }
    carries = sum(zeros) >= RULE * len(zeros)
    stays = sum(others) <= NO_RULE * len(others) and not any(strangers)
    return Outcome(carries and stays, numbers)


def _held_out(table: Table) -> Iterator[tuple[str, bool, bool]]:
    """Every problem that was held out: whether it came out right, and its mirror was known."""
    for split in table["of_split"]:
        for name, right in split["problems"].items():
            mirrored = "x".join(reversed(name.split("x")))
            yield name, right, mirrored not in split["problems"]


def story_is_chosen(census: Table, world: World) -> Outcome:
    """Every claim holds for the site's seed, as for few others."""
    seed, holding = world.training["seed"], census["all_hold_for"]
    numbers = {"seed": seed, "seeds": census["n_seeds"], "all_hold": len(holding)}
    return Outcome(seed in holding and len(holding) < census["n_seeds"] / 2, numbers)


def following_is_not_using(census: Table, _world: World) -> Outcome:
    """Of the seeds in which a head follows 0, some do not need it for that."""
    fails = {name: set(census["claims"][name]["fails_for"]) for name in (FOLLOWS, USES)}
    follows, uses = (set(census["seeds"]) - fails[name] for name in (FOLLOWS, USES))
    lost = [census["of_seed"][str(seed)][USES]["lost"] for seed in follows - uses]
    numbers = {
        "seeds": census["n_seeds"],
        "follows": len(follows),
        "uses": len(uses),
        "both": len(follows & uses),
        "fewest_lost": min(lost, default=0),
    }
    return Outcome(bool(lost), numbers)


PREDICATES: Mapping[str, tuple[str, Callable[[Table, World], Outcome]]] = {
    "scores-not-needed": ("controls", scores_not_needed),
    "rows-must-meet": ("controls", rows_must_meet),
    "one-part-not-needed": ("controls", one_part_not_needed),
    "mlp-missed": ("controls", mlp_missed),
    "recall-needs-reading": ("recall", recall_needs_reading),
    "only-zero-carries-over": ("held-out", only_zero_carries_over),
    "story-is-chosen": ("census", story_is_chosen),
    "following-is-not-using": ("census", following_is_not_using),
}
"""Claim id -> the table that it is about, and its predicate."""


def check_claims_of_tables(world: World) -> list[ClaimResult]:
    """Evaluate every claim about a table, in this order; a table that is not there has none."""
    outcomes = {
        claim: predicate(world.snapshot.document(path), world)
        for claim, (table, predicate) in PREDICATES.items()
        if (path := f"evidence/{table}.json") in world.snapshot.files
    }
    return [ClaimResult(name, bool(o.holds), o.numbers) for name, o in outcomes.items()]
