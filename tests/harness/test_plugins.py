"""What lm-eval finds of this package: by entry points, or as soon as it is imported."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import lm_eval
import pytest
import sacrebleu
import yaml
from lm_eval.tasks import _index, manager

from spor_tasks import cli
from spor_tasks.core import hosts
from spor_tasks.harness import host, stubs
from spor_tasks.text import filters
from tests.conftest import REPOSITORY

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
DEFAULTS = Path(manager.__file__).parent
TEXTS = [
    ("The harbour is deep.", "the harbour is deep\nand more"),
    ("A quay is long.", "A quay was long."),
    ("Boats sail at noon.", ""),
]

# What lm-eval's pull requests 4013 and 4014 do, as far as this package notices: a placeholder of
# each entry point stands in its registry before anything of the package is imported.
STAND_IN = """
import json, sys
from importlib.metadata import EntryPoint
import lm_eval.models, lm_eval.filters, lm_eval.api.metrics
from lm_eval.api import registry
for group, entries in json.loads(sys.argv[2]).items():
    kind = group.removeprefix("lm_eval.")[:-1]
    for name, value in entries.items():
        if kind != "task":
            point = EntryPoint(name, value, group)
            getattr(registry, f"{kind}_registry").register(name, target=point)
assert "spor_tasks" not in sys.modules
"""
IMPORT = """
import json, sys
import spor_tasks
assert not {"lm_eval", "torch"} & {name.partition(".")[0] for name in sys.modules}
from types import ModuleType
hf = ModuleType("spor_tasks.models.hf")  # importing it takes six seconds, and another test does
hf.SporHF = type("SporHF", (), {})
sys.modules[hf.__name__] = hf
"""
USE = """
from lm_eval import evaluator, simple_evaluate
from lm_eval.api.model import LM
from lm_eval.api.registry import get_model, is_higher_better
from lm_eval.tasks import TaskManager

class Said(LM):
    loglikelihood = loglikelihood_rolling = None
    def generate_until(self, requests, disable_tqdm=False):
        return [request.doc["output"] for request in requests]

