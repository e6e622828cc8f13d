"""TeX to MathML Core."""

from __future__ import annotations

import functools
import re

from math_core import LatexError, LatexToMathML

from builder.errors import did_you_mean, nearest

LONGEST, DEEPEST = 5000, 100
"""Characters and levels of braces in one formula."""


COMMANDS = """
    frac dfrac tfrac binom sqrt sum prod int lim log ln exp sin cos tan tanh max min arg argmax det
    cdot times div pm mp le leq ge geq ne neq approx equiv sim propto infty partial nabla in notin
    subset subseteq cup cap forall exists to rightarrow leftarrow Rightarrow leftrightarrow mapsto
    dots ldots cdots vdots ddots alpha beta gamma delta epsilon varepsilon zeta eta theta kappa
    lambda mu nu xi pi rho sigma tau phi varphi chi psi omega Gamma Delta Theta Lambda Pi Sigma Phi
    Psi Omega text mathrm mathbf mathbb mathcal mathsf mathit boldsymbol operatorname hat bar tilde
    vec dot overline underline overbrace underbrace overset underset left right middle big bigl bigr
    lvert rvert lVert rVert langle rangle lfloor rfloor lceil rceil top perp odot oplus otimes circ
    star prime mid ell quad qquad begin end
"""
ENVIRONMENTS = "aligned array bmatrix cases gathered matrix pmatrix rcases vmatrix"
"""What of TeX is offered in hints: math-core does not say what it knows."""


class TexError(ValueError):
    """TeX that cannot be read. `offset` counts characters from the start of the formula."""

    def __init__(self, offset: int, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.offset = offset
        self.message = message
        self.hint = hint


def mathml(tex: str, *, display: bool) -> str:
    """Return a `<math>` element.

    Parameters
    ----------
    tex
        The formula without its dollars.
    display
        Whether it stands on a line of its own.

    Raises
    ------
    TexError
        If the formula is empty, or not TeX that math-core knows.
    """
    if not tex.strip():
        raise TexError(0, "the formula is empty")
    _refuse_excess(tex)
    try:
        return _converter().convert_with_local_state(tex, displaystyle=display)
    except LatexError as error:
        offset, _, message = str(error).partition(": ")
        raise _said(int(offset) if offset.isdigit() else 0, message or offset) from error


def _said(offset: int, message: str) -> TexError:
    """Say what math-core says as every message here is said, and what may have been meant."""
    said = re.sub(r'"(.*?)"(?!")', r"`\1`", message).removesuffix(".")
    unknown = re.fullmatch(r"Unknown (command|environment) `\\?(.*)`", said)
    hint = ""
    if unknown and unknown[1] == "environment":
        hint = did_you_mean(unknown[2], ENVIRONMENTS.split())
    elif unknown:
        near = nearest(unknown[2], COMMANDS.split(), likeness=0.65)
        own = f"a name of your own is `\\operatorname{{{unknown[2]}}}`"
        hint = f"did you mean `\\{near}`?" if near else own
    return TexError(offset, said[:1].lower() + said[1:], hint)


def _refuse_excess(tex: str) -> None:
    """Stop before math-core, whose stack overflows, ends the process."""
    if len(tex) > LONGEST:
        raise TexError(LONGEST, f"the formula has more than {LONGEST} characters")
    depth = 0
    for brace in re.finditer(r"(?<!\\)[{}]", tex):
        depth += 1 if brace[0] == "{" else -1
        if depth > DEEPEST:
            raise TexError(brace.start(), f"braces are nested deeper than {DEEPEST} levels")


@functools.cache
def _converter() -> LatexToMathML:
    return LatexToMathML(fancy_error=False)
