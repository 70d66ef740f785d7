"""Nothing that others wrote acts on a terminal: hostile names and texts in every command."""

import json
import re
import unicodedata
from dataclasses import replace
from pathlib import Path
from string import Formatter
from typing import NamedTuple

import pytest
from huggingface_hub import constants

from spor_tasks.aspects import folder
from spor_tasks.core.codec import to_row
from spor_tasks.core.digests import digest
from spor_tasks.core.sample import AttributeValue, Sample, Triple
from spor_tasks.harness import task_files
from tests.support import commands
from tests.support.invented_runs import town
from tests.support.result_files import edited, rows_of, write_rows
from tests.support.strategies import sets
from training.experiments import cells

# Sets the clipboard, colours, clears, reverses, marks, forges a line, and is no UTF-8.
NAME = "\x1b]52;c;ZXZpbA==\x07\x1b[31m\x9b2J\u202e\u2066\u200f\u061c\x7f\nerror: forged\r\udc80"
TASK = "spor_systematicity_mini"
TEXT = f"{NAME}\x00\u2028\u2029\x85\ud800\U000e0041 and more"
MARK = "]52;c;"


def assert_harmless(printed):
    printed = re.sub(r"\r *\d+%\|[^\r\n]*", "", printed)  # a bar goes back to where it began
    kinds = {unicodedata.category(char) for char in {*printed} - {"\n", "\t"}}
    assert kinds.isdisjoint({"Cc", "Cf", "Cs", "Zl", "Zp"})
    assert not re.search(r"^\s*error: forged", printed, re.MULTILINE)


class Place(NamedTuple):
    """A folder of a hostile name, and what lies in it."""

    folder: Path

    def file(self, name, *rows):
        path = self.folder / f"{NAME}{name}"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        return str(path)

    def __str__(self):
        return str(self.folder)


@pytest.fixture
def place(tmp_path, monkeypatch):
    made = tmp_path / NAME
    made.mkdir()
    monkeypatch.setenv("SPOR_DATA_DIR", str(made / "data"))
    commands.without_other_tasks(monkeypatch, made)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    return Place(made)


def hostile(sample):
    units = tuple(Triple(*unit[:2], f"{unit[-1]} {TEXT}") for unit in sample.units)
    texts = tuple(f"{text} {TEXT}" for text in sample.references)
    return replace(sample, units=units, references=texts, context={"category": TEXT})


def corpus(place):
    samples = {part: map(hostile, map(town, range(6))) for part in ("train", "test")}
    rows = ({"split": part, **to_row(sample)} for part in samples for sample in samples[part])
    return place.file(".jsonl", *rows)


def sets_with_a_leak(place):
    """Sets in a folder, of which Atom holds the one test sample."""
    one, two, three = (
        Sample("", NAME, (AttributeValue(TEXT, "café"), AttributeValue(n, TEXT)), (TEXT,), NAMED)
        for n in "123"
    )
    pair = sets("systematicity", [one], atom=[one, three], combination=[two])
    with folder.new(place.folder / "sets") as staging:
        folder.write_sets(staging, pair, {"settings": {"limit": 0.02}})
    return str(place.folder / "sets")


def results(place, name="runs", file=""):
    """Results that are hostile wherever their schema lets them, and some that are damaged."""
    runs = place.folder / name
    sample = replace(hostile(town(0)), id=TEXT)
    for number, arm in enumerate(("atom", "combination", "atom")):
        result = runs / f"results_{NAME}{number}.json"
        rows = rows_of([sample], [[f"{name} {TEXT}"]], [{"parent": number / 2 + len(name)}])
        write_rows(result, rows, task=TASK, arm=arm, model=f"{TEXT}/{number // 2}")
        with edited(result) as content:
            metadata = content["configs"][TASK]["metadata"]
            metadata["spor"]["packages"][TEXT] = TEXT
            metadata["corpus"] = TEXT
    (runs / f"results_{NAME}damaged.json").write_text("{", "utf-8")
    content = {"results": {}, "configs": {TEXT: {}}, "n-samples": {}, "config": {}}
    (runs / f"results_{NAME}foreign.json").write_text(json.dumps(content), "utf-8")
    return str(runs / file)


def verified(place):
    """A run of a hostile model on a hostile corpus, beside samples without a result."""
    sample = hostile(town(0))
    metadata = {"corpus": TEXT, "own_corpus": {"file": f"/{TEXT}"}, "test_sha256": digest([sample])}
    run = place.folder / "runs" / "results_1.json"
    rows = rows_of([sample], [[TEXT]], [{"parent": 1.0}])
    write_rows(run, rows, model=f"/{TEXT}", task="mine", metadata=metadata)
    (run.parent / f"samples_{NAME}.jsonl").write_text("{}\n", "utf-8")
    return str(run.parent)


def experiment(place, **more):
    """An experiment of which one cell failed and another is of no experiment."""
    # Settings are text in Unicode; PyYAML reads an escaped pair of surrogates as two characters.
    path = TEXT.encode(errors="ignore").decode().replace("\U000e0041", "")
    settings = {
        "name": "evil",
        "output": str(place.folder / "out"),
        "models": [{"name": "m", "config": place.file("model.yaml", {"model": {"path": path}})}],
        "sets": [{"aspect": "systematicity", "corpora": ["mini"]}],
        "evaluation": {"decoding": "greedy"},
        **more,
    }
    failed = place.folder / "out" / "m" / "systematicity-mini-strict" / "atom-0"
    failed.mkdir(parents=True)
    (failed / cells._ERROR).write_text(f"ValueError: {TEXT}", "utf-8", "backslashreplace")
    return place.file("experiment.yaml", settings)


