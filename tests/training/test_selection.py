"""Which epoch is kept, what it is judged by, and that judging changes nothing else."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import load_file

from spor_tasks.core import named
from spor_tasks.core.codec import to_row
from spor_tasks.core.digests import digest
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.folders import read_manifest
from spor_tasks.core.sample import SetFacts, Sets
from spor_tasks.corpora.embedded import MINI
from tests.support.rows import write_rows
from tests.support.scripted import evaluate_folder
from training import selection
from training.config import DataConfig, SelectionConfig
from training.data import find_spec, sets_of
from training.demo import BASES
from training.state import Training


def judged_samples(settings, pair):
    facts = pair.facts
    data = DataConfig(facts.aspect, facts.corpus, next(iter(pair.arms)), None, facts.part)
    return judged_in(data, settings, pair)


def judged_in(data, settings, pair):
    reported = selection.reporting(settings.metric, find_spec(**pair.facts.named))
    return selection.dev_samples(settings, pair, reported, data)


def development_set(pair, size, seed):
    return judged_samples(SelectionConfig(samples=size, seed=seed), pair)


def contents(samples):
    return {frozenset(sample.units) for sample in samples}


@pytest.mark.parametrize(("aspect", "part"), [("systematicity", None), ("productivity", "n3")])
def test_a_development_set_is_neither_trained_on_nor_tested(aspect, part):
    pair = named.load(aspect, "mini", part=part)
    everything = development_set(pair, 10**6, seed=0)
    assert 40 < len(everything) == len(contents(everything)) < 1000
    for samples in pair.all.values():
        assert contents(everything).isdisjoint(contents(samples))
    found = development_set(pair, 40, seed=0)
    assert len(found) == 40
    assert set(found) < set(everything)
    assert found == development_set(pair, 40, seed=0) != development_set(pair, 40, seed=1)
    ships = tuple(sample for sample in pair.test if sample.about("category") == "Ship")
    found = development_set(replace(pair, test=ships), 10**6, seed=0)
    assert {sample.about("category") for sample in found} == {"Ship"}


@pytest.mark.parametrize("part", [None, "c2f"])
def test_other_tables_judge_by_the_scores_of_their_task(part):
    pair = named.load("logicnlg", "logicnlg_mini", part=part)
    settings = SelectionConfig(metric="bleu_3", samples=10**6)
    found = judged_samples(settings, pair)
    used = {sample.about("name") for samples in pair.all.values() for sample in samples}
    assert len(found) == 100
    assert used.isdisjoint({sample.about("name") for sample in found})
    assert {sample.about("prompt") for sample in found} == {"coarse_to_fine" if part else None}
    for metric in ("parent", "adv_acc", "ppl", "no such score"):
        with pytest.raises(ConfigError, match=r"^selection\.metric: "):
            judged_samples(replace(settings, metric=metric), pair)


def test_a_corpus_of_one_s_own_is_judged_as_others_are(tmp_path):
    corpus = MINI.read()
    parts = {"train": corpus.train[::3], "test": corpus.test}
    rows = ({"split": part, **to_row(sample)} for part in parts for sample in parts[part])
    file = write_rows(tmp_path / "worlds.jsonl", *rows)
    data = DataConfig("systematicity", str(file), "any")
    pair = sets_of(data)
    judged = judged_in(data, SelectionConfig(samples=10), pair)
    assert len(judged) == 10
    assert all(contents(judged).isdisjoint(contents(samples)) for samples in pair.all.values())
    policy = SelectionConfig(policy="test-best")
    assert judged_in(data, policy, pair) == pair.test
    data = replace(data, aspect="rule_learnability")
    performance = sets_of(replace(data, aspect="order_invariance", part="performance"))
    assert judged_in(data, policy, sets_of(data)) == performance.test


def test_the_paper_s_policy_judges_by_the_set_that_parent_is_reported_on():
    policy = SelectionConfig(policy="test-best")
    atoms = named.load("systematicity", "mini")
    assert judged_samples(policy, atoms) == atoms.test
    performance = named.load("order_invariance", "mini", part="performance")
    for aspect in ("order_invariance", "rule_learnability"):
        pair = named.load(aspect, "mini")
        assert judged_samples(policy, pair) == performance.test != pair.test


def test_the_first_of_equally_good_epochs_is_the_best():
    scores = [{"parent": score, "chrf": -score} for score in (1.0, 3.0, 2.0, 3.0)]
    for metric, best in (("parent", 1), ("chrf", 0)):
        run = SimpleNamespace(scores=scores, metric=metric)
        assert Training.best_epoch.fget(run) == best


@pytest.mark.parametrize("aspect", ["order_invariance", "rule_learnability"])
def test_a_set_that_is_held_out_is_one_for_all_arms(aspect):
    pair = named.load(aspect, "mini")
    policy = SelectionConfig(policy="dev-split", samples=40)
    judged = judged_samples(policy, pair)
    assert len(judged) == len(contents(judged)) == 40
    assert set(judged) < set(next(iter(pair.arms.values())))
    for samples in pair.arms.values():
        kept = selection.without(samples, judged)
        assert contents(kept) == contents(samples) - contents(judged)
    assert judged == judged_samples(policy, pair)
    assert judged != judged_samples(replace(policy, seed=1), pair)


def short(pair, samples):
    """Return the arms with the contents of the first arm's first samples alone."""
    kept = contents(next(iter(pair.arms.values()))[:samples])
    return {
        arm: tuple(sample for sample in of_arm if contents((sample,)) <= kept)
        for arm, of_arm in pair.arms.items()
    }


