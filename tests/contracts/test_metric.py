"""What holds of every registered metric, on perfect, empty, wrong, repeated and hostile outputs."""

import json
import math
from dataclasses import replace
from typing import NamedTuple

import pytest

from spor_tasks import __version__
from spor_tasks.core import named
from spor_tasks.core.contracts import Gap, Score
from spor_tasks.core.errors import ConfigError, CorpusError
from spor_tasks.core.registry import Entry, Registry, registry
from spor_tasks.core.sample import AttributeValue, Hidden, Orders, Sample, Triple, challenge_of
from spor_tasks.corpora.embedded import COMPMCTG_MINI, LOGICNLG_MINI
from spor_tasks.metrics import scores
from spor_tasks.metrics.base import Metric
from spor_tasks.metrics.groups import TWINS, judge_all
from spor_tasks.metrics.learned import Attributes, Bleurt, ExpressedFacts, NliAcc, TextPerplexity
from spor_tasks.metrics.sacre import TER
from spor_tasks.metrics.scores import info_of, metric, score_info
from spor_tasks.prompts.styles import prompt
from spor_tasks.text.normalize import display
from tests.support import totto
from tests.support.classifiers import Judge, share_of_words
from tests.support.damage import SOAK
from tests.support.scores import scores_of

# Of another corpus, with pairs of attribute and value, of which one is hidden.
TAVERN = Sample(
    "tavern",
    "invented",
    (
        AttributeValue("eat type", "tavern"),
        AttributeValue("family friendly", "yes"),
        AttributeValue("near", "Long Pier"),
    ),
    ("The Mole is a tavern, family friendly (yes), near Long Pier.",),
    {"name": "The Mole"},
    Orders(((0, 1, 2), (2, 1, 0)), ((0, 1, 2),)),
)
PUB = replace(
    TAVERN,
    corpus="e2e",
    units=(AttributeValue("eat type", "pub"), AttributeValue("price range", "cheap")),
    references=("The Mole is a cheap pub.",),
)
PRICED = replace(
    TAVERN,
    units=(AttributeValue("price range", "more than Value A"), AttributeValue("food", "Thai")),
    challenge=Hidden((("price range", "more than Value A"),)),
)


def _in_order(sample):
    """Say whether every reference follows the order of the data, and the first is a sentence."""
    orders = {*challenge_of(sample, Orders).references}
    return orders == {tuple(range(len(sample.units)))} and sample.target.count(".") == 1


_ORDERED = named.load("order_invariance", "mini", part="main").test
TOLD = (TAVERN, *[*filter(_in_order, _ORDERED)][::5][:3])
_HIDING = named.load("rule_learnability", "mini").test
_ONE, _TWO = (next(s for s in _HIDING if len(challenge_of(s, Hidden).phrases) == n) for n in (1, 2))
HIDING = tuple(
    replace(sample, references=(" ".join(display(end) for unit in sample.units for end in unit),))
    for sample in (PRICED, _TWO, _ONE)
)
# One of each kind of logic, all of tables with different people.
STATED = tuple({s.about("logic"): s for s in LOGICNLG_MINI.part("train")[:300:11]}.values())
FOUND = tuple(s for s in STATED if s.about("logic") in {"superlative", "all", "only"})
"""Those that the search and the ranker get right."""
HIGHLIGHTING = tuple(
    totto.sample(text, cells=(row,), highlighted=((0, 0), (0, 1)), title=title, overlap=overlap)
    for title, row, text, overlap in (
        ("Northhaven", ("1203", "Old Basin"), "In 1203 Northhaven got its Old Basin.", True),
        ("Ann Moss", ("mayor", "7 years"), "Ann Moss was the mayor for 7 years.", False),
    )
)
# Texts of different combinations, every third of which is left out of training.
ASKED = tuple(
    replace(sample, context={"unseen": number % 3 == 0})
    for number, sample in enumerate(COMPMCTG_MINI.part("train")[:42:7])
)
SAMPLES = {
    "sp_acc": FOUND,
    **dict.fromkeys(("truth", "nli_acc"), STATED),
    **dict.fromkeys(("totto", "totto_real", "bleurt"), HIGHLIGHTING),
    **dict.fromkeys(("compmctg", "mctg_ppl", "distinct", "mini_attributes"), ASKED),
    "copy_rule": HIDING,
    "slot_errors": (replace(TAVERN, corpus="e2e"), PUB),
}
_ASKED = {sample.target: {unit[-1] for unit in sample.units} for sample in ASKED}


JUDGED = {
    "facts": ExpressedFacts(Judge(share_of_words)),
    "nli_acc": NliAcc(Judge(lambda claim: float(claim[1] == claim[0].target))),
    "bleurt": Bleurt(Judge(lambda pair: 2.0 if pair[0] == pair[1] else -3.0)),
    "compmctg": Attributes(
        Judge(lambda item: item[0][-1] if item[0][-1] in _ASKED.get(item[1], ()) else "")
    ),
    "mctg_ppl": TextPerplexity(Judge(lambda text: 1.0 if text in _ASKED else 1000.0)),
}


