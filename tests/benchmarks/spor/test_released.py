"""The released sets as they are, and never a file that is not one of them."""

import hashlib
import json
from pathlib import Path

import pytest

from spor_tasks.benchmarks.spor import released as published
from spor_tasks.benchmarks.spor.benchmark import SPOR
from spor_tasks.core import codec, files
from spor_tasks.core.digests import digest
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import AttributeValue, SampleMaker, Triple
from spor_tasks.corpora import sources
from spor_tasks.corpora.e2e import reader as e2e
from spor_tasks.corpora.sources import Repository
from spor_tasks.corpora.webnlg import reader as webnlg
from tests.oracles.webnlg import read_test as read_webnlg_test
from tests.support.soak import some

RELEASED = [spec for spec in SPOR.sets() if spec.name.protocol == "published"]


@pytest.fixture
def own_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with sets of ours, which the commit is made to hold."""
    texts = {}
    for name in ("train_webnlg_systematicity_atom", "train_webnlg_systematicity_combination"):
        texts[published.path(name)] = name
    texts[published.path("test_webnlg_systematicity")] = "test"
    manifest = {}
    for path, text in texts.items():
        sample = SampleMaker("webnlg")([Triple("Gull", "crew", "4")], [text])
        files.write_rows(tmp_path / path, [codec.to_row(sample)])
        content = (tmp_path / path).read_bytes()
        blob = sources.blob_id(content)
        manifest[path] = sources.SourceFile(path, blob, "needed")
    monkeypatch.setattr(Repository, "files", lambda _: manifest)
    return tmp_path


def test_every_released_file_that_is_asked_for_is_in_the_manifest() -> None:
    asked = {
        published.path(published.name_of(split, *spec.name[:2], spec.name.part))
        for spec in RELEASED
        for split in (*spec.arms, "test")
    }
    assert len(asked) == 2 * (3 + 3 * 3 + 2 + 3 + 2)
    released = {path for path in sources.SPOR.files() if path.endswith("dataset.jsonl")}
    assert asked == released
    assert {sources.SPOR.files()[path].role for path in asked} == {"needed", "rebuilt"}


def test_arms_and_test_set_are_read_in_their_places(own_release: Path) -> None:
    pair = published.load("systematicity", "webnlg", own_release)
    assert (pair.aspect, pair.corpus, pair.protocol) == ("systematicity", "webnlg", "published")
    assert [split.name for split in pair.splits] == ["atom", "combination", "test"]
    assert [split.samples[0].references[0] for split in pair.splits] == [
        "train_webnlg_systematicity_atom",
        "train_webnlg_systematicity_combination",
        "test",
    ]


def test_an_edited_set_is_refused_and_named(own_release: Path) -> None:
    path = own_release / published.path("train_webnlg_systematicity_combination")
    path.write_bytes(path.read_bytes().replace(b"Gull", b"Crow"))
    with pytest.raises(CorpusError, match="not the published file") as caught:
        published.load("systematicity", "webnlg", own_release)
    assert caught.value.where == str(path)


@pytest.fixture
def own_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a corpus and test set of ours, of which Match follows but does not lie there.

    The commit is made to hold all of them.
    """
    make = SampleMaker("e2e")
    train = make(
        [AttributeValue("food", "fish"), AttributeValue("area", "harbour")],
        ["At the harbour the Gull has fish."],
        name="Gull",
    )
    match = make(train.units[::-1], train.references, name="Gull")
    manifest = {}
    for name, sample in (
        ("train_e2e_order-invariance_original", train),
        ("train_e2e_order-invariance_match", match),
        ("test_e2e_order-invariance_cwio", train),
    ):
        path, row = published.path(name), codec.to_row(sample)
        content = files.encode_row(row)
        blob = sources.blob_id(content)
        role = "rebuilt" if sample is match else "needed"
        manifest[path] = sources.SourceFile(path, blob, role)
        files.write_rows(tmp_path / path, [row])
    monkeypatch.setattr(Repository, "files", lambda _: manifest)
    (tmp_path / published.path("train_e2e_order-invariance_match")).unlink()
    return tmp_path


def test_what_is_absent_is_rebuilt_from_the_corpus(own_corpus: Path) -> None:
    pair = published.load("order_invariance", "e2e", own_corpus, part="cwio")
    assert (pair.protocol, pair.part) == ("published", "cwio")
    original, match = (arm.samples[0] for arm in pair.arms)
    assert match.units == original.units[::-1]
    assert pair.test.samples == (original,)


def test_what_is_rebuilt_must_be_the_released_file(
    own_corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = published.path("train_e2e_order-invariance_match")
    manifest = {**sources.SPOR.files(), path: sources.SourceFile(path, "0" * 40, "rebuilt")}
    monkeypatch.setattr(Repository, "files", lambda _: manifest)
    with pytest.raises(CorpusError, match="expected the digest 0000") as caught:
        len(published.load("order_invariance", "e2e", own_corpus, part="cwio").arms[1].samples)
    assert caught.value.where == f"{path}, rebuilt"


def test_a_file_that_is_there_is_read_although_it_could_be_rebuilt(own_corpus: Path) -> None:
    path = own_corpus / published.path("train_e2e_order-invariance_match")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"{}")
    with pytest.raises(CorpusError, match="not the published file") as caught:
        len(published.load("order_invariance", "e2e", own_corpus, part="cwio").arms[1].samples)
    assert caught.value.where == str(path)


def test_an_arm_that_takes_long_is_not_built_before_it_is_needed(own_corpus: Path) -> None:
    pair = published.load("order_invariance", "e2e", own_corpus, part="cwio")
    known = json.loads(published.REBUILT.read_bytes())
    assert digest(pair.arms[1].samples) == known["train_e2e_order-invariance_match"]


@pytest.mark.real_data
@pytest.mark.parametrize("corpus", some(reversed(published.CORPORA), 1))
def test_the_real_sets_have_their_own_digests(data_dir: Path, corpus: str) -> None:
    for aspect, _, _, part in (spec.name for spec in RELEASED if spec.name.corpus == corpus):
        pair = published.load(aspect, corpus, data_dir, part=part)
        for split in pair.splits:
            rows = b"".join(files.encode_row(codec.to_row(sample)) for sample in split.samples)
            path = published.path(published.name_of(split.name, aspect, corpus, part))
            assert sources.blob_id(rows) == sources.SPOR.files()[path].blob
            assert digest(split.samples) == hashlib.sha256(rows).hexdigest()


@pytest.mark.soak
@pytest.mark.real_data
def test_every_sample_has_the_id_that_the_corpus_gives_it(data_dir: Path) -> None:
    corpora = {
        "webnlg": webnlg.read_train(data_dir) + read_webnlg_test(data_dir),
        "e2e": e2e.read_train(data_dir) + e2e.read_test(data_dir),
    }
    for corpus, samples in corpora.items():
        by_id = {sample.id: sample for sample in samples}
        for split in published.load("systematicity", corpus, data_dir).splits:
            assert len({sample.id for sample in split.samples}) == len(split.samples)
            for sample in split.samples:
                assert sample.units == by_id[sample.id].units
                assert sample.references == by_id[sample.id].references
