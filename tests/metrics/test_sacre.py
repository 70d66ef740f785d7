"""BLEU, chrF++ and TER are those that sacrebleu's command line prints."""

import json
import random
import subprocess
import sys
from dataclasses import replace

import pytest
import sacrebleu

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import Sample, Triple
from spor_tasks.corpora.embedded import MINI
from spor_tasks.metrics.sacre import BLEU, CHRF_PLUS_PLUS, TER
from spor_tasks.metrics.tally import Column
from spor_tasks.results.stats import clusters_of, difference
from tests.support.damage import SOAK

METRICS = (BLEU, CHRF_PLUS_PLUS, TER)
THEIRS = {
    "bleu": sacrebleu.BLEU(),
    "chrf++": sacrebleu.CHRF(word_order=2),
    "ter": sacrebleu.TER(),
}
SIZE = 2_000 if SOAK > 1 else 240
DIGITS = 10
ODD = ("", "harbour", "It’s £5 .", "a . b , c", "&quot;Ünïcødé&quot; 3.14-fold", "ا ب", "。東京")


def written(random_, text):
    """What a weak system might write: a text with words moved, left out and changed."""
    words = [word for word in text.split() if random_.random() < 0.9]
    if len(words) > 3 and random_.random() < 0.5:
        place = random_.randrange(len(words) - 1)
        words = words[place:] + words[:place]
    words = [word.upper() if random_.random() < 0.05 else word for word in words]
    return " ".join(words)


@pytest.fixture(scope="module")
def system():
    """Samples with one to three references, and what a system wrote."""
    random_ = random.Random(49)
    texts = [text for sample in MINI.part("train") for text in sample.references]
    samples, outputs = [], []
    for number in range(SIZE):
        text = random_.choice(texts)
        others = [written(random_, text), random_.choice(texts)]
        references = (text, *(each for each in others if each))[: 1 + number % 3]
        samples.append(Sample(str(number), "own", (Triple("a", "b", "c"),), references))
        outputs.append(random_.choice(ODD) if number % 97 == 0 else written(random_, text))
    return samples, outputs


def ours(metric, samples, outputs):
    judged = metric.judge(samples, [(output,) for output in outputs])
    (info,) = metric.scores
    return Column.of([each.values[info.name] for each in judged], info.totals)


def test_scores_are_those_of_the_command_line_for_each_number_of_references(system, tmp_path):
    for count in (1, 2, 3):
        chosen = [
            (sample, output)
            for sample, output in zip(*system, strict=True)
            if len(sample.references) == count
        ]
        samples, outputs = map(list, zip(*chosen, strict=True))
        (tmp_path / "outputs").write_text("".join(f"{text}\n" for text in outputs), "utf-8")
        names = []
        for number in range(count):
            names.append(f"references_{number}")
            lines = [f"{sample.references[number]}\n" for sample in samples]
            (tmp_path / names[-1]).write_text("".join(lines), "utf-8")
        command = f"{' '.join(names)} -i outputs -m bleu chrf ter --chrf-word-order 2 -w {DIGITS}"
        printed = subprocess.run(
            [sys.executable, "-m", "sacrebleu", *command.split(), "--force", "-f", "json"],
            cwd=tmp_path,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for metric, theirs in zip(METRICS, json.loads(printed), strict=True):
            found = ours(metric, samples, outputs).value
            assert f"{found:.{DIGITS}f}" == f"{theirs['score']:.{DIGITS}f}"
            assert theirs["signature"] in metric.signature_of(samples)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.info.name)
def test_samples_may_have_different_numbers_of_references(system, metric):
    samples, outputs = system
    streams = [
        [sample.references[n] if n < len(sample.references) else None for sample in samples]
        for n in range(3)
    ]
    theirs = THEIRS[metric.info.name]
    score = theirs.corpus_score(outputs, streams).score
    assert ours(metric, samples, outputs).value == pytest.approx(score, abs=1e-10)
    assert str(theirs.get_signature()) in metric.signature_of(samples) == metric.signature


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.info.name)
def test_details_are_the_scores_of_single_sentences(system, metric):
    samples, outputs = (each[:80] for each in system)
    scorer = sacrebleu.BLEU(effective_order=True) if metric is BLEU else THEIRS[metric.info.name]
    for sample, output, judged in zip(
        samples, outputs, metric.judge(samples, [(text,) for text in outputs]), strict=True
    ):
        theirs = scorer.sentence_score(output, list(sample.references)).score
        assert judged.details == {f"sentence_{metric.info.name}": theirs}


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.info.name)
def test_a_worse_system_is_told_from_a_better_one(system, metric):
    samples, outputs = (each[:120] for each in system)
    (info,) = metric.scores
    slightly = [" ".join(text.split()[1:]) for text in outputs]
    much = [" ".join(text.split()[::4]) for text in outputs]
    for worse in (slightly, much):
        columns = [ours(metric, samples, each) for each in (outputs, worse)]
        found = difference(*columns, clusters_of(range(120)), (info.low, info.high))
        assert found.value == pytest.approx(columns[0].value - columns[1].value)
        assert found.p < 0.01
        assert (found.interval.low > 0) == info.higher_is_better
        assert found.interval.low <= found.value <= found.interval.high


def test_a_sample_without_references_is_an_error_that_names_it(system):
    bare = replace(system[0][0], references=())
    for metric in METRICS:
        with pytest.raises(CorpusError, match=f"sample {bare.id}: .* needs a reference"):
            metric.judge([bare], [("a text",)])
