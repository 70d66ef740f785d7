"""Work grows in proportion to its input, or the input has a limit that one line states."""

import random
import sys
import tracemalloc

import pytest

from spor_tasks.aspects import build, check, numbers, rule_learnability, search, systematicity
from spor_tasks.core.codec import MOST_UNITS
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import AttributeValue, CorpusSamples, SampleMaker
from spor_tasks.corpora import own
from spor_tasks.corpora.e2e import enumeration
from spor_tasks.results.samples import orphans
from tests.support.rows import write_rows
from tests.support.strategies import sets


def calls(work):
    """Count the calls of functions that some work makes."""
    count = 0

    def counted(_frame, event, _argument):
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def holding(*sizes):
    """Samples of so many units, numbered from 0."""
    make = SampleMaker("many")
    units = [AttributeValue(f"key{i}", f"value{i}") for i in range(max(sizes))]
    return tuple(make(units[:size], ["A text."]) for size in sizes)


def row(count):
    data = [[f"key{i}", f"value{i}"] for i in range(count)]
    return {"data": data, "texts": ["A text."], "output": "A text."}


# --- Units of a sample ----------------------------------------------------------------------------


def test_a_row_of_too_many_units_is_refused(tmp_path, spor):
    file = write_rows(tmp_path / "many.jsonl", row(1), row(MOST_UNITS))
    assert len(own.read_corpus(file).train) == 2
    assert "coverage" in spor(f"score {file} --metric coverage --corpus e2e")
    write_rows(file, row(1), row(MOST_UNITS + 1))
    for command in (
        f"score {file} --metric coverage --corpus e2e",
        f"tasks make {file} --out {tmp_path / 'tasks'}",
        f"data build --corpus {file} --aspect systematicity --out {tmp_path / 'sets'}",
    ):
        error = spor(command, ends=2)
        assert error.startswith(f"error: {file}:2: `data` has 1,001 units, more than 1,000\n")


def test_too_many_pairs_of_units_are_refused_where_pairs_are_counted(monkeypatch):
    monkeypatch.setattr(numbers, "MOST_PAIRS", 9)
    corpus = CorpusSamples("many", holding(3, 3, 3), holding(2))
    pair = sets("systematicity", corpus.test, atom=corpus.train, combination=corpus.train)
    for work in (
        lambda: build.build(corpus, "systematicity"),
        lambda: search.systematicity(corpus.samples, 0, rounds=1),
        lambda: check.check(pair),
    ):
        with pytest.raises(SplitError, match=r"the samples have 1., more than 9"):
            work()


def test_systematicity_makes_no_pair_of_the_units_of_a_sample():
    def made(size):
        make = SampleMaker("many")
        units = [AttributeValue(f"key{i}", f"value{i}") for i in range(size)]
        alone = [make([unit], ["A text."]) for unit in units for _ in "ab"]
        several = [make(units[: size // 2], ["A text."]), make(units, ["A text."])]
        pool = (*alone, *several)
        tracemalloc.start()
        systematicity.build(pool, random.Random(0), restarts=1)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    assert made(400) < 3 * made(200)


def test_a_few_thresholds_are_tried():
    def tried(size):
        corpus = CorpusSamples("many", holding(*range(1, size + 1)), holding(size))
        with pytest.raises(SplitError):
            build.build(corpus, "productivity", f"n{size}")

    assert calls(lambda: tried(200)) < 3 * calls(lambda: tried(100))


# --- Values of an attribute -----------------------------------------------------------------------


def phones(count, digits=20):
    make = SampleMaker("phones")
    units = [AttributeValue("phone", f"{i:0{digits}}") for i in range(count)]
    return tuple(
        make([unit, AttributeValue("kind", "pub")], [f"Call {unit.value}."]) for unit in units
    )


def test_an_attribute_of_too_many_values_is_not_hidden():
    few, many = phones(500), phones(501)
    pair = build.build(CorpusSamples("phones", few, few), "rule_learnability", hide=("phone",))
    assert {sample.challenge.phrases for sample in pair.test} == {(("phone", "Value A"),)}
    first, *others = (sample.challenge.values for sample in pair.test)
    assert all(each[0][1] is first[0][1] for each in others)  # one list in memory
    corpus = CorpusSamples("phones", many, many)
    with pytest.raises(
        SplitError, match=r"values of 'phone' have 10,020 letters, more than 10,000"
    ):
        build.build(corpus, "rule_learnability", hide=("phone",))
    with pytest.raises(
        SplitError, match="in 501 the attribute can have values of more than 10,000"
    ):
        build.build(corpus, "rule_learnability")
    both = tuple(
        SampleMaker("phones")(sample.units, [f"A pub: {sample.references[0]}"]) for sample in many
    )
    pair = build.build(CorpusSamples("phones", both, both), "rule_learnability")
    assert {sample.challenge.phrases for sample in pair.test} == {(("kind", "Value A"),)}
    assert rule_learnability.MOST_LETTERS == 10_000


def test_too_many_choices_of_values_are_refused():
    attributes = ["eat type", "food", "area", "family friendly", "near"]
    make = SampleMaker("cafes")
    train = [
        make([*(AttributeValue(each, f"{each} {i}") for each in attributes)], ["A text."])
        for i in range(20)
    ]
    known = [
        AttributeValue(each, values[0]) for each, values in enumeration.POSSIBLE_VALUES.items()
    ]
    train.append(make(known, ["A text."]))
    corpus = CorpusSamples("cafes", train, train)
    with pytest.raises(SplitError, match="have 1,166,886 choices, more than 100,000"):
        build.build(corpus, "rule_learnability")


# --- Files ----------------------------------------------------------------------------------------


def test_sample_files_without_results_are_found_in_one_pass(tmp_path):
    def found(size):
        folder = tmp_path / str(size)
        folder.mkdir()
        for number in range(size):
            (folder / f"samples_task_{number}.jsonl").touch()
        (folder / "results_7.json").touch()
        assert len(orphans(folder)) == size - 1
        return calls(lambda: orphans(folder))

    assert found(200) < 3 * found(100)
