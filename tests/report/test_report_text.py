"""Reports as text: whole ones against golden files, and hostile ones in every format."""

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from spor_tasks import report
from spor_tasks.report import leaderboard_text, render
from spor_tasks.report.collect import Report
from tests.conftest import REPOSITORY
from tests.support.report_runs import write_runs
from tests.support.result_files import write_result, write_run

GOLDEN = REPOSITORY / "tests" / "data" / "report"
HOSTILE = "=1|<b>&\\$%#{_^~`*[x](y)\u202e\u200b\x1b[31m\nend"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    write_runs(folder)
    return folder


@pytest.fixture(scope="module")
def whole(runs: Path) -> Report:
    return report.collect([runs])


def same(name: str, text: str) -> None:
    """Compare with a golden file. To renew it, delete it and run this test twice."""
    golden = GOLDEN / name
    if not golden.exists():
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(text, "utf-8")
        pytest.fail(f"wrote {golden}: read it")
    assert text == golden.read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("report.txt", lambda found: render.terminal(found) + "\n"),
        ("report.md", render.markdown),
        ("report.tex", render.latex),
    ],
)
def test_the_four_tables_are_the_golden_ones(
    whole: Report, name: str, text: Callable[[Report], str]
) -> None:
    same(name, text(whole))


def test_the_leaderboard_is_the_golden_one(runs: Path) -> None:
    same("leaderboard.md", leaderboard_text.markdown(report.rank([runs])))


def test_csv_and_json_hold_the_same_numbers(whole: Report) -> None:
    rows = list(csv.DictReader(render.tidy_csv(whole).splitlines()))
    content = json.loads(render.as_json(whole))
    cells = [
        (row["model"], row["metric"], row["part"] or "", arm, cell["mean"])
        for table in content["tables"]
        for row in table["rows"]
        for arm, cell in [("as is", row["as_is"]), *row["arms"].items()]
    ]
    assert len(cells) > 100
    assert cells == [
        (
            *(row[key] for key in ("model", "metric", "part", "arm")),
            float(row["value"]) if row["value"] else None,
        )
        for row in rows
        if row["arm"] != "difference"
    ]


def test_a_missing_cell_is_empty_and_its_reason_stands_beside_it(tmp_path: Path) -> None:
    write_result(tmp_path / "results_1.json", arm="atom")
    found = report.collect([tmp_path])
    for row in csv.DictReader(render.tidy_csv(found).splitlines()):
        assert bool(row["value"]) != bool(row["reason"])
    (table,) = json.loads(render.as_json(found))["tables"]
    missing = table["rows"][0]["arms"]["combination"]
    assert (missing["mean"], missing["values"]) == (None, [])
    assert missing["reason"] == "no result of combination"
    line = next(line for line in render.markdown(found).splitlines() if "| PARENT |" in line)
    assert line.split(" | ")[2:] == [
        "<sup>1</sup>",
        "40.00 \\[39.0, 41.0\\]<sup>2</sup>",
        "<sup>3</sup>",
        "<sup>4</sup>",
        "200",
        "0 |",
    ]
    assert "3. no result of combination" in render.markdown(found)
    assert "base & PARENT & \\textsuperscript{1} & 40.00 " in render.latex(found)


# --- What somebody else wrote ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("hostile")
    write_run(folder, "1", [1.0, 2.0], model=HOSTILE)
    write_result(folder / "results_2.json", model=HOSTILE, arm="combination", n=7)
    (folder / "results_3\u202e.json").write_text("{")
    return report.collect([folder])


def test_no_format_has_characters_that_move_or_hide_others(hostile: Report) -> None:
    for text in (
        render.terminal(hostile),
        render.markdown(hostile),
        render.latex(hostile),
        render.tidy_csv(hostile),
        render.as_json(hostile),
    ):
        assert HOSTILE not in text
        assert not re.search("[\u202e\u200b\x1b\x00-\x09\x0b-\x1f]", text)
        assert "\\u202e" in text or "textbackslash{}u202e" in text


def test_a_model_of_any_name_fills_one_cell_of_markdown(hostile: Report) -> None:
    lines = [line for line in render.markdown(hostile).splitlines() if line.startswith("|")]
    counts = {len(re.findall(r"(?<!\\)\|", line)) for line in lines}
    assert counts == {9}
    named = [line for line in lines if "end" in line]
    assert len(named) == 2
    for line in named:
        assert "&lt;b&gt;" in line
        assert re.search(r"(?<!\\)[\[`*]x", line) is None


def test_a_model_of_any_name_is_text_in_latex(hostile: Report) -> None:
    text = "\n".join(
        line for line in render.latex(hostile).splitlines() if not line.startswith("%")
    )
    bare = re.sub(r"\\[\\{}$&#%_]", "", text)
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0
    assert not set("#%^<>|") & set(bare.replace("$^", ""))
    rows = [line for line in bare.splitlines() if "end " in line and "&" in line]
    assert len(rows) == 2
    assert {row.count("&") for row in rows} == {7}


def test_a_model_of_any_name_is_no_formula(hostile: Report) -> None:
    rows = list(csv.DictReader(render.tidy_csv(hostile).splitlines()))
    assert {row["model"][:3] for row in rows} == {"'=1"}