class Case(NamedTuple):
    """A metric, and samples that it can judge; their references say what they ask for."""

    metric: Metric
    samples: tuple[Sample, ...]

    @property
    def texts(self):
        return [sample.target for sample in self.samples]

    @property
    def best(self):
        """The score that tells good from bad: one that corrects another, or the first."""
        better = [info for info in self.metric.scores if info.higher_is_better]
        return next((info for info in better if info.corrects), better[0] if better else None)

    def outputs(self, texts):
        return [(text,) * (self.metric.outputs or 1) for text in texts]

    def evidence(self, *sets):
        """What the metric finds in several texts for each sample."""
        found = []
        for texts in sets:
            found += self.metric.judge(self.samples, self.outputs(texts))
        return found

    def scores(self, *sets):
        return {score.name: score for score in scores_of(self.metric, self.evidence(*sets))}

    @property
    def nothing(self):
        return [""] * len(self.samples)


NAMES = tuple(
    name for name in registry().names("metric") if metric(name).answers == "texts"
)  # of likelihoods: tests/metrics/test_likelihood.py


@pytest.fixture(params=NAMES)
def case(request):
    name = request.param
    return Case(JUDGED.get(name) or metric(name), SAMPLES.get(name, TOLD))


# --- What is declared -----------------------------------------------------------------------------


def test_a_score_says_what_it_is_called_where_it_lies_and_what_it_corrects(case):
    for info in case.metric.scores:
        assert info.label
        assert info.title
        assert info.low < info.high
        assert score_info(info.name) == info
        assert info.corrects is None or score_info(info.corrects).higher_is_better == (
            info.higher_is_better
        )
        twin = info_of(Score(info.name, TWINS))
        of_both = replace(info, name=twin.name, label=twin.label, own_title=twin.own_title)
        assert twin == replace(of_both, corrects=info.corrects and str(Score(info.corrects, TWINS)))
        gap = info_of(Gap(Score(info.name), Score(info.name, TWINS)))
        assert (gap.low, gap.high) == (info.low - info.high, info.high - info.low)
    assert case.metric.signature.endswith(f"|v:{__version__}")


def test_an_unknown_score_or_metric_is_an_error_that_says_what_there_is():
    for ask in (score_info, metric):
        with pytest.raises(ConfigError) as caught:
            ask("bert")
        assert "parent" in str(caught.value.remedy)


def test_two_metrics_with_a_score_of_one_name_are_an_error(monkeypatch):
    entries = [Entry("metric", name, "spor_tasks.metrics.chrf:CHRF") for name in ("chrf", "better")]
    monkeypatch.setattr(scores, "registry", lambda: Registry(entries))
    with pytest.raises(ConfigError) as caught:
        scores.score_infos.__wrapped__()
    assert caught.value.remedy


OF_UNITS_ALONE = {"coverage", "cwio", "facts", "compmctg", "mctg_ppl", "distinct", "empty"}


@pytest.mark.parametrize("name", sorted({*NAMES} - OF_UNITS_ALONE))
def test_a_sample_that_lacks_what_a_metric_reads_is_refused(name):
    bare, found = Sample("17", "own", (AttributeValue("a", "b"),), ()), JUDGED.get(name)
    with pytest.raises(CorpusError) as caught:
        (found or metric(name)).judge([bare], [("A text .",) * (metric(name).outputs or 1)])
    assert "sample 17" in str(caught.value.where)


# --- What is measured -----------------------------------------------------------------------------


def test_a_batch_has_the_evidence_of_each_alone(case):
    outputs = case.outputs(case.texts)
    together = list(case.metric.judge(case.samples, outputs))
    backward = list(case.metric.judge(case.samples[::-1], outputs[::-1]))
    alone = [case.metric.judge(*each) for each in zip(zip(case.samples), zip(outputs), strict=True)]
    assert together == backward[::-1] == [evidence for (evidence,) in alone]
    assert list(case.metric.judge([], [])) == []


def test_a_sample_and_its_twin_are_judged_as_each_alone(case):
    pair, outputs = replace(case.samples[0], twin=case.samples[1]), case.outputs(case.texts[:2])
    (both,) = judge_all(case.metric, [pair], [outputs[0] + outputs[1]], ())
    own, twin = case.metric.judge(case.samples[:2], outputs)
    assert both.values == own.values | {
        str(Score(name, TWINS)): twin.values[name] for name in twin.values
    }


def test_what_a_reference_says_scores_in_full(case):
    scores = case.scores(case.texts)
    for info in case.metric.scores:
        if info.higher_is_better is not None and (info.name in scores or not info.of_some):
            full = info.high if info.higher_is_better else info.low
            assert scores[info.name].value == pytest.approx(full, abs=1e-5)


def test_saying_nothing_scores_nothing_and_the_texts_of_others_less(case):
    if (best := case.best) is None:
        pytest.skip("more of it is not better")
    assert case.scores(case.nothing)[best.name].value == best.low
    others = (*case.texts[1:], case.texts[0])
    assert case.scores(others)[best.name].value < best.high / 2


