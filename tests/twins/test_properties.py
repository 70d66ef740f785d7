"""What holds of the twins of any corpus of triples or slots."""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core.sample import AttributeValue, DataUnit, Hidden, Sample, SampleMaker, Triple
from spor_tasks.corpora.e2e.kinds import KINDS as E2E
from spor_tasks.corpora.kinds import CorpusKinds
from spor_tasks.corpora.viggo.kinds import KINDS as VIGGO
from spor_tasks.corpora.webnlg.kinds import KINDS as WEBNLG
from spor_tasks.text.normalize import display
from spor_tasks.twins import Twins
from spor_tasks.twins.lexicon import lexicon
from spor_tasks.twins.tokens import tokens_of
from spor_tasks.twins.writing import exchanged_entity

Parts: TypeAlias = tuple[Sequence[str], Sequence[int], bool]

# Names of every form. No two have a word in common, save that texts also know an ordinary `gate`.
NAMES = (
    *("Velmor", "Port Anselm", "Ana Dørrit", "Kai-shek Obran", "Zoë B. Quist", "O'Tarrin", "HJK"),
    *("Brask Unnik", "Heron Gate", "Lumen & Sohns", "Xylo Fief", "Mirna 41", "Wexcombe", "Ya'kub"),
)


class World(NamedTuple):
    """A kind of corpus, the attributes of names in it, and units about other things."""

    kinds: CorpusKinds
    of_names: Sequence[str]
    others: Sequence[tuple[str, str]]

    @property
    def has_triples(self) -> bool:
        return self.kinds is WEBNLG

    def sample(self, make: SampleMaker, parts: Parts) -> Sample:
        (about, *names), others, hides = parts
        told = [*zip(self.of_names, names, strict=False)]
        told += [self.others[index % len(self.others)] for index in others]
        units = tuple(self.unit(about, *each) for each in told)
        sample = make(units, (), **({} if self.has_triples else {"name": about}))
        if not hides:
            return replace(sample, references=texts_of(sample))
        attribute, name = told[0]
        shown = (self.unit(about, attribute, "Entity 1"), *units[1:])
        what = name if self.has_triples else attribute
        hidden = Hidden(((what, "Entity 1"),), ((attribute, (name,)),))
        return replace(sample, units=shown, challenge=hidden)

    def unit(self, about: str, attribute: str, value: str) -> DataUnit:
        if self.has_triples:
            return Triple(about.replace(" ", "_"), attribute, value.replace(" ", "_"))
        return AttributeValue(attribute, value)


WORLDS = (
    World(
        WEBNLG,
        ("leader", "birth place", "club", "notable work", "comparable"),
        (
            *(("height", number) for number in ("12", "48.5", "3,720", "2 (floors)", "250000")),
            *(("birth date", date) for date in ("1907-05-07", "1988-02-29", "2003")),
            ("genre", "Rock_music"),
        ),
    ),
    World(E2E, ("near",), (("food", "French"), ("price range", "less than £20"))),
    World(
        VIGGO,
        ("developer",),
        (("release year", "1998"), ("exp release date", "February 22, 2019"), ("rating", "good")),
    ),
)


def texts_of(sample: Sample) -> tuple[str, str]:
    """Return texts that nothing but the sample's units and name decides."""
    units = [(unit[0], unit[-1]) if isinstance(unit, Triple) else unit for unit in sample.units]
    told = [f"{display(what)} has {display(value)}" for what, value in units]
    about = f"At the gate, at {sample.about('name') or 'all'}: "
    return about + ", ".join(told), about + ", ".join(map(str.upper, told[::-1])).replace(
        "HAS", "has"
    )


def made(world: World, contents: Sequence[Parts]) -> tuple[Sample, ...]:
    make = SampleMaker("world")
    every = [((first, second), (), False) for first, second in pairwise(NAMES)]
    return tuple(world.sample(make, parts) for parts in [*every, *contents])


worlds = st.builds(
    lambda world, contents: (world, made(world, contents)),
    st.sampled_from(WORLDS),
    st.lists(
        st.tuples(
            st.lists(st.sampled_from(NAMES), min_size=2, max_size=4, unique=True),
            st.lists(st.integers(0, 8), max_size=3, unique=True),
            st.booleans(),
        ),
        min_size=1,
        max_size=4,
    ),
)


def keys(text: str) -> set[str]:
    return {token.key for token in tokens_of(display(text)) if token.text[0].isupper()}


@given(worlds)
def test_one_mapping_exchanges_everything_and_leaves_nothing(
    drawn: tuple[World, tuple[Sample, ...]],
) -> None:
    world, samples = drawn
    twins = Twins(lexicon(samples, world.kinds, "seed"))
    names = set().union(*map(keys, NAMES)) - {"b", "o", "port"}  # initials, and what says a kind
    for sample in samples:
        twin = twins.twin(sample)
        assert isinstance(twin, Sample)
        assert (twin.id, len(twin.units)) == (sample.id, len(sample.units))
        if sample.challenge is None:
            assert twin.references == texts_of(twin)
        texts = [*texts_of(twin), *twin.references]
        if isinstance(hidden := twin.challenge, Hidden):
            texts.append(str(hidden.phrases + hidden.values))
        assert not names & keys(" ".join(texts))


@given(worlds)
def test_no_two_names_become_one_and_none_is_known(
    drawn: tuple[World, tuple[Sample, ...]],
) -> None:
    world, samples = drawn
    twins = Twins(lexicon(samples, world.kinds, "seed"))
    words = {key: word for key, word in twins.lexicon.words.items() if ":" not in key}
    assert len({*words.values()}) == len(words)
    known = {token.key for name in NAMES for token in tokens_of(name) if len(token.text) > 3}
    known |= {
        token.key for each in samples for text in each.references for token in tokens_of(text)
    }
    assert not known & {*words.values()}
    entities = {name: exchanged_entity(twins.lexicon, name) for name in twins.lexicon.kinds}
    assert len({*entities.values()}) == len(entities)


@pytest.mark.parametrize(
    ("world", "golden"),
    [*zip(WORLDS, ("eb57afd5b1af7bbc", "07978123c614522a", "fe4c177450470877"), strict=True)],
    ids=("webnlg", "e2e", "viggo"),
)
def test_a_seed_has_the_same_words_everywhere_and_another_has_others(
    world: World, golden: str
) -> None:
    samples = made(world, [])
    words, others = (lexicon(samples, world.kinds, f"world {seed}").words for seed in (0, 1))
    assert sha256(repr(sorted(words.items())).encode()).hexdigest()[:16] == golden
    assert words.keys() == others.keys()
    assert sum(words[key] == others[key] for key in words) < 0.1 * len(words)
