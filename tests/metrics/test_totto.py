"""ToTTo's scores are the published ones, to the last digit, and those without pads are bounded."""

import json
import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.core.errors import CorpusError
from spor_tasks.core.sample import Sample
from spor_tasks.metrics.base import Column, Judgement, score_info, with_groups
from spor_tasks.metrics.groups import in_groups
from spor_tasks.metrics.totto import TOTTO, TOTTO_REAL, Totto
from spor_tasks.results.statistics import clusters_of, difference
from tests.support.intervals import interval
from tests.support.scores import scores_of
from tests.support.totto import Row, examples, golden_rows, sample

SIDES = ("p", "r", "f")
HALVES = {"overall": "", "overlap": "_overlap", "nonoverlap": "_nonoverlap"}


def percent(judgement: Judgement) -> dict[str, float]:
    real = "_real" if "totto_chrf" in judgement.details else ""
    return {key: judgement.details[f"parent{real}_{key}"] for key in SIDES}


def judged(given: Sequence[tuple[Sample, str]], metric: Totto = TOTTO) -> list[Judgement]:
    return [metric.judge_one(*each) for each in given]


# --- The published evaluation ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def published(golden_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Row]]:
    """The rows of each file of predictions, with the sample and what is found of them."""
    folder = golden_dir / "totto"
    rows = golden_rows(folder / "examples.jsonl.gz")
    found = examples([row["example"] for row in rows], tmp_path_factory.mktemp("totto"))
    samples = {row["id"]: each for row, each in zip(rows, found, strict=True)}
    files: dict[str, list[Row]] = {}
    for row in golden_rows(folder / "predictions.jsonl.gz"):
        row["sample"] = samples[row["id"]]
        row["evidence"] = TOTTO.judge_one(row["sample"], row["prediction"])
        files.setdefault(row["file"], []).append(row)
    return files


def test_parent_of_every_example_is_published(published: dict[str, list[Row]]) -> None:
    rows = [row for of in published.values() for row in of]
    assert len(rows) == 1400
    for row in rows:
        expected = {key: row[f"parent_{key}"] for key in SIDES}
        assert percent(row["evidence"]) == pytest.approx(expected, abs=1e-9)


def assert_published(
    evidence: Sequence[Judgement], samples: Sequence[Sample], expected: Row
) -> None:
    ours = {score.name: score for score in scores_of(TOTTO, evidence, samples)}
    for half, end in HALVES.items():
        bleu, parent = expected[half]["bleu"], expected[half]["parent"]
        assert ours[f"totto_bleu{end}"].value == pytest.approx(bleu["score"], abs=1e-9)
        assert ours[f"totto_parent{end}"].value == pytest.approx(parent["f"], abs=1e-9)
        assert ours[f"totto_parent{end}"].n == parent["n"]
        for side in ("precision", "recall"):
            found = ours[f"totto_parent_{side}{end}"].value
            assert found == pytest.approx(parent[side], abs=1e-9)
            assert f"{found:.2f}" == f"{expected[half]['parent_cli'][side]:.2f}"
        printed = f"{ours[f'totto_bleu{end}'].value:.1f}", f"{ours[f'totto_parent{end}'].value:.2f}"
        cli = expected[half]["bleu_cli"]["score"], expected[half]["parent_cli"]["f"]
        assert printed == (f"{cli[0]:.1f}", f"{cli[1]:.2f}")


def test_aggregates_are_published(published: dict[str, list[Row]], golden_dir: Path) -> None:
    expected = json.loads((golden_dir / "totto" / "aggregates.json").read_bytes())
    assert expected.keys() == published.keys()
    for name, rows in published.items():
        evidence, samples = ([row[key] for row in rows] for key in ("evidence", "sample"))
        assert_published(evidence, samples, expected[name])


def test_the_published_check_comes_out(totto_dir: Path, golden_dir: Path, tmp_path: Path) -> None:
    golden = json.loads((golden_dir / "totto" / "sample_eval.json").read_bytes())
    lines = (totto_dir / "dev_sample.jsonl").read_text("utf-8").splitlines()
    outputs = (totto_dir / "output_sample.txt").read_text("utf-8").splitlines()
    samples = examples([json.loads(line) for line in lines], tmp_path)
    evidence = judged([*zip(samples, outputs, strict=True)])
    assert_published(evidence, samples, golden["aggregates"]["output_sample"])
    for found, expected in zip(evidence, golden["per_example"]["output_sample"], strict=True):
        assert percent(found) == pytest.approx({key: expected[key] for key in SIDES}, abs=1e-9)


