"""`spor data twins`: how many samples have a twin, and why the others have none."""

import json
from pathlib import Path

import pytest

from spor_tasks import cli
from spor_tasks.aspects import named


@pytest.mark.usefixtures("viggo_dir")
def test_every_sample_has_a_twin_or_a_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    some = tuple(spec for spec in named.available() if spec.name[:2] == ("systematicity", "viggo"))
    monkeypatch.setattr(named, "available", lambda: some)
    assert cli.main(["data", "twins", "viggo", "--json"]) == 0
    (counted,) = json.loads(capsys.readouterr().out)
    for each in counted["sets"]:
        assert each["twins"] + sum(each["without"].values()) == each["samples"]
    first = next(each for each in counted["sets"] if each["name"] == "systematicity viggo strict")
    assert first["twins"] == len(named.load("systematicity", "viggo", "twin").test.samples)
    assert cli.main(["data", "twins", "viggo"]) == 0
    shown = capsys.readouterr().out
    assert f"systematicity viggo strict: {first['twins']} of {first['samples']}" in shown
    assert all(reason in shown for reason in first["without"])


def test_a_corpus_without_twins_and_one_that_is_not_there(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli.main(["data", "twins", "mini"]) == 2
    assert "webnlg, e2e, viggo" in capsys.readouterr().err
    monkeypatch.setenv("VIGGO_DATA_DIR", str(tmp_path))
    assert cli.main(["data", "twins", "viggo"]) == 2
    assert str(tmp_path) in capsys.readouterr().err
