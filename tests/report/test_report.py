"""From results to the tables of arms."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats as scipy_stats

from spor_tasks import report
from spor_tasks.aspects.arms import ARMS
from spor_tasks.core.errors import ConfigError
from spor_tasks.metrics.tally import Column
from spor_tasks.report import tables
from spor_tasks.report.document import markdown, plain_text
from spor_tasks.results import stats
from tests.support import golden
from tests.support.result_files import (
    distinct,
    edited,
    rows_of,
    write_result,
    write_rows,
    write_run,
)
from tests.support.scores import interval

TASK = "spor_systematicity_mini"
FIRST, SECOND = ARMS["systematicity"]


def all_rows(found):
    return [row for table in found.tables for row in table.rows]


def paper_rows(folder):
    """The rows of the paper's own metrics."""
    others = {"parent_full_table", "chrf", "coverage", "copy_rule_whole_word"}
    return [row for row in all_rows(report.collect([folder])) if row.metric not in others]


def ends(interval, source):
    assert interval.source == source
    return interval.low, interval.high


# --- Scores, intervals and tests ------------------------------------------------------------------


def test_arms_are_means_over_seeds_and_their_difference(tmp_path):
    for arm, *parents in ((FIRST, 40.0, 42.0), (SECOND, 44.0, 43.0), (None, 5.0)):
        for seed, parent in enumerate(parents):
            file = tmp_path / f"results_{arm}{seed}.json"
            write_result(file, arm=arm, seed=seed, parent=parent)
    (row,) = paper_rows(tmp_path)
    assert [(cell.values, cell.seeds, cell.mean) for cell in row.arms] == [
        ((40.0, 42.0), [0, 1], 41.0),
        ((44.0, 43.0), [0, 1], 43.5),
    ]
    assert row.arms[0].deviation == pytest.approx(2**0.5)
    assert row.difference.value == -2.5
    assert (row.as_is.values, len(row.as_is.runs), row.as_is.seeds) == ((5.0,), 1, [])
    assert (row.task, row.model, row.size.n) == (TASK, "base", 200)


def test_several_seeds_have_intervals_over_seeds_and_samples(tmp_path):
    rng = np.random.default_rng(3)
    values = {arm: rng.uniform(0, 100, (2, 50)) for arm in (FIRST, SECOND)}
    for arm, runs in values.items():
        for seed, numbers in enumerate(runs):
            write_run(tmp_path, f"{arm}{seed}", list(numbers), arm=arm, seed=seed)
    write_run(tmp_path, "base", list(values[FIRST][0]), arm=None)
    (row,) = paper_rows(tmp_path)
    order = np.argsort([str(number) for number in range(50)])  # ids are in the order of texts
    systems = [[Column.of(list(run[order])) for run in runs] for runs in values.values()]
    clusters = np.arange(50)
    single = systems[0][0]
    wider = scipy_stats.t.ppf(0.975, 49) / scipy_stats.norm.ppf(0.975)
    single = [single.value + (end - single.value) * wider for end in interval(single, clusters)]
    assert ends(row.as_is.interval, "samples") == pytest.approx(single, abs=1e-6)
    several = stats.over_runs(systems[:1], clusters)
    assert ends(row.arms[0].interval, "runs") == pytest.approx(several.interval(), abs=1e-6)
    both = stats.over_runs(systems, clusters)
    difference = row.difference
    assert difference.p == pytest.approx(both.p)
    assert ends(difference.interval, "runs") == pytest.approx(both.interval(), abs=1e-6)
    assert difference.notes == ()


def write_arms(folder, model, runs):
    """Write runs of both arms; each run has a mean, and samples around it."""
    for arm, means in zip((FIRST, SECOND), runs, strict=True):
        for seed, mean in enumerate(means):
            values = [mean + 2 * math.sin(number + 9 * seed) for number in range(40)]
            write_run(folder, f"{model}{arm}{seed}", values, arm=arm, seed=seed, model=model)


def stated(folder):
    """What the terminal says above the table of PARENT, and the numbers in the rows."""
    found = report.collect([folder])
    text = plain_text(tables.document(found)).partition("\n")[0]
    rows = [row for row in all_rows(found) if row.metric == "parent"]
    return text, {row.difference.detectable for row in rows}


def test_no_difference_is_named_that_the_scale_does_not_have(tmp_path):
    """Two seeds of one arm differ by 90 points; those of the other do not."""
    for model in "abcdef":
        write_arms(tmp_path, model, [(5.0, 95.0), (50.0, 50.0)])
    text, (number,) = stated(tmp_path)
    assert number > 100
    assert "estimated smallest difference found with 80 % power: PARENT over 100" in text


