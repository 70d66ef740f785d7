"""Classifiers of attributes: they learn, are kept whole, and are what the metric takes."""

from dataclasses import replace
from itertools import product

import pytest

from spor_tasks.cli import main
from spor_tasks.core.errors import ConfigError, CorpusError
from spor_tasks.core.folders import read_manifest
from spor_tasks.core.sample import AttributeValue, Sample
from spor_tasks.core.weights import digest_weights
from spor_tasks.corpora.compmctg.reader import combination_in
from spor_tasks.corpora.compmctg.spaces import YELP
from spor_tasks.metrics.judges import judges
from tests.conftest import REPOSITORY
from tests.support.classifiers import save_bert
from tests.support.rows import write_rows
from training import classifier
from training.classifier import ClassifierConfig, load_config

CONFIGS = sorted((REPOSITORY / "configs" / "models" / "compmctg").glob("classifier-*.yaml"))
VERBS = {("plural", "Past"): "we went", ("singular", "Past"): "i went"}
VERBS |= {("plural", "Present"): "we go", ("singular", "Present"): "i go"}
FAST = ClassifierConfig(epochs=1)


def row(values, number):
    sentiment, pronoun, tense = values
    place = ("home", "there", "back", "out")[number % 4]
    text = f"{VERBS[pronoun, tense]} {place}, {'good' if sentiment == 'Positive' else 'bad'}!"
    return {"review": text, "sentiment": sentiment, "pronoun": pronoun, "tense": tense}


ROWS = [row(values, number) for values in product(*YELP.aspects.values()) for number in range(20)]


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    return classifier.read_labelled(
        "yelp", write_rows(tmp_path_factory.mktemp("rows") / "cls.jsonl", *ROWS)
    )


def train(samples, out, *aspects, config=FAST):
    return [*classifier.train("yelp", aspects or ("tense",), samples, out, config)]


def test_what_is_trained_is_what_the_metric_takes(tmp_path, capsys):
    out, data = tmp_path / "out", write_rows(tmp_path / "cls.jsonl", *ROWS)
    command = ["classifier", "--corpus", "yelp", "--out", str(out), "--data", str(data)]
    settings = ["epochs=6", "batch_size=8", "learning_rate=5e-3", "max_tokens=16"]
    settings += ["micro_batch=5"]  # a step is read in parts
    assert main([*command, "--aspect", "tense", "pronoun", *settings]) == 0
    assert capsys.readouterr().out.count("dev accuracy 100.00") == 2
    metric = judges.attributes(str(out), device="cpu")
    wanted = (AttributeValue("pronoun", "plural"), AttributeValue("tense", "Past"))
    sample = Sample("0", "yelp", wanted, ())
    (judgement,) = metric.judge([sample], [("We went out, bad!",)])
    assert judgement.details["said"] == dict(wanted)
    manifest = read_manifest(out / "tense")
    assert (manifest["texts"], manifest["dev_texts"]) == (136, 24)
    assert manifest["dev_accuracies"][-1] == 100
    assert main([*command, "--aspect", "tense", *settings]) == 0
    assert "trained before" in capsys.readouterr().out


def test_equal_settings_give_equal_weights_and_others_replace_a_folder_only_on_request(
    samples, tmp_path
):
    one, other = (ClassifierConfig(epochs=1, seed=seed) for seed in (0, 1))
    first, second = (train(samples, tmp_path / name, config=one)[0].folder for name in "ab")
    assert digest_weights(first) == digest_weights(second)
    with pytest.raises(ConfigError) as caught:
        train(samples, tmp_path / "a", config=other)
    assert caught.value.where
    (replaced,) = train(samples, tmp_path / "a", config=replace(other, overwrite=True))
    assert replaced.is_new
    assert digest_weights(first) != digest_weights(second)
    assert read_manifest(first)["settings"]["seed"] == 1


def test_any_base_can_be_tuned(samples, tmp_path):
    base = save_bert(tmp_path / "base", labels=("A", "B", "C"))
    config = ClassifierConfig(base=str(base), epochs={"tense": 1}, batch_size={"tense": 64})
    (made,) = train(samples, tmp_path / "out", config=config)
    read = judges.aspects(made.folder.parent, "cpu", 8)["tense"]
    assert read.values == ("Present", "Past")
    with pytest.raises(ConfigError):
        train(samples, tmp_path / "out", "pronoun", config=config)  # which the epochs lack


@pytest.mark.parametrize("file", CONFIGS, ids=[file.stem for file in CONFIGS])
def test_the_published_recipes_are_of_every_aspect(file):
    config = load_config(file)
    space = classifier.SPACES[file.stem.removeprefix("classifier-")]
    for of_each in (config.epochs, config.batch_size):
        assert of_each.keys() == space.aspects.keys()
    assert len(CONFIGS) == len(classifier.SPACES)


def test_texts_of_a_space_of_ones_own_are_beside_it(tmp_path):
    space = tmp_path / "weather.yaml"
    space.write_text("aspects: {mood: [calm, angry], tense: [Past, Present]}", "utf-8")
    rows = (
        {"review": f"It was {mood}.", "mood": mood, "tense": tense}
        for mood, tense in product(("calm", "angry"), ("Past", "Present"))
    )
    write_rows(tmp_path / "cls.jsonl", *rows)
    samples = classifier.read_labelled(str(space))
    assert [sample.target for sample in samples][::2] == ["It was calm.", "It was angry."]
    config = classifier.ClassifierConfig(epochs=1, dev_share=0.5)
    (trained,) = classifier.train(str(space), ["mood"], samples, tmp_path / "out", config)
    assert trained.folder == tmp_path / "out" / "mood"
    manifest = read_manifest(trained.folder)
    assert (manifest["corpus"], manifest["values"]) == ("weather", ["calm", "angry"])


def test_what_teaches_no_classifier_is_refused(samples, tmp_path):
    past = [sample for sample in samples if combination_in(sample)[-1] == "Past"]
    none = ClassifierConfig(base=str(tmp_path / "none"))
    textless, empty = tmp_path / "textless.jsonl", tmp_path / "empty.jsonl"
    write_rows(textless, ROWS[0] | {"review": " "})
    write_rows(empty)
    faults = [
        lambda: train(past, tmp_path),
        lambda: train([past[0]], tmp_path),
        lambda: train(samples, tmp_path, "gender"),
        lambda: train(samples, tmp_path, config=none),
        lambda: classifier.read_labelled("yelp", textless),
        lambda: classifier.read_labelled("yelp", empty),
        lambda: classifier.read_labelled("compmctg_mini"),
        lambda: classifier.read_labelled(str(tmp_path / "cls.jsonl")),
    ]
    for fault in faults:
        with pytest.raises((ConfigError, CorpusError)):
            fault()
    assert not (tmp_path / "tense").exists()
