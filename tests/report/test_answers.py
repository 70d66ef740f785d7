"""The answers that a page begins with: each sentence says what the numbers say."""

import random
import re
from itertools import product

import pytest

from spor_tasks import report
from spor_tasks.report.answers import answers, of_pairs
from spor_tasks.report.floors import with_floors
from spor_tasks.report.leaderboard import rank
from spor_tasks.results import pairs, stats
from tests.support.result_files import UNKNOWN_ARM, distinct, edited, rows_of, write_rows

TASK = {"task": "spor_systematicity_mini"}
SAMPLES = 40
ONCE = " One training seed: this holds for these checkpoints only."


def write(folder, arm, mean, *, seed=0, model="base", count=SAMPLES, **more):
    """Write a run whose values of PARENT vary around a mean, with more scores of each sample."""
    rng = random.Random(f"{arm} {seed} {model}")
    values = [{"parent": min(100.0, max(0.0, rng.gauss(mean, 8)))} | more for _ in range(count)]
    rows = rows_of(map(distinct, range(count)), [["Text."]] * count, values)
    file = folder / f"results_{arm}-{seed}-{model}.json"
    write_rows(file, rows, arm=arm, seed=seed, model=model, **TASK)
    if arm is None:
        with edited(file) as content:
            del content["config"]["model_args"]["peft"]
    return file


def told(folder):
    """The sentences about a folder of results, and its report."""
    found = with_floors(report.collect([folder]))
    (about,) = answers(found, rank(found).boards)
    assert about.title.startswith("Systematicity: mini, strict sets (n = ")
    return about.sentences, found


@pytest.fixture
def tuned(tmp_path):
    """A base, and adapters of four seeds of both arms, which are alike."""
    write(tmp_path, None, 30)
    for arm, seed in product(("atom", "combination"), range(4)):
        write(tmp_path, arm, 50, seed=seed)
    return tmp_path


def test_a_gain_over_the_base_is_that_of_the_seeds_less_a_constant(tuned):
    sentences, found = told(tuned)
    row = found.rows[0]
    runs, base = row.arms[0].runs, row.as_is.runs
    columns = [[found.logged[run.id].columns["parent"] for run in each] for each in (runs, base)]
    expected = stats.over_runs(columns, found.logged[base[0].id].clusters)
    low, high = expected.interval()
    gain = f"{expected.value:.1f} PARENT [{low:.1f}, {high:.1f}]"
    assert f"Training on Atom gains {gain} over the base, p < 0.0001." in sentences
    assert 15 < expected.value < 25


def test_equal_arms_are_not_told_apart_and_the_base_is_below_both(tuned):
    sentences, found = told(tuned)
    difference = found.rows[0].difference
    assert not difference.mark
    first, *gains, floor = sentences
    assert first.startswith("No difference between Atom and Combination was found: ")
    assert f"{difference.value:.1f} PARENT [".replace("-", "−") in first
    assert len(gains) == 2
    above = r"Atom and Combination are above copied inputs, which have [\d.]+ PARENT\."
    assert re.fullmatch(above, floor)


def test_a_loss_has_the_interval_of_its_size_and_single_runs_a_detectable_difference(tmp_path):
    write(tmp_path, "atom", 30)
    write(tmp_path, "combination", 60)
    (sentence, *_), found = told(tmp_path)
    interval = found.rows[0].difference.interval
    ends = f"[{-interval.high:.1f}, {-interval.low:.1f}]"
    assert re.fullmatch(
        rf"Atom loses [\d.]+ PARENT {re.escape(ends)} against Combination, p < 0\.0001\.{ONCE}",
        sentence,
    )
    write(tmp_path, "combination", 31)
    (sentence, *_), found = told(tmp_path)
    size = f"{found.rows[0].difference.detectable:.1f}"
    assert sentence.endswith(f"; {size} would have been found with 80 % power.{ONCE}")


