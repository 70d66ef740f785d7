"""A file of outputs is scored: rows with all evidence, files compared, each fault with its line."""

import gzip
import json
import math
import re
from pathlib import Path

import pytest
import sacrebleu

from spor_tasks import cli
from spor_tasks.aspects.request import Request
from spor_tasks.core.digests import digest
from spor_tasks.core.errors import ConfigError, CorpusError, ResultError
from spor_tasks.core.files import read_rows
from spor_tasks.corpora import jsonl
from spor_tasks.evaluation import baseline_run, judging
from spor_tasks.evaluation.score import score as score_files
from spor_tasks.harness import own, plan, task_files
from spor_tasks.results.compare import holm
from tests.conftest import REPOSITORY
from tests.support import golden
from tests.support.rows import write_rows
from tests.support.scoring import score

SHIP = {
    "data": [["Greyport", "harbour", "Old_Basin"], ["Greyport", "birth date", "1203-04-01"]],
    "texts": ["Greyport has the Old Basin."],
    "output": "The Old Basin is at Greyport.",
    "note": "mine",
}
CAFE = [["food", "Basque"], ["area", "quayside"]]
ORDERED = {
    "name": "The Gull",
    "data": CAFE,
    "texts": ["The Gull, Basque, is at the quayside."],
    "input_order_1": [0, 1],
    "input_order_2": [1, 0],
    "output_order": [[0, 1]],
    "output_1": "The Gull serves Basque food by the quayside.",
    "output_2": "At the quayside there is the Gull.",
}
INPUT = {"name": "The Gull", "data": CAFE, "output": "Basque food by the quayside."}
HIDDEN = {
    "data": [["Entity 1", "harbour", "Old_Basin"], ["Low", "next to", "Entity 1"]],
    "replaced_entity": {"Greyport": "Entity 1", "Low": "Entity 2"},
    "output": "Entity 1 has a yellow  Greyport.",
}
TWIN = {
    "data": [["Velmor", "harbour", "Pale_Dock"], ["Velmor", "birth date", "1187-06-30"]],
    "texts": ["Velmor has the Pale Dock."],
}


def without(row, *fields):
    return {key: value for key, value in row.items() if key not in fields}


TWINNED = {
    **without(SHIP, "output"),
    "twin": TWIN,
    "output_1": "The Old Basin is at Greyport.",
    "output_2": "Velmor.",
}


@pytest.fixture
def write(tmp_path):
    return lambda *rows, name="outputs.jsonl": write_rows(tmp_path / name, *rows)


def evidence(file, metric, corpus, **settings):
    out = file.parent / "evidence.jsonl"
    score(file, metric, corpus, per_sample=out, **settings)
    return [row for _, row in read_rows(out)]


def test_a_result_has_both_versions_of_a_metric_and_signs_for_the_samples(write):
    file = write(SHIP, SHIP)
    result = score(file, "parent", "webnlg")
    assert (result.samples, result.comparisons) == (2, {})
    samples = jsonl.parse_samples(file.read_bytes(), "webnlg", where=str(file))
    assert result.samples_sha256 == digest(samples)
    signed = {score.name: score.signature for score in result.scores}
    for name in ("parent", "parent_full_table"):
        alone = {each.name for each in score(file, name, "webnlg").scores}
        assert alone == {each for each in signed if each.startswith(name)}
        assert signed[name] == signed[f"{name}_precision"] == signed[f"{name}_recall"]
        assert signed[name].startswith(f"{name}|lambda:0.5|")
        assert signed[name].endswith(f"|samples:{result.samples_sha256[:16]}")


def test_an_interval_holds_its_score_and_one_sample_has_none(write):
    unlocated = {**INPUT, "output": "Nothing of it."}
    foods = ("Thai", "Korean", "Greek", "Malay", "Irish", "Czech")
    others = [{**unlocated, "data": [["food", food], ["area", "quayside"]]} for food in foods]
    result = score(write(INPUT, *others, unlocated), "cwio", "e2e", intervals=True)
    located, *others = sorted(result.scores, key=lambda each: each.name != "cwio_located")
    assert located.interval is None
    for each in others:
        assert each.interval
        assert each.interval[0] <= each.value <= each.interval[1]


def test_a_sample_of_one_unit_has_no_order_to_correlate(write):
    file, alone = write(INPUT, {**INPUT, "data": CAFE[:1]}), write(INPUT, name="alone")
    found, expected = ({s.name: s for s in score(f, "cwio", "e2e").scores} for f in (file, alone))
    for name, each in found.items():
        assert (each.value, each.n, each.unscored) == (expected[name].value, 1, 1)
    assert [row["tau"] for row in evidence(file, "cwio", "e2e")] == [1.0, None]
    with_none = score(write({**INPUT, "data": CAFE[:1]}), "cwio", "e2e")
    assert all(math.isnan(each.value) and each.n == 0 for each in with_none.scores)


