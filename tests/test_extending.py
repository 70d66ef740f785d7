"""The sections of docs/extending.md: each alone typed in an empty folder, installed, and run."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

PAGE = (REPOSITORY / "docs" / "extending.md").read_text("utf-8")
HEAD = PAGE.partition("\n## ")[0]
SECTIONS = dict(re.findall(r"(?m)^## (.+)\n((?:(?!## ).*\n)+)", PAGE))

# Each section in a process of its own, which begins with what all of them import.
START = """
import json, os, runpy, site, subprocess, sys
import torch  # which most sections need
from pathlib import Path
from lm_eval import evaluator
from lm_eval.tasks import TaskManager
from spor_tasks.cli import main
from spor_tasks.harness import host
from tests.support.scripted import ScriptedLM, evaluate

host.describe_machine_once()
evaluator.add_env_info({})  # which takes a second each time

manager = lambda: TaskManager(include_path="harbours/tasks", include_defaults=False)
for folder, script in json.loads(sys.argv[1]).items():
    if not os.fork():
        os.chdir(folder)
        sys.path.insert(0, folder)
        site.addsitedir("installed")
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
from spor_tasks.harness import task_files
task, own = "spor_systematicity_mini", task_files.manager({"metrics": "length_ratio"})
found = evaluate(ScriptedLM(lambda _: "Two words."), task, manager=own, limit=3)
print("added", found["results"][task]["length_ratio,none"] > 0)
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
print("make", main(["tasks", "make", "harbours", "--sets", "systematicity", "--out", "made"]))
task, own = "spor_systematicity_harbours", ["--include_path", "made"]
print("show", main(["tasks", "show", f"{task}_icl_atom", *own]))
few = [*own, "--limit", "2"]
print("baseline", main(["baseline", "nearest-demonstration", f"{task}_icl_*", *few]))
print("eval", main(["eval", "--model", "dummy", "--tasks", task, *few, "--output_path", "out"]))
print("report", main(["report", "out"]))
from training.config import DataConfig
from training.data import corpus_sha256, everything, sets_of
data = DataConfig("systematicity", "harbours", "atom")
print(len(sets_of(data).arms["atom"]), len(corpus_sha256(data)), len(everything(data)))
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
    "A metric": [
        '"length_ratio"',
        '"value": 1.0',
        "added True",
    ],  # (9 + 1) / (5 + 5), no mean of 1.8 and 0.2
    "A filter": ["[True, True, True]"],
    "A corpus": [
        "harbour Holm: depth: 12 m; berths: sixty; light: white; ferry: Orra Output:",
        *(f"{aspect} 0" for aspect in ("productivity", "order_invariance", "rule_learnability")),
        *(f"{command} 0" for command in ("systematicity", "make", "show", "baseline", "eval")),
        "harbour Holm: ",
        "Systematicity: harbours, strict sets",
        "report 0",
        "108 64 255",
    ],
    "A benchmark": ["Quay: mini (n = ", "chrF"],
    "An objective": ["[1, 1]"],  # from first references
}


def install(place, section):
    """Type the files and commands of the page's head and of a section, and install the package."""
    files = {}
    for name, content in re.findall(r"(?ms)^```\w+ (\S+)\n(.*?)^```$", HEAD + section):
        files.setdefault(name, []).append(content)
    for name, contents in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text("\n".join(contents), "utf-8")
    here = ["--python", sys.executable, "--target", "installed", "--offline", "--no-deps"]
    pip = ["uv", "pip", "install", "--quiet", "--no-build-isolation", *here]
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for command in re.findall(r"(?ms)^```sh\n(.*?)^```$", HEAD + section):
        bash = ["bash", "-euc", command.replace("pip install", " ".join(pip))]
        subprocess.run(bash, cwd=place, env=environment, check=True)
    broken = place / "installed" / "broken-1.0.dist-info"
    broken.mkdir()
    (broken / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    points = "[spor_tasks.metric]\nbroken = harbours.none:BROKEN\n"
    (broken / "entry_points.txt").write_text(points)


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
    lines = re.findall("(?m)^the metric 'broken' .* of the package broken is left out", warned)
    assert len(lines) == (section != "An objective")
