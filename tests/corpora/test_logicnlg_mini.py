"""The embedded tables: what is told is true or false as it claims, and nothing gives it away."""

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core import digests
from spor_tasks.core.columns import typed
from spor_tasks.core.sample import AttributeValue, Sample, contrast_of
from spor_tasks.core.table import Table
from spor_tasks.corpora.logicnlg.linearize import in_variant, published, table_of
from spor_tasks.corpora.logicnlg_mini import LOGICNLG_MINI, oracle, worlds
from spor_tasks.corpora.logicnlg_mini.grammar import (
    FORMS,
    LOGICS,
    Row,
    Scene,
    lexicon,
    variations,
)
from spor_tasks.metrics.programs.execute import verdict

PARTS: tuple[worlds.Part, ...] = ("train", "val", "test")
TABLE = Table(
    ("baker", "town", "coins"),
    (("Ann", "Eskdale", "9"), ("Bo", "Selby", "12"), ("Cy", "Selby", "20")),
)
ONLY = (
    "and{only{filter_less{all_rows; coins; 14}}; "
    "only{filter_less{filter_eq{all_rows; baker; Bo}; coins; 14}}}"
)
parts, seeds = st.sampled_from(PARTS), st.integers(0, 10**6)
Score = Callable[[Sample, str], float]


@pytest.fixture(scope="module")
def pairs() -> dict[str, tuple[Sample, ...]]:
    return {part: worlds.pairs(part) for part in PARTS}


@pytest.fixture(scope="module")
def others() -> tuple[Sample, ...]:
    """Samples of another seed."""
    return worlds.samples("train", 1, 200)


@pytest.fixture(scope="module")
def every(pairs: dict[str, tuple[Sample, ...]]) -> list[Sample]:
    return [*chain.from_iterable(pairs.values())]


# --- What there is --------------------------------------------------------------------------------


def test_the_corpus_is_the_same_on_every_machine() -> None:
    assert digests.digest(LOGICNLG_MINI.everything()) == (
        "9a076251026ec2bb5543927479fb9fdd5367041e511674bb3f1412d0f11e6c9b"
    )


def test_a_seed_makes_the_same_samples_and_another_one_others() -> None:
    assert worlds.samples("val", 1) == worlds.samples("val", 1)
    assert worlds.samples("val", 1) != worlds.samples("val", 2)
    assert worlds.samples("val", 1, 7) == worlds.samples("val", 1)[: 7 * worlds.STATEMENTS]
    assert worlds.samples("val", 1, 0) == ()


def test_each_part_has_its_tables_and_each_table_five_kinds_of_logic(
    pairs: dict[str, tuple[Sample, ...]],
) -> None:
    assert {part: len({s.cluster for s in of}) for part, of in pairs.items()} == worlds.TABLES
    for of in pairs.values():
        for start in range(0, len(of), worlds.STATEMENTS):
            told = of[start : start + worlds.STATEMENTS]
            assert len({sample.cluster for sample in told}) == 1
            assert len({sample.about("logic") for sample in told}) == worlds.STATEMENTS
        counts = Counter(sample.about("logic") for sample in of)
        assert counts.keys() == {*LOGICS}
        assert max(counts.values()) <= min(counts.values()) + 2


def test_pairs_are_the_samples_with_a_false_text(pairs: dict[str, tuple[Sample, ...]]) -> None:
    for part in PARTS:
        for sample, pair in zip(worlds.samples(part), pairs[part], strict=True):
            assert sample.challenge is None
            assert contrast_of(pair).text
            assert pair.about("other_program")
            added = {key: pair.context[key] for key in pair.context if key != "other_program"}
            assert (pair.id, pair.references, added) == (
                (sample.id, sample.references, sample.context)
            )


