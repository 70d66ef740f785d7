"""The page of twins says how many there are of each set, and why there are no others."""

import re
from collections import Counter

import pytest

from spor_tasks.aspects import named
from spor_tasks.core.registry import registry
from spor_tasks.twins import Untwinned, mapping, texts, twins_of
from tests.conftest import REPOSITORY

PAGE = (REPOSITORY / "docs" / "twins.md").read_text("utf-8")
REASONS = {
    "other name": texts.OTHER_NAME,
    "other number": texts.OTHER_NUMBER,
    "other form": texts.OTHER_FORM,
    "two things": texts.TWO_THINGS,
    "ordinary words": texts.ORDINARY_NAME,
    "nothing": mapping.NOTHING,
    "other order": mapping.OTHER_ORDER,
}
QUICK = {("viggo", "systematicity"), ("viggo", "other"), ("e2e", "systematicity")}


def rows() -> list[tuple[str, str, list[str]]]:
    """Return corpus, set and cells of each row of the table of sizes."""
    (table,) = re.findall(r"^\| corpus \| set \|.*\n\|-.*\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()]
    return [(corpus, named_set.replace("`", ""), found) for corpus, named_set, *found in cells]


def counted(corpus: str, name: str) -> tuple[int, Counter[str]]:
    """Return the number of twins, and how many samples have none for each reason."""
    aspect, _, part = name.partition(" ")
    if part == "samples":
        source = registry().get("corpus", corpus).read()
        samples = source.train if aspect == "training" else source.test
        found = [twins_of(corpus).twin(sample) for sample in samples]
        without = Counter(twin.reason for twin in found if isinstance(twin, Untwinned))
        return len(found) - without.total(), without
    pair = named.load(aspect, corpus, "twin", part or None)
    reasons = {reason: number for reason, number in pair.untested if reason in REASONS.values()}
    return len(pair.test.samples), Counter(reasons)


@pytest.mark.usefixtures("data_dir", "viggo_dir")
@pytest.mark.parametrize(
    ("corpus", "name", "cells"),
    [
        pytest.param(
            *row,
            id=" ".join(row[:2]),
            marks=() if (row[0], row[1].split()[0]) in QUICK else pytest.mark.soak,
        )
        for row in rows()
    ],
)
def test_a_set_has_as_many_twins_as_the_page_says(corpus: str, name: str, cells: list[str]) -> None:
    twins, without = counted(corpus, name)
    numbers = [twins + without.total(), twins, *(without[reason] for reason in REASONS.values())]
    assert cells == [f"{number:,}" if number else "–" for number in numbers]


def test_every_set_with_twins_is_listed_and_each_reason_explained() -> None:
    listed = {(corpus, name) for corpus, name, _ in rows() if "samples" not in name}
    assert listed == {
        (spec.name.corpus, " ".join(filter(None, (spec.name.aspect, spec.name.part))))
        for spec in named.available()
        if spec.name.protocol == "twin"
    }
    assert f"| {' | '.join(['corpus', 'set', 'samples', 'with a twin', *REASONS])} |\n" in PAGE
    for short, reason in REASONS.items():
        assert f"\n| {short} | {reason} | " in PAGE


@pytest.mark.soak
@pytest.mark.usefixtures("data_dir")
def test_the_entities_of_two_kinds_are_counted() -> None:
    told = re.search(r"(\d+) of ([\d,]+) are said to be of two kinds", PAGE)
    lexicon = twins_of("webnlg").lexicon
    assert told is not None
    assert told.groups() == (str(len(lexicon.in_two_kinds)), f"{len(lexicon.kinds):,}")