def test_a_fifth_of_an_arm_is_held_out_at_most():
    policy = SelectionConfig(policy="dev-split")
    pair = named.load("order_invariance", "mini")
    few = short(pair, 11)
    assert len(judged_samples(policy, replace(pair, arms=few))) == 2
    with pytest.raises(ConfigError, match="1 samples to train on, too few"):
        judged_samples(policy, replace(pair, arms=short(pair, 1)))
    facts = SetFacts(aspect="rule_learnability", corpus="own", protocol="published")
    own = Sets(facts, {"original": few["original"]}, pair.test)
    assert judged_samples(policy, own), "it needs no corpus but the arms"


@pytest.mark.usefixtures("short_outputs")
def test_an_arm_is_trained_on_without_what_judges_it_and_the_card_says_so(tune):
    """The epoch is chosen by chrF here."""
    pair = named.load("order_invariance", "mini")
    arms = short(pair, 20)
    few = replace(pair, facts=replace(pair.facts, protocol="published"), arms=arms)
    settings = ("data.aspect=order_invariance", "data.arm=match", "optimization.max_steps=1")
    selecting = ("selection.policy=dev-split", "selection.samples=2", "selection.metric=chrf")
    output = tune(*settings, *selecting, pair=few).folder
    manifest = read_manifest(output)
    judged = judged_samples(SelectionConfig("dev-split", "chrf", samples=2), few)
    held_out = [s for s in arms["match"] if contents((s,)) <= contents(judged)]
    selected = manifest["selection"]
    assert (selected["samples"], selected["held_out"]) == (2, len(held_out))
    units = {unit for s in arms["match"] if s not in held_out for unit in s.units}
    lacking = [s for s in judged if not units.issuperset(s.units)]
    assert selected["with_unseen_units"] == len(lacking) > 0
    assert manifest["pairs"] == sum(len(s.references) for s in arms["match"]) - len(held_out)
    assert manifest["arm_sha256"] == digest(arms["match"])
    card = (output / "README.md").read_text()
    assert "chrF is over 2 samples" in card
    assert f"the {len(held_out)} of its samples that have the units" in card


@pytest.mark.usefixtures("short_outputs")
def test_the_weights_that_are_kept_are_those_after_the_epoch_that_scored_best(tune, monkeypatch):
    """Both arms are judged by one set, and an interrupt loses neither scores nor weights."""
    second = property(lambda run: min(1, len(run.scores) - 1))
    monkeypatch.setattr(Training, "best_epoch", second)
    common = ("data.corpus=mini", "data.limit=6", "optimization.learning_rate=1e-2")
    common = (*common, "selection.samples=3")
    policy = ("selection.policy=dev-best", "selection.beams=2")
    judge = Training.judge

    def judge_twice(run, how):
        if len(run.scores) == 2:
            raise KeyboardInterrupt
        return judge(run, how)

    with monkeypatch.context() as patch:
        patch.setattr(Training, "judge", judge_twice)
        with pytest.raises(KeyboardInterrupt):
            tune(*common, *policy, "optimization.epochs=3", name="t5")
    judged = tune(*common, *policy, "optimization.epochs=3", name="t5")
    last = tune(*common, "optimization.epochs=2", name="t5", to="last")
    arm = ("data.arm=combination", "optimization.max_steps=1")
    other = tune(*common, *policy, *arm, name="t5", to="other")

    assert judged.losses[: len(last.losses)] == last.losses, "judging draws no random number"
    kept, expected = (
        load_file(adapter / "adapter_model.safetensors") for adapter in (judged.folder, last.folder)
    )
    assert kept.keys() == expected.keys()
    assert all(torch.equal(kept[name], expected[name]) for name in kept)

    selected = read_manifest(judged.folder)["selection"]
    assert (selected["policy"], selected["epoch"], selected["samples"]) == ("dev-best", 2, 3)
    assert len(selected["scores"]) == 3
    assert selected["samples_sha256"] == digest(
        development_set(named.load("systematicity", "mini"), 3, seed=0)
    )
    assert selected["samples_sha256"] == read_manifest(other.folder)["selection"]["samples_sha256"]
    assert all(0 <= scores["parent"] <= 100 for scores in selected["scores"])
    assert read_manifest(last.folder)["selection"]["epoch"] == 2


def test_an_epoch_s_score_is_that_of_the_task(tune):
    pair = named.load("systematicity", "mini")
    few = replace(
        pair,
        facts=replace(pair.facts, protocol="published"),
        test=pair.test[:4],
    )
    settings = ("selection.policy=test-best", "optimization.learning_rate=3e-2", "data.limit=12")
    settings += ("data.corpus=mini", f"model.path={BASES / 'mini'}")
    output = tune(*settings, pair=few).folder
    (scores,) = read_manifest(output)["selection"]["scores"]
    settings = {"model_args": {"peft": str(output)}, "metadata": {"allow_split_mismatch": True}}
    settings |= {"limit": 4, "batch_size": 4, "gen_kwargs": {}}
    result = evaluate_folder(BASES / "mini", "spor_systematicity_mini", model="spor-hf", **settings)
    found = result["results"]["spor_systematicity_mini"]
    assert scores == pytest.approx({name: found[f"{name},none"] for name in scores})
    assert 0 < scores["parent"] < 50, "that of the base is 54"
