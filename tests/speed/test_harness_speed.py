"""What evaluating costs beside the model. Targets: 20 s beyond lm-eval's own start, and 1.5 GB."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

pytestmark = pytest.mark.benchmark

SECONDS, GB = 20, 1.5


@pytest.mark.real_data
@pytest.mark.usefixtures("data_dir")
@pytest.mark.parametrize("tag", ["spor_webnlg", "spor_e2e"])
def test_an_instant_model(tag: str) -> None:
    command: list[str | Path] = [sys.executable, Path(__file__).with_name("instant_run.py"), tag]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(
        command,
        cwd=REPOSITORY,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    figures = json.loads(done.stdout.splitlines()[-1])
    print(
        f"\n{tag}, {figures['outputs']:,} outputs: {figures['ours']:.1f} s,"
        f" {figures['ours'] / SECONDS:.2f} of the target ({figures['processor']:.1f} s busy),"
        f" beyond the {figures['lm-eval']:.1f} s of importing lm-eval;"
        f" {figures['GB']:.2f} GB, {figures['GB'] / GB:.2f} of the target"
    )
