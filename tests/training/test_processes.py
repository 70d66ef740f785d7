"""Two processes that `accelerate launch` starts learn what one does."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from spor_tasks.core.folders import read_manifest
from tests.conftest import REPOSITORY
from training.config import TrainingConfig
from training.lora import train
from training.settings import dump_settings


def test_two_processes_give_the_losses_and_scores_of_one(
    configure: Callable[..., TrainingConfig], tmp_path: Path
) -> None:
    """Five pairs in steps of four: one process has no share of the last step.

    That the two pack their pairs, and the one does not, makes no difference either.
    """
    settings = (
        "data.corpus=mini",
        "data.limit=5",
        "optimization.batch_size=2",
        "optimization.gradient_accumulation=2",
        "optimization.epochs=2",
        "optimization.learning_rate=1e-2",
        "lora.lora_dropout=0",
        "selection.policy=dev-best",
        "selection.samples=3",
    )
    one = configure(*settings, f"output={tmp_path / 'one'}")
    two = configure(*settings, "optimization.packing=true", f"output={tmp_path / 'two'}")
    file = tmp_path / "two.yaml"
    file.write_text(dump_settings(two))
    launch = "--multi_gpu --num_processes 2 --num_machines 1 --mixed_precision no"
    command: list[str | Path] = [
        Path(sys.executable).parent / "accelerate",
        *f"launch {launch} --dynamo_backend no --main_process_port 0 -m training train".split(),
        file,
    ]
    # In spite of its name the launcher takes processors too, if it is told to.
    environment = {**os.environ, "ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, env=environment, cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("pairs/s") == 1, "the first process speaks for both"

    train(one, progress=False)
    expected, found = (read_manifest(config.output) for config in (one, two))
    assert (expected["processes"], found["processes"]) == (1, 2)
    assert found["losses"] == pytest.approx(expected["losses"], rel=1e-5)
    for here, there in zip(*(m["selection"]["scores"] for m in (found, expected)), strict=True):
        assert here == pytest.approx(there)
    assert not list(tmp_path.glob("*.unfinished"))
