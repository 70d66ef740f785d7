"""The sets of SPOR: the released ones as they are, rebuilt from the corpora, and strict ones.

That the strict sets satisfy every requirement is shown in `tests/aspects/test_check.py`.
"""

import hashlib
import json
import random
from functools import cache
from types import NoneType

import pytest

from spor_tasks.aspects import check, productivity
from spor_tasks.aspects.order_invariance import shown_twice, with_an_order
from spor_tasks.aspects.rule_learnability import hide_entities
from spor_tasks.benchmarks.spor import released as published
from spor_tasks.benchmarks.spor import shipped
from spor_tasks.benchmarks.spor.benchmark import SPOR
from spor_tasks.core import codec, files, named
from spor_tasks.core.digests import digest
from spor_tasks.core.errors import CorpusError, SplitError
from spor_tasks.core.sample import AttributeValue, Hidden, Orders, SampleMaker
from spor_tasks.corpora import sources
from spor_tasks.corpora.e2e import reader as e2e
from spor_tasks.corpora.e2e.enumeration import POSSIBLE_VALUES, hide_values
from spor_tasks.corpora.embedded import MINI
from spor_tasks.corpora.sources import Repository
from spor_tasks.corpora.webnlg import reader as webnlg
from tests.oracles.productivity import published as published_way
from tests.support.soak import soak, some

RELEASED = [spec for spec in SPOR.sets() if spec.sets.protocol == "published"]


MATCH = "train_e2e_order-invariance_match"
FACTS = [AttributeValue("food", "fish"), AttributeValue("area", "harbour")]
make = SampleMaker("e2e")
ORIGINAL = make(FACTS, ["At the harbour the Gull has fish."], name="Gull")
RELEASE = {
    "train_e2e_order-invariance_original": ORIGINAL,
    MATCH: make(FACTS[::-1], ORIGINAL.references, name="Gull"),
    "test_e2e_order-invariance_cwio": ORIGINAL,
}
"""A corpus and test set of ours, of which Match follows, as its role says."""


def place_of(name):
    """Return where a released set lies in the repository."""
    kind, corpus, _ = name.split("_", maxsplit=2)
    return f"dataset_{corpus}/{kind}/{name}/dataset.jsonl"


@pytest.fixture
def release(tmp_path, monkeypatch):
    """A folder with sets of ours but for Match; the commit is made to hold all of them."""
    manifest = {}
    for name, sample in RELEASE.items():
        path, row = place_of(name), codec.to_row(sample)
        role = "rebuilt" if name == MATCH else "needed"
        manifest[path] = sources.SourceFile(path, sources.blob_id(files.encode_row(row)), role)
        if name != MATCH:
            files.write_rows(tmp_path / path, [row])
    monkeypatch.setattr(Repository, "files", lambda _: manifest)
    monkeypatch.setenv("SPOR_DATA_DIR", str(tmp_path))
    return tmp_path


def load():
    return published.load(SPOR.find("order_invariance", "e2e", "published", "cwio"))


def test_every_released_file_that_is_asked_for_is_in_the_manifest():
    asked = {
        published.dataset(split, spec.sets).path
        for spec in RELEASED
        for split in (*spec.arms, "test")
    }
    assert len(asked) == 2 * (3 + 3 * 3 + 2 + 3 + 2)
    released = {path for path in sources.SPOR.files() if path.endswith("dataset.jsonl")}
    assert asked == released
    assert {sources.SPOR.files()[path].role for path in asked} == {"needed", "rebuilt"}


@pytest.mark.usefixtures("release")
def test_sets_are_read_in_their_places_and_what_is_absent_is_rebuilt():
    pair = load()
    assert [*pair.all] == ["original", "match", "test"]
    known = json.loads(published.REBUILT.read_bytes())
    assert digest([*pair.arms.values()][1]) == known[MATCH]  # before it is built
    original, match = (samples[0] for samples in pair.arms.values())
    assert match.units == original.units[::-1]
    assert pair.test == (original,)


def test_an_edited_set_is_refused_and_named(release):
    for name in (MATCH, "train_e2e_order-invariance_original"):
        path = release / place_of(name)
        files.write_rows(path, [codec.to_row(make(FACTS, ["A text."], name="Crow"))])
        with pytest.raises(CorpusError, match="not the published file") as caught:
            len([*load().arms.values()][1])
        assert caught.value.where == str(path)
        path.unlink()


@pytest.mark.usefixtures("release")
def test_what_is_rebuilt_must_be_the_released_file(monkeypatch):
    path = place_of(MATCH)
    manifest = {**sources.SPOR.files(), path: sources.SourceFile(path, "0" * 40, "rebuilt")}
    monkeypatch.setattr(Repository, "files", lambda _: manifest)
    with pytest.raises(CorpusError, match="expected the digest 0000") as caught:
        len([*load().arms.values()][1])
    assert caught.value.where == f"{path}, rebuilt"


@pytest.mark.usefixtures("data_dir")
@pytest.mark.parametrize("corpus", some(reversed(published.CORPORA), 1))
def test_the_real_sets_have_their_own_digests(corpus):
    found = {  # parts share arms
        published.dataset(split, spec.sets).path: samples
        for spec in RELEASED
        if spec.sets.corpus == corpus
        for split, samples in published.load(spec).all.items()
    }
    for path, samples in found.items():
        rows = b"".join(files.encode_row(codec.to_row(sample)) for sample in samples)
        assert sources.blob_id(rows) == sources.SPOR.files()[path].blob
        assert digest(samples) == hashlib.sha256(rows).hexdigest()


# --- Built from the corpora, to the byte where nothing was drawn ----------------------------------

WAYS = {"webnlg": "scarcest", "e2e": "longest"}


