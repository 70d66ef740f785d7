"""What holds of every registered benchmark: its sets, their scores, and their task files."""

import random
import re
import runpy
from dataclasses import replace

import pytest

from spor_tasks.core import named
from spor_tasks.core.contracts import Score
from spor_tasks.core.digests import digest
from spor_tasks.core.errors import ConfigError, SplitError
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import views
from spor_tasks.harness import adapt, generate, task_files
from spor_tasks.metrics.scores import info_of, metric
from tests.conftest import REPOSITORY
from tests.support.scripted import load
from tests.support.soak import soak

BENCHMARKS = {sets.name: sets for sets in named.benchmarks()}
SPECS = named.available()
EMBEDDED = [spec for spec in SPECS if spec.sets.corpus.endswith("mini")]
NAMES = (REPOSITORY / "tests" / "data" / "tasks.txt").read_text("utf-8").splitlines()
"""The names of all tasks and tags, which people type."""


def benchmark_of(spec):
    return BENCHMARKS[spec.benchmark]


def test_names_and_tasks_are_unique():
    assert (
        len({str(spec.sets) for spec in SPECS}) == len({spec.task for spec in SPECS}) == len(SPECS)
    )


def test_all_tasks_and_tags_are_these_and_lm_eval_has_them():
    files, manager = task_files.files(), task_files.manager()
    tags = {tag for file in files for tag in file.tags}
    assert sorted([*(file.name for file in files), *(f"tag {tag}" for tag in tags)]) == NAMES
    assert manager.all_tasks == [*task_files.names()]
    assert tags <= {*manager.all_tags}


@pytest.mark.parametrize("sets", BENCHMARKS.values(), ids=BENCHMARKS.keys())
def test_sets_are_found_by_name_with_registered_scores_and_a_default(sets):
    for spec in sets.sets():
        assert sets.find(**spec.sets.named) == spec
        with pytest.raises(SplitError) as caught:
            sets.find(**{**spec.sets.named, "part": "nowhere"})
        assert caught.value.remedy
        assert spec.sets.aspect in sets.groups
        assert Score(spec.judging.headline) in spec.judging.reported
        assert {score for gap in spec.judging.gaps for score in gap} <= {
            *spec.judging.reported,
            *spec.judging.breakdown,
        }
        assert all(map(info_of, (*spec.judging.scores, *spec.judging.displayed)))
        first = named.find(spec.sets.aspect, spec.sets.corpus)
        assert (first.release.is_default, first.trained_on.corpus) == (True, spec.sets.corpus)


@pytest.mark.parametrize("spec", EMBEDDED, ids=lambda spec: spec.task)
def test_sets_of_embedded_corpora_are_as_declared(spec):
    pair = benchmark_of(spec).load(spec)
    assert benchmark_of(spec).load(spec) is pair
    assert pair.facts == spec.sets
    assert (*pair.arms,) == (() if spec.splits and not pair.arms else spec.arms)
    for sample in random.Random(0).sample(pair.test, 10):
        assert len([*views(sample)]) == spec.judging.outputs


@pytest.mark.parametrize("spec", EMBEDDED, ids=lambda spec: spec.task)
def test_metrics_have_every_shown_score_once(spec):
    metrics = map(metric, registry().names("metric"))
    names = [name for each in metrics for name in adapt.scores_of(each, spec)]
    assert len({*names}) == len(names)
    assert {*spec.judging.reported, *spec.judging.breakdown} <= {*names}


def test_tasks_without_a_training_set_demonstrate_nothing():
    tasks = {spec.task: load(spec.task) for spec in EMBEDDED}  # with filters that exist
    without = [spec for spec in EMBEDDED if not benchmark_of(spec).load(spec).arms]
    assert without
    for spec in without:
        with pytest.raises(ConfigError) as caught:
            tasks[spec.task].set_config("num_fewshot", 1)
        assert caught.value.where == "num_fewshot"
        assert caught.value.remedy


def test_sets_with_arms_under_one_name_have_the_same_arms():
    arms = {}
    for spec in EMBEDDED:
        pair = benchmark_of(spec).load(spec)
        for arm, samples in pair.arms.items():
            sha256 = digest(samples)
            assert arms.setdefault((spec.trained_on, arm), sha256) == sha256


@pytest.mark.parametrize("pinned", ["none", soak("logicnlg")])
def test_task_files_are_those_of_the_generator(pinned, request):
    """Those of other corpora without the digest of the test set, which loading them checks."""
    if pinned == "logicnlg":
        request.getfixturevalue("logicnlg_dir")
    written = {}
    for spec in SPECS:
        here = spec in EMBEDDED or spec.benchmark in {"totto", "compmctg", pinned}
        release = replace(spec.release, is_pinned=spec.release.is_pinned and here)
        unpinned = replace(spec, release=release)
        written |= dict(generate.contents(benchmark_of(spec), [unpinned]))
    paths = [path for path in task_files.FOLDER.rglob("*") if path.is_file()]
    assert {path.suffix for path in paths} == {".yaml", ".md", ""}
    files = {
        path.relative_to(task_files.FOLDER).as_posix(): path.read_text("utf-8")
        for path in paths
        if path.suffix == ".yaml"
    }
    for name in files.keys() & written.keys():
        if "test_sha256" not in written[name]:
            files[name] = re.sub(r"  test_sha256: \w{64}\n", "", files[name])
    assert files == written


@pytest.mark.parametrize("specs", [EMBEDDED, soak(SPECS)], ids=["embedded", "all"])
def test_the_page_of_tasks_is_generated_and_numbers_of_samples_are_counted(specs):
    script = runpy.run_path(str(REPOSITORY / "docs" / "generators" / "tasks.py"))
    numbers = script["counts"]()
    assert [*numbers] == [spec.task for spec in SPECS]
    assert script["counted"](specs) == numbers
    assert script["page"]() == (REPOSITORY / "docs" / "tasks.md").read_text("utf-8")
