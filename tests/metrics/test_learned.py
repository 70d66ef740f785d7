# ruff: noqa: PD011 - the values are not those of pandas
"""Metrics by models: inputs and scores; judges of tables and texts against transformers."""

import logging
from functools import cache

import pandas as pd
import pytest
import torch
import transformers

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.sample import AttributeValue, Column, Sample, Triple
from spor_tasks.core.table import Table
from spor_tasks.core.weights import digest_weights
from spor_tasks.evaluation.score import metric
from spor_tasks.metrics.judges import checkpoints, judges
from spor_tasks.metrics.judges.encoders import flattened, rows_of
from spor_tasks.metrics.judges.judges import label_of
from spor_tasks.metrics.learned import Attributes, Bleurt, ExpressedFacts, NliAcc, TextPerplexity
from spor_tasks.metrics.parent_totto import prepared
from tests.support.classifiers import save_bert, save_tapas, save_tapex
from tests.support.scores import judge, predictions_of, scores_of, values_of
from tests.support.totto import sample

PORT = Triple("Old_Port", "built by", 'A "B" C')
FOOD = AttributeValue("food", "Basque")
HEADER = ["city", "people", "area"]
ROWS = [["oslo ås", "7", "1.5"], ["bergen", "3", ""]]


class Fixed:
    """A model that predicts the same numbers, in order, and keeps what it reads."""

    signature = "model:fixed"

    def __init__(self, *predictions):
        self.predictions, self.inputs = predictions, []

    def __call__(self, inputs):
        self.inputs += inputs
        return self.predictions[: len(inputs)]


def about(*units, **context):
    return Sample("1", "invented", units, (), context)


def stated(header=HEADER, rows=ROWS, number="0"):
    table = Table(tuple(header), tuple(map(tuple, rows)))
    units = (Column("city", "0"),)
    return Sample(number, "logicnlg", units, ("A city .",), {"title": "norway", "table": table})


RATED = sample("Ann won 7 times .", "Ann has 7 wins .")
SECOND = ("ann has 7 wins.", "ann's win")
CONTINUED = Sample("1", "yelp", (FOOD,), (), {"prefix": "a b c", "unseen": True})


@pytest.mark.parametrize(
    ("metric", "sample", "output", "inputs"),
    [
        (
            ExpressedFacts,
            about(PORT),
            "A built it.",
            [("A built it.", "Old Port, built by, A B C")],
        ),
        (
            ExpressedFacts,
            about(FOOD, name="The_Gull"),
            "It is.",
            [("It is.", "The Gull, food, Basque")],
        ),
        (ExpressedFacts, about(FOOD), "It is.", [("It is.", "food, Basque")]),
        (Bleurt, RATED, "ANN 's win", [("ann won 7 times.", "ann's win"), SECOND]),
        (NliAcc, stated(), "It is .", [(stated(), "It is .")]),
        (TextPerplexity, CONTINUED, " x" * 7, ["a b c" + " x" * 7]),
        (TextPerplexity, CONTINUED, " x" * 6, []),  # nine words
        *((ExpressedFacts, about(PORT), output, []) for output in ("", "\n\t", "…!")),
        (NliAcc, stated(), ". ,", []),
        *((NliAcc, stated(rows=rows), "A city .", []) for rows in ([], [["a", "b", "c", "d"]])),
    ],
)
def test_inputs_of_a_model(metric, sample, output, inputs):
    model = Fixed(*[0.9] * 9)
    judge(metric(model), sample, output)
    assert model.inputs == inputs


def test_tapex_reads_cells_as_they_are_and_short_rows_with_empty_ends():
    assert flattened(HEADER, rows_of(stated())) == (
        "col : city | people | area row 1 : oslo ås | 7 | 1.5 row 2 : bergen | 3 | "
    )
    assert rows_of(stated(["city", "city"], [["oslo"], ["a", "b"]])) == [("oslo", ""), ("a", "b")]


def test_a_unit_is_expressed_if_its_probability_is_above_one_half():
    metric = ExpressedFacts(Fixed(0.500049, 0.50006, 0.2, 1.0))
    values, details = judge(metric, about(*[PORT] * 4), "Something.")
    assert values == {"facts": 50.0}
    assert details == {**values, "told": (0.5, 0.5001, 0.2, 1.0), "untold": (0, 2)}
    silent = judge(metric, about(PORT, PORT), "…").details
    assert (silent["facts"], silent["told"], silent["untold"]) == (0, (0.0, 0.0), (0, 1))
    assert metric.signature.startswith("facts|model:fixed|format:nli|v:")