evaluator.add_env_info = lambda results: None  # a second, to describe the machine
folder = sys.argv[1]
tasks = TaskManager(include_path=folder, include_defaults=False)
found = simple_evaluate(model=Said(), tasks=["foreign"], task_manager=tasks, bootstrap_iters=0)
rows = found["samples"]["foreign"]
print(json.dumps({
    "results": found["results"]["foreign"],
    "outputs": [row["filtered_resps"][0] for row in rows],
    "better": [is_higher_better(name) for name in ("spor_chrf", "spor_ter")],
    "model": get_model("spor-hf").__name__,
}))
import spor_tasks.harness.task  # which registers the filters too
"""


def test_the_entry_points_are_declared_alike():
    declared = {
        group: entries
        for group, entries in PROJECT["entry-points"].items()
        if group.startswith("lm_eval.")
    }
    assert declared == hosts.ENTRIES
    assert declared["lm_eval.filters"].keys() == {f"spor_{name}" for name in filters.FILTERS}


@pytest.mark.skipif(host.IS_NEW, reason="0.5 has other facts of a metric")
@pytest.mark.parametrize("way", [STAND_IN, IMPORT], ids=["entry points", "import"])
def test_tasks_of_others_use_our_filters_metrics_and_aggregations(way, tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text(
        "".join(json.dumps({"text": text, "output": output}) + "\n" for text, output in TEXTS)
    )
    names = [*hosts.ENTRIES["lm_eval.metrics"]]
    content = {
        "task": "foreign",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(rows)}},
        "output_type": "generate_until",
        "test_split": "test",
        "doc_to_text": "Say it.",
        "doc_to_target": "{{text}}",
        "generation_kwargs": {"until": ["@"]},
        "filter_list": [
            {
                "name": "line",
                "filter": [{"function": "spor_first_line"}, {"function": "take_first"}],
            }
        ],
        "metric_list": [
            {"metric": name} | ({"aggregation": name} if name == "spor_ter" else {})
            for name in names
        ],
    }
    (tmp_path / "foreign.yaml").write_text(yaml.safe_dump(content))
    done = subprocess.run(
        [sys.executable, "-c", way + USE, str(tmp_path), json.dumps(hosts.ENTRIES, default=dict)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    outputs = [output.partition("\n")[0] for _, output in TEXTS]
    assert found["outputs"] == outputs
    assert found["better"] == [True, False]
    assert found["model"] == "SporHF"
    scores = {name.partition(",")[0]: value for name, value in found["results"].items()}
    references = [[text for text, _ in TEXTS]]
    corpus = {
        "spor_bleu": sacrebleu.BLEU(),
        "spor_chrf_plus_plus": sacrebleu.CHRF(word_order=2),
        "spor_ter": sacrebleu.TER(),
    }
    for name, scorer in corpus.items():
        assert scores[name] == pytest.approx(scorer.corpus_score(outputs, references).score)
    chrf = [
        sacrebleu.CHRF().sentence_score(each, [text])
        for each, (text, _) in zip(outputs, TEXTS, strict=True)
    ]
    assert scores["spor_chrf"] == pytest.approx(sum(each.score for each in chrf) / 3)
    assert scores["spor_empty"] == pytest.approx(100 / 3)


@pytest.fixture
def without_theirs(monkeypatch):
    """Spare the seconds that lm-eval takes to read its own tasks."""
    monkeypatch.setattr(hosts, "STUBS", "none here")
    files = _index.TaskIndex._iter_yaml_files
    monkeypatch.setattr(
        _index.TaskIndex,
        "_iter_yaml_files",
        staticmethod(lambda root: () if Path(root) == DEFAULTS else files(root)),
    )


@pytest.mark.usefixtures("without_theirs")
def test_lm_eval_evaluates_our_model_on_our_tasks(checkpoint, caplog):
    name, arguments = "spor_systematicity_mini", {"pretrained": str(checkpoint())}
    for beams in (1, 2):
        decoding = {"max_gen_toks": 4, "num_beams": beams}
        found = lm_eval.simple_evaluate(
            "spor-hf", arguments, tasks=[name], limit=2, device="cpu", gen_kwargs=decoding
        )
        spor = found["configs"][name]["metadata"]["spor"]
        assert spor["generation"]["num_beams"] == beams
    assert "hint: " in caplog.text, "lm-eval's interface checks nothing before"
    assert "overrides" not in caplog.text
    assert "model_type" not in found["configs"][name]["metadata"]


def test_our_tasks_stand_after_lm_evals_and_never_twice(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(hosts, "STUBS", "none here")
        check_order(tmp_path)
    folder = tmp_path / hosts.STUBS
    folder.mkdir()
    for installed, wanted in ((hosts.TASKS, [tmp_path, tmp_path / "own"]), ("elsewhere", None)):
        (folder / "one.yaml").write_text(f'include: "{installed}/one.yaml"\n')
        given = [tmp_path, hosts.TASKS, tmp_path / "own"]
        assert hosts.with_tasks(given, tmp_path) == (wanted or given)


def check_order(tmp_path):
    ours, own = hosts.TASKS, tmp_path / "own"
    for given, wanted in (
        ([DEFAULTS], [DEFAULTS, ours]),
        ([DEFAULTS, own], [DEFAULTS, ours, own]),
        ([DEFAULTS, ours, ours], [DEFAULTS, ours]),
        ([DEFAULTS, ours / "spor"], [DEFAULTS, ours / "spor"]),
        ([DEFAULTS, ours.parent], [DEFAULTS, ours.parent]),
        ([own], [own]),
    ):
        assert hosts.with_tasks(given, DEFAULTS) == wanted


class Finding(manager.TaskManager):
    """As pull request 4015 has it: folders of entry points stand behind lm-eval's own."""

    def __init__(self) -> None:
        manager.TaskIndex().build([DEFAULTS, hosts.TASKS])


def test_where_lm_eval_finds_our_tasks_nothing_is_registered(tmp_path, monkeypatch, spor):
    assert stubs.are_needed()
    monkeypatch.setattr(manager, "TaskManager", Finding)
    assert not stubs.are_needed()
    folder = tmp_path / "tasks" / hosts.STUBS
    monkeypatch.setattr(stubs, "folder", lambda: folder)
    monkeypatch.setattr(stubs, "remove", lambda: ())
    assert spor("tasks register") == "The installed lm-eval finds the tasks by itself.\n"
    assert not folder.exists()
    monkeypatch.setattr(stubs, "remove", lambda: (folder,))
    assert spor("tasks register").splitlines()[1:] == [
        f"{folder}: removed, which an older lm-eval needed"
    ]
    assert cli.main(["tasks", "path"]) == 0
