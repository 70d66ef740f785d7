"""Reading lm-eval's sample files."""

from pathlib import Path
from typing import Any

import pytest

from spor_tasks.core.errors import ResultError
from spor_tasks.core.sample import AttributeValue, Hidden, Orders, Sample, Triple
from spor_tasks.results import runs, samples
from spor_tasks.results.samples import SampleFile
from tests.support.result_files import sample_row, write_result, write_samples

TOLD = Sample(
    id="told",
    corpus="invented",
    units=(Triple("Greyport", "sea", "Cold_Sound"),),
    references=("Greyport is by the Cold Sound.", "The Cold Sound is the sea of Greyport."),
    context={"category": "Harbour"},
)
ORDERED = Sample(
    id="ordered",
    corpus="invented",
    units=(AttributeValue("food", "Basque"), AttributeValue("area", "quayside")),
    references=("The Gull serves Basque food by the quayside.",),
    context={"name": "The Gull"},
    challenge=Orders(((1, 0), (0, 1)), ((0, 1),)),
)
HIDDEN = Sample(
    id="hidden",
    corpus="invented",
    units=(Triple("Entity 1", "sea", "Cold_Sound"),),
    references=(),
    challenge=Hidden((("Greyport", "Entity 1"),)),
)
PARENT = {"parent": 12.5, "parent_full_table": 25}


def logged(
    folder: Path, *rows: dict[str, Any], task: str = "spor_systematicity_mini"
) -> SampleFile:
    """Return the sample file of a result that holds these rows."""
    file = write_result(folder / "results_2026-01-01.json", task=task, n=len(rows))
    write_samples(file, task, rows)
    (result,) = runs.read(file)
    found = samples.find(result)
    assert found
    return found


def test_a_line_becomes_a_record(tmp_path: Path) -> None:
    output = "Greyport: Cold Sound.\nAnd more"
    file = logged(tmp_path, sample_row(TOLD, [output], PARENT))
    (record,) = file.records()
    assert record.run is file.run
    assert record.sample == TOLD
    assert record.inputs == record.contexts
    assert record.inputs[0].endswith("<tail> Cold Sound Output:")
    assert (record.outputs, record.scored) == ((output,), ("Greyport: Cold Sound.",))
    assert record.scores == {"parent": 12.5, "parent_full_table": 25.0}
    assert record.prompt_sha256 == "f" * 64
    assert list(file.scores()) == [("told", frozenset(TOLD.units), record.scores)]


@pytest.mark.parametrize(
    ("logged_as", "scored"),
    [
        ([" Cold Sound."], " Cold Sound."),
        ([[" Cold Sound."]], " Cold Sound."),
        ([""], ""),
        (..., "First."),
        (None, "First."),
        ([], "First."),
        ([None], "First."),
        (["a", "b"], "First."),
    ],
)
def test_what_was_scored_is_what_filters_left_and_else_the_first_line(
    tmp_path: Path, logged_as: object, scored: str
) -> None:
    row = sample_row(TOLD, ["\nFirst.\n Cold Sound."], PARENT) | {"filtered_resps": logged_as}
    file = logged(tmp_path, {key: value for key, value in row.items() if value is not ...})
    (record,) = file.records()
    assert record.scored == (scored,)


def test_a_sample_in_two_orders_has_two_of_each(tmp_path: Path) -> None:
    row = sample_row(ORDERED, ["one", "two"], {"fidelity_pbh": 100.0})
    (record,) = logged(tmp_path, row).records()
    assert record.sample == ORDERED
    assert record.outputs == record.scored == ("one", "two")
    assert len(set(record.inputs)) == len(set(record.contexts)) == 2


def test_a_sample_that_hides_something_says_what(tmp_path: Path) -> None:
    (record,) = logged(tmp_path, sample_row(HIDDEN, [""], {})).records()
    assert record.sample == HIDDEN


