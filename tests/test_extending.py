"""The examples of docs/extending.md, installed as a package of somebody else's and run."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

PAGE = (REPOSITORY / "docs" / "extending.md").read_text("utf-8")
FILES = dict(re.findall(r"^```\w+ (harbours/\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
ENTRY_POINTS = re.findall(
    r'^\[project\.entry-points\."(.*)"\]\n((?:\w+ = .*\n)+)', PAGE, re.MULTILINE
)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of installed packages that has `harbours`, as pip would leave it."""
    place = tmp_path_factory.mktemp("site")
    for name, text in FILES.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    (place / "harbours" / "__init__.py").touch()
    (place / "spor_tasks").symlink_to(REPOSITORY / "spor_tasks")  # beside it, as the task says
    info = place / "harbours-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: harbours\nVersion: 1.0\n")
    points = (f"[{group}]\n{lines}" for group, lines in ENTRY_POINTS)
    (info / "entry_points.txt").write_text("\n".join(points).replace('"', ""))
    return place


# What the examples are for, one after another in one process with the package installed.
SCRIPT = """
import json, runpy, sys
from pathlib import Path
from lm_eval.tasks import TaskManager
from spor_tasks.cli import main
from spor_tasks.core.registry import registry
from spor_tasks.corpora.embedded import MINI
from spor_tasks.prompts.styles import prompt
from tests.support.scripted import ScriptedLM, evaluate
from training.objectives.likelihood import find_objective

out, say = Path(sys.argv[1]), lambda *told: print(json.dumps(told))
say("prompt", prompt(registry().get("corpus", "harbours").read().train[0], "causal"))

rows = [
    {"data": [["Gull", "crew", "4"]], "texts": ["The Gull has four hands."], "output": output}
    for output in ("The Gull has a crew of four hands aboard.", "Four.")
]
(out / "rows").write_text("".join(json.dumps(row) + "\\n" for row in rows), "utf-8")
main(["score", str(out / "rows"), *"--metric length_ratio --corpus webnlg --json".split()])

manager = lambda: TaskManager(include_path="harbours/tasks", include_defaults=False)
task = "spor_systematicity_mini_unquoted"
quoted = ScriptedLM(lambda request: '"' + request.doc["target"] + '"')
found = evaluate(quoted, task, manager=manager(), limit=3)
say("filter", [row["filtered_resps"][0] == row["target"] for row in found["samples"][task]])

runpy.run_module("harbours.write_tasks", run_name="__main__")
found = evaluate(ScriptedLM(lambda _: "9 m deep."), "quay_harbours", manager=manager())
(out / "results_1.json").write_text(json.dumps(found, default=str), "utf-8")
main(["report", str(out)])

objective = find_objective("first_reference")
samples = [sample for sample in MINI.read().train if len(sample.references) > 1][:2]
say("objective", [len(list(objective.pairs(sample, "causal"))) for sample in samples])
"""


@pytest.fixture(scope="module")
def printed(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the script prints."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, tmp_path_factory.mktemp("out")],
        capture_output=True,
        encoding="utf-8",
        cwd=installed,
        env={**os.environ, "PYTHONPATH": f"{installed}{os.pathsep}{REPOSITORY}"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def told(printed: str, name: str) -> object:
    (line,) = (line for line in printed.splitlines() if line.startswith(f'["{name}", '))
    return json.loads(line)[1]


def test_every_example_is_run() -> None:
    assert len(FILES) == 7
    assert len(ENTRY_POINTS) == 4


def test_the_metric_scores_a_file(printed: str) -> None:
    start = printed.index("{\n")
    (score,) = json.JSONDecoder().raw_decode(printed, start)[0]["scores"]
    assert score["value"] == pytest.approx((9 + 1) / (5 + 5))  # no mean of 1.8 and 0.2


def test_the_filter_cuts_what_is_scored(printed: str) -> None:
    assert told(printed, "filter") == [True, True, True]


def test_the_corpus_has_its_own_prompt(printed: str) -> None:
    assert told(printed, "prompt") == "harbour Ebb: depth: 9 m; berths: 10 Output:"


def test_the_benchmark_is_evaluated_and_reported(printed: str) -> None:
    assert "Quay: harbours (n = 2)" in printed
    assert "Length" in printed


def test_the_objective_learns_from_first_references(printed: str) -> None:
    assert told(printed, "objective") == [1, 1]
