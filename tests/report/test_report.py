"""From results to the tables of arms."""

import random
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spor_tasks import report
from spor_tasks.aspects.arms import ARMS
from spor_tasks.core.errors import ConfigError, ResultError
from spor_tasks.metrics.base import Column
from spor_tasks.report import Report, tables
from spor_tasks.report.document import markdown, plain_text
from spor_tasks.results import statistics as significance
from spor_tasks.results.rows import Comparison
from spor_tasks.results.runs import Problem
from spor_tasks.results.statistics import Estimate, Interval
from tests.support.intervals import interval
from tests.support.report_runs import write_runs
from tests.support.result_files import (
    SAMPLE,
    distinct,
    edited,
    sample_row,
    write_result,
    write_run,
    write_samples,
)

TASK = "spor_systematicity_mini"


def rows_of(folder: Path) -> list[Comparison]:
    """The rows of the paper's own metrics."""
    others = {"parent_full_table", "chrf", "coverage", "copy_rule_whole_word"}
    return [row for row in all_rows(report.collect([folder])) if row.metric not in others]


def all_rows(found: Report) -> list[Comparison]:
    return [row for table in found.tables for row in table.rows]


def difference_of(row: Comparison) -> Estimate:
    assert row.difference
    return row.difference


def kinds(folder: Path) -> list[str]:
    return [problem.kind for problem in report.collect([folder]).problems]


def lost(found: Report) -> Problem:
    """The only problem that loses a result."""
    (problem,) = (problem for problem in found.problems if problem.lost)
    return problem


def ends(interval: Interval | None, source: str) -> tuple[float, float]:
    assert interval
    assert interval.source == source
    return interval.low, interval.high


def test_arms_are_means_over_seeds_and_their_difference(tmp_path: Path) -> None:
    for seed, values in enumerate([(40.0, 44.0), (42.0, 43.0)]):
        for arm, parent in zip(ARMS["systematicity"], values, strict=True):
            write_result(tmp_path / f"results_{arm}{seed}.json", arm=arm, seed=seed, parent=parent)
    write_result(tmp_path / "results_base.json", arm=None, parent=5.0)
    (row,) = rows_of(tmp_path)
    assert [(cell.values, cell.seeds, cell.mean) for cell in row.arms] == [
        ((40.0, 42.0), (0, 1), 41.0),
        ((44.0, 43.0), (0, 1), 43.5),
    ]
    assert row.arms[0].deviation == pytest.approx(2**0.5)
    assert difference_of(row).value == -2.5
    assert (row.as_is.values, row.as_is.seeds) == ((5.0,), (None,))
    assert (row.task, row.model, row.n) == (TASK, "base", 200)


def test_without_samples_the_interval_is_over_seeds_and_there_is_no_test(tmp_path: Path) -> None:
    for seed, value in enumerate([40.0, 42.0, 44.0]):
        for arm in ARMS["systematicity"]:
            write_result(tmp_path / f"results_{arm}{seed}.json", arm=arm, seed=seed, parent=value)
    (row,) = rows_of(tmp_path)
    # mean ± t(0.975, 2) · s / √3 and, after Welch with equal variances, t(0.975, 4) · s · √(2/3)
    interval = pytest.approx((42 - 4.9683, 42 + 4.9683), abs=1e-4)
    assert ends(row.arms[0].interval, "seeds") == interval
    difference = difference_of(row)
    assert ends(difference.interval, "seeds") == pytest.approx((-4.5339, 4.5339), abs=1e-4)
    assert (difference.p, difference.mark) == (None, "")
    assert difference.reason
    assert kinds(tmp_path) == ["scores-only"] * 6


def test_of_one_run_without_samples_there_is_the_standard_error(tmp_path: Path) -> None:
    write_result(tmp_path / "results_1.json", arm="atom", parent=40.0)
    write_result(tmp_path / "results_2.json", arm="combination", parent=99.5)
    (row,) = rows_of(tmp_path)  # of both it is 0.5
    assert ends(row.arms[0].interval, "stderr") == pytest.approx((39.02, 40.98), abs=1e-4)
    assert ends(row.arms[1].interval, "stderr") == pytest.approx((98.52, 100), abs=1e-4)
    assert difference_of(row).interval is None


