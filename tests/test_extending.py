"""The examples of docs/extending.md, installed as a package of somebody else's and run."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from spor_tasks.core.registry import Entry, Registry
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


def run(place: Path, *arguments: str) -> str:
    """Run Python with the package installed; return what it prints."""
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        encoding="utf-8",
        cwd=place,
        env={**os.environ, "PYTHONPATH": f"{place}{os.pathsep}{REPOSITORY}"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def spor(place: Path, *arguments: str) -> str:
    call = f"from spor_tasks.cli import main; raise SystemExit(main({list(arguments)!r}))"
    return run(place, "-c", call)


def test_every_example_is_run() -> None:
    assert len(FILES) == 7
    assert len(ENTRY_POINTS) == 3


def test_the_metric_scores_a_file(installed: Path, tmp_path: Path) -> None:
    rows = [
        {"data": [["Gull", "crew", "4"]], "texts": ["The Gull has four hands."], "output": output}
        for output in ("The Gull has a crew of four hands aboard.", "Four.")
    ]
    file = tmp_path / "outputs.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    command = ["score", str(file), "--metric", "length_ratio", "--corpus", "webnlg", "--json"]
    (score,) = json.loads(spor(installed, *command))["scores"]
    assert score["value"] == pytest.approx(100 * (9 + 1) / (5 + 5))  # no mean of 180 and 20


def test_the_filter_cuts_what_is_scored(installed: Path) -> None:
    script = (
        "import sys; sys.path.insert(0, '.')\n"
        "from lm_eval.tasks import TaskManager\n"
        "from tests.support.scripted import ScriptedLM, evaluate\n"
        "manager = TaskManager(include_path='harbours/tasks', include_defaults=False)\n"
        "task = 'spor_systematicity_mini_unquoted'\n"
        "quoted = ScriptedLM(lambda request: '\"' + request.doc['target'] + '\"')\n"
        "found = evaluate(quoted, task, manager=manager, limit=3)\n"
        "print([row['filtered_resps'][0] == row['target'] for row in found['samples'][task]])\n"
    )
    assert run(installed, "-c", script).splitlines()[-1] == "[True, True, True]"


def test_the_corpus_has_its_own_prompt(installed: Path) -> None:
    script = (
        "from spor_tasks.core.registry import registry\n"
        "from spor_tasks.prompts.styles import prompt\n"
        "sample = registry().get('corpus', 'harbours').read().train[0]\n"
        "print(prompt(sample, 'causal'))\n"
    )
    assert run(installed, "-c", script) == "harbour Ebb: depth: 9 m; berths: 10 Output:\n"


def test_the_benchmark_is_evaluated_and_reported(installed: Path, tmp_path: Path) -> None:
    run(installed, "-m", "harbours.write_tasks")
    script = (
        "import json, sys\n"
        "from lm_eval.tasks import TaskManager\n"
        "from tests.support.scripted import ScriptedLM, evaluate\n"
        "manager = TaskManager(include_path='harbours/tasks', include_defaults=False)\n"
        "found = evaluate(ScriptedLM(lambda _: '9 m deep.'), 'quay_harbours', manager=manager)\n"
        "json.dump(found, open(sys.argv[1], 'w'), default=str)\n"
    )
    run(installed, "-c", script, str(tmp_path / "results_1.json"))
    printed = spor(installed, "report", str(tmp_path))
    assert "Quay: harbours (n = 2)" in printed
    assert "Length" in printed


def test_the_objective_learns_from_first_references(
    installed: Path,
) -> None:
    script = (
        "from spor_tasks.core.registry import Registry\n"
        "from spor_tasks.corpora.mini import MINI\n"
        "from spor_tasks.core.registry import Entry\n"
        f"entry = {re.search(r'^Entry.*$', PAGE, re.MULTILINE)[0]}\n"  # type: ignore[index]
        "objective = Registry([entry]).get('objective', entry.name)\n"
        "samples = [s for s in MINI.read().train if len(s.references) > 1][:2]\n"
        "print([len(list(objective.rows(sample, 'causal'))) for sample in samples])\n"
    )
    assert run(installed, "-c", script) == "[1, 1]\n"


@pytest.mark.parametrize("module", ["harbours.benchmark", "harbours.nowhere"])
def test_a_faulty_entry_is_named(
    installed: Path, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    monkeypatch.syspath_prepend(str(installed))
    entry = Entry("benchmark", "quay", f"{module}:ALL")
    with pytest.raises(Exception, match="quay") as caught:
        Registry([entry]).get("benchmark", "quay")
    assert type(caught.value).__name__ == "ConfigError"