def test_a_sample_is_like_one_of_logicnlg(every: list[Sample]) -> None:
    for sample in every:
        table = table_of(sample)
        of_table = [other.target for other in every if other.cluster == sample.cluster]
        assert sample.references[0] == sample.target
        assert sorted(sample.references) == sorted(of_table)
        assert sample.corpus == "logicnlg_mini"
        assert sample.about("title")
        contrast = contrast_of(sample)
        for units, text, template, program in (
            (sample.units, sample.target, sample.about("template"), sample.about("program")),
            (contrast.units, contrast.text, contrast.template, sample.about("other_program")),
        ):
            assert template
            assert program
            named = [AttributeValue(name, str(i)) for i, name in enumerate(table.header)]
            used = {*re.findall(r"\w+", program)}
            assert units == tuple(unit for unit in named if unit.attribute in used)
            pattern = re.escape(template).replace(re.escape("[ENT]"), r"(\w+)")
            linked = re.fullmatch(pattern, text)
            assert linked
            cells = {cell for row in table.rows for cell in row}
            kept = {word for word in template.split() if word != "[ENT]"}
            assert not kept & cells
            assert "[ENT]" in template


def test_a_false_text_differs_in_one_word_and_sometimes_in_its_columns(every: list[Sample]) -> None:
    differ = 0
    for sample in every:
        contrast = contrast_of(sample)
        words = zip(sample.target.split(), contrast.text.split(), strict=True)
        assert sum(one != other for one, other in words) == 1
        differ += sample.units != contrast.units
    assert 0 < differ < len(every) / 10


def test_no_table_of_the_corpus_is_one_of_another_seed_or_part() -> None:
    def contents(part: worlds.Part, seed: int, tables: int | None = None) -> set[object]:
        found = map(table_of, worlds.samples(part, seed, tables)[:: worlds.STATEMENTS])
        return {(table.header, tuple(sorted(table.rows))) for table in found}

    own = [contents(part, 0) for part in PARTS]
    assert sum(map(len, own)) == len(set.union(*own)) == sum(worlds.TABLES.values())
    for seed in range(1, 6):
        for part in PARTS:
            assert contents(part, seed, 20).isdisjoint(set.union(*own))


def test_whose_a_table_is_depends_on_its_content_alone() -> None:
    tables = [*map(table_of, worlds.samples("train", 3, 50))]
    assert not any(worlds.is_of(table, part, 0) for table in tables for part in PARTS)
    for part in PARTS:
        for table in map(table_of, worlds.samples(part, 0)):
            turned = Table(table.header, table.rows[::-1])
            assert [of for of in PARTS if worlds.is_of(turned, of, 0)] == [part]
            assert not worlds.is_of(turned, part, 1)


# --- How simple it is -----------------------------------------------------------------------------


def test_the_language_is_small(others: tuple[Sample, ...]) -> None:
    prompts = [published(in_variant(sample, "full_table")) for sample in others]
    assert max(len(re.findall(r"\w+|[^\w\s]", text)) for text in prompts) <= 90
    texts = [sample.target for sample in others]
    assert all(6 <= len(text.split()) <= 14 for text in texts)
    words = {*re.findall(r"\w+|[^\w\s]", " ".join([*prompts, *texts]))}
    assert len(words) <= 150
    for table in map(table_of, others):
        assert len(table.header) == 3
        assert 3 <= len(table.rows) <= 4
        assert all(2 <= int(number) < 30 for *_, number in table.rows)


def test_no_name_contains_another_so_that_all_ways_to_compare_texts_agree(
    others: tuple[Sample, ...],
) -> None:
    tables = [*map(table_of, others)]
    cells = {cell.lower() for table in tables for row in table.rows for cell in row[:2]}
    assert not [(one, other) for one in cells for other in cells if one != other and one in other]
    headers = {name for table in tables for name in table.header}
    assert all(re.fullmatch(r"[A-Za-z]+", word) for word in cells | headers)
    assert not headers & cells


# --- What is true ---------------------------------------------------------------------------------


@given(part=parts, seed=seeds)
def test_what_is_told_is_true_and_its_counterpart_false(part: worlds.Part, seed: int) -> None:
    for sample in worlds.samples(part, seed, 2):
        table = typed(table_of(sample))
        assert verdict(sample.about("program") or "", table) is True


