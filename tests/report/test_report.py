"""From results to the tables of arms."""

import json
import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spor_tasks import report
from spor_tasks.aspects.arms import ARMS
from spor_tasks.benchmarks.spor.paper import paper_facts
from spor_tasks.core.errors import ConfigError, ResultError
from spor_tasks.metrics import significance
from spor_tasks.metrics.base import Column
from spor_tasks.report import render
from spor_tasks.results.comparisons import Cell, Comparison
from spor_tasks.results.evidence import Interval
from tests.support.report_runs import write_runs
from tests.support.result_files import (
    SAMPLE,
    distinct,
    reported,
    result_content,
    sample_row,
    write_result,
    write_run,
    write_samples,
)


def rows_of(folder: Path) -> list[Comparison]:
    """The rows of the paper's own metrics."""
    return [
        row
        for table in report.collect([folder]).tables
        for row in table.rows
        if row.metric not in {"parent_full_table", "chrf", "coverage", "copy_rule_whole_word"}
    ]


def kinds(folder: Path) -> list[str]:
    return [problem.kind for problem in report.collect([folder]).problems]


def ends(interval: Interval | None, source: str) -> tuple[float, float]:
    assert interval
    assert interval.source == source
    return interval.low, interval.high


def test_arms_are_means_over_seeds_and_their_difference(tmp_path: Path) -> None:
    for seed, (atom, combination) in enumerate([(40.0, 44.0), (42.0, 43.0)]):
        write_result(tmp_path / f"results_a{seed}.json", arm="atom", seed=seed, parent=atom)
        write_result(
            tmp_path / f"results_c{seed}.json", arm="combination", seed=seed, parent=combination
        )
    write_result(tmp_path / "results_base.json", arm=None, parent=5.0)

    (row,) = rows_of(tmp_path)

    assert [(cell.values, cell.seeds, cell.mean) for cell in row.arms] == [
        ((40.0, 42.0), (0, 1), 41.0),
        ((44.0, 43.0), (0, 1), 43.5),
    ]
    assert row.arms[0].deviation == pytest.approx(2**0.5)
    assert row.difference
    assert row.difference.value == -2.5
    assert (row.as_is.values, row.as_is.seeds) == ((5.0,), (None,))
    assert (row.task, row.model, row.n) == ("spor_systematicity_mini", "base", 200)


def test_without_samples_the_interval_is_over_seeds_and_there_is_no_test(tmp_path: Path) -> None:
    for seed, value in enumerate([40.0, 42.0, 44.0]):
        for arm in ARMS["systematicity"]:
            write_result(tmp_path / f"results_{arm}{seed}.json", arm=arm, seed=seed, parent=value)
    (row,) = rows_of(tmp_path)
    # mean ± t(0.975, 2) · s / √3 and, after Welch with equal variances, t(0.975, 4) · s · √(2/3)
    assert ends(row.arms[0].interval, "seeds") == pytest.approx(
        (42 - 4.9683, 42 + 4.9683), abs=1e-4
    )
    assert row.difference
    assert ends(row.difference.interval, "seeds") == pytest.approx((-4.5339, 4.5339), abs=1e-4)
    assert (row.difference.p, row.difference.mark) == (None, "")
    assert row.difference.reason == "no test without the same samples of both arms"
    assert kinds(tmp_path) == ["scores-only"] * 6


def test_of_one_run_without_samples_there_is_the_standard_error(tmp_path: Path) -> None:
    write_result(tmp_path / "results_1.json", arm="atom", parent=40.0)
    write_result(tmp_path / "results_2.json", arm="combination", parent=99.5)
    (row,) = rows_of(tmp_path)  # of both it is 0.5
    assert ends(row.arms[0].interval, "stderr") == pytest.approx((39.02, 40.98), abs=1e-4)
    assert ends(row.arms[1].interval, "stderr") == pytest.approx((98.52, 100), abs=1e-4)
    assert row.difference
    assert row.difference.interval is None