def test_a_comparison_of_two_trainings_holds_for_their_checkpoints(tmp_path):
    files = [write(tmp_path, arm, mean) for arm, mean in (("atom", 30), ("combination", 60))]
    (about,) = of_pairs(pairs.pair(files))
    (sentence,) = about.sentences
    assert " over results_atom-0-base.json, p < 0.0001." in sentence
    assert sentence.endswith(ONCE)
    base = write(tmp_path, None, 30)
    assert "seed" not in of_pairs(pairs.pair([base, base]))[0].sentences[0]


def test_an_adjusted_p_is_told_in_place_of_what_one_test_would_have_found(tmp_path):
    models = (("a", 50), ("b", 52), ("c", 50), ("d", 50), ("e", 50), ("f", 50))
    files = [write(tmp_path, None, mean, model=model) for model, mean in models]
    (alone,) = of_pairs(pairs.pair([files[0], files[2]]))[0].sentences
    assert alone.endswith(" would have been found with 80 % power.")
    found = pairs.pair(files)
    row, sentence = found.rows[0], of_pairs(found)[0].sentences[0]
    assert row.difference.p < 0.05 < row.p
    p = f"p = {row.p:.4f}, adjusted for 5 tests (alone {row.difference.p:.4f})"
    assert re.fullmatch(rf"No difference .* was found: [^;]*\], {re.escape(p)}\.", sentence)


def test_a_further_score_that_is_marked_is_not_hidden(tmp_path):
    write(tmp_path, "atom", 50, chrf=40.0, coverage=70.0)
    write(tmp_path, "combination", 50, chrf=60.0, coverage=70.0)
    (first, chrf, *floors), _ = told(tmp_path)
    assert first.startswith("No difference between Atom and Combination was found: ")
    assert chrf.startswith("Atom loses 20.0 chrF")
    assert chrf.endswith(f" against Combination, p < 0.0001, adjusted for 3 scores.{ONCE}")
    assert "Coverage" not in chrf
    assert all("copied inputs" in each for each in floors)


def test_a_gain_does_not_hide_the_scores_that_were_lost(tmp_path):
    write(tmp_path, None, 30, chrf=40.0, coverage=95.0)
    write(tmp_path, "atom", 60, chrf=50.0, coverage=55.0)
    (gain, further, *_), found = told(tmp_path)
    assert any("one training seed" in note for note in found.rows[0].arms[0].notes)
    assert gain.startswith("This checkpoint, trained on Atom, gains ")
    changes = r"loses 40\.0 Coverage \[.*\], gains 10\.0 chrF \[.*\]"
    end = "against the base, the largest p < 0.0001, adjusted for 3 scores\\."
    assert re.fullmatch(f"This checkpoint, trained on Atom, {changes} {end}", further)


@pytest.mark.parametrize(("others", "is_told"), [({}, True), ({"coverage": 70.0}, False)])
def test_a_further_score_counts_by_its_p_adjusted_for_all_that_are_tested(
    tmp_path, others, is_told
):
    """11 samples gain and 2 lose as much: p is 0.022, of two scores 0.045, of three 0.067."""
    gains = [10.0] * 11 + [-10.0] * 2
    for arm in ("atom", "combination"):
        rng = random.Random(arm)
        more = [x if arm == "atom" else 0.0 for x in gains + [0.0] * (SAMPLES - len(gains))]
        values = [{"parent": rng.gauss(50, 8), "chrf": 50 + x, **others} for x in more]
        rows = rows_of(map(distinct, range(SAMPLES)), [["Text."]] * SAMPLES, values)
        write_rows(tmp_path / f"results_{arm}.json", rows, arm=arm, seed=0, model="base", **TASK)
    sentences, found = told(tmp_path)
    (p,) = (row.difference.p for row in found.rows if row.metric == "chrf")
    assert 0.05 / 3 < p < 0.05 / 2
    assert any(re.match("Atom gains .* chrF", each) for each in sentences) == is_told


