"""The demo, cut down to seconds."""

import json
from pathlib import Path

import pytest

from training.demo import demonstrate

OVERRIDES = (
    *("seeds=[0]", "evaluation.limit=3"),
    *("optimization.max_steps=2", "optimization.batch_size=2"),
)
FOLDER = Path("runs/demo")


def test_it_compares_both_arms_with_the_base(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert demonstrate("mini", OVERRIDES, workers=1, progress=False)
    report = json.loads((FOLDER / "report.json").read_bytes())
    rows = {row["arm"]: row for row in report["rows"] if row["metric"] == "parent"}
    assert list(rows) == ["as is", "atom", "combination", "difference"]
    assert {(row["task"], row["n"]) for row in rows.values()} == {("spor_systematicity_mini", 3)}
    difference = rows["atom"]["value"] - rows["combination"]["value"]
    assert rows["difference"]["value"] == pytest.approx(difference)
    assert capsys.readouterr().out.endswith(f"{FOLDER / 'page.html'}\n")