def test_with_samples_there_are_intervals_over_them_and_a_paired_test(tmp_path: Path) -> None:
    rng = random.Random(1)
    values = [rng.uniform(0, 100) for _ in range(60)]
    write_run(tmp_path, "a", values)
    write_run(tmp_path, "c", [v + 5 for v in values], arm="combination")

    (row,) = rows_of(tmp_path)

    assert kinds(tmp_path) == []
    for cell in row.arms:
        assert cell.interval
        assert cell.mean
        assert cell.interval.source == "samples"
        assert cell.interval.low + 5 < cell.mean < cell.interval.high - 5
    assert row.difference
    assert row.difference.value == pytest.approx(-5)
    assert ends(row.difference.interval, "samples") == pytest.approx((-5, -5))
    assert row.difference.p == pytest.approx(1 / 10_001)
    assert row.difference.mark == "‡"
    assert row.difference.notes == (
        "of these checkpoints alone: one training seed says nothing of others",
    )


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
    single = significance.interval(systems[0][0], clusters, seed=0)
    assert ends(row.as_is.interval, "samples") == pytest.approx(single, abs=1e-6)
    several = significance.over_runs(systems[:1], clusters)
    assert several
    assert ends(row.arms[0].interval, "runs") == pytest.approx(several.interval(), abs=1e-6)
    both = significance.over_runs(systems, clusters)
    assert both
    assert row.difference
    assert row.difference.p == pytest.approx(both.p)
    assert ends(row.difference.interval, "runs") == pytest.approx(both.interval(), abs=1e-6)
    assert row.difference.notes == ()


def test_a_difference_that_other_seeds_may_reverse_has_no_mark(tmp_path: Path) -> None:
    """Every sample of a run is a point up or down: beyond chance over samples, not over seeds."""
    shifts = {"atom": (0.0, 3.0, 1.0), "combination": (2.0, 1.0, 4.0)}
    for arm, of_arm in shifts.items():
        for seed, shift in enumerate(of_arm):
            values = [50 + shift + number % 7 for number in range(200)]
            write_run(tmp_path, f"{arm}{seed}", values, arm=arm, seed=seed)
    (row,) = rows_of(tmp_path)
    assert row.difference
    assert row.difference.value == pytest.approx(-1)
    assert row.difference.mark == ""
    assert row.difference.interval
    assert row.difference.interval.low < 0 < row.difference.interval.high


def test_samples_with_the_same_units_are_one_draw(tmp_path: Path) -> None:
    """Twelve samples of three sets of units, all better after one arm: that is three draws."""
    for name, arm, value in (("a", "atom", 40.0), ("c", "combination", 50.0)):
        file = write_result(tmp_path / f"results_{name}.json", arm=arm, parent=value, n=12)
        samples = [replace(distinct(number % 3), id=str(number)) for number in range(12)]
        rows = [sample_row(sample, ["x"], {"parent": value}) for sample in samples]
        write_samples(file, "spor_systematicity_mini", rows)
    (row,) = rows_of(tmp_path)
    assert (row.n, row.clusters) == (12, 3)
    assert row.difference
    assert row.difference.p == pytest.approx(0.25, abs=0.02)  # two of the eight exchanges
    assert "12 in 3 clusters" in render.markdown(report.collect([tmp_path]))


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
    difference = found.difference
    assert difference
    assert (difference.value, difference.n, difference.p) == (0.0, 3, 1.0)
    assert ends(difference.interval, "samples") == (0.0, 0.0)
    assert "on the 3 of 6 samples that every run has a verdict on" in difference.notes


# --- What may stand in one row --------------------------------------------------------------------


QUICK = {"model_args": {"pretrained": "base", "peft": "x", "dtype": "bfloat16"}}


def settings_of(**changes: Any) -> dict[str, Any]:  # noqa: ANN401 - of any type
    """Settings of a training as a result has them, with changes."""
    settings = {"lora": {"rank": 8}, "optimization": {"threads": 1}, "data": {"limit": None}}
    return settings | changes


def write_way(file: Path, arm: str | None, parent: float, **ways: Any) -> None:  # noqa: ANN401
    """Write a result of a model tuned on an arm that was trained or evaluated in some way."""
    content = result_content(arm=arm, parent=parent, seed=ways.pop("seed", 0))
    spor = content["configs"]["spor_systematicity_mini"]["metadata"]["spor"]
    if arm is not None:
        spor["adapter"]["settings"] = ways.pop("settings", settings_of())
    spor["packages"] |= ways.pop("packages", {})
    spor |= {"facts": ways.pop("facts")} if "facts" in ways else {}
    content["config"] |= ways
    file.write_text(json.dumps(content))


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
    assert told in render.terminal(report.collect([tmp_path]))


