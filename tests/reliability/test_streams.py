"""Rows without end are refused in bounded time and memory."""

import gzip
import json
import subprocess
import sys
import time
import tracemalloc
from contextlib import suppress
from pathlib import Path

import pytest

from spor_tasks.core import files
from spor_tasks.core.errors import CorpusError
from tests.conftest import REPOSITORY, Spor
from tests.support.damage import SOAK

MEGABYTE = 1_000_000
ROW = {"data": [["Greyport", "harbour", "Old_Basin"]], "texts": ["Greyport has the Old Basin."]}
BEFORE, AFTER = json.dumps(ROW | {"output": "*"}).encode().split(b"*")


def test_an_output_without_end_in_a_small_file_is_refused(tmp_path: Path) -> None:
    """In bounded memory and time."""
    path = tmp_path / "rows.jsonl.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(BEFORE)
        for _ in range(50 * SOAK):
            file.write(b"The harbour of Greyport. " * 40_000)
        file.write(AFTER + b"\n")
    started = time.perf_counter()
    tracemalloc.start()
    try:
        with pytest.raises(CorpusError, match="longer than 16,000,000 bytes") as caught:
            list(files.read_rows(path))
        assert tracemalloc.get_traced_memory()[1] < 3 * files.ROW_BYTES
    finally:
        tracemalloc.stop()
    assert caught.value.where == f"{path}:1"
    assert time.perf_counter() - started < 5


def test_an_output_may_have_a_million_characters(tmp_path: Path, spor: Spor) -> None:
    path = tmp_path / "rows.jsonl"
    words = b"Greyport has the Old Basin. " * MEGABYTE
    command = f"score {path} --metric coverage --corpus webnlg"
    path.write_bytes(BEFORE + words[:MEGABYTE] + AFTER)
    spor(command)
    path.write_bytes(BEFORE + words[: MEGABYTE + 1] + AFTER)
    error = spor(command, ends=2)
    assert f"{path}:1: `output` has 1,000,001 characters, more than 1,000,000" in error


@pytest.mark.parametrize("content", [b"\0", b" "])
def test_a_pipe_without_end_or_line_is_left(content: bytes) -> None:
    command = [sys.executable, "-c", "from spor_tasks.cli import main; raise SystemExit(main())"]
    command += ["score", "-", "--metric", "coverage", "--corpus", "webnlg"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=REPOSITORY, bufsize=0, stdin=pipe, stderr=pipe) as reader:
        assert reader.stdin
        assert reader.stderr
        with suppress(BrokenPipeError):
            for _ in range(1000):
                reader.stdin.write(content * MEGABYTE)
        error = reader.stderr.read().decode()
    assert reader.returncode == 2
    assert "standard input:1: is longer than 16,000,000 bytes" in error
