import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from builder.diff.comparison import Difference, diff
from builder.errors import UnreadableError
from tests.snapshots import documents, edit, write

Compare = Callable[[Callable[[Path], Any]], Difference]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("original"), documents())


@pytest.fixture
def copy(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "copy"))


def complaint(old: Path, new: Path) -> str:
    with pytest.raises(UnreadableError) as caught:
        diff(old, new)
    assert caught.value.exit_code == 2
    assert len(caught.value.diagnostics) == 1
    message = caught.value.diagnostics[0]
    assert "\n" not in f"{message.path}{message.message}"
    return str(message)


def set_value(path: Path, *steps: str | int, value: Any) -> None:
    def change(document: Any) -> None:
        for step in steps[:-1]:
            document = document[step]
        document[steps[-1]] = value

    edit(path, change)


def test_a_folder_is_the_same_as_itself(original: Path) -> None:
    result = diff(original, original)
    assert result.is_same
    assert result.exit_code == 0
    assert result.lines() == ["snapshots: same, 17 files, byte for byte"]


def test_dist_folders_are_compared_by_their_snapshots(original: Path, tmp_path: Path) -> None:
    shutil.copytree(original, tmp_path / "dist" / "snapshots")
    assert diff(original, tmp_path / "dist").is_same


def test_pages_that_differ_are_counted_beside_the_snapshots(original: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        shutil.copytree(original, tmp_path / name / "snapshots")
        (tmp_path / name / "index.html").write_text(name)
    result = diff(tmp_path / "one", tmp_path / "two")
    assert (result.exit_code, result.n_others) == (0, 1)
    assert result.lines()[0].endswith("byte; other files that differ, such as pages: 1")


def test_provenance_is_not_compared(original: Path, tmp_path: Path) -> None:
    files = documents() | {"provenance.json": {"python": "3.14"}}
    assert diff(original, write(tmp_path / "new", files)).is_same


def test_a_weights_last_digit_is_named_with_tensor_and_cell(original: Path, copy: Path) -> None:
    path = copy / "weights/trained.json"
    tensors = json.loads(path.read_text("utf-8"))["tensors"]
    before = np.float32(tensors["blocks.0.attn.W_Q"][3][5])
    after = float(str(np.nextafter(before, np.float32(9))))
    set_value(path, "tensors", "blocks.0.attn.W_Q", 3, 5, value=after)

    result = diff(original, copy)

    assert result.exit_code == 1
    (tensor,) = result.tensors
    assert (tensor.group, tensor.key) == ("weights/trained", "blocks.0.attn.W_Q")
    assert tensor.cell.address == "blocks.0.attn.W_Q[3,5]"
    assert tensor.cell.place == "layer 1, row 4, column 6 of head 2"
    assert (tensor.cell.old, tensor.cell.new) == (float(str(before)), after)
    assert tensor.largest == abs(after - float(str(before)))
    assert tensor.mean == pytest.approx(tensor.largest / 64)
    assert (tensor.n_changed, tensor.n_compared) == (1, 64)
    text = "\n".join(result.lines())
    assert "blocks.0.attn.W_Q[3,5] in weights/trained.json" in text
    assert f"{path}: not what manifest.json lists" in text


def test_activations_are_named_with_layer_head_and_tokens(original: Path, copy: Path) -> None:
    path = copy / "traces/initial/7x8.json"
    set_value(path, "values", "blocks.1.attn.attn_scores", 1, 3, 0, value=99.0)
    (tensor,) = diff(original, copy).tensors
    assert tensor.cell.address == "blocks.1.attn.attn_scores[1,3,0]"
    assert tensor.cell.place == "layer 2, head 2, row 4 (=), column 1 (7)"
    assert tensor.cell.file == "traces/initial/7x8.json"


def test_gradients_are_named_with_their_target(original: Path, copy: Path) -> None:
    path = copy / "gradients/trained/7x8.json"
    set_value(path, "targets", 3, "grads", "logits", 3, 5, value=99.0)
    (tensor,) = diff(original, copy).tensors
    assert tensor.cell.address == "targets[3].grads.logits[3,5]"
    assert tensor.cell.place == "target of row 4 (=), row 4 (=), column 6 (5)"


def test_differences_of_many_files_are_gathered_by_tensor(original: Path, tmp_path: Path) -> None:
    files = documents()
    for name, delta in (("0x0", 0.5), ("7x8", 2.0)):
        files[f"traces/trained/{name}.json"]["values"]["logits"][0][0] += delta
    (tensor,) = diff(original, write(tmp_path / "new", files)).tensors
    assert (tensor.n_files, tensor.n_changed, tensor.n_compared) == (2, 2, 14 * (5 + 6))
    assert tensor.cell.file == "traces/trained/7x8.json"
    assert tensor.largest == pytest.approx(2.0)
    assert tensor.mean == pytest.approx(2.5 / (14 * 11))


def test_numbers_of_a_table_of_evidence_are_named_one_by_one(tmp_path: Path) -> None:
    def census(holds: int, lost: float, shares: list[float]) -> Any:
        claims = {"one": {"holds": holds, "fails_for": [3]}, "two": {"holds": 7, "fails_for": [4]}}
        of_seed = {"3": {"one": {"lost": lost}}, "4": {"one": {"lost": 9, "shares": shares}}}
        return {"n_seeds": 64, "claims": claims, "of_seed": of_seed}

    old, new = (
        write(tmp_path / name, documents() | {"evidence/census.json": table})
        for name, table in (
            ("old", census(30, 0.5, [1.0, 2.0])),
            ("new", census(31, 90.25, [1.0, 4.0])),
        )
    )
    lines = diff(old, new).lines()
    start = lines.index("numbers of evidence/census (3):")
    assert lines[start + 1 : start + 4] == [
        "  claims.one.holds in evidence/census.json: 30 → 31",
        "  of_seed.3.one.lost in evidence/census.json: 0.5 → 90.25",
        "  of_seed.4.one.shares[1] in evidence/census.json (entry 2): 2.0 → 4.0; "
        "largest difference 2, mean 1, 1 of 2 numbers",
    ]


def test_a_mask_that_moved_counts_as_the_largest_difference(original: Path, copy: Path) -> None:
    path = copy / "traces/initial/7x8.json"
    set_value(path, "values", "blocks.0.attn.attn_scores", 0, 2, 1, value=None)
    (tensor,) = diff(original, copy).tensors
    assert tensor.largest is None
    assert tensor.cell.new is None
    assert "→ masked" in str(tensor.cell)


def test_numbers_of_training_are_named_with_their_step(original: Path, copy: Path) -> None:
    set_value(copy / "training.json", "loss", 2, value=0.5)
    (tensor,) = diff(original, copy).tensors
    assert tensor.cell.address == "loss[2]"
    assert tensor.cell.place == "step 2"


def test_a_changed_prediction_and_answer_are_reported(original: Path, copy: Path) -> None:
    path = copy / "traces/trained/7x8.json"
    set_value(path, "values", "probs", 4, 3, value=0.99)

    result = diff(original, copy)

    (prediction,) = result.predictions
    assert prediction.context == "7 × 8 = 5"
    assert (prediction.old, prediction.new, prediction.target) == ("6", "3", "6")
    (answer,) = result.answers
    assert (answer.old, answer.new) == ("56<end>", "53…")
    text = "\n".join(result.lines())
    assert "7x8, trained: 56<end> (right) → 53… (wrong)" in text
    assert "7x8, trained: after 7 × 8 = 5 (row 5): 6 → 3, where 6 follows" in text


def test_a_question_row_changes_a_prediction_but_no_answer(original: Path, copy: Path) -> None:
    set_value(copy / "traces/trained/7x8.json", "values", "probs", 0, 3, value=0.99)
    result = diff(original, copy)
    assert len(result.predictions) == 1
    assert result.answers == ()


def test_an_attention_row_that_reads_another_token_is_reported(copy: Path) -> None:
    path = copy / "traces/trained/7x8.json"
    key = "blocks.1.attn.pattern"
    set_value(path, "values", key, 0, 3, value=[0.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    base = Path(shutil.copytree(copy, copy.parent / "base"))
    set_value(path, "values", key, 0, 3, value=[0.0, 0.0, 1.0, 0.0, 0.0, 0.0])

    result = diff(base, copy)

    (row,) = result.attention
    assert (row.layer, row.head, row.position, row.token) == (2, 1, 3, "=")
    assert (row.old_token, row.new_token) == ("×", "8")
    assert (
        "  7x8, trained: layer 2, head 1, row 4 (=): column 2 (×) → column 3 (8)" in result.lines()
    )


def test_the_trained_model_is_reported_before_the_untrained_one(original: Path, copy: Path) -> None:
    for stage in ("initial", "trained"):
        path = copy / f"traces/{stage}/7x8.json"
        set_value(path, "values", "probs", 1, 12, value=0.99)
    assert [p.stage for p in diff(original, copy).predictions] == ["trained", "initial"]


def test_claims_that_flip_come_before_those_whose_numbers_moved(original: Path, copy: Path) -> None:
    set_value(copy / "claims.json", "claims", 0, "numbers", "largest_error", value=2e-07)
    set_value(copy / "claims.json", "claims", 1, "holds", value=False)

    flipped, moved = diff(original, copy).claims

    assert (flipped.id, flipped.old, flipped.new) == ("row-4-reads-factors", True, False)
    assert (moved.old, moved.new) == (True, True)
    assert [str(figure) for figure in moved.numbers] == ["largest_error: 1e-07 → 2e-07"]


def test_claims_that_are_new_or_gone_are_reported(original: Path, copy: Path) -> None:
    edit(copy / "claims.json", lambda document: document["claims"].pop())
    (gone,) = diff(original, copy).claims
    assert (gone.id, gone.old, gone.new) == ("row-4-reads-factors", True, None)
    (new,) = diff(copy, original).claims
    assert (new.old, new.new) == (None, True)


def test_headline_figures_are_reported(original: Path, tmp_path: Path) -> None:
    result = diff(original, write(tmp_path / "new", documents(), final_loss=0.5))
    assert "training.final_loss: 0.41 → 0.5" in map(str, result.headline)
    assert result.changed == ("manifest.json",)


def test_removed_and_added_files_are_reported(original: Path, copy: Path) -> None:
    (copy / "traces/trained/0x0.json").unlink()
    result = diff(original, copy)
    assert result.exit_code == 1
    assert result.removed == ("traces/trained/0x0.json",)
    assert diff(copy, original).added == ("traces/trained/0x0.json",)
    assert any("listed in manifest.json, but missing" in line for line in result.lines())


def test_other_entries_that_change_are_reported(original: Path, copy: Path) -> None:
    set_value(copy / "dataset.json", "vocab", 10, value="*")
    edit(copy / "weights/trained.json", lambda document: document["tensors"].pop("ln_final.b"))
    set_value(copy / "weights/initial.json", "tensors", "ln_final.b", value=[1.0, 2.0])
    fields = {(field.name, field.old, field.new) for field in diff(original, copy).fields}
    assert fields == {
        ("vocab[10]", "×", "*"),
        ("tensors.ln_final.b", "8 numbers", "(absent)"),
        ("tensors.ln_final.b", "8 numbers", "2 numbers"),
    }


def test_equal_values_written_otherwise_are_told_from_changed_ones(
    original: Path, copy: Path
) -> None:
    path = copy / "training.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8"))), "utf-8")
    result = diff(original, copy)
    assert result.exit_code == 1
    assert "only in how they are written" in result.lines()[0]


