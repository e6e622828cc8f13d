"""The walls between the parts, and the house limits, read from the sources themselves."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

import pytest

from tests.projects import MODULES, ROOT

LONGEST_FUNCTION = 60
LONGEST_FILE = 250

WALLS: dict[str, tuple[str, ...]] = {
    "torch": (
        "model.transformer",
        "model.variants",
        "model.batch",
        "model.lessons",
        "model.recall_controls",
        "model.train",
        "model.trace",
        "model.columns",
        "model.reading",
        "model.by_hand",
        "model.together",
        "model.evidence",
        "model.held_out",
        "model.interventions",
    ),
    "altair": ("builder.charts",),
    "vl_convert": ("builder.charts",),
    "markdown_it": ("builder.markdown", "builder.blocks"),
    "mdit_py_plugins": ("builder.markdown", "builder.blocks"),
    "jinja2": ("builder.pages.templates",),
}
"""Library: the only modules or packages that import it."""

LAZY = (
    "builder.compute",
    "builder.evidence.chosen",
    "builder.evidence.seed_claims",
    "builder.evidence.study",
    "builder.evidence.workers",
)
"""Where the builder meets torch: inside functions, so that a build from the cache never does. In
`compute` and `chosen` for a build; the others for the commands `evidence` and `census` alone."""


@cache
def tree(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


def imports(node: ast.AST) -> Iterator[str]:
    """Full names of everything imported at or below a node."""
    for child in ast.walk(node):
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, "imports are absolute"
            assert child.module is not None
            yield child.module
            yield from (f"{child.module}.{alias.name}" for alias in child.names)


def is_type_checking(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
    )


def at_import_time(node: ast.AST) -> Iterator[str]:
    """What is imported when a module is: not in functions, not for the type checker alone."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        if isinstance(child, ast.stmt) and is_type_checking(child):
            continue
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield from imports(child)
        else:
            yield from at_import_time(child)


def inside(name: str, packages: tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(package + ".") for package in packages)


def own_imports(module: str) -> set[str]:
    """Modules of ours that run when `module` is imported, packages on the way included."""
    found = {name for name in at_import_time(tree(module)) if name in MODULES}
    parents = {name.rsplit(".", depth)[0] for name in found for depth in range(1, 3) if "." in name}
    return (found | (parents & MODULES.keys())) - {module}


def everything_run_by(module: str) -> set[str]:
    """Modules of ours that run when `module` is imported, and those that these import."""
    found, waiting = set[str](), [module]
    while waiting:
        new = own_imports(waiting.pop()) - found
        found |= new
        waiting += new
    return found


def functions(module: str) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree(module)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node


def test_there_is_something_to_check() -> None:
    assert {"model", "model.transformer", "builder", "builder.errors"} <= MODULES.keys()
    assert "torch.Tensor" in set(imports(tree("model.transformer")))
    assert "model.config" in own_imports("model.train")


@pytest.mark.parametrize("module", [m for m in MODULES if inside(m, ("model",))])
def test_the_model_knows_nothing_of_the_builder(module: str) -> None:
    assert not [name for name in imports(tree(module)) if inside(name, ("builder", "tests"))]


@pytest.mark.parametrize("library", WALLS)
def test_a_library_is_imported_only_behind_its_wall(library: str) -> None:
    users = {m for m in MODULES if any(inside(n, (library,)) for n in imports(tree(m)))}
    allowed = (*WALLS[library], *(LAZY if library == "torch" else ()))
    assert not {user for user in users if not inside(user, allowed)}


def test_the_builder_meets_torch_in_few_places_and_lazily() -> None:
    builders = [m for m in MODULES if inside(m, ("builder",))]
    users = [m for m in builders if any(inside(n, needs_torch()) for n in runtime_imports(m))]
    assert users == list(LAZY)
    for module in builders:
        assert not [n for n in everything_run_by(module) if inside(n, needs_torch())], module


def test_a_build_with_nothing_to_compute_does_without_numpy() -> None:
    """NumPy, Jinja and markdown-it take longer to import than such a build takes."""
    modules = {"builder.cli", *everything_run_by("builder.cli")}
    used = {name.split(".")[0] for module in modules for name in at_import_time(tree(module))}
    assert "yaml" in used
    assert not used & {"numpy", "jinja2", "markdown_it", "math_core", "rich", "torch", "altair"}


@cache
def needs_torch() -> tuple[str, ...]:
    """Torch, the modules that import it, and those of the model that cannot be without these."""
    direct = WALLS["torch"]
    models = [m for m in MODULES if inside(m, ("model",))]
    return ("torch", *(m for m in models if {m, *everything_run_by(m)} & set(direct)))


def runtime_imports(module: str) -> set[str]:
    """All that a module may import while it runs, functions included."""
    for_types = {
        name
        for node in ast.walk(tree(module))
        if isinstance(node, ast.stmt) and is_type_checking(node)
        for name in imports(node)
    }
    return set(imports(tree(module))) - for_types


def test_no_modules_import_each_other_in_a_circle() -> None:
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " -> ".join((*path[path.index(module) :], module))
        if module not in done:
            for other in sorted(own_imports(module)):
                if not inside(module, (other,)):  # a package is there before its modules
                    visit(other, (*path, module))
            done.add(module)

    for module in MODULES:
        visit(module, ())


@pytest.mark.parametrize("module", MODULES)
def test_functions_fit_on_a_screen_and_say_what_they_return(module: str) -> None:
    for function in functions(module):
        length = (function.end_lineno or function.lineno) - function.lineno + 1
        assert length <= LONGEST_FUNCTION, f"{function.name} has {length} lines"
        if function.name != "__init__":
            assert function.returns is not None, f"{function.name} does not say what it returns"


def test_no_file_of_code_is_too_long_to_keep_in_mind() -> None:
    files = [*MODULES.values(), *(ROOT / "site_templates").rglob("*.[jc]s*")]
    lengths = {str(path.relative_to(ROOT)): len(path.read_bytes().splitlines()) for path in files}
    assert len(lengths) > len(MODULES)
    assert {name: n for name, n in lengths.items() if n > LONGEST_FILE} == {}


def test_half_of_all_functions_have_at_most_ten_lines() -> None:
    lengths = sorted(
        (function.end_lineno or function.lineno) - function.lineno + 1
        for module in MODULES
        for function in functions(module)
    )
    assert lengths[len(lengths) // 2] <= 10


@pytest.mark.parametrize("module", MODULES)
def test_modules_keep_no_state_and_no_unfinished_business(module: str) -> None:
    for node in ast.walk(tree(module)):
        assert not isinstance(node, ast.Global), "a module has state"
    source = MODULES[module].read_text(encoding="utf-8")
    assert not [word for word in ("TODO", "FIXME", "XXX") if word in source]


def test_importing_a_package_imports_nothing_else() -> None:
    packages = {m for m, path in MODULES.items() if path.name == "__init__.py"}
    assert {"model", "builder", "builder.numbers"} <= packages
    full = {package for package in packages if tree(package).body}
    assert full == {"builder.blocks", "builder.markdown"}, "others are empty"


def test_the_code_that_decides_a_stage_is_named_as_it_is() -> None:
    """A name that is no module would be an ingredient that never changes."""
    for user in ("builder.compute", "builder.render", "builder.evidence.tables"):
        named = [
            node.value
            for node in ast.walk(tree(user))
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and node.value.startswith(("builder.", "model."))
        ]
        assert named
        assert not set(named) - MODULES.keys()
