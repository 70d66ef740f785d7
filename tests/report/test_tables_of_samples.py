"""Reports of runs about tables: their grids, programs, likelihoods, and cells that mean harm."""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from spor_tasks import report
from spor_tasks.core.errors import ResultError
from spor_tasks.corpora.embedded import TOTTO_MINI
from spor_tasks.report import browser, page, tables
from spor_tasks.report.collect import Report
from spor_tasks.report.document import SCHEMA, json_text, latex, markdown, plain_text
from spor_tasks.report.exhibit import exhibit, terminal
from spor_tasks.results.benchmarks import grids
from spor_tasks.results.comparisons import comparisons
from spor_tasks.results.evidence import with_samples
from spor_tasks.results.runs import collect as collect_runs
from spor_tasks.results.samples import alone
from spor_tasks.results.tables import Grid, Number
from tests.support import cell_runs, table_runs
from tests.support.html import chunk, packed_rows, tags_of
from tests.support.report_runs import write_runs

TASK, PAIRS = table_runs.TASK, table_runs.PAIRS
MOVING = r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202e\u2066\ud800-\udfff]"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return table_runs.write(tmp_path_factory.mktemp("tables"))


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> Path:
    samples = TOTTO_MINI.part("test")[:4]
    outputs = [sample.references[0] for sample in samples]
    folder = tmp_path_factory.mktemp("cells")
    return cell_runs.write_run(folder, samples, outputs, last=cell_runs.harmful())


@pytest.fixture(scope="module")
def whole(runs: Path) -> Report:
    return report.collect([runs])


def printed(found: Report) -> dict[str, Grid]:
    return {grid.title: grid for table in found.tables for grid in grids(table)}


def cell(grid: Grid, column: str, line: int = 0) -> Number:
    found = grid.runs[line][grid.header.index(column)]
    assert isinstance(found, Number)
    return found


# --- Tables --------------------------------------------------------------------------------------


def test_the_paper_s_columns_come_first_then_others(whole: Report) -> None:
    assert not [problem for problem in whole.problems if problem.lost]
    found = printed(whole)
    assert [title.removeprefix("logicnlg_mini, published sets") for title in found] == [
        "",
        ", other scores",
    ]
    main, others, *_ = found.values()
    assert main.header[2:-1] == ("PPL", "BLEU-1", "BLEU-3", "SP-Acc", "Adv-Acc")
    assert "ranked by lexical-1" in main.caption
    assert {"bits/byte", "Adv-Acc, distinct pairs", "Adv-Acc by byte"} < set(others.header)
    assert cell(main, "Adv-Acc").value == "25.00"
    assert cell(others, "Adv-Acc, distinct pairs").value == "37.50"


def test_scores_of_a_breakdown_add_no_test_between_arms(tmp_path: Path) -> None:
    write_runs(tmp_path)
    results = [
        replace(each, spec=replace(each.spec, reported=("parent",), breakdown=("chrf", "coverage")))
        for each in collect_runs([tmp_path]).runs
        if each.aspect == "systematicity"
    ]
    rows, _ = comparisons(with_samples(results)[0])
    assert {row.metric for row in rows if row.difference} == {"parent"}
    assert {row.metric for row in rows if row.arms[0].counts} == {"chrf", "coverage"}
    assert {n for row in rows for n in row.arms[0].counts} == {12}


REAL: dict[str | None, dict[str, float]] = {
    None: {"bleu_1": 48.8, "bleu_2": 27.1, "bleu_3": 12.6, "sp_acc": 42.1, "chrf": 40.0},
    "ppl": {"ppl": 8.8, "bpb": 0.9},
    "adversarial": {"adv_acc": 62.3, "adv_acc_distinct": 62.5, "adv_acc_count": 50.0},
    "c2f": {"bleu_1": 46.6, "bleu_2": 26.8, "bleu_3": 13.3},
    "c2f_adversarial": {"adv_acc": 64.9},
}


