"""A run that was cut off goes on to what an uninterrupted one gives, to the last bit."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.folders import read_manifest
from tests.support.damage import DAMAGE, no_file_larger_than, replace
from tests.support.processes import forked, wait_until
from training import adapters, batches, lora
from training.config import TrainingConfig
from training.lora import TrainingResult, train
from training.objectives import likelihood

Tune = Callable[..., TrainingResult]
WEIGHTS = "adapter_model.safetensors"
LONG = ("optimization.epochs=4", "optimization.batch_size=3", "lora.target_modules=all-linear")
OF_MINI = ("data.corpus=mini", "data.limit=30", "optimization.epochs=12")


@contextmanager
def broken_at(step: int, error: BaseException | None = None) -> Iterator[None]:
    """Raise the error, by default an interrupt, in place of the loss of this step, from 1."""
    plain, calls = batches.target_loss, 0
    error = error or KeyboardInterrupt()

    def break_off(*args: Any) -> torch.Tensor:  # noqa: ANN401 - of target_loss
        nonlocal calls
        calls += 1
        if calls == step:
            raise error
        return plain(*args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(likelihood, "target_loss", break_off)
        yield


def cut(step: int, tune: Tune, *settings: str, **how: str) -> None:
    with broken_at(step), pytest.raises(KeyboardInterrupt):
        tune(*settings, **how)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return the file that a run goes on from."""
    return tmp_path / "adapter.unfinished"


def test_a_killed_process_leaves_nothing_that_passes_for_an_adapter_and_can_be_gone_on_with(
    configure: Callable[..., TrainingConfig], tune: Tune, place: Path
) -> None:
    settings = (*OF_MINI, "optimization.save_steps=2")
    killed = configure(*settings)
    process = forked(train, killed, progress=False)
    wait_until(place.exists, process)
    process.kill()
    process.join()
    assert not killed.output.exists()
    result = tune(*settings)
    assert 2 <= read_manifest(killed.output)["resumed_from"] < len(result.losses) == 36
    whole = tune(*OF_MINI, to="whole")
    assert result.losses == whole.losses
    assert (killed.output / WEIGHTS).read_bytes() == (whole.folder / WEIGHTS).read_bytes()


def test_a_run_is_not_gone_on_with_under_other_settings(tune: Tune, place: Path) -> None:
    cut(9, tune, *LONG)
    other = (*LONG, "lora.r=4", "optimization.learning_rate=1e-3")
    with pytest.raises(ConfigError) as caught:
        tune(*other)
    assert "settings.lora.r, settings.optimization.learning_rate" in caught.value.what
    assert caught.value.where == str(place)
    assert read_manifest(tune(*other, "overwrite=true").folder)["resumed_from"] == 0


SHAPES = [5, [1], {}, {"facts": 5}, {"facts": {}, "state": {}}]


@pytest.mark.parametrize("content", [*sorted(DAMAGE.keys() - {"nothing"}), *SHAPES], ids=str)
def test_a_file_that_training_did_not_write_is_named(
    tune: Tune, place: Path, content: object
) -> None:
    if isinstance(content, str):
        replace(place, content)
    else:
        torch.save(content, place)
    with pytest.raises(ConfigError, match=r"cannot be|is of a run") as caught:
        tune()
    assert caught.value.where == str(place)
    assert caught.value.remedy


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: 9 bytes"),
        MemoryError(),
    ],
    ids=["gpu", "cpu", "python"],
)
def test_a_lack_of_memory_is_an_error_with_a_remedy(tune: Tune, error: Exception) -> None:
    with broken_at(2, error), pytest.raises(ConfigError, match="at step 2 of 2") as caught:
        tune()
    assert "Halve optimization.batch_size" in str(caught.value.remedy)
    with broken_at(1, RuntimeError("shapes differ")), pytest.raises(RuntimeError, match="shapes"):
        tune()


def test_settings_that_need_less_memory_go_on_from_what_is_done(tune: Tune) -> None:
    settings = ("optimization.epochs=3", "optimization.batch_size=4", "lora.lora_dropout=0")
    less = (
        "optimization.batch_size=2",
        "optimization.gradient_accumulation=2",
        "optimization.packing=true",
    )
    expected = tune(*settings, name="t5", to="whole")
    cut(8, tune, *settings, name="t5")
    result = tune(*settings, *less, name="t5")
    assert result.losses[:6] == expected.losses[:6]
    assert result.losses == pytest.approx(expected.losses, rel=1e-5)
    assert read_manifest(result.folder)["resumed_from"] == 6


def test_a_disk_too_full_for_the_state_is_an_error(tune: Tune, tmp_path: Path) -> None:
    with no_file_larger_than(2000), pytest.raises(ConfigError, match=r"unfinished: cannot be writ"):
        tune()
    assert list(tmp_path.iterdir()) == []


def test_a_disk_too_full_for_the_adapter_is_an_error_and_the_state_is_kept(
    tune: Tune, tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_little(*args: Any) -> None:  # noqa: ANN401 - of save_weights
        with no_file_larger_than(2000):
            adapters.save_weights(*args)

    with monkeypatch.context() as patch:
        patch.setattr(lora, "save_weights", write_little)
        with pytest.raises(ConfigError, match="adapter: cannot be written"):
            tune()
    assert list(tmp_path.iterdir()) == [place]
    assert read_manifest(tune().folder)["resumed_from"] == 2
