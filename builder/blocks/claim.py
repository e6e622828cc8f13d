"""``{claim}`ID` ``: marks a sentence as checked and links to its evidence."""

from __future__ import annotations

from html import escape

from builder.blocks.directive import BlockError, Context, Role
from builder.errors import did_you_mean

NAME = "claim"
OPTIONS: tuple[str, ...] = ()


def render(role: Role, context: Context) -> str:
    """Return a check mark, or fail if the claim is unknown or false."""
    claim = context.numbers.claims.get(role.target)
    if claim is None:
        hint = did_you_mean(role.target, context.numbers.claims)
        raise BlockError("unknown-claim", f"there is no claim `{role.target}`", hint)
    if not claim.holds:
        numbers = ", ".join(f"{name} = {number}" for name, number in claim.numbers.items())
        message = f"the claim `{claim.id}` is false in this snapshot"
        raise BlockError("false-claim", message, f"its numbers: {numbers}")
    title = escape(context.words("figure.claim", id=claim.id))
    return (
        f'<a class="claim" href="about.html#claim-{escape(claim.id)}"'
        f' title="{title}" aria-label="{title}">✓</a>'
    )
