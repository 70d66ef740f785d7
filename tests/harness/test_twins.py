"""Tasks about samples and their twins: what reaches a model, and what it scores."""

import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from spor_tasks.core import named
from spor_tasks.core.codec import sample_of
from spor_tasks.core.contracts import Gap
from spor_tasks.core.sample import Hidden, Orders, Sample, sides
from spor_tasks.evaluation.run import register_models
from spor_tasks.harness import documents, host, plan, task_files
from spor_tasks.harness.task import SporTask
from spor_tasks.metrics.groups import TWINS
from spor_tasks.prompts import exchanged
from spor_tasks.twins import Untwinned
from tests.support.scripted import simple

PARTS = {"systematicity": None, "order_invariance": "main", "rule_learnability": None}


# --- A stand-in for twins: the names in the units, spelt backwards everywhere ---------------------

_NAME = re.compile(r"[A-Z][a-z]+")


def names_in(sample):
    """Return the names of a sample, which its twin must not have."""
    ends = [part for unit in sample.units for part in (unit[0], unit[-1])]
    hidden = sample.challenge.phrases if isinstance(sample.challenge, Hidden) else ()
    texts = [*ends, *(what for what, _ in hidden)]
    return {name for text in texts for name in _NAME.findall(text)} - {"Entity"}


class BackwardTwins:
    """Every fourth sample has no twin."""

    def twin(self, sample):
        if sample.id[0] in "048c":
            return Untwinned("its id")
        return backward(sample)


def backward(sample):
    names = names_in(sample)

    def spelt(text):
        return _NAME.sub(lambda found: _back(found[0]) if found[0] in names else found[0], text)

    challenge = sample.challenge
    if isinstance(challenge, Hidden):
        phrases = tuple((spelt(what), phrase) for what, phrase in challenge.phrases)
        challenge = replace(challenge, phrases=phrases)
    units = tuple(type(unit)(*map(spelt, unit)) for unit in sample.units)
    texts = tuple(map(spelt, sample.references))
    return replace(sample, units=units, references=texts, challenge=challenge)


def _back(name):
    return f"{name[::-1].capitalize()}x"  # "Anna" too is another name


def twinned(pair):
    """Return the sets with test samples that have twins."""
    both = ((sample, BackwardTwins().twin(sample)) for sample in pair.test)
    test = tuple(replace(one, twin=twin) for one, twin in both if isinstance(twin, Sample))
    return replace(pair, facts=replace(pair.facts, protocol="twin"), test=test)


# --- Tasks ----------------------------------------------------------------------------------------


@pytest.fixture
def make(monkeypatch):
    """Make the task of an aspect on mini; with an arm, the one that shows its samples."""
    monkeypatch.setattr(exchanged, "twins_of", lambda _: BackwardTwins())

    def made(aspect, arm=None, **settings):
        pair = twinned(named.load(aspect, "mini", part=PARTS[aspect]))
        found = replace(pair, test=pair.test[:40])
        declared = SimpleNamespace(find=lambda *_: spec_of(aspect))
        monkeypatch.setattr(plan.TaskSets, "found", property(lambda _: declared))
        monkeypatch.setattr(plan, "load", lambda *_: found)
        name = spec_of(aspect).task_name(arm)
        (file,) = task_files.expand([name])
        template = task_files._template(task_files.TEMPLATES / "_base")
        metadata = {**file.metadata, "test_sha256": None, **settings}
        content = {"num_fewshot": file.shots} if arm else {}
        return SporTask({**template, **content, "task": f"{name}_twin", "metadata": metadata})

    yield made
    for cached in (exchanged.with_twins, documents.chosen, documents._twins_of):
        cached.cache_clear()


def spec_of(aspect):
    spec = named.find(aspect, "mini", part=PARTS[aspect])
    gaps = tuple(Gap(score, score._replace(group=TWINS)) for score in spec.judging.reported)
    twins = (score._replace(group=TWINS) for score in spec.judging.scores)
    judging = replace(spec.judging, scores=(*spec.judging.scores, *twins), gaps=gaps)
    return replace(spec, judging=judging)


def contexts(task, number, shown):
    return [
        context.split("\n\n")
        for context in task.fewshot_context(task.eval_docs[number], num_fewshot=shown)
    ]


@pytest.mark.parametrize(
    ("aspect", "arm"),
    [
        ("systematicity", "combination"),
        ("order_invariance", "match"),
        ("rule_learnability", "original"),
    ],
)
def test_a_twin_follows_demonstrations_exchanged_alike(make, aspect, arm):
    task = make(aspect, arm)
    pair = named.load(aspect, "mini", part=PARTS[aspect])
    known = {sample.id: sample for sample in pair.arms[arm]}
    for number in (0, len(task.eval_docs) - 1):
        doc = task.eval_docs[number]
        ids = [each["id"] for each in doc["demonstrations"]]
        assert ids == [each["id"] for each in doc["demonstrations_twin"]] != []
        shown = [known[each] for each in ids]
        found = contexts(task, number, 8)
        original, twin = sides(sample_of(doc))
        assert len(found) == (4 if isinstance(original.challenge, Orders) else 2)
        half = len(found) // 2
        check(found[:half], original, shown)
        check(found[half:], twin, [backward(each) for each in shown])
        names = set().union(*map(names_in, [original, *shown]))
        assert not [name for name in names if name in str(found[half:])]


def check(found, sample, shown):
    """Check that contexts are of a sample, after these demonstrations."""
    for *before, last in found:
        for text, demonstration in zip(before, shown, strict=True):
            assert text.endswith(demonstration.references[0])
        assert all(name in " ".join([*before, last]) for name in names_in(sample))


def test_drawn_demonstrations_are_exchanged_too(make):
    task = make("systematicity", fewshot_arm="combination")
    task.set_fewshot_seed(3)
    own, twin = (
        [text.partition(" Output:")[2].strip() for text in context[:-1]]
        for context in contexts(task, 0, 3)
    )
    combination = named.load("systematicity", "mini").arms["combination"]
    by_text = {sample.references[0]: sample for sample in combination}
    assert len(own) == 3
    assert twin == [backward(by_text[text]).references[0] for text in own]


def evaluated(task, baseline):
    if host.IS_NEW:
        pytest.skip("lm-eval 0.5 evaluates tasks by name only, and these are made here")
    register_models()
    settings = {"model_args": {"model": f"baseline:{baseline}"}, "limit": 6, "bootstrap_iters": 0}
    return simple("spor-baseline", task, **settings)


@pytest.mark.parametrize("aspect", PARTS)
def test_a_copier_scores_on_twins_as_on_samples(make, aspect):
    result = evaluated(make(aspect), "copy-input")
    (scores,) = result["results"].values()
    for gap in spec_of(aspect).judging.gaps:
        if f"{gap.first},none" in scores:
            own, twin = (scores[f"{score},none"] for score in gap)
            assert own == pytest.approx(twin, abs=5)
    assert any(name.endswith("_twin,none") for name in scores)
    (samples,) = result["samples"].values()
    for row in samples:
        assert len(row["resps"]) == spec_of(aspect).judging.outputs * 2


def test_a_held_out_text_of_a_twin_is_that_of_the_sample_exchanged(make):
    result = evaluated(make("systematicity", held_out_reference=True), "reference")
    (samples,) = result["samples"].values()
    for row in samples:
        (own,), (twin,) = row["resps"]
        assert own == row["doc"]["held_out"] not in row["doc"]["references"]
        full = replace(sides(sample_of(row["doc"]))[0], references=(own,))
        assert twin == backward(full).references[0]