def test_a_model_as_it_is_stands_beside_all_its_adapters(tmp_path: Path) -> None:
    write_way(tmp_path / "results_1.json", "atom", 40.0)
    other = settings_of(lora={"rank": 16})
    write_way(tmp_path / "results_2.json", "atom", 60.0, settings=other)
    write_way(tmp_path / "results_base.json", None, 10.0)
    found = report.collect([tmp_path])
    assert [row.as_is.values for row in rows_of(tmp_path)] == [(10.0,), (10.0,)]
    assert [problem.lost for problem in found.problems if problem.kind == "incomparable"] == [False]
    (board,) = (b for b in report.rank([tmp_path]).boards if b.metric == "parent")
    assert [entry.model for entry in board.entries] == [
        "base (lora.rank 16)",
        "base (lora.rank 8)",
        "base",
    ]


def test_a_user_may_merge_what_differs_and_the_row_says_so(tmp_path: Path) -> None:
    write_way(tmp_path / "results_1.json", "atom", 40.0)
    write_way(tmp_path / "results_2.json", "atom", 60.0, **QUICK)
    rows = [
        row
        for table in report.collect([tmp_path], ["dtype"]).tables
        for row in table.rows
        if row.metric == "parent"
    ]
    assert [row.arms[0].values for row in rows] == [(40.0, 60.0)]
    assert rows[0].name == "base (merged over dtype None, bfloat16)"
    with pytest.raises(ConfigError, match="cannot be merged over colour"):
        report.collect([tmp_path], ["colour"])
    with pytest.raises(ConfigError, match="cannot be merged over n, task"):
        report.collect([tmp_path], ["task", "n"])


def test_other_versions_of_packages_are_noted(tmp_path: Path) -> None:
    write_way(tmp_path / "results_1.json", "atom", 40.0, packages={"torch": "2.11.0"})
    write_way(tmp_path / "results_2.json", "atom", 42.0, seed=1, packages={"torch": "2.13.0"})
    (row,) = rows_of(tmp_path)
    assert row.arms[0].notes == ("runs with different versions of torch: 2.11.0, 2.13.0",)
    assert "different versions of torch" in render.terminal(report.collect([tmp_path]))


def test_an_adapter_of_another_training_set_stands_apart(tmp_path: Path) -> None:
    """One that was evaluated in spite of it, with ``allow_split_mismatch``."""
    write_result(tmp_path / "results_1.json", arm="atom")
    content = result_content(arm="atom", seed=1)
    metadata = content["configs"]["spor_systematicity_mini"]["metadata"]
    metadata["spor"]["adapter"]["arm_sha256"] = "9" * 64
    (tmp_path / "results_2.json").write_text(json.dumps(content))
    assert [row.apart for row in rows_of(tmp_path)] == [
        "training_set the task's",
        "training_set 9999999999999999999…",
    ]


def test_seeds_are_told_arm_by_arm_where_they_differ(tmp_path: Path) -> None:
    for arm, seeds in (("atom", (0, 1)), ("combination", (0,))):
        for seed in seeds:
            write_run(tmp_path, f"{arm}{seed}", [40.0 + seed, 50.0], arm=arm, seed=seed)
    found = report.collect([tmp_path])
    (row,) = rows_of(tmp_path)
    assert row.difference
    assert row.difference.notes == (
        "unpaired: the arms were trained with different seeds",
        "of these checkpoints alone: one training seed says nothing of others",
    )
    text = render.markdown(found)
    assert "atom 0, 1; combination 0" in text
    assert "unpaired" in text


def test_it_is_told_on_which_base_a_four_bit_adapter_was_evaluated(tmp_path: Path) -> None:
    settings = settings_of(model={"quantization": "nf4"})
    write_way(tmp_path / "results_1.json", "atom", 40.0, settings=settings)
    write_way(
        tmp_path / "results_2.json", "combination", 40.0, settings=settings, quantization="nf4"
    )
    long, short = rows_of(tmp_path)
    assert short.arms[1].notes == ()
    assert long.arms[0].notes == (
        "trained on the base in four bits (nf4), and evaluated on it with quantization None",
    )


