"""``{claim}`ID` ``: marks a sentence as checked and links to its evidence."""

from __future__ import annotations

from html import escape

from builder.blocks.directive import BlockError, Context, Role
from builder.content.site import ABOUT
from builder.errors import Location, did_you_mean
from builder.links import Link

NAME = "claim"
OPTIONS: tuple[str, ...] = ()


def render(role: Role, context: Context) -> str:
    """Return a check mark; a build in which the claim is false fails as a whole."""
    claim = context.numbers.claims.get(role.target)
    if claim is None:
        hint = did_you_mean(role.target, context.numbers.claims)
        raise BlockError("unknown-claim", f"there is no claim `{role.target}`", hint)
    here, site = context.chapter.language, context.site
    about = site.href(here, site.language_of(ABOUT, here), ABOUT)
    href = f"{about}#claim-{claim.id}"
    context.links.append(Link(href, Location(context.chapter.path, role.line)))
    title = escape(context.words("figure.claim", id=claim.id))
    return f'<a class="claim" href="{escape(href)}" title="{title}" aria-label="{title}">✓</a>'