def test_a_row_with_a_twin_is_scored_on_both_sides_as_two_rows_would_be(write):
    file = write(TWINNED)
    found = {each.name: each.value for each in score(file, "parent", "webnlg").scores}
    ours, twin = {**SHIP, "output": TWINNED["output_1"]}, {**TWIN, "output": TWINNED["output_2"]}
    for row, suffix in ((ours, ""), (twin, "_twin")):
        for each in score(write(row, name="one.jsonl"), "parent", "webnlg").scores:
            assert found.pop(f"{each.name}{suffix}") == each.value
    assert found == {}
    (row,) = evidence(file, "parent", "webnlg")
    assert row.items() >= TWINNED.items()
    assert (row["tok_output"][0], row["tok_output_twin"]) == ("the", ["velmor"])


GOLDEN = {
    "parent_webnlg": (545, ("n_table", "tok_output", "precision", "recall", "f")),
    "parent_e2e": (205, ("n_table", "tok_output", "precision", "recall", "f")),
    "order_webnlg": (390, ("fidelity", "proper", "em", "plan", "pos")),
    "order_e2e": (203, ("fidelity", "proper", "em", "plan", "pos")),
    "cwio_webnlg": (439, ("tau", "n", "occ")),
    "cwio_e2e": (203, ("tau", "n", "occ")),
    "rule_webnlg": (404, ("a", "b")),
    "rule_e2e": (180, ("a", "b")),
}


@pytest.mark.real_data
@pytest.mark.parametrize("name", GOLDEN)
def test_evidence_is_published_field_by_field(golden_dir, write, name):
    metric, corpus = name.split("_")
    rows, fields = GOLDEN[name]
    expected = golden.read(golden_dir, name, rows=rows)
    told = {
        key
        for key in expected[0]
        if key in fields or key.removesuffix("_1").removesuffix("_2") in fields
    }
    assert len(told) == (2 if metric == "order" else 1) * len(fields)
    file = write(*(without(row, *told) for row in expected))
    metric = {"rule": "copy_rule"}.get(metric, metric)
    for found, row in zip(evidence(file, metric, corpus), expected, strict=True):
        for key, value in row.items():
            if metric == "parent" and isinstance(value, float):
                assert math.isclose(found[key], value, rel_tol=0, abs_tol=1e-9)
            else:
                assert found[key] == value


def test_a_difference_is_that_of_the_scores_with_groups_as_heavy_as_in_them(write):
    three = {**INPUT, "data": [*CAFE, ["near", "the mill"]]}
    backward = {**INPUT, "output": "By the quayside, Basque food."}
    ours = write(INPUT, INPUT, three, name="ours")
    theirs = write(backward, INPUT, three, name="theirs")
    result = score(ours, "cwio", "e2e", baseline=theirs)
    other = score(theirs, "cwio", "e2e")
    comparison = result.comparisons["cwio"]
    assert comparison
    assert comparison.value == pytest.approx(result.scores[0].value - other.scores[0].value)
    assert comparison.value == pytest.approx(0.5)


@pytest.fixture
def two_systems(write):
    """Twelve samples of E2E, and a good and a bad system."""
    rows = [
        {**INPUT, "data": [["food", f"dish {n}"], CAFE[1]], "texts": [f"Dish {n} at the quayside."]}
        for n in range(12)
    ]
    good, bad = (
        [{**row, "output": say.format(n)} for n, row in enumerate(rows)]
        for say in ("The quayside has dish {}.", "It has dish {}.")
    )
    return write(*good, name="good"), write(*bad, name="bad")


def test_files_scored_together_have_the_scores_of_each_alone(two_systems, monkeypatch):
    monkeypatch.setattr(judging, "_ROWS_AT_ONCE", 5)
    settings = {"corpus": "e2e", "metrics": ["parent", "chrf", "bleu"], "intervals": True}
    together = score_files(two_systems, **settings).systems
    for file, system in zip(two_systems, together, strict=True):
        (alone,) = score_files([file], **settings).systems
        assert system.scores == alone.scores
        assert [*system.evidence()] == [*alone.evidence()]


def test_a_score_that_repeats_the_one_it_corrects_is_not_tested(two_systems):
    found = score_files(two_systems, corpus="e2e", metrics=["parent"]).comparisons
    tested, repeated = found[:3], found[3:]
    assert [each.holm for each in tested] == holm([each.estimate.p for each in tested])
    for each, published in zip(repeated, tested, strict=True):
        assert each.estimate.interval == published.estimate.interval
        reason = f"not tested: {published.score} says the same of every sample"
        assert (each.estimate.reason, each.estimate.p, each.holm) == (reason, None, None)


