"""Whatever happens to the text of the article: a site, or messages, and never anything else."""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from builder import build as build_module
from builder.build import Options, Project, build
from builder.compute import Computer
from builder.errors import BuildError
from builder.output.folder import MARKER, Output
from builder.progress import Progress
from builder.snapshot_files import Computed
from builder.stages import digest
from tests.projects import ROOT, copy_project, tree

LONGEST_BUILD = 30
"""Seconds. A build of this small site takes a fraction of one, but the machine may be busy."""

CHAPTER = """\
---
title: 标题
summary: 一句话。
problem: 7x8
---

正文 **重点：**{value}`probs[=,5] decimals=4`，{claim}`all-correct` 见[关于](about.html#there)[^1]。

[^1]: 脚注，$a_1^2 = \\frac{1}{2}$。

## 一节 {#section}

::: matrix blocks.0.attn.pattern[1]
rows: ["="]
caption: 说明 `code`
:::

::: product
left: blocks.0.attn.pattern[0]
right: blocks.0.attn.v[0]
result: blocks.0.attn.z[0]
:::

:::: row
::: matrix probs
until: "="
:::
::::

::: note
- 一 | 二
- [链接](#section)

| a | b |
|---|--:|
| $x$ | 2 |
:::

$$
\\begin{aligned} Q &= X W_Q \\end{aligned}
$$

```python
code
```

::: quiz
:::
"""
QUIZ = """\
one:
  section: section
  question: 问 {value}`probs[=,5]`？
  options:
    - text: 甲
      right: true
      because: 因为 **甲**。
    - {text: 乙, because: "不是 $a$。"}
    - text: 丙
      because: |
        不是。
two:
  section: section
  question: |
    多少？
  number: blocks.0.attn.pattern[1,=,@1]
  problem: 7x8
  stage: trained
  decimals: 3
  because: 对。
  mistakes:
    - mistake: no-scale
      because: 没除。
    - mistake: down-the-column
      because: 竖着。
    - address: blocks.0.attn.pattern[0,=,@1]
      problem: 7x8
      because: 另一个头。
"""
ABOUT = "---\ntitle: 关于\n---\n\n## 那里 {#there}\n\n::: claims\n:::\n"
SITE = """\
title: {zh: 标题, en: Title}
description: {zh: 说明, en: Description}
languages:
  - {code: zh, name: 中文}
  - {code: en, name: English, state: in progress}
chapters:
  - index
  - about
base_url: https://example.org/
problem: 7x8
model:
  preset: multiplication
"""
NEEDED = ("manifest", "dataset", "training", "claims", "evidence/census")
MANGLED = ("zh/index.md", "zh/quiz/index.yml", "site.yml", "claims.yml")

PIECES = [
    *(
        "\n",
        "\r",
        "\t",
        " ",
        "\n\n",
        "\n---\n",
        "\n- ",
        "\n> ",
        "\n# ",
        "\n    ",
        "\n| a |\n|--|\n",
    ),
    *(":::", "::::", "\n::: matrix ", "\n::: product\n", "\n::: note\n", "\n::: row\n", "\n:::\n"),
    *(
        "$",
        "$$",
        "\\",
        "\\frac",
        "{",
        "}",
        "{value}`",
        "{claim}`",
        "{#section}",
        "`",
        "```\n",
        "~~~\n",
    ),
    *(
        "[",
        "]",
        "](",
        "[^1]",
        "\n[^2]: ",
        "![",
        "<",
        ">",
        "<!--",
        "&",
        "&#xD800;",
        "&#0;",
        "*",
        "**",
        "_",
    ),
    *(
        ":",
        ": ",
        ",",
        "'",
        '"',
        "|",
        ">",
        "%",
        "@",
        "!",
        "!!int ",
        "&a ",
        "*a",
        "? ",
        "<<: ",
        "#",
        "~",
    ),
    *(
        "0",
        "-1",
        "010",
        "1e999",
        "9" * 30,
        "null",
        "true",
        ".nan",
        "..",
        "../",
        "/",
        "http://[",
        "%00",
    ),
    *(
        "\x00",
        "\x1b",
        "\x7f",
        "\x85",
        "\ufeff",
        "\u2028",
        "\u202e",
        "\ufffd",
        "é",
        "e\u0301",
        "𝔸",
        "👩‍👩‍👧",
    ),
    *("> " * 300, "- " * 300, "[" * 300, "(" * 300, "{" * 300, "*" * 300, "a: " * 300, "${" * 100),
    *("\n".join(["::: note"] * 200), "::: row\n" * 200, "\\frac{" * 200, "![" * 200, "| " * 500),
]