def test_one_estimate_is_named_of_the_models_in_a_table(tmp_path):
    """Models with other numbers of runs are other experiments; a few runs are not enough."""
    for place, model in enumerate("abc"):
        write_arms(tmp_path, model, [(50.0 + place, 52, 54), (50.0, 51.0, 52.0)])
    text, (number,) = stated(tmp_path)
    assert f"estimated smallest difference found with 80 % power: PARENT {number:.1f})" in text
    for arm, every in ((FIRST, 9), (SECOND, 7)):
        values = [50.0 + place % every for place in range(40)]
        write_run(tmp_path, f"single{arm}", values, arm=arm, model="single")
    text, numbers = stated(tmp_path)
    (of_one,) = numbers - {number}
    assert f"PARENT {of_one:.1f} (1 run), {number:.1f} (3 runs))" in text


def test_two_models_of_three_runs_have_no_smallest_difference(tmp_path):
    for model in "ab":
        write_arms(tmp_path, model, [(50.0, 52, 54), (50.0, 51.0, 52.0)])
    text, numbers = stated(tmp_path)
    assert numbers == {None}
    assert "smallest difference" not in text


@pytest.mark.parametrize(("clusters", "seeds", "p"), [(3, 1, 0.25), (1, 2, None)])
def test_equal_units_are_one_draw(tmp_path, clusters, seeds, p):
    """Twelve samples of so many sets of units, all better after one arm.

    Two of the eight exchanges of three sets are as far from zero; one set cannot be tested.
    """
    samples = [replace(distinct(number % clusters), id=str(number)) for number in range(12)]
    for arm, parent in ((FIRST, 40.0), (SECOND, 50.0)):
        rows = rows_of(samples, [["x"]] * 12, [{"parent": parent}] * 12)
        for seed in range(seeds):
            file = tmp_path / f"results_{arm}{seed}.json"
            write_rows(file, rows, task=TASK, arm=arm, seed=seed)
    (row,) = paper_rows(tmp_path)
    assert row.size[0:3:2] == (12, clusters)
    assert row.difference.p == pytest.approx(p, abs=0.02)
    assert row.difference.reason
    assert f"12 in {clusters} cluster" in markdown(tables.document(report.collect([tmp_path])))


def test_located_taus_are_compared_on_the_samples_that_both_arms_located(tmp_path):
    """The arms do not differ on the common samples, and their means are over other ones."""
    taus = {
        "original": [0.2, 0.4, 0.6, 1.0, 1.0, None],
        "match": [0.2, 0.4, 0.6, None, None, 0.0],
    }
    task = {"task": "spor_order_invariance_mini_cwio", "aspect": "order_invariance", "part": "cwio"}
    for arm, values in taus.items():
        logged = [
            {"cwio": (2, 0.5), "cwio_located": None if value is None else (2, value)}
            for value in values
        ]
        rows = rows_of(map(distinct, range(6)), [["x"]] * 6, logged)
        write_rows(tmp_path / f"results_{arm}.json", rows, arm=arm, **task)
    found = {row.metric: row for row in paper_rows(tmp_path)}["cwio_located"]
    assert [cell.mean for cell in found.arms] == pytest.approx([0.64, 0.3])
    difference = found.difference
    assert (difference.value, difference.n, difference.p) == (0.0, 3, 1.0)
    assert difference.interval is None  # three samples that agree say nothing about others
    assert any("no interval" in note for note in difference.notes)
    assert any("3 of 6 samples" in note for note in difference.notes)


@pytest.mark.parametrize(
    ("better", "p", "mark"),
    [
        ([1.0] * 24 + [-1.0] * 12, 0.065, ""),
        ([1.0] * 25 + [-1.0] * 11, 0.029, "†"),
        ([1.0] * 26 + [-1.0] * 10, 0.011, "†"),
        ([1.0] * 29 + [-1.0] * 7, 0.0, "‡"),
        ([1.0] * 30, 0.0, "‡"),
        ([1.0] * 29, 0.0, ""),  # too few inputs
        ([0.001] * 40, 0.0, ""),  # printed as zero
    ],
)
def test_marks_are_the_papers(tmp_path, better, p, mark):
    write_run(tmp_path, "a", [50.0] * len(better))
    write_run(tmp_path, "c", [50.0 + each for each in better], arm=SECOND)
    difference = paper_rows(tmp_path)[0].difference
    assert (difference.mark, difference.p) == (mark, pytest.approx(p, abs=0.005))
    assert ("30" in (difference.reason or "")) is (len(better) < 30)


@pytest.mark.parametrize(
    ("first", "second", "mark"), [(1, 1, "‡"), (2, 2, "†"), (2, 3, "†"), (3, 3, "‡"), (1, 3, "")]
)
def test_few_seeds_have_fewer_marks(tmp_path, first, second, mark):
    """The second arm is ten points better."""
    for arm, number, better in ((FIRST, first, 0.0), (SECOND, second, 10.0)):
        for seed in range(number):
            values = [number % 7 + better + 0.01 * seed for number in range(40)]
            write_run(tmp_path, f"{arm}{seed}", values, arm=arm, seed=seed)
    difference = paper_rows(tmp_path)[0].difference
    assert difference.mark == mark
    assert (difference.interval is None) == (difference.p is None) == (not mark)