def test_an_output_is_entailed_if_its_probability_is_above_one_half():
    metric = NliAcc(Fixed(0.5, 0.50011, None, 0.9, 0.10004))
    judgements = metric.judge([stated()] * 6, [("It is .",)] * 5 + [("…",)])
    assert [each.values["nli_acc"] for each in judgements] == [0, 100, None, 100, 0, 0]
    (score,) = scores_of(metric, judgements)
    assert (score.value, score.n, score.unscored) == (40, 5, 1)
    assert metric.signature.startswith("nli_acc|model:fixed|")
    for rows in ([], [["a", "b", "c", "d"]]):  # which no model can read
        for output in ("", "Oslo is a city ."):
            details = judge(NliAcc(Fixed()), stated(rows=rows), output).details
            assert details == {"nli_acc": None}


def test_a_rating_is_the_mean_over_references_and_a_short_text_has_no_perplexity():
    assert judge(Bleurt(Fixed(0, 1)), RATED, "x").values == {"bleurt": 0.5}
    metric = TextPerplexity(Fixed(19.0))
    short, long = (judge(metric, CONTINUED, " x" * number) for number in (6, 7))
    assert short.values == {"mctg_ppl": None}
    assert values_of(metric, CONTINUED, long) == {"mctg_ppl": 19, "mctg_ppl_comp": 19}


def test_without_a_model_the_error_names_the_option():
    for judging in (ExpressedFacts, NliAcc, Bleurt, Attributes, TextPerplexity):
        with pytest.raises(ConfigError, match="needs a model") as error:
            judge(judging(), about(PORT), "Something.")
        assert f"--metric {judging.name} --" in str(error.value.remedy)


THREE = "LABEL_0 LABEL_1 LABEL_2"


@pytest.mark.parametrize(
    ("labels", "requested", "index"),
    [
        ("CONTRADICTION NEUTRAL ENTAILMENT", None, 2),
        ("entailment not_entailment", None, 0),
        ("REFUTES SUPPORTS", None, 1),
        ("LABEL_0 LABEL_1", None, 1),
        *((only, None, 0) for only in ("LABEL_0", "score")),
        ("entailment neutral", "Neutral", 1),
        *((THREE, requested, 2) for requested in ("2", 2)),
        ("1 0", "0", 1),
    ],
)
def test_classes_are_named(labels, requested, index):
    assert label_of(labels.split(), requested) == index


@pytest.mark.parametrize(
    ("labels", "requested"),
    [
        *((labels, None) for labels in (THREE, "true false", "entailment supported")),
        ("neutral contradiction not_entailment", None),
        *(("no yes", requested) for requested in ("maybe", "2", -1, "")),
    ],
)
def test_an_unknown_class_is_refused(labels, requested):
    with pytest.raises(ConfigError) as error:
        label_of(labels.split(), requested)
    assert all(f"{i} {label}" in str(error.value) for i, label in enumerate(labels.split()))
    if requested is None:
        assert "--label 0" in str(error.value.remedy)
        assert "facts_label" in str(error.value.remedy)


TABLES = [
    (HEADER, ROWS),
    (["city", "city"], [["oslo", ""], ["bergen"], ["a b", "12 may 2001"]]),
    (["", "x"], [["", ""], ["", "9"]]),
    (["player", "score"], [[f"number {i}", str(i * 7 % 11)] for i in range(12)]),
]
TEXTS = ["Oslo has 7 people .", "no", "bergen is larger </s> [SEP] than oslo", "", "9 of 12 may"]
CLAIMS = [(stated(*table), text) for table in TABLES for text in TEXTS]
SAVED = {"tapas": save_tapas, "tapex": save_tapex}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return {name: save(tmp_path_factory.mktemp(name)) for name, save in SAVED.items()}


def load(folder, **settings):
    return judges.nli_acc(str(folder), **{"device": "cpu", **settings})


def likely(folder, *claims):
    return predictions_of(load(folder), claims)


@cache
def plain_model(folder):
    return transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()


def plain(folder, inputs):
    """Return the logits of one input alone."""
    with torch.no_grad():
        return plain_model(folder)(**inputs).logits[0]


@pytest.mark.parametrize("name", SAVED)
def test_batches_change_no_verdict(folders, name):
    claims = [claim for claim in CLAIMS if claim[1]]
    expected = likely(folders[name], *claims)
    assert None not in expected
    assert max(expected) - min(expected) > 0.05, "the answers must differ"
    metric = load(folders[name], batch_size=7)
    assert predictions_of(metric, claims) == pytest.approx(expected, abs=1e-5)
    assert predictions_of(metric, claims[:1]) == pytest.approx(expected[:1], abs=1e-5)


def test_tapas_reads_a_frame_of_texts_and_tapex_lower_case_and_15_tokens_of_a_cell(folders):
    text = "oslo has 7 people"
    frame = pd.DataFrame({name: [row[i] for row in ROWS] for i, name in enumerate(HEADER)})
    tapas = transformers.AutoTokenizer.from_pretrained(folders["tapas"])
    long = stated(["City"], [["123456789 123456789"]])
    tapex = transformers.BartTokenizer.from_pretrained(folders["tapex"])
    inputs = tapex("oslo ! col : city row 1 : 123456789 12345", return_tensors="pt")
    for name, given, claim in (
        ("tapas", tapas(frame, text, return_tensors="pt"), (stated(), text)),
        ("tapex", inputs, (long, "Oslo !")),
    ):
        expected = torch.softmax(plain(folders[name], given), dim=0)[1].item()
        assert likely(folders[name], claim)[0] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(("name", "most"), [("tapas", 512), ("tapex", 1024)])
