"""Every `next:` that a command prints is run here, with words for what the user has."""

import ast
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from argparse import Namespace
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from unittest.mock import create_autospec

import lm_eval.__main__
import lm_eval.tasks.manager
import pytest
from huggingface_hub import CommitInfo, HfApi

from spor_tasks.cli import following
from spor_tasks.core.codec import to_row
from spor_tasks.corpora import sources
from spor_tasks.corpora.compmctg.spaces import YELP
from spor_tasks.harness import documents, stubs
from spor_tasks.prompts import demonstrations
from spor_tasks.report import publish
from tests.conftest import REPOSITORY
from tests.support import commands
from tests.support.classifiers import save_bert
from tests.support.rows import write_rows
from tests.support.tiny_bases import save_base
from tests.support.whole_runs import whole_set, write_whole
from training.lora import TrainingResult

COMMIT, REQUEST = (f"https://huggingface.co/me/runs/{end}" for end in ("commit/1", "discussions/1"))
MINI = "spor_systematicity_mini"
DUMMY = f"eval --model dummy --tasks {MINI} --limit 2 --log_samples"
SHORT = ("--limit", "1", "--gen_kwargs", "max_gen_toks=4", "--device", "cpu")
TRAIN, CLASSIFY = "train settings.yaml", "classifier epochs=1 max_tokens=8"
COARSE = (
    f"{TRAIN} data.corpus=logicnlg_mini data.aspect=logicnlg data.arm=train data.part=c2f "
    "data.protocol=published objective=coarse_to_fine"
)

# Commands, and the places of the next ones that they print, one after the other.
CHAINS = (
    ("baseline copy-input spor_productivity_mini_n4", ["baseline 2", "baseline 1", "report 1"]),
    ("report whole --merge-by dtype,backend", ["report 1", "report 3"]),
    ("report whole --leaderboard --name owner/model=a/b", ["report 1", "report 2", "push 1"]),
    ("report whole/results_1.json --diff other/results_1.json", ["compare 1", "compare 2"]),
    (
        "compare whole/results_1.json other/results_1.json --score parent",
        ["compare 1", "compare 2"],
    ),
    ("push whole --to me/runs --create private --pr --dry-run", ["push 1"]),
    ("show whole/results_1.json 0", ["show 1"]),
    ("show whole/samples_spor_productivity_mini_n4_1.jsonl 0", ["show 1"]),
    ("score rows.jsonl --metric chrf --corpus mini --filter none", ["score 1"]),
    ("score rows.jsonl --metric facts --corpus mini --model judge --label 1", ["score 1"]),
    (
        "data build --corpus mini --aspect productivity --out sets",
        ["build 1", "check 2", "tasks 3"],
    ),
    (
        "data build --corpus own.jsonl --aspect order_invariance --out sets",
        ["build 1", "check 1", "tasks 1"],
    ),
    (
        f"data pairs {MINI} --arm atom --out atom.jsonl",
        ["pairs 1", "following 1", "evaluate 1"],
    ),
    (
        "data pairs spor_order_invariance_own_main --arm match --include_path made --out own.pairs",
        ["pairs 1", "following 1", "evaluate 1"],
    ),
    ("data fetch --corpus totto --from copy --to fetched", ["fetch 1", "tasks 5"]),
    (DUMMY.replace("--log_samples", ""), ["evaluate 2", "evaluate 1"]),
    (f"{DUMMY} --output_path results/mine.json", ["evaluate 1", "report 1"]),
    ("tasks show spor_mini", ["tasks 4", "tasks 5", "evaluate 1"]),
    ("tasks path", ["tasks 2"]),
    ("tasks register", ["tasks 6"]),
    (
        f"{COARSE} model.revision=main output=tuned",
        ["following 1", "evaluate 1"],
    ),
    (f"{TRAIN} method=full model.revision=main output=a,b", ["following 1", "evaluate 1"]),
    (
        f"{TRAIN} data.corpus=own.jsonl data.aspect=order_invariance data.arm=match output=mine",
        ["following 1", "evaluate 1"],
    ),
    ("tasks show spor_own --include_path made", ["tasks 4", "tasks 5", "evaluate 1"]),
    (
        "baseline copy-input spor_order_invariance_own_main --include_path made",
        ["baseline 2", "baseline 1", "report 1"],
    ),
    (f"{TRAIN} model.quantization=nf4 output=four", ["following 1", "evaluate 1"]),
    (
        f"{CLASSIFY} --corpus yelp --data cls.jsonl --out few --aspect tense",
        ["classifier 1", "classifier 2"],
    ),
    (f"{CLASSIFY} --corpus my.yaml --out all", ["classifier 3", "tasks 1"]),
)


