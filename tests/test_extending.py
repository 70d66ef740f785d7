"""The sections of docs/extending.md: each alone installed as somebody else's package, and run."""

import json
import os
import re
import subprocess
import sys

import pytest

from tests.conftest import REPOSITORY

PAGE = (REPOSITORY / "docs" / "extending.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"(?m)^## (.+)\n((?:(?!## ).*\n)+)", PAGE))

# Each section in a process of its own, which begins with what all of them import.
START = """
import json, os, runpy, sys
from pathlib import Path
from lm_eval.tasks import TaskManager
from spor_tasks.cli import main
from tests.support.scripted import ScriptedLM, evaluate

manager = lambda: TaskManager(include_path="harbours/tasks", include_defaults=False)
for folder, script in json.loads(sys.argv[1]).items():
    if not os.fork():
        os.chdir(folder)
        sys.path.insert(0, folder)
        for number, name in enumerate(("printed", "warned"), start=1):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT), number)
        exec(script)
        sys.stdout.flush()
        os._exit(0)
    os.wait()
"""

# What each section is for.
SCRIPTS = {
    "A metric": """
rows = [
    {"data": [["Gull", "crew", "4"]], "texts": ["The Gull has four hands."], "output": output}
    for output in ("The Gull has a crew of four hands aboard.", "Four.")
]
Path("rows").write_text("".join(json.dumps(row) + "\\n" for row in rows), "utf-8")
main(["score", "rows", *"--metric length_ratio --corpus webnlg --json".split()])
""",
    "A filter": """
task = "spor_systematicity_mini_unquoted"
quoted = ScriptedLM(lambda request: '"' + request.doc["target"] + '"')
found = evaluate(quoted, task, manager=manager(), limit=3)
print([row["filtered_resps"][0] == row["target"] for row in found["samples"][task]])
""",
    "A corpus": """
from spor_tasks.core.registry import registry
from spor_tasks.prompts.styles import prompt
print(prompt(registry().get("corpus", "harbours").read().train[-1], "causal"))
for aspect in ("systematicity", "productivity", "order_invariance", "rule_learnability"):
    status = main(["data", "build", "--corpus=harbours", "--aspect", aspect, "--out", aspect])
    print(aspect, status)
""",
    "A benchmark": """
runpy.run_module("harbours.write_tasks", run_name="__main__")
found = evaluate(ScriptedLM(lambda _: "9 m deep."), "quay_mini", manager=manager())
Path("results_1.json").write_text(json.dumps(found, default=str), "utf-8")
main(["report", "."])
""",
    "An objective": """
from spor_tasks.corpora.embedded import MINI
from training.objectives.likelihood import find_objective
objective = find_objective("first_reference")
samples = [sample for sample in MINI.read().train if len(sample.references) > 1][:2]
print([len(list(objective.pairs(sample, "causal"))) for sample in samples])
""",
}

PRINTED = {
    "A metric": ['"length_ratio"', '"value": 1.0'],  # (9 + 1) / (5 + 5), no mean of 1.8 and 0.2
    "A filter": ["[True, True, True]"],
    "A corpus": [
        "harbour Holm: depth: 12 m; berths: sixty; light: white; ferry: Orra Output:",
        *(f"{aspect} 0" for aspect in ("productivity", "order_invariance", "rule_learnability")),
        "systematicity 0",
    ],
    "A benchmark": ["Quay: mini (n = ", "chrF"],
    "An objective": ["[1, 1]"],  # from first references
}


def install(place, text):
    """Leave the modules and the entry points of a section in a folder, as pip would."""
    for name, content in re.findall(r"(?ms)^```\w+ (harbours/\S+)\n(.*?)^```$", text):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(content, "utf-8")
    (place / "harbours" / "__init__.py").touch()
    (place / "spor_tasks").symlink_to(REPOSITORY / "spor_tasks")  # beside it, as the task says
    info = place / "harbours-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: harbours\nVersion: 1.0\n")
    points = re.findall(r'(?m)^\[project\.entry-points\."(.*)"\]\n((?:\w+ = .*\n)+)', text)
    lines = dict(points) | {"spor_tasks.metric": dict(points).get("spor_tasks.metric", "")}
    lines["spor_tasks.metric"] += 'broken = "harbours.none:BROKEN"\n'
    written = "\n".join(f"[{group}]\n{content}" for group, content in lines.items())
    (info / "entry_points.txt").write_text(written.replace('"', ""))


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """A folder for each section, installed beside entries that are broken, and run."""
    folders = {section: tmp_path_factory.mktemp("section") for section in SCRIPTS}
    for section, folder in folders.items():
        install(folder, SECTIONS[section])
    scripts = {str(folder): SCRIPTS[section] for section, folder in folders.items()}
    subprocess.run(
        [sys.executable, "-c", START, json.dumps(scripts)],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        check=True,
    )
    return folders


@pytest.mark.parametrize("section", SCRIPTS)
def test_each_section_stands_alone_beside_broken_entries(section, places):
    warned = (places[section] / "warned").read_text("utf-8")
    printed = (places[section] / "printed").read_text("utf-8")
    assert all(text in printed for text in PRINTED[section]), printed + warned
    lines = re.findall("(?m)^the metric 'broken' .* of the package harbours is left out", warned)
    assert len(lines) == (section in {"A metric", "A filter", "A benchmark"})