def test_the_ends_of_long_tables_and_outputs_are_cut_with_a_warning(folders, name, most, caplog):
    rows, text = [["oslo", str(i), "x"] for i in range(150)], "oslo has 7 people"
    long, longer = stated(rows=rows), stated(rows=[*rows, ["bergen", "7", "y"]])
    with caplog.at_level(logging.WARNING):
        assert likely(folders[name], (stated(), "oslo")) != [None]
        assert caplog.records == []
        of_tables = likely(folders[name], (long, text), (longer, text), (stated(), text))
        of_texts = likely(folders[name], (stated(), "ab " * 700), (stated(), "ab " * 700 + "oslo"))
    assert of_tables[0] == of_tables[1]
    assert of_texts[0] == of_texts[1] is not None
    cuts = [record.args for record in caplog.records if record.name == checkpoints.__name__]
    expected = [(2, 3, most), (2, 2, most)]
    assert [(each[0], each[1], each[3]) for each in cuts if isinstance(each, tuple)] == expected
    for columns in (200, 300) if name == "tapas" else ():  # it cannot read such wide tables
        caplog.clear()
        wide = stated(["name of"] * columns, [["x"] * columns])
        first, second = likely(folders[name], (wide, "oslo"), (stated(), "oslo"))
        assert (first, second is None, bool(caplog.records)) == (None, False, True)


def test_the_signature_names_class_and_format(folders, tmp_path):
    folder = folders["tapex"]
    weights = digest_weights(folder)[:16]
    assert load(folder).signature.startswith(
        f"nli_acc|model:{folder.name}|weights:{weights}|label:Entailed|format:tapex|v:"
    )
    assert "|label:Refused|" in load(folder, label=0).signature
    by_name = metric("nli_acc", model=str(folder), device="cpu")
    assert by_name.signature == load(folder).signature
    assert "|label:ENTAILED|" in load(save_tapas(tmp_path, ("REFUTED", "ENTAILED"))).signature


def test_a_model_of_another_type_or_with_unknown_classes_is_refused(tmp_path):
    of_texts = ("contradiction", "neutral", "entailment")
    for saved in (save_bert(tmp_path / "bert"), save_tapex(tmp_path / "mnli", of_texts)):
        with pytest.raises(ConfigError, match="labels, which reads no tables") as error:
            load(saved)
        assert "google/tapas" in str(error.value.remedy)
    folder = save_tapas(tmp_path / "tapas", ("yes", "no"))
    with pytest.raises(ConfigError, match="0 yes, 1 no") as error:
        load(folder)
    assert "nli_label" in str(error.value.remedy)
    assert "|label:yes|" in load(folder, label="yes").signature


RATINGS = [
    (sample("Ann won 7 times .", "Ann has 7 wins .", overlap=True), "Ann has 7 wins ."),
    (sample("Nobody won .", overlap=False), ""),
    (sample("Ann lost , they say", "Bo won", "Bo beat Ann"), "Ann lost ( again ) to Bo"),
    (sample("8 " * 150, overlap=True), "7 " * 200),
]


def test_ratings_are_those_of_transformers_whatever_the_batch(tmp_path):
    folder = save_bert(tmp_path / "bleurt", labels=("LABEL_0",))
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    expected = []
    for each, text in RATINGS:
        ratings = []
        for reference in each.references:
            pair = [prepared(reference)], [prepared(text.strip())]
            inputs = tokenizer(*pair, truncation=True, max_length=128, return_tensors="pt")
            ratings.append(plain(folder, inputs).item())
        expected.append(sum(ratings) / len(ratings))
    assert max(expected) - min(expected) > 0.05
    samples = [each for each, _ in RATINGS]
    for size in (1, 32):
        metric = judges.bleurt(str(folder), device="cpu", batch_size=size)
        judgements = metric.judge(samples, [(text,) for _, text in RATINGS])
        ratings = [each.details["bleurt"] for each in judgements]
        assert ratings == pytest.approx(expected, abs=1e-4)
    assert "weights:" in metric.signature
    scores = scores_of(metric, judgements, samples)
    assert [score.name for score in scores] == ["bleurt", "bleurt_overlap", "bleurt_nonoverlap"]
    assert [score.n for score in scores] == [4, 2, 1]
    with pytest.raises(ConfigError, match="2 numbers for a pair"):
        judges.bleurt(str(save_bert(tmp_path / "bert")), device="cpu")
