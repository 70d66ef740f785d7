"""Accuracy by classifiers and perplexity as published, by tiny models, and Dist-3 of all texts."""

import copy
import json
import math
import random
from ast import literal_eval
from statistics import fmean

import pytest
import torch

from spor_tasks.core.errors import ConfigError, ResultError
from spor_tasks.core.files import read_rows
from spor_tasks.core.named import find
from spor_tasks.core.sample import AttributeValue, Sample
from spor_tasks.metrics.distinct import DISTINCT
from spor_tasks.metrics.judges import judges
from spor_tasks.metrics.learned import Attributes
from spor_tasks.metrics.scores import score_info
from spor_tasks.metrics.tally import Column
from spor_tasks.metrics.totals import RELATIVE_GAP
from spor_tasks.results.facts import Declared
from spor_tasks.results.samples import alone
from tests.support import golden
from tests.support.classifiers import Judge, save_bert, save_gpt2, save_published
from tests.support.scores import judge, scores_of


def requesting(*, unseen=None, prefix="", **values):
    context = {"prefix": prefix} | ({} if unseen is None else {"unseen": unseen})
    units = tuple(AttributeValue(*unit) for unit in values.items())
    return Sample("0", "yelp", units, (), context)


@pytest.fixture(scope="module")
def printed(golden_dir):
    return json.loads((golden_dir / "compmctg" / "eval_Yelp.json").read_bytes())


@pytest.fixture(scope="module")
def rows(golden_dir):
    return golden.read(golden_dir / "compmctg", "eval_Yelp", rows=48)


@pytest.fixture(scope="module")
def classifiers(printed, tmp_path_factory):
    folder = tmp_path_factory.mktemp("classifiers")
    config, keys = printed["roberta_config"], printed["checkpoint_keys"]
    for name, seed in printed["classifier_seeds"].items():
        save_published(folder / name.partition("/")[2], config, keys, seed)
    return folder


def test_accuracies_rounded_as_published(classifiers, printed, rows):
    metric = judges.attributes(str(classifiers), device="cpu", batch_size=7)
    samples = [requesting(**row["labels"]) for row in rows]
    judgements = metric.judge(samples, [(row["text"],) for row in rows])
    values = {"sentiment": ["Negative", "Positive"], "pronoun": ["plural", "singular"]}
    values["tense"] = ["Present", "Past"]
    for row, each in zip(rows, judgements, strict=True):
        assert each.details["said"] == {a: values[a][row["clf"][a]["pred"]] for a in values}
    scores = {score.name: score.value for score in scores_of(metric, judgements)}
    rounded = {name: round(value / 100, 4) for name, value in scores.items()}
    published = {}
    for line in printed["acc_printed"]:
        published |= {f"mctg_{name}": number for name, number in literal_eval(line).items()}
    mean = published.pop("mctg_acc_avg")
    assert published == {name: rounded[name] for name in rounded.keys() - {"mctg_acc"}}
    assert round(fmean(published.values()), 4) == mean
    assert scores["mctg_acc"] == pytest.approx(100 * 66 / 144)  # 45.833; published are 45.84
    for aspect, classifier in judges.aspects(classifiers, "cpu", 16).items():
        of_texts = classifier.judge([row["text"] for row in rows])
        for numbers, row in zip(of_texts, rows, strict=True):
            assert numbers == pytest.approx(row["clf"][aspect]["logits"], abs=1e-4)


def test_perplexities(tmp_path, printed, rows):
    metric = judges.perplexity(str(save_gpt2(tmp_path, 31)), device="cpu", batch_size=5)
    past = requesting(tense="Past")
    judgements = metric.judge([past] * len(rows), [(row["text"],) for row in rows])
    for each, row in zip(judgements, rows, strict=True):
        expected = row["ppl"] and pytest.approx(row["ppl"], rel=1e-4)
        assert each.values["mctg_ppl"] == expected
    (score,) = scores_of(metric, judgements)
    assert score.value == pytest.approx(literal_eval(printed["ppl_printed"])["avg_ppl"], rel=1e-4)
    assert (score.n, score.unscored) == (41, 7)
    assert "weights:" in metric.signature
    with torch.no_grad():  # an impossible token is no verdict
        metric.model.checkpoint.model.lm_head.weight.mul_(1e4)
    text = "It was a day like any other in the town"
    assert judge(metric, past, text).values == {"mctg_ppl": None}


def test_an_error_of_a_judges_own_code_names_its_class(tmp_path, monkeypatch):
    def fail(**_):
        raise KeyError("theirs")

    metric = judges.perplexity(str(save_gpt2(tmp_path, 31)), device="cpu")
    monkeypatch.setattr(metric.model.checkpoint.model, "forward", fail)
    with pytest.raises(ConfigError, match="KeyError: 'theirs'") as error:
        judge(metric, requesting(tense="Past"), "It was a day like any other in the town")
    assert error.value.where == "GPT2LMHeadModel"


PREFIX = "The pizza"


def scores(*cases):
    """Return the scores of texts whose last word is `good` if they are positive, by half."""
    metric = Attributes(Judge(lambda asked: "Positive" if asked[1] == f"{PREFIX} is good" else ""))
    samples = [
        requesting(unseen=unseen, prefix=PREFIX, sentiment="Positive") for unseen, _ in cases
    ]
    found = metric.judge(samples, [(text,) for _, text in cases])
    return {score.name: score.value for score in scores_of(metric, found, samples)}


