"""Reading lm-eval's sample files."""

from dataclasses import replace

import pytest

from spor_tasks.core.errors import ResultError
from spor_tasks.results import runs, samples
from tests.support.invented_runs import copying, ordered, town
from tests.support.result_files import sample_row, write_result, write_samples
from tests.support.strategies import changed

PLAIN, ORDERED, HIDDEN = town(0), ordered(0), replace(copying(0), references=())
PARENT = {"parent": 12.5, "parent_full_table": 25}
DAMAGED = r"jsonl:{}: is not a sample of our tasks"


def logged(folder, *rows):
    """Return the sample file of a result that holds these rows."""
    task = "spor_systematicity_mini"
    file = write_result(folder / "results_2026-01-01.json", task=task, n=len(rows))
    write_samples(file, task, rows)
    (run,) = runs.read(file)
    return samples.find(run)


def test_a_line_becomes_a_record(tmp_path):
    output = "Greyport: Cold Sound.\nAnd more"
    shown = sample_row(PLAIN, [output], PARENT)
    shown["arguments"]["gen_args_0"]["arg_0"] = f"shown\n\n{shown['doc']['prompt']}"
    file = logged(tmp_path, sample_row(PLAIN, [output], PARENT), shown)
    record, after_demonstrations = file.records()
    assert (record.run, record.sample) == (file.run, PLAIN)
    assert record.inputs == record.contexts
    assert record.inputs[0].endswith("<tail> Old Basin Output:")
    assert (record.outputs, record.scored) == ((output,), ("Greyport: Cold Sound.",))
    assert record.scores == {"parent": 12.5, "parent_full_table": 25.0}
    assert after_demonstrations.contexts == (f"shown\n\n{record.inputs[0]}",)
    assert after_demonstrations.inputs == record.inputs


@pytest.mark.parametrize(
    ("left", "scored"),
    [
        ([" Cold Sound."], " Cold Sound."),
        ([[" Cold Sound."]], " Cold Sound."),
        ([""], ""),
        *((value, "First.") for value in (..., None, [], [None], ["a", "b"])),
    ],
)
def test_scored_is_what_filters_left(tmp_path, left, scored):
    row = sample_row(PLAIN, ["\nFirst.\n Cold Sound."], PARENT)
    (record,) = logged(tmp_path, changed(row, ("filtered_resps",), left)).records()
    assert record.scored == (scored,)


def test_a_challenge_and_its_outputs_are_in_the_record(tmp_path):
    """Values may stand with a group, or have no verdict."""
    scores = {"cwio": [2, 1.0], "cwio_stderr": [2, 1.0], "cwio_3": None, "cwio_located_share": 0.0}
    rows = sample_row(ORDERED, ["one", "two"], scores), sample_row(HIDDEN, [""], {})
    ordered, hidden = logged(tmp_path, *rows).records()
    assert (ordered.sample, hidden.sample) == (ORDERED, HIDDEN)
    assert ordered.outputs == ordered.scored == ("one", "two")
    assert len(set(ordered.inputs)) == len(set(ordered.contexts)) == 2
    assert ordered.scores == {"cwio": (2, 1.0), "cwio_3": None, "cwio_located_share": 0.0}


def test_a_known_document_is_read_once_and_another_one_of_its_id_is_not_taken_for_it(tmp_path):
    row = sample_row(PLAIN, ["x"], PARENT)
    other = changed(row, ("doc", "references"), ["Greyport is old."])
    file = logged(tmp_path, row, sample_row(PLAIN, ["y"], PARENT), other)
    (first, same, last), alone = file.records({}), [*file.records()]
    assert [first, same, last] == alone
    assert same.sample is first.sample
    assert (same.outputs, last.sample.references) == (("y",), ("Greyport is old.",))


def test_a_line_cut_short_is_named_after_all_that_comes_before_it(tmp_path):
    row = sample_row(PLAIN, ["x"], PARENT)
    file = logged(tmp_path, row, row)
    file.path.write_bytes(file.path.read_bytes()[:-40])
    records = file.records()
    assert next(records)
    with pytest.raises(ResultError, match=DAMAGED.format(2)):
        next(records)


@pytest.mark.parametrize(
    ("sample", "key", "value"),
    [
        (PLAIN, "doc", None),
        (PLAIN, "doc", {"question": "Who?"}),
        (PLAIN, "metrics", None),
        (PLAIN, "parent", "much"),
        (PLAIN, "resps", [[["x"]]]),
        (PLAIN, "resps", [[]]),
        (PLAIN, "arguments", None),
        (PLAIN, "prompt_hash", ...),
        (PLAIN, "doc.id", 7),
        (PLAIN, "doc.units", '[["Greyport", 1, "Cold_Sound"]]'),
        (PLAIN, "doc.references", [None]),
        (PLAIN, "doc.category", 3),
        (PLAIN, "doc.prompt", []),
        (HIDDEN, "doc.hidden", '[["Greyport", 1]]'),
        (ORDERED, "doc.input_orders", "[[0, 0], [0, 1]]"),
        (ORDERED, "doc.reference_orders", "[[2, 1]]"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_bad_line_is_named(tmp_path, sample, key, value):
    row = sample_row(sample, ["x"] if sample is PLAIN else ["x", "y"], PARENT)
    file = logged(tmp_path, changed(row, tuple(key.split(".")), value))
    with pytest.raises(ResultError, match=DAMAGED.format(1)):
        list(file.records())


def test_samples_stand_beside_the_result_of_the_same_time(tmp_path):
    file = logged(tmp_path, sample_row(PLAIN, ["x"], PARENT))
    (other,) = runs.read(write_result(tmp_path / "results_2026-02-02.json"))
    assert samples.find(other) is None
    lonely = tmp_path / "deep" / "samples_spor_x_2026-03-03.jsonl"
    lonely.parent.mkdir()
    lonely.touch()
    assert samples.orphans(tmp_path) == (lonely,)
    file.run.file.unlink()
    assert samples.orphans(tmp_path) == (lonely, file.path)