def test_long_lists_are_cut_for_people_and_whole_for_machines(
    original: Path, tmp_path: Path
) -> None:
    result = diff(original, write(tmp_path / "new", documents(seed=1)))
    data = json.loads(json.dumps(result.as_dict()))
    assert data["same"] is False
    assert len(data["attention"]) > 8
    assert f"  and {len(data['attention']) - 8} more" in result.lines()
    assert len(result.lines()) < 100


def test_markdown_shows_tokens_as_text(original: Path, copy: Path) -> None:
    set_value(copy / "traces/trained/7x8.json", "values", "probs", 4, 3, value=0.99)
    text = diff(original, copy).markdown()
    assert text.startswith("### Snapshots\n")
    assert "56&lt;end&gt;" in text
    assert "<end>" not in text
    assert text.count("<pre>") == text.count("</pre>") > 0


def test_control_characters_in_a_folder_do_not_reach_the_terminal(
    original: Path, copy: Path
) -> None:
    set_value(copy / "dataset.json", "vocab", 10, value="\x1b[2J")
    assert "\x1b" not in "\n".join(diff(original, copy).lines())


@pytest.mark.parametrize("keep", [0, 1, 1000])
def test_a_truncated_file_is_unreadable(original: Path, copy: Path, keep: int) -> None:
    path = copy / "weights/trained.json"
    path.write_bytes(path.read_bytes()[:keep])
    message = complaint(original, copy)
    assert message.startswith(f"{path}: error: not valid JSON")
    assert complaint(copy, copy) == message


