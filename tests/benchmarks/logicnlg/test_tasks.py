"""LogicNLG's sets and task files: which there are, that they are current, and what they show."""

import json
from pathlib import Path

import pytest
import yaml

from spor_tasks.benchmarks.logicnlg.benchmark import LOGICNLG
from spor_tasks.core.contracts import SetName, SetSpec
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import Sample, contrast_of
from spor_tasks.evaluation.evaluator import Evaluator
from spor_tasks.harness import generate, host, task_files
from spor_tasks.harness.filters import PREFIX
from spor_tasks.metrics.base import score_infos
from spor_tasks.text.filters import FILTERS
from tests.conftest import REPOSITORY
from tests.support.pages import python_example

PARTS = ("", "_adversarial", "_ppl", "_c2f", "_c2f_adversarial")
OTHERS = (
    *("logicnlg_adversarial_strict", "logicnlg_spaced", "logicnlg_adversarial_spaced"),
    *("logicnlg_full_table", "logicnlg_adversarial_full_table"),
    *("logicnlg_challenge", "logicnlg_adversarial_challenge"),
)
MAIN = [f"{corpus}{part}" for corpus in ("logicnlg", "logicnlg_mini") for part in PARTS]
DOC = (REPOSITORY / "docs" / "logicnlg.md").read_text("utf-8")
EMBEDDED = [spec for spec in LOGICNLG.sets() if not spec.is_fixed]


def test_these_are_the_tasks_and_tags() -> None:
    tasks = [*MAIN, *(f"{name}_icl_train" for name in MAIN), *OTHERS]
    files = [file for file in task_files.files() if file.name.startswith("logicnlg")]
    assert [file.name for file in files] == sorted(tasks)
    for tag, names in (("logicnlg_all", MAIN[:5]), ("logicnlg_mini_all", MAIN[5:])):
        assert [file.name for file in files if tag in file.tags] == sorted(names)
    assert {spec.task for spec in LOGICNLG.sets()} == {*MAIN, *OTHERS}


def test_the_page_lists_every_task() -> None:
    assert [spec.task for spec in LOGICNLG.sets() if f"`{spec.task}`" not in DOC] == []


def current(specs: list[SetSpec]) -> None:
    for name, text in generate.contents(LOGICNLG, specs):
        assert (task_files.FOLDER / name).read_text("utf-8") == text, name


def test_the_files_of_the_embedded_corpus_are_current() -> None:
    current(EMBEDDED)


@pytest.mark.soak
@pytest.mark.usefixtures("logicnlg_dir")
def test_the_files_of_the_real_corpus_are_current() -> None:
    current([spec for spec in LOGICNLG.sets() if spec.is_fixed])


def test_every_score_is_registered_and_every_filter_known() -> None:
    for spec in LOGICNLG.sets():
        assert {*spec.scores, *spec.reported, spec.headline} <= score_infos().keys()
    for template in (task_files.FOLDER / "logicnlg").glob("_*"):
        content = yaml.load(template.read_bytes(), task_files._Loader)  # noqa: S506
        for chain in content.get("filter_list", ()):
            names = [each["function"].removeprefix(PREFIX) for each in chain["filter"]]
            assert {*names} <= {*FILTERS, "take_first"}


def test_unknown_sets_are_refused() -> None:
    with pytest.raises(SplitError, match="logicnlg logicnlg published"):
        LOGICNLG.find(SetName("logicnlg", "logicnlg", "published", "main"))


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


def test_the_arm_of_one_checkpoint_is_that_of_all_its_tasks() -> None:
    def arm(*name: str) -> object:
        return LOGICNLG.load(SetName("logicnlg", "logicnlg_mini", *name)).arms[0].samples

    published = arm("published")
    assert arm("published", "adversarial") == arm("published", "ppl") == published
    assert arm("published", "c2f") == arm("published", "c2f_adversarial") != published


@pytest.mark.skipif(host.IS_NEW, reason="the page reads files of lm-eval 0.4")
@pytest.mark.usefixtures("logicnlg_dir")
def test_samples_of_the_challenge_become_a_submission(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = ("logicnlg_challenge", "logicnlg_adversarial_challenge")
    Evaluator("dummy").evaluate({}, names, tmp_path / "results", limit=7)
    exec(python_example("logicnlg.md", "challenge"), {})  # noqa: S102
    texts, verdicts = (
        json.loads((tmp_path / f"{name}_results.json").read_text("utf-8"))
        for name in ("test", "verify")
    )
    assert {name: len(of) for name, of in texts.items()} == {n: len(o) for n, o in verdicts.items()}
    assert sum(map(len, texts.values())) == 7
    assert {verdict for of in verdicts.values() for verdict in of} <= {"unknown1", "unknown2"}
