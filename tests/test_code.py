"""What a module depends on is found as Python would find it, and by content."""

from __future__ import annotations

import ast
import shutil
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest

from builder.code import PACKAGES, SourceCode
from tests.projects import MODULES, ROOT


@cache
def imports_by_syntax(module: str) -> frozenset[str]:
    """Modules of ours that a module names in an import statement, anywhere in it."""
    return frozenset(_imports(module))


def _imports(module: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        if isinstance(node, ast.ImportFrom) and node.module in MODULES:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            yield from names & MODULES.keys()
            if MODULES[node.module].stat().st_size:  # an empty __init__ decides nothing
                yield node.module


def closure_by_syntax(module: str) -> tuple[str, ...]:
    seen, pending = set(), [module]
    while pending:
        name = pending.pop()
        if name not in seen:
            seen.add(name)
            pending.extend(imports_by_syntax(name))
    return tuple(sorted(seen))


@pytest.mark.parametrize("module", sorted(MODULES))
def test_the_closure_of_every_module_is_that_of_its_syntax_tree(module: str) -> None:
    assert SourceCode(ROOT).closure([module]) == closure_by_syntax(module)


FORMS = {
    "import builder.x": {"builder.x"},
    "import builder.x as y": {"builder.x"},
    "import builder.x, builder.y": {"builder.x", "builder.y"},
    "import os, builder.x as a, builder.y as b": {"builder.x", "builder.y"},
    "from builder import x": {"builder.x"},
    "from builder import x as z, y": {"builder.x", "builder.y"},
    "from builder.x import name": {"builder.x"},
    "from builder.x import name as other": {"builder.x"},
    "from builder import (\n    x,  # one, z)\n    y as z,\n)": {"builder.x", "builder.y"},
    "from builder.sub import deep": {"builder.sub", "builder.sub.deep"},
    "from builder.sub.deep import name": {"builder.sub.deep"},
    "from builder import \\\n    x": {"builder.x"},
    "def f():\n    from builder import x\n": {"builder.x"},
    "def f():\n\tif True:\n\t\timport builder.x\n": {"builder.x"},
    "if TYPE_CHECKING:\n    from builder.x import X\n": {"builder.x"},
    "from builders import x": set(),
    "import builderx": set(),
    "from other.builder import x": set(),
    "# from builder import x": set(),
    "import os": set(),
}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    (tmp_path / "builder/sub").mkdir(parents=True)
    (tmp_path / "builder/__init__.py").write_text("")
    for name in ("x", "y", "z", "sub/__init__", "sub/deep"):
        (tmp_path / f"builder/{name}.py").write_text("value = 1\n")
    return tmp_path


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_import_is_understood(package: Path, form: str) -> None:
    (package / "builder/main.py").write_text(form + "\n")
    found = set(SourceCode(package).closure(["builder.main"]))
    assert found - {"builder.main"} == FORMS[form]


def test_modules_that_import_each_other_are_no_trap(package: Path) -> None:
    (package / "builder/x.py").write_text("from builder import y\n")
    (package / "builder/y.py").write_text("from builder import x\n")
    assert SourceCode(package).closure(["builder.x"]) == ("builder.x", "builder.y")


def test_a_change_in_a_module_imported_by_an_imported_one_changes_the_ingredients(
    tmp_path: Path,
) -> None:
    for name in PACKAGES:
        shutil.copytree(ROOT / name, tmp_path / name)
    before = SourceCode(tmp_path).ingredients("model.documents")
    assert "model.config" in before
    config = tmp_path / "model/config.py"
    config.write_text(config.read_text("utf-8") + "\n# more\n", encoding="utf-8")
    after = SourceCode(tmp_path).ingredients("model.documents")
    assert before.keys() == after.keys()
    assert {name for name in before if before[name] != after[name]} == {"model.config"}


def test_a_change_elsewhere_does_not_change_the_ingredients(tmp_path: Path) -> None:
    for name in PACKAGES:
        shutil.copytree(ROOT / name, tmp_path / name)
    before = SourceCode(tmp_path).ingredients("model.documents")
    (tmp_path / "builder/cli.py").write_text("")
    assert SourceCode(tmp_path).ingredients("model.documents") == before


def test_versions_of_tools_are_ingredients() -> None:
    found = SourceCode(ROOT).ingredients("model.config", tools=["numpy"])
    assert found["numpy"] == metadata.version("numpy")
