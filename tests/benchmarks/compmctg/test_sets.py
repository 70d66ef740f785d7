"""CompMCTG's sets: which there are, what each asks, and which texts its arm has."""

from collections import Counter

import pytest

from spor_tasks.benchmarks.compmctg import splits
from spor_tasks.benchmarks.compmctg.benchmark import COMPMCTG
from spor_tasks.core import named
from spor_tasks.core.digests import digest
from spor_tasks.core.errors import CorpusError, SplitError
from spor_tasks.corpora.compmctg.linearize import PREFIXES
from spor_tasks.corpora.compmctg.reader import combination_in, read_unseen
from spor_tasks.corpora.compmctg.spaces import PUBLISHED, YELP
from spor_tasks.harness.plan import arm_digest
from tests.support import compmctg, golden
from tests.support.compmctg import unseen_rows

SPACES = {space.name: space for space in PUBLISHED}


def find(*name):
    return COMPMCTG.find("compmctg", *name)


def load(*name):
    return named.load("compmctg", *name)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPMCTG_DATA_DIR", str(tmp_path))
    return tmp_path


def test_a_published_split_shows_the_texts_that_the_published_code_finds(
    folder, data_dir, golden_dir
):
    for row in golden.read(golden_dir / "compmctg", "data_utils", rows=6):
        corpus = row["dataset"].lower()
        cases = compmctg.cases(data_dir, corpus)
        compmctg.write(folder, corpus, "gen", cases)
        unseen = {"mode": "ACD", "idx": "0", "unseen_combs": row["unseen_combs"]}
        split = read_unseen(compmctg.write(folder, corpus, "unseen", [unseen]), SPACES[corpus])[0]
        shown = [number for number, case in enumerate(cases) if not split.has(case)]
        assert (len(shown), shown[:20]) == (row["n_train"], row["first_train_lines"])


def test_a_test_set_asks_for_every_combination_and_beginning_ten_times():
    samples = load("yelp", "acd", "3").test
    asked = Counter((combination_in(s), s.context["prefix"]) for s in samples)
    assert asked == dict.fromkeys(((c, p) for c in YELP.combinations for p in PREFIXES), 10)
    assert len({sample.id for sample in samples}) == len(samples) == 8 * 35 * 10
    assert {combination_in(sample) for sample in samples[:8]} == {*YELP.combinations}
    assert {sample.references for sample in samples} == {()}
    assert samples[-1] == samples[len(samples) - 1] == list(samples)[-1]


def test_samples_are_marked_under_one_split_and_under_all():
    parts = [load("yelp", "acd", str(n)).test for n in range(10)]
    one, other, *_ = parts
    assert [sample.id for sample in one] == [sample.id for sample in other]
    unseen = {combination_in(sample) for sample in one if sample.context["unseen"]}
    assert unseen == {*splits.shipped(YELP, "acd")[0].unseen}
    assert digest(one) != digest(other)
    whole = load("yelp", "acd")
    assert whole.arms == {}
    for number, sample in enumerate(whole.test[:8]):
        marks = "".join(str(int(bool(part[number].context["unseen"]))) for part in parts)
        assert sample.context["unseen"] == marks
    original = load("yelp", "original").test
    assert not any(sample.context["unseen"] for sample in original)


def test_arms_are_read_from_the_files_of_the_user(folder, data_dir):
    cases = compmctg.cases(data_dir, "yelp")
    compmctg.write(folder, "yelp", "gen", cases)
    sets = (("holdout", "0"), ("acd", "0"), ("original", None))
    pairs = [load("yelp", *each) for each in sets]
    assert [len(next(iter(pair.arms.values()))) for pair in pairs] == [7 * 350, 4 * 350, 8 * 350]
    assert len({arm_digest(pair.arms["train"]) for pair in pairs} - {None}) == 3
    assert pairs[-1].arms["train"][0].references == (cases[0]["review"],)


def test_a_text_without_a_value_of_the_space_is_refused(folder):
    for values in ({}, {**YELP.as_row(YELP.combinations[0]), "tense": "Odd"}):
        path = compmctg.write(folder, "yelp", "gen", [{"review": "A text.", **values}])
        with pytest.raises(CorpusError, match="must be one of") as caught:
            len(load("yelp", "holdout", "1").arms["train"])
        assert caught.value.where == f"{path}:1"


def test_without_files_only_the_arm_is_missing(folder):
    pair = load("mixture", "holdout", "0")
    assert len(pair.test) == 2800
    assert arm_digest(pair.arms["train"]) is None
    with pytest.raises(CorpusError) as caught:
        len(next(iter(pair.arms.values())))
    assert caught.value.where == str(folder / "Mixture" / "gen.jsonl")
    assert caught.value.remedy


def test_published_splits_are_found_by_name_and_never_pinned(folder):
    left_out = [YELP.combinations[:4], YELP.combinations[4:]]
    compmctg.write(folder, "yelp", "unseen", list(unseen_rows(YELP, "acd", left_out)))
    spec = find("yelp", "acd_published", "1")
    assert (spec.release.is_default, spec.release.is_pinned) == (False, False)
    pair = named.load(**spec.sets.named)
    unseen = {combination_in(s) for s in pair.test if s.context["unseen"]}
    assert unseen == {*left_out[1]}
    both = load("yelp", "acd_published")
    assert {s.context["unseen"] for s in both.test} == {"01", "10"}
    for part in ("2", "-1", "x"):
        with pytest.raises(SplitError):
            load("yelp", "acd_published", part)
    assert not [spec for spec in COMPMCTG.sets() if "published" in spec.sets.protocol]


@pytest.mark.usefixtures("folder")
def test_unknown_sets_are_refused():
    unknown = ("yelp acd 10", "amazon acd", "amazon acd 0", "compmctg_mini acd_published 0")
    # Those of books are declared, but loaded from their file alone.
    for name in ("yelp acd_published 0", *unknown, "books strict 0", "books acd 0"):
        kind = CorpusError if name == "yelp acd_published 0" else SplitError
        with pytest.raises(kind) as caught:
            named.load("compmctg", *name.split())
        assert caught.value.remedy
    assert not find("books", "acd", "0").sets.is_fixed


@pytest.mark.parametrize(
    ("task", "split", "name"),
    [
        ("acd", "3", ("acd", "3")),
        ("acd", "published_3", ("acd_published", "3")),
        ("acd", "published", ("acd_published", None)),
    ],
)
def test_a_split_is_named_and_is_that_of_what_was_trained(task, split, name):
    whole = find("yelp", task)
    found = COMPMCTG.under(whole, split)
    assert found == find("yelp", *name)
    assert (found.task, found.sets.split, whole.sets.split) == (whole.task, split, None)
    for unknown in ("10", "x", "acd_10", "original_0"):
        with pytest.raises(SplitError) as caught:
            COMPMCTG.under(whole, unknown)
        assert caught.value.remedy
