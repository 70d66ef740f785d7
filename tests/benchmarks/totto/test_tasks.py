"""ToTTo's sets and task files: which there are, that they are current, and what they ask."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from lm_eval import simple_evaluate

from spor_tasks.benchmarks.totto.benchmark import TOTTO
from spor_tasks.core import files
from spor_tasks.core.digests import digest
from spor_tasks.core.sample import SetName
from spor_tasks.evaluation.run import Evaluator
from spor_tasks.harness import host, task_files
from tests.support.pages import python_example


def test_beams_differ_from_greedy_decoding_in_their_number_and_their_stops_alone() -> None:
    greedy, beams = (
        yaml.load((task_files.FOLDER / "totto" / name).read_bytes(), task_files._Loader)[  # noqa: S506
            "generation_kwargs"
        ]
        for name in ("_base", "_beam4")
    )
    assert greedy | {"num_beams": 4, "until": []} == beams


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TOTTO_DATA_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def real(totto_dir: Path, folder: Path) -> Path:
    """The 30 real examples of the development set, and the test set without their references."""
    names = ("dev_25.jsonl", "dev_sample.jsonl")
    examples = "".join((totto_dir / name).read_text("utf-8") for name in names)
    (folder / "totto_dev_data.jsonl").write_text(examples, "utf-8")
    rows = map(json.loads, examples.splitlines())
    hidden = [{k: v for k, v in row.items() if k != "sentence_annotations"} for row in rows]
    files.write_rows(folder / "unlabeled_totto_test_data.jsonl", hidden)
    return folder


def run(*names: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - as lm-eval
    found: dict[str, Any] = simple_evaluate(
        model="dummy", tasks=list(names), task_manager=task_files.manager({}), **more
    )
    return found


@pytest.mark.usefixtures("real")
def test_the_result_has_the_digest_of_the_test_set_that_no_file_names() -> None:
    result = run("totto")
    metadata, scores = result["configs"]["totto"]["metadata"], result["results"]["totto"]
    test = TOTTO.load(SetName("totto", "totto", "published")).test
    assert metadata["test_sha256"] == digest(test.samples)
    assert metadata["spor"]["arms"] == {}
    for name in ("totto_bleu", "totto_parent", "totto_parent_real", "totto_chrf"):
        for half in ("", "_overlap", "_nonoverlap"):
            assert scores[f"{name}{half},none"] >= 0
            assert scores[f"{name}{half}_stderr,none"] >= 0


@pytest.mark.skipif(host.IS_NEW, reason="the page reads files of lm-eval 0.4")
def test_samples_of_the_test_set_become_a_submission(real: Path) -> None:
    Evaluator("dummy").evaluate([{}], ["totto_test"], real / "results")
    exec(python_example("totto.md", "totto_test"), {})  # noqa: S102
    lines = (real / "totto_test.txt").read_text("utf-8").split("\n")
    assert len(lines) == 31
    assert lines.pop() == ""
    assert all(lines)


def test_demonstrations_are_of_the_training_set(real: Path, totto_dir: Path) -> None:
    shutil.copy(totto_dir / "train_sample.jsonl", real / "totto_train_data.jsonl")
    result = run("totto_icl_train", num_fewshot=2, log_samples=True)
    prompt = result["samples"]["totto_icl_train"][0]["arguments"][0][0]
    assert prompt.count("<table>") == 3