def test_values_are_of_declared_scores_and_all_that_is_logged_is_json(case):
    declared = {info.name: info for info in case.metric.scores}
    for values, details in case.evidence(case.texts, case.nothing):
        assert values.keys() <= declared.keys()
        assert json.loads(json.dumps(values, allow_nan=False)).keys() == values.keys()
        assert details
        json.dumps(details, allow_nan=False)
        shares = {value for name, value in values.items() if declared[name].is_share}
        assert shares <= {0, 100, None}
    scores = case.scores(case.texts, case.nothing)
    for name in (name for name, info in declared.items() if not info.of_some):
        assert scores[name].n + scores[name].unscored == 2 * len(case.samples)


def test_outputs_in_another_order_change_no_bit_and_twice_no_score(case):
    evidence = case.evidence(case.texts, case.nothing)
    once, twice = (scores_of(case.metric, evidence * times) for times in (1, 2))
    assert repr(scores_of(case.metric, [*evidence[::2], *evidence[1::2]])) == repr(once)
    for one, both in zip(once, twice, strict=True):
        if score_info(one.name).totals.resampled:
            assert both.value == pytest.approx(one.value, nan_ok=True)
        assert (both.n, both.unscored) == (2 * one.n, 2 * one.unscored)


def test_no_outputs_are_no_number(case):
    scores = scores_of(case.metric, [])
    assert [s.name for s in scores] == [i.name for i in case.metric.scores if not i.of_some]
    assert all(math.isnan(score.value) and score.n == 0 for score in scores)
    assert {score.signature for score in scores} == {case.metric.signature}


# --- Outputs and samples of every kind ------------------------------------------------------------


def in_range(scores):
    for name, score in scores.items():
        info = score_info(name)
        yield score.n + score.unscored > 0
        yield math.isnan(score.value) or info.low <= score.value <= info.high + 1e-9


LONG = 100_000 if SOAK > 1 else 20_000
HOSTILE = {
    "a reference without end": f"{TOLD[0].target} ",
    "a copied phrase without end": "Entity 1 more than Value A ",
    "one word": "harbour ",
    "no space": "x",
    "spaces": " ",
    "quotes": "\"'`",
    "sentences": "a. b? c! 1. (d.) ",
    "brackets": "([{<)]}>",
    "control characters": "\0\x01\x08\x1b\x7f\r\v\x85\u2028",
    "lone surrogates": "\ud800 \udfff",
    "right to left": "שלום עולם \u202eمرحبا\u202c ",
    "emoji": "😀👍🏽👨‍👩‍👧 ",
    "letters that grow in lower case": "İ ΑΣ ",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_long_text_of_anything_is_scored(case, name):
    text = (HOSTILE[name] * (LONG // len(HOSTILE[name]) + 1))[:LONG]
    assert all(in_range(case.scores([text] * len(case.samples))))


def test_an_output_that_is_the_prompt_is_scored(case):
    few = case._replace(samples=case.samples[:2])  # programs for a whole table take seconds
    assert all(in_range(few.scores([prompt(each, "causal") for each in few.samples])))


def test_more_references_of_other_texts_take_nothing_from_the_best(case):
    sample = case.samples[0]
    if not sample.references:
        pytest.skip("its samples have no references")
    if isinstance(case.metric, Bleurt) or case.metric is TER:
        pytest.skip("it is, or counts by, a mean over references")
    many = tuple(f"{text} {number}" for number in range(250) for text in sample.references)
    challenge = sample.challenge
    if isinstance(challenge, Orders):
        challenge = replace(challenge, references=challenge.references * (len(many) + 1))
    more = replace(sample, references=(*many, *sample.references), challenge=challenge)
    outputs = case.outputs(case.texts[:1])
    (alone,), (among,) = (case.metric.judge([each], outputs) for each in (sample, more))
    assert among.values == alone.values


@pytest.mark.parametrize("unit", [Triple("", "", ""), AttributeValue("", "")])
def test_units_of_empty_texts_are_scored(case, unit):
    first = case.samples[0]
    challenge = Orders(((0, 1), (1, 0)), ((0, 1),) * 2)
    if case.metric.challenge is Hidden:
        challenge = Hidden((("price range" if isinstance(unit, AttributeValue) else "", ""),))
    nameless = replace(first, context={**first.context, "name": ""}, challenge=challenge)
    empty = replace(nameless, units=(unit, unit), references=("", "a text"))
    texts = ("", "a text", "no yes")
    found = case.metric.judge([empty] * len(texts), case.outputs(texts))
    scores = {score.name: score for score in scores_of(case.metric, found)}
    assert all(in_range(scores))


def test_the_registry_declares_which_metric_corrects_which():
    for name in registry().names("metric"):
        own = {info.name for info in metric(name).scores}
        found = [
            other
            for other in registry().names("metric")
            if other != name and any(info.corrects in own for info in metric(other).scores)
        ]
        assert [*registry().correcting(name)] == found


def test_the_registry_declares_the_scores_of_each_metric_of_this_package():
    declared = registry().scores
    assert {name: [info.name for info in metric(name).scores] for name in declared} == declared
    assert [*declared] == [*registry().names("metric")][: len(declared)]
