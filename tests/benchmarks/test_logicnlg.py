"""LogicNLG's sets and task files: which there are, that they are current, and what they show."""

import json

import pytest

from spor_tasks.core import named
from spor_tasks.core.sample import Contrast, challenge_of
from spor_tasks.evaluation.run import Evaluator
from spor_tasks.harness import host
from tests.support.pages import python_example


def load(*name):
    return tuple(named.load("logicnlg", *name).test)


@pytest.mark.usefixtures("logicnlg_dir")
def test_the_sides_of_a_pair_are_as_published_and_in_strict_sets_under_one_prompt():
    pairs = load("logicnlg", "published", "adversarial")
    strict_pairs = load("logicnlg", "strict", "adversarial")
    assert len(pairs) == len(strict_pairs) == 4_305
    others = [challenge_of(pair, Contrast) for pair in pairs]
    sides = [((p.units, p.target), (o.units, o.text)) for p, o in zip(pairs, others, strict=True)]
    assert sum(one[0] != other[0] for one, other in sides) == 1_233
    assert sum(one == other for one, other in sides) == 16
    for pair, other, one in zip(pairs, others, strict_pairs, strict=True):
        assert one.units == challenge_of(one, Contrast).units
        assert {*one.units} == {*pair.units, *other.units}


@pytest.mark.usefixtures("logicnlg_dir")
def test_the_challenge_has_columns_but_no_sentences():
    samples = load("logicnlg", "challenge")
    assert len(samples) == 4_875
    assert {sample.references for sample in samples} == {()}
    assert {sample.target for sample in samples} == {""}
    pairs = load("logicnlg", "challenge", "adversarial")
    assert [pair.about("name") for pair in pairs] == [one.about("name") for one in samples]


@pytest.mark.skipif(host.IS_NEW, reason="the page reads files of lm-eval 0.4")
@pytest.mark.usefixtures("logicnlg_dir")
def test_samples_of_the_challenge_become_a_submission(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = ("logicnlg_challenge", "logicnlg_adversarial_challenge")
    Evaluator("dummy").evaluate([{}], names, tmp_path / "results", limit=7)
    exec(python_example("tasks.md", "challenge"), {})  # noqa: S102
    texts, verdicts = (
        json.loads((tmp_path / f"{name}_results.json").read_text("utf-8"))
        for name in ("test", "verify")
    )
    assert {name: len(of) for name, of in texts.items()} == {n: len(o) for n, o in verdicts.items()}
    assert sum(map(len, texts.values())) == 7
    assert {verdict for of in verdicts.values() for verdict in of} <= {"unknown1", "unknown2"}