def test_empty_outputs_are_told(tmp_path: Path) -> None:
    scores = {"parent": 40.0, "parent_full_table": 41.0, "empty": 2.5}
    write_result(tmp_path / "results_1.json", arm="atom", scores=scores)
    (row,) = rows_of(tmp_path)
    assert row.arms[0].notes == ("2.5 % of the outputs are empty",)


@pytest.mark.parametrize(("wins", "mark"), [(8, ""), (15, "†"), (17, "‡")])
def test_marks_are_the_papers(tmp_path: Path, wins: int, mark: str) -> None:
    write_run(tmp_path, "a", [50.0] * 20)
    write_run(tmp_path, "c", [51.0] * wins + [49.0] * (20 - wins), arm="combination")
    (row,) = rows_of(tmp_path)
    assert row.difference
    assert row.difference.mark == mark


def test_a_cell_without_a_result_is_empty_with_its_reason(tmp_path: Path) -> None:
    write_result(tmp_path / "results_1.json", arm="atom", seed=7, parent=40.0)
    (row,) = rows_of(tmp_path)
    assert row.arms[1] == Cell(reason="no result of combination")
    assert row.arms[1].mean is None
    assert row.as_is == Cell(reason="no result of the model as it is")
    assert row.difference is None


def test_a_result_without_the_metric_leaves_an_empty_cell_with_its_reason(tmp_path: Path) -> None:
    write_result(tmp_path / "results_1.json", arm="atom", scores={"bypass": 999.0})
    (row,) = rows_of(tmp_path)
    assert row.arms[0] == Cell(reason="no parent in results_1.json")


@pytest.mark.parametrize("rows", [0, 2])
def test_samples_without_any_score_are_no_fault(tmp_path: Path, rows: int) -> None:
    file = write_result(tmp_path / "results_1.json", n=rows, scores={"bypass": 999.0})
    samples = [replace(SAMPLE, id=str(number)) for number in range(rows)]
    task = "spor_systematicity_mini"
    write_samples(file, task, [sample_row(each, ["x"], {"bypass": 999}) for each in samples])
    found = report.collect([tmp_path])
    assert found.problems == ()
    assert found.tables[0].rows[0].arms[0].reason == "no parent in results_1.json"


@pytest.mark.parametrize(
    ("aspect", "part", "metrics"),
    [
        ("systematicity", None, ["parent", "parent_full_table", "chrf", "coverage", "facts"]),
        ("productivity", "n3", ["parent", "parent_full_table", "chrf", "coverage", "facts"]),
        (
            "order_invariance",
            "main",
            [
                *("fidelity_pbh", "fidelity_poh", "ordering_pbh", "ordering_poh"),
                *("faithful_ordering_pbh", "faithful_ordering_poh"),
            ],
        ),
        ("order_invariance", "cwio", ["cwio", "cwio_located", "cwio_located_share"]),
        (
            "order_invariance",
            "performance",
            ["parent", "parent_full_table", "chrf", "coverage", "facts"],
        ),
        (
            "rule_learnability",
            None,
            [
                *("copy_rule_00", "copy_rule_01", "copy_rule", "copy_rule_11"),
                "copy_rule_whole_word",
            ],
        ),
    ],
)
def test_each_aspect_is_compared_by_its_own_metrics_and_arms(
    tmp_path: Path, aspect: str, part: str | None, metrics: list[str]
) -> None:
    scores = {name: number / 16 for number, name in enumerate([*metrics, "another"])}
    for number, arm in enumerate(ARMS[aspect]):
        shifted = {name: value + 0.5 * number for name, value in scores.items()}
        write_result(
            tmp_path / f"results_{arm}.json", aspect=aspect, part=part, arm=arm, scores=shifted
        )
    (table,) = report.collect([tmp_path]).tables
    assert table.aspect == aspect
    assert [row.metric for row in table.rows] == metrics == list(reported(aspect, part))
    for row in table.rows:
        means = [scores[row.metric] + 0.5 * number for number in range(len(ARMS[aspect]))]
        assert [cell.mean for cell in row.arms] == means
        assert (row.difference and row.difference.value) == (-0.5 if len(means) > 1 else None)


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
    assert (tuned.task, tuned.variant) == ("spor_systematicity_mini", "")
    assert (shown.task, shown.variant) == ("spor_systematicity_mini_icl k=8", "icl k=8")
    assert tuned.difference
    assert shown.difference
    assert (tuned.difference.value, shown.difference.value) == (-1, -3)
    assert [cell.seeds for cell in shown.arms] == [(None,), (None,)]


