from __future__ import annotations

import gzip
import json
import re
import shutil
from pathlib import Path

import pytest

from builder.pages import assets
from builder.pages.scripts import assignment

TEMPLATES = Path(__file__).parents[1] / "site_templates"
SCRIPTS = sorted((TEMPLATES / "js").rglob("*.js"))


@pytest.fixture(scope="module")
def made() -> dict[str, bytes]:
    return assets.static_assets(TEMPLATES)


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
        assets.static_assets(tmp_path / "templates")
    (tmp_path / "templates" / folder).mkdir()
    with pytest.raises(FileNotFoundError, match=f"no file .*{folder}"):
        assets.static_assets(tmp_path / "templates")


def test_styles_load_nothing_that_is_not_beside_them(made: dict[str, bytes]) -> None:
    urls = re.findall(r'url\("?([^")]+)"?\)', made["assets/style.css"].decode())
    assert urls
    assert all(f"assets/{url}" in made for url in urls)


def test_every_custom_property_in_use_is_defined(made: dict[str, bytes]) -> None:
    style = made["assets/style.css"].decode()
    defined = set(re.findall(r"(--[\w-]+)\s*:", style))
    used = set(re.findall(r"var\((--[\w-]+)\)", style))
    assert used - defined == set()


def test_main_comes_after_what_it_mounts(made: dict[str, bytes]) -> None:
    script = made["assets/main.js"].decode()
    mounted = re.findall(r"mountEach\([^,]+,\s*Article\.(\w+)\.", script)
    assert mounted
    for name in mounted:
        assert 0 < script.index(f"Article.{name} = ") < script.index("mountEach(")


def test_the_engine_keeps_its_comments_and_the_rest_travels_without(made: dict[str, bytes]) -> None:
    script = made["assets/main.js"].decode()
    engine, rest = script.split("Article.defineEngine();\n")
    assert "// The network: every number of a forward pass" in engine
    assert not re.search(r"^\s*(//|\* )", rest, re.MULTILINE)
    assert not re.search(r"^[ \t]|/\*\*|\n\n", rest, re.MULTILINE)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_no_text_that_travels_bare_has_several_lines(path: Path) -> None:
    if path.parent.name != "engine":
        texts = re.findall(r"`[^`]*`", path.read_text("utf-8"))
        assert not [text for text in texts if "\n" in text]


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
