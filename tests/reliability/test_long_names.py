"""Names that a file system or lm-eval does not take: nothing is lost at the end of the work."""

import os
import re
import shlex
import sys
from pathlib import Path

import lm_eval.__main__
import pytest

from spor_tasks import cli
from spor_tasks.core import files, folders
from spor_tasks.core.codec import to_row
from spor_tasks.evaluation.run import Evaluator
from spor_tasks.harness import host, task_files
from spor_tasks.results import runs
from tests.support import commands
from tests.support.rows import write_rows
from tests.support.whole_runs import whole_set

MINI = "spor_systematicity_mini"
LONG = ("m" * 254 + "n", "m" * 300, "m" * 299 + "n", "ü" * 200, "/".join(["deep"] * 80))
DUMMY = ["--model", "dummy", "--limit", "2", "--log_samples"]


@pytest.fixture(autouse=True)
def _quick(monkeypatch, tmp_path):
    commands.without_other_tasks(monkeypatch, tmp_path)
    monkeypatch.setattr(lm_eval.__main__, "setup_logging", lambda: None)
    monkeypatch.chdir(tmp_path)


def lm_eval_run(monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["lm_eval", "run", *words])
    lm_eval.__main__.cli_evaluate()
    return 0


@pytest.mark.parametrize("way", ["spor", "spor and lm-eval", "lm-eval"])
def test_results_of_every_model_are_written(way, monkeypatch):
    for name in LONG:
        words = [*DUMMY, "--model_args", f"model={name}", "--tasks", MINI, "--output_path", "out"]
        if way == "lm-eval":
            lm_eval_run(monkeypatch, *words, "--include_path", str(task_files.FOLDER))
        else:
            more = ["--include_path", "."] if "and" in way else []
            assert cli.main(["eval", *words, *more]) == 0
    found = runs.collect([Path("out")]).runs
    assert {run.model for run in found} == {*LONG}
    assert len(list(Path("out").iterdir())) == len(LONG)
    assert len(list(Path("out").rglob("samples_*.jsonl"))) == len(LONG)


def test_a_short_name_stays_and_no_name_is_another_folder():
    assert host.folder_name("runs/base") == "runs__base"
    assert host.folder_name("m" * 255) == "m" * 255
    assert {host.folder_name(name) for name in (".", "..")} == {"_.", "_.."}
    assert len({host.folder_name(name) for name in LONG}) == len(LONG)
    assert all(len(os.fsencode(host.folder_name(name))) <= 255 for name in LONG)


@pytest.mark.parametrize("more", [[], ["--include_path", "."]])
def test_a_place_that_cannot_be_written_is_refused_before_loading(more, monkeypatch, capsys):
    monkeypatch.setattr(Evaluator, "_load", None)
    Path("file").touch()
    for out in (f"{'r' * 250}.json", "d" * 256, "file/runs", "file/runs.json"):
        assert cli.main(["eval", *DUMMY, "--tasks", MINI, "--output_path", out, *more]) == 2
        assert f"\nerror: {out.partition('/')[0]}" in f"\n{capsys.readouterr().err}"


def test_tasks_have_names_that_samples_can_be_named_after(capsys):
    rows = [to_row(each) for each in whole_set("systematicity", None)[:40]]
    halves = [row | {"split": ("train", "test")[n % 2]} for n, row in enumerate(rows)]

    def make(name):
        write_rows(Path(f"{name}.jsonl"), *halves)
        made = ["tasks", "make", f"{name}.jsonl", "--aspect", "order_invariance", "--out"]
        return cli.main([*made, f"tasks of {len(name)}"])

    assert make("c") == 0
    task = max((file.stem for file in Path("tasks of 1").glob("spor*.yaml")), key=len)
    most = task_files.LONGEST_TASK - len(task) + 1
    assert make("c" * (most + 1)) == 2
    assert "too long for the files of its tasks" in capsys.readouterr().err
    assert make("c" * most) == 0
    assert len(list(Path().glob("tasks of *"))) == 2
    task = task.replace("_c_", f"_{'c' * most}_")
    words = [*DUMMY, "--tasks", task, "--include_path", f"tasks of {most}", "--output_path", "out"]
    assert cli.main(["eval", *words]) == 0
    assert runs.collect([Path("out")]).runs[0].task == task
    assert len(list(Path("out").rglob("samples_*.jsonl"))) == 1


def test_a_name_that_lm_eval_reads_as_several_tasks_becomes_one_task(capsys):
    rows = [to_row(each) for each in whole_set("systematicity", None)[:40]]
    name = "a,b [v2]*?.jsonl"
    write_rows(
        Path(name), *({**row, "split": ("train", "test")[n % 2]} for n, row in enumerate(rows))
    )
    made = ["tasks", "make", name, "--aspect", "order_invariance", "--out", "tasks"]
    assert cli.main(made) == 0
    (then,) = re.findall("next: (.*)", capsys.readouterr().err)
    _, *words = shlex.split(then)
    assert words[-1] == "spor_a_b _v2___"
    words[words.index("spor-hf")] = "dummy"
    words[words.index("pretrained=MODEL")] = "pretrained=m"
    assert cli.main([*words, "--limit", "2", "--log_samples", "--output_path", "out"]) == 0
    assert {run.spec.sets.corpus for run in runs.collect([Path("out")]).runs} == {"a_b _v2___"}


def test_files_and_folders_are_replaced_whatever_the_length_of_their_names(tmp_path):
    for name in ("f" * 255, "ü" * 127):
        for text in (b"old", b"new"):
            with files.atomic_write(tmp_path / name) as file:
                file.write(text)
        assert (tmp_path / name).read_bytes() == b"new"
    for text in ("old", "new"):
        with folders.atomic_folder(tmp_path / ("d" * 255), kind="x", overwrite=True) as folder:
            folders.write_manifest(folder, {"kind": "x", "text": text})
    assert folders.read_manifest(tmp_path / ("d" * 255))["text"] == "new"
    assert {path.name[0] for path in tmp_path.iterdir()} == {"f", "ü", "d"}
