"""Reports as text: whole ones against golden files, and hostile ones in every format."""

import csv
import io
import json
import re
import unicodedata

from hypothesis import example, given
from hypothesis import strategies as st

from spor_tasks import report
from spor_tasks.core.visible import visible
from spor_tasks.report import leaderboard, tables
from spor_tasks.report.document import (
    csv_field,
    csv_text,
    latex,
    latex_text,
    markdown,
    markdown_text,
    plain_text,
)
from tests.conftest import REPOSITORY
from tests.support import golden
from tests.support.report_runs import write_runs
from tests.support.result_files import write_result, write_run

HOSTILE = "=1|<b>&\\$%#{_^~`*[x](y)\u202e\u200b\x1b[31m\nend"


def test_tables_and_leaderboard_are_the_golden_ones(tmp_path):
    write_runs(tmp_path)
    whole = report.collect([tmp_path])
    document, board = tables.document(whole), leaderboard.document(report.rank(whole))
    golden.same("report.txt", plain_text(document) + "\n")
    golden.same("report.md", markdown(document))
    golden.same("report.tex", latex(document))
    golden.same("leaderboard.md", markdown(board))
    golden.same("leaderboard.csv", csv_text(board))
    files = document.files("report")
    rows = list(csv.DictReader(files["report.csv"].splitlines()))
    numbers = json.loads(files["report.json"])["rows"]
    assert len(numbers) > 100
    for row, number in zip(rows, numbers, strict=True):
        assert row["value"] == ("" if number["value"] is None else str(number["value"]))
        assert all(row[key] == (number[key] or "") for key in ("model", "metric", "part", "arm"))


def test_a_missing_cell_is_empty_and_its_reason_stands_beside_it(tmp_path):
    """A column that no model has a result for is left out, with the command that would fill it."""
    write_result(tmp_path / "results_1.json", arm="atom")
    write_result(tmp_path / "results_2.json", arm="atom", model="other")
    write_result(tmp_path / "results_3.json", arm=None, model="other")
    files = tables.document(report.collect([tmp_path])).files("report")
    for row in csv.DictReader(files["report.csv"].splitlines()):
        assert bool(row["value"]) != bool(row["reason"])
    missing = [each for each in json.loads(files["report.json"])["rows"] if each["value"] is None]
    assert "no result of combination" in {each["reason"] for each in missing}
    assert r"| \[a\] |" in files["report.md"]
    command = "spor train CONFIG data.arm=combination"
    assert f"\nNo result of combination ({command}).\n" in files["report.md"]
    task = r"spor\_systematicity\_mini"
    assert rf"\[a\] no result of the model as it is: spor eval --tasks {task}" in files["report.md"]
    assert " & \\textsuperscript{a} & " in files["report.tex"]


