"""``{problem}`PART` ``: a part of the page's problem, which follows the one that readers choose."""

from __future__ import annotations

from html import escape

from builder.blocks.directive import BlockError, Context, Role
from builder.errors import did_you_mean
from model.task import END, Problem, Product

NAME = "problem"
OPTIONS: tuple[str, ...] = ()


def parts(problem: Problem) -> dict[str, str]:
    """Return the parts by name: of 7 × 8, `first` is 5, and `whole` 7×8=56."""
    prompt = "".join(problem.prompt)
    answer = "".join(token for token in problem.answer if token != END)
    return {
        **{name: problem.prompt[place] for place, name in part_places(problem).items()},
        **({"product": prompt[:-1]} if isinstance(problem, Product) else {}),
        "prompt": prompt,
        "answer": answer,
        "first": answer[0],
        "whole": prompt + answer,
    }


def part_places(problem: Problem) -> dict[int, str]:
    """Return the names of single tokens of the question, by position: operands of a product."""
    return {0: "a", 2: "b"} if isinstance(problem, Product) else {}


def render(role: Role, context: Context) -> str:
    """Return the part as a piece of code, as problems are written in the prose."""
    found = parts(context.chapter.task.by_name[context.chapter.problem])
    if role.target not in found:
        hint = did_you_mean(role.target, found)
        raise BlockError("unknown-part", f"a problem has no part `{role.target}`", hint)
    if not context.can_follow:
        return f"<code>{escape(found[role.target])}</code>"
    return part_that_follows(role.target, found[role.target])


def part_that_follows(name: str, text: str) -> str:
    """Return a part of a problem, which scripts write anew when another problem is chosen."""
    return f'<code class="problem-part" data-part="{name}">{escape(text)}</code>'
