from __future__ import annotations

import gzip
import json
import re
import shutil
from pathlib import Path

import pytest

from builder.errors import BuildError
from builder.pages import assets
from builder.pages.minified import minified
from builder.pages.scripts import assignment
from tests.rendering import minified_all

TEMPLATES = Path(__file__).parents[1] / "site_templates"
SCRIPTS = sorted((TEMPLATES / "js").rglob("*.js"))


@pytest.fixture(scope="module")
def made() -> dict[str, bytes]:
    return assets.static_assets(TEMPLATES, minified_all)


def test_styles_declare_their_layers_before_they_use_them(made: dict[str, bytes]) -> None:
    style = re.sub(r"/\*.*?\*/", "", made["assets/style.css"].decode(), flags=re.DOTALL)
    declared = re.match(r"\s*@layer ([^;{]+);", style)
    assert declared
    used = re.findall(r"@layer (\w+) \{", style)
    assert sorted(declared[1].replace(" ", "").split(",")) == sorted(used)


@pytest.mark.parametrize("folder", ["css", "js/widgets", "fonts"])
def test_a_folder_without_files_is_an_error_that_names_it(tmp_path: Path, folder: str) -> None:
    shutil.copytree(TEMPLATES, tmp_path / "templates")
    shutil.rmtree(tmp_path / "templates" / folder)
    with pytest.raises(FileNotFoundError, match=folder):
        assets.static_assets(tmp_path / "templates", minified_all)
    (tmp_path / "templates" / folder).mkdir()
    with pytest.raises(FileNotFoundError, match=f"no file .*{folder}"):
        assets.static_assets(tmp_path / "templates", minified_all)


def test_styles_load_nothing_that_is_not_beside_them(made: dict[str, bytes]) -> None:
    urls = re.findall(r'url\("?([^")]+)"?\)', made["assets/style.css"].decode())
    assert urls
    assert all(f"assets/{url}" in made for url in urls)


def test_every_custom_property_in_use_is_defined(made: dict[str, bytes]) -> None:
    style = made["assets/style.css"].decode()
    defined = set(re.findall(r"(--[\w-]+)\s*:", style))
    used = set(re.findall(r"var\((--[\w-]+)\)", style))
    assert used - defined == set()


def test_main_comes_after_what_it_mounts() -> None:
    folder = TEMPLATES / "js"
    mounted = re.findall(r"Article\.(\w+)\.mount", (folder / "main.js").read_text("utf-8"))
    widgets = "".join(path.read_text("utf-8") for path in (folder / "widgets").glob("*.js"))
    assert mounted
    assert [name for name in mounted if f"Article.{name} = " not in widgets] == []


def test_the_engine_keeps_its_comments_and_the_rest_travels_without(made: dict[str, bytes]) -> None:
    script = made["assets/main.js"].decode()
    engine, rest = script.split("Article.defineEngine()")
    assert "// The network: every number of a forward pass" in engine
    assert "\n    // X = TokenEmb[token] + PosEmb[position]\n" in engine
    assert not re.search(r"//|/\*", re.sub(r'"[^"]*"|`[^`]*`', "", rest))


def test_a_text_within_a_text_travels_as_it_is() -> None:
    script = "window.say = (a, b) => `${a}: ${b ? `( ${b}) \u00d7  2` : ''}`;"
    assert "( ${" in (short := minified("say.js", script.encode()).decode())
    assert ") \u00d7  2`" in short


def test_a_script_that_is_none_is_named_with_its_line() -> None:
    with pytest.raises(BuildError) as caught:
        minified("site_templates/js/main.js", b"let a = 1;\nlet b = ;\n")
    (problem,) = caught.value.diagnostics
    assert (problem.path, problem.line) == ("site_templates/js/main.js", 2)
    assert (problem.column, problem.rule, problem.excerpt) == (9, "bad-script", "let b = ;")


def test_all_scripts_of_ours_together_stay_light(made: dict[str, bytes]) -> None:
    scripts = [content for name, content in made.items() if name.endswith(".js")]
    assert len(scripts) == 2
    assert sum(len(gzip.compress(content)) for content in scripts) < 60_000


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_every_script_is_one_strict_function(path: Path) -> None:
    lines = [line for line in path.read_text("utf-8").splitlines() if line and line[0] not in "/ "]
    assert lines[0] in ("(function (Article) {", "(function () {")
    home = "globalThis" if path.parent.name == "engine" else "window"  # workers have no window
    assert lines[-1] in (f"}})(({home}.Article ??= {{}}));", "})();")
    assert len(lines) == 2
    assert '"use strict";' in path.read_text("utf-8")


def test_the_font_travels_with_its_license(made: dict[str, bytes]) -> None:
    assert made["assets/stix-two-math.woff2"][:4] == b"wOF2"
    assert b"SIL OPEN FONT LICENSE" in made["assets/OFL.txt"]


def test_json_in_a_script_cannot_end_it() -> None:
    text = "</script><!-- & \u2028 \u2029"
    written = assignment("words", {"text": text}).decode()
    start = "(window.Article ??= {}).words = "
    assert written.startswith(start)
    assert not re.search("[<>&\u2028\u2029]", written)
    assert json.loads(written.removeprefix(start).rstrip(";\n")) == {"text": text}


def test_chart_templates_join_the_one_namespace() -> None:
    made = assets.chart_assets()
    script = made["assets/charts.js"].decode()
    start = "(window.Article ??= {}).charts = "
    assert script.startswith(start)
    assert sorted(json.loads(script.removeprefix(start).rstrip(";\n"))) == [
        "positive",
        "probability",
        "signed",
    ]
    assert made["assets/vega.js"]
