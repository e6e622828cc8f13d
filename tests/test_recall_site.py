"""A site about recall: snapshot, traces, charts and pages come from the code of the products."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page

from builder.diff.comparison import diff
from builder.numbers.display import display
from model.recall import Recall
from model.snapshot import STAGES, Snapshot
from model.task import VOCAB
from tests import independent, scene
from tests.browser import Chromium, cell_at, in_every_look
from tests.projects import ROOT
from tests.shared import once

ASKED_AT = 7
OTHER = 3
"""Number of a problem that readers choose."""

VALUE = """async (cell) => {
  await Article.data.run();
  Article.state.set({cell});
  await new Promise(requestAnimationFrame);
  return document.querySelector(".cell-panel:not(.is-closed) .cell-value b").textContent;
}"""


def run(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "builder", *arguments],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=500,
    )


@pytest.fixture(scope="module")
def recalling(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose model learns recall, built once."""

    def build(folder: Path) -> None:
        project = folder / "project"
        shutil.copytree(ROOT / "tests/fixtures/recall", project / "content")
        shutil.copytree(ROOT / "site_templates", project / "site_templates")
        done = run(project, "build", "--quiet", "--strict")
        assert done.returncode == 0, done.stderr

    return once(tmp_path_factory, "recall", build) / "project"


@pytest.fixture
def project(recalling: Path, tmp_path: Path) -> Path:
    """A copy of it, to be changed."""
    return shutil.copytree(recalling, tmp_path / "project")


@pytest.fixture(scope="module")
def site(recalling: Path) -> Path:
    return recalling / "dist"


@pytest.fixture(scope="module")
def snapshot(site: Path) -> Snapshot:
    return Snapshot(site / "snapshots")


@pytest.fixture(scope="module")
def names(snapshot: Snapshot) -> list[str]:
    return [problem["problem"] for problem in snapshot.document("dataset.json")["problems"]]


# --- the numbers ----------------------------------------------------------------------------


def test_the_model_answers_every_sequence_that_the_site_shows(
    snapshot: Snapshot, names: list[str]
) -> None:
    manifest = snapshot.manifest
    assert manifest["task"] == {"name": "recall", "n_problems": 100, "n_targets": 100}
    assert manifest["training"]["correct"] == 100
    assert manifest["training"]["steps"] == 3000
    shown = snapshot.document("dataset.json")["problems"]
    tokens = [[VOCAB[id_] for id_ in row] for row in Recall().exam[:100].tolist()]
    assert [problem["tokens"] for problem in shown] == tokens
    for name, (*_, answer) in zip(names, tokens, strict=True):
        probs = snapshot.trace("trained", name).values["probs"]
        assert VOCAB[probs[-1].argmax()] == answer


@pytest.mark.parametrize("stage", STAGES)
def test_traces_and_gradients_are_those_of_an_independent_recomputation(
    site: Path, snapshot: Snapshot, names: list[str], stage: str
) -> None:
    for name in names[::9]:
        trace, exact = snapshot.trace(stage, name), independent.forward(site, stage, name)
        assert trace.values.keys() == set(snapshot.vocabulary.activations)
        for key, values in trace.values.items():
            np.testing.assert_allclose(
                np.nan_to_num(values), np.where(np.isfinite(exact[key]), exact[key], 0), 1e-6, 1e-9
            )
        (target,) = snapshot.gradients(stage, name)
        assert target.position == ASKED_AT
        loss, gradients = independent.backward(site, stage, name, ASKED_AT)
        assert independent.is_stored(target.loss, loss)
        for key, values in target.grads.items():
            np.testing.assert_allclose(values, gradients[key], 1e-6, 1e-9)


def test_there_is_no_claim_and_no_table_about_products(site: Path, snapshot: Snapshot) -> None:
    assert snapshot.document("claims.json") == {"claims": []}
    assert [path.name for path in (site / "snapshots/evidence").iterdir()] == ["recall.json"]


def test_a_changed_answer_is_told(snapshot: Snapshot, names: list[str], tmp_path: Path) -> None:
    copy = tmp_path / "snapshots"
    shutil.copytree(snapshot.folder, copy)
    path = copy / f"traces/trained/{names[0]}.json"
    document = json.loads(path.read_text("utf-8"))
    answer = snapshot.document("dataset.json")["problems"][0]["tokens"][-1]
    wrong = (int(answer) + 1) % 8
    for row in document["values"]["probs"]:
        row[:] = [float(i == wrong) for i in range(len(row))]
    path.write_text(json.dumps(document), encoding="utf-8")
    found = diff(snapshot.folder, copy)
    (change,) = found.answers
    assert (change.problem, change.old, change.correct) == (names[0], answer, answer)
    assert change.new.startswith(str(wrong))
    assert [change.position for change in found.predictions] == [ASKED_AT], "what is asked"


# --- the pages ------------------------------------------------------------------------------


@pytest.mark.parametrize("block", ["atlas", "laboratory", "training"])
def test_a_block_about_products_is_refused_with_a_reason(project: Path, block: str) -> None:
    chapter = project / "content/en/index.md"
    text = chapter.read_text("utf-8")
    chapter.write_text(f"{text}\n::: {block}\n:::\n", encoding="utf-8")
    done = run(project, "build", "--quiet")
    assert done.returncode == 1
    line = text.count("\n") + 2
    message = f"`{block}` is about `multiplication`, and this site is about `recall`"
    assert f"content/en/index.md:{line}:1: error: {message} [other-task]" in done.stderr


