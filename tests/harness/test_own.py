"""Task files for a corpus of one's own."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from lm_eval.tasks import TaskManager

from spor_tasks.aspects.request import Request
from spor_tasks.core.errors import CorpusError, SplitError
from spor_tasks.core.sample import Hidden, challenge_of
from spor_tasks.harness import own, plan
from spor_tasks.results import runs
from tests.support.scripted import ScriptedLM, evaluate

CAFES = [
    ("train", "fish", "blue", "Gull"),
    ("train", "rye", "red", "Gull"),
    ("train", "fish", "red", "Auk"),
    ("train", "rye", "blue", "Auk"),
    ("test", "fish", "red", "Tern"),
    ("test", "rye", "blue", "Tern"),
]


@pytest.fixture
def cafes(tmp_path: Path) -> Path:
    """A corpus of attribute-value pairs that are not E2E's."""
    rows = [
        {
            "split": split,
            "name": name,
            "data": [["dish", dish], ["door", door]],
            "texts": [f"{name} serves {dish} behind a {door} door."],
        }
        for split, dish, door, name in CAFES
    ]
    path = tmp_path / "cafes.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def request(path: Path, **settings: Any) -> Request:  # noqa: ANN401 - Request's fields
    return Request(corpus=str(path), aspect="", **settings)


def manager(folder: Path) -> TaskManager:
    return TaskManager(include_path=folder, include_defaults=False)


def metadata(folder: Path, task: str) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((folder / f"{task}.yaml").read_bytes())["metadata"]
    return content


def test_what_a_corpus_allows_is_made_and_the_rest_is_told(cafes: Path, tmp_path: Path) -> None:
    made = own.write(tmp_path / "tasks", request(cafes, hide=("door",)))
    assert made.tag == "spor_cafes"
    assert made.tasks["spor_rule_learnability_cafes"] == 2
    assert made.tasks["spor_order_invariance_cafes_main"] == 2
    assert "productivity n5" in made.refused
    assert not made.tasks.keys() & made.refused.keys()


def test_hidden_attributes_are_those_that_are_named(cafes: Path, tmp_path: Path) -> None:
    folder = tmp_path / "tasks"
    own.write(folder, request(cafes, hide=("door",)), ["rule_learnability"])
    found = plan.resolve(metadata(folder, "spor_rule_learnability_cafes"))
    assert [sample.challenge for sample in found.pair.test.samples] == [
        Hidden((("door", "Value A"),), (("door", ("blue", "red")),))
    ] * 2


def test_without_a_name_what_references_copy_is_hidden(cafes: Path, tmp_path: Path) -> None:
    own.write(tmp_path / "tasks", request(cafes), ["rule_learnability"])
    found = plan.resolve(metadata(tmp_path / "tasks", "spor_rule_learnability_cafes"))
    for sample in found.pair.test.samples:
        assert [what for what, _ in challenge_of(sample, Hidden).phrases] == ["dish", "door"]


def test_where_references_copy_nothing_there_are_no_tasks(cafes: Path, tmp_path: Path) -> None:
    cafes.write_text(re.sub(r'"texts": \[.*?\]', '"texts": ["A cafe."]', cafes.read_text("utf-8")))
    with pytest.raises(SplitError) as caught:
        own.write(tmp_path / "tasks", request(cafes), ["rule_learnability"])
    assert caught.value.where == str(cafes)
    assert not (tmp_path / "tasks").exists()


def test_results_are_read_as_those_of_any_task(cafes: Path, tmp_path: Path) -> None:
    folder = tmp_path / "tasks"
    own.write(folder, request(cafes, hide=("door",)))
    task = "spor_rule_learnability_cafes"
    copier = ScriptedLM(lambda _: "There is a Value A door, and fish.")
    result = evaluate(copier, task, manager=manager(folder))
    assert result["results"][task]["copy_rule,none"] == 100
    file = tmp_path / "results_1.json"
    file.write_text(json.dumps({**result, "samples": {}}, default=str))
    (found,) = runs.read(file)
    assert (found.corpus, found.aspect, found.variant) == ("cafes", "rule_learnability", "")


def test_a_corpus_that_changed_is_refused(cafes: Path, tmp_path: Path) -> None:
    folder = tmp_path / "tasks"
    own.write(folder, request(cafes), ["order_invariance"])
    asked = metadata(folder, "spor_order_invariance_cafes_main")
    plan.resolve(asked)
    lines = cafes.read_text("utf-8").splitlines(keepends=True)
    cafes.write_text("".join(lines[1:]), "utf-8")
    with pytest.raises(CorpusError) as caught:
        plan.resolve(asked)
    assert caught.value.where == str(cafes)
    assert "spor tasks make" in str(caught.value.remedy)
    cafes.unlink()
    with pytest.raises(FileNotFoundError):
        plan.resolve(asked)
