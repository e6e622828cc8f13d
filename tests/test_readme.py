"""The README says what is so: its example builds, its commands, blocks and files exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from builder.blocks import BLOCKS, ROLES, value
from builder.blocks.directive import NUMBERS
from builder.cli import main, parser
from builder.links import STATE
from tests.mistaken import GENERAL, OF_TENSOR
from tests.projects import ROOT, overwrite, substitute

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_of_a_chapter_builds(project: Path) -> None:
    (example,) = re.findall(r"^```\n(---\n.*?)^```$", README, re.DOTALL | re.MULTILINE)
    (project / "content/zh/example.md").write_text(example, encoding="utf-8")
    substitute(project / "content/site.yml", "\n  - about\n", "\n  - example\n  - about\n")
    assert main(["build", "--strict", "--quiet"]) == 0


def test_the_example_of_a_quiz_builds(project: Path) -> None:
    (example,) = re.findall(r"^```\n(scale:\n.*?)^```$", README, re.DOTALL | re.MULTILINE)
    overwrite(project / "content/zh/quiz/scores.yml", example.encode())
    assert main(["build", "--strict", "--quiet"]) == 0
    assert "忘了除以 2" in (project / "dist/scores.html").read_text(encoding="utf-8")


def test_every_mistake_of_a_quiz_is_named_with_its_tensor() -> None:
    table = README.partition("| of | mistakes |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| (every tensor|`[^`]*`) \| (`.*) \|$", table, re.MULTILINE)
    named = {of.strip("`"): set(re.findall(r"`([a-z-]+)`", names)) for of, names in rows}
    known = {"every tensor": GENERAL, **OF_TENSOR}
    assert named == {of: set(names) for of, names in known.items()}


def test_the_days_of_the_boxes_are_those_of_the_script() -> None:
    script = (ROOT / "site_templates/js/widgets/progress.js").read_text(encoding="utf-8")
    (days,) = re.findall(r"const DAYS = \[0, (.*?)\];", script)
    assert re.search(rf"after {' '.join(days.split()).replace(', 21', ' and 21')} days", README)


@pytest.mark.parametrize("block", [*BLOCKS, *ROLES], ids=lambda block: block.NAME)
def test_every_block_is_described(block: object) -> None:
    name = block.NAME  # type: ignore[attr-defined]
    assert re.search(rf"^\|.*(::: {name}\b|{{{name}}}`).*\|$", README, re.MULTILINE)


def test_every_command_is_named() -> None:
    (commands,) = re.findall(r"^All commands: (.*?)\. ", README, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", commands)) == set(_commands())
    used = set(re.findall(r"python -m builder (\w+)", README))
    assert used <= set(_commands())


def _commands() -> list[str]:
    (choices,) = (action.choices for action in parser()._actions if action.choices)
    return list(choices)


def test_every_field_of_the_state_in_an_address_is_named() -> None:
    (paragraph,) = re.findall(r"^What a reader sees stands in.*?\n\n", README, re.M | re.S)
    assert set(re.findall(r"`([a-z]+)=", paragraph)) == set(STATE)


def test_every_option_of_a_value_and_of_its_figures_is_named() -> None:
    (paragraph,) = re.findall(r"^No result is typed by hand.*?^\| block", README, re.M | re.S)
    assert set(NUMBERS) | set(value.OPTIONS) <= set(re.findall(r"`([a-z]+)\b", paragraph))


def test_every_file_that_is_named_is_there() -> None:
    folders = {path.name for path in ROOT.iterdir() if path.is_dir()} - {"dist"}
    named = re.findall(r"`((?:[\w.-]+/)+[\w.-]*)`", README)
    inside = [name for name in named if name.split("/")[0] in folders]
    assert len(inside) > 10
    assert not [name for name in inside if not (ROOT / name).exists()]
