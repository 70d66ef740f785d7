"""The published numbers: each is a score of our sets, can be true, and fits the others."""

from collections import defaultdict

import pytest

from spor_tasks.core import named
from spor_tasks.core.contracts import Gap
from spor_tasks.metrics.scores import info_of
from spor_tasks.report.averages import derived, relative_gap
from spor_tasks.report.published import lines

BENCHMARKS = ("spor", "totto", "logicnlg", "compmctg")
AVERAGES = "averages"
SPECS = {spec.task: spec for spec in named.available()}


def by_model(benchmark, name):
    """Return the scores of each system and arm."""
    found = defaultdict(dict)
    for line in lines(benchmark)[name]:
        found[line["model"], line["arm"]][line["metric"]] = float(line["value"])
    return found


SETS = [(each, name) for each in BENCHMARKS for name in lines(each) if name != AVERAGES]


@pytest.mark.parametrize(("benchmark", "name"), SETS)
def test_numbers_are_scores_of_our_sets(benchmark, name):
    spec = SPECS[name]
    assert spec.benchmark == benchmark
    for (_, arm), scores in by_model(benchmark, name).items():
        assert arm in spec.arms
        shown = {str(score): score for score in spec.judging.displayed}
        assert scores.keys() <= shown.keys()
        for metric, value in scores.items():
            info = info_of(shown[metric])
            assert info.low <= value <= info.high
            if metric == "mctg_gap":
                halves = (scores[f"mctg_acc_{half}"] for half in ("id", "comp"))
                assert value == pytest.approx(relative_gap(*halves))
            elif isinstance(gap := shown[metric], Gap):
                assert value == pytest.approx(scores[str(gap.first)] - scores[str(gap.second)])


def test_shares_of_spor_add_up():
    for name in lines("spor"):
        for scores in by_model("spor", name).values():
            if SPECS[name].sets.aspect == "rule_learnability":
                assert sum(scores.values()) == pytest.approx(100, abs=0.03)
            for kind in ("fidelity", "ordering"):
                assert scores.get(f"{kind}_pbh", 0) + scores.get(f"{kind}_poh", 0) <= 100


def test_averages_are_those_of_their_rows_but_for_the_papers_slips():
    for (model, _), printed in by_model("compmctg", AVERAGES).items():
        notes = {
            line["metric"]: float(line["note"].split()[-1])
            for line in lines("compmctg")[AVERAGES]
            if line["model"] == model and line["note"]
        }
        for column, value in derived(printed).items():
            fits = abs(value - printed[column]) < 0.0051
            assert fits or value == pytest.approx(notes[column], abs=0.0051)
        remade = derived({**printed, **notes})
        for column in ("acc", "ppl", "gap") if model == "DCG" else ():
            assert remade[column] == pytest.approx(notes[column], abs=0.0051)
