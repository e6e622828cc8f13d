"""``{claim}`ID` ``: marks a sentence as checked and links to its evidence."""

from __future__ import annotations

from html import escape

from builder.blocks.directive import BlockError, Context, Role
from builder.blocks.seeds import seeds_of
from builder.content.site import ABOUT
from builder.errors import Location, did_you_mean
from builder.links import Link

NAME = "claim"
OPTIONS: tuple[str, ...] = ()

WORD_JOINER = "&#8288;"
"""Keeps the mark on the line of the sentence that it is about."""


def render(role: Role, context: Context) -> str:
    """Return a check mark, and of how many seeds the claim holds where the census says it.

    A build in which the claim is false fails as a whole.
    """
    claim = context.numbers.claims.get(role.target)
    if claim is None:
        hint = did_you_mean(role.target, context.numbers.claims)
        raise BlockError("unknown-claim", f"there is no claim `{role.target}`", hint)
    here, site = context.chapter.language, context.site
    about = site.href(here, site.language_of(ABOUT, here), ABOUT)
    href = f"{about}#claim-{claim.id}"
    context.links.append(Link(href, Location(context.chapter.path, role.line)))
    statement = context.words(f"claim.{claim.id}", **claim.numbers).rstrip("。.")
    said, shown = context.words("figure.claim", statement=statement), ""
    if seeds := seeds_of(claim.id, context):
        said = context.words("figure.claim_with_seeds", claim=said, seeds=seeds.words)
        shown = f"{seeds.count}/{seeds.total}"
    title = escape(said)
    label = f"{shown} · {title}" if shown else title  # what is seen is part of what is heard
    mark = f"✓<small>{shown}</small>" if shown else "✓"
    link = f'<a class="claim" href="{escape(href)}" title="{title}" aria-label="{label}">{mark}</a>'
    return f"{WORD_JOINER}{link}"