def test_of_each_pair_one_program_is_true_and_the_other_false(
    every: list[Sample],
) -> None:
    for sample in every:
        table = typed(table_of(sample))
        assert verdict(sample.about("program") or "", table) is True
        assert verdict(sample.about("other_program") or "", table) is False


@given(part=parts, seed=seeds, data=st.data())
def test_the_oracle_reads_what_is_told_in_any_spelling(
    part: worlds.Part, seed: int, data: st.DataObject
) -> None:
    spell: Callable[[str], str] = data.draw(st.sampled_from([str.upper, str.lower, str.title]))
    blank = data.draw(st.sampled_from([" ", "  ", "\t ", "\n"]))
    for sample in worlds.samples(part, seed, 2):
        text = spell(sample.target)
        table = table_of(sample)
        for spelt in (text, text.replace(" .", "."), blank + text.replace(" ", blank) + blank):
            assert oracle.read(spelt, table) == sample.about("program")


@given(seed=seeds)
def test_every_sentence_of_a_table_reads_back_and_the_executor_says_what_holds(seed: int) -> None:
    for sample in worlds.samples("train", seed, 1):
        table = table_of(sample)
        known = lexicon(table)
        scene = Scene(tuple(Row(name, place, int(number)) for name, place, number in table.rows))
        told = oracle.sentence(sample.target, table)
        assert told
        for sentence in [told, *(found for _, found in variations(told, known))]:
            assert oracle.sentence(sentence.text, table) == sentence
            holds = sentence.form.holds(scene, sentence.filling)
            assert verdict(sentence.program, typed(table)) is holds


def test_every_form_is_told(others: tuple[Sample, ...]) -> None:
    found = [oracle.sentence(sample.target, table_of(sample)) for sample in others]
    told = Counter((one.form.wording, one.filling.get("op", "")) for one in found if one)
    assert {(form.wording, op) for form in FORMS for op in form.programs} == told.keys()


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("only Bo has fewer than 14 coins.", ONLY),
        ("selby has two of the bakers.", "eq{count{filter_eq{all_rows; town; Selby}}; 2}"),
        ("THE MOST COINS GO TO Selby .", "eq{hop{argmax{all_rows; coins}; town}; Selby}"),
        ("every baker has fewer than 19 coins .", "all_less{all_rows; coins; 19}"),
    ],
)
def test_a_sentence_means_a_program(text: str, program: str) -> None:
    assert oracle.read(text, TABLE) == program


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "Bo has more coins than Ann",  # cut before its end
        "Bo has more coins than Ann ..",
        "Bo has more coins than Ann . Ann",
        "Bo has more coins than Dora .",  # not in the table
        "Bo has more coins than Bo .",  # of itself, where `no` would always be true
        "Bo and Bo share a town .",
        "Selby has fewer coins in total than Selby .",
        "Bo has more goats than Ann .",  # of another table
        "Selby has more coins than Ann .",
        "Selby has 2 of the bakers .",
        "Selby has six of the bakers .",
        "every baker has more than many coins .",
        "every baker has more than 1 coins .",  # true of nearly every table
        "every baker has more than 012 coins .",
        "every baker has more than ¹² coins .",
        "every baker has most than 12 coins .",
        "every <person> has <op> than <number> <things> .",
    ],
)
def test_what_is_not_of_the_language_means_nothing(text: str) -> None:
    assert oracle.read(text, TABLE) is None


@pytest.mark.parametrize(
    "table",
    [
        Table((), ()),
        Table(("baker", "town"), (("Ann", "Selby"),)),
        Table(("baker", "town", "coins", "more"), (("Ann", "Selby", "1", "2"),)),
        Table(("baker", "town", "coins"), ((), ("Ann",))),
    ],
)
def test_of_a_table_without_its_cells_nothing_is_said(table: Table) -> None:
    assert oracle.read("Ann is the only baker from Selby .", table) is None