def places():
    """Return the lines of each call that prints a next command, by file and number in it."""
    found = {}
    for path in (*REPOSITORY.glob("spor_tasks/**/*.py"), *REPOSITORY.glob("training/**/*.py")):
        calls = [
            (str(path), node.lineno, node.end_lineno)
            for node in ast.walk(ast.parse(path.read_bytes()))
            if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "then"
        ]
        found |= {f"{path.stem} {n}": call for n, call in enumerate(sorted(calls), start=1)}
    return found


PLACES = places()


def test_every_place_is_run():
    assert {place for _, chain in CHAINS for place in chain} == PLACES.keys()


@pytest.fixture
def printed(monkeypatch, tmp_path):
    """Run in an empty folder; return the list of the places that printed a command."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BROWSER", "true")
    commands.without_other_tasks(monkeypatch, tmp_path)
    monkeypatch.setattr(lm_eval.__main__, "setup_logging", lambda: None)
    found, then = [], following.then

    def noted(*words):
        frame = sys._getframe(1)
        found.extend(
            place
            for place, (file, first, last) in PLACES.items()
            if file == frame.f_code.co_filename and first <= frame.f_lineno <= last
        )
        then(*words)

    for file, _, _ in PLACES.values():
        module = Path(file).relative_to(REPOSITORY).with_suffix("")
        monkeypatch.setattr(f"{'.'.join(module.parts)}.then", noted)
    return found


@pytest.fixture
def few(monkeypatch):
    """Choose the demonstrations of the first samples alone: all take seconds."""

    def choose(pair, most):
        return demonstrations.choose(replace(pair, test=pair.test[:2]), most)

    monkeypatch.setattr(documents, "_choose", choose)
    documents.chosen.cache_clear()
    yield
    documents.chosen.cache_clear()


def prepare(command, monkeypatch):
    """Write what a command needs into the current folder."""
    rows = [to_row(each) | {"output": "A text."} for each in whole_set("systematicity", None)]
    parts = ("train", "test")
    write_rows(
        Path("own.jsonl"), *({**row, "split": parts[n % 2]} for n, row in enumerate(rows[:80]))
    )
    write_rows(Path("rows.jsonl"), *rows[:3])
    if "data.corpus=own" in command or "made" in command:
        made = ["tasks", "make", "own.jsonl", "--aspect", "order_invariance", "--out", "made"]
        assert commands.run(["--quiet", *made]) == 0
    if "whole" in command:
        for arm, folder in product(("invisible", "visible"), ("whole", "other")):
            write_whole(Path(folder), "12"[arm == "visible"], arm=arm)
        client = create_autospec(HfApi, instance=True)
        client.get_paths_info.return_value = []
        client.upload_folder.return_value = CommitInfo(COMMIT, "", "", "1", pr_url=REQUEST)
        monkeypatch.setattr(publish, "HfApi", lambda: client)
    if "--from copy" in command:
        cell = {"value": "Moss", "is_header": False, "column_span": 1, "row_span": 1}
        facts = (
            "table_webpage_url",
            "table_page_title",
            "table_section_title",
            "table_section_text",
        )
        text = {"original_sentence": "", "final_sentence": "It is Moss."}
        example = dict.fromkeys(facts, "") | {"table": [[cell]], "highlighted_cells": [[0, 0]]}
        example |= {"example_id": 1, "overlap_subset": True, "sentence_annotations": [text]}
        Path("copy").mkdir()
        for name in sources.TOTTO.files:
            write_rows(Path("copy") / name, example)
    if "judge" in command:
        save_bert(Path("judge"))
    if command.startswith(TRAIN):
        save_base("gpt2", Path("base"))
        data = {"aspect": "systematicity", "corpus": "mini", "arm": "atom", "protocol": "strict"}
        settings = {
            "model": {"path": "base"},
            "data": {**data, "limit": 4},
            "optimization": {"max_steps": 1, "epochs": None, "threads": 1},
            "lora": {"target_modules": "all-linear"},
            "selection": {"policy": "last"},
        }
        Path("settings.yaml").write_text(json.dumps(settings))
    if command.startswith(CLASSIFY):
        values = [*product(*YELP.aspects.values())] * 3
        labelled = [
            {"review": f"{n} {' '.join(each)}", **dict(zip(YELP.aspects, each, strict=True))}
            for n, each in enumerate(values)
        ]
        for name in ("cls.jsonl", "gen.jsonl"):
            write_rows(Path(name), *labelled)
        write_rows(Path("texts.jsonl"), {**labelled[0], "text": "Good."})
        Path("my.yaml").write_text(json.dumps({"aspects": dict(YELP.aspects)}))


def run(words, monkeypatch):
    """Run a command as it is printed, an evaluation on few samples; return its status."""
    if words[0] == "env":
        while "=" in words[1]:
            monkeypatch.setenv(*words.pop(1).split("=", 1))
        words = words[1:]
    match words:
        case ["spor", "eval", *rest]:
            return commands.run(["eval", *rest, *SHORT])
        case ["spor", *rest] | ["python", "-m", *rest] if rest[0] != "webbrowser":
            return commands.run(rest)
        case ["python", *rest]:
            assert Path(rest[-1]).is_file()
            return subprocess.run([sys.executable, *rest], check=False, env=os.environ).returncode
    monkeypatch.setattr(sys, "argv", [*words, *SHORT])
    lm_eval.__main__.cli_evaluate()
    return 0


@pytest.fixture
def filled(checkpoint, lora, tmp_path):
    """Return what replaces the words in capitals by what the user has."""
    own = {
        "MODEL": str(checkpoint()),
        "ADAPTER": str(shutil.copytree(lora("llama"), tmp_path / "adapter")),
        "SEED": "0",
        "CORPUS": "own.jsonl",
        "TASKS": "made",
        "FILE": "texts.jsonl",
        "OTHER": "rows.jsonl",
        "OWNER/NAME": "me/runs",
    }
    capitals = re.compile(rf"(?<!\w)({'|'.join(own)})(?!\w)")
    return partial(capitals.sub, lambda found: own[found[0]])


@pytest.mark.parametrize(("command", "chain"), CHAINS, ids=lambda value: str(value)[:50])
@pytest.mark.usefixtures("few")
def test_each_command_that_is_printed_works(command, chain, printed, filled, request):
    monkeypatch, capsys = map(request.getfixturevalue, ("monkeypatch", "capsys"))
    prepare(command, monkeypatch)
    printed.clear()
    if command == "tasks register":
        folder = Path("tasks/spor").resolve()
        monkeypatch.setattr(stubs, "folder", lambda: folder)
        monkeypatch.setattr(lm_eval.tasks, "TaskManager", lm_eval.tasks.manager.TaskManager)
        monkeypatch.setattr(lm_eval.tasks.manager, "__file__", f"{folder.parent}/manager.py")
    words = ["spor", *command.split()]
    for number, place in enumerate(chain):
        capsys.readouterr()
        assert run(words, monkeypatch) == 0, words
        assert printed[number:] == [place]
        (line,) = re.findall("^next: (.*)$", capsys.readouterr().err, re.MULTILINE)
        words = [filled(word) for word in shlex.split(line)]
    assert run(words, monkeypatch) == 0, words


@pytest.mark.parametrize(
    ("settings", "arguments"),
    [
        ("output=new", "pretrained=base,peft=new"),
        (
            "output=new model.revision=v2 model.quantization=nf4",
            "pretrained=base,revision=v2,quantization=nf4,peft=new",
        ),
        ("output=new method=full model.revision=v2", "pretrained=new"),
        (f"{COARSE.removeprefix(TRAIN)} output=new", "pretrained=base,peft=new,tokenizer=new"),
        ("output=a,b", '{"pretrained": "base", "peft": "a,b"}'),
        ("output='2026'", '{"pretrained": "base", "peft": "2026"}'),
        ("output=None", '{"pretrained": "base", "peft": "None"}'),
    ],
)
def test_what_was_trained_is_loaded_whole(settings, arguments, printed, monkeypatch, capsys):
    prepare(TRAIN, monkeypatch)
    trained = TrainingResult(Path(), (1.0,), 1, 1, 1.0)
    monkeypatch.setattr(
        "training.lora.train", lambda config: replace(trained, folder=config.output)
    )
    assert commands.run([*TRAIN.split(), *settings.split()]) == 0
    words = shlex.split(capsys.readouterr().err.splitlines()[-1])
    assert words[words.index("--model_args") + 1] == arguments
    assert printed == ["following 1"]


def test_words_that_are_easily_lost(capsys):
    own = following.given(Namespace(references=Path("-own")), "references")
    following.then("spor", "report", Path("-runs"), Path("-"), "a b", *own)
    assert capsys.readouterr().err == "next: spor report ./-runs - 'a b' --references ./-own\n"
    for words in ("--quiet tasks path", "tasks --quiet path", "tasks path --quiet"):
        assert copy_context().run(commands.run, words.split()) == 0
        assert "next: " not in capsys.readouterr().err