def test_demonstrations_are_part_of_the_context_only(tmp_path: Path) -> None:
    row = sample_row(TOLD, ["x"], PARENT)
    row["arguments"]["gen_args_0"]["arg_0"] = f"shown\n\n{row['doc']['prompt']}"
    (record,) = logged(tmp_path, row).records()
    assert record.contexts == (f"shown\n\n{record.inputs[0]}",)


def test_values_may_stand_with_a_group_or_have_no_verdict(tmp_path: Path) -> None:
    scores = {"cwio": [2, 1.0], "cwio_stderr": [2, 1.0], "cwio_3": None, "cwio_located_share": 0.0}
    (record,) = logged(tmp_path, sample_row(ORDERED, ["x", "y"], scores)).records()
    assert record.scores == {"cwio": (2, 1.0), "cwio_3": None, "cwio_located_share": 0.0}


def test_a_line_cut_short_is_named_after_all_that_comes_before_it(tmp_path: Path) -> None:
    row = sample_row(TOLD, ["x"], PARENT)
    file = logged(tmp_path, row, row)
    file.path.write_bytes(file.path.read_bytes()[:-40])
    for reading in (file.records(), file.scores()):
        assert next(iter(reading))
        with pytest.raises(ResultError, match=r"samples_.*jsonl:2: is not a sample of our tasks"):
            next(iter(reading))


@pytest.mark.parametrize(
    "change",
    [
        {"doc": None},
        {"doc": {"question": "Who?"}},
        {"metrics": None},
        {"parent": "much"},
    ],
)
def test_a_line_of_somebody_elses_is_named(tmp_path: Path, change: dict[str, Any]) -> None:
    file = logged(tmp_path, sample_row(TOLD, ["x"], PARENT) | change)
    for reading in (file.records(), file.scores()):
        with pytest.raises(ResultError, match=r"jsonl:1: is not a sample of our tasks"):
            list(reading)


@pytest.mark.parametrize(
    "change", [{"resps": [[["x"]]]}, {"resps": [[]]}, {"arguments": None}, {"prompt_hash": ...}]
)
def test_a_record_needs_prompts_and_outputs(tmp_path: Path, change: dict[str, Any]) -> None:
    row = sample_row(TOLD, ["x"], PARENT) | change
    file = logged(tmp_path, {key: value for key, value in row.items() if value is not ...})
    with pytest.raises(ResultError, match=r"jsonl:1: is not a sample of our tasks"):
        list(file.records())


def test_samples_stand_beside_the_result_of_the_same_time(tmp_path: Path) -> None:
    file = logged(tmp_path, sample_row(TOLD, ["x"], PARENT))
    (other,) = runs.read(write_result(tmp_path / "results_2026-02-02.json"))
    assert samples.find(other) is None
    lonely = tmp_path / "deep" / "samples_spor_x_2026-03-03.jsonl"
    lonely.parent.mkdir()
    lonely.touch()
    assert samples.orphans(tmp_path) == (lonely,)
    file.run.file.unlink()
    assert samples.orphans(tmp_path) == (lonely, file.path)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("id", 7),
        ("units", '[["Greyport", 1, "Cold_Sound"]]'),
        ("references", [None]),
        ("category", 3),
        ("prompt", []),
        ("hidden", '[["Greyport", 1]]'),
        ("input_orders", "[[0, 0], [0, 1]]"),
        ("reference_orders", "[[2, 1]]"),
    ],
)
def test_a_document_of_other_types_is_named(tmp_path: Path, key: str, value: object) -> None:
    kinds = {"hidden": HIDDEN, "input_orders": ORDERED, "reference_orders": ORDERED}
    row = sample_row(kinds.get(key, TOLD), ["x", "y"], PARENT)
    row["doc"][key] = value
    with pytest.raises(ResultError, match=r"jsonl:1: is not a sample of our tasks"):
        list(logged(tmp_path, row).records())