change = st.one_of(
    st.tuples(st.just("insert"), st.floats(0, 1), st.sampled_from([p.encode() for p in PIECES])),
    st.tuples(st.just("insert"), st.floats(0, 1), st.binary(min_size=1, max_size=6)),
    st.tuples(st.just("insert"), st.floats(0, 1), st.text(max_size=8).map(lambda t: t.encode())),
    st.tuples(st.just("delete"), st.floats(0, 1), st.integers(1, 40)),
    st.tuples(st.just("repeat"), st.floats(0, 1), st.integers(1, 200)),
    st.tuples(st.just("truncate"), st.floats(0, 1), st.just(0)),
)


def mangle(data: bytes, changes: list[tuple[str, float, bytes | int]]) -> bytes:
    for kind, where, what in changes:
        place = int(where * len(data))
        if isinstance(what, bytes):
            data = data[:place] + what + data[place:]
        elif kind == "delete":
            data = data[:place] + data[place + what :]
        elif kind == "repeat":
            data = data[:place] + data[place : place + what] * 2 + data[place + what :]
        else:
            data = data[:place]
    return data


@pytest.fixture(scope="module")
def small(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A project of two short chapters on a few of the article's numbers, built once."""
    folder = copy_project(built, tmp_path_factory.mktemp("mangled") / "project")
    for name in ("content", "dist"):
        shutil.rmtree(folder / name)
    (folder / "content/zh/quiz").mkdir(parents=True)
    (folder / "content/zh/quiz/index.yml").write_text(QUIZ, encoding="utf-8")
    (folder / "content/zh/index.md").write_text(CHAPTER, encoding="utf-8")
    (folder / "content/zh/about.md").write_text(ABOUT, encoding="utf-8")
    (folder / "content/site.yml").write_text(SITE, encoding="utf-8")
    shutil.copy(ROOT / "content/claims.yml", folder / "content/claims.yml")
    real = Computer.run

    def few_numbers(computer: Computer) -> Computed:
        computed = real(computer)
        few = {
            path: data
            for path, data in computed.files.items()
            if path.removesuffix(".json") in NEEDED or path.endswith("7x8.json")
        }
        return replace(computed, files={p: d for p, d in few.items() if "gradients" not in p})

    with pytest.MonkeyPatch.context() as patch:
        computed: list[Computed] = []

        def run(computer: Computer) -> Computed:
            if not computed:
                computed.append(few_numbers(computer))
            return computed[0]

        patch.setattr(build_module.Computer, "run", run)
        build(Project(folder), Options(folder / "dist", is_strict=True), Progress(is_quiet=True))
        yield folder


class OutOfTimeError(BaseException):
    """What no builder catches, unlike TimeoutError, which is an OSError."""


def stop(_signal: int, _frame: FrameType | None) -> None:
    raise OutOfTimeError


def is_whole(folder: Path) -> bool:
    """Whether a site holds exactly the files of its list."""
    files = tree(folder)
    listed = json.loads(files.pop(MARKER))["files"]
    return listed == {path: digest(data) for path, data in files.items()}


@settings(
    max_examples=160,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(name=st.sampled_from(MANGLED), changes=st.lists(change, min_size=1, max_size=4))
def test_mangled_text_makes_a_site_or_messages(
    small: Path, name: str, changes: list[tuple[str, float, bytes | int]]
) -> None:
    path = small / "content" / name
    original = path.read_bytes()
    path.write_bytes(mangle(original, changes))
    before = tree(small / "dist")
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(LONGEST_BUILD)
    try:
        build(Project(small), Options(small / "dist"), Progress(is_quiet=True))
    except OutOfTimeError as error:
        raise AssertionError(f"the build took more than {LONGEST_BUILD} seconds") from error
    except BuildError as error:
        assert error.diagnostics
        for diagnostic in error.diagnostics:
            assert diagnostic.path.startswith(("content/", "site_templates/strings.yml"))
            assert diagnostic.message
        assert tree(small / "dist") == before
    else:
        assert is_whole(small / "dist")
    finally:
        signal.alarm(0)
        path.write_bytes(original)
    assert sorted(p.name for p in small.iterdir()) == [
        ".cache",
        "content",
        "dist",
        "site_templates",
    ]
    Output(small / "dist")  # not refused as foreign