def test_a_score_of_some_outputs_is_compared_where_both_systems_have_it(write):
    table = {"header": ["city", "people"], "rows": [["rome", "9"], ["bern", "5"]]}
    row = {"data": [["city", "0"]], "texts": ["a"], "context": {"table": table}}
    rome, rain = ({**row, "output": text} for text in ("rome has the most people", "it rains"))
    for ours, theirs, both in (([rome, rome], [rome, rain], 1), ([rome, rain], [rain, rome], 0)):
        files = write(*ours, name="ours"), write(*theirs, name="theirs")
        found = score(files[0], "sp_acc", "logicnlg", baseline=files[1]).comparisons
        assert found["sp_acc"].n == 2
        assert found["sp_acc_found"].n == both


@pytest.mark.parametrize(
    ("theirs", "fault", "line"),
    [
        ([INPUT, {**INPUT, "data": CAFE[::-1]}], "another sample than .*theirs:2", "ours:2"),
        ([INPUT], "no counterpart", "ours:2"),
        ([INPUT] * 3, "no counterpart", "theirs:3"),
    ],
)
def test_only_equal_samples_compare(write, theirs, fault, line):
    against = write(*theirs, name="theirs")
    with pytest.raises(ResultError, match=fault) as caught:
        score(write(INPUT, INPUT, name="ours"), "cwio", "e2e", baseline=against)
    assert str(caught.value.where).endswith(line)


# --- Faults ---------------------------------------------------------------------------------------


ONE_UNIT = {"data": CAFE[:1], "input_order_1": [0], "input_order_2": [0]}


@pytest.mark.parametrize(
    ("task", "good", "bad", "fault"),
    [
        ("parent webnlg", SHIP, without(SHIP, "output"), "has no text `output`"),
        ("parent webnlg", SHIP, {**SHIP, "output": None}, "has no text `output`"),
        ("parent webnlg", SHIP, {**SHIP, "output": ["a"]}, "has no text `output`"),
        ("parent webnlg", SHIP, {**SHIP, "texts": []}, "texts"),
        ("parent webnlg", SHIP, without(SHIP, "texts"), "texts"),
        ("parent webnlg", SHIP, {**INPUT, "texts": ["a"]}, "its units are not those of webnlg"),
        ("parent webnlg", SHIP, HIDDEN, "needs a reference"),
        ("parent webnlg", TWINNED, SHIP, "lacks what the metric"),
        ("parent webnlg", TWINNED, without(TWINNED, "twin"), "lacks what the metric"),
        ("parent webnlg", TWINNED, {**TWINNED, "twin": without(TWIN, "texts")}, "texts"),
        ("order e2e", ORDERED, without(ORDERED, "output_2"), "has no text `output_2`"),
        ("order e2e", ORDERED, {**INPUT, "texts": ["a"]}, "lacks what the metric"),
        ("order e2e", ORDERED, {**ORDERED, **ONE_UNIT, "output_order": [[0]]}, "fewer than two"),
        ("cwio e2e", INPUT, {**INPUT, "data": []}, "data"),
        ("copy_rule webnlg", HIDDEN, SHIP, "lacks what the metric"),
        ("copy_rule webnlg", HIDDEN, without(HIDDEN, "replaced_entity"), "lacks what the"),
        (
            "copy_rule e2e",
            {**INPUT, "replaced_kv_pair": {"price range": "Value A"}},
            {**INPUT, "replaced_kv_pair": {"food": "Value A"}},
            "hides 'food', whose possible values",
        ),
    ],
)
def test_a_row_that_cannot_be_scored_is_named_and_nothing_is_written(write, task, good, bad, fault):
    metric, corpus = task.split()
    file = write(good, bad)
    with pytest.raises(CorpusError, match=fault) as caught:
        evidence(file, metric, corpus)
    assert caught.value.where == f"{file}:2"
    assert [*file.parent.iterdir()] == [file]
    assert score(write(good), metric, corpus).samples == 1


def test_each_output_of_a_row_is_filtered(write):
    published = score(write(ORDERED), "order", "e2e", filters=["logicnlg_published"])
    assert published.samples == 1
    assert published.scores[0].signature.endswith("|filter:logicnlg_published.v2")


def test_an_empty_file_has_no_score(write):
    with pytest.raises(CorpusError, match="holds no row"):
        score(write(), "parent", "webnlg")