def test_edge_cases_are_published_where_the_published_code_answers(
    golden_dir: Path, tmp_path: Path
) -> None:
    cases = json.loads((golden_dir / "totto" / "edge_cases.json").read_bytes())
    answered = [case for case in cases if "p" in case]
    assert len(answered) == len(cases) - 1
    samples = examples([case["example"] for case in answered], tmp_path)
    for each, case in zip(samples, answered, strict=True):
        found = percent(TOTTO.judge_one(each, case["prediction"]))
        assert found == pytest.approx({key: case[key] for key in SIDES}, abs=1e-9)


def test_pads_reward_lists_of_cells(published: dict[str, list[Row]]) -> None:
    """What docs/metrics.md says of pads."""
    found = {}
    for name in ("cells", "other"):
        rows = [row for row in published[name] if len(row["sample"].references) < 3]
        real = judged([(row["sample"], row["prediction"]) for row in rows], TOTTO_REAL)
        pairs = [
            (percent(row["evidence"])["f"], percent(each)["f"])
            for row, each in zip(rows, real, strict=True)
        ]
        means = [round(float(mean), 1) for mean in np.mean(pairs, axis=0)]
        found[name] = (len(rows), *means, sum(one > other for one, other in pairs))
    assert found == {"cells": (46, 65.6, 41.4, 32), "other": (46, 20.8, 18.4, 9)}


# --- Where the published code fails ---------------------------------------------------------------


def test_a_title_of_blanks_is_not_there() -> None:
    blank = sample("Ann has 7 .", title=" ", section_title="\t")
    assert TOTTO.judge_one(blank, "Ann") == TOTTO.judge_one(sample("Ann has 7 ."), "Ann")


def test_where_nothing_is_to_mention_everything_was() -> None:
    nothing = sample("Bo has 8 .", cells=[[" ", "7"]])
    (evidence,) = judged([(nothing, "Bo has 8 .")], TOTTO_REAL)
    assert percent(evidence) == pytest.approx({"p": 100, "r": 100, "f": 100})
    assert percent(TOTTO_REAL.judge_one(nothing, "no word of it"))["f"] < 1e-3


@pytest.mark.parametrize("sign", ["\t", "\n", "\r\n"])
def test_what_would_break_an_entry_is_a_blank(sign: str) -> None:
    texts = ("Ann Moss has 7 .", f"ann{sign}moss")
    assert TOTTO.judge_one(
        sample(texts[0], cells=[[f"Ann{sign}Moss", "7"]]), texts[1]
    ) == TOTTO.judge_one(sample(texts[0], cells=[["Ann Moss", "7"]]), "ann moss")


def test_signs_that_separate_entries_may_be_written_as_entities() -> None:
    text = "a &bar;&#124;&bar; b"
    found = percent(TOTTO_REAL.judge_one(sample(text, cells=[[text]]), "A ||| B"))
    assert found == pytest.approx({"p": 100, "r": 100, "f": 100})


def test_an_empty_output_is_a_pad_as_published_and_nothing_without_pads() -> None:
    ann = sample("Ann won .", title="Page")
    assert TOTTO.judge_one(ann, " ") == TOTTO.judge_one(ann, "<null>")
    assert TOTTO.judge_one(ann, "").details["bleu_counts"] == (3, 2, 1, 0)
    empty = TOTTO_REAL.judge_one(ann, "").values
    assert (empty["totto_parent_real"], empty["totto_chrf"]) == (0, 0)
    assert empty["totto_bleu_real"][:-1] == (0,) * 9  # type: ignore[index]


def test_a_sample_of_the_hidden_test_set_is_an_error() -> None:
    for metric in (TOTTO, TOTTO_REAL):
        with pytest.raises(CorpusError) as caught:
            metric.judge_one(sample(name="-17"), "Anything .")
        assert "-17" in str(caught.value.where)
        assert caught.value.remedy