# --- Runs of one row ------------------------------------------------------------------------------


def settings_of(**changes):
    """Settings of a training as a result has them, with changes."""
    settings = {"lora": {"rank": 8}, "optimization": {"threads": 1}, "data": {"limit": None}}
    return settings | changes


def write_way(folder, name, arm, parent, **ways):
    """Write a result of a model that was trained or evaluated in some way."""
    scores = {"parent": parent, **ways.pop("scores", {})}
    file = folder / f"results_{name}.json"
    write_result(file, arm=arm, scores=scores, seed=ways.pop("seed", 0))
    with edited(file) as content:
        spor = content["configs"][TASK]["metadata"]["spor"]
        if arm is not None:
            spor["adapter"]["settings"] = ways.pop("settings", settings_of())
            for key in ("arm_sha256", "pairs", "violations"):
                spor["adapter"] |= {key: ways.pop(key)} if key in ways else {}
        spor["packages"] |= ways.pop("packages", {})
        spor["judges"] |= {key: ways.pop(key) for key in ("facts",) if key in ways}
        spor["test"] |= {key: ways.pop(key) for key in ("limit_evenly",) if key in ways}
        content["n-samples"][TASK]["original"] = ways.pop("documents", 200)
        content["chat_template_sha"] = ways.pop("chat_template_sha", None)
        content["config"] |= ways


def objective(**settings):
    return {"settings": settings_of(objective="meta", objective_settings=settings)}


# Differences of runs whose scores are not averaged.
APART = (
    {"model": "vllm"},
    {"model_args": {"pretrained": "base", "dtype": "bfloat16"}},
    {"model_dtype": "torch.float16"},
    {"model_args": {"pretrained": "base", "load_in_4bit": True}},
    {"quantization": "nf4"},
    {"adapter_merged": True},
    {"facts": "facts|model:a|weights:b"},
    {"limit_evenly": True, "documents": 400},
    {"settings": settings_of(data={"limit": 150})},
    {"settings": settings_of(lora={"rank": 16})},
    {"settings": settings_of(optimization={"threads": 2})},
    {"settings": settings_of(selection={"policy": "last"})},
    {"arm_sha256": "9" * 64},
    {"pairs": 150},
    {"violations": ["one unit"]},
)
# The first two of these long settings differ in what a short name leaves out.
LONG = (objective(**dict.fromkeys("abcdefgh", n == 2), z="x" * 40 + str(n)) for n in range(3))
IN_BITS = {"settings": settings_of(model={"quantization": "nf4"})}
# By what they show: an arm and its runs, each in some way.
RUNS = {
    **{str(way): [(FIRST, {}), (FIRST, {"seed": 1, **way}), (None, {})] for way in APART},
    "single runs": [(FIRST, {}), (SECOND, {"scores": {"parent": 99.5}})],
    "three seeds": [(arm, {"seed": n}) for n in range(3) for arm in (FIRST, SECOND)],
    "objectives": [
        *((FIRST, objective(of="likelihood", weight=weight)) for weight in (0.1, 0.2)),
        (FIRST, {}),
    ],
    "long settings": [(FIRST, way) for way in LONG],
    "limits without effect": [(FIRST, {"seed": n, "limit_evenly": n == 1}) for n in range(2)],
    "versions": [(FIRST, {"seed": n, "packages": {"torch": f"2.{n}"}}) for n in range(2)],
    "pairs of arms": [(FIRST, {"pairs": 100}), (SECOND, {"pairs": 150})],
    "quantization": [(FIRST, IN_BITS), (SECOND, {**IN_BITS, "quantization": "nf4"})],
    "prompts": [(None, {}), (None, {"chat_template_sha": "c" * 64}), (FIRST, {"seed": 1})],
    "empty outputs": [(FIRST, {"scores": {"empty": 2.5}})],
}


def test_rows_and_notes_of_runs_that_differ_are_the_golden_ones(tmp_path):
    """Only runs that differ in seeds alone are averaged; a model as it is stands in each row."""
    texts = []
    for number, (title, runs) in enumerate(RUNS.items()):
        folder = tmp_path / str(number)
        for place, (arm, ways) in enumerate(runs):
            write_way(folder, str(place), arm, 40.0 + 10 * place, **ways)
        document = tables.document(report.collect([folder]))
        text = plain_text(document).replace(f"{folder}/", "")
        texts.append(f"=== {title}\n{text}\n")
        names = [(row.metric, row.name) for row in all_rows(report.collect([folder]))]
        assert len(set(names)) == len(names)
    golden.same("ways.txt", "\n".join(texts))


