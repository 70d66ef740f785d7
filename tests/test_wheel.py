"""The files of the wheel that users install; `.ci/wheel` tries it in new environments."""

import subprocess
import sys
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


def test_the_citation_names_the_version_that_is_built(wheel):
    cited = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text("utf-8"))
    assert wheel.name.startswith(f"spor_tasks-{cited['version']}-")
