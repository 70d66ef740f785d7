"""Metrics by models: the items that a model reads, and the scores that its answers make."""

from collections.abc import Sequence
from typing import Any

import pytest

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.sample import AttributeValue, Column, DataUnit, Sample, Triple
from spor_tasks.core.table import Table
from spor_tasks.metrics.entailment import flattened, rows_of
from spor_tasks.metrics.learned import Attributes, Bleurt, Facts, Learned, NliAcc, TextPerplexity
from spor_tasks.metrics.readers import label_of
from tests.support import totto
from tests.support.scores import judge, scores_of, values_of

PORT = Triple("Old_Port", "built by", 'A "B" C')
FOOD = AttributeValue("food", "Basque")
HEADER = ["city", "people", "area"]
ROWS = [["oslo ås", "7", "1.5"], ["bergen", "3", ""]]


class Fixed:
    """A model that answers with the same numbers, in order, and keeps what it reads."""

    signature = "model:fixed"

    def __init__(self, *answers: float | None) -> None:
        self.answers, self.items = answers, list[Any]()

    def __call__(self, items: Sequence[Any]) -> Sequence[Any]:
        self.items += items
        return self.answers[: len(items)]


def about(*units: DataUnit, **context: str) -> Sample:
    return Sample("1", "invented", units, (), context)


def stated(
    header: Sequence[str] = HEADER, rows: Sequence[Sequence[str]] = ROWS, number: str = "0"
) -> Sample:
    table = Table(tuple(header), tuple(map(tuple, rows)))
    units = (Column("city", "0"),)
    return Sample(number, "logicnlg", units, ("A city .",), {"title": "norway", "table": table})


RATED = totto.sample("Ann won 7 times .", "Ann has 7 wins .")
CONTINUED = Sample("1", "yelp", (FOOD,), (), {"prefix": "a b c", "unseen": True})


@pytest.mark.parametrize(
    ("metric", "sample", "output", "items"),
    [
        (Facts, about(PORT), "A built it.", [("A built it.", "Old Port, built by, A B C")]),
        (Facts, about(FOOD, name="The_Gull"), "It is.", [("It is.", "The Gull, food, Basque")]),
        (Facts, about(FOOD), "It is.", [("It is.", "food, Basque")]),
        (
            Bleurt,
            RATED,
            "ANN 's win",
            [("ann won 7 times.", "ann's win"), ("ann has 7 wins.", "ann's win")],
        ),
        (NliAcc, stated(), "It is .", [(stated(), "It is .")]),
        (TextPerplexity, CONTINUED, " x" * 7, ["a b c" + " x" * 7]),
        (TextPerplexity, CONTINUED, " x" * 6, []),  # nine words
        *((Facts, about(PORT), output, []) for output in ("", "\n\t", "…!")),
        (NliAcc, stated(), ". ,", []),
        (NliAcc, stated(rows=[]), "Oslo is a city .", []),
        (NliAcc, stated(rows=[["a", "b", "c", "d"]]), "Oslo is a city .", []),
    ],
)
def test_items(metric: type[Learned], sample: Sample, output: str, items: list[Any]) -> None:
    model = Fixed(*[0.9] * 9)
    judge(metric(model), sample, output)
    assert model.items == items


def test_tapex_reads_cells_as_they_are_and_short_rows_with_empty_ends() -> None:
    assert flattened(HEADER, rows_of(stated())) == (
        "col : city | people | area row 1 : oslo ås | 7 | 1.5 row 2 : bergen | 3 | "
    )
    header = ["city", "city"]
    rows = rows_of(stated(header, [["oslo"], ["a", "b"]]))
    assert rows == [("oslo", ""), ("a", "b")]
    assert flattened(header, rows).startswith("col : city | city row 1 : oslo | ")


def test_a_unit_is_expressed_if_its_probability_is_above_one_half() -> None:
    metric = Facts(Fixed(0.500049, 0.50006, 0.2, 1.0))
    values, details = judge(metric, about(*[PORT] * 4), "Something.")
    assert values == {"facts": 50.0}
    assert details == {**values, "told": (0.5, 0.5001, 0.2, 1.0), "untold": (0, 2)}
    silent = judge(metric, about(PORT, PORT), "…").details
    assert (silent["facts"], silent["told"], silent["untold"]) == (0, (0.0, 0.0), (0, 1))
    assert metric.signature.startswith("facts|model:fixed|format:nli|v:")


def test_an_output_is_entailed_if_its_probability_is_above_one_half() -> None:
    metric = NliAcc(Fixed(0.5, 0.50011, None, 0.9, 0.10004))
    judgements = metric.judge([stated()] * 6, [("It is .",)] * 5 + [("…",)])
    assert [each.values["nli_acc"] for each in judgements] == [0, 100, None, 100, 0, 0]
    (score,) = scores_of(metric, judgements)
    assert (score.value, score.n, score.unscored) == (40, 5, 1)
    assert metric.signature.startswith("nli_acc|model:fixed|")


@pytest.mark.parametrize("rows", [[], [["a", "b", "c", "d"]]])
@pytest.mark.parametrize("output", ["", "Oslo is a city ."])
def test_a_table_that_cannot_be_read_has_no_verdict(rows: list[list[str]], output: str) -> None:
    assert judge(NliAcc(Fixed()), stated(rows=rows), output).details == {"nli_acc": None}


def test_a_rating_is_the_mean_over_references_and_a_short_text_has_no_perplexity() -> None:
    assert judge(Bleurt(Fixed(0, 1)), RATED, "x").values == {"bleurt": 0.5}
    metric = TextPerplexity(Fixed(19.0))
    short, long = (judge(metric, CONTINUED, " x" * number) for number in (6, 7))
    assert short.values == {"mctg_ppl": None}
    assert values_of(metric, CONTINUED, long) == {"mctg_ppl": 19, "mctg_ppl_comp": 19}


@pytest.mark.parametrize("metric", [Facts, NliAcc, Bleurt, Attributes, TextPerplexity])
def test_without_a_model_the_error_names_the_option(metric: type[Learned]) -> None:
    with pytest.raises(ConfigError) as error:
        judge(metric(), about(PORT), "Something.")
    assert f"--metric {metric.name} --" in str(error.value.remedy)


CLASSES: list[tuple[str, str | int | None, int | None]] = [
    ("CONTRADICTION NEUTRAL ENTAILMENT", None, 2),
    ("entailment not_entailment", None, 0),
    ("REFUTES SUPPORTS", None, 1),
    ("LABEL_0 LABEL_1", None, 1),
    ("LABEL_0", None, 0),
    ("score", None, 0),
    ("entailment neutral", "Neutral", 1),
    ("LABEL_0 LABEL_1 LABEL_2", "0", 0),
    ("LABEL_0 LABEL_1 LABEL_2", 2, 2),
    ("1 0", "0", 1),
    ("LABEL_0 LABEL_1 LABEL_2", None, None),
    ("true false", None, None),
    ("entailment supported", None, None),
    ("neutral contradiction not_entailment", None, None),
    *(("no yes", requested, None) for requested in ("maybe", "2", -1, "")),
]


@pytest.mark.parametrize(("labels", "requested", "index"), CLASSES)
def test_classes_are_named(labels: str, requested: str | int | None, index: int | None) -> None:
    if index is not None:
        assert label_of(labels.split(), requested) == index
        return
    with pytest.raises(ConfigError) as error:
        label_of(labels.split(), requested)
    assert all(f"{i} {label}" in str(error.value) for i, label in enumerate(labels.split()))
    if requested is None:
        assert "--label 0" in str(error.value.remedy)
        assert "facts_label" in str(error.value.remedy)
