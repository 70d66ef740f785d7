"""CompMCTG's tables: all splits of a protocol together, the paper's averages and its slips."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest

from spor_tasks import report
from spor_tasks.benchmarks.compmctg.benchmark import COMPMCTG
from spor_tasks.benchmarks.published import lines as published_lines
from spor_tasks.core.contracts import SetName, SetSpec
from spor_tasks.metrics.base import Column
from spor_tasks.metrics.totals import COUNTED_MEAN, GAP_OF_SAME, RELATIVE_GAP
from spor_tasks.report import tables
from spor_tasks.report.collect import Report
from spor_tasks.report.document import latex, markdown, plain_text
from spor_tasks.report.exhibit import exhibit, terminal
from spor_tasks.report.plots import draw
from spor_tasks.results.benchmarks import grids
from spor_tasks.results.comparisons import comparisons
from spor_tasks.results.evidence import Evidence, Logged
from spor_tasks.results.pooling import pooled
from spor_tasks.results.rows import Cell, Comparison
from spor_tasks.results.runs import Problem, Run, RunKey
from spor_tasks.results.schema import Adapter
from spor_tasks.results.tables import Grid, Number
from tests.support import attribute_runs

GAP = "mctg_acc_comp - mctg_acc_id"


def specs(corpus: str, protocol: str) -> list[SetSpec]:
    return [
        COMPMCTG.find(spec.name._replace(part=part))
        for spec in COMPMCTG.sets()
        if spec.name[1:3] == (corpus, protocol)
        for part in spec.splits or (None,)
    ]


def row(
    spec: SetSpec,
    metric: str,
    *values: float,
    seeds: tuple[int | None, ...] | None = None,
    n: int = 10,
) -> Comparison:
    """Return what one model scored, trained on the arm with seeds from 0."""
    seeds = tuple(range(len(values))) if seeds is None else seeds
    runs = tuple((Path(f"{spec.task} {spec.name.part} {seed}"), "") for seed in seeds)
    cell = Cell(values, seeds, runs, reason=None if values else "no result")
    return Comparison(
        spec=spec,
        variant="",
        task=spec.task,
        model="base",
        metric=metric,
        n=n,
        arms=(cell,),
        as_is=Cell(reason="no result"),
        difference=None,
    )


def of_halves(spec: SetSpec, seen: float, comp: float, gap: float = 0) -> Iterator[Comparison]:
    """Yield the rows of a split, with the gap that its own texts have."""
    for metric, value in (
        ("mctg_acc", (seen + comp) / 2),
        ("mctg_acc_id", seen),
        ("mctg_acc_comp", comp),
        ("mctg_gap", gap or 100 * (seen - comp) / seen),
        (GAP, comp - seen),
    ):
        yield row(spec, metric, value)


def evidence_of(rows: Iterable[Comparison]) -> Evidence:
    """Return samples that all have the score of their run, or that of their half."""
    scores: dict[RunKey, dict[str, float]] = defaultdict(dict)
    sizes = {}
    for each in (row for row in rows if not row.published):
        for cell in (*each.arms, each.as_is):
            for run, value in zip(cell.runs, cell.values, strict=True):
                scores[run][each.metric], sizes[run] = value, each.n
    return Evidence({run: logged(of, sizes[run]) for run, of in scores.items()})


def logged(of: Mapping[str, float], n: int) -> Logged:
    ids = tuple(f"{number:03}" for number in range(n))
    columns = {
        metric: Column.of([value] * n) for metric, value in of.items() if "dist" not in metric
    }
    if {"mctg_acc_id", "mctg_acc_comp"} <= of.keys():
        seen, comp = [of["mctg_acc_id"]] * (n // 2), [of["mctg_acc_comp"]] * (n // 2)
        columns = {
            "mctg_acc": Column.of([*seen, *comp]),
            "mctg_acc_id": Column.of([*seen, *[None] * len(comp)], COUNTED_MEAN),
            "mctg_acc_comp": Column.of([*[None] * len(seen), *comp], COUNTED_MEAN),
            "mctg_gap": Column.of(
                [*((value, 1, 0, 0) for value in seen), *((0, 0, value, 1) for value in comp)],
                RELATIVE_GAP,
            ),
        }
        columns[GAP] = columns["mctg_acc_comp"].less(columns["mctg_acc_id"])
    return Logged(ids, np.arange(n), columns, ids)


def results_of(rows: Iterable[Comparison]) -> list[Run]:
    """Return the results that these rows are of, by file."""
    results: dict[tuple[str, RunKey], Run] = {}
    for each in (row for row in rows if not row.published):
        for cell in (*each.arms, each.as_is):
            is_tuned = cell is not each.as_is
            for run, seed, value in zip(cell.runs, cell.seeds, cell.values, strict=True):
                adapter = Adapter("train", None, seed, "a" * 64, None) if is_tuned else None
                result = results.get((each.model, run)) or Run(
                    file=run[0],
                    key=run[1],
                    task=each.task,
                    comparison=f"{each.task} {each.spec.part_title or ''}".strip(),
                    variant="",
                    spec=each.spec,
                    model=each.model,
                    adapter=adapter,
                    shown_arm=None,
                    scores={},
                    n=each.n,
                    prompts_cut=None,
                    signature={"quantization": "None"},
                )
                results[each.model, run] = replace(
                    result, scores={**result.scores, each.metric: value}
                )
    return list(results.values())


def put_together(
    rows: Iterable[Comparison], evidence: Evidence | None = None
) -> tuple[tuple[Comparison, ...], list[Problem]]:
    rows = tuple(rows)
    runs, values, problems = pooled(results_of(rows), evidence or evidence_of(rows))
    found, _ = comparisons(runs, Evidence(values))
    return (*found, *(each for each in rows if each.published)), problems


def together(rows: Iterable[Comparison]) -> tuple[Comparison, ...]:
    return put_together(rows)[0]


def grids_of(rows: Iterable[Comparison]) -> tuple[Grid, ...]:
    return tuple(COMPMCTG.grids(together(rows)))


def line(grid: Grid, name: str) -> Mapping[str, str]:
    """Return the numbers of a row by column."""
    (found,) = (each for each in (*grid.runs, *grid.paper) if each[0] == name)
    return {
        header: cell.value
        for header, cell in zip(grid.header, found, strict=True)
        if isinstance(cell, Number)
    }


def noted(grid: Grid, name: str, column: str) -> list[str]:
    (found,) = (each for each in (*grid.runs, *grid.paper) if each[0] == name)
    cell = found[grid.header.index(column)]
    assert isinstance(cell, Number)
    return [grid.notes[number - 1] for number in cell.notes]


# --- Splits together ------------------------------------------------------------------------------


def test_accuracies_are_means_over_splits_and_the_gap_is_theirs() -> None:
    first, second, *_ = specs("yelp", "acd")
    rows = [*of_halves(first, 80, 40), *of_halves(second, 60, 54)]
    found = {each.metric: each.arms[0].mean for each in together(rows)}
    assert found["mctg_acc_id"] == 70
    assert found["mctg_acc_comp"] == 47
    assert found["mctg_gap"] == pytest.approx(100 * (70 - 47) / 70)  # not the mean of 50 and 10
    assert found[GAP] == -23
    assert {each.part for each in together(rows)} == {None}


def test_splits_are_weighed_by_their_texts() -> None:
    first, second, *_ = specs("yelp", "acd")
    (found,) = together([row(first, "mctg_acc", 80.0, n=30), row(second, "mctg_acc", 40.0, n=10)])
    assert found.arms[0].mean == 70
    assert found.n == 40


def test_the_interval_is_over_the_seeds_that_every_split_has() -> None:
    first, second, *_ = specs("yelp", "acd")
    rows = [row(first, "mctg_acc", 80.0, 82.0, 84.0), row(second, "mctg_acc", 60.0, 62.0)]
    (found,) = together(rows)
    cell = found.arms[0]
    assert (cell.values, cell.seeds) == ((70.0, 72.0), (0, 1))
    assert cell.interval is not None
    assert cell.interval.source == "runs"
    assert cell.interval.low < 71 < cell.interval.high
    assert any("seeds" in note for note in cell.notes)


def test_a_single_seed_has_an_interval_over_the_samples_of_all_splits() -> None:
    first, second, *_ = specs("yelp", "acd")
    rows = {
        each.metric: each
        for each in together([*of_halves(first, 80, 40), *of_halves(second, 60, 54)])
    }
    for metric in ("mctg_acc", "mctg_gap", GAP):
        cell = rows[metric].arms[0]
        assert cell.interval is not None
        assert cell.interval.source == "samples"
        assert cell.interval.low - 1e-4 <= cell.values[0] <= cell.interval.high + 1e-4
        # All samples of a half are alike, so that only scores of both halves vary.
        assert (cell.interval.high - cell.interval.low > 1) is (metric == "mctg_acc")


def test_splits_without_a_common_seed_have_no_score() -> None:
    first, second, *_ = specs("yelp", "acd")
    rows = [row(first, "mctg_acc", 80.0, seeds=(0,)), row(second, "mctg_acc", 60.0, seeds=(7,))]
    found, problems = put_together(rows)
    assert found == ()
    assert "no training seed" in str(problems[0])


def test_without_samples_splits_are_not_put_together() -> None:
    first, second, *_ = specs("yelp", "acd")
    rows = [row(first, "mctg_acc", 80.0), row(second, "mctg_acc", 60.0)]
    (found, *_), _ = put_together(rows, Evidence({}))
    assert "--log_samples" in (found.arms[0].reason or "")


def test_the_same_thing_under_another_split_is_another_thing() -> None:
    """So the gap of both splits is the mean of theirs, weighed by what their halves share."""
    of = [
        [(0.0, 7.0, 100.0), (1.0, 7.0, 25.0)],
        [(0.0, 7.0, 40.0), (0.0, 8.0, 9.0), (1.0, 7.0, 30.0)],
    ]
    columns = [Column.of(values, GAP_OF_SAME) for values in of]
    found = Column.joined(columns)
    assert found.value == (75 + 10) / 2
    assert found.scored.all()


def test_a_table_says_what_a_system_scores_that_reads_no_code() -> None:
    rows = [row(spec, name, 40.0) for spec in specs("compmctg_mini", "acd") for name in SHOWN]
    (grid, *_) = grids_of(rows)
    assert "53.7 i.d., 35.2 comp." in grid.caption
    assert line(grid, "base")["Exact gap, same values"] == "+40.00"
    own = COMPMCTG.find(SetName("compmctg", "weather", "acd", "0"))
    (grid, *_) = grids_of([row(own, name, 40.0) for name in ("mctg_acc", "mctg_gap_real")])
    assert "whatever is asked" not in grid.caption


SHOWN = ("mini_acc", "mini_gap_real")


def test_missing_splits_are_told() -> None:
    splits = specs("yelp", "acd")
    (grid, *_) = grids_of(of_halves(splits[3], 80, 40))
    assert line(grid, "base")["Gap"] == "+50.00"
    assert f"1 of {len(splits)} splits" in grid.caption
    assert not noted(grid, "base", "Accuracy")


def test_a_model_that_lacks_splits_of_another_is_told() -> None:
    splits = specs("yelp", "acd")
    other = (replace(each, model="other") for each in of_halves(splits[1], 80, 40))
    rows = [*of_halves(splits[0], 80, 40), *of_halves(splits[1], 80, 40), *other]
    (grid, *_) = grids_of(rows)
    assert f"2 of {len(splits)} splits" in grid.caption
    assert noted(grid, "other", "Accuracy") == ["1 of 2 splits"]


def test_a_model_that_was_read_under_all_splits_is_beside_those_of_single_ones() -> None:
    splits = specs("yelp", "acd")
    whole = COMPMCTG.find(SetName("compmctg", "yelp", "acd"))
    untuned = [
        replace(each, arms=(Cell(reason="none"),), as_is=replace(each.arms[0], seeds=(None,)))
        for each in of_halves(whole, 50, 40)
    ]
    (main, _) = grids_of([*untuned, *(r for spec in splits for r in of_halves(spec, 80, 40))])
    lines = {each[1]: each for each in main.runs}
    found = {
        arm: [cell.value for cell in of if isinstance(cell, Number)] for arm, of in lines.items()
    }
    assert found == {
        "as is": ["45.00", "50.00", "40.00", "+20.00"],
        "train": ["60.00", "80.00", "40.00", "+50.00"],
    }
    assert "all 10 splits together" in main.caption
    (alone, _) = grids_of(untuned)
    assert "all 10 splits together" in alone.caption
    assert [each[1] for each in alone.runs] == ["as is"]


def test_where_no_text_is_right_there_is_no_gap() -> None:
    first, second, *_ = specs("yelp", "acd")
    rows = [*of_halves(first, 0, 0, 1), *of_halves(second, 0, 0, 1)]
    assert "mctg_gap" not in {each.metric for each in together(rows)}


def test_a_protocol_has_one_line_for_a_model_beside_the_published_ones() -> None:
    rows = [each for spec in specs("yelp", "acd") for each in of_halves(spec, 80, 40)]
    main, others = grids_of([*rows, *COMPMCTG.published(rows)])
    assert main.header[2:6] == ("Accuracy", "Accuracy, i.d.", "Accuracy, comp.", "Gap")
    assert [each[0] for each in main.runs] == ["base"]
    assert list(line(main, "base").values()) == ["60.00", "80.00", "40.00", "+50.00"]
    assert line(main, "Meta-CTRL")["Accuracy, comp."] == "78.27"
    assert line(main, "Meta-CTRL")["Gap"] == f"{100 * (86.11 - 78.27) / 86.11:+.2f}"
    assert len(main.paper) == 6
    assert others.paper == ()
    assert "Accuracy, comp. − i.d." in others.header


def test_protocols_without_published_scores_have_no_such_rows() -> None:
    spec = specs("mixture", "holdout")[0]
    assert {each.model for each in COMPMCTG.published([row(spec, "mctg_acc", 1.0)])} == {
        line["model"] for line in published_lines("compmctg")[spec.name._replace(part=None)]
    }
    assert COMPMCTG.published([row(specs("yelp", "fewshot")[0], "mctg_acc", 1.0)]) == ()


# --- Averages over datasets -----------------------------------------------------------------------


def of_all_datasets() -> list[Comparison]:
    rows = []
    for number, corpus in enumerate(("fyelp", "amazon", "yelp", "mixture")):
        rows.append(row(specs(corpus, "original")[0], "mctg_acc", 80.0 + number))
        for protocol in ("holdout", "acd", "fewshot"):
            for spec in specs(corpus, protocol):
                rows += of_halves(spec, 80 + number, 60 - 10 * (protocol == "fewshot"))
    return rows


def test_averages_are_over_datasets_first() -> None:
    whole, few = COMPMCTG.overall(together(of_all_datasets()))
    found = line(whole, "base")
    assert found["Original"] == found["Hold-Out i.d."] == "81.50"
    assert found["Hold-Out comp."] == "60.00"
    assert found["ACD comp."] == "55.00"  # Amazon's and Mixture's are those of Few-Shot
    expected = fmean([100 * (81.5 - 60) / 81.5, 100 * (81.5 - 55) / 81.5])
    assert found["Gap, average"] == f"{expected:.2f}"
    assert found["PPL, average"] == ""
    assert line(few, "base")["Few-Shot comp."] == "50.00"
    assert line(whole, "CTRL")["Gap, average"] == "7.46"
    assert noted(whole, "Dis-Lens", "Gap, average")[0].endswith("38.30")
    assert line(few, "LLaMA-2")["Few-Shot i.d."] == "62.78"


def test_there_are_no_averages_of_some_datasets() -> None:
    rows = [each for each in of_all_datasets() if each.spec.name.corpus != "amazon"]
    assert list(COMPMCTG.overall(together(rows))) == []


# --- From result files ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write results of a system that is right on the first split, and silent on the others."""
    return attribute_runs.write(tmp_path_factory.mktemp("compmctg"))