def test_a_model_as_it_is_stands_once_on_a_board_beside_all_its_adapters(tmp_path):
    for number, rank in enumerate((8, 16)):
        settings = settings_of(lora={"rank": rank})
        write_way(tmp_path, str(number), FIRST, 40.0 + number, settings=settings)
    write_way(tmp_path, "base", None, 10.0)
    boards = report.rank(report.collect([tmp_path])).boards
    (names,) = ([each.model for each in b.entries] for b in boards if b.row.metric == "parent")
    assert names == ["base (lora.rank 16)", "base (lora.rank 8)", "base"]


def test_arms_of_different_seeds_are_not_paired_and_a_note_says_so(tmp_path):
    for arm, seed in ((FIRST, 0), (FIRST, 1), (SECOND, 0)):
        write_run(tmp_path, f"{arm}{seed}", [40.0 + seed, 50.0], arm=arm, seed=seed)
    unpaired, _one_seed = paper_rows(tmp_path)[0].difference.notes
    text = markdown(tables.document(report.collect([tmp_path])))
    assert "atom 0, 1; combination 0" in text
    assert unpaired in text


def test_a_user_may_merge_what_differs_and_the_row_says_so(tmp_path):
    write_way(tmp_path, "1", FIRST, 40.0)
    write_way(tmp_path, "2", FIRST, 60.0, model_dtype="torch.bfloat16")
    row = all_rows(report.collect([tmp_path], ["dtype"]))[0]
    assert row.arms[0].values == (40.0, 60.0)
    assert row.name == "base (merged over dtype None, bfloat16)"
    for facts, named in ((["colour"], "colour"), (["task", "n"], "n, task")):
        with pytest.raises(ConfigError, match=named):
            report.collect([tmp_path], facts)


def test_arms_that_were_shown_are_compared_apart_from_those_trained_on(tmp_path):
    for number, arm in enumerate((FIRST, SECOND)):
        write_result(tmp_path / f"results_{arm}.json", arm=arm, parent=50.0 + number)
        shown = {"task": f"{TASK}_icl_{arm}", "shown": arm, "parent": 20.0 + 3 * number}
        write_result(tmp_path / f"results_icl_{arm}.json", **shown)
    found = [(row.task, row.variant, row.difference.value) for row in paper_rows(tmp_path)]
    assert found == [(TASK, "", -1), (f"{TASK}_icl k=8", "icl k=8", -3)]
    assert [(len(cell.runs), cell.seeds) for cell in paper_rows(tmp_path)[1].arms] == [(1, [])] * 2


def test_a_variant_is_what_else_the_name_of_a_task_says(tmp_path):
    n3 = "spor_productivity_mini_n3_beam5"
    variants = {f"{TASK}_beam5": "beam5", n3: "beam5", "mine": "mine"}
    for task in variants:
        sets = {"aspect": "productivity", "part": "n3"} if task == n3 else {}
        write_result(tmp_path / f"results_{task}.json", task=task, arm=None, **sets)
    assert {row.task: row.variant for row in paper_rows(tmp_path)} == variants


# --- The paper's rows -----------------------------------------------------------------------------


def test_the_papers_rows_stand_beside_ours_of_the_released_sets(tmp_path):
    """They are of training, not of arms that were shown."""
    for corpus, protocol in (("webnlg", "published"), ("e2e", "strict")):
        sets = {"corpus": corpus, "protocol": protocol}
        task = f"spor_systematicity_{corpus}"
        write_result(tmp_path / f"results_{corpus}.json", task=task, metadata=sets)
        in_context = {"task": f"{task}_icl_{FIRST}", "shown": FIRST, "metadata": sets}
        write_result(tmp_path / f"results_{corpus}-icl.json", **in_context)
    found = [row for row in paper_rows(tmp_path) if row.kind == "published"]
    assert {(row.spec.sets.corpus, row.variant) for row in found} == {("webnlg", "")}
    assert [row.model for row in found][:2] == ["T5-large", "BART-large"]
    assert len(found) == 6
    assert [cell.mean for cell in found[2].arms] == [63.98, 64.93]
    assert (found[2].difference.mark, found[2].difference.p, found[2].size.n) == ("‡", None, 2360)


def test_the_legend_explains_published_rows_where_there_are_some(tmp_path):
    sets = {"corpus": "webnlg", "protocol": "published"}
    webnlg = {"task": "spor_systematicity_webnlg", "metadata": sets}
    for settings, has_published in (({}, False), (webnlg, True)):
        write_result(tmp_path / str(has_published) / "results_1.json", **settings)
        legend = tables.document(report.collect([tmp_path / str(has_published)])).legend
        assert ("Rows as published" in legend) == has_published