@cache
def train_of(corpus, folder):
    return webnlg.read_train(folder) if corpus == "webnlg" else e2e.read_train(folder)


@cache
def held_out_of(corpus, folder):
    if corpus == "e2e":
        return e2e.read_test(folder)
    # Those of which some training sample has every (predicate, object) [code].
    known = {unit[1:] for sample in train_of(corpus, folder) for unit in sample.units}
    samples = webnlg.read_parts("dev", "test", folder=folder)
    return tuple(s for s in samples if known.issuperset(unit[1:] for unit in s.units))


def is_released(name, samples):
    content = b"".join(files.encode_row(codec.to_row(sample)) for sample in samples)
    return sources.blob_id(content) == sources.SPOR.files()[place_of(name)].blob


def rows_of(samples):
    return [json.loads(files.encode_row(codec.to_row(sample))) for sample in samples]


def released_rows(folder, name):
    return [row for _, row in files.read_rows(folder / place_of(name))]


@pytest.mark.parametrize(
    ("corpus", "threshold", "visible_sha256"),
    [
        ("webnlg", 3, "2fa24c2db85d7a4f"),
        soak("webnlg", 4, "9df5eaeb450018e3"),
        soak("webnlg", 5, "d703ebb422a10531"),
        soak("e2e", 3, "c25abc969a8130f1"),
        soak("e2e", 4, "a5c79d8ff49fa5e0"),
        ("e2e", 5, "e05c59187d18d783"),
    ],
)
def test_productivity_is_rebuilt_and_its_strict_sets_show_more(
    data_dir, corpus, threshold, visible_sha256
):
    train, test = train_of(corpus, data_dir), held_out_of(corpus, data_dir)
    rebuilt = productivity.build(train, test, threshold, choose=published_way(WAYS[corpus]))
    sets = f"{corpus}_productivity_N={threshold}"
    names = (f"train_{sets}_invisible", f"train_{sets}_visible", f"test_{sets}")
    for samples, name in zip(rebuilt.all.values(), names, strict=True):
        assert is_released(name, samples)
    strict = named.load("productivity", corpus, "strict", f"n{threshold}")
    assert digest([*strict.arms.values()][1]).startswith(visible_sha256)
    results = [check.check(pair) for pair in (rebuilt, strict)]
    assert all(result.holds for result in results)
    shown = [int(str(result.counts["units_in_long"])) for result in results]
    assert shown[0] <= shown[1]


@pytest.mark.parametrize("corpus", WAYS)
def test_order_invariance_is_rebuilt_but_for_orders(data_dir, corpus):
    def without_inputs(rows):
        return [{key: row[key] for key in row if not key.startswith("input_")} for row in rows]

    test = held_out_of(corpus, data_dir)
    assert is_released(f"test_{corpus}_order-invariance_cwio", with_an_order(test))
    assert is_released(f"test_{corpus}_order-invariance_performance", test)
    main = released_rows(data_dir, f"test_{corpus}_order-invariance_main")
    ours = rows_of(shown_twice(test, random.Random(0)))
    assert without_inputs(ours) == without_inputs(main)


def test_rule_learnability_is_rebuilt_but_for_the_drawn(data_dir):
    """Drawn are the name, the place nearby and the order of the units of E2E."""
    samples = hide_entities(held_out_of("webnlg", data_dir))
    assert is_released("test_webnlg_rule-learnability", samples)
    theirs = released_rows(data_dir, "test_e2e_rule-learnability")
    ours = rows_of(hide_values(train_of("e2e", data_dir), random.Random(0)))

    def fixed(row):
        units = [pair for pair in sorted(row["data"]) if pair[0] != "near"]
        return [*row["replaced_kv_pair"].items()], units

    assert list(map(fixed, theirs)) == list(map(fixed, ours))
    for field in (lambda row: row["name"], lambda row: dict(row["data"]).get("near")):
        assert set(map(field, theirs)) == set(map(field, ours))
    assert sum("near" not in dict(row["data"]) for row in theirs) == 82
    path = place_of("test_e2e_rule-learnability").replace("dataset.jsonl", "")
    ((_, values),) = files.read_rows(data_dir / path / "possible_value.json")
    ours_by_name, theirs_by_name = (
        {name: {*each} for name, each in known.items()} for known in (POSSIBLE_VALUES, values)
    )
    assert ours_by_name == theirs_by_name


# --- Strict sets ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("data_dir")
@pytest.mark.parametrize(
    ("aspect", "part", "count"),
    [
        ("order_invariance", "main", 1_553),
        soak("order_invariance", "cwio", 1_750),
        soak("order_invariance", "performance", 2_140),
        soak("rule_learnability", None, 1_584),
    ],
)
def test_only_samples_of_unknown_triples_are_missing(aspect, part, count):
    released, pair = (
        named.load(aspect, "webnlg", protocol, part) for protocol in ("published", "strict")
    )
    assert pair.arms == released.arms
    assert len(pair.test) == count
    remaining = iter(released.test)
    assert all(sample in remaining for sample in pair.test)
    triples = {unit for sample in next(iter(pair.arms.values())) for unit in sample.units}
    for sample in pair.test:
        if not isinstance(sample.challenge, Hidden):
            assert triples.issuperset(sample.units)
    kind = {"main": Orders, None: Hidden}.get(part, NoneType)
    assert all(isinstance(sample.challenge, kind) for sample in pair.test)


def test_a_list_of_samples_is_of_one_corpus_in_its_order():
    with pytest.raises(SplitError, match="made of other samples") as caught:
        shipped.load(SPOR.find("systematicity", "e2e", "strict").sets, MINI.read().samples)
    assert caught.value.where == "systematicity_e2e: atom"
    assert caught.value.remedy
