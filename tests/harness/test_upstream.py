"""The patch that we propose to lm-eval: it fits the installed release, and mends its faults."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import lm_eval
import pytest

from tests.conftest import REPOSITORY
from tests.support.damage import SOAK

UPSTREAM = REPOSITORY / "docs" / "upstream"


@pytest.fixture
def patched(tmp_path: Path) -> Path:
    """A folder with the installed lm-eval, patched."""
    installed, copy = Path(lm_eval.__file__).parent, tmp_path / "lm_eval"
    copy.mkdir()
    for path in installed.iterdir():
        if path.name != "models":
            (copy / path.name).symlink_to(path)
    shutil.copytree(installed / "models", copy / "models")
    patch = UPSTREAM / "hf-generation.diff"
    subprocess.run(["git", "apply", patch], cwd=tmp_path, check=True)  # noqa: S607
    return tmp_path


def test_the_patch_fits_the_installed_release(patched: Path) -> None:
    mended, installed = patched / "lm_eval" / "models", Path(lm_eval.__file__).parent / "models"
    assert (mended / "huggingface.py").read_bytes() != (installed / "huggingface.py").read_bytes()


@pytest.mark.skipif(SOAK == 1, reason="it takes half a minute: SPOR_SOAK is not set")
def test_the_patch_mends_what_the_reproduction_shows(patched: Path) -> None:
    paths = [str(patched), os.environ.get("PYTHONPATH", "")]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
    }
    command = [sys.executable, str(UPSTREAM / "reproduce.py")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert re.findall(r"batch \d: +(\d+) of 24", done.stdout) == ["24"] * 6