def test_a_hostile_name_is_text_in_one_cell_of_every_format(tmp_path):
    write_run(tmp_path, "1", [1.0, 2.0], model=HOSTILE)
    write_result(tmp_path / "results_2.json", model=HOSTILE, arm="combination", n=7)
    (tmp_path / "results_3\u202e.json").write_text("{")
    document = tables.document(report.collect([tmp_path]))
    hostile = {**document.files("report"), "report.txt": plain_text(document)}
    for text in hostile.values():
        assert HOSTILE not in text
        assert not re.search("[\u202e\u200b\x1b\x00-\x09\x0b-\x1f]", text)
        assert "\\u202e" in text or "textbackslash{}u202e" in text

    lines = [line for line in hostile["report.md"].splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {7}
    named = [line for line in lines if "end" in line]
    assert len(named) == 2
    for line in named:
        assert "&lt;b&gt;" in line
        assert re.search(r"(?<!\\)[\[`*]x", line) is None

    text = re.sub(r"^%.*\n", "", hostile["report.tex"], flags=re.MULTILINE)
    bare = re.sub(r"\\[\\{}$&#%_]", "", text)
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0
    assert not set("#%^<>|") & set(bare.replace("$^", ""))
    rows = [line for line in bare.splitlines() if "end " in line and "&" in line]
    assert [row.count("&") for row in rows] == [5, 5]

    rows = list(csv.DictReader(hostile["report.csv"].splitlines()))
    assert {row["model"][:3] for row in rows} == {"'=1"}  # no formula


TEXTS = st.text() | st.text("=+-@|\\<>&$%#{}_^~`*[]()\"'\u202e\u2066\u200b\x1b\t\r\n ab1")


@given(TEXTS)
def test_nothing_visible_moves_or_hides_anything(text):
    shown = visible(text)
    assert not {"Cc", "Cf", "Cs", "Zl", "Zp"} & set(map(unicodedata.category, shown))
    assert visible(shown) == shown
    assert len(shown) >= len(text)
    plain = "".join(char for char in text if visible(char) == char)
    assert visible(plain) == plain


@given(TEXTS)
@example("&lt;")
def test_in_markdown_it_is_one_cell_without_markup(text):
    cell = markdown_text(text)
    assert "\n" not in cell
    assert not re.search(r"(?<!\\)(?:\\\\)*[|`*_\[\]<>#~$]", cell)
    escapes = {"&lt;": "<", "&gt;": ">"}
    plain = re.sub(r"\\(.)|&[lg]t;", lambda found: found[1] or escapes[found[0]], cell)
    assert plain == visible(text)


@given(TEXTS)
def test_in_latex_nothing_is_a_command_of_its_own(text):
    bare = latex_text(text)
    known = "textbackslash textasciitilde textasciicircum textless textgreater textbar"
    commands = {*f"{known} textquotedbl dagger ddagger".split()}
    assert {*re.findall(r"\\([a-zA-Z]+)", bare)} <= commands
    bare = re.sub(r"\\[{}$&#%_]", "", bare)
    assert bare.count("{") == bare.count("}")
    assert not set("#%&_~<>|") & set(bare)
    assert not bare.startswith(("[", "*"))


@given(TEXTS)
@example("@x")
@example(" =x")
@example("+x")
@example("-x")
def test_in_csv_it_is_one_field_and_no_formula(text):
    field = csv_field(text)
    assert not field.lstrip().startswith(("=", "+", "-", "@"))
    file = io.StringIO()
    csv.writer(file).writerow([field, "next"])
    assert list(csv.reader(file.getvalue().splitlines())) == [[field, "next"]]
    assert field.removeprefix("'") == visible(text).removeprefix("'") or field == visible(text)


DATA = REPOSITORY / "tests" / "data"


def test_results_of_0_2_0_are_read(tmp_path, spor, monkeypatch):
    """Results that version 0.2.0 wrote give the numbers of then in each later version.

    `tests/data/runs` has two adapters of the demo on 12 samples, seed 0, and copied inputs on 6
    samples of five tasks. Only the names of folders and the description of the machine were taken
    out. No corpus is needed.
    """
    monkeypatch.setenv("SPOR_DATA_DIR", str(tmp_path / "nowhere"))
    monkeypatch.chdir(DATA)
    for command, file in (
        ("report runs", "report.txt"),
        ("report runs --leaderboard", "leaderboard.txt"),
        ("compare runs/atom runs/combination", "compare.txt"),
    ):
        assert spor(command) == (DATA / "runs" / file).read_text("utf-8")
    spor(f"report runs --out {tmp_path}")
    assert (tmp_path / "page.html").stat().st_size > 50_000


def test_facts_in_the_form_of_0_2_give_the_same_report(spor, monkeypatch):
    """Results of the last commit with flat facts are still read.

    `tests/data/runs-0.2` has short runs of two arms with three seeds, of the base with
    demonstrations, of two splits with two seeds, of copied inputs on a corpus of one's own, on
    twins and on the other benchmarks; some without samples.
    """
    monkeypatch.chdir(DATA)
    assert spor("report runs-0.2/runs") == (DATA / "runs-0.2" / "report.txt").read_text("utf-8")


def test_likelihoods_in_the_form_of_0_2_are_read(spor, monkeypatch):
    """They said of failures `"{}"`, which no version could read."""
    monkeypatch.chdir(DATA)
    assert "Adv-Acc by byte" in spor("report runs-0.2/likelihoods")
