"""Tasks are found by patterns and stubs, decode as the paper does, and show these prompts."""

import json
import textwrap
from importlib.machinery import PathFinder
from pathlib import Path

import lm_eval
import pytest
import yaml

from spor_tasks import cli
from spor_tasks.core import hosts
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.sample import AttributeValue, Sample, Triple
from spor_tasks.harness import stubs, task_files
from spor_tasks.prompts.styles import PROMPT_STYLES, prompt
from tests.conftest import REPOSITORY
from tests.support.scripted import load

DATA = REPOSITORY / "tests" / "data"
TOWN = Sample("1", "mini", (Triple("Ebb", "sea", "Cold_Sound"),), ("By the sea.",))
INN = Sample(
    "2", "e2e", (AttributeValue("food", "Basque"),), ("Basque food.",), context={"name": "The Gull"}
)
MINI_TASK = "spor_systematicity_mini"
MINI = sorted(path.stem.removeprefix("prompts_") for path in DATA.glob("prompts_spor_*.txt"))
"""The tasks over the embedded corpus whose first ten prompts are in a file."""


def prompts(name, number=10):
    """Yield the contexts of the first documents of a task."""
    task = load(name)
    for document in task.eval_docs.select(range(number)):
        context = task.fewshot_context(document, num_fewshot=0)
        yield from context if isinstance(context, list) else [context]


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (["spor_mini"], [name for name in MINI if "_icl_" not in name]),
        (["spor_productivity_mini_icl_visible"], [n for n in MINI if n.endswith("_icl_visible")]),
        (["spor_sys*city_mini", "spor_systematicity_mini", "hellaswag"], [MINI[-3]]),
        (["spor_order_invariance_e2e_cwio*_icl"], []),
    ],
)
def test_tags_and_patterns_are_expanded(patterns, expected):
    assert [file.name for file in task_files.expand(patterns)] == expected


def test_a_folder_of_one_s_own_has_tasks_beside_the_shipped_ones(tmp_path):
    (shipped,) = task_files.find([MINI_TASK])
    mine, group = tmp_path / "mine", tmp_path / "group.yaml"
    mine.mkdir()
    (mine / "mine.yaml").write_text(
        f"include: {shipped.path}\ntask: mine\ntag: {MINI_TASK}_mine\nfilter: !function a.b\n"
    )
    (mine / "again.yaml").write_text(f"include: {shipped.path}\nnum_fewshot: 2\n")
    group.write_text("group: all\ntask: [mine, hellaswag]\nmetadata: {version: 1.0}\n")
    (tmp_path / "list.yaml").write_text("- 1\n")
    names = [file.name for file in task_files.find([f"{MINI_TASK}*", "mine"], tmp_path)]
    assert names == [
        "mine",
        MINI_TASK,
        *(f"{MINI_TASK}_icl_{arm}" for arm in ("atom", "combination")),
    ]
    (file,) = task_files.find([f"{MINI_TASK}_mine"], tmp_path)
    assert (file.name, file.sets, file.tags) == ("mine", shipped.sets, (f"{MINI_TASK}_mine",))
    assert not file.asks_likelihoods
    assert [file.shots for file in task_files.find([MINI_TASK], tmp_path)] == [2]
    assert len(task_files.names(tmp_path)) == len(task_files.names()) + 2
    with pytest.raises(ConfigError, match="'mines' is not a task") as caught:
        task_files.find(["mines"], tmp_path)
    assert "The nearest names are mine, " in str(caught.value.remedy)
    group.write_text("include: group.yaml")
    for place, why in ((tmp_path, "is not a task file"), (tmp_path / "none", "is not a folder")):
        with pytest.raises(ConfigError, match=why):
            task_files.files(place)


def test_beams_are_those_of_the_paper():
    """They differ from greedy decoding in their number, and no text but the end stops them."""
    beams = task_files._template(task_files.TEMPLATES / "_beam5")["generation_kwargs"]
    assert beams == task_files.decoding()[0] | {"num_beams": 5, "until": []}
    fixed = ("length_penalty", "early_stopping", "max_gen_toks")
    assert [beams[name] for name in fixed] == [1, False, 128]


@pytest.mark.parametrize("sample", [TOWN, INN])
@pytest.mark.parametrize("style", PROMPT_STYLES)
def test_greedy_tasks_stop_at_the_next_prompt(sample, style):
    stops = tuple(task_files.decoding()[0]["until"])
    assert f"\n{prompt(sample, style)}".startswith(stops)