@pytest.mark.parametrize("n", [4305, 50])
def test_the_paper_s_rows_stand_beside_ours_of_the_real_corpus(tmp_path: Path, n: int) -> None:
    for part, scores in REAL.items():
        task = "_".join(filter(None, ["logicnlg", part]))
        metadata = {"corpus": "logicnlg"}
        table_runs.write_scores(tmp_path, task, part, scores, n=n, metadata=metadata)
    whole = report.collect([tmp_path])
    found = printed(whole)
    main, first = (found[f"LogicNLG, published sets{end}"] for end in ("", ", template first"))
    assert (len(main.paper), len(first.paper)) == (12, 2)
    line = next(line for line in main.paper if line[0] == "GPT-TabGen small")
    values = [each.value for each in line if isinstance(each, Number)]
    assert values == ["8.80", "48.80", "27.10", "12.60", "42.10", "68.70", "62.30"]
    assert f"n = {n:,}" in main.caption
    assert "own models" in main.caption
    document = tables.document(whole)
    for text in (markdown(document), latex(document), plain_text(document)):
        assert text.count("GPT-Coarse-to-Fine") == 2


def test_programs_of_two_rankers_are_not_ranked_together(tmp_path: Path) -> None:
    for model, ranker in (("one", "lexical-1"), ("other", "bert")):
        scores = {"bleu_3": 50.0, "sp_acc": 40.0}
        table_runs.write_scores(tmp_path / model, TASK, None, scores, model=model, ranker=ranker)
    boards = report.rank(report.collect([tmp_path])).boards
    assert [board.row.metric for board in boards] == ["bleu_3", "sp_acc", "sp_acc"]
    assert len({board.apart for board in boards}) == 3


def test_no_number_without_an_end_gets_into_json(runs: Path, tmp_path: Path) -> None:
    ends = {"high": math.inf, "low": -math.inf, "n": 1.5}
    assert json.loads(json_text(**ends)) == {"schema": SCHEMA, "high": None, "low": None, "n": 1.5}
    report.write_leaderboard([runs], tmp_path)
    texts = [file.read_text("utf-8") for file in tmp_path.rglob("*.json")]
    document = tables.document(report.collect([runs]))
    for text in (document.files("report")["report.json"], *texts):
        assert json.loads(text, parse_constant=pytest.fail)


# --- Samples -------------------------------------------------------------------------------------


def html_of(folder: Path) -> str:
    found = report.collect([folder])
    return page.page(found, browser.browse(found.samples), ())


def test_the_page_has_columns_likelihoods_and_programs(runs: Path) -> None:
    html = html_of(runs)
    tests = {test["runs"][0]["facets"]["part"]: test for test in chunk(html, 0)["tests"]}
    of_part = {part: test["runs"][0] for part, test in tests.items()}
    (first, *_) = packed_rows(html, tests[None])
    assert first["table"]["linked"]
    header = first["table"]["rows"][0]
    assert [at for at, cell in enumerate(header) if cell.get("sides")] == [0, 2]
    written = packed_rows(html, of_part[None])
    assert written[2]["notes"][0].startswith("0 programs found")
    assert ["notes" in each for each in written] == [True, True, True, False]
    given = packed_rows(html, of_part["adversarial"])
    assert [each["notes"][0][:22] for each in given[0]["outputs"]] == [
        "log likelihood -20.00,",
        "log likelihood -24.00,",
    ]
    assert given[3]["scores"]["adv_acc_distinct"] == 50.0
    assert of_part["adversarial"]["faults"] == [None] * 4
    assert of_part["ppl"]["scores"] != [None] * 4


