"""Sets over headers in place of cells: they meet the requirements, and have the real samples."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spor_tasks.aspects import atoms, build, check, named
from spor_tasks.aspects.build import Settings
from spor_tasks.benchmarks.spor import others
from spor_tasks.core.contracts import SetName
from spor_tasks.core.errors import ConfigError, SplitError
from spor_tasks.core.sample import AttributeValue, CorpusSamples, Sample, SampleMaker
from spor_tasks.corpora.totto_mini import TOTTO_MINI
from spor_tasks.prompts import demonstrations

ON_TABLES = [
    (aspect, corpus, part)
    for corpus in ("totto_mini", "logicnlg_mini")
    for aspect, part in others.SETS[corpus]
    if aspect in {"systematicity", "productivity"}
]
HEADERS = ["Year", "year ", "Title", "City", "Team", "Goals"]
CELLS = st.tuples(st.sampled_from(HEADERS), st.integers(0, 999).map(str))
TABLES = st.lists(st.lists(CELLS, min_size=1, max_size=4), min_size=4, max_size=40)


@pytest.mark.parametrize(("aspect", "corpus", "part"), ON_TABLES)
def test_sets_over_coarse_atoms_have_the_samples_themselves(
    aspect: str, corpus: str, part: str
) -> None:
    pair = named.load(aspect, corpus, part=part)
    assert check.check(pair).holds
    assert part.endswith(pair.granularity)
    known = {sample.id: sample for sample in others._pool(corpus, aspect, ()).samples}
    for sample in pair.test.samples:
        assert sample.units == known[sample.id].units


@settings(max_examples=40, deadline=None)
@given(TABLES, st.sampled_from([("systematicity", None), ("productivity", "n2")]))
def test_whatever_is_built_over_headers_holds(
    tables: list[list[tuple[str, str]]], asked: tuple[str, str | None]
) -> None:
    make = SampleMaker("totto_mini")
    samples = [make((AttributeValue(*cell) for cell in cells), ["A text."]) for cells in tables]
    middle = len(samples) // 2
    corpus = CorpusSamples("totto_mini", tuple(samples[:middle]), tuple(samples[middle:]))
    try:
        pair = build.build(corpus, *asked, Settings(granularity="schema", restarts=2))
    except SplitError:  # too small a corpus
        return
    assert check.check(pair).holds
    assert pair.part == "_".join(filter(None, [asked[1], "schema"]))
    assert set(pair.test.samples) <= set(samples)
    if pair.aspect == "systematicity":
        atom, _, test = ([headers(sample) for sample in split.samples] for split in pair.splits)
        assert all(len(held & tested) < 2 for held in atom for tested in test)


def headers(sample: Sample) -> set[str]:
    return {unit[0].strip().lower() for unit in sample.units}


def test_a_part_and_its_granularity_are_told_apart() -> None:
    for corpus, part in (("totto", "n3"), ("totto", None), ("e2e", "n3"), ("own", "main")):
        for granularity in atoms.granularities(corpus):
            name = atoms.part_name(corpus, part, granularity)
            assert atoms.bare_part(corpus, name) == (part, granularity)
    assert atoms.bare_part("e2e", "n3_schema") == ("n3_schema", "literal")


def test_a_granularity_that_a_corpus_does_not_have_is_refused() -> None:
    with pytest.raises(ConfigError) as caught:
        build.build(TOTTO_MINI.read(), "systematicity", None, Settings(granularity="operators"))
    assert caught.value.where == "granularity"
    assert "schema or literal" in (caught.value.remedy or "")


def test_demonstrations_of_atom_never_show_two_headers_of_the_test_sample() -> None:
    pair = named.load("systematicity", "totto_mini", part="schema")
    shown = demonstrations.choose(pair, 4)
    assert shown
    for each in shown:
        tested = headers(each.sample)
        atom, combination = each.arms
        assert all(len(headers(sample) & tested) < 2 for sample in atom)
        assert any(len(headers(sample) & tested) > 1 for sample in combination)


def test_tasks_are_named_by_their_granularity() -> None:
    (spec,) = (each for each in named.available() if each.name == NAME)
    assert spec.task == "spor_productivity_totto_mini_n3_schema"
    assert spec.part_title == "N = 3, schema"


NAME = SetName("productivity", "totto_mini", "strict", "n3_schema")