@pytest.mark.parametrize("name", MINI)
def test_the_first_ten_prompts_are_these(name):
    end = "\n\n" if "_icl_" in name else "\n"
    golden = (DATA / f"prompts_{name}.txt").read_text()
    assert "".join(prompt + end for prompt in prompts(name)) == golden


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        (MINI[-3], ["atom and combination", "untuned   evaluate spor_systematicity_mini_icl_atom"]),
        ("spor_order_invariance_mini_main_icl_match", ["most 8 demonstrations of match", "2 for"]),
        ("logicnlg_mini_icl_train", ["bleu_3", "truth           "]),
        ("totto_mini_icl_train", ["bleurt", "; --metadata switches it on", "also      totto_par"]),
        ("logicnlg_mini_ppl", ["nothing: texts are given", "part of this package"]),
    ],
)
def test_a_task_is_shown_with_its_first_prompt(name, facts, spor):
    shown = spor(f"tasks show {name}")
    assert all(fact in shown for fact in facts)
    first, *_ = prompts(name, 1)
    assert textwrap.indent(first, "    ") in shown


def test_a_task_without_its_data_says_how_to_get_it(spor, tmp_path, monkeypatch):
    monkeypatch.setenv("TOTTO_DATA_DIR", str(tmp_path))
    shown = spor("tasks show totto")
    assert "asks      The model reads the highlighted cells" in shown
    assert "Run `spor data fetch --corpus totto`" in shown
    assert spor("tasks show totto_all").split()[0] == "totto"


@pytest.mark.parametrize(
    ("task", "place"),
    [
        ("totto", "TOTTO_DATA_DIR/totto_dev_data.jsonl"),
        ("spor_systematicity_viggo", "VIGGO_DATA_DIR/train.csv"),
    ],
)
def test_data_that_is_missing_is_said_and_data_that_is_damaged_is_an_error(
    task, place, tmp_path, monkeypatch, spor
):
    variable, name = place.split("/")
    spor(f"tasks show {task}")  # what was read from another folder is not taken for this one
    monkeypatch.setenv(variable, str(tmp_path))
    assert "The data is not here" in spor(f"tasks show {task}")
    file = tmp_path / name
    cells = {"example_id": 1, "table": [[{"value": "Moss"}]], "highlighted_cells": [[0, 0]]}
    row = json.dumps({**cells, "sentence_annotations": [{"final_sentence": "Moss won."}]})
    file.write_text(f"{row}\n{row[:40]}", "utf-8")
    assert str(file) in spor(f"tasks show {task}", ends=2)


# --- Stubs for lm-eval, which `spor tasks register` writes ----------------------------------------


def test_stubs_include_the_files_of_this_installation(tmp_path):
    assert stubs.folder().parent == Path(lm_eval.__file__).parent / "tasks"
    folder = tmp_path / "stubs"
    stubs.register(folder)
    included = {path.name: yaml.safe_load(path.read_text())["include"] for path in folder.iterdir()}
    assert included == {file.path.name: str(file.path) for file in task_files.files()}
    moved = folder / "spor_systematicity_mini.yaml"
    text = moved.read_text()
    moved.write_text(text.replace(str(task_files.FOLDER), "/elsewhere/spor_tasks/tasks"))
    (folder / "spor_gone.yaml").write_text(text)
    (folder / "spor_rule_learnability_mini.yaml").unlink()
    assert not stubs.registered(folder)
    stubs.register(folder)
    assert stubs.registered(folder)
    assert moved.read_text() == text


def test_stubs_in_an_uninstalled_lm_eval_are_removed(tmp_path, monkeypatch, capsys):
    places = [tmp_path / "one" / "lm_eval", tmp_path / "two" / "lm_eval"]
    for place in places:
        stubs.register(place / "tasks" / hosts.STUBS)
    search = [str(place.parent) for place in places]
    assert PathFinder.find_spec("lm_eval", search)  # without lm-eval, `import lm_eval` works
    monkeypatch.setattr(stubs, "find_spec", lambda name: PathFinder.find_spec(name, search))
    with pytest.raises(ConfigError, match="lm-eval is not installed"):
        stubs.folder()
    (places[1] / "notes.txt").write_text("somebody's")
    assert cli.main(["tasks", "register"]) == 2
    assert cli.main(["tasks", "register", "--remove"]) == 0
    assert capsys.readouterr().out.count(": removed\n") == 2
    assert not list(places[0].rglob("*.yaml"))
    assert (places[1] / "notes.txt").is_file()


def test_a_folder_that_cannot_be_written_is_an_error_with_other_ways(tmp_path):
    (tmp_path / "tasks").write_text("")
    with pytest.raises(ConfigError, match="cannot be written") as caught:
        stubs.register(tmp_path / "tasks" / "stubs")
    assert "spor eval" in str(caught.value.remedy)
    assert "spor tasks path" in str(caught.value.remedy)
