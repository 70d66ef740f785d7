"""The examples of the page about the Python interface, and the cells of the notebook, run."""

import json
import re

import matplotlib as mpl
import pytest

from tests.conftest import REPOSITORY

MODEL = "HuggingFaceTB/SmolLM2-135M-Instruct"
PAGE = REPOSITORY / "docs" / "api.md"
NOTEBOOK = PAGE.with_name("notebook.ipynb")


@pytest.fixture
def shown(tmp_path, monkeypatch, checkpoint):
    """Run examples one after another with a tiny model, in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    mpl.use("agg")
    model, names = str(checkpoint()), {}

    def run(examples):
        for example in examples:
            exec(example.replace(MODEL, model), names)  # noqa: S102
        return names

    return run


def test_the_page_goes_as_it_is_written(shown, capsys):
    found = shown(
        re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    )
    assert found["page"].is_file()
    assert len(found["results"].samples) == 8
    assert "parent" in capsys.readouterr().out


def test_the_notebook_goes_to_its_end(shown):
    cells = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert all(cell["outputs"] for cell in cells[3:] if cell["cell_type"] == "code")
    found = shown(code)
    assert found["page"].is_file()
    assert set(found["table"].second) == {"smollm2"}
