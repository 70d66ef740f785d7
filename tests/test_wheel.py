"""The files of the wheel that users install; `.ci/wheel` tries it in new environments."""

import os
import re
import subprocess
import sys
import venv
import zipfile

import pytest
import yaml

from tests.conftest import REPOSITORY


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    pytest.importorskip("build")
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    subprocess.run([*build, str(REPOSITORY)], check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return path


def test_the_wheel_holds_both_packages_with_their_data(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {
        "spor_tasks",
        "training",
    }
    data = [path for path in (REPOSITORY / "spor_tasks").rglob("*") if path.is_file()]
    shipped = {str(path.relative_to(REPOSITORY)) for path in data if "__pycache__" not in str(path)}
    assert shipped <= names
    assert {"spor_tasks/tasks/spor/_base", "spor_tasks/tasks/spor/README.md"} < shipped
    assert "training/configs/models/mini.yaml" in names
    assert {"spor_tasks/py.typed", "training/py.typed"} < names


USES = """
from spor_tasks.core.sample import Sample
from training.settings import dump_settings

def texts(sample: Sample) -> int:
    reveal_type(dump_settings)
    return sample.references
"""


def test_a_users_mypy_sees_the_types(wheel, tmp_path):
    user, home = tmp_path / "user.py", tmp_path / "home"
    user.write_text(USES, "utf-8")
    venv.create(home, with_pip=False)
    (site,) = home.glob("lib/python*/site-packages")
    zipfile.ZipFile(wheel).extractall(site)
    command = [sys.executable, "-m", "mypy", "--python-executable", str(home / "bin" / "python")]
    options = ["--cache-dir", str(tmp_path / "cache"), "--config-file", os.devnull, str(user)]
    done = subprocess.run(
        [*command, *options], capture_output=True, encoding="utf-8", check=False, cwd=tmp_path
    )
    notes = re.findall(r'(?m)(?:type is|got) "(.*?)"', done.stdout)
    assert notes == ["def (settings: object) -> str", "tuple[str, ...]"], done.stdout


def test_the_citation_names_the_version_that_is_built(wheel):
    cited = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text("utf-8"))
    assert wheel.name.startswith(f"spor_tasks-{cited['version']}-")