@pytest.mark.parametrize(
    ("task", "variant"),
    [
        ("spor_systematicity_mini", ""),
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


def test_samples_of_which_one_stands_there_twice_are_not_used(tmp_path: Path) -> None:
    write_run(tmp_path, "a", [20.0, 20.0, 20.0])
    (file,) = tmp_path.glob("samples_*")
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[1:], lines[1]]))
    (problem,) = report.collect([tmp_path]).problems
    assert problem.what.startswith("holds 3 samples, 2 different ones, and the result is of 3")


def test_models_stand_in_rows_of_their_own(tmp_path: Path) -> None:
    write_result(tmp_path / "results_1.json", model="small")
    write_result(tmp_path / "results_2.json", model="large")
    assert [row.model for row in rows_of(tmp_path)] == ["large", "small"]


# --- What is wrong with files ---------------------------------------------------------------------


@pytest.mark.parametrize(("setting", "value"), [("version", 2.0), ("n", 50)])
def test_results_of_different_signatures_stand_in_rows_of_their_own(
    tmp_path: Path, setting: str, value: float
) -> None:
    write_result(tmp_path / "results_1.json", arm="atom")
    write_result(tmp_path / "results_2.json", arm="combination", **{setting: value})
    one, other = rows_of(tmp_path)
    assert one.arms[1].reason == "no result of combination"
    assert other.arms[0].reason == "no result of atom"
    assert other.apart == f"{setting} {value}"
    found = report.collect([tmp_path])
    assert not found.whole
    (problem,) = [each for each in found.problems if each.lost]
    assert problem.kind == "incomparable"
    assert "results_2.json" in problem.where
    assert f"results_1.json, they differ in {setting}: " in problem.what


def test_of_two_files_for_one_cell_that_differ_neither_is_used(tmp_path: Path) -> None:
    for number, value in enumerate([40.0, 41.0], start=1):
        write_result(tmp_path / f"results_{number}.json", arm="atom", seed=0, parent=value)
    write_result(tmp_path / "results_3.json", arm="atom", seed=1, parent=45.0)
    write_result(tmp_path / "results_4.json", arm="combination", seed=0)
    found = report.collect([tmp_path])
    row = found.tables[0].rows[0]
    assert (row.arms[0].values, row.arms[0].seeds) == ((45.0,), (1,))
    assert row.arms[0].reason == "files differ on seed 0"
    assert row.arms[1].mean == 40.0
    (problem,) = [each for each in found.problems if each.lost]
    assert problem.kind == "duplicate"
    assert "results_2.json" in problem.where
    assert "results_1.json" in problem.what


def test_a_copy_of_a_file_is_used_once(tmp_path: Path) -> None:
    for name in ("results_1.json", "results_2.json"):
        write_result(tmp_path / name, arm="atom", seed=0, parent=40.0)
    found = report.collect([tmp_path])
    assert found.tables[0].rows[0].arms[0].values == (40.0,)
    assert found.whole
    assert "duplicate" in kinds(tmp_path)


def test_one_bad_file_does_not_keep_the_others_from_being_reported(tmp_path: Path) -> None:
    good = write_result(tmp_path / "results_1.json", arm="atom")
    half = tmp_path / "results_2.json"
    half.write_bytes(good.read_bytes()[:500])
    (tmp_path / "results_3.json").write_text('{"results": {"hellaswag": {}}}')
    foreign = json.loads(good.read_text()) | {"configs": {"hellaswag": {}}}
    (tmp_path / "results_4.json").write_text(json.dumps(foreign))
    found = report.collect([tmp_path])
    assert len(found.tables[0].rows) == 1
    problems = [(Path(each.where).name, each.kind, each.lost) for each in found.problems]
    assert problems == [
        ("results_2.json", "unreadable", True),
        ("results_3.json", "unreadable", True),
        ("results_4.json", "foreign", False),
        ("results_1.json", "scores-only", False),
    ]


