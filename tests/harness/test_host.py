"""lm-eval 0.4 and 0.5: the same model has the same scores, and their files report together.

`tests/data/lm_eval_next.json` has what 0.5.0.dev1 wrote. To write it again, delete it and run
`make next`.
"""

import importlib
import json
import logging
import os
import re
import shutil
import subprocess
import sys
from functools import partial
from importlib.metadata import version
from itertools import chain
from pathlib import Path

import lm_eval
import pytest
from lm_eval.loggers.utils import add_env_info
from torch.utils import collect_env

from spor_tasks import report
from spor_tasks.core.errors import ConfigError
from spor_tasks.harness import host
from spor_tasks.results import runs
from spor_tasks.results.samples import find
from tests.conftest import REPOSITORY
from tests.support.damage import SOAK
from tests.support.scripted import ScriptedLM, half_right, simple

NEXT = REPOSITORY / "tests" / "data" / "lm_eval_next.json"
TAG, LIMIT = "spor_mini", 4
PARTS = ("results", "configs", "n-samples", "n-shot")


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    """The files of the installed version."""
    found = simple(ScriptedLM(half_right), TAG, limit=LIMIT)
    content = {part: found[part] for part in PARTS}
    for config in content["configs"].values():
        config["metadata"].pop("config_source")
    content["config"] = {"model": "scripted", "model_args": {}}
    for row in chain.from_iterable(found["samples"].values()):
        row["arguments"] = {  # as lm-eval's tracker writes it
            f"gen_args_{number}": {f"arg_{at}": each for at, each in enumerate(of)}
            for number, of in enumerate(row["arguments"])
        }
    text = json.dumps({**content, "samples": found["samples"]}, indent=1, default=str) + "\n"
    if host.IS_NEW and not NEXT.exists():
        NEXT.write_text(text, "utf-8")
        pytest.fail(f"wrote {NEXT}: read it")
    return write(tmp_path_factory.mktemp("ours"), json.loads(text))


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    """The files of 0.5."""
    return write(tmp_path_factory.mktemp("theirs"), json.loads(NEXT.read_text("utf-8")))


def write(folder, content):
    for key, rows in content.pop("samples").items():
        lines = (json.dumps(row) + "\n" for row in rows)
        (folder / f"samples_{key}_1.jsonl").write_text("".join(lines), "utf-8")
    (folder / "results_1.json").write_text(json.dumps(content), "utf-8")
    return folder


def results(folder):
    return sorted(runs.collect([folder]).runs, key=lambda result: result.task)


def test_the_same_outputs_have_the_same_scores_and_samples(ours, theirs):
    pairs = list(zip(results(ours), results(theirs), strict=True))
    assert len(pairs) == 7
    for pair in pairs:
        one, other = pair
        assert one.task == other.task
        assert one.scores == pytest.approx(other.scores)
        assert one.log.stderrs == pytest.approx(other.log.stderrs)
        assert one.n == other.n == LIMIT
        records, others = (
            [(each.sample, each.contexts, each.scored, each.scores) for each in file.records()]
            for file in map(find, pair)
            if file
        )
        assert records == others


def test_files_of_both_are_one_report(ours, theirs):
    found = report.collect([ours, theirs])
    rows = [row for table in found.tables for row in table.rows if row.as_is.values]
    assert {row.task for row in rows} == {result.task for result in results(theirs)}
    assert {problem.kind for problem in found.problems} <= {"incomparable", "duplicate", "trial"}


# --- The patch that we propose to lm-eval ---------------------------------------------------------


UPSTREAM = REPOSITORY / "docs" / "upstream"


def test_the_patch_fits_and_mends_the_installed_release(tmp_path):
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


def test_an_error_that_ends_lm_eval_takes_its_own_lines(capsys):
    hook = host.as_spor(print)
    hook(ValueError, ValueError("other"), None)
    with pytest.raises(SystemExit) as ended:
        hook(ConfigError, ConfigError("wrong", where="file", remedy="Mend."), None)
    assert ended.value.code == 2
    printed = capsys.readouterr()
    assert printed.err == "error: file: wrong\n  Mend.\n"
    assert printed.out == "<class 'ValueError'> other None\n"


def test_a_program_without_logging_is_told_of_errors_and_by_this_package(capsys, monkeypatch):
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    theirs, own = (logging.getLogger(name) for name in ("lm_eval.utils", "spor_tasks.models"))
    with host.quietly():
        theirs.warning("theirs")
        theirs.error("an error")
        own.warning("ours")
    theirs.warning("afterwards")
    assert capsys.readouterr().err.split("\n") == ["an error", "ours", "afterwards", ""]


def test_the_machine_is_described_as_lm_eval_describes_it(monkeypatch, tmp_path):
    importlib.reload(collect_env)  # an evaluation before this may have changed it
    asked = partial(subprocess.run, [sys.executable, "-m", "pip", "list", "--format=freeze"])
    listed = asked(capture_output=True, text=True, check=True).stdout
    expected = collect_env.get_pip_packages(lambda _: (0, listed, ""))
    monkeypatch.setattr(collect_env, "get_pip_packages", collect_env.get_pip_packages)
    monkeypatch.setattr(collect_env, "get_pretty_env_info", lambda: collect_env.get_pip_packages(0))
    monkeypatch.delitem(sys.modules, "transformers", raising=False)
    (tmp_path / "damaged-1.0.dist-info").mkdir()
    (tmp_path / "damaged-1.0.dist-info" / "METADATA").touch()
    (tmp_path / "emptied-1.0.dist-info").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    facts = host.of_machine(add_env_info)
    assert facts["pretty_env_info"] == expected
    assert facts["transformers_version"] == version("transformers")
    assert "transformers" not in sys.modules
