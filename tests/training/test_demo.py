"""The demo, cut down to seconds: what it leaves behind, and what it does not do twice."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from spor_tasks.errors import ConfigError, ResultError
from spor_tasks.splits import registry
from training import base, demo
from training.base import BaseSettings
from training.demo import DemoSettings

SHORT = DemoSettings(
    base=BaseSettings(width=16, layers=1, heads=2, worlds=1, steps=3),
    seeds=(0,),
    overrides=("optimization.max_steps=2", "optimization.batch_size=2"),
    limit=3,
)


FOLDER = Path("runs/demo")
CHECKPOINTS = ["atom-0", "combination-0"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the working directory of a demo that ran to its end."""
    directory = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(directory)
        demo.run(FOLDER, SHORT, progress=False)
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

    def note(module: Any, name: str, label: Callable[..., str]) -> None:  # noqa: ANN401
        original = getattr(module, name)

        def noting(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            noted.append(label(*args))
            return original(*args, **kwargs)

        monkeypatch.setattr(module, name, noting)

    note(base, "build", lambda *_: "build")
    note(demo, "train", lambda config, _: f"train {config.output.name}")
    note(demo, "_evaluate", lambda _, place, __: f"evaluate {place.name.rpartition('-')[0]}")
    return noted


def test_it_leaves_a_table_of_both_arms_and_the_base(finished: Path) -> None:
    row = first_row(finished / FOLDER)
    assert (row["task"], row["metric"]) == ("spor_systematicity_mini", "parent")
    assert row["n"] == 3
    assert row["as_is"]["mean"] is not None
    assert list(row["arms"]) == ["atom", "combination"]
    assert all(arm["seeds"] == [0] for arm in row["arms"].values())
    means = [arm["mean"] for arm in row["arms"].values()]
    assert row["difference"]["value"] == means[0] - means[1]
    assert row["difference"]["interval"]["source"] == "samples"
    assert "## Systematicity: mini, strict sets" in (finished / FOLDER / "report.md").read_text()


def first_row(folder: Path) -> dict[str, Any]:
    (table,) = json.loads((folder / "report.json").read_text())["tables"]
    row: dict[str, Any] = table["rows"][0]
    return row


def test_what_each_checkpoint_wrote_is_there_to_be_read(finished: Path) -> None:
    for name in ("base", *CHECKPOINTS):
        (file,) = (finished / FOLDER / "results").glob(f"{name}-*/*/samples_*.jsonl")
        assert len(file.read_text().splitlines()) == 3


@pytest.mark.usefixtures("again")
def test_a_finished_demo_only_reports(done: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    report = (FOLDER / "report.json").read_bytes()
    demo.run(FOLDER, SHORT, progress=False)
    assert done == []
    assert (FOLDER / "report.json").read_bytes() == report
    assert "Systematicity: mini, strict sets" in capsys.readouterr().out


def test_a_demo_that_was_cut_goes_on_where_it_was(
    done: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(demo, "_result", cut_at("combination-0", demo._result))
        with pytest.raises(KeyboardInterrupt):
            demo.run(FOLDER, SHORT, progress=False)
    first = ["build", "evaluate base", "train atom-0", "evaluate atom-0", "train combination-0"]
    assert done == first
    done.clear()
    demo.run(FOLDER, SHORT, progress=False)
    assert done == ["evaluate combination-0"]


def cut_at(name: str, result: Callable[..., Path]) -> Callable[..., Path]:
    def cut(*args: Any) -> Path:  # noqa: ANN401
        if args[-1].name == name:
            raise KeyboardInterrupt
        return result(*args)

    return cut


@pytest.mark.usefixtures("again")
def test_a_lost_adapter_is_trained_again_to_the_same_weights(done: list[str]) -> None:
    shutil.rmtree(FOLDER / "adapters" / "atom-0")
    demo.run(FOLDER, SHORT, progress=False)
    assert done == ["train atom-0"]  # its result is known by its weights


@pytest.mark.usefixtures("again")
def test_a_damaged_result_is_made_again(done: list[str]) -> None:
    (file,) = (FOLDER / "results").glob("atom-0-*/*/results_*.json")
    file.write_bytes(file.read_bytes()[:100])
    demo.run(FOLDER, SHORT, progress=False)
    assert done == ["evaluate atom-0"]


@pytest.mark.usefixtures("again")
def test_other_settings_and_further_seeds_are_trained(done: list[str]) -> None:
    more = replace(SHORT, seeds=(0, 1), overrides=(*SHORT.overrides, "lora.rank=2"))
    demo.run(FOLDER, more, progress=False)
    names = [*CHECKPOINTS, "atom-1", "combination-1"]
    assert done == [f"{step} {name}" for name in names for step in ("train", "evaluate")]
    assert all(arm["seeds"] == [0, 1] for arm in first_row(FOLDER)["arms"].values())


@pytest.mark.usefixtures("again")
def test_another_base_takes_everything_with_it(done: list[str]) -> None:
    other = replace(SHORT, base=replace(SHORT.base, seed=1))
    demo.run(FOLDER, other, progress=False)
    trained = [f"{step} {name}" for name in CHECKPOINTS for step in ("train", "evaluate")]
    assert done == ["build", "evaluate base", *trained]


@pytest.mark.usefixtures("again")
@pytest.mark.parametrize("name", ["base", "adapters/atom-0"])
def test_what_is_not_the_demos_is_never_replaced(name: str) -> None:
    place = FOLDER / name
    shutil.rmtree(place)
    place.mkdir()
    (place / "thesis.txt").write_text("years of work")
    with pytest.raises(ConfigError, match="never replaced"):
        demo.run(FOLDER, SHORT, progress=False)
    assert (place / "thesis.txt").read_text() == "years of work"


def test_a_result_that_cannot_be_written_is_an_error(
    monkeypatch: pytest.MonkeyPatch, finished: Path, tmp_path: Path
) -> None:
    monkeypatch.chdir(finished)
    monkeypatch.setattr(demo, "_evaluate", lambda *_: None)  # as lm-eval's writer fails: silently
    pair = registry.load("systematicity", "mini")
    with pytest.raises(ResultError, match="left no result"):
        demo._result(tmp_path, pair, 3, FOLDER / "base")
