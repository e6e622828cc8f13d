"""Sentences about the model, each bound to a predicate over the snapshot.

A chapter cites a claim by its id. A claim that does not hold fails the build and prints the
numbers it rests on. To add one, write a predicate that returns an `Outcome` in the module of its
theme, list it in `PREDICATES`, and say in `content/claims.yml` what it means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from builder.claims import attention, evidence, isolated_rows, pushes, scores, training
from builder.claims.result import ClaimResult
from builder.claims.world import Outcome, World

PREDICATES: Mapping[str, Callable[[World], Outcome]] = {
    "all-correct": training.all_correct,
    "loss-near-floor": training.loss_near_floor,
    "equals-row-identical": isolated_rows.equals_row_identical,
    "equals-row-is-sum": isolated_rows.equals_row_is_sum,
    "equals-row-differs": isolated_rows.equals_row_differs,
    "isolated-rows-limit": isolated_rows.isolated_rows_limit,
    "pattern-rows-sum-to-one": attention.pattern_rows_sum_to_one,
    "pattern-moves-rows": attention.pattern_moves_rows,
    "head-follows-zero": attention.head_follows_zero,
    "other-head-does-not-follow": attention.other_head_does_not_follow,
    "other-head-reads-times": attention.other_head_reads_times,
    "zero-read-most": attention.zero_read_most,
    "one-order-in-layer-1": attention.one_order_in_layer_1,
    "equals-query-identical": scores.equals_query_identical,
    "layer-2-query-differs": scores.layer_2_query_differs,
    "zero-outscores-seven": scores.zero_outscores_seven,
    "bare-tokens-mislead": scores.bare_tokens_mislead,
    "same-prefix-same-rows": scores.same_prefix_same_rows,
    "second-operand-uniform": scores.second_operand_uniform,
    "step-raises": pushes.step_raises,
    "shared-prefix-same-gradient": pushes.shared_prefix_same_gradient,
    "gradients-cancel": pushes.gradients_cancel,
    "unread-tokens-untouched": pushes.unread_tokens_untouched,
    "unused-positions-untouched": pushes.unused_positions_untouched,
    "second-digit-reads-equals": evidence.second_digit_reads_equals,
    "uniform-control-solves": evidence.uniform_control_solves,
    "uniform-overwrite-fails": evidence.uniform_overwrite_fails,
    "head-overwrite-fails": evidence.head_overwrite_fails,
    "every-head-is-used": evidence.every_head_is_used,
    "tables-must-follow": evidence.tables_must_follow,
    "zero-is-used": evidence.zero_is_used,
    "times-is-used": evidence.times_is_used,
    "largest-share-misleads": evidence.largest_share_misleads,
    "share-contrast": evidence.share_contrast,
}
"""Claim id -> predicate, in the order in which claims are listed."""


def check_claims(world: World) -> list[ClaimResult]:
    """Evaluate every claim, in the order of `PREDICATES`."""
    outcomes = {claim: predicate(world) for claim, predicate in PREDICATES.items()}
    return [ClaimResult(name, bool(o.holds), o.numbers) for name, o in outcomes.items()]