def test_a_trial_is_called_one(tmp_path):
    file = write(tmp_path, "atom", 50)
    with edited(file) as content:
        content["n-samples"][TASK["task"]]["original"] = 200
    found = with_floors(report.collect([tmp_path]))
    (about,) = answers(found, ())
    assert about.title.endswith("(n = 40 of 200: a trial)")
    whole = write(tmp_path, "combination", 50)
    for files in ([file, whole], [whole, file]):
        (about,) = of_pairs(pairs.pair(files))
        assert about.title == f"{TASK['task']} (n = 40 of 200: a trial)"
    (about,) = of_pairs(pairs.pair([whole, whole]))
    assert about.title == f"{TASK['task']} (n = 40)"


def test_few_inputs_have_no_verdict_and_the_sentence_says_why(tmp_path):
    write(tmp_path, "atom", 30, count=8)
    write(tmp_path, "combination", 60, count=8)
    (sentence, *_), _ = told(tmp_path)
    assert sentence.startswith("Atom less Combination is −")
    assert sentence.endswith("There is no verdict: fewer than 30 different inputs.")


def test_models_are_named_where_there_are_several_and_the_best_is_said(tmp_path):
    for model, mean in (("large", 70), ("small", 30)):
        write(tmp_path, None, mean, model=model)
    sentences, _ = told(tmp_path)
    assert sentences[-1] == "large (as is) has the first rank of 2 systems by PARENT."
    assert all(re.match("(large|small): The base is ", each) for each in sentences[:-1])


def test_an_adapter_of_no_known_arm_is_compared_with_its_base(tmp_path):
    write(tmp_path, None, 30, model="base")
    write(tmp_path, "atom", 50, model="base")
    write(tmp_path, "combination", 50, model="base")
    write(tmp_path, UNKNOWN_ARM, 60, model="base")
    sentences, found = told(tmp_path)
    assert {row.model for row in found.rows} == {"base", "base + somewhere"}
    gain, floor = (each for each in sentences if "adapter" in each)
    size = r"[\d.]+ PARENT \[[\d., ]+\]"
    said = rf"base \+ somewhere: The adapter gains {size} over its base, p < 0.0001\."
    assert re.fullmatch(said, gain)
    assert floor.startswith("base + somewhere: The adapter is above copied inputs, ")


def test_an_adapter_is_compared_only_with_a_base_that_was_evaluated_as_it_was(tmp_path):
    write(tmp_path, UNKNOWN_ARM, 60)
    ((floor,), _) = told(tmp_path)
    assert floor.startswith("The adapter is above copied inputs, ")
    with edited(write(tmp_path, None, 75, seed=1)) as content:
        content["system_instruction_sha"] = "d" * 64
    assert not any("its base" in each for each in told(tmp_path)[0])
    write(tmp_path, None, 30)
    (gain,) = (each for each in told(tmp_path)[0] if "its base" in each)
    assert "The adapter gains" in gain


def test_a_model_below_copied_inputs_is_called_so(tmp_path):
    file = write(tmp_path, "atom", 50)
    found = with_floors(report.collect([tmp_path]))
    floors = {(row.model, row.metric): row.as_is.mean for row in found.floors}
    copied = floors["copy-input", "parent"]
    file.unlink()
    for mean, place in ((copied, "not clearly above or below"), (copied - 20, "below")):
        write(tmp_path, "atom", mean)
        (sentence,), _ = told(tmp_path)
        assert sentence == f"Atom is {place} copied inputs, which have {copied:.1f} PARENT."


def test_each_arm_is_told_that_is_not_above_copied_inputs_by_some_score(tmp_path):
    write(tmp_path, "atom", 50, coverage=56.0)
    write(tmp_path, "combination", 1, coverage=100.0)
    *_, above, below, coverage = told(tmp_path)[0]
    assert above.startswith("Atom is above copied inputs, which have ")
    assert below.startswith("Combination is below copied inputs, which have ")
    assert coverage == "Atom is below copied inputs, which have 100.0 Coverage."


def test_one_result_has_no_answer_but_the_floor(tmp_path):
    write(tmp_path, "atom", 50)
    ((sentence), *rest), _ = told(tmp_path)
    assert "copied inputs" in sentence
    assert rest == []
