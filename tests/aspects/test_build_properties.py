"""What holds of the sets of every aspect, built from any small corpus and stored in a folder."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import assume, given
from hypothesis import strategies as st

from spor_tasks.aspects import build
from spor_tasks.core.codec import to_row
from spor_tasks.core.errors import SplitError
from spor_tasks.core.files import encode_row
from spor_tasks.core.sample import CorpusSamples, Sample, SampleMaker, SplitPair, Triple
from spor_tasks.corpora import own
from tests.oracles.requirements import broken
from tests.support.strategies import pools

ASPECTS = (
    ("systematicity", None),
    ("productivity", "n1"),
    ("productivity", "n2"),
    ("order_invariance", "main"),
    ("order_invariance", "cwio"),
    ("order_invariance", "performance"),
    ("rule_learnability", None),
)
BIRDS = {"a": "Auk", "b": "Bittern", "c": "Crane", "d": "Dunlin"}
BIRDS |= {"e": "Egret", "f": "Fulmar", "g": "Gull", "h": "Heron"}


def tell(letters: Sequence[Sample]) -> tuple[Sample, ...]:
    """Samples whose texts mention all that their units are about, in two orders."""
    make = SampleMaker("birds")
    names = [[BIRDS[unit[0]] for unit in sample.units] for sample in letters]
    return tuple(
        make(
            [Triple(name, "eats", "herring") for name in told],
            [f"{' and '.join(told)} eat herring.", f"Herring for {' and '.join(told[::-1])}."],
        )
        for told in names
    )


# There is something to build of every aspect, and more that comes in the way.
trains = pools(always=[*"abcdefgh" * 2, "abd", "abe", "ab", "bc"]).map(tell)
tests = pools(always=["ab", "abc", "acdeg"]).map(tell)
corpora = st.builds(CorpusSamples, st.just("birds"), trains, tests)


def built(corpus: CorpusSamples, named: tuple[str, str | None], seed: int) -> SplitPair:
    try:
        return build.build(corpus, *named, seed=seed, restarts=2)
    except SplitError:
        assume(False)  # noqa: FBT003
        raise


@given(corpora, st.sampled_from(ASPECTS), st.integers(0, 3))
def test_every_build_is_what_its_aspect_requires(
    corpus: CorpusSamples, named: tuple[str, str | None], seed: int
) -> None:
    assert broken(built(corpus, named, seed)) == []


@given(trains, tests)
def test_a_corpus_of_ones_own_is_read_as_it_was_written(
    train: Sequence[Sample], test: Sequence[Sample]
) -> None:
    rows = [
        {**to_row(sample), "split": part}
        for part, samples in (("train", train), ("test", test))
        for sample in samples
    ]
    with TemporaryDirectory() as temporary:
        path = Path(temporary, "birds.jsonl")
        path.write_bytes(b"".join(map(encode_row, rows)))
        corpus = own.read_corpus(path)
    assert [to_row(sample) for sample in corpus.train] == [to_row(sample) for sample in train]
    assert [to_row(sample) for sample in corpus.test] == [to_row(sample) for sample in test]
    assert len({sample.id for sample in corpus.samples}) == len(rows)
