"""Every aspect is built from a corpus that is large enough, and a sentence says why one cannot."""

import os
import subprocess
import sys

import pytest

from spor_tasks.aspects import build, check, named, search
from spor_tasks.core.digests import digest
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import AttributeValue, CorpusSamples, Sample, SampleMaker
from spor_tasks.corpora.embedded import MINI
from tests.conftest import REPOSITORY
from tests.oracles.requirements import broken
from tests.support.strategies import pool

SETS = [s.name[::3] for s in named.available() if s.name[1:3] == ("mini", "strict")]
LETTERS = pool([*"abcdefgh" * 2, "abcde", "cdefgh", "ab", "bc", "bcx", "abd"])


def test_every_aspect_of_a_corpus_that_is_large_enough_meets_its_requirements() -> None:
    for aspect, part in SETS:
        assert broken(named.load(aspect, "mini", part=part)) == []


def made(train: tuple[Sample, ...], test: tuple[Sample, ...]) -> CorpusSamples:
    return CorpusSamples("a", train, test)


def test_other_thresholds_than_the_papers_can_be_built() -> None:
    corpus = CorpusSamples("letters", LETTERS, pool(["aceg", "abcfg", "abc"]))
    pair = build.build(corpus, "productivity", "n2")
    assert pair.part == "n2"
    assert check.check(pair).holds


def test_another_seed_gives_other_sets_and_the_same_one_the_same() -> None:
    first, again, other = (
        build.build(MINI.read(), "systematicity", seed=seed, restarts=1) for seed in (0, 0, 1)
    )
    assert first == again
    assert first.test != other.test


def digests() -> list[str]:
    """Of sets of the embedded corpus, built of every aspect and searched."""
    pairs = [search.systematicity(MINI.read().samples, 4, rounds=1).pair]
    pairs += [build.build(MINI.read(), *name, restarts=3) for name in SETS]
    return [digest(split.samples) for pair in pairs for split in pair.splits]


def test_sets_are_the_same_in_every_process() -> None:
    script = "from tests.aspects.test_build import digests; print(digests())"
    environment = {**os.environ, "PYTHONHASHSEED": "1", "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, check=True, stdout=subprocess.PIPE
    )
    assert done.stdout.decode() == f"{digests()}\n"


def test_only_test_samples_of_known_units_are_tested() -> None:
    corpus = CorpusSamples("letters", pool(["a", "b", "ab"]), pool(["ab", "bc", "ba"]))
    for part in ("cwio", "performance"):
        tested = build.build(corpus, "order_invariance", part).test.samples
        assert [sample.references for sample in tested] == [("The word ab.",), ("The word ba.",)]


@pytest.mark.parametrize(
    ("corpus", "aspect", "part", "fault"),
    [
        (made(pool(["ab", "cd", "c"]), ()), "systematicity", None, "of 2 .* lacks this for 1"),
        (made(pool(["a", "b", "ab"]), ()), "systematicity", None, "would not differ from Atom"),
        (made(LETTERS, ()), "productivity", "n3", "has no test samples"),
        (made(LETTERS, ()), "order_invariance", "main", "has no test samples"),
        (made(LETTERS, ()), "rule_learnability", None, "has no test samples"),
        (made((), LETTERS), "order_invariance", "main", "no training samples"),
        (made(LETTERS, pool(["xyz"])), "productivity", None, "of 1, the nearest lacks 2"),
        (made(LETTERS, pool(["ab"])), "productivity", "n3", "the largest of 1 has 2"),
        (made(LETTERS, pool(["a"])), "order_invariance", "cwio", "suits part 'cwio': in 1"),
        (made(LETTERS, pool(["a"])), "rule_learnability", None, "can be hidden"),
        (made(LETTERS, LETTERS), "productivity", "main", "has no part"),
        (made(LETTERS, LETTERS), "order_invariance", "n3", "'order_inv"),
        (made(LETTERS, LETTERS), "systematicity", "n3", "'systematicity n3'"),
        (made(LETTERS, LETTERS), "colour", None, "'colour'"),
    ],
)
def test_a_sentence_says_why_sets_cannot_be_built(
    corpus: CorpusSamples, aspect: str, part: str | None, fault: str
) -> None:
    with pytest.raises(SplitError, match=fault):
        build.build(corpus, aspect, part)


def test_pairs_of_other_attributes_than_e2es_hide_what_references_copy() -> None:
    make = SampleMaker("boats")
    samples = tuple(make([AttributeValue("length", n)], [f"{n} metres"]) for n in ("4", "6"))
    pair = build.build(CorpusSamples("boats", samples, samples), "rule_learnability")
    assert [sample.units for sample in pair.test.samples] == [(("length", "Value A"),)] * 2
    without = tuple(make(sample.units, ["A boat."]) for sample in samples)
    with pytest.raises(SplitError) as error:
        build.build(CorpusSamples("boats", samples, without), "rule_learnability")
    assert error.value.remedy


def test_values_are_hidden_where_no_sample_has_a_name() -> None:
    make = SampleMaker("cafes")
    values = {
        "eat type": "pub",
        "food": "Thai",
        "price range": "cheap",
        "customer rating": "low",
        "area": "harbour",
        "family friendly": "yes",
        "near": "The Pier",
    }
    sample = make([AttributeValue(*value) for value in values.items()], ["A pub."])
    pair = build.build(CorpusSamples("cafes", (sample,), (sample,)), "rule_learnability")
    assert {sample.about("name") for sample in pair.test.samples} == {None}
    assert check.check(pair).holds