@pytest.fixture(scope="module")
def whole(runs: Path) -> Report:
    return report.collect([runs])


def test_results_of_all_splits_are_one_line(whole: Report) -> None:
    assert not [problem for problem in whole.problems if problem.lost]
    main, others = (grid for table in whole.tables for grid in grids(table))
    share = 100 / len(specs("compmctg_mini", "acd"))
    assert line(main, "base")["Exact accuracy"] == f"{share:.2f}"
    assert line(main, "base")["Exact gap"] == "+0.00"
    assert line(others, "base")["Exact accuracy, topic"] == f"{share:.2f}"
    assert "splits together" in main.caption
    document = tables.document(whole)
    for text in (markdown(document), latex(document), plain_text(document)):
        assert "Exact accuracy, comp." in text


def test_a_sample_shows_what_each_classifier_says(runs: Path) -> None:
    text = terminal(exhibit(runs / "0", "0"))
    assert "judged as: sentiment Negative, tense Past (requested: Present), topic Food" in text
    assert "unit missing" in text
    assert "not located" not in text
    assert "judged as" not in terminal(exhibit(runs / "0", "1"))
    harmful = terminal(exhibit(runs / "0", "2"))
    assert "(requested: Travel)" in " ".join(harmful.split())
    assert not {*harmful} & {"\x1b", "\r"}


def test_both_halves_of_a_protocol_are_drawn_with_the_gap_of_their_means() -> None:
    rows = [
        each
        for number, spec in enumerate(specs("yelp", "acd"))
        for each in of_halves(spec, 80 + number, 60 - number)
    ]
    assert "halves" not in {
        plot.name for plot in draw([row(specs("yelp", "original")[0], "mctg_acc", 80.0)], ())
    }
    (found,) = (plot for plot in draw(rows, ()) if plot.name == "halves")
    seen, comp = 80 + fmean(range(10)), 60 - fmean(range(10))
    assert f"+{100 * (seen - comp) / seen:.1f} %" in found.svg
    assert "CompMCTG Yelp, ACD: Accuracy" in found.svg