@pytest.mark.parametrize(
    ("metric", "corpus"),
    [("rouge", "webnlg"), ("parent", "toto"), ("parent", "totto"), ("facts", "e2e")],
)
def test_unknown_names_and_missing_models_fail(metric, corpus, write):
    with pytest.raises(ConfigError) as caught:
        score(write(INPUT), metric, corpus)
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("metric", "corpus"),
    [
        *(("logicnlg_bleu", corpus) for corpus in ("webnlg", "e2e", "viggo", "mini", "totto")),
        *((metric, "logicnlg") for metric in ("parent", "coverage", "facts", "order", "cwio")),
        *((metric, "yelp") for metric in ("parent_full_table", "coverage", "logicnlg_bleu")),
        *((metric, "totto") for metric in ("parent", "cwio", "nli_acc")),
        ("compmctg", "webnlg"),
    ],
)
def test_a_metric_that_means_nothing_on_a_corpus_is_refused(metric, corpus, write):
    with pytest.raises(ConfigError) as caught:
        score(write(SHIP), metric, corpus)
    assert corpus in caught.value.remedy


PUB_UNITS = {"eatType": "pub", "priceRange": "cheap", "familyFriendly": "True"}
PUB = {"name": "The Gull", "texts": ["The Gull is a cheap, family friendly pub."]}


@pytest.mark.parametrize("metric", ["slot_errors", "coverage", "parent", "chrf", "cwio"])
def test_spellings_of_names_have_equal_samples_and_scores(metric, write):
    def scored(words):
        units = [[words(name), value] for name, value in PUB_UNITS.items()]
        file = write({**PUB, "data": units, "output": "The Gull is a family friendly pub."})
        return repr(score(file, metric, "e2e"))  # where NaN is equal to itself

    def spaced(name):
        return "".join(f" {char.lower()}" if char.isupper() else char for char in name)

    first = scored(str)
    for words in (spaced, str.upper, lambda name: spaced(name).replace(" ", "_").title()):
        assert scored(words) == first


def test_a_row_with_an_attribute_of_the_corpus_has_no_other(write):
    file = write({**PUB, "data": [["food", "Thai"], ["familyFrendly", "yes"]], "output": "."})
    with pytest.raises(CorpusError) as caught:
        score(file, "coverage", "e2e")
    assert str(caught.value.where) == f"{file}:1"
    assert "family friendly" in caught.value.remedy


# --- Plain texts, one a line, for the samples of a file in the corpus's own format ----------------


PUBLISHED = {
    "totto_bleu": "45.5",
    "totto_bleu_overlap": "37.2",
    "totto_bleu_nonoverlap": "58.3",
    "totto_parent": "53.3",
    "totto_parent_overlap": "41.3",
    "totto_parent_nonoverlap": "71.4",
}


def example(number, *references):
    cell = {"value": "Ann", "is_header": False, "column_span": 1, "row_span": 1}
    row = {
        "example_id": number,
        "table": [[cell]],
        "highlighted_cells": [[0, 0]],
        "table_page_title": f"Page {number}",
        "table_section_title": "",
        "table_section_text": "",
        "overlap_subset": number % 2 == 0,
        "sentence_annotations": [{"final_sentence": text} for text in references],
    }
    return json.dumps(row).encode() + b"\n"


@pytest.fixture
def references(tmp_path):
    rows = (example(-1, "Ann won ."), example(2**70, "Ann lost ."), example(3, "Ann left ."))
    return put(tmp_path, b"".join(rows), "totto_dev_data.jsonl")


def put(folder, content, name="predictions.txt"):
    path = folder / name
    path.write_bytes(content)
    return path


def test_rows_of_totto_name_their_corpus(references, tmp_path):
    file = put(tmp_path, b"Ann won .\n\nAnn left .\n")
    found, named = (
        score_files([file], metrics=["totto"], references=references, **settings)
        for settings in ({}, {"corpus": "totto"})
    )
    assert found.corpus == "totto"
    assert found.systems[0].scores == named.systems[0].scores


def rows_of(predictions, references):
    out = predictions.parent / "out.jsonl"
    score(predictions, "totto", "totto", references=references, per_sample=out)
    return [row for _, row in read_rows(out)]


