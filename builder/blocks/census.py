"""`::: census`: of how many seeds each claim about a model holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from builder.blocks import claim
from builder.blocks.directive import FIGURE, Argument, Body, Context, Directive, Role
from builder.blocks.evidence import number, table_of
from builder.blocks.rows import head_row, row

NAME = "census"
ARGUMENT = Argument.NONE
BODY = Body.OPTIONS
OPTIONS = FIGURE


def render(directive: Directive, context: Context) -> str:
    """Return a table, a claim a line, those first that hold for fewest; a stripe for each seed."""
    table = table_of("census", context)
    figure_id = context.ids.figure(directive.options["id"], directive.line)
    own = context.numbers.snapshot.manifest["training"]["seed"]
    claims = sorted(table["claims"].items(), key=lambda item: item[1]["holds"])
    rows = "".join(_row(name, of, table["seeds"], own, directive, context) for name, of in claims)
    heads = [context.html(f"census.{name}") for name in ("claim", "holds", "stripes")]
    caption = escape(context.words("census.caption", seeds=table["n_seeds"]))
    return (
        f'<figure class="evidence census" id="{figure_id}"><table class="evidence-table">'
        f'<caption class="visually-hidden">{caption}</caption>'
        f"{head_row(heads)}<tbody>{rows}</tbody></table>{directive.figcaption}</figure>\n"
    )


def _row(
    name: str,
    of: Mapping[str, Any],
    seeds: Sequence[int],
    own: int,
    directive: Directive,
    context: Context,
) -> str:
    statement = escape(context.words(f"claim.{name}", **context.numbers.claims[name].numbers))
    tick = claim.render(Role(name, {}, directive.line), context)
    holds = number(f"census.claims.{name}.holds", directive, context)
    cells = [f"{holds}/{len(seeds)}", _stripes(of["fails_for"], seeds, own, context)]
    return row(f"{statement}{tick}", cells, f' data-claim="{name}"')


def _stripes(fails: Sequence[int], seeds: Sequence[int], own: int, context: Context) -> str:
    """A stripe for each seed for which it holds, a gap for the others; the site's is marked."""
    stripes = "".join(
        f"M{place} 1h1v8h-1z" for place, seed in enumerate(seeds) if seed not in fails
    )
    listed = ", ".join(map(str, fails))
    name = "fails_for" if fails else "fails_for_none"
    spoken = escape(context.words(f"census.{name}", **({"seeds": listed} if fails else {})))
    mark = f'<path class="own" d="M{seeds.index(own)} 0h1v10h-1z"/>' if own in seeds else ""
    return (
        f'<svg viewBox="0 0 {len(seeds)} 10" preserveAspectRatio="none" role="img"'
        f' aria-label="{spoken}"><path d="{stripes}"/>{mark}</svg>'
    )
