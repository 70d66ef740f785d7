"""The demo, cut down to seconds: what it leaves behind, and what it does not do twice."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from training.demo import demonstrate
from training.experiments import cells

OVERRIDES = (
    *("seeds=[0]", "evaluation.limit=3"),
    *("optimization.max_steps=2", "optimization.batch_size=2"),
)


def short(overrides: Sequence[str] = OVERRIDES) -> bool:
    return demonstrate("mini", overrides, workers=1, progress=False)


FOLDER = Path("runs/demo")
CELLS = FOLDER / "mini" / "systematicity-mini-strict"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the working directory of a demo that ran to its end."""
    directory = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(directory)
        assert short()
    return directory


@pytest.fixture
def again(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a copy of that directory."""
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list in which every step that is really done gets noted."""
    noted: list[str] = []

    def note(module: Any, name: str, label: str) -> None:  # noqa: ANN401
        original = getattr(module, name)

        def noting(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            noted.append(label)
            return original(*args, **kwargs)

        monkeypatch.setattr(module, name, noting)

    note(cells, "_train", "train")
    note(cells, "_evaluate", "evaluate")
    return noted


def test_it_leaves_a_table_of_both_arms_and_the_base(finished: Path) -> None:
    numbers = json.loads((finished / FOLDER / "report.json").read_text())["rows"]
    rows = {row["arm"]: row for row in numbers if row["metric"] == "parent"}
    assert list(rows) == ["as is", "atom", "combination", "difference"]
    for row in rows.values():
        assert (row["task"], row["n"]) == ("spor_systematicity_mini", 3)
        assert row["value"] is not None
    assert [rows[arm]["seeds"] for arm in ("atom", "combination")] == ["0", "0"]
    difference = rows["atom"]["value"] - rows["combination"]["value"]
    assert rows["difference"]["value"] == pytest.approx(difference)
    assert rows["difference"]["interval_over"] == "samples"
    assert "## Systematicity: mini, strict sets" in (finished / FOLDER / "report.md").read_text()
    for name in ("untuned", "atom-0", "combination-0"):
        (file,) = (finished / CELLS / name).rglob("samples_*.jsonl")
        assert len(file.read_text().splitlines()) == 3


@pytest.mark.usefixtures("again")
def test_a_finished_demo_only_reports(done: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    report = (FOLDER / "report.json").read_bytes()
    assert short()
    assert done == []
    assert (FOLDER / "report.json").read_bytes() == report
    out = capsys.readouterr().out
    assert "Systematicity: mini, strict sets" in out
    assert out.endswith(f"{FOLDER / 'page.html'}\n")


@pytest.mark.usefixtures("again")
def test_a_lost_adapter_is_trained_again_to_the_same_weights(done: list[str]) -> None:
    shutil.rmtree(CELLS / "atom-0" / "adapter")
    assert short()
    assert done == ["train"]  # its result is known by its weights


@pytest.mark.usefixtures("again")
def test_an_adapter_of_other_settings_is_replaced_and_a_foreign_folder_is_not(
    done: list[str],
) -> None:
    shutil.rmtree(CELLS / "atom-0" / "adapter")
    (CELLS / "atom-0" / "adapter").mkdir()
    (CELLS / "atom-0" / "adapter" / "thesis.txt").write_text("years of work")
    assert not short(["lora.r=4", *OVERRIDES])
    assert done == ["train", "train", "evaluate"]
    assert (CELLS / "atom-0" / "adapter" / "thesis.txt").read_text() == "years of work"
    assert "refusing to overwrite" in (CELLS / "atom-0" / "error.txt").read_text()
