"""One sample in the terminal, with the marks of the page."""

import re

from spor_tasks.report.exhibit import exhibit, terminal
from tests.support import attribute_runs, cell_runs, golden, invented_runs, table_runs, twin_runs
from tests.support.result_files import rows_of, write_result, write_rows

TASK = "spor_systematicity_mini"


def write_run(folder, name, *outputs, arm="atom", number=0):
    """Write a run with these outputs for samples from ``number`` on."""
    samples = map(invented_runs.town, range(number, number + len(outputs)))
    rows = rows_of(samples, ([output] for output in outputs), [{"parent": 40.0}] * len(outputs))
    return write_rows(folder / f"results_{name}.json", rows, task=TASK, arm=arm)


def test_shown_samples_are_the_golden_ones(invented, columns, cells, tmp_path):
    orders = twin_runs.spec_of("order_invariance", "main")
    twins = twin_runs.write_run(tmp_path / "twins", orders, twin_runs.OUTPUTS, "original", 0.0)
    attributes = attribute_runs.write(tmp_path / "attributes") / "0"
    files = [*sorted(invented.glob("results_*"))[::2]]  # of the model with a harmless name
    for folder in (columns, cells):
        files += sorted(folder.glob("results_*"))
    files += [twins, attributes / f"results_{attribute_runs.TASK}.json"]
    signs = cell_runs.of_cells([["Anna", "–"]], [[0, 0], [0, 1]])
    cell_runs.write_run(tmp_path / "signs", [signs], ["Anna."])
    table_runs.write(tmp_path / "uncounted")
    (pairs,) = (tmp_path / "uncounted").glob(f"samples_{table_runs.PAIRS}_*")
    pairs.write_text(re.sub(r', ?"tokens": ?\[[^]]*\]', "", pairs.read_text("utf-8")), "utf-8")
    shown = [exhibit(file, str(number)) for file in files for number in range(4)]
    shown += [exhibit(tmp_path / "signs", "0"), exhibit(pairs, "0")]
    texts = []
    for each in shown:
        ((_, view),) = each.runs  # of each unit the page says what the terminal does not
        verdicts = [f"verdicts: {', '.join(output.verdicts)}" for output in view.outputs]
        texts.append("\n".join([terminal(each), *verdicts, ""]))
    text = "\n".join(texts)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202e\u2066\ud800-\udfff]", text)
    assert max(map(len, text.splitlines())) <= 100
    golden.same("show.txt", text)


def test_a_run_is_named_by_its_result_samples_or_folder(tmp_path, spor):
    run = write_run(tmp_path / "one", "1", "One.", "Two.")
    other = write_run(tmp_path / "other", "2", "Drei.", "Vier.", arm="combination", number=1)
    for path in (run, run.parent, run.parent / f"samples_{TASK}_1.jsonl"):
        printed = spor(f"show {path} town000000000001 --against {other}")
        lines = [line.strip() for line in printed.splitlines()]
        assert lines[0].endswith(": sample 1, town000000000001")
        shown = [line for line in lines if line.startswith("base,") or line in {"Two.", "Drei."}]
        assert shown == ["base, atom, seed 0", "Two.", "base, combination, seed 0", "Drei."]


def test_samples_that_cannot_be_chosen_are_named(tmp_path, spor):
    write_run(tmp_path / "one", "1", "One.", "Two.")
    write_run(tmp_path / "two", "1", "One.")
    write_run(tmp_path / "two", "2", "Two.", arm="combination")
    write_result(tmp_path / "bare" / "results_1.json")
    for words, message in (
        *((f"one {n}", repr(n)) for n in ("-1", "town", "town000000000009", "²")),
        ("one 2", "'2' is neither the id of a sample nor an index from 0 to 1"),
        ("two 0", r"several runs have a sample 0: .*_1\.json.*_2\.json"),
        ("bare 0", "no samples beside its results"),
        ("one 0 --task=spor_other", rf"no samples of spor_other\n  Use one of {TASK}\."),
    ):
        folder, which, *options = words.split()
        command = " ".join(["show", *options, "--", str(tmp_path / folder), which])
        assert re.search(message, spor(command, ends=2))