def change(file: Path, task: str, metadata: Mapping[str, object]) -> None:
    """Add a task to a result file, with another metadata."""
    content = json.loads(file.read_text())
    for part in ("results", "configs", "n-samples"):
        content[part][task] = json.loads(json.dumps(content[part]["spor_systematicity_mini"]))
    changed = content["configs"][task]["metadata"] | metadata
    content["configs"][task]["metadata"] = {k: v for k, v in changed.items() if v is not ...}
    file.write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        ({"aspect": "telepathy"}, "'telepathy'"),
        ({"test_sha256": "12"}, "test_sha256 is '12'"),
        ({"spor": None}, "spor is None"),
        ({"spor": ...}, "lacks 'spor'"),
        ({"spor": {}}, "lacks 'spor_tasks'"),
    ],
)
def test_an_unknown_task_or_an_old_file_is_named_and_its_other_tasks_reported(
    tmp_path: Path, metadata: dict[str, object], words: str
) -> None:
    change(write_result(tmp_path / "results_1.json"), "spor_new", metadata)
    found = report.collect([tmp_path])
    assert len(found.tables[0].rows) == 1
    (problem,) = [each for each in found.problems if each.lost]
    assert problem.kind == "schema"
    assert "configs.spor_new.metadata" in problem.what
    assert words in problem.what


@pytest.mark.parametrize("value", [100.5, -3.0])
def test_a_result_off_its_scale_is_left_out(tmp_path: Path, value: float) -> None:
    write_result(tmp_path / "results_1.json", arm="atom", parent=value)
    write_result(tmp_path / "results_2.json", arm="combination")
    found = report.collect([tmp_path])
    assert found.tables[0].rows[0].arms[0].reason == "no result of atom"
    (problem,) = [each for each in found.problems if each.lost]
    assert problem.kind == "schema"
    assert problem.what == f"parent is {value}, which is not from 0 to 100: left out"


def test_an_arm_that_the_aspect_does_not_have_is_left_out(tmp_path: Path) -> None:
    write_result(tmp_path / "results_1.json", arm="atom")
    write_result(tmp_path / "results_2.json", arm="molecule")
    (problem,) = [each for each in report.collect([tmp_path]).problems if each.lost]
    assert (problem.kind, problem.what) == (
        "unknown",
        "molecule is not an arm of systematicity: left out",
    )


def test_an_adapter_that_names_an_arm_and_no_seed_is_named(tmp_path: Path) -> None:
    file = write_result(tmp_path / "results_1.json")
    content = json.loads(file.read_text())
    facts = content["configs"]["spor_systematicity_mini"]["metadata"]["spor"]
    facts["adapter"]["seed"] = None
    file.write_text(json.dumps(content))
    with pytest.raises(ResultError, match=r"holds no results of SPOR tasks\n.*TypeError"):
        report.collect([tmp_path])


def test_prompts_that_were_cut_are_named(tmp_path: Path) -> None:
    for number, cut in enumerate([0, 3]):
        file = write_run(tmp_path, str(number), [1.0, 2.0], seed=number)
        content = json.loads(file.read_text())
        content["config"]["prompts_cut"] = {"spor_systematicity_mini": cut}
        file.write_text(json.dumps(content))
    found = report.collect([tmp_path])
    (problem,) = found.problems
    assert (problem.kind, problem.lost, found.whole) == ("cut", False, True)
    assert problem.where.endswith("results_1.json")
    assert problem.what.startswith("3 prompts of spor_systematicity_mini were truncated")


def test_samples_without_a_result_are_named(tmp_path: Path) -> None:
    write_result(tmp_path / "results_1.json", arm="atom")
    (tmp_path / "samples_spor_systematicity_mini_2.jsonl").touch()
    (problem,) = [each for each in report.collect([tmp_path]).problems if each.lost]
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
    assert row.difference
    assert (row.difference.interval, row.difference.p) == (None, None)
    assert all(cell.interval for cell in row.arms)