NAMED = {"name": TEXT}
BAD_ROW = {"data": [["a", "b"]], "output": {TEXT: TEXT}, TEXT: TEXT}
ROW = {**NAMED, "data": [[TEXT, "food"]], "texts": [TEXT], "output": TEXT}
FILES = {
    "corpus": corpus,
    "sets": sets_with_a_leak,
    "outputs": lambda place: place.file("outputs", ROW, ROW),
    "runs": results,
    "run": lambda place: results(place, file=f"results_{NAME}0.json"),
    "other": lambda place: results(place, "others", f"results_{NAME}0.json"),
    "verified": verified,
    "experiment": experiment,
    "bad_experiment": lambda place: experiment(place, **{TEXT: TEXT}),
    "bad_row": lambda place: place.file("bad", BAD_ROW),
    "bad_key": lambda place: place.file("config.yaml", {TEXT: TEXT}),
    "bad_value": lambda place: place.file("config.yaml", {"model": {"path": TEXT, "dtype": TEXT}}),
    "models": lambda place: place.file(
        "models.yaml", [f"pretrained={NAME}", TEXT, f"pretrained={NAME}"]
    ),
    "folder": lambda place: place,
    "new": lambda place: place.folder / NAME,
    "out": lambda place: place.folder / "out",
    "name": lambda _: NAME,
    "text": lambda _: TEXT,
    "cell": lambda _: NAME.replace("=", ""),
}
"""What stands in braces in a command."""
EVAL = f"eval --model spor-hf --tasks {TASK}"
BUILD = "data build --corpus {corpus} --aspect rule_learnability --out {out}"
SCORE = "--metric parent --corpus e2e"
# What each command ends with.
ATTACKS = {
    "tasks path {name}": 2,
    "tasks register": 0,
    "tasks make {corpus} --out {out}": 0,
    "data fetch --from {new} --to {folder}": 2,
    BUILD: 0,
    f"{BUILD} --json": 0,
    "data build --corpus {name} --aspect systematicity --part {name} --out {out}": 2,
    "data check {sets}": 1,
    "data check --json {sets}": 1,
    "data pairs spor_systematicity_mini --arm atom --out {new}": 0,
    "data pairs spor_systematicity_mini --arm {text} --out {new}": 2,
    "data record {name} --pairs {new} --seed 0 --base {text} --recipe {text}": 2,
    "data check published:{name}:{name} {name}": 2,
    "score {outputs} " + SCORE: 0,
    "score {folder} " + SCORE: 2,
    "score {bad_row} " + SCORE: 2,
    f"baseline copy-input {TASK} --limit 2 --out {{new}} --overwrite --results {{out}}": 0,
    "baseline {name} {name}": 2,
    "show {run} 0 --against {other}": 0,
    "show {run} {text}": 0,
    "show {runs} {text}": 2,
    "show {run} 0 --task {name}": 2,
    "show {run} {name}": 2,
    "report {runs} --out {out}": 1,
    "report {runs} --leaderboard": 1,
    "compare {run} {other}": 0,
    "report {runs} --merge-by {name}": 2,
    "report {folder}": 2,
    "push {verified} --to me/runs --dry-run": 0,
    "push {runs} --to me/runs": 2,
    "push {folder} --to {name}": 2,
    "eval --model dummy --tasks {name}": 2,
    EVAL + " --model_args pretrained={folder}": 2,
    EVAL + " --models {bad_key}": 2,
    EVAL + " --models {models}": 2,
    "tasks show {name}": 2,
    "train {new}": 2,
    "train {bad_key}": 2,
    "train {bad_value}": 2,
    "run {experiment} --dry-run": 0,
    "run {bad_experiment} --dry-run": 2,
    "run {experiment} --dry-run --only {cell}": 2,
    "classifier --corpus yelp --aspect {text} --out {new}": 2,
}
SAFE = {"tasks list", "demo"}  # they are given nothing


def words_of(command, place):
    """Return the words of a command; a file that stands in it twice is made once."""
    named = {name for _, name, _, _ in Formatter().parse(command) if name}
    made = {name: str(FILES[name](place)) for name in sorted(named)}
    return [word.format_map(made) for word in command.split()]


def test_every_command_is_attacked_or_given_nothing():
    attacked = " ".join(ATTACKS)
    assert {name for name in commands.names() if name not in attacked} == SAFE


@pytest.mark.filterwarnings("ignore:constrained_layout not applied")  # such names fill a plot
@pytest.mark.parametrize("attack", [*ATTACKS, "tasks path"])
def test_prints_act_on_nothing(attack, place, capsys, monkeypatch):
    if attack == "tasks path":
        monkeypatch.setattr(task_files, "FOLDER", Path(NAME))
    status = commands.run(words_of(attack, place))
    printed = capsys.readouterr()
    assert_harmless(printed.out)
    assert_harmless(printed.err)
    assert status == ATTACKS.get(attack, 0), printed.err
    assert "--json" not in attack or json.loads(printed.out)
    assert attack.startswith("score {outputs}") or MARK in printed.out + printed.err
