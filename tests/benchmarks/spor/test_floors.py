"""What systems without ability score on sets of tables and codes: figures of docs/corpora.md."""

from collections.abc import Callable

import pytest

from spor_tasks.benchmarks.spor import others
from spor_tasks.core.sample import Sample, Split
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


def repeated(arm: Split) -> Callable[[Sample], str]:
    """Return what writes the first training text about the same table, if there is one."""
    texts: dict[str | None, str] = {}
    for sample in arm.samples:
        texts.setdefault(sample.about("name"), sample.target)
    return lambda sample: texts.get(sample.about("name"), "")


def one_pattern(sample: Sample) -> str:
    """Return one and the same claim about the second and third column of any table."""
    known = grammar.headers(grammar.lexicon(table_of(sample)))
    return f"the average number of {known['things']} is above 11 ."


def test_repeating_training_texts_wins_systematicity_on_statements() -> None:
    pair = others.load("logicnlg_mini", "systematicity", "operators")
    for name, score in (("chrf", "chrf"), ("truth", "truth")):
        both = [mean(score, name, pair.test, repeated(arm)) for arm in pair.arms]
        assert f"{both[0]:.1f}, {both[1]:.1f}" in DOC
    assert f"{mean('truth', 'truth', pair.test, one_pattern):.1f}" in DOC


@pytest.mark.usefixtures("logicnlg_dir")
def test_references_of_statements_are_training_texts() -> None:
    pair = others.load("logicnlg", "systematicity", "schema")
    for arm in pair.arms:
        texts = {sample.target for sample in arm.samples}
        known = sum(not texts.isdisjoint(sample.references) for sample in pair.test.samples)
        assert f"{known:,}" in DOC


def test_texts_of_one_combination_are_asked_for_by_one_prompt() -> None:
    for aspect, part in others.SETS["compmctg_mini"]:
        test = others.load("compmctg_mini", aspect, part).test.samples
        prompts = {word(sample, "causal") for sample in test}
        assert f"{len(test)} samples, {len(prompts)} prompt" in DOC