def test_the_published_check_holds(totto_dir, tmp_path, capsys):
    file, out = str(totto_dir / "output_sample.txt"), str(tmp_path / "out.jsonl")
    options = ["--metric", "totto", "--corpus", "totto", "--per-sample", out, "--json"]
    options += ["--references", str(totto_dir / "dev_sample.jsonl"), "--interval"]
    assert cli.main(["score", file, *options, "--compare", file]) == 0
    printed = json.loads(capsys.readouterr().out)
    found = {score["name"]: score for score in printed["scores"] if score["system"] == file}
    assert {name: f"{found[name]['value']:.1f}" for name in PUBLISHED} == PUBLISHED
    assert found["totto_bleu"]["interval"] is None
    assert found["totto_bleu"]["reason"] == "no interval of a score: fewer than six clusters"
    compared = {each["score"]: each for each in printed["comparisons"]}
    assert compared["totto_bleu"]["p"] == compared["totto_bleu"]["p_holm"] == 1
    rows = [row for _, row in read_rows(Path(out))]
    assert [round(row["parent_f"], 1) for row in rows] == [64.9, 71.1, 46.6, 12.5, 71.6]
    assert rows[0].keys() >= {"id", "output", "overlap", "parent_p", "parent_r", "totto_chrf"}
    assert "table" not in json.dumps(rows)


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"\xef\xbb\xbfAnn won .\r\n\r\nAnn\xe2\x80\xa8\x0bleft .\r\n", "crlf.txt"),
        (gzip.compress(b"Ann won .\n\nAnn\xe2\x80\xa8\x0bleft .\n", mtime=0), "packed.txt.gz"),
        (b"Ann won .\n\nAnn\xe2\x80\xa8\x0bleft .", "outputs"),
    ],
)
def test_only_line_feeds_end_a_line_and_an_empty_line_is_an_output(
    references, tmp_path, content, name
):
    rows = rows_of(put(tmp_path, content, name), references)
    assert [row["id"] for row in rows] == ["-1", str(2**70), "3"]
    # What is scored of an output is its first line, and Python's lines end at other signs too.
    assert [row["output"] for row in rows] == ["Ann won .", "", "Ann\u2028\x0bleft ."]
    assert [row["overlap"] for row in rows] == [False, True, False]
    assert rows[1]["parent_f"] < 1 < rows[0]["parent_f"]


OUTPUTS = ({"output": "Ann won ."}, {"output": "", "id": str(2**70)}, {"output": "Ann left ."})


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.txt", "rows.json", "rows.jsonl.gz"])
def test_rows_are_read_in_place_of_lines(references, tmp_path, name):
    lines = b"\n".join(json.dumps(row).encode() for row in OUTPUTS) + b"\n\n"
    content = json.dumps(OUTPUTS, indent=1).encode() if name == "rows.json" else lines
    file = put(tmp_path, gzip.compress(content) if name.endswith(".gz") else content, name)
    as_lines = rows_of(put(tmp_path, b"Ann won .\n\nAnn left .\n"), references)
    assert rows_of(file, references) == as_lines


@pytest.mark.parametrize(
    ("number", "changed"),
    [(0, {"data": [["a", "b"]]}), (1, {"id": "3"}), (2, {"example_id": 4}), (2, {"output": 3})],
)
def test_a_row_that_is_about_something_else_is_refused(references, tmp_path, number, changed):
    rows = [{**row, **(changed if n == number else {})} for n, row in enumerate(OUTPUTS)]
    content = "".join(f"{json.dumps(row)}\n" for row in rows)
    with pytest.raises(CorpusError) as caught:
        rows_of(put(tmp_path, content.encode(), "rows.jsonl"), references)
    assert f"rows.jsonl:{number + 1}" in str(caught.value.where)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"", 1),
        (b"a\nb\n", 3),
        (b"a\nb\nc\n\n", 4),
        (b"a\n\xff\nc\n", 2),
        (b"a\n" + b"x" * 1_000_001 + b"\nc\n", 2),
        (b"a\n" + b"x" * 4_000_001 + b"\nc\n", 2),
    ],
    ids=range(6),
)
def test_a_line_that_does_not_fit_is_named_and_nothing_is_written(
    references, tmp_path, content, line
):
    file = put(tmp_path, content)
    with pytest.raises(CorpusError) as caught:
        rows_of(file, references)
    assert f"predictions.txt:{line}" in str(caught.value.where)
    assert {*tmp_path.iterdir()} == {file, references}


def test_the_hidden_test_set_is_an_error_that_names_the_example(tmp_path):
    hidden = put(tmp_path, example(-5), "test.jsonl")
    with pytest.raises(CorpusError) as caught:
        rows_of(put(tmp_path, b"Ann won ."), hidden)
    assert "predictions.txt:1" in str(caught.value.where)
    assert "-5" in str(caught.value.where)
    assert caught.value.remedy


def test_a_txt_file_is_for_the_development_set_of_a_corpus_that_has_one(
    references, tmp_path, monkeypatch
):
    monkeypatch.setenv("TOTTO_DATA_DIR", str(tmp_path))
    file = put(tmp_path, b"Ann won .\n\n\n")
    assert score(file, "totto", "totto").samples == 3
    with pytest.raises(CorpusError, match="is not a sample"):
        score(file, "chrf", "e2e", references=references)


