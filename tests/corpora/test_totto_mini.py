"""The embedded tables: ToTTo's form, the published rule of overlap, what simple systems score."""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from itertools import combinations
from statistics import fmean

import pytest

from spor_tasks.aspects import overlap
from spor_tasks.core import digests
from spor_tasks.core.sample import Sample
from spor_tasks.corpora.tables import header_values
from spor_tasks.corpora.totto.linearize import in_variant, published
from spor_tasks.corpora.totto.table import fault_of, table_of
from spor_tasks.corpora.totto_mini import TOTTO_MINI, worlds
from spor_tasks.metrics.base import Tally
from spor_tasks.metrics.chrf import CHRF
from spor_tasks.metrics.totto import TOTTO_REAL
from tests.conftest import REPOSITORY

TRAIN, TEST = worlds.samples("train"), worlds.samples("test")
HALVES = [[s for s in TEST if s.context["overlap"] is known] for known in (True, False)]
EVERY = (*TRAIN, *TEST)


# --- What there is --------------------------------------------------------------------------------


def test_the_corpus_is_the_same_on_every_machine() -> None:
    assert digests.digest(TOTTO_MINI.everything()) == (
        "480468f15e99f1301873752db15b5d3391b8c35c15683c9704dbdfc98817b6af"
    )


def test_a_seed_makes_the_same_samples_and_another_one_others() -> None:
    assert worlds.samples("train", 1, 7) == worlds.samples("train", 1)[: 7 * worlds.EXAMPLES]
    assert not {*worlds.samples("train", 1, 50)} & {*worlds.samples("train", 2, 50), *EVERY}
    assert worlds.samples("test", 1, 0) == ()


def test_a_sample_is_like_one_of_totto() -> None:
    assert len({sample.about("name") for sample in EVERY}) == len(EVERY)
    for sample in EVERY:
        table = table_of(sample)
        assert fault_of(table) is None
        assert [unit[-1] for unit in sample.units] == [c.value for c in table.highlighted_cells]
        assert all(map(all, sample.units))
        assert 1 <= len(sample.units) <= 5
        assert {"name", "title", "section_title", "source", "table"} <= sample.context.keys()
        assert len({*sample.references}) == len(sample.references)
    assert {len(sample.references) for sample in TRAIN} == {1}
    assert {len(sample.references) for sample in TEST} == {2, 3}
    assert not any("overlap" in sample.context for sample in TRAIN)
    assert {s.cluster for s in TRAIN}.isdisjoint(s.cluster for s in TEST)


def test_tables_have_all_that_totto_s_have() -> None:
    tables = [table_of(sample) for sample in EVERY]
    cells = [cell for table in tables for cell in table.cells]
    assert any(cell.is_header and cell.column_span > 1 for cell in cells)
    assert any(not cell.is_header and cell.column_span > 1 for cell in cells)
    assert any(cell.row_span > 1 for cell in cells)
    assert any(not cell.value and not cell.is_header for cell in cells)
    assert any(len({len(row) for row in table.rows}) > 1 for table in tables)
    assert any(cell.is_header for table in tables for row in table.rows[1:] for cell in row[:1])
    assert any(sorted(t.highlighted) != list(t.highlighted) for t in tables)
    prompts = [published(in_variant(sample, "fulltable_metadata")) for sample in EVERY]
    assert max(len(prompt.split()) for prompt in prompts) < 400  # a tiny model reads them


def test_a_reference_tells_each_highlighted_value_and_no_other_one() -> None:
    for sample in EVERY:
        told = {unit[-1] for unit in sample.units}
        allowed = " ".join([sample.about("title") or "", *told])
        for text in sample.references:
            assert all(value in text for value in told)
            numbers = Counter(re.findall(r"\d+", text))
            assert numbers.keys() <= {*re.findall(r"\d+", allowed)}


# --- Overlap --------------------------------------------------------------------------------------


def test_overlap_follows_the_published_rule_in_half_of_the_test_set() -> None:
    known = {header_values(sample) for sample in TRAIN}
    assert all((header_values(s) in known) is s.context["overlap"] for s in TEST)
    assert list(map(len, HALVES)) == [90, 90]


def test_only_the_combination_of_headers_is_new() -> None:
    def words(samples: Sequence[Sample]) -> set[str]:
        texts = (published(in_variant(s, "fulltable_metadata")) for s in samples)
        return {word for text in texts for word in text.split()}

    def pairs(sample: Sample) -> set[frozenset[str]]:
        return {frozenset(pair) for pair in combinations(header_values(sample), 2)}

    assert words(TEST) <= words(TRAIN)
    known, new = set().union(*map(pairs, TRAIN)), HALVES[1]
    assert all(pairs(sample) <= known for sample in HALVES[0])
    # Where columns have groups, it is three headers that never stood together.
    assert fmean(not pairs(sample) <= known for sample in new) == pytest.approx(2 / 3)


