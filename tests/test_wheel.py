"""What users install: the wheel, by itself, away from the checkout."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

from tests.conftest import REPOSITORY


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    subprocess.run([*build, str(REPOSITORY)], check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return path


def test_the_wheel_holds_the_package_alone_with_its_data(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"spor_tasks"}
    data = [path for path in (REPOSITORY / "spor_tasks").rglob("*") if path.is_file()]
    shipped = {str(path.relative_to(REPOSITORY)) for path in data if "__pycache__" not in str(path)}
    assert shipped <= names
    assert {"spor_tasks/tasks/spor/_base", "spor_tasks/tasks/spor/README.md"} < shipped


def test_the_citation_names_the_version_that_is_built(wheel: Path) -> None:
    cited = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text("utf-8"))
    assert wheel.name.startswith(f"spor_tasks-{cited['version']}-")


# What a base install lacks, since only the extras bring it.
EXTRAS = ("torch", "transformers", "peft", "accelerate", "tokenizers", "matplotlib", "submitit")
SCRIPT = """
import sys
from pathlib import Path

*extras, frozen = sys.argv[1:]
sys.modules.update(dict.fromkeys(extras))  # an import of these fails
import spor_tasks
from spor_tasks.cli import main

print(spor_tasks.__file__)
assert main(["tasks", "list"]) == 0
sets = ["--corpus", "mini", "--aspect", "systematicity", "--out", "sets"]
assert main(["data", "build", *sets]) == 0
assert main(["data", "check", "sets"]) == 0
Path("rows").write_text('{"data": [["a", "b", "c"]], "texts": ["a c"], "output": "a c"}')
assert main(["score", "rows", "--metric", "parent", "--corpus", "webnlg"]) == 0
assert main(["report", frozen, "--out", "report"]) == 0
"""


def test_the_wheel_without_extras_does_all_that_needs_no_model(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *EXTRAS, REPOSITORY / "tests" / "data" / "runs"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path), "HF_HUB_OFFLINE": "1"},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(tmp_path))
    assert (tmp_path / "report" / "page.html").exists()