# --- Outputs of a task, or for the samples of a file ----------------------------------------------


def texts_of(task):
    (file,) = task_files.find([task])
    return [
        sample.references[0] if sample.references else "." for sample in plan.load(file.sets).test
    ]


def lines(texts):
    return "".join(f"{text}\n" for text in texts).encode()


MINI, ORDER = "spor_systematicity_mini", "spor_order_invariance_mini_main"


@pytest.mark.parametrize(
    "task",
    [
        MINI,
        "spor_order_invariance_mini_cwio",
        "spor_rule_learnability_mini",
        "logicnlg_mini_c2f",
        "compmctg_mini_original",
        "totto_mini_subtable",
    ],
)
def test_outputs_of_a_task_have_the_scores_that_lm_eval_gives_it(tmp_path, task):
    rows_file = tmp_path / "rows.jsonl"
    (run,) = baseline_run.run("copy-input", [task], outputs=rows_file, folder=tmp_path / "runs")
    rows = [row["output"] for _, row in read_rows(rows_file)]
    texts = put(tmp_path, lines(" ".join(text.split("\n")) for text in rows), "out.txt")
    (logged,) = (tmp_path / "runs").rglob("samples_*.jsonl")
    for file in (texts, rows_file, logged):
        result = score_files([file], task=task)
        found = {each.name: each.value for each in result.systems[0].scores}
        expected = {name: run.scores.get(name, math.nan) for name in found}
        assert found == pytest.approx(expected, abs=1e-9, nan_ok=True)
        assert run.scores.keys() - found.keys() <= {gap.name for gap in run.spec.gaps}
        assert (result.task, result.samples) == (task, run.n)


def test_logged_samples_of_a_part_of_a_task_are_its_own(tmp_path):
    out = tmp_path / "runs"
    (run,) = baseline_run.run("copy-input", [MINI], folder=out, limit=5)
    (logged,) = out.rglob("samples_*.jsonl")
    result = score_files([logged], task=MINI)
    assert result.samples == 5
    assert any("5 of the 200" in warning for warning in result.warnings)
    assert result.systems[0].scores[0].value == pytest.approx(run.scores["parent"])
    other = put(tmp_path, write_rows(tmp_path / "x.jsonl", SHIP).read_bytes(), "other.jsonl")
    with pytest.raises(CorpusError, match="not one of spor_systematicity_mini") as caught:
        score_files([other], task=MINI)
    assert caught.value.where == f"{other}:1"


def test_a_task_in_context_may_ask_for_a_part_of_its_samples(tmp_path):
    task = f"{MINI}_icl_atom"
    (run,) = baseline_run.run("nearest-demonstration", [task], outputs=tmp_path / "rows.jsonl")
    texts = [row["output"] for _, row in read_rows(tmp_path / "rows.jsonl")]
    assert len(texts) < len(texts_of(MINI))
    result = score_files([put(tmp_path, lines(texts))], task=task)
    found = {each.name: each.value for each in result.systems[0].scores}
    assert found == pytest.approx({name: run.scores[name] for name in found}, abs=1e-9)
    assert result.warnings == ()
    assert score_files([put(tmp_path, lines(texts_of(MINI)))], task=task).samples == 200
    with pytest.raises(CorpusError, match=r"161 outputs.* 162 samples"):
        score_files([put(tmp_path, lines(texts[1:]))], task=task)


@pytest.mark.parametrize(
    "form", [list, lambda texts: [{"id": n, "output": t} for n, t in enumerate(texts, 1)]]
)
def test_a_list_of_texts_or_of_numbered_rows_is_read_as_lines(tmp_path, form):
    texts = texts_of(MINI)
    listed = put(tmp_path, json.dumps(form(texts), indent=1).encode(), "out.json")
    found, expected = (
        score_files([file], task=MINI, metrics=["chrf"]).systems[0].scores
        for file in (listed, put(tmp_path, lines(texts)))
    )
    assert found == expected
    shuffled = [{"id": n, "output": text} for n, text in enumerate(texts)][::-1]
    with pytest.raises(CorpusError, match="is not about"):
        score_files([write_rows(tmp_path / "x.jsonl", *shuffled)], task=MINI)


def test_lines_that_are_all_json_strings_are_read_as_these(tmp_path, caplog):
    texts = ['Ann\u00e9 said "here".', "", *texts_of(MINI)[2:]]
    written = ["" if number == 1 else json.dumps(text) for number, text in enumerate(texts)]
    found, expected = (
        score_files([put(tmp_path, lines(each))], task=MINI, metrics=["chrf"]).systems[0]
        for each in (written, texts)
    )
    assert found.scores == expected.scores
    assert [row.outputs for row in found.rows] == [row.outputs for row in expected.rows]
    (told,) = caplog.messages
    assert "each line is a JSON string" in told
    mixed = score_files([put(tmp_path, lines([*written[:-1], "plain"]))], task=MINI)
    assert mixed.systems[0].rows[0].outputs[0].count("\\") == 3


