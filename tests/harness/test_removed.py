"""Removed tasks: whoever types one of their names learns since when, and why."""

import pytest
import yaml

from spor_tasks.core.errors import ConfigError
from spor_tasks.harness import task_files
from tests.support.result_files import write_result
from tests.support.scripted import simple

MODEL = "--model dummy --limit 1"
CORPORA = ("fyelp", "amazon", "yelp", "mixture", "mini")
REMOVED = [*(f"compmctg_{corpus}_discrimination" for corpus in CORPORA), "compmctg_discrimination"]
WHY = "was removed in 0.3.0: likelihood discrimination is in no paper"


@pytest.mark.parametrize("name", REMOVED)
def test_a_removed_name_says_since_when_and_why(name, spor):
    assert name not in task_files.names()
    for command in (
        "tasks show ",
        f"eval {MODEL} --tasks ",
        f"eval {MODEL} --tasks spor_mini_icl,",
    ):
        printed = spor(f"{command}{name}", 2)
        assert f"error: tasks: {name} {WHY}" in printed


def test_a_task_file_of_an_older_release_is_refused_in_lm_eval(tmp_path):
    old, name = task_files.FOLDER / "_likelihood", REMOVED[-2]
    sets = {"benchmark": "compmctg", "aspect": "compmctg", "corpus": "compmctg_mini"}
    metadata = {"version": 1.0, **sets, "protocol": "discrimination"}
    content = {"include": str(old), "task": name, "metadata": metadata}
    (tmp_path / "old.yaml").write_text(yaml.safe_dump(content), "utf-8")
    from lm_eval.tasks import TaskManager

    manager = TaskManager(include_path=str(tmp_path), include_defaults=False)
    with pytest.raises(ConfigError, match=WHY):
        simple("dummy", name, limit=1, manager=manager)


def test_a_report_names_the_removed_task_of_an_old_result(tmp_path, spor):
    write_result(tmp_path / "results_old.json", task=REMOVED[0])
    assert f"{REMOVED[0]} {WHY}" in spor(f"report {tmp_path}", 2)