def test_both_halves_ask_the_same() -> None:
    for count in (
        lambda s: len(s.units),
        lambda s: s.about("section_title"),
        lambda s: len(s.references),
    ):
        assert Counter(map(count, HALVES[0])) == Counter(map(count, HALVES[1]))


# --- Floors: docs/totto.md has these numbers ------------------------------------------------------

System = Callable[[Sample], str]


SCORES = ("totto_chrf", "totto_bleu_real", "totto_parent_real")


def scores(system: System) -> list[tuple[int, int]]:
    """Return the rounded scores of a system on either half."""
    tally = Tally(TOTTO_REAL.scores)
    for found in TOTTO_REAL.measure(TEST, [(system(sample),) for sample in TEST]):
        tally.add(TOTTO_REAL.values(found))

    def half(name: str, which: str) -> int:
        return round(tally.column(f"{name}_{which}").value)

    return [(half(name, "overlap"), half(name, "nonoverlap")) for name in SCORES]


def titled(sample: Sample) -> str:
    return " ".join([sample.about("title") or "", *(unit[-1] for unit in sample.units)])


def by_heart() -> System:
    """Return a system that knows the sentences of each header, and copies cells of others."""
    known: dict[frozenset[str], list[tuple[Counter[str], str]]] = defaultdict(list)
    for sample in TRAIN:
        slots = {sample.about("title") or "": "title"}
        slots |= {
            unit[-1]: f"{unit[0]} {slot_of(sample, i)}" for i, unit in enumerate(sample.units)
        }
        pattern = "|".join(map(re.escape, sorted(slots, key=len, reverse=True)))
        text = re.sub(rf"\b({pattern})\b", lambda m: f"{{{slots[m[0]]}}}", sample.references[0])  # noqa: B023
        known[header_values(sample)].append((headers(sample), text))

    def write(sample: Sample) -> str:
        own, templates = headers(sample), known.get(header_values(sample))
        if templates is None:
            return titled(sample)
        _, text = max(templates, key=lambda each: (own & each[0]).total() - (own - each[0]).total())
        filling = {
            f"{unit[0]} {slot_of(sample, i)}": unit[-1] for i, unit in enumerate(sample.units)
        }
        filling["title"] = sample.about("title") or ""
        return re.sub(r"\{(.*?)\}", lambda match: filling.get(match[1], ""), text)

    return write


def headers(sample: Sample) -> Counter[str]:
    return Counter(unit[0] for unit in sample.units)


def slot_of(sample: Sample, number: int) -> int:
    """Return how many units before one have its header."""
    return sum(unit[0] == sample.units[number][0] for unit in sample.units[:number])


def other_wording(sample: Sample) -> str:
    """Return the sentence of a person whom the references do not have."""
    return sample.references[-1]


SYSTEMS: dict[str, System] = {
    "nothing": lambda _: "",
    "one sentence for all": lambda _: TRAIN[0].references[0],
    "the highlighted cells": lambda sample: " ".join(unit[-1] for unit in sample.units),
    "title and highlighted cells": titled,
    "a sentence of the same header set, learned by heart, or else title and cells": by_heart(),
    "the references": other_wording,
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_simple_systems_score_what_the_page_says(name: str) -> None:
    page = (REPOSITORY / "docs" / "totto.md").read_text("utf-8")
    cells = [f"{one} \\| {other}" for one, other in scores(SYSTEMS[name])]
    assert f"| {name} | {' | '.join(cells)} |" in page


def test_a_split_of_the_corpus_by_the_published_rule_is_itself() -> None:
    found = overlap.split(
        [header_values(sample) for sample in TRAIN],
        {"test": [header_values(sample) for sample in TEST]},
    )
    assert all(found.kept)
    assert list(found.flags["test"]) == [sample.context["overlap"] for sample in TEST]


def test_of_two_references_one_does_not_say_it_in_the_other_s_words() -> None:
    rng = random.Random(0)
    held_out = []
    for sample in TEST:
        told, *others = rng.sample(sample.references, len(sample.references))
        without = type(sample)(sample.id, sample.corpus, sample.units, tuple(others))
        held_out.append(CHRF.judge(without, told))
    assert 70 < fmean(held_out) < 90