# --- The paper's rows -----------------------------------------------------------------------------


def test_the_papers_rows_stand_beside_ours_of_the_released_sets(tmp_path: Path) -> None:
    for number, (task, protocol) in enumerate(
        [("spor_systematicity_webnlg", "published"), ("spor_systematicity_e2e_strict", "strict")]
    ):
        file = write_result(tmp_path / f"results_{number}.json", task=task)
        content = json.loads(file.read_text())
        corpus = task.split("_")[2]
        content["configs"][task]["metadata"] |= {"corpus": corpus, "protocol": protocol}
        file.write_text(json.dumps(content))
    found = [row for row in rows_of(tmp_path) if row.published]
    assert {row.spec.name.corpus for row in found} == {"webnlg"}
    assert [row.model for row in found][:2] == ["T5-large", "BART-large"]
    assert len(found) == 6
    gpt = found[2]
    assert [cell.mean for cell in gpt.arms] == [63.98, 64.93]
    assert gpt.difference
    assert (gpt.difference.mark, gpt.n) == ("‡", 2360)


def test_the_papers_numbers_are_whole_and_can_be_true() -> None:
    facts = paper_facts()
    models = set(facts["systematicity"])
    assert len(models) == 6
    for aspect in ARMS:
        assert set(facts[aspect]) == models
    for model in models:
        for corpus in ("webnlg", "e2e"):
            cases = facts["rule_learnability"][model][corpus]
            assert sum(cases.values()) == pytest.approx(100, abs=0.03)
            for arm in ARMS["order_invariance"]:
                scores = facts["order_invariance"][model][arm][corpus]
                assert scores["fidelity_pbh"] + scores["fidelity_poh"] <= 100
                assert scores["ordering_pbh"] + scores["ordering_poh"] <= 100
                assert -1 <= scores["cwio"] <= 1
            for part in ("n3", "n4", "n5"):
                row = facts["productivity"][model][corpus][part]
                assert row["invisible"] < row["visible"] < 100
            row = facts["systematicity"][model][corpus]
            assert row["atom"] < row["combination"] < 100
            assert row["mark"] in {"", "†", "‡"}


def test_the_paper_has_no_rows_of_models_in_context(tmp_path: Path) -> None:
    task = "spor_systematicity_webnlg_icl_atom"
    file = write_result(tmp_path / "results_1.json", task=task, shown="atom")
    content = json.loads(file.read_text())
    content["configs"][task]["metadata"] |= {"corpus": "webnlg", "protocol": "published"}
    file.write_text(json.dumps(content))
    assert [row.published for row in rows_of(tmp_path)] == [False]


def test_every_table_of_the_paper_stands_beside_ours_of_the_same_task(tmp_path: Path) -> None:
    write_runs(tmp_path, corpus="e2e")
    found = [row for table in report.collect([tmp_path]).tables for row in table.rows]
    paper = [row for row in found if row.published]
    ours = ("parent_full", "chrf", "coverage", "faithful", "cwio_located", "copy_rule_whole_word")
    assert {(row.aspect, row.part, row.metric) for row in paper} == {
        (row.aspect, row.part, row.metric) for row in found if not row.metric.startswith(ours)
    }
    t5 = {(row.part, row.metric): row for row in paper if row.model == "T5-large"}
    assert [cell.mean for cell in t5["cwio", "cwio"].arms] == [0.51, 0.95]
    assert t5[None, "copy_rule"].arms[0].mean == 95.93
    assert t5["n4", "parent"].n == 1002
    difference = t5["n4", "parent"].difference
    assert difference
    assert (difference.mark, difference.p) == ("‡", None)


# --- Files ----------------------------------------------------------------------------------------


def test_a_report_is_the_same_bytes_from_the_same_files(tmp_path: Path) -> None:
    write_run(tmp_path / "runs", "1", [1.0, 2.0, 4.0])
    write_run(tmp_path / "runs", "2", [2.0, 1.0, 3.0], arm="combination")
    for out in ("one", "two"):
        report.write([tmp_path / "runs"], tmp_path / out)
    names = sorted(path.name for path in (tmp_path / "one").iterdir() if path.is_file())
    assert names == ["page.html", "report.csv", "report.json", "report.md", "report.tex"]
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
