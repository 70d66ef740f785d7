"""Plain texts are scored, one a line, for the samples of a file in the corpus's own format."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from spor_tasks import cli
from spor_tasks.core.errors import ConfigError, CorpusError
from spor_tasks.core.files import read_rows
from spor_tasks.evaluation import scoring

PUBLISHED = {
    "totto_bleu": "45.5",
    "totto_bleu_overlap": "37.2",
    "totto_bleu_nonoverlap": "58.3",
    "totto_parent": "53.3",
    "totto_parent_overlap": "41.3",
    "totto_parent_nonoverlap": "71.4",
}


def example(number: int, *references: str) -> bytes:
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
def references(tmp_path: Path) -> Path:
    rows = (example(-1, "Ann won ."), example(2**70, "Ann lost ."), example(3, "Ann left ."))
    return write(tmp_path, b"".join(rows), "totto_dev_data.jsonl")


def write(folder: Path, content: bytes, name: str = "predictions.txt") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def rows_of(predictions: Path, references: Path) -> list[dict[str, Any]]:
    out = predictions.parent / "out.jsonl"
    scoring.score(predictions, "totto", "totto", references=references, per_sample=out)
    return [row for _, row in read_rows(out)]


def test_the_published_check_comes_out(
    totto_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = str(totto_dir / "output_sample.txt"), str(tmp_path / "out.jsonl")
    options = ["--metric", "totto", "--corpus", "totto", "--per-sample", out, "--json"]
    options += ["--references", str(totto_dir / "dev_sample.jsonl"), "--interval"]
    assert cli.main(["score", file, *options, "--compare", file]) == 0
    printed = json.loads(capsys.readouterr().out)
    found = {score["name"]: score for score in printed["scores"]}
    assert {name: f"{found[name]['value']:.1f}" for name in PUBLISHED} == PUBLISHED
    low, high = found["totto_bleu"]["interval"]
    assert low < 45.5 < high
    assert printed["comparisons"]["totto_bleu"]["p_randomization"] == 1
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
    references: Path, tmp_path: Path, content: bytes, name: str
) -> None:
    rows = rows_of(write(tmp_path, content, name), references)
    assert [row["id"] for row in rows] == ["-1", str(2**70), "3"]
    # What is scored of an output is its first line, and Python's lines end at other signs too.
    assert [row["output"] for row in rows] == ["Ann won .", "", "Ann\u2028\x0bleft ."]
    assert [row["overlap"] for row in rows] == [False, True, False]
    assert rows[1]["parent_f"] < 1 < rows[0]["parent_f"]


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
    references: Path, tmp_path: Path, content: bytes, line: int
) -> None:
    file = write(tmp_path, content)
    with pytest.raises(CorpusError) as caught:
        rows_of(file, references)
    assert f"predictions.txt:{line}" in str(caught.value.where)
    assert {*tmp_path.iterdir()} == {file, references}


def test_the_hidden_test_set_is_an_error_that_names_the_example(tmp_path: Path) -> None:
    hidden = write(tmp_path, example(-5), "test.jsonl")
    with pytest.raises(CorpusError) as caught:
        rows_of(write(tmp_path, b"Ann won ."), hidden)
    assert "predictions.txt:1" in str(caught.value.where)
    assert "-5" in str(caught.value.where)
    assert caught.value.remedy


def test_a_txt_file_is_for_the_development_set_of_a_corpus_that_has_one(
    references: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOTTO_DATA_DIR", str(tmp_path))
    file = write(tmp_path, b"Ann won .\n\n\n")
    assert scoring.score(file, "totto", "totto").samples == 3
    with pytest.raises(ConfigError) as caught:
        scoring.score(file, "chrf", "e2e", references=references)
    assert caught.value.remedy
