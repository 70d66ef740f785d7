"""The copy rule, on invented samples and on what the published evaluation says."""

from pathlib import Path
from typing import Any

import pytest

from spor_tasks.core.sample import AttributeValue, DataUnit, Hidden, Sample, Triple
from spor_tasks.metrics.base import scores_of
from spor_tasks.metrics.copy_rule import CopyEvidence, CopyRule, Leak
from tests.support import golden

PORT = Sample(
    id="1",
    corpus="webnlg",
    units=(Triple("Entity 1", "harbour", "Old Basin"),),
    references=(),
    challenge=Hidden((("Greyport", "Entity 1"),)),
)
TWELVE = Sample(
    id="2",
    corpus="webnlg",
    units=(Triple("Entity 12", "harbour", "Old Basin"),),
    references=(),
    challenge=Hidden((("Low", "Entity 12"),)),
)
INN = Sample(
    id="3",
    corpus="e2e",
    units=(AttributeValue("customer rating", "Value A out of 5"),),
    references=(),
    context={"name": "The Gull"},
    challenge=Hidden((("customer rating", "Value A out of 5"),)),
)


def _measure(sample: Sample, output: str) -> CopyEvidence:
    return CopyRule().judge(sample, output)


def _cases(sample: Sample, output: str) -> tuple[tuple[bool, bool], tuple[bool, bool]]:
    """Return (a, b) as published, and with whole words."""
    evidence = _measure(sample, output)
    return tuple((verdict.copied, verdict.leaked) for verdict in evidence)  # type: ignore[return-value]


COPIED, OMITTED, LEAKED = (True, False), (False, False), (False, True)


@pytest.mark.parametrize(
    "output",
    [
        "Entity 1 has Old Basin.",
        "  ENTITY    1 has Old Basin.",
        "Old Basin belongs to the 1st entity.",
        "Old Basin belongs to (1).",
    ],
)
def test_ways_to_copy_an_entity(output: str) -> None:
    assert _cases(PORT, output) == (COPIED, COPIED)


@pytest.mark.parametrize(
    "output",
    ["It is rated value a out of 5.", "It is rated A out of 5.", "Value A  out of 5"],
)
def test_ways_to_copy_a_value(output: str) -> None:
    assert _cases(INN, output) == (COPIED, COPIED)


@pytest.mark.parametrize("output", ["", "Old Basin is a harbour.", "Entity1"])
def test_saying_nothing_of_the_hidden_is_an_omission(output: str) -> None:
    assert _cases(PORT, output) == (OMITTED, OMITTED)


def test_a_leak_is_located() -> None:
    evidence = _measure(PORT, "  At  GREYPORT lies Old Basin.")
    assert evidence.published.leaks == evidence.whole_word.leaks == (Leak("Greyport", 6),)
    assert evidence.published.missing == ("Entity 1",)


def test_any_possible_value_of_the_attribute_is_a_leak() -> None:
    assert _cases(INN, "It is rated 3 out of 5.") == (LEAKED, LEAKED)
    assert _cases(INN, "It is rated Value A out of 5, that is high.") == (
        (True, True),
        (True, True),
    )


@pytest.mark.parametrize(
    ("sample", "output", "published", "whole_word"),
    [
        (INN, "A yellow inn rated Value A out of 5.", (True, True), COPIED),
        (PORT, "Entity 12 has Old Basin.", COPIED, OMITTED),
        (PORT, "Old Basin costs 2.1 a day.", OMITTED, OMITTED),
        (PORT, "Entity 1.5 has Old Basin.", COPIED, OMITTED),
        (TWELVE, "2 has Old Basin below.", (True, True), OMITTED),
        (TWELVE, "12 has Old Basin.", OMITTED, COPIED),
        (INN, "It is rated 11 out of 5.", LEAKED, OMITTED),
    ],
)
def test_substrings_count_as_published_and_whole_words_in_the_corrected_score(
    sample: Sample,
    output: str,
    published: tuple[bool, bool],
    whole_word: tuple[bool, bool],
) -> None:
    assert _cases(sample, output) == (published, whole_word)


def test_every_hidden_phrase_must_be_copied() -> None:
    both = Sample(
        id="4",
        corpus="webnlg",
        units=(Triple("Entity 1", "twin", "Entity 2"),),
        references=(),
        challenge=Hidden((("Greyport", "Entity 1"), ("Northhaven", "Entity 2"))),
    )
    assert _measure(both, "Entity 2 is a twin.").published.missing == ("Entity 1",)
    assert _measure(both, "Entity 2 is the twin of Entity 1.").published.copied


def test_the_four_cases_add_up() -> None:
    metric = CopyRule()
    outputs = ["Entity 1", "Greyport", "Entity 1 Greyport", "neither", "entity 12"]
    evidence = [_measure(PORT, text) for text in outputs]
    scores = {score.name: score.value for score in scores_of(metric, evidence)}
    assert scores == {
        "copy_rule_00": 20.0,
        "copy_rule_01": 20.0,
        "copy_rule": 40.0,
        "copy_rule_11": 20.0,
        "copy_rule_whole_word": 20.0,
    }


def _sample(row: dict[str, Any]) -> Sample:
    unit: type[DataUnit] = AttributeValue if "name" in row else Triple
    hidden = row.get("replaced_entity") or row["replaced_kv_pair"]
    return Sample(
        id="",
        corpus="",
        units=tuple(unit(*parts) for parts in row["data"]),
        references=(),
        context={"name": row["name"]} if "name" in row else {},
        challenge=Hidden(tuple(hidden.items())),
    )


@pytest.mark.real_data
@pytest.mark.parametrize(("corpus", "rows"), [("webnlg", 404), ("e2e", 180)])
def test_every_published_case_is_reached(golden_dir: Path, corpus: str, rows: int) -> None:
    for row in golden.read(golden_dir, f"rule_{corpus}", rows=rows):
        verdict = _measure(_sample(row), row["output"]).published
        assert (verdict.copied, verdict.leaked) == (bool(row["a"]), bool(row["b"]))
