"""`spor data write`: the embedded corpus as files."""

import hashlib
import json
from pathlib import Path

import pytest

from spor_tasks import cli
from spor_tasks.aspects import named
from spor_tasks.benchmarks.spor import released
from spor_tasks.core.codec import to_row
from spor_tasks.core.digests import digest
from spor_tasks.harness import task_files


def test_the_embedded_corpus_is_written_as_a_release_would_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["data", "write", "mini", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"{tmp_path}\n"
    assert any((tmp_path / "train").rglob("*.xml"))
    pair = named.load("systematicity", "mini")
    for name, split in zip(
        [
            "train_mini_systematicity_atom",
            "train_mini_systematicity_combination",
            "test_mini_systematicity",
        ],
        pair.splits,
        strict=True,
    ):
        lines = (tmp_path / released.path(name)).read_text().splitlines()
        assert [json.loads(line) for line in lines] == [to_row(sample) for sample in split.samples]


def test_the_digest_of_a_written_set_is_that_of_its_file(tmp_path: Path) -> None:
    cli.main(["data", "write", "mini", str(tmp_path)])
    file = tmp_path / released.path("test_mini_systematicity")
    metadata = next(f.content["metadata"] for f in task_files.expand(["spor_systematicity_mini"]))
    pair = named.load("systematicity", "mini")
    assert digest(pair.test.samples) == metadata["test_sha256"]
    assert hashlib.sha256(file.read_bytes()).hexdigest() == metadata["test_sha256"]