def test_with_samples_there_are_intervals_over_them_and_a_paired_test(tmp_path: Path) -> None:
    rng = random.Random(1)
    values = [rng.uniform(0, 100) for _ in range(60)]
    write_run(tmp_path, "a", values)
    write_run(tmp_path, "c", [v + 5 for v in values], arm="combination")
    (row,) = rows_of(tmp_path)
    assert kinds(tmp_path) == []
    for cell in row.arms:
        low, high = ends(cell.interval, "samples")
        assert cell.mean
        assert low + 5 < cell.mean < high - 5
    difference = difference_of(row)
    assert difference.value == pytest.approx(-5)
    assert ends(difference.interval, "samples") == pytest.approx((-5, -5))
    assert difference.p is not None
    assert difference.p < 1 / 10_001
    assert difference.mark == "‡"
    assert len(difference.notes) == 1  # that other seeds may differ


def test_several_seeds_have_intervals_over_seeds_and_samples(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    values = {arm: rng.uniform(0, 100, (2, 50)) for arm in ARMS["systematicity"]}
    for arm, runs in values.items():
        for seed, numbers in enumerate(runs):
            write_run(tmp_path, f"{arm}{seed}", list(numbers), arm=arm, seed=seed)
    write_run(tmp_path, "base", list(values["atom"][0]), arm=None)
    (row,) = rows_of(tmp_path)
    order = np.argsort([str(number) for number in range(50)])  # ids are in the order of texts
    systems = [
        [Column.of(list(run[order])) for run in values[arm]] for arm in ARMS["systematicity"]
    ]
    clusters = np.arange(50)
    single = interval(systems[0][0], clusters)
    assert ends(row.as_is.interval, "samples") == pytest.approx(single, abs=1e-6)
    several = significance.over_runs(systems[:1], clusters)
    assert several
    assert ends(row.arms[0].interval, "runs") == pytest.approx(several.interval(), abs=1e-6)
    both = significance.over_runs(systems, clusters)
    assert both
    difference = difference_of(row)
    assert difference.p == pytest.approx(both.p)
    assert ends(difference.interval, "runs") == pytest.approx(both.interval(), abs=1e-6)
    assert difference.notes == ()


def test_a_difference_that_other_seeds_may_reverse_has_no_mark(tmp_path: Path) -> None:
    """Every sample of a run is a point up or down: beyond chance over samples, not over seeds."""
    shifts = {"atom": (0.0, 3.0, 1.0), "combination": (2.0, 1.0, 4.0)}
    for arm, of_arm in shifts.items():
        for seed, shift in enumerate(of_arm):
            values = [50 + shift + number % 7 for number in range(200)]
            write_run(tmp_path, f"{arm}{seed}", values, arm=arm, seed=seed)
    difference = difference_of(*rows_of(tmp_path))
    assert difference.value == pytest.approx(-1)
    assert not difference.mark
    low, high = ends(difference.interval, "runs")
    assert low < 0 < high


def test_samples_with_the_same_units_are_one_draw(tmp_path: Path) -> None:
    """Twelve samples of three sets of units, all better after one arm: that is three draws."""
    for name, arm, value in (("a", "atom", 40.0), ("c", "combination", 50.0)):
        file = write_result(tmp_path / f"results_{name}.json", arm=arm, parent=value, n=12)
        samples = [replace(distinct(number % 3), id=str(number)) for number in range(12)]
        rows = [sample_row(sample, ["x"], {"parent": value}) for sample in samples]
        write_samples(file, TASK, rows)
    (row,) = rows_of(tmp_path)
    assert (row.n, row.clusters) == (12, 3)
    assert difference_of(row).p == pytest.approx(0.25, abs=0.02)  # two of the eight exchanges
    assert "12 in 3 clusters" in markdown(tables.document(report.collect([tmp_path])))


def test_samples_that_are_all_about_the_same_are_not_tested(tmp_path: Path) -> None:
    samples = [replace(distinct(0), id=str(number)) for number in range(3)]
    for arm in ("atom", "combination"):
        for seed, value in enumerate((40.0, 50.0)):
            name = f"results_{arm}{seed}.json"
            file = write_result(tmp_path / name, arm=arm, parent=value, n=3, seed=seed)
            rows = [sample_row(sample, ["x"], {"parent": value}) for sample in samples]
            write_samples(file, TASK, rows)
    (row,) = rows_of(tmp_path)
    assert (row.n, row.clusters, difference_of(row).p) == (3, 1, None)
    assert "about the same" in str(difference_of(row).reason)


def test_located_taus_are_compared_on_the_samples_that_both_arms_located(tmp_path: Path) -> None:
    """Where an arm located more samples, its mean is over others: no difference is in the common
    ones, and the reported one, its interval and its p are of these.
    """
    taus: dict[str, list[float | None]] = {
        "original": [0.2, 0.4, 0.6, 1.0, 1.0, None],
        "match": [0.2, 0.4, 0.6, None, None, 0.0],
    }
    for arm, values in taus.items():
        located = [value for value in values if value is not None]
        scores = {"cwio": 0.5, "cwio_located": sum(located) / len(located)}
        task = "spor_order_invariance_mini_cwio"
        settings = {"task": task, "aspect": "order_invariance", "part": "cwio", "arm": arm}
        file = write_result(tmp_path / f"results_{arm}.json", scores=scores, n=6, **settings)
        rows = [
            sample_row(
                distinct(number),
                ["x"],
                {"cwio": (2, 0.5), "cwio_located": None if value is None else (2, value)},
            )
            for number, value in enumerate(values)
        ]
        write_samples(file, task, rows)
    found = {row.metric: row for row in rows_of(tmp_path)}["cwio_located"]
    assert [cell.mean for cell in found.arms] == pytest.approx([0.64, 0.3])
    difference = difference_of(found)
    assert (difference.value, difference.n, difference.p) == (0.0, 3, 1.0)
    assert ends(difference.interval, "samples") == (0.0, 0.0)
    assert "3 of 6 samples" in "".join(difference.notes)


# --- What may stand in one row --------------------------------------------------------------------


def settings_of(**changes: Any) -> dict[str, Any]:  # noqa: ANN401 - of any type
    """Settings of a training as a result has them, with changes."""
    settings = {"lora": {"rank": 8}, "optimization": {"threads": 1}, "data": {"limit": None}}
    return settings | changes


def write_way(file: Path, arm: str | None, parent: float, **ways: Any) -> None:  # noqa: ANN401
    """Write a result of a model tuned on an arm that was trained or evaluated in some way."""
    write_result(file, arm=arm, parent=parent, seed=ways.pop("seed", 0))
    with edited(file) as content:
        spor = content["configs"][TASK]["metadata"]["spor"]
        if arm is not None:
            spor["adapter"]["settings"] = ways.pop("settings", settings_of())
        spor["packages"] |= ways.pop("packages", {})
        spor |= {"facts": ways.pop("facts")} if "facts" in ways else {}
        content["config"] |= ways


@pytest.mark.parametrize(
    ("ways", "told"),
    [
        ({"model": "vllm"}, "backend vllm"),
        ({"model_args": {"pretrained": "base", "dtype": "bfloat16"}}, "dtype bfloat16"),
        ({"model_dtype": "torch.float16"}, "dtype float16"),
        ({"model_args": {"pretrained": "base", "load_in_4bit": True}}, "load_in_4bit=True"),
        ({"quantization": "nf4"}, "quantization nf4"),
        ({"facts": "facts|model:a|weights:b"}, "facts model:a|weights:b"),
        ({"settings": settings_of(data={"limit": 150})}, "data.limit 150"),
        ({"settings": settings_of(lora={"rank": 16})}, "lora.rank 16"),
        ({"settings": settings_of(optimization={"threads": 2})}, "optimization.threads 2"),
        ({"settings": settings_of(selection={"policy": "last"})}, "selection.policy last"),
    ],
)
def test_only_runs_that_differ_in_seeds_alone_are_averaged(
    tmp_path: Path, ways: dict[str, Any], told: str
) -> None:
    write_way(tmp_path / "results_1.json", "atom", 40.0)
    write_way(tmp_path / "results_2.json", "atom", 60.0, seed=1, **ways)
    write_way(tmp_path / "results_base.json", None, 10.0)
    rows = rows_of(tmp_path)
    assert [row.arms[0].values for row in rows] == [(40.0,), (60.0,)]
    assert rows[1].apart
    assert told in rows[1].apart
    assert told in plain_text(tables.document(report.collect([tmp_path])))


def test_a_model_as_it_is_stands_beside_all_its_adapters(tmp_path: Path) -> None:
    write_way(tmp_path / "results_1.json", "atom", 40.0)
    other = settings_of(lora={"rank": 16})
    write_way(tmp_path / "results_2.json", "atom", 60.0, settings=other)
    write_way(tmp_path / "results_base.json", None, 10.0)
    found = report.collect([tmp_path])
    assert [row.as_is.values for row in rows_of(tmp_path)] == [(10.0,), (10.0,)]
    assert [problem.lost for problem in found.problems if problem.kind == "incomparable"] == [False]
    (board,) = (
        b for b in report.rank(report.collect([tmp_path])).boards if b.row.metric == "parent"
    )
    assert [entry.model for entry in board.entries] == [
        "base (lora.rank 16)",
        "base (lora.rank 8)",
        "base",
    ]


def test_an_objective_stands_without_its_settings_where_it_tells_rows_apart(tmp_path: Path) -> None:
    meta = [{"of": "likelihood", "weight": weight} for weight in (0.1, 0.2)]
    for number, settings in enumerate(meta):
        ways = settings_of(objective="meta", objective_settings=settings)
        write_way(tmp_path / f"results_{number}.json", "atom", 40.0 + number, settings=ways)
    write_way(tmp_path / "results_2.json", "atom", 50.0)
    assert [row.name for row in rows_of(tmp_path)] == [
        "base (objective meta, objective_settings.weight 0.1)",
        "base (objective meta, objective_settings.weight 0.2)",
        "base (objective likelihood)",
    ]


def test_rows_never_have_one_name_however_much_tells_them_apart(tmp_path: Path) -> None:
    names = "abcdefgh"
    for number in range(3):
        # The first two differ in the last of many settings, which a short name leaves out.
        common = dict.fromkeys(names, number == 2)
        settings = settings_of(
            objective="meta", objective_settings={**common, "z": "x" * 40 + str(number)}
        )
        write_way(tmp_path / f"results_{number}.json", "atom", 40.0 + number, settings=settings)
    rows = rows_of(tmp_path)
    assert len({row.name for row in rows}) == len(rows) == 3
    assert all(f"objective_settings.{names[-1]} " in row.name for row in rows)


def test_a_user_may_merge_what_differs_and_the_row_says_so(tmp_path: Path) -> None:
    write_way(tmp_path / "results_1.json", "atom", 40.0)
    write_way(tmp_path / "results_2.json", "atom", 60.0, model_dtype="torch.bfloat16")
    row = all_rows(report.collect([tmp_path], ["dtype"]))[0]
    assert row.arms[0].values == (40.0, 60.0)
    assert row.name == "base (merged over dtype None, bfloat16)"
    with pytest.raises(ConfigError, match="colour"):
        report.collect([tmp_path], ["colour"])
    with pytest.raises(ConfigError, match="n, task"):
        report.collect([tmp_path], ["task", "n"])


def test_other_versions_of_packages_are_noted(tmp_path: Path) -> None:
    write_way(tmp_path / "results_1.json", "atom", 40.0, packages={"torch": "2.11.0"})
    write_way(tmp_path / "results_2.json", "atom", 42.0, seed=1, packages={"torch": "2.13.0"})
    (row,) = rows_of(tmp_path)
    (note,) = row.arms[0].notes
    assert "torch: 2.11.0, 2.13.0" in note
    assert note in plain_text(tables.document(report.collect([tmp_path])))


def test_an_adapter_of_another_training_set_stands_apart(tmp_path: Path) -> None:
    """One that was evaluated in spite of it, with ``allow_split_mismatch``."""
    write_result(tmp_path / "results_1.json", arm="atom")
    other = write_result(tmp_path / "results_2.json", arm="atom", seed=1)
    with edited(other) as content:
        content["configs"][TASK]["metadata"]["spor"]["adapter"]["arm_sha256"] = "9" * 64
    assert [row.apart for row in rows_of(tmp_path)] == [
        "training_set the task's",
        "training_set 9999999999999999999…",
    ]


def test_seeds_are_told_arm_by_arm_where_they_differ(tmp_path: Path) -> None:
    for arm, seeds in (("atom", (0, 1)), ("combination", (0,))):
        for seed in seeds:
            write_run(tmp_path, f"{arm}{seed}", [40.0 + seed, 50.0], arm=arm, seed=seed)
    unpaired, _one_seed = difference_of(*rows_of(tmp_path)).notes
    text = markdown(tables.document(report.collect([tmp_path])))
    assert "atom 0, 1; combination 0" in text
    assert unpaired in text


def test_it_is_told_on_which_base_a_four_bit_adapter_was_evaluated(tmp_path: Path) -> None:
    settings = settings_of(model={"quantization": "nf4"})
    for number, (arm, how) in enumerate([("atom", {}), ("combination", {"quantization": "nf4"})]):
        write_way(tmp_path / f"results_{number}.json", arm, 40.0, settings=settings, **how)
    long, short = rows_of(tmp_path)
    assert short.arms[1].notes == ()
    assert "(nf4)" in long.arms[0].notes[0]


def test_empty_outputs_are_told(tmp_path: Path) -> None:
    scores = {"parent": 40.0, "parent_full_table": 41.0, "empty": 2.5}
    write_result(tmp_path / "results_1.json", arm="atom", scores=scores)
    (row,) = rows_of(tmp_path)
    assert row.arms[0].notes == ("2.5 % of the outputs are empty",)


@pytest.mark.parametrize(("wins", "mark"), [(8, ""), (15, "†"), (17, "‡")])
def test_marks_are_the_papers(tmp_path: Path, wins: int, mark: str) -> None:
    write_run(tmp_path, "a", [50.0] * 20)
    write_run(tmp_path, "c", [51.0] * wins + [49.0] * (20 - wins), arm="combination")
    assert difference_of(*rows_of(tmp_path)).mark == mark


@pytest.mark.parametrize("rows", [0, 2])
def test_samples_without_any_score_are_no_fault(tmp_path: Path, rows: int) -> None:
    file = write_result(tmp_path / "results_1.json", n=rows, scores={"bypass": 999.0})
    samples = [replace(SAMPLE, id=str(number)) for number in range(rows)]
    write_samples(file, TASK, [sample_row(each, ["x"], {"bypass": 999}) for each in samples])
    found = report.collect([tmp_path])
    assert found.problems == ()
    assert found.tables[0].rows[0].arms[0].reason == "no parent in results_1.json"


def test_arms_that_were_shown_are_compared_apart_from_those_trained_on(tmp_path: Path) -> None:
    for number, arm in enumerate(ARMS["systematicity"]):
        write_result(tmp_path / f"results_{arm}.json", arm=arm, parent=50.0 + number)
        write_result(
            tmp_path / f"results_icl_{arm}.json",
            task=f"spor_systematicity_mini_icl_{arm}",
            shown=arm,
            parent=20.0 + 3 * number,
        )
    tuned, shown = rows_of(tmp_path)
    assert (tuned.task, tuned.variant) == (TASK, "")
    assert (shown.task, shown.variant) == ("spor_systematicity_mini_icl k=8", "icl k=8")
    assert (difference_of(tuned).value, difference_of(shown).value) == (-1, -3)
    assert [cell.seeds for cell in shown.arms] == [(None,), (None,)]


@pytest.mark.parametrize(
    ("task", "variant"),
    [
        (TASK, ""),
        ("spor_systematicity_mini_beam5", "beam5"),
        ("spor_productivity_mini_n3_beam5", "beam5"),
        ("mine", "mine"),
    ],
)
def test_a_variant_is_what_else_the_name_of_a_task_says(
    tmp_path: Path, task: str, variant: str
) -> None:
    productivity = {"aspect": "productivity", "part": "n3"} if "productivity" in task else {}
    write_result(tmp_path / "results_1.json", task=task, arm=None, **productivity)
    assert {row.variant for row in rows_of(tmp_path)} == {variant}


# --- What is wrong with files ---------------------------------------------------------------------


@pytest.mark.parametrize(("setting", "value"), [("version", 3.0), ("n", 50)])
def test_results_of_different_signatures_stand_in_rows_of_their_own(
    tmp_path: Path, setting: str, value: float
) -> None:
    write_result(tmp_path / "results_1.json", arm="atom")
    write_result(tmp_path / "results_2.json", arm="combination", **{setting: value})
    one, other = rows_of(tmp_path)
    assert not one.arms[1].values
    assert not other.arms[0].values
    assert other.apart == f"{setting} {value}"
    problem = lost(report.collect([tmp_path]))
    assert problem.kind == "incomparable"
    assert "results_2.json" in problem.where
    assert "results_1.json" in problem.what
    assert f"{setting}: " in problem.what


def test_of_two_files_for_one_cell_that_differ_neither_is_used_and_a_copy_is_used_once(
    tmp_path: Path,
) -> None:
    runs = [
        ("atom", 0, 40.0),
        ("atom", 0, 41.0),
        ("atom", 1, 45.0),
        *[("combination", 0, 40.0)] * 2,
    ]
    for number, (arm, seed, parent) in enumerate(runs):
        write_result(tmp_path / f"results_{number}.json", arm=arm, seed=seed, parent=parent)
    found = report.collect([tmp_path])
    row = found.tables[0].rows[0]
    assert [(cell.values, cell.seeds) for cell in row.arms] == [((45.0,), (1,)), ((40.0,), (0,))]
    assert row.arms[0].reason == "files differ on seed 0"
    differing, copy = (each for each in found.problems if each.kind == "duplicate")
    assert (differing, copy.lost) == (lost(found), False)
    assert "results_1.json" in differing.where
    assert "results_0.json" in differing.what


def test_one_bad_file_does_not_keep_the_others_from_being_reported(tmp_path: Path) -> None:
    good = write_result(tmp_path / "results_1.json", arm="atom")
    half = tmp_path / "results_2.json"
    half.write_bytes(good.read_bytes()[:500])
    (tmp_path / "results_3.json").write_text('{"results": {"hellaswag": {}}}')
    with edited(write_result(tmp_path / "results_4.json", arm="atom")) as foreign:
        foreign["configs"] = {"hellaswag": {}}
    found = report.collect([tmp_path])
    assert len(found.tables[0].rows) == 1
    problems = [(Path(each.where).name, each.kind, each.lost) for each in found.problems]
    assert problems == [
        ("results_2.json", "unreadable", True),
        ("results_3.json", "unreadable", True),
        ("results_4.json", "foreign", False),
        ("results_1.json", "scores-only", False),
    ]


@pytest.mark.parametrize(
    "metadata", [{"test_sha256": "12"}, {"spor": None}, {"spor": ...}, {"spor": {}}]
)
def test_an_unknown_task_or_an_old_file_is_named_and_its_other_tasks_reported(
    tmp_path: Path, metadata: dict[str, object]
) -> None:
    with edited(write_result(tmp_path / "results_1.json")) as content:
        for part in ("results", "configs", "n-samples"):
            content[part]["spor_new"] = deepcopy(content[part][TASK])
        changed = content["configs"][TASK]["metadata"] | metadata
        told = {key: value for key, value in changed.items() if value is not ...}
        content["configs"]["spor_new"]["metadata"] = told
    found = report.collect([tmp_path])
    assert len(found.tables[0].rows) == 1
    problem = lost(found)
    assert problem.kind == "schema"
    assert "configs.spor_new.metadata" in problem.what


@pytest.mark.parametrize("value", [100.5, -3.0])
def test_a_result_off_its_scale_is_left_out(tmp_path: Path, value: float) -> None:
    write_result(tmp_path / "results_1.json", arm="atom", parent=value)
    write_result(tmp_path / "results_2.json", arm="combination")
    found = report.collect([tmp_path])
    assert not found.tables[0].rows[0].arms[0].values
    assert lost(found).kind == "schema"
    assert f"parent is {value}" in lost(found).what


def test_an_adapter_that_names_an_arm_and_no_seed_is_named(tmp_path: Path) -> None:
    with edited(write_result(tmp_path / "results_1.json")) as content:
        content["configs"][TASK]["metadata"]["spor"]["adapter"]["seed"] = None
    with pytest.raises(ResultError, match="an adapter without a seed"):
        report.collect([tmp_path])


def test_prompts_that_were_cut_are_named(tmp_path: Path) -> None:
    for number, cut in enumerate([0, 3]):
        with edited(write_run(tmp_path, str(number), [1.0, 2.0], seed=number)) as content:
            content["config"]["prompts_cut"] = {TASK: cut}
    found = report.collect([tmp_path])
    (problem,) = found.problems
    assert (problem.kind, problem.lost) == ("cut", False)
    assert problem.where.endswith("results_1.json")
    assert problem.what.startswith(f"3 prompts of {TASK} ")


def test_samples_without_a_result_are_named(tmp_path: Path) -> None:
    write_result(tmp_path / "results_1.json", arm="atom")
    (tmp_path / "samples_spor_systematicity_mini_2.jsonl").touch()
    problem = lost(report.collect([tmp_path]))
    assert problem.kind == "samples-only"
    assert problem.where.endswith("mini_2.jsonl")


@pytest.mark.parametrize("damage", ["half", "one less", "twice", "others"])
def test_samples_that_are_not_those_of_the_result_are_not_used(tmp_path: Path, damage: str) -> None:
    write_run(tmp_path, "a", [10.0, 20.0, 30.0])
    (file,) = tmp_path.glob("samples_*")
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(
        {
            "half": b"".join(lines)[:-30],
            "one less": b"".join(lines[1:]),
            "twice": b"".join([*lines[1:], lines[1]]),
            "others": b"".join(lines).replace(b'"parent": 10.0', b'"parent": 11.0'),
        }[damage]
    )
    (row,) = rows_of(tmp_path)
    assert row.arms[0].values == (20.0,)
    assert ends(row.arms[0].interval, "stderr")
    (problem,) = report.collect([tmp_path]).problems
    assert problem.kind == "samples"
    assert str(file) in problem.where


def test_runs_on_other_samples_are_not_tested_against_each_other(tmp_path: Path) -> None:
    write_run(tmp_path, "a", [10.0, 20.0, 30.0])
    write_run(tmp_path, "c", [20.0, 30.0, 40.0], arm="combination")
    (file,) = tmp_path.glob("samples_*_c.jsonl")
    file.write_bytes(file.read_bytes().replace(b'"id": "2"', b'"id": "3"'))
    (row,) = rows_of(tmp_path)
    assert (difference_of(row).interval, difference_of(row).p) == (None, None)
    assert all(cell.interval for cell in row.arms)


# --- The paper's rows -----------------------------------------------------------------------------


def test_the_papers_rows_stand_beside_ours_of_the_released_sets(tmp_path: Path) -> None:
    for number, (corpus, protocol) in enumerate([("webnlg", "published"), ("e2e", "strict")]):
        metadata = {"corpus": corpus, "protocol": protocol}
        task = f"spor_systematicity_{corpus}"
        write_result(tmp_path / f"results_{number}.json", task=task, metadata=metadata)
    found = [row for row in rows_of(tmp_path) if row.published]
    assert {row.spec.name.corpus for row in found} == {"webnlg"}
    assert [row.model for row in found][:2] == ["T5-large", "BART-large"]
    assert len(found) == 6
    assert [cell.mean for cell in found[2].arms] == [63.98, 64.93]
    assert (difference_of(found[2]).mark, found[2].n) == ("‡", 2360)


def test_the_paper_has_no_rows_of_models_in_context(tmp_path: Path) -> None:
    task = "spor_systematicity_webnlg_icl_atom"
    metadata = {"corpus": "webnlg", "protocol": "published"}
    write_result(tmp_path / "results_1.json", task=task, shown="atom", metadata=metadata)
    assert [row.published for row in rows_of(tmp_path)] == [False]


def test_every_table_of_the_paper_stands_beside_ours_of_the_same_task(tmp_path: Path) -> None:
    write_runs(tmp_path, corpus="e2e")
    found = all_rows(report.collect([tmp_path]))
    paper = [row for row in found if row.published]
    ours = ("parent_full", "chrf", "coverage", "faithful", "cwio_located", "copy_rule_whole_word")
    assert {(row.aspect, row.part, row.metric) for row in paper} == {
        (row.aspect, row.part, row.metric) for row in found if not row.metric.startswith(ours)
    }
    t5 = {(row.part, row.metric): row for row in paper if row.model == "T5-large"}
    assert [cell.mean for cell in t5["cwio", "cwio"].arms] == [0.51, 0.95]
    assert t5[None, "copy_rule"].arms[0].mean == 95.93
    assert t5["n4", "parent"].n == 1002
    difference = difference_of(t5["n4", "parent"])
    assert (difference.mark, difference.p) == ("‡", None)
