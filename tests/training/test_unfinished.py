"""A run that was cut off goes on to what an uninterrupted one gives, to the last bit."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.folders import read_manifest
from spor_tasks.core.sample import SplitPair
from tests.conftest import REPOSITORY
from tests.support.damage import DAMAGE, no_file_larger_than, replace
from training import batches, lora, manifest
from training.config import TrainingConfig
from training.lora import train
from training.objectives import likelihood
from training.settings import dump_settings

Configure = Callable[..., TrainingConfig]
WEIGHTS = "adapter_model.safetensors"
LONG = ("optimization.epochs=4", "optimization.batch_size=3", "lora.target_modules=all-linear")
OF_MINI = ("data.corpus=mini", "data.limit=30", "optimization.epochs=12")


@contextmanager
def broken_at(step: int, error: BaseException) -> Iterator[None]:
    """Raise the error in place of the loss of this step, the first being 1."""
    plain, calls = batches.target_loss, 0

    def break_off(*args: Any) -> torch.Tensor:  # noqa: ANN401 - of target_loss
        nonlocal calls
        calls += 1
        if calls == step:
            raise error
        return plain(*args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(likelihood, "target_loss", break_off)
        yield


@pytest.mark.parametrize("name", ["llama", "t5"])
@pytest.mark.parametrize(("save_steps", "kept"), [(5, 10), (100, 8)])
def test_a_run_goes_on_to_the_same_losses_and_bytes(
    configure: Configure, invented: SplitPair, name: str, save_steps: int, kept: int
) -> None:
    whole = configure(*LONG, name=name)
    output = whole.output.with_name("cut")
    cut = configure(*LONG, f"optimization.save_steps={save_steps}", f"output={output}", name=name)
    expected = train(whole, invented, progress=False)
    assert len(expected.losses) == 16
    with broken_at(11, KeyboardInterrupt()), pytest.raises(KeyboardInterrupt):
        train(cut, invented, progress=False)
    assert not output.exists()
    torch.manual_seed(99)  # as in another process
    result = train(cut, invented, progress=False)
    assert result.losses == expected.losses
    assert (output / WEIGHTS).read_bytes() == (whole.output / WEIGHTS).read_bytes()
    assert read_manifest(output)["resumed_from"] == kept
    assert sorted(path.name for path in output.parent.iterdir()) == ["adapter", "cut"]


def test_scores_and_the_best_weights_are_gone_on_with_too(configure: Configure) -> None:
    judged = ("selection.policy=dev-best", "selection.samples=2")
    settings = (*OF_MINI, *judged, "optimization.epochs=3", "optimization.learning_rate=1e-2")
    whole = configure(*settings)
    output = whole.output.with_name("cut")
    cut = configure(*settings, f"output={output}")
    train(whole, progress=False)
    with broken_at(8, KeyboardInterrupt()), pytest.raises(KeyboardInterrupt):
        train(cut, progress=False)
    train(cut, progress=False)
    expected, found = (read_manifest(folder)["selection"] for folder in (whole.output, output))
    assert len(found["scores"]) == 3
    assert (found["scores"], found["epoch"]) == (expected["scores"], expected["epoch"])
    assert (output / WEIGHTS).read_bytes() == (whole.output / WEIGHTS).read_bytes()


def test_a_killed_process_leaves_nothing_that_passes_for_an_adapter_and_can_be_gone_on_with(
    configure: Configure, tmp_path: Path
) -> None:
    killed = configure(*OF_MINI, "optimization.save_steps=2")
    file = tmp_path / "some.yaml"
    file.write_text(dump_settings(killed))
    unfinished = tmp_path / "adapter.unfinished"
    with subprocess.Popen(
        [sys.executable, "-m", "training", "train", str(file)],
        cwd=REPOSITORY,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        deadline = time.monotonic() + 120
        while not unfinished.exists() and time.monotonic() < deadline:
            assert process.poll() is None
            time.sleep(0.002)
        process.kill()
    assert not killed.output.exists()
    result = train(killed, progress=False)
    assert 2 <= read_manifest(killed.output)["resumed_from"] < len(result.losses) == 36

    whole = configure(*OF_MINI, f"output={tmp_path / 'whole'}")
    assert result.losses == train(whole, progress=False).losses
    assert (killed.output / WEIGHTS).read_bytes() == (whole.output / WEIGHTS).read_bytes()


def test_nothing_is_left_of_a_state_that_a_killed_process_had_half_written(
    configure: Configure, invented: SplitPair
) -> None:
    config = configure()
    half = config.output.with_name(".adapter.unfinished.abcdefgh.partial")
    half.write_bytes(b"half of a state")
    train(config, invented, progress=False)
    assert list(config.output.parent.iterdir()) == [config.output]


def test_a_run_is_not_gone_on_with_under_other_settings(
    configure: Configure, invented: SplitPair
) -> None:
    with broken_at(9, KeyboardInterrupt()), pytest.raises(KeyboardInterrupt):
        train(configure(*LONG), invented, progress=False)
    other = (*LONG, "lora.rank=4", "optimization.learning_rate=1e-3")
    with pytest.raises(ConfigError) as caught:
        train(configure(*other), invented, progress=False)
    different = "settings.lora.rank, settings.optimization.learning_rate"
    assert caught.value.what == f"is of a run with other {different}"
    assert caught.value.where == f"{configure().output}.unfinished"
    train(configure(*other, "overwrite=true"), invented, progress=False)
    assert read_manifest(configure().output)["resumed_from"] == 0


@pytest.mark.parametrize("content", [b"", b"no torch file", b"PK\x03\x04"])
def test_a_damaged_file_is_named(configure: Configure, invented: SplitPair, content: bytes) -> None:
    place = configure().output.with_name("adapter.unfinished")
    place.write_bytes(content)
    with pytest.raises(ConfigError, match=r"adapter\.unfinished: cannot be read"):
        train(configure(), invented, progress=False)
    assert place.read_bytes() == content


@pytest.mark.parametrize("kind", sorted(DAMAGE.keys() - {"nothing"}))
def test_what_is_no_file_of_training_is_named(
    configure: Configure, invented: SplitPair, kind: str
) -> None:
    replace(configure().output.with_name("adapter.unfinished"), kind)
    with pytest.raises(ConfigError, match=r"adapter\.unfinished: cannot be read"):
        train(configure(), invented, progress=False)


@pytest.mark.parametrize(
    "value",
    [5, [1], {}, {"facts": 5}, {"facts": {}, "state": {}}],
    ids=["number", "list", "nothing", "facts", "no random state"],
)
def test_a_file_of_another_shape_is_named(
    configure: Configure, invented: SplitPair, value: object
) -> None:
    torch.save(value, configure().output.with_name("adapter.unfinished"))
    with pytest.raises(ConfigError, match=r"adapter\.unfinished: (cannot be read|is of a run)"):
        train(configure(), invented, progress=False)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("random", []),
        ("random", [{"cpu": 5}]),
        ("random", [{"cpu": torch.zeros(3)}]),
        ("random", [{"cpu": torch.zeros(3, dtype=torch.uint8)}]),
        ("state", 5),
    ],
)
def test_a_wrong_state_of_the_run_is_named(
    configure: Configure, invented: SplitPair, key: str, value: object
) -> None:
    with broken_at(9, KeyboardInterrupt()), pytest.raises(KeyboardInterrupt):
        train(configure(*LONG), invented, progress=False)
    place = configure().output.with_name("adapter.unfinished")
    torch.save(torch.load(place) | {key: value}, place)
    with pytest.raises(ConfigError, match=r"adapter\.unfinished: cannot be read"):
        train(configure(*LONG), invented, progress=False)


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: 9 bytes"),
        MemoryError(),
    ],
    ids=["gpu", "cpu", "python"],
)
def test_where_memory_ends_the_settings_that_need_less_go_on_from_what_is_done(
    configure: Configure, invented: SplitPair, error: Exception
) -> None:
    settings = ("optimization.epochs=3", "optimization.batch_size=4", "lora.dropout=0")
    expected = train(
        configure(*settings, f"output={configure().output}-whole"), invented, progress=False
    )
    with broken_at(8, error), pytest.raises(ConfigError, match="at step 8 of 9") as caught:
        train(configure(*settings), invented, progress=False)
    assert "Halve optimization.batch_size and double optimization.gradient_acc" in str(caught.value)
    less = (
        "optimization.batch_size=2",
        "optimization.gradient_accumulation=2",
        "optimization.gradient_checkpointing=true",
        "optimization.packing=true",
    )
    result = train(configure(*settings, *less), invented, progress=False)
    assert result.losses[:6] == expected.losses[:6]
    assert result.losses == pytest.approx(expected.losses, rel=1e-5)
    assert read_manifest(result.adapter)["resumed_from"] == 6


def test_another_fault_is_not_taken_for_a_lack_of_memory(
    configure: Configure, invented: SplitPair
) -> None:
    with broken_at(1, RuntimeError("shapes differ")), pytest.raises(RuntimeError, match="shapes"):
        train(configure(), invented, progress=False)


def test_a_disk_too_full_to_go_on_from_is_told(configure: Configure, invented: SplitPair) -> None:
    config = configure()
    with no_file_larger_than(2000), pytest.raises(ConfigError, match=r"unfinished: cannot be writ"):
        train(config, invented, progress=False)
    assert list(config.output.parent.iterdir()) == []


def test_a_disk_too_full_for_the_adapter_is_told_and_what_is_done_is_kept(
    configure: Configure, invented: SplitPair, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, write = configure(), manifest._write

    def write_little(*args: Any) -> None:  # noqa: ANN401 - of _write
        with no_file_larger_than(2000):
            write(*args)

    with monkeypatch.context() as patch:
        patch.setattr(manifest, "_write", write_little)
        with pytest.raises(ConfigError, match="adapter: cannot be written"):
            train(config, invented, progress=False)
    (left,) = config.output.parent.iterdir()
    assert left.name == "adapter.unfinished"
    train(config, invented, progress=False)
    assert read_manifest(config.output)["resumed_from"] == 2


def test_two_runs_do_not_write_one_folder(configure: Configure, invented: SplitPair) -> None:
    def try_the_same(*_: object, **__: object) -> Any:  # noqa: ANN401 - never returns
        with pytest.raises(ConfigError, match="is being written by another process"):
            train(configure(), invented, progress=False)
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lora, "fit", try_the_same)
        with pytest.raises(KeyboardInterrupt):
            train(configure(), invented, progress=False)
