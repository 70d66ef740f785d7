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
from spor_tasks.core.sample import Hidden
from spor_tasks.harness import own, plan
from spor_tasks.harness.plan import Plan
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
HIDING, ORDERS = "spor_rule_learnability_cafes", "spor_order_invariance_cafes_main"


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


def write(cafes: Path, *aspects: str, overwrite: bool = False, **settings: Any) -> own.TaskSet:  # noqa: ANN401 - Request's fields
    """Write the task files beside the corpus."""
    request = Request(corpus=str(cafes), aspect="", **settings)
    return own.write(cafes.with_name("tasks"), request, aspects, overwrite=overwrite)


def resolve(cafes: Path, task: str) -> Plan:
    text = cafes.with_name("tasks").joinpath(f"{task}.yaml").read_bytes()
    return plan.resolve(yaml.safe_load(text)["metadata"])


def test_all_possible_tasks_are_made_and_their_results_are_read(
    cafes: Path, tmp_path: Path
) -> None:
    made = write(cafes, hide=("door",))
    assert made.tag == "spor_cafes"
    assert made.tasks[HIDING] == made.tasks[ORDERS] == 2
    assert "productivity n5" in made.refused
    assert not made.tasks.keys() & made.refused.keys()
    copier = ScriptedLM(lambda _: "There is a Value A door, and fish.")
    manager = TaskManager(include_path=tmp_path / "tasks", include_defaults=False)
    result = evaluate(copier, HIDING, manager=manager)
    assert result["results"][HIDING]["copy_rule,none"] == 100
    file = tmp_path / "results_1.json"
    file.write_text(json.dumps({**result, "samples": {}}, default=str))
    (found,) = runs.read(file)
    assert (found.corpus, found.aspect, found.variant) == ("cafes", "rule_learnability", "")


def test_values_that_references_copy_are_hidden_by_default(cafes: Path) -> None:
    write(cafes, "rule_learnability")
    for sample in resolve(cafes, HIDING).pair.test.samples:
        assert isinstance(sample.challenge, Hidden)
        assert [*dict(sample.challenge.phrases)] == ["dish", "door"]
    cafes.write_text(re.sub(r'"texts": \[.*?\]', '"texts": ["A cafe."]', cafes.read_text("utf-8")))
    with pytest.raises(SplitError) as caught:
        write(cafes, "rule_learnability", overwrite=True)
    assert caught.value.where == str(cafes)
    assert cafes.with_name("tasks").exists()


def test_a_corpus_that_changed_is_refused(cafes: Path) -> None:
    write(cafes, "order_invariance")
    resolve(cafes, ORDERS)
    lines = cafes.read_text("utf-8").splitlines(keepends=True)
    cafes.write_text("".join(lines[1:]), "utf-8")
    with pytest.raises(CorpusError) as caught:
        resolve(cafes, ORDERS)
    assert caught.value.where == str(cafes)
    assert "spor tasks make" in str(caught.value.remedy)
    cafes.unlink()
    with pytest.raises(FileNotFoundError):
        resolve(cafes, ORDERS)
