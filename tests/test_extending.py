"""The examples of docs/extending.md, installed as a package of somebody else's and run."""

import json
import os
import re
import subprocess
import sys

import pytest

from tests.conftest import REPOSITORY

PAGE = (REPOSITORY / "docs" / "extending.md").read_text("utf-8")
FILES = dict(re.findall(r"^```\w+ (harbours/\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
ENTRY_POINTS = re.findall(
    r'^\[project\.entry-points\."(.*)"\]\n((?:\w+ = .*\n)+)', PAGE, re.MULTILINE
)


def install(place):
    """Return a folder of installed packages that has `harbours`, as pip would leave it."""
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


def test_every_example_is_run_and_does_what_the_page_says(tmp_path):
    assert (len(FILES), len(ENTRY_POINTS)) == (7, 4)
    site = install(tmp_path / "site")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, tmp_path],
        capture_output=True,
        encoding="utf-8",
        cwd=site,
        env={**os.environ, "PYTHONPATH": f"{site}{os.pathsep}{REPOSITORY}"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    printed = done.stdout
    told = dict(map(json.loads, re.findall(r'^\["\w+", .*\]$', printed, re.MULTILINE)))
    assert told == {
        "prompt": "harbour Ebb: depth: 9 m; berths: 10 Output:",
        "filter": [True, True, True],
        "objective": [1, 1],  # from first references
    }
    (score,) = json.JSONDecoder().raw_decode(printed, printed.index("{\n"))[0]["scores"]
    assert score["value"] == pytest.approx((9 + 1) / (5 + 5))  # no mean of 1.8 and 0.2
    assert "Quay: harbours (n = 2)" in printed
    assert "Length" in printed
