"""`spor score`: what it prints, what it reads, and how it fails."""

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from spor_tasks import cli

CAFE = [["food", "Basque"], ["area", "quayside"]]
ROW = {
    "name": "The Gull",
    "data": CAFE,
    "output": "Basque food by the quayside.",
}
UNSAID = {**ROW, "output": "Nothing of it."}
OPTIONS = ["--metric", "cwio", "--corpus", "e2e"]


def write(path: Path, *rows: object) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_scores_stand_in_a_table_over_their_signature(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["score", write(tmp_path / "outputs", ROW, UNSAID), *OPTIONS]) == 0
    head, *rows, blank, signature = capsys.readouterr().out.splitlines()
    assert head.split() == ["score", "value", "n", "unscored"]
    assert [row.split() for row in rows] == [
        ["cwio", "1.0000", "2", "0"],
        ["cwio_located", "1.0000", "1", "1"],
        ["cwio_located_share", "50.0000", "2", "0"],
    ]
    assert blank == ""
    assert signature.startswith("cwio|")


def test_intervals_and_paired_tests_are_printed_where_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [[row, {**row, "data": [CAFE[0], ["near", "quayside"]]}] for row in (ROW, UNSAID)]
    file, other = (
        write(tmp_path / name, *of) for name, of in zip(("ours", "theirs"), rows, strict=True)
    )
    assert cli.main(["score", file, *OPTIONS, "--interval", "--compare", other]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[3] == ["cwio_located_share", "100.0000", "2", "0", "100.0000", "to", "100.0000"]
    compared = lines.index(["difference", "value", "n", "p", "95", "%", "interval"])
    assert lines[compared + 1][:4] == ["cwio", "+0.0000", "2", "1.0000"]
    assert lines[compared + 2] == ["cwio_located", "+nan", "0", "nan"]
    assert lines[compared + 3][:3] == ["cwio_located_share", "+100.0000", "2"]


def test_json_has_signatures_and_null_for_what_has_no_value(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path / "outputs", UNSAID)
    assert cli.main(["score", file, *OPTIONS, "--json", "--interval", "--compare", file]) == 0

    def refuse(constant: str) -> None:
        pytest.fail(f"{constant} is not JSON")

    printed: dict[str, Any] = json.loads(capsys.readouterr().out, parse_constant=refuse)
    assert (printed["metric"], printed["corpus"], printed["samples"]) == ("cwio", "e2e", 1)
    scores = {score["name"]: score for score in printed["scores"]}
    assert scores["cwio_located"]["value"] is None
    assert scores["cwio_located"]["interval"] is None
    assert scores["cwio"]["interval"] is None  # of one sample
    assert printed["samples_sha256"][:16] in scores["cwio"]["signature"]
    assert printed["comparisons"]["cwio_located"] is None
    assert printed["comparisons"]["cwio"]["n"] == 1


@pytest.mark.parametrize("packed", [False, True])
def test_a_pipe_is_read_gzipped_or_not(*, packed: bool) -> None:
    content = (json.dumps(ROW) + "\n").encode()
    done = subprocess.run(
        [sys.executable, "-c", "from spor_tasks import cli; cli.main()", "score", "-", *OPTIONS],
        input=gzip.compress(content) if packed else content,
        capture_output=True,
        check=True,
    )
    assert b"cwio_located" in done.stdout
    assert done.stderr == b""


def test_a_fault_is_told_with_file_and_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path / "outputs", ROW, {"data": ROW["data"]})
    assert cli.main(["score", file, *OPTIONS]) == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", f"error: {file}:2: has no `output`\n")


@pytest.mark.parametrize(
    ("asked", "coverage", "named"),
    [
        (None, 0, None),
        ("first_line", 0, None),
        ("none", 100, "none"),
        (
            "strip_reasoning,strip_preamble,first_line",
            50,
            "strip_reasoning,strip_preamble,first_line",
        ),
    ],
)
def test_what_is_cut_before_scoring_is_asked_for(
    tmp_path: Path,
    asked: str | None,
    coverage: float,
    named: str | None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    output = "<think>\nOf what?</think>\nIt is:\nBasque food.\nBy the quayside."
    file = write(tmp_path / "outputs", {**ROW, "output": output})
    options = ["--metric", "coverage", "--corpus", "e2e", "--json"]
    given = [] if asked is None else ["--filter", asked]
    assert cli.main(["score", file, *options, *given]) == 0
    (score,) = json.loads(capsys.readouterr().out)["scores"]
    assert score["value"] == coverage
    assert score["signature"].endswith(f"|filter:{named}") is (named is not None)
    assert ("|filter:" in score["signature"]) is (named is not None)


def test_a_filter_that_there_is_not_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path / "outputs", ROW)
    assert cli.main(["score", file, *OPTIONS, "--filter", "first_line,last_line"]) == 2
    assert "last_line" in capsys.readouterr().err
