"""What a notebook imports: each function does what the command of its name does."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

import spor_tasks as spor
from spor_tasks import report
from spor_tasks.core.codec import to_row
from spor_tasks.core.errors import ConfigError, ResultError, SporError
from spor_tasks.corpora.embedded import MINI
from spor_tasks.harness import plan, task_files
from tests.conftest import REPOSITORY
from tests.support import foreign_tasks, invented_runs
from tests.support.rows import write_rows

TASK = "spor_systematicity_mini_icl_atom"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return invented_runs.write(tmp_path_factory.mktemp("invented"), models=("base", "other"))


def test_all_that_the_package_names_is_there():
    assert {*spor.__all__} <= {*dir(spor)}
    assert all(getattr(spor, name) for name in spor.__all__)
    with pytest.raises(AttributeError, match="evalute"):
        _ = spor.evalute


def test_a_pattern_lists_tasks_and_a_misspelt_one_is_an_error():
    names = spor.list_tasks("spor_*_e2e")
    assert "spor_systematicity_e2e" in names
    assert all(name.startswith("spor_") and "_e2e" in name for name in names)
    assert spor.list_tasks() == [file.name for file in task_files.files()]
    with pytest.raises(ConfigError, match="is not a task"):
        spor.list_tasks("spor_systematicty_mini")


def test_a_task_is_described_as_its_command_prints_it(spor_out):
    found = spor.describe_task(TASK)
    printed = spor_out("tasks", "show", TASK)
    assert found.question in " ".join(printed.split())
    assert found.first_prompt.splitlines()[0] in printed
    assert f"{found.samples:,} samples" in printed
    assert (found.arms, found.shown_arm) == (("atom", "combination"), "atom")
    assert found.scores["parent"] == "PARENT"
    assert "facts" not in found.scores  # which only a setting switches on
    assert found.question in str(found)
    assert found.first_prompt in str(found)


def test_tasks_of_one_s_own_are_in_a_folder_to_include(spor_out, tmp_path):
    task, own = "spor_productivity_ships_n3", {"include_path": tmp_path / "made"}
    write_rows(
        tmp_path / "ships.jsonl",
        *({**to_row(each), "split": "train"} for each in MINI.read().train),
        *({**to_row(each), "split": "test"} for each in MINI.read().test),
    )
    only = ("--aspect", "productivity", "--out", str(own["include_path"]))
    spor_out("tasks", "make", str(tmp_path / "ships.jsonl"), *only)
    assert task in spor.list_tasks("spor_*_ships_*", **own)
    assert spor.describe_task(task, **own).samples
    found = spor.evaluate(task, model="dummy", out=tmp_path / "runs", limit=2, **own)
    assert {*found.scores["task"]} == {task}
    with pytest.raises(ConfigError, match="is not a task"):
        spor.describe_task(task)


@pytest.fixture
def spor_out(capsys):
    from spor_tasks import cli

    def printed(*words):
        assert cli.main(words) == 0
        return capsys.readouterr().out

    return printed


def test_a_task_without_its_data_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setenv("SPOR_DATA_DIR", str(tmp_path / "none"))
    found = spor.describe_task("spor_systematicity_webnlg")
    assert found.samples is None
    assert "spor data fetch" in found.missing
    assert found.missing in str(found)


def test_a_tag_is_several_tasks():
    with pytest.raises(ConfigError, match="is several tasks, such as"):
        spor.describe_task("spor_mini_icl")


def test_frames_have_the_numbers_of_the_report(runs, tmp_path):
    found = spor.load(runs)
    scores = found.scores
    rows = {
        (row.task, row.model, run.arm, row.metric): value
        for row in report.collect([runs]).rows
        for cell in (*row.arms, row.as_is)
        for run, value in zip(cell.runs, cell.values, strict=True)
    }
    found_rows = {
        (row.task, row.model, None if pd.isna(row.arm) else row.arm, row.score): row.value
        for row in scores.itertuples()
    }
    assert found_rows == rows
    assert (scores.low <= scores.value).all()
    assert (scores.value <= scores.high).all()
    samples = found.samples
    assert len(samples) == sum(len(path.read_text().splitlines()) for path in runs.glob("*.jsonl"))
    assert {"input", "prompt", "output", "references", "parent"} <= {*samples.columns}
    samples = samples[samples.task.str.contains("systematicity")].fillna({"arm": "as is"})
    per_run = scores[scores.task.str.contains("systematicity") & (scores.score == "parent")]
    per_run = per_run.fillna({"arm": "as is"}).set_index(["model", "arm"]).value
    mean = samples.groupby(["model", "arm"]).parent.mean()
    assert mean.to_dict() == pytest.approx(per_run.to_dict())
    board = found.board()
    assert {"rank", "model", "value", "reason"} <= {*board.columns}
    page = found.report(tmp_path / "report")
    assert page == tmp_path / "report" / report.PAGE
    assert json.loads((tmp_path / "report" / "report.json").read_text("utf-8"))["rows"]


def test_an_evaluation_is_that_of_the_command(tmp_path, spor_out):
    settings = {"limit": 3, "gen_kwargs": {"max_gen_toks": 8}}
    found = spor.evaluate(TASK, model="dummy", out=tmp_path / "api", **settings)
    words = ("--tasks", TASK, "--model", "dummy", "--limit", "3", "--log_samples")
    spor_out("eval", *words, "--gen_kwargs", "max_gen_toks=8", "--output_path", str(tmp_path / "c"))
    theirs = spor.load(tmp_path / "c")
    assert found.scores.drop(columns="file").equals(theirs.scores.drop(columns="file"))
    assert found.samples.equals(theirs.samples)
    assert len(found.samples) == 3


def test_a_baseline_is_a_system_too(tmp_path):
    found = spor.baseline("nearest-demonstration", TASK, out=tmp_path, limit=4)
    assert set(found.scores.model) == {"baseline:nearest-demonstration"}
    assert len(found.samples) == 4


def test_results_of_no_folder_go_with_their_object(caplog):
    found = spor.evaluate([TASK], model="dummy", out=None, limit=1)
    folder = found.paths[0].parent
    assert len(found.samples) == 1
    assert folder.is_dir()
    del found
    assert not folder.exists()
    assert "SHOULD ONLY BE USED FOR TESTING" not in caplog.text  # a notebook would show it


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"limitt": 3}, "limit"),
        ({"batchsize": 3}, "batch_size"),
        ({"limit": "some"}, "neither a whole number"),
        ({"model": "hff"}, "nearest names are hf"),
        ({"model": "hf", "pretrained": "no/folder/here"}, "no/folder/here"),
        ({"model": "spor-hf"}, "name a model with pretrained="),
        ({"model": "hf", "pretrained": "base", "peft": "nosuch"}, "there is no such folder"),
    ],
)
def test_a_bad_setting_is_an_error_before_a_model_is_loaded(tmp_path, settings, what):
    with pytest.raises(ConfigError, match=what):
        spor.evaluate(TASK, out=tmp_path / "runs", **{"model": "dummy", **settings})
    assert not (tmp_path / "runs").exists() or not list((tmp_path / "runs").rglob("*.json"))


def test_samples_are_those_of_the_runs_whose_scores_are_used(tmp_path):
    for _ in range(2):
        spor.baseline("copy-input", SETS, out=tmp_path, limit=5)
    found = spor.load(tmp_path)
    assert "used once" in str(found.problems)
    assert {*found.scores.n} == {5}
    assert len(found.samples) == 5
    frames = found.scores, found.samples.drop(columns=[*found.scores.score]), found.board()
    second = max(tmp_path.rglob("results_*.json"))
    content = json.loads(second.read_text("utf-8"))
    content["results"][SETS]["parent,none"] += 1
    second.write_text(json.dumps(content), "utf-8")
    found = spor.load(tmp_path)
    assert "none is used" in str(found.problems)
    for empty, full in zip((found.scores, found.samples, found.board()), frames, strict=True):
        assert empty.empty
        assert [*empty.columns] == [*full.columns]


@pytest.mark.parametrize("change", [lambda rows: rows[1:], lambda rows: [*rows, b"no JSON"]])
def test_a_damaged_file_of_samples_leaves_those_of_the_others(change, tmp_path):
    spor.baseline("copy-input", SETS, out=tmp_path, limit=5)
    (file,) = tmp_path.rglob("samples_*.jsonl")
    spor.baseline("units-joined", SETS, out=tmp_path, limit=4)
    file.write_bytes(b"\n".join(change(file.read_bytes().splitlines())))
    found = spor.load(tmp_path)
    assert {*found.scores.n} == {4, 5}
    assert {*found.samples.model} == {"baseline:units-joined"}
    assert file.name in str(found.problems)


@pytest.mark.parametrize("names", ["hellaswag", ["spor_mini_icl", "none"], []])
def test_tasks_that_are_not_ours_are_an_error(tmp_path, names):
    with pytest.raises(ConfigError):
        spor.evaluate(names, model="dummy", out=tmp_path)


def test_no_results_are_an_error(tmp_path):
    for paths, error in (((), ConfigError), ((tmp_path / "none",), ResultError)):
        with pytest.raises(error):
            spor.load(*paths)
    (Path(tmp_path) / "results_1.json").write_text("{}")
    with pytest.raises(ResultError, match="has no results"):
        spor.load(tmp_path)


def test_results_of_other_tasks_are_for_comparisons(tmp_path):
    tasks = foreign_tasks.write_tasks(tmp_path / "tasks", foreign_tasks.documents(4))
    foreign_tasks.evaluate(tasks, tmp_path / "runs", foreign_tasks.TEXTS)
    with pytest.raises(ResultError, match=r"spor\.compare"):
        spor.load(tmp_path / "runs")


SETS = "spor_systematicity_mini"


@pytest.fixture(scope="module")
def texts():
    (file,) = task_files.find([SETS])
    return [sample.references[0] for sample in plan.load(file.sets).test]


def test_outputs_have_the_scores_of_the_command(tmp_path, texts, spor_out):
    files = [tmp_path / "one.txt", tmp_path / "two.txt"]
    for file, lines in zip(files, (texts, [*texts[1:], ""]), strict=True):
        file.write_text("\n".join([*lines, ""]), "utf-8")
    words = ["score", *map(str, files), "--task", SETS, "--interval", "--json"]
    printed = json.loads(spor_out(*words))
    found = spor.score(files, task=SETS)
    rows = [
        (row.system, row.score, row.value, row.n, row.signature)
        for row in found.scores.itertuples()
    ]
    keys = ("system", "name", "value", "n", "signature")
    assert rows == [tuple(row[key] for key in keys) for row in printed["scores"]]
    tests = zip(found.comparisons.itertuples(), printed["comparisons"], strict=True)
    for row, of_command in tests:
        assert row.score == of_command["score"]
        assert row.difference == of_command["difference"]
        assert (None if pd.isna(row.p_alone) else row.p_alone) == of_command["p"]
        assert row.b - row.a == pytest.approx(row.difference)
    assert len(found.samples) == 2 * len(texts)
    assert found.samples.groupby("system").parent.mean()[str(files[0])] > 99


def test_texts_of_a_notebook_are_scored_as_files(texts):
    named = {"as it is": texts, "lower/case": [text.lower() for text in texts]}
    found = spor.score(named, task=SETS, metrics=["chrf"], baseline="lower/case")
    assert {*found.scores.system} == {*named}
    (row,) = found.comparisons.itertuples()
    assert (row.first, row.second) == ("lower/case", "as it is")
    assert row.difference > 0
    assert row.p < 0.01
    (warning,) = found.warnings
    assert warning.startswith("lower/case: ")
    assert found.samples.output.to_list() == [*named["as it is"], *named["lower/case"]]


_OF_SCORE = ("task", "corpus", "references", "metrics", "baseline", "filters")


@pytest.mark.parametrize(
    ("outputs", "settings", "what"),
    [
        ({"mine": ["one"]}, {}, r"^mine:2: there is 1 output, and spor_systematicity_mini has 200"),
        ({"mine": [None] * 200}, {}, r"^mine:1"),
        ({}, {}, "no outputs"),
        ([], {}, "no outputs"),
        ({"mine": ["one"]}, {"baseline": "other"}, "none of the systems"),
        ({"mine": ["one"]}, {"task": None}, "nothing says"),
        ({"mine": ["one"]}, {"task": "spor_systematicty_mini"}, "nearest names are"),
        ("none.txt", {}, "^none.txt: there is no such file"),
        ("a text", {}, '^a text: there is no such file\n.*{"mine": texts}'),
        (["a text", "and another"], {}, '^a text: there is no such file\n.*{"mine": texts}'),
        ({"mine": "a text"}, {}, "^mine: 'a text' is no list of texts"),
        ({"mine": None}, {}, "^mine: None is no list of texts"),
        ({3: ["a text"]}, {}, "^outputs: 3 is no text"),
        (None, {}, "^outputs: None is no path"),
        ([None], {}, "^outputs: None is no path"),
        *(({"mine": []}, {name: 3}, f"^{name}: 3 is no ") for name in _OF_SCORE),
    ],
)
def test_bad_outputs_are_one_error(outputs, settings, what):
    with pytest.raises(SporError, match=what):
        spor.score(outputs, **{"task": SETS, **settings})


def test_a_comparison_has_the_rows_of_the_command(tmp_path, spor_out):
    spor.baseline("nearest-demonstration", TASK, out=tmp_path / "nearest")
    spor.baseline("copy-input", SETS, out=tmp_path / "copies")
    spor.evaluate(TASK, model="dummy", out=tmp_path / "dummy")
    paths = [tmp_path / "nearest", tmp_path / "dummy"]
    spor_out("compare", *map(str, paths), "--out", str(tmp_path / "out"))
    written = json.loads((tmp_path / "out" / "compare.json").read_text("utf-8"))["rows"]
    found = spor.compare(*paths)
    asked = [
        "task",
        "score",
        "a",
        "b",
        "difference",
        "low",
        "high",
        "p",
        "n",
        "detectable",
        "reason",
    ]
    assert [*found.columns][: len(asked)] == asked
    assert found.score.to_list() == [row["score"] for row in written]
    assert found.difference.to_list() == [row["difference"] for row in written]
    assert (found.b - found.a).to_list() == pytest.approx(found.difference.to_list())
    (told,) = found.attrs["problems"]
    assert told.endswith("other settings than the first system: backend dummy, not spor-baseline")
    (only,) = spor.compare(*paths, scores=["parent"]).itertuples()
    assert only.p == only.p_alone  # no other row is looked at
    with pytest.raises(ResultError, match="no task"):
        spor.compare(tmp_path / "copies", tmp_path / "dummy")


def test_names_are_a_list_or_a_text_with_commas(tmp_path, texts):
    named = {"mine": texts}
    of_list = spor.score(named, task=SETS, metrics=["parent", "chrf"], filters=["first_line"])
    of_text = spor.score(named, task=SETS, metrics="parent,chrf", filters="first_line")
    assert of_text.scores.equals(of_list.scores)
    spor.baseline("nearest-demonstration", f"{TASK},{SETS}_icl_combination", out=tmp_path / "a")
    spor.evaluate(f"{TASK},{SETS}_icl_combination", model="dummy", out=tmp_path / "b")
    assert len(spor.compare([tmp_path / "a", tmp_path / "b"], scores="parent,chrf")) == 4
    loaded = spor.load([tmp_path / "a", str(tmp_path / "b")])
    assert loaded.scores.equals(spor.load(tmp_path / "a", tmp_path / "b").scores)
    with pytest.raises(ConfigError, match="no results are named"):
        spor.load([])


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: spor.load(""), "^paths: '' is no path"),
        (lambda: spor.load(None), "^paths: None is no path"),
        (lambda: spor.load([None]), "^paths: None is no path"),
        (lambda: spor.compare("a", None), "^others: None is no path"),
        (
            lambda: spor.compare(spor.Results(()), "b"),
            "^first: .*\n  Results have theirs in `paths`",
        ),
        (lambda: spor.compare("a", "b", scores=None), "^scores: None is no list of names"),
        (lambda: spor.list_tasks([SETS]), r"^pattern: \['spor.* is no text"),
        (lambda: spor.list_tasks(include_path=3), "^include_path: 3 is no path"),
        (lambda: spor.describe_task(None), "^name: None is no text"),
        (lambda: spor.baseline("copy-input", None), "^tasks: None is no list of names"),
        (lambda: spor.baseline("copy-input", SETS, out=None), "^out: None is no path"),
        (lambda: spor.baseline("copy-input", SETS, limit="3"), "^limit: '3' is neither a whole"),
        (lambda: spor.evaluate([3], model="dummy"), "^tasks: 3 is no text"),
    ],
)
def test_a_value_of_another_kind_is_an_error_that_names_its_parameter(
    call, what, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=what):
        call()


def test_no_filter_has_the_name_of_the_command(texts):
    found, whole = (
        spor.score({"mine": [f"- {text}" for text in texts]}, task=SETS, filters=each)
        for each in ("none", [])
    )
    assert found.scores.equals(whole.scores)


@pytest.mark.parametrize("paths", [("none",), ("none", "none")])
def test_a_comparison_with_nothing_is_an_error(paths):
    with pytest.raises(SporError):
        spor.compare(*paths)


def test_tasks_of_ones_own_are_in_the_folder_that_is_named(tmp_path, spor_out):
    page = (REPOSITORY / "docs" / "own-corpus.md").read_text("utf-8")
    file, folder = tmp_path / "lighthouses.jsonl", tmp_path / "tasks"
    file.write_text(re.search(r"^```json\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[1], "utf-8")
    spor_out("tasks", "make", str(file), "--out", str(folder))
    name = spor.list_tasks("spor_*lighthouses*", include_path=folder)[0]
    assert spor.describe_task(name, include_path=folder).samples
    found = spor.evaluate(name, model="dummy", limit=1, out=tmp_path / "o", include_path=folder)
    assert len(found.samples) == 1
    floor = spor.baseline("copy-input", name, out=tmp_path / "f", limit=1, include_path=folder)
    assert len(floor.samples) == 1
    with pytest.raises(ConfigError, match="is not a task"):
        spor.describe_task(name)
