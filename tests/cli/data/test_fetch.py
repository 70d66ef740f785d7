"""`spor data fetch`: what is copied, and what is printed of it."""

from pathlib import Path

import pytest

from spor_tasks import cli


def test_a_fetch_from_a_folder_that_lacks_a_file_names_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    assert cli.main(["data", "fetch", "--from", str(source), "--to", str(target)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert f"error: {source}" in printed.err
    assert "does not exist" in printed.err
    assert not target.exists()


@pytest.mark.real_data
def test_a_fetch_from_a_local_copy_brings_every_file_and_says_whose_they_are(
    data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["data", "fetch", "--from", str(data_dir), "--to", str(tmp_path)]
    assert cli.main(arguments) == 0
    assert f"{tmp_path}: 214 fetched, 0 kept, 1 absent" in capsys.readouterr().out
    assert cli.main(arguments) == 0
    printed = capsys.readouterr().out
    assert f"{tmp_path}: 0 fetched, 214 kept, 1 absent" in printed
    assert "webnlg: CC BY-NC-SA 4.0" in printed