def test_lower_case_gives_the_bleu_that_sacrebleu_gives(tmp_path):
    texts = texts_of(MINI)
    outputs = [text.replace("is", "was").title() for text in texts]
    result = score_files(
        [put(tmp_path, lines(outputs))], task=MINI, metrics=["bleu"], lowercase=True
    )
    (file,) = task_files.find([MINI])
    references = [sample.references for sample in plan.load(file.sets).test]
    most = max(map(len, references))
    padded = [[*each, *[None] * (most - len(each))] for each in references]
    expected = sacrebleu.BLEU(lowercase=True).corpus_score(outputs, [*zip(*padded, strict=True)])
    assert result.systems[0].scores[0].value == pytest.approx(expected.score, rel=1e-14)


def test_a_task_of_an_own_corpus_scores_texts(tmp_path):
    page = (REPOSITORY / "docs" / "own-corpus.md").read_text("utf-8")
    rows = "".join(re.findall(r'^\{"split": .*\n', page, re.MULTILINE))
    corpus = put(tmp_path, rows.encode(), "lighthouses.jsonl")
    made = own.write(tmp_path / "made", Request(corpus=str(corpus), aspect=""), ["productivity"])
    task, count = next(iter(made.tasks.items()))
    file = put(tmp_path, lines(["Low Point is white."] * count))
    result = score_files([file], task=task, include=tmp_path / "made")
    assert (result.task, result.corpus, result.samples) == (task, "lighthouses", count)
    with pytest.raises(ConfigError, match="is not a task"):
        score_files([file], task=task)


@pytest.mark.parametrize("change", [-1, 1])
def test_a_file_has_a_line_for_each_sample_of_the_task(tmp_path, change):
    texts = texts_of(MINI)
    file = put(tmp_path, lines([*texts, "more"][: len(texts) + change]))
    with pytest.raises(CorpusError, match=f"{len(texts) + change} outputs.* {len(texts)} samples"):
        score_files([file], task=MINI)


@pytest.mark.parametrize(
    ("task", "metric"),
    [
        (ORDER, "order"),
        pytest.param("spor_systematicity_e2e_twin", "parent", marks=pytest.mark.real_data),
    ],
)
def test_a_sample_with_two_prompts_or_a_twin_has_two_lines(tmp_path, task, metric):
    baseline_run.run("copy-input", [task], outputs=(rows := tmp_path / "rows.jsonl"))
    texts = [row[key] for _, row in read_rows(rows) for key in ("output_1", "output_2")]
    file = put(tmp_path, lines(texts), "out.txt")
    of_lines, of_rows = (score_files([each], task=task) for each in (file, rows))
    assert of_lines.metrics[0] == metric
    assert repr(of_lines.systems[0].scores) == repr(of_rows.systems[0].scores)
    with pytest.raises(CorpusError, match="outputs") as caught:
        score_files([put(tmp_path, lines(texts[::2]), "half.txt")], task=task)
    assert "2 lines for each" in caught.value.remedy


def test_an_own_corpus_is_what_texts_are_for(tmp_path):
    rows = [{**without(SHIP, "output"), "data": [["Ann", "age", str(n)]]} for n in range(3)]
    corpus = write_rows(tmp_path / "own.jsonl", *rows)
    file = put(tmp_path, lines(["Greyport has the Old Basin.", "", "No."]))
    for settings in (
        {"corpus": corpus},
        {"references": corpus},
        {"corpus": "webnlg", "references": corpus},
    ):
        result = score_files([file], metrics=["parent", "chrf"], **settings)
        assert result.metrics == ("parent", "chrf")
        assert [*result.systems[0].values["chrf"]][:2] == [100, 0]
    repeated = write_rows(tmp_path / "rows.jsonl", *({**row, "output": "No."} for row in rows[:2]))
    assert score_files([repeated], metrics=["chrf"], corpus=corpus).samples == 2
    with pytest.raises(CorpusError, match=r"not one of .*own\.jsonl"):
        score_files([write_rows(tmp_path / "x.jsonl", SHIP)], metrics=["chrf"], corpus=corpus)
    marked = [{**row, "split": "test" if n else "train"} for n, row in enumerate(rows)]
    corpus = write_rows(tmp_path / "own.jsonl", *marked)
    result = score_files([put(tmp_path, b"a\nb\n")], metrics=["chrf"], corpus=corpus)
    assert (result.samples, result.corpus) == (2, "own")


