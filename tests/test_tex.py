"""What math-core cannot read is said with its place, and with what may have been meant."""

from __future__ import annotations

import pytest

from builder.tex import COMMANDS, ENVIRONMENTS, TexError, mathml


def error(tex: str) -> TexError:
    with pytest.raises(TexError) as raised:
        mathml(tex, display=False)
    return raised.value


@pytest.mark.parametrize(
    ("tex", "offset", "message", "hint"),
    [
        (r"a + \fracc{1}{2}", 4, r"unknown command `\fracc`", r"did you mean `\frac`?"),
        (r"\softmax(x)", 0, r"unknown command `\softmax`", r"is `\operatorname{softmax}`"),
        (r"\begin{alined}a\end{alined}", 6, "unknown environment `alined`", "`aligned`?"),
        (r"\begin{foo}a\end{foo}", 6, "unknown environment `foo`", "one of `aligned`, `array`"),
        (r"\frac{1}{", 9, "expected closing token `}`, but reached end of input", ""),
        ("a}", 1, "unmatched closing token: `}`", ""),
        ("a & b", 2, "found `&`, which may only appear in a table-like environment", ""),
        (" ", 0, "the formula is empty", ""),
    ],
)
def test_an_error_says_where_and_what_would_be_right(
    tex: str, offset: int, message: str, hint: str
) -> None:
    found = error(tex)
    assert (found.offset, found.message) == (offset, message)
    assert hint in found.hint
    assert bool(hint) == bool(found.hint)


@pytest.mark.parametrize("command", COMMANDS.split())
def test_every_command_that_is_offered_is_known(command: str) -> None:
    for arguments in ("", "{a}", "{a}{b}"):
        try:
            mathml(f"\\{command}{arguments}", display=True)
        except TexError as found:
            assert "unknown command" not in found.message
        else:
            return


@pytest.mark.parametrize("environment", ENVIRONMENTS.split())
def test_every_environment_that_is_offered_is_known(environment: str) -> None:
    columns = "{c}" if environment == "array" else ""
    mathml(f"\\begin{{{environment}}}{columns}a\\end{{{environment}}}", display=True)
