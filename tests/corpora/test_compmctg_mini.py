"""The embedded texts, the oracle that reads them, and what simple systems score."""

import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations

import pytest

from spor_tasks.benchmarks.compmctg.benchmark import COMPMCTG
from spor_tasks.core import digests
from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import Sample
from spor_tasks.corpora.compmctg.reader import combination_in
from spor_tasks.corpora.compmctg.spaces import Combination
from spor_tasks.corpora.compmctg_mini import COMPMCTG_MINI, worlds
from spor_tasks.corpora.compmctg_mini.oracle import is_readable, oracle
from spor_tasks.metrics.base import Tally, metric
from tests.conftest import REPOSITORY

DOC = (REPOSITORY / "docs" / "compmctg.md").read_text("utf-8")
TRAIN, SPACE = worlds.samples(), worlds.SPACE


# --- What there is --------------------------------------------------------------------------------


def test_the_corpus_is_the_same_on_every_machine() -> None:
    assert digests.digest(COMPMCTG_MINI.everything()) == (
        "2f674a56cb4d717d434e8512ca9eb1c0258e61690b517c85e97974c2bdc4ea96"
    )


def test_a_seed_makes_the_same_texts_and_another_one_others() -> None:
    assert worlds.samples(1, 7) == worlds.samples(1)[: 7 * len(SPACE.combinations)]
    assert worlds.samples(1, 7) != worlds.samples(2, 7)
    assert worlds.samples(1, 0) == ()


def test_every_combination_has_as_many_texts_and_no_text_is_there_twice() -> None:
    counts = Counter(map(combination_in, TRAIN))
    assert counts == dict.fromkeys(SPACE.combinations, worlds.EACH)
    assert len({sample.target for sample in TRAIN}) == len(TRAIN)


def test_no_word_is_of_two_values_or_of_none_and_a_value() -> None:
    said = [{*words} for values in worlds.WORDS.values() for words in values.values()]
    others = {word.lower().strip(",") for text in worlds.PREFIXES for word in text.split()}
    for one, other in combinations([*said, others, {*worlds.DEGREES}], 2):
        assert one.isdisjoint(other)
    assert not any(one.startswith(other) for one, other in combinations(worlds.PREFIXES, 2))


# --- The oracle -----------------------------------------------------------------------------------


def test_the_oracle_reads_every_text_of_every_seed() -> None:
    for sample in (*TRAIN, *worlds.samples(1)):
        assert is_readable(sample.target)
        assert tuple(oracle(sample.target).values()) == combination_in(sample)


@pytest.mark.parametrize(
    ("text", "values", "readable"),
    [
        ("In short, the soup is lovely.", ("Positive", "Present", "Food"), True),
        ("in short,the soup IS\nlovely .", ("Positive", "Present", "Food"), True),
        ("the soup is lovely.", ("Positive", "Present", "Food"), False),
        ("In short, the soup is lovely and the cake is dull.", (None, "Present", "Food"), False),
        ("In short, the soup is", (None, "Present", "Food"), False),
        ("lovely dull is was soup song train", (None, None, None), False),
        ("In short, the soups island loveliness.", (None, None, None), False),
        ("", (None, None, None), False),
    ],
)
def test_the_oracle_says_nothing_where_words_are_missing_or_differ(
    text: str, values: tuple[str | None, ...], readable: object
) -> None:
    assert tuple(oracle(text).values()) == values
    assert is_readable(text) is readable


# --- Floors: docs/compmctg.md has these numbers ---------------------------------------------------

TEXTS: dict[Combination, list[str]] = defaultdict(list)
for _sample in TRAIN:
    TEXTS[combination_in(_sample)].append(_sample.target)

Seen = Sequence[Combination]
System = Callable[[Sample, Seen, random.Random], str]


def scores(system: System, protocol: str) -> dict[str, float]:
    """Return the scores of a system on all splits of a protocol together."""
    rng, mini = random.Random(0), metric("mini_attributes")
    tally = Tally(mini.scores)
    for spec in COMPMCTG.sets():
        if spec.name[1:3] == (worlds.NAME, protocol):
            asked = COMPMCTG.load(spec.name).test.samples
            seen = sorted({combination_in(s) for s in asked if not s.context["unseen"]})
            outputs = [(continued(system(sample, seen, rng)),) for sample in asked]
            for evidence in mini.measure(asked, outputs):
                tally.add(mini.values(evidence))
    return {score.name: score.value for score in tally.scores(mini.signature)}


def continued(text: str) -> str:
    """Return a text without its beginning, which the request gives."""
    return text[next((len(each) for each in worlds.PREFIXES if text.startswith(each)), 0) :]


def constant(_: Sample, __: Seen, ___: random.Random) -> str:
    return TRAIN[0].target


def deaf(_: Sample, seen: Seen, rng: random.Random) -> str:
    return rng.choice(TEXTS[rng.choice(seen)])


def nearest(sample: Sample, seen: Seen, rng: random.Random) -> str:
    wanted = combination_in(sample)
    alike = [sum(map(str.__eq__, wanted, each)) for each in seen]
    close = [each for each, n in zip(seen, alike, strict=True) if n == max(alike)]
    return rng.choice(TEXTS[rng.choice(close)])


def reference(sample: Sample, _: Seen, rng: random.Random) -> str:
    return rng.choice(TEXTS[combination_in(sample)])


@pytest.mark.parametrize(
    ("system", "holdout", "acd"),
    [
        (lambda *_: "", (0, 0, None), (0, 0, None)),
        (constant, (44, 44, 0), (46, 43, 8)),
        (deaf, (45, 39, 13), (54, 36, 32)),
        (nearest, (100, 67, 33), (100, 67, 33)),
        (reference, (100, 100, 0), (100, 100, 0)),
    ],
    ids=["nothing", "one for all", "ignores its codes", "nearest seen text", "training texts"],
)
def test_what_simple_systems_score(
    system: System,
    holdout: tuple[int, int, int | None],
    acd: tuple[int, int, int | None],
) -> None:
    for protocol, expected in (("holdout", holdout), ("acd", acd)):
        found = scores(system, protocol)
        seen, comp, gap = (found[f"mini_{name}"] for name in ("acc_id", "acc_comp", "gap"))
        assert (round(seen), round(comp), None if math.isnan(gap) else round(gap)) == expected
        assert math.isnan(gap) or gap == pytest.approx(100 * (seen - comp) / seen)
        assert found["mini_readable"] == (100 if seen else 0)
    told = " | ".join("–" if number is None else str(number) for number in (*holdout, *acd))
    assert f"| {told} |" in DOC


def test_the_beginning_is_part_of_what_is_scored() -> None:
    mini, sample = (
        metric("mini_attributes"),
        COMPMCTG.load(COMPMCTG.sets()[-1].name).test.samples[0],
    )
    start = replace(sample, context={"prefix": "The soup"})
    assert mini.values(mini.measure([start], [(" is",)])[0])["mini_acc_topic"] == 100
    assert "mini_gap" not in mini.values(mini.measure([start], [("",)])[0])


def test_texts_of_other_corpora_are_refused() -> None:
    with pytest.raises(CorpusError) as caught:
        metric("mini_attributes").measure([replace(TRAIN[0], corpus="yelp")], [("",)])
    assert caught.value.remedy