XML = """<benchmark><entries>
<entry category="A" eid="1"><modifiedtripleset><mtriple>Ann | birthPlace | Low</mtriple>
</modifiedtripleset><lex lang="en">Ann was born in Low.</lex><lex lang="ru">Энн.</lex></entry>
<entry category="A" eid="2"><modifiedtripleset><mtriple>Bo | age | 9</mtriple>
</modifiedtripleset><lex lang="en">Bo is 9.</lex></entry></entries></benchmark>"""
CSV = """mr,ref
"inform(name[Low], genres[puzzle])","Low is a puzzle."
"request_attribute(esrb[])","Which rating?"
"inform(name[Low], genres[puzzle])","A puzzle: Low."
"inform(name[Bo], genres[puzzle])","Bo is a puzzle."
"""
OWN = "".join(json.dumps({"data": [["Ann", "age", text]], "texts": [text]}) + "\n" for text in "ab")


@pytest.mark.parametrize(
    ("named", "texts", "settings", "values"),
    [
        (("t.xml", XML), ["Ann was born in Low.", ""], {"lang": "en"}, [100, 0]),
        (("t.xml", XML), ["Энн.", ""], {"lang": "ru", "corpus": "webnlg"}, [100]),
        (("t.csv", CSV), ["A puzzle: Low.", "It?", ""], {"corpus": "viggo"}, [100, 0]),
        (("t.csv", CSV), ["Low is a puzzle.", "It?", ""], {}, [100, 0]),
        (("t.jsonl", OWN), ["a", "a"], {}, [100, 0]),
    ],
)
def test_references_are_read_in_the_forms_of_the_field(tmp_path, named, texts, settings, values):
    place = put(tmp_path, named[1].encode(), named[0])
    file = put(tmp_path, lines(texts), "out.txt")
    result = score_files([file], references=place, metrics=["chrf"], **settings)
    assert result.systems[0].values["chrf"].tolist() == values
    entries = len(texts)
    told = [f"{place}: {entries - len(values)} of {entries} entries are no samples: not scored"]
    assert [*result.warnings] == (told if len(values) < entries else [])


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({}, "nothing says what the outputs are for"),
        ({"corpus": "e2e"}, "no metric is named"),
        ({"task": MINI, "corpus": "mini"}, "names its corpus"),
        ({"task": MINI, "references": Path("x")}, "names its references"),
        ({"task": MINI, "lang": "en"}, "names its lang"),
        ({"corpus": "e2e", "metrics": ["parent"], "lang": "en"}, "effect on references in XML"),
        ({"corpus": "e2e", "include": Path("x")}, "effect with a task alone"),
        ({"task": "spor_mini"}, "stands for"),
        ({"task": "spor_systematicity_min"}, "is not a task"),
        ({"task": "logicnlg_mini_ppl"}, "asks how likely"),
        ({"task": MINI, "metrics": ["order"]}, "different numbers of texts"),
        ({"task": ORDER, "metrics": ["parent"]}, "different numbers of texts"),
        ({"corpus": "e2e", "metrics": ["order", "parent"]}, "different numbers of texts"),
        ({"corpus": "e2f", "metrics": ["parent"]}, "there is no corpus or file"),
    ],
)
def test_what_contradicts_itself_is_refused_in_a_line(tmp_path, settings, fault):
    with pytest.raises((ConfigError, CorpusError), match=fault) as caught:
        score_files([put(tmp_path, lines(texts_of(MINI)))], **settings)
    assert caught.value.remedy


def test_lower_case_is_that_of_outputs_and_references(tmp_path):
    texts = texts_of(MINI)
    file, lower = put(tmp_path, lines(texts)), put(tmp_path, lines(map(str.lower, texts)), "l.txt")
    scored = score_files([file, lower], task=MINI, metrics=["chrf"], lowercase=True)
    first, second = (system.scores[0] for system in scored.systems)
    assert first.value == second.value == 100
    assert first.signature.endswith("|lowercase:yes")
    assert "|case:lc|" in first.signature
    assert scored.warnings == ()
    found = score_files([file, lower], task=MINI, metrics=["chrf"])
    assert found.systems[0].scores[0].value == 100 > found.systems[1].scores[0].value
    assert "lowercase" not in found.systems[0].scores[0].signature
    (warning,) = found.warnings
    assert warning.startswith(f"{lower}: 100% of the outputs look lower-cased")
    spaced = put(tmp_path, lines(text.replace(".", " .") for text in texts), "spaced.txt")
    (warning,) = score_files([spaced], task=MINI).warnings
    assert "look tokenized" in warning