# --- What gives the truth away: nothing -----------------------------------------------------------

# Chance has half of 150 pairs right, with a standard deviation of 4.1 %; 60 % is 2.4 of it above.
BOUND = 60.0


def accuracy(pairs: Sequence[Sample], score: Score) -> float:
    """Return how often a score prefers what is true, in %; a tie counts as half."""
    margins = [score(pair, pair.target) - score(pair, contrast_of(pair).text) for pair in pairs]
    return 100 * sum(1.0 if m > 1e-9 else 0.5 * (m >= -1e-9) for m in margins) / len(margins)


def grams(text: str, n: int) -> list[tuple[str, ...]]:
    words = text.split()
    return [*zip(*(words[start:] for start in range(n)), strict=False)]


def classifier(pairs: Sequence[Sample], n: int) -> Score:
    """Return a naive Bayes model of which side is true, by n-grams."""
    true = Counter(gram for pair in pairs for gram in grams(pair.target, n))
    false = Counter(gram for pair in pairs for gram in grams(contrast_of(pair).text, n))
    return lambda _, text: sum(
        math.log((true[gram] + 1) / (false[gram] + 1)) for gram in grams(text, n)
    )


def language_model(pairs: Sequence[Sample], n: int) -> Score:
    """Return a model that prefers what is written often."""
    counts = Counter(gram for pair in pairs for gram in grams(pair.target, n))
    return lambda _, text: sum(math.log(counts[gram] + 1) for gram in grams(text, n))


def cells(pair: Sample) -> list[str]:
    table = table_of(pair)
    return [*table.header, *chain.from_iterable(table.rows)]


def in_one_row(pair: Sample, text: str) -> int:
    return max(len({*text.split()} & {*row}) for row in table_of(pair).rows)


@pytest.mark.parametrize("part", PARTS)
def test_each_pair_has_a_twin_with_the_sides_exchanged(
    pairs: dict[str, tuple[Sample, ...]], part: worlds.Part
) -> None:
    """Whatever looks at texts, linked columns and title alone is right in half of all pairs."""
    sides = [
        ((pair.about("title"), pair.target, pair.units), contrast_of(pair)) for pair in pairs[part]
    ]
    given = Counter((title, (a, u), (b.text, b.units)) for (title, a, u), b in sides)
    turned = Counter((title, (b.text, b.units), (a, u)) for (title, a, u), b in sides)
    assert given == turned


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("n", [1, 2])
def test_a_model_of_texts_alone_does_no_better_than_chance(
    pairs: dict[str, tuple[Sample, ...]], part: worlds.Part, n: int
) -> None:
    # Of each two tables it sees one: with both, it would learn nothing at all.
    seen = [pair for pair in pairs["train"] if int(str(pair.about("name")).split("-")[-1]) % 2]
    assert accuracy(seen, classifier(seen, n)) > 55  # it does learn these
    for model in (classifier(seen, n), classifier(pairs["train"], n), language_model(seen, n)):
        assert accuracy(pairs[part], model) == 50


@pytest.mark.parametrize(
    "score",
    [
        pytest.param(lambda _, text: len(text.split()), id="words"),
        pytest.param(lambda _, text: len(text), id="letters"),
        pytest.param(lambda _, text: "more" in text.split(), id="more"),
        pytest.param(lambda pair, text: len({*text.split()} & {*cells(pair)}), id="overlap"),
        pytest.param(
            lambda pair, text: sum(map(Counter(cells(pair)).__getitem__, text.split())),
            id="overlap, repeated",
        ),
        pytest.param(in_one_row, id="overlap with a row"),
    ],
)
@pytest.mark.parametrize("part", PARTS)
def test_neither_length_nor_a_word_nor_overlap_with_the_table_tells(
    pairs: dict[str, tuple[Sample, ...]], part: worlds.Part, score: Score
) -> None:
    assert abs(accuracy(pairs[part], score) - 50) < BOUND - 50