def test_a_problem_of_another_task_is_refused(project: Path) -> None:
    chapter = project / "content/en/index.md"
    text = chapter.read_text("utf-8")
    chapter.write_text(text.replace("---\n", "---\nproblem: 7x8\n", 1), encoding="utf-8")
    said = run(project, "build", "--quiet").stderr
    assert "there is no problem `7x8`" in said
    assert "it is a problem of `multiplication`, and the site's model has learned `recall`" in said
    link = "[there](#table?problem=7x8)"
    chapter.write_text(f"{text}\n{link}\n", encoding="utf-8")
    assert "there is no problem `7x8`" in run(project, "build", "--quiet").stderr


def test_seeds_to_choose_are_refused_where_none_are_stored(project: Path) -> None:
    config = project / "content/site.yml"
    text = config.read_text("utf-8")
    config.write_text(f"{text}seeds:\n  - 3\n", encoding="utf-8")
    done = run(project, "build", "--quiet")
    assert done.returncode == 1
    place = f"content/site.yml:{text.count(chr(10)) + 1}:1"
    assert f"{place}: error: of the task `recall` no other seeds are stored" in done.stderr


def test_commands_about_products_are_refused(recalling: Path) -> None:
    for command in (["evidence", "controls"], ["census"]):
        done = run(recalling, *command)
        assert done.returncode == 2, command
        assert "is about `multiplication`, and this site is about `recall`" in done.stderr


def test_without_scripts_the_page_has_the_models_numbers(
    site: Path, names: list[str], snapshot: Snapshot
) -> None:
    page = (site / "index.html").read_text("utf-8")
    tokens = snapshot.document("dataset.json")["problems"][0]["tokens"]
    assert f'data-part="prompt">{"".join(tokens[:-1])}</code>' in page
    assert f'data-part="first">{tokens[-1]}</code>' in page
    (shown,) = re.findall(r'data-address="probs\[@7,@next\]"[^>]* data-value="([^"]+)"', page)
    exact = independent.forward(site, "trained", names[0])["probs"][ASKED_AT, int(tokens[-1])]
    assert independent.is_stored(float(shown), exact)


@in_every_look
def test_every_figure_comes_to_life_and_holds_the_trace(
    site: Path, chromium: Chromium, names: list[str], viewport: Any, scheme: str
) -> None:
    with chromium.visit(site / "index.html", viewport=viewport, color_scheme=scheme) as visit:
        visit.see_all()
        assert visit.complaints == visit.strangers == []
        assert visit.fits()
        assert _n_right_cells(visit.page, site, names[0]) > 300


def test_figures_and_sentences_follow_the_problem_that_is_chosen(
    site: Path, chromium: Chromium, names: list[str], snapshot: Snapshot
) -> None:
    tokens = snapshot.document("dataset.json")["problems"][OTHER]["tokens"]
    with chromium.visit(site / "index.html") as visit:
        chooser = visit.page.locator(".problem-chooser select")
        assert chooser.locator("option").all_text_contents() == names
        scene.choose(visit.page, problem=names[OTHER])
        assert chooser.input_value() == names[OTHER]
        parts = visit.page.locator(".prose > p .problem-part").all_text_contents()
        assert parts == ["".join(tokens[:-1]), tokens[-1]]
        assert _n_right_cells(visit.page, site, names[OTHER]) > 300
        assert visit.complaints == []


def _n_right_cells(page: Page, site: Path, problem: str) -> int:
    """Count the cells of activations of heads; all are those of an independent forward pass."""
    n_cells = 0
    for figure in page.evaluate(scene.READ):
        data = figure["data"]
        known = independent.forward(site, data["stage"], problem)
        if "head" not in data or data["key"] not in known or data.get("target"):
            continue
        own = known[data["key"]][int(data["head"])]
        for cell in figure["cells"]:
            if cell["value"] is not None and data.get("transposed") is None:
                exact = own[cell["row"], cell["column"]]
                assert independent.is_stored(cell["value"], exact), (data, cell)
                n_cells += 1
    return n_cells


@pytest.mark.parametrize("which", [0, OTHER])
def test_cells_of_every_kind_open_to_their_number(
    site: Path, chromium: Chromium, names: list[str], snapshot: Snapshot, which: int
) -> None:
    name, vocabulary = names[which], snapshot.vocabulary
    exact = independent.forward(site, "trained", name)
    _, slopes = independent.backward(site, "trained", name, ASKED_AT)
    with chromium.visit(site / "index.html") as visit:
        for key in vocabulary.activations:
            for values, end in ((exact, ""), (slopes, f"@{ASKED_AT}")):
                if key not in values or (end and not vocabulary[key].has_gradient):
                    continue
                array = values[key]
                at = tuple({2: 1}.get(size, min(6, size - 1)) for size in array.shape)
                place = ",".join(map(str, at))
                shown = visit.page.evaluate(VALUE, f"{name}:trained:{key}[{place}]{end}")
                number = float(array[at])
                decimals = len(shown.partition(".")[2])
                if "10" not in shown:
                    assert shown == display(number, decimals), f"{key}[{place}]{end}"
        assert visit.complaints == []


def test_a_cell_of_a_chart_is_clicked_open_and_its_gradient_asked_for(
    site: Path, chromium: Chromium, names: list[str]
) -> None:
    with chromium.visit(site / "index.html") as visit:
        figure = 'figure[data-key="blocks.0.attn.pattern"]'
        visit.page.locator(f"{figure} {cell_at(ASKED_AT, 2)}").first.click()
        panel = visit.page.locator(".cell-panel:not(.is-closed)")
        shown = float(panel.locator(".cell-value b").text_content() or "nan")
        exact = independent.forward(site, "trained", names[0])["blocks.0.attn.pattern"][1, 7, 2]
        assert shown == round(exact, 2)
        panel.locator(".cell-gradient button").click()
        asked = panel.locator(".cell-gradient option").all_text_contents()
        assert len(asked) == 1, "nothing is asked after any other token"
        assert visit.complaints == []