def test_a_sample_that_does_not_say_its_half_counts_in_the_overall_scores_only() -> None:
    whole = TOTTO.judge_one(sample("Ann has 7 ."), "Ann").values
    names = [info.name for info in with_groups(TOTTO.scores)]
    assert in_groups(sample("Ann has 7 ."), whole, names) == {}
    half = in_groups(sample("Ann has 7 .", overlap=False), whole, names)
    assert half == {f"{name}_nonoverlap": each for name, each in whole.items()}


# --- Properties -----------------------------------------------------------------------------------

WORDS = ["Ann", "ann", "7", "won", "'s", "(", ")", '"', ".", ",", "<null>", "3.5", "x"]
texts = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join) | st.text(max_size=20)
references = st.lists(texts, min_size=1, max_size=3)
tables = st.lists(st.lists(texts, min_size=1, max_size=3), min_size=1, max_size=3)


@given(texts, references, tables, texts)
def test_pads_only_help_and_everything_is_bounded(
    output: str, written: list[str], cells: list[list[str]], title: str
) -> None:
    given = sample(*written, cells=cells, title=title)
    padded, real = TOTTO.judge_one(given, output or "x"), TOTTO_REAL.judge_one(given, output or "x")
    assert percent(padded)["f"] >= percent(real)["f"]
    for metric, evidence in ((TOTTO, padded), (TOTTO_REAL, real)):
        for score in scores_of(metric, [evidence]):
            info = score_info(score.name)
            assert math.isnan(score.value) or info.low <= score.value <= info.high + 1e-9


@given(texts, references, tables)
def test_the_order_of_references_does_not_matter(
    output: str, written: list[str], cells: list[list[str]]
) -> None:
    for metric in (TOTTO, TOTTO_REAL):
        one, other = (
            metric.judge_one(sample(*order, cells=cells), output)
            for order in (written, written[::-1])
        )
        assert percent(one)["f"] == pytest.approx(percent(other)["f"])
        kept = {"totto_bleu", "totto_bleu_real", "totto_chrf"} & one.values.keys()
        assert {name: one.values[name] for name in kept} == {n: other.values[n] for n in kept}


# --- BLEU of many outputs -------------------------------------------------------------------------


@given(st.lists(st.tuples(texts, references), min_size=1, max_size=6))
def test_bleu_is_sacrebleus_of_the_prepared_texts(rows: list[tuple[str, list[str]]]) -> None:
    evidence = judged([(sample(*written), output) for output, written in rows])
    ours = scores_of(TOTTO, evidence)[0].value
    counts = np.array([each.values["totto_bleu"] for each in evidence], int)
    *totals, length, closest = counts.sum(axis=0).tolist()
    theirs = sacrebleu.BLEU.compute_bleu(totals[:4], totals[4:8], length, closest, "exp").score
    assert ours == pytest.approx(theirs, rel=1e-12)


@cache
def some_evidence(seed: int, count: int = 60) -> tuple[Judgement, ...]:
    rng = np.random.default_rng(seed)
    text = " ".join(WORDS)
    rows = []
    for _ in range(count):
        reference = [str(word) for word in rng.choice(text.split(), 8)]
        output = [word if rng.random() < 0.8 else "y" for word in reference][: rng.integers(3, 9)]
        rows.append((sample(" ".join(reference)), " ".join(output)))
    return tuple(judged(rows))


def test_bleu_has_a_standard_error_an_interval_and_tests() -> None:
    evidence = some_evidence(0)
    totals = score_info("totto_bleu").totals
    values = [each.values["totto_bleu"] for each in evidence]
    column = [
        Column.of([each.values["totto_bleu"] for each in of], totals)
        for of in (evidence, some_evidence(1))
    ]
    clusters = clusters_of(range(len(values)))
    found = interval(column[0], clusters, seed=0)
    assert found is not None
    low, high = found
    error = totals.stderr(values)
    assert low < column[0].value < high
    assert high - low == pytest.approx(2 * 1.96 * error, rel=0.15)
    compared = difference(column[0], column[1], clusters)
    assert compared is not None
    assert compared.p is not None
    assert 0 < compared.p <= 1
