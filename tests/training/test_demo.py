"""The demo, cut down to seconds: what it leaves behind, and what it does not do twice."""

import json
from pathlib import Path

import pytest

from training.demo import demonstrate
from training.experiments import cells

OVERRIDES = (
    *("seeds=[0]", "evaluation.limit=3"),
    *("optimization.max_steps=2", "optimization.batch_size=2"),
)
FOLDER = Path("runs/demo")


def short() -> bool:
    return demonstrate("mini", OVERRIDES, workers=1, progress=False)


def test_it_compares_both_arms_with_the_base_and_does_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert short()
    report = (FOLDER / "report.json").read_bytes()
    rows = {row["arm"]: row for row in json.loads(report)["rows"] if row["metric"] == "parent"}
    assert list(rows) == ["as is", "atom", "combination", "difference"]
    assert {(row["task"], row["n"]) for row in rows.values()} == {("spor_systematicity_mini", 3)}
    difference = rows["atom"]["value"] - rows["combination"]["value"]
    assert rows["difference"]["value"] == pytest.approx(difference)

    capsys.readouterr()
    with monkeypatch.context() as patch:
        for step in ("_train", "_evaluate"):
            patch.delattr(cells, step)
        assert short()
    assert (FOLDER / "report.json").read_bytes() == report
    assert capsys.readouterr().out.endswith(f"{FOLDER / 'page.html'}\n")
