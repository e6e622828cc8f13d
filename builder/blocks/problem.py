"""``{problem}`PART` ``: a part of the page's problem, which follows the one that readers choose."""

from __future__ import annotations

from html import escape

from builder.blocks.directive import BlockError, Context, Role
from builder.errors import did_you_mean
from model.task import BY_NAME, TIMES, Problem

NAME = "problem"
OPTIONS: tuple[str, ...] = ()


def parts(problem: Problem) -> dict[str, str]:
    """Return the parts by name: of 7 × 8, `first` is 5, and `whole` 7×8=56."""
    product, answer = f"{problem.a}{TIMES}{problem.b}", "".join(problem.answer[:-1])
    return {
        "a": str(problem.a),
        "b": str(problem.b),
        "product": product,
        "prompt": f"{product}=",
        "answer": answer,
        "first": answer[0],
        "whole": f"{product}={answer}",
    }


def render(role: Role, context: Context) -> str:
    """Return the part as a piece of code, as problems are written in the prose."""
    found = parts(BY_NAME[context.chapter.problem])
    if role.target not in found:
        hint = did_you_mean(role.target, found)
        raise BlockError("unknown-part", f"a problem has no part `{role.target}`", hint)
    if not context.can_follow:
        return f"<code>{escape(found[role.target])}</code>"
    return part_that_follows(role.target, found[role.target])


def part_that_follows(name: str, text: str) -> str:
    """Return a part of a problem, which scripts write anew when another problem is chosen."""
    return f'<code class="problem-part" data-part="{name}">{escape(text)}</code>'
