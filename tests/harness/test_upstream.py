"""The patch that we propose to lm-eval fits the installed release and mends its faults."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import lm_eval

from tests.conftest import REPOSITORY
from tests.support.damage import SOAK

UPSTREAM = REPOSITORY / "docs" / "upstream"


def test_the_patch_fits_and_mends_the_installed_release(tmp_path: Path) -> None:
    installed, copy = Path(lm_eval.__file__).parent, tmp_path / "lm_eval"
    copy.mkdir()
    for path in installed.iterdir():
        if path.name != "models":
            (copy / path.name).symlink_to(path)
    shutil.copytree(installed / "models", copy / "models")
    patch = UPSTREAM / "hf-generation.diff"
    subprocess.run(["git", "apply", patch], cwd=tmp_path, check=True)  # noqa: S607
    name = "models/huggingface.py"
    assert (copy / name).read_bytes() != (installed / name).read_bytes()
    if SOAK > 1:  # half a minute
        paths = [str(tmp_path), os.environ.get("PYTHONPATH", "")]
        settings = {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
        done = subprocess.run(
            [sys.executable, str(UPSTREAM / "reproduce.py")],
            env={**os.environ, **settings, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
            capture_output=True,
            text=True,
            check=True,
        )
        assert re.findall(r"batch \d: +(\d+) of 24", done.stdout) == ["24"] * 6
