"""`spor data fetch`: what is copied, and what is printed of it."""

import shutil
from pathlib import Path

import pytest

from spor_tasks import cli
from spor_tasks.corpora import sources


def test_a_fetch_from_a_folder_that_lacks_a_file_names_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    assert cli.main(["data", "fetch", "--from", str(source), "--to", str(target)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert f"error: {source}" in printed.err
    assert "No such file" in printed.err
    assert not [path for path in target.rglob("*") if path.is_file()]


@pytest.mark.real_data
def test_a_fetch_from_a_local_copy_brings_every_file_and_says_whose_they_are(
    data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["data", "fetch", "--from", str(data_dir), "--to", str(tmp_path)]
    assert cli.main(arguments) == 0
    assert f"{tmp_path}: 214 fetched, 1 absent" in capsys.readouterr().out
    assert cli.main(arguments) == 0
    printed = capsys.readouterr().out
    assert f"{tmp_path}: 214 kept, 1 absent" in printed
    assert "webnlg: CC BY-NC-SA 4.0" in printed


def test_totto_is_fetched_from_a_copy(
    totto_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    for name in sources.TOTTO.files:
        shutil.copy(totto_dir / "train_sample.jsonl", source / name)
    arguments = ["data", "fetch", "--corpus", "totto", "--from", str(source), "--to", str(target)]
    assert cli.main(arguments) == 0
    printed = capsys.readouterr().out
    assert f"{target}: 3 fetched" in printed
    assert "totto: CC BY-SA 3.0" in printed
    assert "Parikh" in printed
    assert cli.main(arguments) == 0
    assert f"{target}: 3 kept" in capsys.readouterr().out


def test_an_archive_that_only_a_person_can_download_says_where_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "target"
    fetch = ["data", "fetch", "--corpus", "yelp", "--to", str(target)]
    assert cli.main(fetch) == 2
    printed = capsys.readouterr()
    assert (printed.out, target.exists()) == ("", False)
    assert sources.COMPMCTG.url in printed.err
    assert "--from data_compmctg.zip" in printed.err
    for name in sources.COMPMCTG.files:
        (tmp_path / "source" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "source" / name).write_text(f"{name}\n", "utf-8")
    assert cli.main([*fetch, "--from", str(tmp_path / "source")]) == 0
    printed = capsys.readouterr()
    assert f"{target}: 12 fetched" in printed.out
    assert "yelp: unknown" in printed.out
    assert sources.COMPMCTG.find("Yelp/gen.jsonl", target).read_text("utf-8") == "Yelp/gen.jsonl\n"
    assert cli.main(fetch) == 0
    assert f"{target}: 12 kept" in capsys.readouterr().out