def test_a_truncated_file_that_only_one_folder_has_is_unreadable(
    original: Path, copy: Path
) -> None:
    (copy / "extra.json").write_text("{", "utf-8")
    assert "extra.json" in complaint(original, copy)


def test_folders_that_are_not_ours_are_unreadable(original: Path, tmp_path: Path) -> None:
    assert "there is no such folder" in complaint(original, tmp_path / "nothing")
    (tmp_path / "file").write_text("", "utf-8")
    assert "not a folder" in complaint(original, tmp_path / "file")
    (tmp_path / "foreign").mkdir()
    assert "no `manifest.json`" in complaint(original, tmp_path / "foreign")
    (tmp_path / "foreign/manifest.json").write_text('{"name": "a web app"}', "utf-8")
    assert "`schema` is None instead of 1" in complaint(tmp_path / "foreign", original)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("schema", 2, "`schema` is 2 instead of 1"),
        ("files", {}, "`files` is not a list"),
        ("files", [{"path": "dataset.json"}], "`files` is not a list"),
        ("model", None, "`model` does not describe a model"),
        ("model", {"n_layers": 2}, "`model` does not describe a model"),
    ],
)
def test_a_manifest_under_another_contract_is_unreadable(
    original: Path, copy: Path, name: str, value: Any, expected: str
) -> None:
    set_value(copy / "manifest.json", name, value=value)
    message = complaint(original, copy)
    assert expected in message
    assert message.startswith(str(copy / "manifest.json"))


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("manifest.json", "[]", "not a JSON object"),
        ("manifest.json", "\x00", "not valid JSON"),
        ("claims.json", '{"claims": [1]}', "`claims` is not a list of claims"),
        ("claims.json", "{}", "`claims` is not a list of claims"),
        ("traces/trained/7x8.json", "{}", "not a trace"),
        (
            "traces/trained/7x8.json",
            '{"tokens": ["7","×","8","=","5","6"], "values": {"probs": ["a"]}}',
            "`probs` does not have a row",
        ),
        ("training.json", '{"loss": [NaN]}', "not valid JSON"),
    ],
)
def test_damage_of_any_kind_is_one_message(
    original: Path, copy: Path, path: str, text: str, expected: str
) -> None:
    (copy / path).write_text(text, "utf-8")
    message = complaint(original, copy)
    assert expected in message
    assert message.startswith(str(copy / path))


def test_documents_nested_beyond_reason_are_unreadable(original: Path, copy: Path) -> None:
    base = Path(shutil.copytree(original, copy.parent / "base"))
    for folder, leaf in ((base, "1"), (copy, "2")):
        (folder / "training.json").write_text('{"loss": ' + "[" * 1010 + leaf + "]" * 1010 + "}")
    assert "nested too deeply" in complaint(base, copy)
