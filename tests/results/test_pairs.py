"""Systems beside each other, on tasks that are not ours, and on ours."""

import json
import math
import shutil
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from docs.benchmarks import comparisons
from spor_tasks import report
from spor_tasks.core.errors import ConfigError, ResultError, SporError
from spor_tasks.metrics.tally import Column
from spor_tasks.report.pairs import document
from spor_tasks.results import paired_tests, pairs, stats
from spor_tasks.results.compare import holm
from spor_tasks.results.paired_tests import EXACT, RANDOMIZATION, ScoreOfSystems, against_first
from spor_tasks.results.pairs import labels, pair
from tests.support import foreign_tasks
from tests.support.foreign_tasks import CHOICES, TEXTS, edited_rows, result_file, rows_of
from tests.support.strategies import VALUES, changed, places

RUNS = Path(__file__).parents[1] / "data" / "runs"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Three systems, the last on fewer documents, as lm-eval writes them."""
    folder = tmp_path_factory.mktemp("runs")
    tasks = foreign_tasks.write_tasks(folder / "tasks", foreign_tasks.documents(60))
    return [
        foreign_tasks.evaluate(tasks, folder / name, right=right, seed=name, limit=limit)
        for name, right, limit in (("first", 4, None), ("second", 8, None), ("third", 5, 50))
    ]


@pytest.fixture
def copies(runs, tmp_path):
    return [foreign_tasks.copied(run, tmp_path / run.name) for run in runs]


def row(pairing, task, score):
    (found,) = (each for each in pairing.rows if (each.task, each.score) == (task, score))
    return found


def test_every_score_is_tested_whose_total_is_the_mean(runs):
    found = pair(runs[:2])
    assert found.systems == ("first", "second")
    assert [(each.task, each.score) for each in found.rows] == [
        (CHOICES, "acc"),
        (CHOICES, "acc_norm"),
        (TEXTS, "exact_match,strict-match"),
        (TEXTS, "exact_match,first-word"),
    ]
    told = [str(problem) for problem in found.problems]
    assert told == [
        f"{CHOICES}: mcc is left out: its samples are no numbers",
        f"{TEXTS}: chrf,strict-match is left out: its samples are no numbers",
        f"{TEXTS}: chrf,first-word is left out: its samples are no numbers",
    ]
    assert not any(problem.lost for problem in found.problems)
    acc = row(found, CHOICES, "acc")
    logged = [
        {each["doc"]["question"]: each["acc"] for each in rows_of(run, CHOICES)} for run in runs
    ]
    changes = [logged[1][question] - right for question, right in logged[0].items()]
    assert acc.moved == (changes.count(1), changes.count(-1))
    assert acc.values == pytest.approx([np.mean([*each.values()]) for each in logged[:2]])
    assert acc.difference.value == pytest.approx(np.mean(changes))
    assert acc.test == EXACT
    columns = "task score a b difference low high p n detectable reason".split()  # noqa: SIM905
    assert [*acc.as_row()][:11] == columns


def test_p_is_adjusted_for_all_scores_tasks_and_systems(runs):
    found = pair(runs)
    assert [each.systems for each in found.rows[:2]] == [
        ("first", "second"),
        ("first", "third"),
    ]
    alone = [each.difference.p for each in found.rows]
    assert [each.p for each in found.rows] == pytest.approx(multipletests(alone, method="holm")[1])
    assert {each.difference.n for each in found.rows} == {50}
    told = [str(problem) for problem in found.problems]
    assert f"{CHOICES} in first: 10 documents are left out, which not every system has" in told
    assert f"{CHOICES} in third: a trial on 50 of 60 documents" in told


def test_other_demonstrations_and_decoding_are_told(runs, tmp_path):
    tasks = foreign_tasks.write_tasks(tmp_path / "tasks", foreign_tasks.documents(60))
    ways = (
        {"num_fewshot": 2},
        {"num_fewshot": 2, "fewshot_random_seed": 7},
        {"gen_kwargs": "temperature=0.5"},
    )
    more, seeded, warm = (
        foreign_tasks.evaluate(tasks, tmp_path / str(number), TEXTS, right=8, seed="second", **way)
        for number, way in enumerate(ways)
    )

    def told(*systems):
        found = pair(systems, scores=["exact_match,strict-match"]).problems
        assert not any(each.lost for each in found if each.kind == "notice")
        return [each.what for each in found if "the first system" in each.what]

    prompts = "has other prompts than the first system on 60 of 60 documents"
    settings = "has other settings than the first system: "
    assert told(*runs[:2]) == []
    assert told(runs[0], more) == [
        prompts,
        f"{settings}num_fewshot 2, not 0; fewshot_seed 1234, not None",
    ]
    assert told(more, seeded) == [prompts, f"{settings}fewshot_seed 7, not 1234"]
    assert told(runs[0], warm) == [f"{settings}generation.temperature 0.5, not None"]


def test_documents_of_a_cluster_are_exchanged_together(runs):
    acc = row(pair(runs[:2], cluster="meta.passage"), CHOICES, "acc")
    assert (acc.test, acc.difference.clusters) == (RANDOMIZATION, 15)
    assert acc.difference.reason == "no mark: fewer than 30 clusters of inputs"
    with pytest.raises(ResultError) as refused:
        pair(runs[:2], cluster="meta.pasage")
    assert "no field meta.pasage" in str(refused.value)
    assert "passage" in str(refused.value)


def test_equal_documents_are_one_cluster(tmp_path):
    docs = foreign_tasks.documents(35)
    tasks = foreign_tasks.write_tasks(tmp_path / "tasks", [*docs, *docs[:5]])
    runs = [
        foreign_tasks.evaluate(tasks, tmp_path / name, CHOICES, right=right, seed=name)
        for name, right in (("a", 4), ("b", 8))
    ]
    acc = row(pair(runs), CHOICES, "acc")
    assert (acc.difference.n, acc.difference.clusters, acc.test) == (40, 35, RANDOMIZATION)


def test_some_scores_alone_are_compared(runs):
    found = pair(runs[:2], scores=["acc"])
    assert [each.score for each in found.rows] == ["acc"]
    assert found.rows[0].p == found.rows[0].difference.p
    with pytest.raises(ConfigError, match="no task has the score ac") as refused:
        pair(runs[:2], scores=["ac"])
    assert "acc" in refused.value.remedy


def test_documents_are_paired_by_what_they_are_and_not_by_number(copies):
    first, second, _ = copies
    expected = [each.as_row() for each in pair([first, second]).rows]
    for task in (CHOICES, TEXTS):
        with edited_rows(second, task) as rows:
            for each in rows:
                each["doc_id"] = 59 - each["doc_id"]
                each["doc"] = dict(reversed(each["doc"].items()))
            rows.reverse()
    assert [each.as_row() for each in pair([first, second]).rows] == expected


def test_other_documents_under_one_number_are_refused(copies):
    first, second, _ = copies
    with edited_rows(second, CHOICES) as rows:
        rows[3]["doc"]["question"] = "Who wrote this?"
    found = pair([first, second])
    assert {each.task for each in found.rows} == {TEXTS}
    (lost,) = (problem for problem in found.problems if problem.lost)
    assert "1 differ under one doc_id, such as 3" in lost.what
    with edited_rows(second, TEXTS) as rows:
        for each in rows:
            each["doc"]["question"] += "!"
    with pytest.raises(ResultError, match="no task can be compared") as refused:
        pair([first, second])
    assert len(refused.value.each) >= 2


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda content, _: content["versions"].update({CHOICES: 2.0}), "has another version"),
        (lambda content, _: content["results"][CHOICES].update({"acc,none": 0.9}), "not the mean"),
        (lambda content, _: content["results"][CHOICES].pop("acc,none"), "not every system has it"),
        (lambda _, rows: rows.pop(), "has 59 documents, but the result is of 60"),
        (lambda _, rows: rows[5].update(acc="=1+1"), "its samples are no numbers"),
        (lambda _, rows: rows[5].update(acc=math.inf), "its samples are no numbers"),
        (lambda _, rows: rows[5].pop("doc"), "is not a sample as lm-eval logs it"),
        (lambda _, rows: rows[5].update(resps=[[["x", "True"]]]), "cannot be compared"),
    ],
)
def test_a_fault_is_named_and_the_rest_is_compared(copies, change, told):
    first, second, _ = copies
    file = result_file(second)
    content = json.loads(file.read_text())
    with edited_rows(second, CHOICES) as rows:
        change(content, rows)
    file.write_text(json.dumps(content))
    found = pair([first, second])
    assert any(told in str(problem) for problem in found.problems)
    assert {each.task for each in found.rows} >= {TEXTS}
    assert not any(each.score == "acc" for each in found.rows)


def test_a_task_or_its_samples_may_be_in_one_system_only(copies, tmp_path):
    first, second, third = copies
    for path in second.rglob(f"samples_{CHOICES}*"):
        path.unlink()
    found = pair([first, second])
    assert {each.task for each in found.rows} == {TEXTS}
    assert any("no sample file" in str(problem) for problem in found.problems)
    content = json.loads(result_file(third).read_text())
    del content["configs"][CHOICES]
    result_file(third).write_text(json.dumps(content))
    told = [str(problem) for problem in pair([first, third]).problems]
    assert f"{CHOICES}: is only in first" in told
    (tmp_path / "empty").mkdir()
    with pytest.raises(ResultError, match="has no results of lm-eval"):
        pair([first, tmp_path / "empty"])
    with pytest.raises(ResultError, match="does not exist"):
        pair([first, tmp_path / "none"])
    with pytest.raises(ConfigError, match="two systems or more"):
        pair([first])


def test_a_file_of_samples_or_of_results_names_a_system(runs):
    whole = row(pair(runs[:2]), CHOICES, "acc").difference
    files = [next(run.rglob(f"samples_{CHOICES}*")) for run in runs[:2]]
    found = pair(files)
    assert {each.task for each in found.rows} == {CHOICES}
    assert row(found, CHOICES, "acc").difference == whole
    assert row(pair([*map(result_file, runs[:2])]), CHOICES, "acc").difference == whole


def test_a_file_of_rows_is_no_reason_to_search_its_folder(copies, monkeypatch):
    """A folder of downloads may be large, and its files come and go."""
    file = copies[0].parent / "rows.jsonl"
    file.write_text("{}\n", "utf-8")
    monkeypatch.delattr(Path, "rglob")
    with pytest.raises(ResultError, match=r"rows\.jsonl: has no results of lm-eval"):
        pair([file, file])


def test_results_may_have_the_name_that_a_user_gave_them(copies):
    """With `--output_path NAME.json` lm-eval writes NAME_DATE.json and the samples beside it."""
    first, second, _ = copies
    expected = pair([first, second]).rows
    for run in (first, second):
        file = result_file(run)
        file.rename(file.with_name(file.name.replace("results_", "mine_")))
    assert pair([first, second]).rows == expected


@pytest.mark.parametrize("value", [math.nan, math.inf, 1e300, "high"])
def test_where_no_score_can_be_compared_one_error_says_so(value, copies):
    for run in copies[:2]:
        for task in (CHOICES, TEXTS):
            with edited_rows(run, task) as rows:
                for each in rows:
                    each.update(
                        dict.fromkeys({"acc", "acc_norm", "exact_match"} & each.keys(), value)
                    )
    with pytest.raises(ResultError, match="no score can be compared") as caught:
        pair(copies[:2])
    assert "acc is left out: its samples are no numbers" in str(caught.value)


def test_two_runs_of_a_task_in_one_folder_are_refused(copies):
    first, second, third = copies
    third.rename(second / "again")
    with pytest.raises(ResultError) as refused:
        pair([first, second])
    assert "there are several runs of" in str(refused.value)
    assert "--log_samples" not in str(refused.value)  # which would not help


def test_copies_of_a_result_of_ours_are_used_once(tmp_path):
    systems = [tmp_path / name for name in ("atom", "combination")]
    for system in systems:
        shutil.copytree(RUNS / system.name, system)
    once = pair(systems)
    shutil.copytree(systems[0], systems[0] / "again")
    assert pair(systems).rows == once.rows


def test_a_field_that_is_missing_has_its_own_remedy(runs):
    with pytest.raises(ResultError) as refused:
        pair(runs[:2], cluster="nosuch")
    assert "--log_samples" not in str(refused.value)
    assert "no field nosuch" in str(refused.value)


def test_documents_are_read_again_with_what_was_asked_and_written(runs):
    found = pair(runs[:2])
    choices, texts = (task.samples[1].result for task in found.tasks)
    first = next(choices.documents())
    assert first.doc["question"] == first.prompts[0] == "Who keeps light 0?"
    assert first.outputs[0].strip() in first.doc["choices"]
    documents = [*texts.documents()]
    assert len({each.id for each in documents}) == len(documents) == 60
    assert set(found.tasks[1].ids) == {each.id for each in documents}
    assert all(each.target == each.doc["choices"][each.doc["answer"]] for each in documents)


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (("runs/a", "runs/b"), ("a", "b")),
        (("runs/a/x.json", "runs/b/x.json"), ("a/x.json", "b/x.json")),
        (("runs/a", "/other/b"), ("runs/a", "/other/b")),
        (("runs", "runs/b"), ("runs", "runs/b")),
        (("runs", "runs"), ("runs", "runs")),
    ],
)
def test_a_label_is_the_end_of_a_path_that_tells_it_apart(paths, expected):
    assert labels([*map(Path, paths)]) == expected


def test_systems_without_a_common_verdict_are_not_tested():
    columns = [Column.of([1.0, None]), Column.of([None, 0.5])]
    (found,) = against_first([ScoreOfSystems(columns)], np.arange(2))
    assert found.differences[0].reason == f"not tested: {pairs.NO_VERDICT}"
    assert found.intervals == (None, None)


def test_shares_of_clusters_stay_between_none_and_all():
    wrong, right = (Column.of([float(value)] * 40) for value in (0, 1))
    passages = np.arange(40) // 2
    (found,) = against_first([ScoreOfSystems([wrong, right])], passages)
    assert found.test == RANDOMIZATION
    lowest, highest = found.intervals
    assert (lowest.low, highest.high) == (0, 1)
    assert 0 < lowest.high < 0.2
    (apart,) = against_first([ScoreOfSystems([wrong, right])], np.arange(40))
    assert apart.test == EXACT


@pytest.mark.parametrize(("score", "test"), [("coverage", RANDOMIZATION), ("truth", EXACT)])
def test_the_kind_of_a_score_of_ours_and_no_chance_of_its_values_decides_on_the_test(score, test):
    full, none, half = (Column.of([value] * 40) for value in (100.0, 0.0, 50.0))
    others = [full, none] if test == EXACT else [full, none, half]
    compared = (ScoreOfSystems([full, each], (0, 100), score) for each in others)
    found = against_first(compared, np.arange(40))
    assert {each.test for each in found} == {test}
    assert len({each.intervals[0] for each in found}) == 1


def test_few_clusters_have_no_interval_of_a_system_either():
    rng = np.random.default_rng(0)
    columns = [Column.of([*map(float, rng.integers(0, 2, 60))]) for _ in range(2)]
    few, enough = (
        found
        for n in (5, 6)
        for found in against_first([ScoreOfSystems(columns)], np.arange(60) % n)
    )
    assert few.intervals == (None, None)
    assert all(enough.intervals)
    notes = [
        f"no interval of {what}: fewer than six clusters" for what in ("the difference", "a score")
    ]
    assert [*few.differences[0].notes] == notes
    assert not enough.differences[0].notes


def test_a_table_of_several_tests_says_which_scores_each_is_of(runs):
    found = pair(runs[:2], scores=["acc", "acc_norm"])
    (task,) = (each for each in found.tasks if each.rows)
    first, second = task.rows
    mixed = replace(task, rows=(replace(first, test=RANDOMIZATION), replace(second, test=EXACT)))
    table = document(replace(found, tasks=(mixed,))).grids[0]
    assert table.caption == f"{RANDOMIZATION}: {first.score}; {EXACT}: {second.score}"


def test_the_name_of_a_test_says_that_its_p_is_a_bound():
    wrong, right = (Column.of([float(value)] * 40) for value in (0, 0.5))
    ((found,),) = (
        each.differences for each in against_first([ScoreOfSystems([wrong, right])], np.arange(40))
    )
    assert 0 < found.p < 1 / stats.RESAMPLES
    assert paired_tests.test_name(RANDOMIZATION, found.p) == "randomization, p bounded (Hoeffding)"
    assert paired_tests.test_name(RANDOMIZATION, 0.0001) == RANDOMIZATION
    assert paired_tests.test_name(EXACT, found.p) == EXACT


def test_other_scores_are_tested_as_in_reports():
    rng = np.random.default_rng(3)
    values = [rng.normal(50, 10, 40) for _ in range(3)]
    columns = [Column.of([*each]) for each in values]
    clusters = np.arange(40) // 2
    (found,) = against_first([ScoreOfSystems(columns, (0, 100))], clusters)
    for column, difference in zip(columns[1:], found.differences, strict=True):
        alone = stats.difference(column, columns[0], clusters, (0, 100))
        assert difference.interval == alone.interval
        assert difference.p == pytest.approx(alone.p, abs=1e-12)
    assert found.intervals[0] == stats.estimate([[columns[0]]], clusters, (0, 100)).interval


def test_equal_systems_are_seldom_called_different():
    """One of 16 tests has p < 0.05 in more than half of families; adjusted, in 5 % at most."""
    rng = np.random.default_rng(5)
    families = [comparisons.family(rng) for _ in range(60)]
    alone, adjusted = (
        np.mean([min(each) < 0.05 for each in of_all]) for of_all in (families, map(holm, families))
    )
    assert adjusted <= 0.1
    assert alone > 0.25


def test_equal_systems_that_are_right_on_whole_passages_are_seldom_called_different():
    rng, passages, called = np.random.default_rng(5), np.arange(200) // 5, 0
    for _ in range(40):
        columns = [comparisons.answers(rng, passages, 0.6, 1.0) for _ in range(2)]
        called += comparisons.p_values(columns, passages)[0] < 0.05
    assert called <= 5


DOC = {"question": "Who?", "choices": ["Ida", "Orla"], "meta": {"passage": 1}}
LINE = {
    "doc_id": 0,
    "doc": DOC,
    "target": "0",
    "arguments": {"gen_args_0": {"arg_0": "Who?", "arg_1": " Ida"}},
    "resps": [[["-1.0", "True"]]],
    "filter": "none",
    "metrics": ["acc"],
    "acc": 1.0,
}
RESULT = {
    "results": {"who": {"alias": "who", "acc,none": 1.0, "acc_stderr,none": "N/A"}},
    "configs": {"who": {"task": "who", "metadata": {"version": 1.0}}},
    "versions": {"who": 1.0},
    "n-samples": {"who": {"original": 1, "effective": 1}},
    "higher_is_better": {"who": {"acc": True}},
    "config": {"model": "hf", "model_args": "pretrained=x"},
    "model_name": "x",
}


def faulty(content):
    return st.builds(
        lambda path, value: changed(content, path, value),
        st.sampled_from([*places(content)]),
        VALUES | st.just(...),
    )


@given(
    st.tuples(faulty(RESULT), st.just(LINE)) | st.tuples(st.just(RESULT), faulty(LINE)),
    st.sampled_from([None, "meta.passage", "choices.0", "nothing"]),
)
def test_whatever_a_file_holds_only_our_errors_come_of_it(files, cluster):
    with tempfile.TemporaryDirectory() as name:
        for side, (result, line) in (("good", (RESULT, LINE)), ("bad", files)):
            folder = Path(name, side)
            folder.mkdir()
            (folder / "results_1.json").write_text(json.dumps(result))
            (folder / "samples_who_1.jsonl").write_text(json.dumps(line))
        with suppress(SporError):
            report.write_compare([Path(name, "good"), Path(name, "bad")], cluster=cluster, most=1)
        with suppress(SporError):
            report.write_compare(
                [Path(name, "bad"), Path(name, "good")], Path(name, "out"), cluster=cluster
            )
