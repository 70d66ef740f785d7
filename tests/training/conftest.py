"""Tiny random bases, and an invented split to train on."""

from functools import cache

import pytest

from spor_tasks.core.sample import AttributeValue, Sample, SetFacts, Sets, Triple
from spor_tasks.harness import task_files
from tests.support.tiny_bases import save_base
from training import lora
from training.adapters import prepare
from training.bases import load_base
from training.config import ModelConfig, parse_config
from training.lora import train


@pytest.fixture(scope="session")
def base(tmp_path_factory):
    """Return the folder of a tiny random base of an architecture."""

    @cache
    def build(name):
        folder = tmp_path_factory.mktemp(name)
        save_base(name, folder)
        return folder

    return build


@pytest.fixture
def loaded(base):
    """Return a tiny GPT-2."""
    return load_base(ModelConfig(str(base("gpt2"))))


@pytest.fixture
def trained(monkeypatch):
    """Return the list that gets every model that is trained."""
    models = []

    def remember(*arguments):
        models.append(prepare(*arguments))
        return models[-1]

    monkeypatch.setattr(lora, "prepare", remember)
    return models


@pytest.fixture
def invented():
    """Ten pairs about triples in the first arm, one about attributes and values in the other."""
    places = ("Lund", "Turku", "Bergen", "Aarhus", "Vaasa")
    atom = tuple(
        Sample(
            f"a{number}",
            "webnlg",
            (Triple(f"Person_{number}", "birth place", place),),
            (f"Person {number} is from {place}.", f"{place} saw Person {number} born."),
        )
        for number, place in enumerate(places)
    )
    units = (AttributeValue("food", "Soup"), AttributeValue("near", "The Quay"))
    text = "At Bell they cook soup, near The Quay."
    combination = (Sample("c0", "e2e", units, (text,), {"name": "Bell"}),)
    arms = {"atom": atom, "combination": combination}
    test = (atom[0], *combination)
    facts = SetFacts(aspect="systematicity", corpus="webnlg", protocol="published")
    return Sets(facts, arms, test)


@pytest.fixture
def configure(base, tmp_path):
    """Return the settings of a short run on a tiny base, saved as ``to``; others override them."""

    def make(*overrides, name="llama", to="adapter"):
        settings = (
            *(f"model.path={base(name)}", f"output={tmp_path / to}", "selection.policy=last"),
            *("data.aspect=systematicity", "data.corpus=webnlg", "data.arm=atom"),
            *("optimization.epochs=1", "optimization.threads=1"),
        )
        return parse_config("{}", (*settings, *overrides))

    return make


@pytest.fixture
def tune(configure, invented):
    """Train as :func:`configure` says, on the invented split unless a corpus or sets are named."""

    def run(*overrides, pair=None, name="llama", to="adapter"):
        config = configure(*overrides, name=name, to=to)
        sets = pair or (invented if config.data.corpus == "webnlg" else None)
        return train(config, sets, progress=False)

    return run


@pytest.fixture
def short_outputs(monkeypatch):
    """Judge epochs by a few tokens: a random base ends no text by itself."""
    decoding = task_files.decoding

    def short(spec, beams):
        settings, filters = decoding(spec, beams)
        return settings | {"max_gen_toks": 4}, filters

    monkeypatch.setattr(task_files, "decoding", short)