def test_the_gap_is_relative_to_what_was_seen():
    good, bad = " is good", " is bad"
    values = scores((False, good), (False, good), (False, bad), (True, good), (True, bad))
    expected = {"mctg_acc": 60, "mctg_acc_id": 200 / 3, "mctg_acc_comp": 50, "mctg_gap": 25}
    expected["mctg_acc_sentiment"] = 60
    assert {name: values[name] for name in expected} == pytest.approx(expected)
    # Without halves there is no gap, and without accuracy no number.
    assert scores((None, " …"))["mctg_acc"] == 0
    assert scores((None, " is good")).keys() == {"mctg_acc", "mctg_acc_sentiment"}
    assert math.isnan(scores((False, " is bad"), (True, " is good"))["mctg_gap"])
    assert math.isnan(scores((False, " is good"))["mctg_gap"])


def test_the_error_of_a_gap_is_that_of_a_ratio_of_independent_means():
    seen, unseen = [100.0, 50.0, 100.0, 0.0], [50.0, 100.0, 0.0, 0.0, 50.0]
    values = [*((each, 1, 0, 0) for each in seen), *((0, 0, each, 1) for each in unseen)]
    assert Column.of(values, RELATIVE_GAP).value == pytest.approx(100 * (62.5 - 40) / 62.5)
    spread = [sum((x - fmean(of)) ** 2 for x in of) / len(of) ** 2 for of in (seen, unseen)]
    by_delta = 100 * math.sqrt(spread[1] / 62.5**2 + spread[0] * 40**2 / 62.5**4)
    ours = RELATIVE_GAP.stderr(values) * math.sqrt(8 / 9)  # of all texts one is not free
    assert ours == pytest.approx(by_delta, rel=1e-4)


def test_classes_are_found_by_name_or_in_the_published_order(tmp_path):
    save_bert(tmp_path / "named" / "tense", labels=("PAST", "present"))
    save_bert(tmp_path / "unnamed" / "tense")
    for name, values in (("named", ("Past", "Present")), ("unnamed", ("Present", "Past"))):
        assert judges.aspects(tmp_path / name, "cpu", 1)["tense"].values == values
    metric = judges.attributes(str(tmp_path / "named"), device="cpu")
    value = judge(metric, requesting(tense="past"), "was").details["said"]["tense"]
    assert value in {"past", "Present"}  # as requested
    for sample in (requesting(sentiment="Positive"), requesting(tense="Future")):
        with pytest.raises(ConfigError) as error:
            judge(metric, sample, "was")
        assert error.value.remedy


def test_folders_without_sound_models_are_refused(tmp_path, printed):
    save_bert(tmp_path / "mood" / "mood", labels=("LABEL_0", "LABEL_1", "LABEL_2"))
    broken = save_bert(tmp_path / "broken" / "tense")
    next(broken.glob("*.safetensors")).write_bytes(b"no")
    keys = [key for key in printed["checkpoint_keys"] if "pooler" not in key]
    save_published(tmp_path / "lacks" / "tense", printed["roberta_config"], keys, 0)
    (tmp_path / "empty").mkdir()
    for name in ("mood", "broken", "lacks", "empty", "none"):
        fault = r"classifier\.dense" if name == "lacks" else None
        with pytest.raises(ConfigError, match=fault) as error:
            judges.attributes(str(tmp_path / name), device="cpu")
        assert error.value.where
    with pytest.raises(ConfigError) as error:
        judges.perplexity(str(tmp_path))
    assert error.value.remedy


TOTALS = score_info("dist_3").totals


def value(text, *, prefix=""):
    sample = Sample("0", "yelp", (AttributeValue("tense", "Past"),), (), {"prefix": prefix})
    return DISTINCT.judge_one(sample, text).values["dist_3"]


def test_it_is_different_ngrams_over_all_of_them():
    draw = random.Random(0)
    texts = [" ".join(draw.choices(["a", "b", "c", "A", "a."], k=n % 9)) for n in range(40)]
    grams = [words[i : i + 3] for words in map(str.split, texts) for i in range(len(words) - 2)]
    expected = len(set(map(tuple, grams))) / len(grams)
    for _ in range(3):
        assert TOTALS.value([*map(value, texts)]) == expected
        draw.shuffle(texts)
    assert math.isnan(TOTALS.stderr([]))
    assert TOTALS.value([value(text, prefix="The") for text in (" a b", " a c", " a b")]) == 2 / 3


@pytest.mark.parametrize(
    ("corpus", "dist"), [("Amazon", 0.851), ("Fyelp", 0.819), ("Mixture", 0.884), ("Yelp", 0.874)]
)
def test_dist_3_of_the_published_texts(golden_dir, corpus, dist):
    file = golden_dir.parent / "data" / "CompMCTG" / "test_cases" / f"cases_{corpus}.jsonl"
    values = [value(row["text"]) for _, row in read_rows(file)]
    assert TOTALS.value(values) == pytest.approx(dist, abs=5e-4)


def test_words_are_not_logged_but_kept_by_a_copy():
    own = value("a b a b a")
    assert json.dumps(own) == "[2, 3]"
    assert TOTALS.value([own, copy.deepcopy(own)]) == 2 / 6
    assert TOTALS.value([(2, 3), (2, 3)]) == 4 / 6
    assert (TOTALS.is_logged, TOTALS.resampled) == (False, False)
    with pytest.raises(ResultError):
        Column.of([3.0], TOTALS)
    declared = Declared.of(find("compmctg", "yelp", "original"))
    assert alone(declared, "dist_3", value("a b " * 50)) == 2 / 98


def test_a_folder_of_classifiers_that_was_being_replaced_is_found(tmp_path):
    (tmp_path / ".found.old").mkdir()
    with pytest.raises(ConfigError, match="has no classifiers"):
        judges.aspects(tmp_path / "found", "cpu", 1)
    assert (tmp_path / "found").is_dir()
