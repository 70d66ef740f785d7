"""A result says what it is of: no benchmark is asked for its sets, and no data is read."""

import json
import math
from dataclasses import replace

import msgspec
import pytest

from spor_tasks import report
from spor_tasks.core.contracts import Gap
from spor_tasks.core.errors import ResultError
from spor_tasks.core.registry import registry
from spor_tasks.metrics.scores import info_of
from spor_tasks.results import runs
from spor_tasks.results.facts import Declared, upgrade
from tests.support.result_files import edited, write_result

SPECS = {
    benchmark: registry().get("benchmark", benchmark).find(*name)
    for benchmark, *name in (
        ("spor", "productivity", "webnlg", "published", "n3"),
        ("totto", "totto", "totto", "published"),
        ("logicnlg", "logicnlg", "logicnlg", "published", "ppl"),
        ("compmctg", "compmctg", "yelp", "acd_published", "3"),
    )
}


def declared(benchmark, /, **changes):
    """Return a declaration as JSON gives it back."""
    content = msgspec.to_builtins(Declared.of(SPECS[benchmark])) | changes
    return json.loads(json.dumps(content, allow_nan=False))


def write(folder, benchmark, content, **more):
    """Write a result with a declaration."""
    file = write_result(folder / "results_1.json", **more)
    with edited(file) as result:
        (config,) = result["configs"].values()
        name = {key: value for key, value in SPECS[benchmark].sets.named.items() if value}
        config["metadata"] |= {"benchmark": benchmark, **name}
        config["metadata"]["spor"]["declared"] = content
    return file


@pytest.mark.parametrize("benchmark", SPECS)
def test_a_declaration_gives_back_what_not_only_tasks_need(benchmark):
    spec, content = SPECS[benchmark], declared(benchmark)
    found = msgspec.convert(content, Declared)
    for name in ("benchmark", "task", "title", "sets", "arms"):
        assert getattr(found, name) == getattr(spec, name)
    assert found.headline == spec.judging.headline
    assert found.displayed == (*map(str, spec.judging.displayed),) == (*found.scores,)
    for score in spec.judging.displayed:
        group = "gap" if isinstance(score, Gap) else score.group
        name = (score.first if isinstance(score, Gap) else score).name
        before = replace(found, scores={})  # as in results of version 0.2
        assert found.score(str(score)) == before.score(str(score)) == (name, group)
    for declared_score in spec.judging.displayed:
        info, score = info_of(declared_score), content["scores"][str(declared_score)]
        ends = [end if math.isfinite(end) else None for end in (info.low, info.high)]
        assert (score["label"], score["range"]) == (info.label, ends)
        assert score["higher_is_better"] is info.higher_is_better
    assert {name for gap in content["gaps"] for name in gap} <= content["scores"].keys()


def test_a_split_is_reported_without_its_file(tmp_path, monkeypatch):
    monkeypatch.setenv("COMPMCTG_DATA_DIR", str(tmp_path / "missing"))
    run = {"task": "compmctg_yelp_acd", "scores": {"mctg_acc": 50.0}, "arm": "train"}
    write(tmp_path, "compmctg", declared("compmctg"), **run)
    found = report.collect([tmp_path])
    assert [problem for problem in found.problems if problem.lost] == []
    titles = {row.spec.sets.part_title for table in found.tables for row in table.rows}
    assert "published split 3" in titles


def test_unknown_sets_are_reported_as_declared(tmp_path, monkeypatch):
    """No benchmark is asked: the set is one that it does not have."""
    sets = {"aspect": "productivity", "corpus": "towns", "protocol": "published", "part": "n99"}
    sets["part_title"] = "N = 99"
    content = declared("spor", title="Productivity: towns", sets=sets)
    write(tmp_path, "spor", content, task="spor_mine")
    monkeypatch.delattr(type(registry().get("benchmark", "spor")), "find")
    (result,) = runs.collect([tmp_path]).runs
    assert (result.spec.title, result.spec.sets.part) == ("Productivity: towns", "n99")


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"reported": ["unheard"]}, "no installed metric has a score of unheard"),
        ({"arms": "train"}, "Expected .*declared.arms"),
        ({"scores": None}, "declared.scores"),
    ],
)
def test_an_unreadable_one_hides_no_other(changes, what, tmp_path):
    file = write(tmp_path, "spor", declared("spor", **changes), task="spor_mine")
    with pytest.raises(ResultError, match=what):
        runs.read(file)
    write_result(tmp_path / "results_2.json")
    found = report.collect([tmp_path])
    assert len([problem for problem in found.problems if problem.lost]) == 1
    assert len(found.tables) == 1


def test_a_mean_is_reported_without_its_benchmark_and_metric(tmp_path):
    title = {"title": "Towns, published sets", "about": {"title": "Towns", "aspect": "Size"}}
    score = declared("spor")["scores"]["parent"] | {"label": "Fame", "title": "Fame of towns"}
    content = declared("spor", benchmark="gone", **title)
    content |= {
        "scores": {"fame": score},
        "reported": ["fame"],
        "gaps": [],
        "headline": "fame",
    }
    for arm, fame in (("visible", 40.0), ("invisible", 30.0)):
        told = {"task": "spor_mine", "scores": {"fame": fame}, "arm": arm}
        write(tmp_path / arm, "spor", content, **told)
    document = report.write([tmp_path], tmp_path / "out")
    (grid,) = document.grids
    assert "Fame" in grid.header
    (board,) = report.leaderboard.rank(report.collect([tmp_path])).boards
    assert board.entries[0].cell.mean == 30.0


def test_a_score_of_a_metric_that_is_not_installed_is_left_out(tmp_path):
    content = declared("spor", reported=["parent", "unheard"], breakdown=["unheard"])
    assert msgspec.convert(content, Declared).readable().displayed == ("parent",)
    write(tmp_path, "spor", content, task="spor_mine", arm="visible")
    assert report.collect([tmp_path]).tables


@pytest.mark.parametrize(("title", "facets"), [("N = 4", {"N": "4"}), ("twins", {}), (None, {})])
def test_a_result_of_version_0_2_says_what_its_part_means(title, facets):
    old = {"prompt_style": "causal", "declared": {"part_title": title, "scores": {}}}
    assert upgrade(old)["declared"]["sets"]["facets"] == facets


def test_a_result_whose_sets_were_named_by_a_list_is_read():
    named = {"part_title": "N = 4", "decodings": ["beam5"], "split_of": None, "is_fixed": False}
    name = ["productivity", "mini", "strict", "n4"]
    between = {"prompt": {}, "declared": {"name": name, "sets": named}}
    assert upgrade(between)["declared"]["sets"] == {
        "aspect": "productivity",
        "corpus": "mini",
        "protocol": "strict",
        "part": "n4",
        "part_title": "N = 4",
        "facets": {"N": "4", "protocol": "strict"},
        "decodings": {"beam5": 0},
        "is_fixed": False,
    }
