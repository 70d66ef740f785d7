"""ToTTo's sets and task files: which there are, that they are current, and what they ask."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from lm_eval import simple_evaluate

from spor_tasks.benchmarks.totto.benchmark import TOTTO
from spor_tasks.core.contracts import SetName
from spor_tasks.core.digests import digest
from spor_tasks.core.errors import CorpusError
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


def test_each_input_has_a_training_set_of_its_own() -> None:
    arms = {
        part: digest(TOTTO.load(SetName("totto", "totto_mini", "published", part)).arms[0].samples)
        for part in (None, "subtable", "fulltable", "fulltable_metadata")
    }
    assert len({*arms.values()}) == 4


@pytest.fixture
def real(totto_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """The 30 real examples of the development set, and the test set without their references."""
    monkeypatch.setenv("TOTTO_DATA_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    examples = [
        line
        for name in ("dev_25.jsonl", "dev_sample.jsonl")
        for line in (totto_dir / name).read_text("utf-8").splitlines()
    ]
    hidden = [json.loads(line) for line in examples]
    for example in hidden:
        del example["sentence_annotations"]

    def write(*, train: bool = True) -> Path:
        (tmp_path / "totto_dev_data.jsonl").write_text("\n".join(examples) + "\n", "utf-8")
        (tmp_path / "unlabeled_totto_test_data.jsonl").write_text(
            "\n".join(map(json.dumps, hidden)) + "\n", "utf-8"
        )
        if train:
            shutil.copy(totto_dir / "train_sample.jsonl", tmp_path / "totto_train_data.jsonl")
        return tmp_path

    return write


def run(*names: str, **more: object) -> dict[str, object]:
    found: dict[str, object] = simple_evaluate(
        model="dummy", tasks=list(names), task_manager=task_files.manager({}), **more
    )
    return found


def test_the_result_has_the_digest_of_the_test_set_that_no_file_names(
    real: Callable[..., Path],
) -> None:
    real(train=False)
    result = run("totto")
    (sets,) = (TOTTO.load(SetName("totto", "totto", "published")).test.samples,)
    metadata = result["configs"]["totto"]["metadata"]  # type: ignore[index]
    assert metadata["test_sha256"] == digest(sets)
    assert metadata["spor"]["arms"] == {}
    scores = result["results"]["totto"]  # type: ignore[index]
    for name in ("totto_bleu", "totto_parent", "totto_parent_real", "totto_chrf"):
        for half in ("", "_overlap", "_nonoverlap"):
            assert scores[f"{name}{half},none"] >= 0
            assert scores[f"{name}{half}_stderr,none"] >= 0


@pytest.mark.skipif(host.IS_NEW, reason="the page reads files of lm-eval 0.4")
def test_samples_of_the_test_set_become_a_submission(real: Callable[..., Path]) -> None:
    folder = real()
    Evaluator("dummy").evaluate([{}], ["totto_test"], folder / "results")
    exec(python_example("totto.md", "totto_test"), {})  # noqa: S102
    lines = (folder / "totto_test.txt").read_text("utf-8").split("\n")
    assert len(lines) == 31
    assert lines.pop() == ""
    assert all(lines)


def test_without_the_corpus_the_error_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOTTO_DATA_DIR", str(tmp_path))
    with pytest.raises(CorpusError) as caught:
        run("totto")
    assert "spor data fetch --corpus totto" in str(caught.value)


def test_demonstrations_are_of_the_training_set(real: Callable[..., Path]) -> None:
    real()
    result = run("totto_icl_train", num_fewshot=2, log_samples=True)
    first = result["samples"]["totto_icl_train"][0]  # type: ignore[index]
    prompt = first["arguments"][0][0]
    assert prompt.count("<table>") == 3