def test_the_page_has_bounded_tables_and_nothing_of_them_is_markup(runs: Path, cells: Path) -> None:
    for html in map(html_of, (runs, cells)):
        assert "window.broken = true" not in html
        assert {"img", "b"}.isdisjoint(tag for tag, _ in tags_of(html))
    (test,) = chunk(html, 0)["tests"]
    assert {each["category"] for each in test["traits"]} <= {"overlap", "nonoverlap"}
    *_, last = packed_rows(html, test)
    rows = last["table"]["rows"]
    assert sum(row if isinstance(row, int) else 1 for row in rows) == cell_runs.ROWS
    assert sum(not isinstance(row, int) for row in rows) < 20


def test_the_terminal_shows_tables_cells_and_programs_without_control_characters(
    runs: Path, cells: Path
) -> None:
    shown = exhibit(runs, "0", task=TASK)
    ((_, view),) = shown.runs
    assert (view.outputs[0].verdicts, view.faults) == ((), ())
    text = terminal(shown)
    assert re.search(r"^ +baker\* \| \w+ \| goats\*$", text, re.MULTILINE)
    assert "read as false: eq{1; count{all_rows}} (2 programs found, search ended: enough)" in text
    assert "0 programs found" in terminal(exhibit(runs, "2", task=TASK))
    text = terminal(exhibit(cells, "0", task=cell_runs.TASK))
    for number, unit in enumerate(TOTTO_MINI.part("test")[0].units):
        assert f"[{number}: {unit[1]}]" in text
    harmful = [(runs, TASK, f"({table_runs.ROWS + 1 - 12} rows"), (cells, cell_runs.TASK, "rows")]
    for folder, task, left_out in harmful:
        text = terminal(exhibit(folder, "3", task=task))
        assert f"{left_out} not shown)" in text
        assert not re.search(MOVING, text)


def test_the_terminal_says_which_text_of_a_pair_is_likelier(runs: Path, tmp_path: Path) -> None:
    likelier = (
        "by token text, by sum text, by byte text",
        "by token contrast, by sum contrast, by byte contrast",
        "by token contrast, by sum text, by byte",
        "by token neither, by sum neither",
    )
    for number, winners in enumerate(likelier):
        assert f"likelier: {winners}" in terminal(exhibit(runs, str(number), task=PAIRS))
    table_runs.write(tmp_path)
    file = tmp_path / f"samples_{PAIRS}_adversarial.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    for row in rows:
        del row["doc"]["tokens"]
    file.write_text("\n".join(map(json.dumps, rows)))
    assert "by token not known" in terminal(exhibit(tmp_path, "0", task=PAIRS))


DAMAGES: Sequence[tuple[str, dict[str, Any]]] = (
    (TASK, {"sp_program": 7}),
    (TASK, {"sp_programs": "many"}),
    (TASK, {"sp_search": 1}),
    (PAIRS, {"tokens": [1]}),
    (PAIRS, {"tokens": [0, 1]}),
    (PAIRS, {"tokens": ["1", "2"]}),
)


@pytest.mark.parametrize(("task", "change"), DAMAGES)
def test_damaged_evidence_is_named(
    runs: Path, tmp_path: Path, task: str, change: dict[str, Any]
) -> None:
    for name in (f"results_{task}.json", f"samples_{task}_{task.rpartition('_')[2]}.jsonl"):
        (tmp_path / name).write_bytes((runs / name).read_bytes())
    row, *_ = map(json.loads, (tmp_path / name).read_text().splitlines())
    row["doc"] |= change
    (tmp_path / name).write_text(json.dumps(row))
    with pytest.raises(ResultError) as caught:
        exhibit(tmp_path, "0")
    assert caught.value.where
    assert caught.value.remedy


def test_a_value_alone_is_what_its_score_would_be() -> None:
    assert alone("adv_acc_distinct", (50.0, 1)) == 50.0
    assert alone("bpb", (30.0, 15)) == 2.0
    assert alone("cwio", (3, 0.5)) == 0.5
    assert alone("parent", 40.0) == 40.0
    assert alone("ppl", None) is None
    assert alone("bpb", (0.0, 0)) is None
