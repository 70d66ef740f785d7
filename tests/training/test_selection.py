"""Which epoch is kept, what it is judged by, and that judging changes nothing else."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
import torch
from lm_eval import simple_evaluate
from safetensors.torch import load_file

from spor_tasks.aspects import named
from spor_tasks.core.digests import digest
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.folders import read_manifest
from spor_tasks.core.sample import Sample, Split, SplitPair
from spor_tasks.corpora.mini import MINI
from spor_tasks.harness import adapt, task_files
from training import selection, state
from training.config import DataConfig, SelectionConfig, TrainingConfig
from training.data import sets_of
from training.lora import train
from training.selection import best_epoch, trained_on, unseen

Configure = Callable[..., TrainingConfig]
ARMS = ("atom", "combination")


def judged_samples(settings: SelectionConfig, pair: SplitPair) -> tuple[Sample, ...]:
    data = DataConfig(pair.aspect, pair.corpus, pair.arms[0].name, None, pair.part)
    return selection.judged_samples(settings, pair, data)


def development_set(pair: SplitPair, size: int, seed: int) -> tuple[Sample, ...]:
    return judged_samples(SelectionConfig(samples=size, seed=seed), pair)


def told(samples: tuple[Sample, ...]) -> set[frozenset[object]]:
    return {frozenset(sample.units) for sample in samples}


@pytest.mark.parametrize(("aspect", "part"), [("systematicity", None), ("productivity", "n3")])
def test_a_development_set_tells_nothing_that_is_trained_on_or_tested(
    aspect: str, part: str | None
) -> None:
    pair = named.load(aspect, "mini", part=part)
    found = development_set(pair, 40, seed=0)
    assert len(found) == len(told(found)) == 40
    for split in pair.splits:
        assert told(found).isdisjoint(told(split.samples))
    assert found == development_set(pair, 40, seed=0) != development_set(pair, 40, seed=1)


def test_there_are_no_more_samples_than_are_left_over() -> None:
    pair = named.load("systematicity", "mini")
    everything = development_set(pair, 10**6, seed=0)
    assert 40 < len(everything) < 1000
    assert set(development_set(pair, 40, seed=5)) < set(everything)


def test_only_categories_that_are_tested_are_drawn_from() -> None:
    pair = named.load("systematicity", "mini")
    ships = tuple(sample for sample in pair.test.samples if sample.about("category") == "Ship")
    found = development_set(replace(pair, test=Split("test", ships)), 10**6, seed=0)
    assert found
    assert {sample.about("category") for sample in found} == {"Ship"}


@pytest.mark.parametrize("aspect", ["order_invariance", "rule_learnability"])
def test_where_everything_is_trained_on_or_tested_nothing_is_left_and_that_is_said(
    aspect: str,
) -> None:
    pair = named.load(aspect, "mini")
    with pytest.raises(ConfigError, match="so none is left over") as caught:
        judged_samples(SelectionConfig(), pair)
    assert "selection.policy to dev-split, test-best" in str(caught.value)


@pytest.mark.parametrize("policy", ["dev-best", "test-best"])
@pytest.mark.parametrize("aspect", ["systematicity", "rule_learnability"])
def test_a_corpus_of_one_s_own_is_judged_as_others_are(
    tmp_path: Path, aspect: str, policy: Literal["dev-best", "test-best"]
) -> None:
    file = tmp_path / "worlds.jsonl"
    corpus = MINI.read()
    file.write_text(
        "".join(
            json.dumps({"split": part, "data": sample.units, "texts": sample.references}) + "\n"
            for part, samples in (("train", corpus.train[::3]), ("test", corpus.test))
            for sample in samples
        )
    )
    data = DataConfig(aspect, str(file), "any")
    pair, settings = sets_of(data), SelectionConfig(policy=policy, samples=10)
    judged = selection.judged_samples(settings, pair, data)
    assert judged
    if policy == "dev-best":
        assert len(judged) == 10
        assert all(told(judged).isdisjoint(told(split.samples)) for split in pair.splits)
    else:
        reported = replace(data, aspect="order_invariance", part="performance")
        expected = pair if aspect == "systematicity" else sets_of(reported)
        assert judged == expected.test.samples


def test_the_paper_s_policy_judges_by_the_set_that_parent_is_reported_on() -> None:
    policy = SelectionConfig(policy="test-best")
    atoms = named.load("systematicity", "mini")
    assert judged_samples(policy, atoms) == atoms.test.samples
    performance = named.load("order_invariance", "mini", part="performance")
    for aspect in ("order_invariance", "rule_learnability"):
        pair = named.load(aspect, "mini")
        assert judged_samples(policy, pair) == performance.test.samples != pair.test.samples


def test_the_first_of_equally_good_epochs_is_the_best() -> None:
    scores = [{"parent": score, "chrf": -score} for score in (1.0, 3.0, 2.0, 3.0)]
    assert best_epoch(scores, "parent") == 1
    assert best_epoch(scores, "chrf") == 0


@pytest.mark.parametrize("aspect", ["order_invariance", "rule_learnability"])
def test_a_set_that_is_held_out_is_one_for_every_arm_and_no_arm_is_trained_on_it(
    aspect: str,
) -> None:
    pair = named.load(aspect, "mini")
    policy = SelectionConfig(policy="dev-split", samples=40)
    judged = judged_samples(policy, pair)
    assert len(judged) == len(told(judged)) == 40
    assert set(judged) < set(pair.arms[0].samples)
    for arm in pair.arms:
        kept = trained_on(policy, arm, judged)
        assert told(kept.samples) == told(arm.samples) - told(judged)
        assert kept.name == arm.name
    assert judged == judged_samples(policy, pair)
    assert judged != judged_samples(replace(policy, seed=1), pair)


def test_a_fifth_of_an_arm_is_held_out_at_most(invented: SplitPair) -> None:
    policy = SelectionConfig(policy="dev-split")
    pair = named.load("order_invariance", "mini")
    kept = told(pair.arms[0].samples[:11])
    few = tuple(
        Split(arm.name, tuple(s for s in arm.samples if told((s,)) <= kept)) for arm in pair.arms
    )
    assert len(judged_samples(policy, replace(pair, arms=few))) == 2
    one = tuple(Split(arm.name, pair.arms[0].samples[:1]) for arm in pair.arms)
    with pytest.raises(ConfigError, match="none can be spared"):
        judged_samples(policy, replace(pair, arms=one))
    own = replace(invented, aspect="rule_learnability", corpus="own", arms=few[:1])
    assert judged_samples(policy, own), "it needs no corpus but the arms"


def test_arms_that_differ_on_purpose_lose_nothing() -> None:
    with pytest.raises(ConfigError, match="dev-split is not for systematicity"):
        judged_samples(SelectionConfig(policy="dev-split"), named.load("systematicity", "mini"))


def test_what_is_not_held_out_is_trained_on_whole() -> None:
    pair = named.load("order_invariance", "mini")
    for policy in ("dev-best", "test-best", "last"):
        assert trained_on(SelectionConfig(policy=policy), pair.arms[0], ()) is pair.arms[0]


@pytest.mark.real_data
@pytest.mark.usefixtures("data_dir")
def test_what_webnlg_leaves_over_for_order_invariance_is_all_of_unseen_triples() -> None:
    pair = named.load("order_invariance", "webnlg")
    left = judged_samples(SelectionConfig(), pair)
    assert unseen(left, pair.arms[0]) == len(left) == 500
    policy = SelectionConfig(policy="dev-split")
    held_out = judged_samples(policy, pair)
    assert unseen(held_out, trained_on(policy, pair.arms[0], held_out)) == 18


def test_an_arm_is_trained_on_without_what_judges_it_and_the_card_says_so(
    configure: Configure,
) -> None:
    """The epoch is chosen by chrF here."""
    pair = named.load("order_invariance", "mini")
    kept = told(pair.arms[0].samples[:20])
    arms = (
        Split(arm.name, tuple(s for s in arm.samples if told((s,)) <= kept)) for arm in pair.arms
    )
    few = replace(pair, protocol="published", arms=tuple(arms))
    settings = ("data.aspect=order_invariance", "data.corpus=mini", "data.arm=match")
    selecting = ("selection.policy=dev-split", "selection.samples=2", "selection.metric=chrf")
    config = configure(*settings, *selecting, "optimization.max_steps=1")
    train(config, few, progress=False)
    manifest = read_manifest(config.output)
    judged = judged_samples(config.selection, few)
    held_out = [s for s in few.arms[1].samples if told((s,)) <= told(judged)]
    selected = manifest["selection"]
    assert (selected["samples"], selected["held_out"]) == (2, len(held_out))
    assert manifest["pairs"] == sum(len(s.references) for s in few.arms[1].samples) - len(held_out)
    assert manifest["arm_sha256"] == digest(few.arms[1].samples)
    card = (config.output / "README.md").read_text()
    assert "chrF is over 2 samples" in card
    assert f"the {len(held_out)} of its samples that tell the same" in card


@pytest.mark.real_data
@pytest.mark.usefixtures("data_dir")
@pytest.mark.parametrize(
    ("aspect", "corpus", "part", "left"),
    [
        ("systematicity", "webnlg", None, 7836),
        ("systematicity", "e2e", None, 3527),
        ("productivity", "webnlg", "n3", 903),
        ("order_invariance", "webnlg", "main", 1267),
    ],
)
def test_so_many_real_samples_are_left_over(
    aspect: str, corpus: str, part: str | None, left: int
) -> None:
    pair = named.load(aspect, corpus, part=part)
    assert len(development_set(pair, 10**6, seed=0)) == left


@pytest.fixture
def mini() -> SplitPair:
    """A split of a few short samples of the embedded corpus, which has a development set."""
    pair = named.load("systematicity", "mini")
    short = [
        Split(arm.name, tuple(s for s in arm.samples if len(s.units) == 1)[:6]) for arm in pair.arms
    ]
    return replace(pair, protocol="published", arms=tuple(short))


@pytest.mark.parametrize(("name", "beams"), [("llama", 1), ("t5", 2)])
def test_the_weights_that_are_kept_are_those_after_the_epoch_that_scored_best(
    configure: Configure,
    mini: SplitPair,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    beams: int,
) -> None:
    monkeypatch.setattr(state, "best_epoch", lambda scores, _: min(1, len(scores) - 1))
    common = ("data.corpus=mini", "optimization.learning_rate=1e-2", "selection.samples=3")
    policy = ("selection.policy=dev-best", f"selection.beams={beams}")
    settings = (*common, *policy, "optimization.epochs=3")
    judged = train(configure(*settings, name=name), mini, progress=False)
    two = configure(*common, "optimization.epochs=2", f"output={configure().output}-2", name=name)
    last = train(two, mini, progress=False)

    assert judged.losses[: len(last.losses)] == last.losses, "judging draws no random number"
    kept, expected = (
        load_file(adapter / "adapter_model.safetensors")
        for adapter in (judged.adapter, last.adapter)
    )
    assert kept.keys() == expected.keys()
    assert all(torch.equal(kept[name], expected[name]) for name in kept)

    told = read_manifest(judged.adapter)["selection"]
    assert (told["policy"], told["epoch"], told["samples"]) == ("dev-best", 2, 3)
    assert len(told["scores"]) == 3
    assert told["samples_sha256"] == digest(development_set(mini, 3, seed=0))
    assert all(0 <= scores["parent"] <= 100 for scores in told["scores"])
    assert read_manifest(last.adapter)["selection"]["epoch"] == 2


def test_both_arms_of_a_pair_are_judged_by_one_set(
    configure: Configure, mini: SplitPair, tmp_path: Path
) -> None:
    sets = set()
    for arm in ARMS:
        settings = (f"data.arm={arm}", f"output={tmp_path / arm}", "optimization.max_steps=1")
        config = configure(
            *settings, "data.corpus=mini", "selection.policy=dev-best", "selection.samples=2"
        )
        result = train(config, mini, progress=False)
        sets.add(read_manifest(result.adapter)["selection"]["samples_sha256"])
    assert len(sets) == 1


def test_an_epoch_s_score_is_that_of_the_task(
    configure: Configure, base: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first test samples, evaluated by lm-eval with the adapter that was saved.

    PARENT has nothing good to say of a random model, so the scores here are of the characters.
    """

    def characters(
        _: object,
        scores: Sequence[str],
        samples: Sequence[Sample],
        outputs: Sequence[Sequence[str]],
    ) -> list[dict[str, float]]:
        return [
            dict.fromkeys(scores, 101 + len(sample.units) + sum(map(ord, text)) / 1000)
            for sample, (text,) in zip(samples, outputs, strict=True)
        ]

    monkeypatch.setattr(adapt, "values", characters)
    pair = named.load("systematicity", "mini")
    few = replace(pair, protocol="published", test=Split("test", pair.test.samples[:4]))
    config = configure(
        "data.corpus=mini",
        "data.limit=12",
        "selection.policy=test-best",
        "optimization.learning_rate=3e-2",
        "lora.target_modules=all-linear",
    )
    train(config, few, progress=False)
    (scores,) = read_manifest(config.output)["selection"]["scores"]
    arguments = {"pretrained": str(base("llama")), "peft": str(config.output)}
    result = simple_evaluate(
        model="spor-hf",
        model_args={**arguments, "device": "cpu"},
        tasks=["spor_systematicity_mini"],
        task_manager=task_files.manager(arguments, allow_split_mismatch=True),
        limit=4,
        batch_size=4,
        bootstrap_iters=0,
    )
    assert result
    found = result["results"]["spor_systematicity_mini"]
    expected = {name: found[f"{name},none"] for name in scores}
    assert scores == pytest.approx(expected)
    assert scores["parent"] > 100
