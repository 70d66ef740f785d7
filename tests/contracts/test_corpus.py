"""What every registered corpus must do."""

import shutil
from dataclasses import replace
from typing import get_args

import pytest

from spor_tasks.core.codec import doc_of, sample_of
from spor_tasks.core.errors import ConfigError, CorpusError
from spor_tasks.core.registry import registry
from spor_tasks.corpora.base import Style
from spor_tasks.corpora.sources import TOTTO
from spor_tasks.prompts.styles import prompt
from spor_tasks.text.normalize import display
from tests.support import compmctg

IN_NO_FILE = {"mini", "logicnlg_mini", "totto_mini", "compmctg_mini"}
FOLDERS = {
    "logicnlg": "logicnlg_dir",
    "totto": "totto_files",
    "viggo": "viggo_dir",
    **dict.fromkeys(("fyelp", "amazon", "yelp", "mixture"), "compmctg_files"),
}
# Units are columns, by name and number; of LogicNLG the training file may be missing.
OF_TABLES = {"logicnlg", "logicnlg_mini"}
# Units are cells, below their headers in one text; the table in the context says which, in order.
OF_CELLS = {"totto", "totto_mini"}
# A prompt has the values only, each a word that tells its aspect.
OF_WORDS = {"fyelp", "amazon", "yelp", "mixture", "compmctg_mini"}
NAMES = registry().names("corpus")
EVERY = [
    pytest.param(name, marks=() if name in IN_NO_FILE else pytest.mark.real_data) for name in NAMES
]
STYLES = get_args(Style)
SHOWN = 500  # samples of each part that are linearized


@pytest.fixture(scope="module", params=EVERY)
def corpus(request):
    return registry().get("corpus", request.param)


@pytest.fixture(scope="module")
def totto_files(totto_dir, tmp_path_factory):
    """The real examples at hand, under the names of the published files."""
    folder = tmp_path_factory.mktemp("totto")
    for part, name in zip(("train_sample", "dev_25"), TOTTO.files, strict=False):
        shutil.copy(totto_dir / f"{part}.jsonl", folder / name)
    return folder


@pytest.fixture(scope="module")
def compmctg_files(data_dir, tmp_path_factory):
    """The published test cases, which are generated texts, under the names of the datasets."""
    return compmctg.write_datasets(tmp_path_factory.mktemp("compmctg"), data_dir)


@pytest.fixture(scope="module")
def folder(corpus, request):
    if corpus.name in IN_NO_FILE:
        return None
    return request.getfixturevalue(FOLDERS.get(corpus.name, "data_dir"))


@pytest.fixture(scope="module")
def read(corpus, folder):
    return corpus.read(folder)


@pytest.fixture(scope="module")
def shown(read):
    return (*read.train[:SHOWN], *read.test[:SHOWN])


@pytest.mark.parametrize("name", NAMES)
def test_it_has_the_name_that_it_is_registered_by(name):
    assert registry().get("corpus", name).name == name


def test_its_samples_have_its_name_an_id_units_of_one_kind_and_no_challenge(corpus, folder, read):
    assert corpus.read(folder) == read
    assert {read.name, *(sample.corpus for sample in read.samples)} == {corpus.name}
    for part in (read.train, read.test):
        assert part or corpus.name in OF_TABLES
        assert len({sample.id for sample in part}) == len(part)
    assert len({type(unit) for sample in read.samples for unit in sample.units}) == 1
    assert all(sample.units and sample.references for sample in read.samples)
    assert {sample.challenge for sample in read.samples} == {None}
    assert not [sample for sample in read.samples if None in sample.context.values()]
    assert all(sample_of(doc_of(sample)) == sample for sample in read.samples)


def test_everything_holds_at_least_what_sets_are_built_from(corpus, folder, read):
    everything = corpus.everything(folder)
    sources = read.test if corpus.name == "totto" else read.samples  # too many for the memory
    assert {sample.units for sample in sources} <= {sample.units for sample in everything}
    assert len(everything) >= len(sources)


@pytest.mark.parametrize("name", sorted({*NAMES} - IN_NO_FILE))
def test_files_that_are_not_there_are_named(name, tmp_path):
    with pytest.raises(CorpusError) as error:
        registry().get("corpus", name).read(tmp_path)
    assert error.value.where
    assert error.value.remedy


@pytest.mark.parametrize("style", STYLES)
def test_a_prompt_shows_every_unit_in_order_and_nothing_of_the_references(corpus, shown, style):
    parts = slice(corpus.name in OF_CELLS | OF_WORDS, 1 if corpus.name in OF_TABLES else None)
    for sample in shown:
        text = corpus.linearize(sample, style)
        assert text == prompt(sample, style)
        assert all(display(part).strip() in text for unit in sample.units for part in unit[parts])
        assert text == corpus.linearize(replace(sample, id="other", references=("Other.",)), style)
        if len({*sample.units}) > 1 and corpus.name not in OF_CELLS:
            turned = replace(sample, units=(*sample.units[1:], sample.units[0]))
            assert text != corpus.linearize(turned, style)


def test_another_style_is_an_error(corpus, shown):
    with pytest.raises(ConfigError) as error:
        corpus.linearize(shown[0], "chat")
    assert error.value.remedy
