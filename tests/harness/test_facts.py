"""`facts` by a tiny random classifier, against plain transformers."""

import importlib
import json
import logging
import os
import shutil
import sys
from functools import partial

import pytest
import torch
import transformers

from spor_tasks.core import named
from spor_tasks.core.errors import ConfigError, CorpusError
from spor_tasks.core.sample import AttributeValue, Sample
from spor_tasks.core.weights import digest_weights
from spor_tasks.metrics.judges import judges
from spor_tasks.metrics.learned import FACTS
from tests.support.classifiers import save_classifier
from tests.support.scores import judge, predictions_of

PAIRS = [
    pair
    for number, sample in enumerate(named.load("systematicity", "mini").test[:6])
    for pair in FACTS.inputs(sample, " ".join(sample.references[0].split()[: 3 + number]))
]


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return save_classifier(tmp_path_factory.mktemp("classifier"))


def load(folder, **settings):
    return judges.facts(str(folder), **{"device": "cpu", **settings})


def logits(folder, pair):
    """The logits of one pair alone, without padding."""
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    with torch.no_grad():
        return model(**tokenizer(*pair, return_tensors="pt")).logits[0]


@pytest.mark.parametrize(
    ("labels", "config", "likely"),
    [
        (("LABEL_0", "LABEL_1"), {}, partial(torch.softmax, dim=0)),
        (("score",), {}, torch.sigmoid),
        (("other", "entailment"), {"problem_type": "multi_label_classification"}, torch.sigmoid),
    ],
)
def test_a_probability_is_that_of_plain_transformers(tmp_path, labels, config, likely):
    save_classifier(tmp_path, labels, seed=9, **config)
    facts = load(tmp_path, batch_size=5)
    expected = [likely(logits(tmp_path, pair))[-1].item() for pair in PAIRS]
    assert max(expected) - min(expected) > 0.2, "a classifier that says one thing shows nothing"
    assert predictions_of(facts, PAIRS) == pytest.approx(expected, abs=1e-5)
    assert f"|label:{labels[-1]}|" in facts.signature


def test_weights_in_half_precision_are_judged_in_full(folder, tmp_path):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    model.half().save_pretrained(tmp_path)
    found = predictions_of(load(tmp_path), PAIRS)
    model.float().save_pretrained(tmp_path)
    expected = [torch.softmax(logits(tmp_path, pair), dim=0)[1].item() for pair in PAIRS]
    assert found == pytest.approx(expected, abs=1e-6)
    assert found != predictions_of(load(folder), PAIRS)


def test_the_signature_depends_on_the_weights_alone(folder, tmp_path):
    copy, other = tmp_path / "here" / folder.name, tmp_path / "there" / folder.name
    shutil.copytree(folder, copy)
    save_classifier(other, seed=1)
    assert load(copy).signature == load(folder).signature != load(other).signature
    weights = digest_weights(folder)[:16]
    assert f"facts|model:{folder.name}|weights:{weights}|label:LABEL_1|" in load(folder).signature


def test_long_outputs_lose_their_end(tmp_path, caplog):
    save_classifier(tmp_path, positions=102)
    unit, facts = "ab, cd, ef", load(tmp_path)
    without_output = transformers.AutoTokenizer.from_pretrained(tmp_path)("", unit)
    room = 100 - len(without_output["input_ids"])
    fits, cut = (" ".join("x" * room), unit), ("x " * 300 + "y", unit)
    with caplog.at_level(logging.WARNING, logger="spor_tasks.metrics.judges"):
        whole = predictions_of(facts, [fits])
        assert caplog.records == []
        assert predictions_of(facts, [cut, ("x", unit)])[0] == pytest.approx(whole[0], abs=1e-5)
    assert [record.args for record in caplog.records] == [
        (1, 2, "outputs and units are longer than", 100)
    ]


def test_a_unit_that_is_too_long_by_itself_is_refused(tmp_path):
    save_classifier(tmp_path, positions=22)
    sample = Sample("1", "mine", (AttributeValue("food", "x " * 30),), ())
    with pytest.raises(CorpusError, match=r"longer than the 20 tokens .*: food, x x x"):
        judge(load(tmp_path), sample, "An output.")


def not_trained_to_classify(folder):
    config = transformers.AutoConfig.from_pretrained(folder)
    transformers.ElectraForPreTraining(config).save_pretrained(folder)


def with_pickled_weights(folder):
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
    torch.save(model.state_dict(), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


def with_half_its_weights(folder):
    os.truncate(folder / "model.safetensors", 10_000)


def unable_to_pad(folder):
    file = folder / "tokenizer_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"pad_token": None}))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (not_trained_to_classify, r"lacks the weights classifier\."),
        (with_pickled_weights, "cannot be loaded"),
        (with_half_its_weights, "cannot be loaded"),
        (unable_to_pad, "has no padding or end token"),
    ],
)
def test_a_folder_without_a_sound_classifier_is_refused(tmp_path, spoil, message):
    spoil(save_classifier(tmp_path))
    with pytest.raises(ConfigError, match=message):
        load(tmp_path)


def test_without_torch_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "spor_tasks.metrics.judges")
    with pytest.raises(ConfigError, match="not installed: torch") as caught:
        importlib.import_module("spor_tasks.metrics.judges")
    assert caught.value.remedy == "Install it with `pip install 'spor-tasks[hf]'`."
