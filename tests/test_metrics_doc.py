"""The examples of docs/metrics.md are what `spor score` writes."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from spor_tasks.core.files import read_rows
from spor_tasks.core.registry import registry
from spor_tasks.evaluation import scoring
from spor_tasks.metrics.base import metric, score_infos
from spor_tasks.metrics.entailment import flattened, rows_of
from spor_tasks.metrics.learned import (
    AttributeItem,
    Attributes,
    Bleurt,
    Claim,
    ClassifierInput,
    Facts,
    NliAcc,
    Pair,
    TextPerplexity,
)
from tests.conftest import REPOSITORY

DOC = (REPOSITORY / "docs" / "metrics.md").read_text("utf-8")
COMMANDS = re.findall(r"`spor score rows.jsonl --metric (\w+) --corpus (\w+) ", DOC)
BLOCKS = re.findall(r"```json\n(.*?)```", DOC, re.DOTALL)


class Told:
    """The classifier of the document's example, which is asked what the document says."""

    signature = "model:example"

    def __call__(self, pairs: Sequence[ClassifierInput]) -> list[float]:
        output = "The Gull is by the quayside."
        answers = {"food, Basque": 0.0214, "area, quayside": 0.9871, "family friendly, yes": 0.06}
        expected = [(output, f"The Gull, {unit}") for unit in answers]
        assert list(pairs) == expected
        assert all(f"`{text}`" in DOC for text in expected[0])
        return list(answers.values())


class Entails:
    """The classifier of the document's example of tables, which is asked what the document says."""

    signature = "model:example"

    def __call__(self, claims: Sequence[Claim]) -> list[float]:
        ((sample, output),) = claims
        rows = "row 1 : oslo | 7 row 2 : bergen | 3"
        assert f"{output} {flattened(['city', 'people'], rows_of(sample))}".lower().endswith(rows)
        assert f"`{output.lower()} col : city | people {rows}`" in " ".join(DOC.split())
        return [0.8127]


class Rates:
    """The checkpoint of the document's example, which is asked what the document says."""

    signature = "model:example"

    def __call__(self, pairs: Sequence[Pair]) -> list[float]:
        assert all(f"`{text}`" in DOC for pair in pairs for text in pair)
        return [0.5, 0.3]


class Says:
    """The classifiers of the document's example, which say what it says."""

    signature = "classifiers:example"

    def __call__(self, asked: Sequence[AttributeItem]) -> list[str]:
        said = {"sentiment": "Positive", "pronoun": "plural", "tense": "Past"}
        return [said[unit[0]] for unit, _ in asked]


class Perplexed:
    """The language model of the document's example."""

    signature = "model:example"

    def __call__(self, texts: Sequence[str]) -> list[float | None]:
        return [31.5 for _ in texts]


@pytest.mark.parametrize("number", range(len(COMMANDS)))
def test_an_example_adds_what_the_document_shows(tmp_path: Path, number: int) -> None:
    name, corpus = COMMANDS[number]
    rows, shown = BLOCKS[2 * number : 2 * number + 2]
    file, evidence = tmp_path / "rows.jsonl", tmp_path / "evidence.jsonl"
    file.write_text(rows, "utf-8")
    judges: dict[str, Facts | NliAcc | Bleurt | Attributes | TextPerplexity] = {
        "facts": Facts(Told()),
        "nli_acc": NliAcc(Entails()),
        "bleurt": Bleurt(Rates()),
        "compmctg": Attributes(Says()),
        "mctg_ppl": TextPerplexity(Perplexed()),
    }
    scoring.score(file, name, corpus, per_sample=evidence, judge=judges.get(name))
    found = [row for _, row in read_rows(evidence)]
    for row, line in zip(found, shown.splitlines(), strict=True):
        expected: dict[str, Any] = json.loads(line)
        assert expected.keys() <= row.keys()
        for field, value in expected.items():
            assert row[field] == (
                pytest.approx(value, abs=5e-5) if isinstance(value, float) else value
            )


def test_every_metric_has_an_example() -> None:
    names = {name for name in registry().names("metric") if metric(name).answers == "texts"}
    shown = {name for name, _ in COMMANDS}
    # Beside parent and totto, and in results.
    assert shown == names - {"parent_full_table", "totto_real", "empty"}
    assert len(BLOCKS) == 2 * len(COMMANDS)


def test_every_score_is_explained() -> None:
    names = {name for name, info in score_infos().items() if not info.of_some}
    explained = " ".join(DOC.split())
    stems = {re.sub(r"_(pbh|poh|precision|recall|00|01|11)$", "", name) for name in names}
    assert {stem for stem in stems if stem not in explained} == set()
