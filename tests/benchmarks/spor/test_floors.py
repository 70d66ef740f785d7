"""What systems without ability score on sets of tables and codes: figures of docs/corpora.md."""

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from spor_tasks.benchmarks.spor import others
from spor_tasks.core.sample import Sample, Split, SplitPair
from spor_tasks.corpora.logicnlg.linearize import table_of
from spor_tasks.corpora.logicnlg_mini import grammar
from spor_tasks.corpora.own import word
from spor_tasks.metrics.base import Column, metric
from tests.conftest import REPOSITORY

DOC = " ".join((REPOSITORY / "docs" / "corpora.md").read_text("utf-8").split())


def mean(score: str, name: str, test: Split, write: Callable[[Sample], str]) -> float:
    found = metric(name)
    evidence = found.measure(test.samples, [(write(sample),) for sample in test.samples])
    return Column.of([found.values(each)[score] for each in evidence]).value


def tables(samples: Iterable[Sample]) -> set[str]:
    """Return the contents of their tables, whatever is highlighted."""
    shown: list[Any] = [sample.context["table"] for sample in samples]
    return {json.dumps({**table, "highlighted": None}) for table in shown}


def known(pair: SplitPair, arm: Split) -> int:
    """Count the test samples that have a training text of the arm among their references."""
    texts = {sample.target for sample in arm.samples}
    return sum(not texts.isdisjoint(sample.references) for sample in pair.test.samples)


def one_pattern(sample: Sample) -> str:
    """Return one and the same claim about the second and third column of any table."""
    known = grammar.headers(grammar.lexicon(table_of(sample)))
    return f"the average number of {known['things']} is above 11 ."


@pytest.mark.parametrize(
    ("corpus", "part"), [("logicnlg_mini", "operators"), ("totto_mini", "schema")]
)
def test_no_table_of_an_arm_is_in_the_test_set(corpus: str, part: str) -> None:
    pair = others.load(corpus, "systematicity", part)
    for arm in pair.arms:
        assert tables(arm.samples).isdisjoint(tables(pair.test.samples))


@pytest.mark.usefixtures("logicnlg_dir")
def test_no_table_of_wikipedia_is_in_an_arm_and_in_the_test_set() -> None:
    pair = others.load("logicnlg", "systematicity", "schema")
    for arm in pair.arms:
        assert tables(arm.samples).isdisjoint(tables(pair.test.samples))
        assert known(pair, arm) == 0


def test_short_statements_are_true_of_training_and_test_tables_by_chance() -> None:
    pair = others.load("logicnlg_mini", "systematicity", "operators")
    atom, combination = (known(pair, arm) for arm in pair.arms)
    assert f"Of {len(pair.test.samples)}, {atom} have a text of Atom" in DOC
    assert f"and {combination} one of Combination" in DOC


def test_one_sentence_is_true_of_nearly_all_tables_that_systematicity_asks_about() -> None:
    test = others.load("logicnlg_mini", "systematicity", "operators").test
    scores = [mean(name, name, test, one_pattern) for name in ("truth", "chrf")]
    assert f"{scores[0]:.1f} | {scores[1]:.1f}" in DOC
    assert len({sample.context["logic"] for sample in test.samples}) == 2


def test_texts_of_one_combination_are_asked_for_by_one_prompt() -> None:
    for aspect, part in others.SETS["compmctg_mini"]:
        test = others.load("compmctg_mini", aspect, part).test.samples
        prompts = {word(sample, "causal") for sample in test}
        assert f"{len(test)} samples, {len(prompts)} prompt" in DOC
