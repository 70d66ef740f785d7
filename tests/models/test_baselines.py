"""Baselines write what their names say, and are scored and reported as models are."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks import cli
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.files import read_rows
from spor_tasks.core.sample import (
    AttributeValue,
    Orders,
    Sample,
    Triple,
    challenge_of,
    without_first_reference,
)
from spor_tasks.evaluation import baseline_run
from spor_tasks.evaluation.run import Evaluator
from spor_tasks.harness import plan, task_files
from spor_tasks.metrics.scores import metric
from spor_tasks.models import baselines
from spor_tasks.models.baselines import TextsByUnits, copy_input
from spor_tasks.report import collect
from spor_tasks.results import runs

CAPITAL, RULER = Triple("Low", "capital", "Greyport"), Triple("Low", "ruler", "Ada")


def sample(*units, texts=(), id_="9"):
    return Sample(id_, "webnlg", units, texts)


ALONE = [
    sample(CAPITAL, texts=("Low's capital is Greyport.",), id_="1"),
    sample(RULER, texts=("Ada rules Low.", "Low has Ada."), id_="2"),
]
PAIR = sample(CAPITAL, RULER, texts=("Ada rules Low from Greyport.",), id_="3")


def test_the_input_is_copied_as_it_is_shown():
    ship = sample(Triple("Old_Low", "birth date", "1203-04-01"), Triple("Old_Low", "ruler", "Ada"))
    assert copy_input(ship) == "Old Low birth date 1203-04-01. Old Low ruler Ada."
    cafe = Sample("5", "e2e", (AttributeValue("food", "Basque"),), (), context={"name": "The Gull"})
    assert copy_input(cafe) == "The Gull food Basque."


@pytest.mark.parametrize(
    ("training", "units", "nearest", "joined"),
    [
        (
            [*ALONE, PAIR],
            [RULER, CAPITAL],
            "Ada rules Low from Greyport.",
            "Ada rules Low. Low's capital is Greyport.",
        ),
        # By words, where no unit is shared; then by id.
        ([*ALONE, PAIR], [Triple("High", "ruler", "Ada")], "Ada rules Low.", "Ada rules Low."),
        ([*ALONE, PAIR], [Triple("x", "y", "z")], ALONE[0].references[0], ALONE[0].references[0]),
        # The smallest samples stand in for those of single units.
        ([PAIR], [RULER], PAIR.references[0], PAIR.references[0]),
        # A sample without a text is not retrieved.
        ([sample(RULER, id_="0"), *ALONE], [RULER], "Ada rules Low.", "Ada rules Low."),
    ],
)
def test_texts_of_a_training_set_are_retrieved(training, units, nearest, joined):
    texts = TextsByUnits(training)
    assert texts.nearest_text(sample(*units)) == nearest
    assert texts.units_joined(sample(*units)) == joined


WORD = st.sampled_from(["Ada", "Low", "Greyport", "is", "by"])
UNIT = st.sampled_from([CAPITAL, RULER]) | st.builds(Triple, WORD, WORD, WORD)
SAMPLE = st.builds(
    lambda number, units: sample(*units, texts=(f"text {number}",), id_=f"{number:03}"),
    st.integers(0, 999),
    st.lists(UNIT, min_size=1, max_size=3),
)


def jaccard(first, second):
    return len(first & second) / len(first | second)


def words_of(sample):
    return {word.lower() for unit in sample.units for part in unit for word in part.split()}


@given(st.lists(SAMPLE, min_size=1, max_size=12, unique_by=lambda s: s.id), SAMPLE)
def test_the_index_finds_what_comparing_with_all_finds(others, asked):
    """So does a training set in any order."""

    def unlikeness(other):
        by_units = -jaccard({*asked.units}, {*other.units})
        return by_units, -jaccard(words_of(asked), words_of(other)), other.id

    expected = min(others, key=unlikeness).references[0]
    assert TextsByUnits(others).nearest_text(asked) == expected
    random.Random(0).shuffle(others)
    assert TextsByUnits(others).nearest_text(asked) == expected


def test_a_held_out_reference_takes_its_order_along():
    orders = Orders(((0, 1), (1, 0)), ((0, 1), (1, 0)))
    whole = Sample("4", "webnlg", (CAPITAL, RULER), ("a", "b"), challenge=orders)
    rest = without_first_reference(whole)
    assert (rest.references, challenge_of(rest, Orders).references) == (("b",), ((1, 0),))
    assert rest.id == whole.id


TASK = "spor_systematicity_mini"
ATOM, COMBINATION = f"{TASK}_icl_atom", f"{TASK}_icl_combination"


def suited(name):
    baseline = baselines.find(name)
    files = task_files.expand(["spor_*mini*"])
    return {file.name for file in files if baseline_run.suits(baseline, file)}


def test_each_baseline_is_evaluated_on_the_tasks_that_show_what_it_looks_at():
    assert {ATOM, TASK} < suited("copy-input")
    assert ATOM in suited("copy-demonstrations")
    assert TASK not in suited("nearest-demonstration")
    for name in ("units-joined", "nearest-training-text", "reference"):
        assert TASK in suited(name)
        assert ATOM not in suited(name)
    without = suited("nearest-training-text") - suited("reference")
    assert "spor_rule_learnability_mini" in without


def test_the_copier_of_demonstrations_scores_what_the_matching_says(tmp_path):
    found = baseline_run.run("copy-demonstrations", [ATOM, COMBINATION], folder=tmp_path)
    for result in found:
        content = json.loads(result.file.read_text())
        matching = content["configs"][result.task]["metadata"]["spor"]["prompt"]["matching"]
        (own,) = (shown for arm, shown in matching.items() if result.task.endswith(arm))
        assert result.scores["parent"] == pytest.approx(own["copied"])


def test_outputs_are_rows_that_spor_score_reads(tmp_path, capsys):
    out = tmp_path / "copied.jsonl"
    assert not cli.main(["baseline", "copy-input", TASK, "--limit", "5", "--out", str(out)])
    printed = capsys.readouterr().out
    assert printed.endswith(f"{out}\n")
    cli.main(["score", str(out), "--metric", "parent", "--corpus", "webnlg", "--json"])
    (parent, *_) = json.loads(capsys.readouterr().out)["scores"]
    assert f"{TASK}  n 5  parent {parent['value']:.2f}" in printed


def test_an_order_task_is_answered_in_both_orders(tmp_path):
    out = tmp_path / "copied.jsonl"
    baseline_run.run("copy-input", ["spor_order_invariance_mini_main"], outputs=out, limit=5)
    for _, row in read_rows(out):
        first, second = row["input_order_1"], row["input_order_2"]
        assert (row["output_1"] == row["output_2"]) == (first == second)


@pytest.mark.real_data
@pytest.mark.usefixtures("data_dir")
def test_a_twin_has_demonstrations_of_its_own(tmp_path):
    name, task = "copy-demonstrations", "spor_systematicity_e2e_twin_icl_atom"
    out = tmp_path / "out.jsonl"
    baseline_run.run(name, [task], outputs=out, limit=3)
    rows = [row for _, row in read_rows(out)]
    assert len(rows) == 3
    assert all(row["output_1"] != row["output_2"] for row in rows)


def test_a_held_out_reference_is_the_ceiling_and_no_score_is_against_it(tmp_path):
    """Signatures say so; samples are those that have several references."""
    out = tmp_path / "out.jsonl"
    sets = task_files.expand([TASK])[0].sets
    several = [each for each in plan.load(sets).test if len(each.references) > 1][:30]
    for baseline in ("reference", "copy-input"):
        settings = {"folder": tmp_path / baseline, "held_out": baseline == "copy-input"}
        (result,) = baseline_run.run(baseline, [TASK], outputs=out, limit=30, **settings)
        assert result.log.baseline == baseline
        rows = [row for _, row in read_rows(out)]
        assert [row["texts"] for row in rows] == [[*each.references[1:]] for each in several]
        if baseline == "reference":
            assert [row["output"] for row in rows] == [each.references[0] for each in several]
        values = [
            metric("parent").judge_one(without_first_reference(each), row["output"]).values
            for each, row in zip(several, rows, strict=True)
        ]
        expected = sum(each["parent"] for each in values) / len(values)
        assert result.scores["parent"] == pytest.approx(expected)
    baseline_run.run("copy-input", [TASK], folder=tmp_path / "plain", limit=9)
    found = runs.collect([tmp_path]).runs
    kinds = [(run.model, run.signature["held_out_reference"]) for run in found]
    copied, ceiling = "baseline:copy-input", "baseline:reference"
    assert sorted(kinds) == [(copied, "False"), (copied, "True"), (ceiling, "True")]


def test_a_baseline_of_a_training_set_is_a_row_with_both_arms(tmp_path):
    found = baseline_run.run("nearest-training-text", [TASK], folder=tmp_path, limit=20)
    assert [(result.arm, result.n) for result in found] == [("atom", 20), ("combination", 20)]
    again = baseline_run.run("nearest-training-text", [TASK], limit=20)
    assert [result.scores for result in again] == [result.scores for result in found]
    (table,) = collect([tmp_path]).tables
    row = next(row for row in table.rows if row.metric == "parent")
    assert row.model == "baseline:nearest-training-text"
    values = tuple(result.scores["parent"] for result in found)
    assert tuple(cell.values for cell in row.arms) == tuple((value,) for value in values)
    arguments = {"model": "baseline:units-joined", "baseline_arm": "atoms"}
    with pytest.raises(ConfigError, match="baseline_arm=atoms is not an arm of the task"):
        Evaluator("spor-baseline").evaluate([arguments], [TASK], limit=1)


def test_finished_tasks_are_printed_if_a_later_one_fails(monkeypatch, capsys):
    evaluate = Evaluator.evaluate

    def fail(self, models, tasks, *more, **settings):
        if tasks == [COMBINATION]:
            raise ConfigError("the disk is full")
        return evaluate(self, models, tasks, *more, **settings)

    monkeypatch.setattr(Evaluator, "evaluate", fail)
    assert cli.main(["baseline", "copy-input", ATOM, COMBINATION, "--limit", "2"]) == 2
    assert f"{ATOM}        atom  n 2  parent " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["copy-input", "spor_x"], "'spor_x' is not a task"),
        (["copy-demonstrations", TASK], f"copy-demonstrations does not suit {TASK}"),
        (["copy-input", "spor_mini", "--out", "x.jsonl"], "takes the outputs of one task"),
    ],
)
def test_an_unsuitable_task_fails(arguments, message, capsys):
    assert cli.main(["baseline", *arguments]) == 2
    assert message in capsys.readouterr().err
