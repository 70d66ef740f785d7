"""LogicNLG's sets and task files: which there are, that they are current, and what they show."""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from lm_eval import simple_evaluate

from spor_tasks.benchmarks.logicnlg.benchmark import LOGICNLG
from spor_tasks.core.contracts import SetName
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.sample import Sample, contrast_of
from spor_tasks.harness import task_files


def load(*name: str) -> tuple[Sample, ...]:
    return tuple(LOGICNLG.load(SetName("logicnlg", *name)).test.samples)


@pytest.mark.usefixtures("logicnlg_dir")
def test_the_sides_of_a_pair_are_as_published_and_in_strict_sets_under_one_prompt() -> None:
    pairs = load("logicnlg", "published", "adversarial")
    strict = load("logicnlg", "strict", "adversarial")
    assert len(pairs) == len(strict) == 4_305
    assert sum(pair.units != contrast_of(pair).units for pair in pairs) == 1_233
    identical = [
        p for p in pairs if (p.target, p.units) == (contrast_of(p).text, contrast_of(p).units)
    ]
    assert len(identical) == 16
    for pair, one in zip(pairs, strict, strict=True):
        assert one.units == contrast_of(one).units
        assert {*one.units} == {*pair.units, *contrast_of(pair).units}


@pytest.mark.usefixtures("logicnlg_dir")
def test_the_challenge_has_columns_but_no_sentences() -> None:
    samples = load("logicnlg", "challenge")
    assert len(samples) == 4_875
    assert {sample.references for sample in samples} == {()}
    assert {sample.target for sample in samples} == {""}
    pairs = load("logicnlg", "challenge", "adversarial")
    assert [pair.about("name") for pair in pairs] == [one.about("name") for one in samples]


@pytest.fixture
def small_challenge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    monkeypatch.chdir(tmp_path)
    names = ("logicnlg_challenge", "logicnlg_adversarial_challenge")

    def run() -> None:
        manager = task_files.manager({})
        simple_evaluate(
            model="dummy", tasks=list(names), task_manager=manager, limit=7, log_samples=False
        )

    return run


@pytest.mark.usefixtures("logicnlg_dir")
def test_the_challenge_writes_what_is_submitted(
    tmp_path: Path, small_challenge: Callable[[], None]
) -> None:
    small_challenge()
    texts = yaml.safe_load((tmp_path / "logicnlg_challenge.json").read_text("utf-8"))
    verdicts = yaml.safe_load((tmp_path / "logicnlg_adversarial_challenge.json").read_text("utf-8"))
    assert {name: len(of) for name, of in texts.items()} == {n: len(o) for n, o in verdicts.items()}
    assert sum(map(len, texts.values())) == 7
    assert {verdict for of in verdicts.values() for verdict in of} <= {"unknown1", "unknown2"}
    with pytest.raises(ConfigError) as error:
        small_challenge()
    assert error.value.remedy
