import importlib.util
import os
import runpy
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from spor_tasks.cli import main
from tests.conftest import REPOSITORY
from tests.support.processes import forked, wait_until
from training import demo
from training.experiments import run
from training.experiments.plan import expand
from training.settings import dump_settings


def test_without_the_extra_one_line_says_what_to_install(monkeypatch, capsys):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda x: None if x == "peft" else find(x))
    assert main(["demo"]) == 2
    assert "needs the package peft" in (said := capsys.readouterr().err)
    assert "pip install 'spor-tasks[train]'" in said


def test_the_module_is_the_command(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["training", "train", "none.yaml"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("training", run_name="__main__")
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("error: none.yaml: does not exist")


@pytest.mark.parametrize("words", [["demo", "seeds=[1]"], ["run", "x.yaml", "--dry-run", "--no=1"]])
def test_what_a_command_does_not_take_is_named(words, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(words)
    assert stopped.value.code == 2
    assert f"unrecognized arguments: {words[-1]}" in capsys.readouterr().err


def test_a_misspelt_option_gets_the_nearest(capsys):
    with pytest.raises(SystemExit):
        main(["run", "x.yaml", "--dryrun"])
    assert "The nearest names are --dry-run, " in capsys.readouterr().err


@pytest.mark.parametrize("rank", [None, "0"])
def test_sigterm_ends_a_command_as_an_interrupt_does_unless_it_was_launched(
    rank, capsys, monkeypatch
):
    handlers = []

    def demonstrate(_):
        handlers.append(signal.getsignal(signal.SIGTERM))
        if rank is None:
            signal.raise_signal(signal.SIGTERM)
        return True

    monkeypatch.setattr(demo, "demonstrate", demonstrate)
    if rank:
        monkeypatch.setenv("RANK", rank)
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    assert main(["demo"]) == (143 if rank is None else 0)
    signal.signal(signal.SIGTERM, before)
    assert (handlers == [signal.SIG_DFL]) == (rank is not None)
    assert ("interrupted: " in capsys.readouterr().err) == (rank is None)


def test_an_interrupt_leaves_nothing_behind(configure, tmp_path):
    file = tmp_path / "some.yaml"
    file.write_text(dump_settings(configure("data.corpus=mini", "optimization.epochs=1000")))
    process = forked(main, ["train", str(file)])
    wait_until((tmp_path / ".adapter.partial").exists, process)
    os.kill(process.pid or 0, signal.SIGINT)
    process.join(60)
    assert process.exitcode == 130
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("corpus", ["mini", "totto_mini", "logicnlg_mini", "compmctg_mini"])
def test_a_demo_is_run_on_the_shipped_base(corpus, monkeypatch):
    given = {}
    monkeypatch.setattr(run, "run", lambda *of, **how: given.update(how, of=of))
    demo.demonstrate(corpus, ["seeds=[7]"])
    (experiment,) = given["of"]
    assert (given["workers"], given["overwrite"], experiment.seeds) == (2, True, (7,))
    trained = [cell.training for cell in expand(experiment) if cell.training]
    assert {Path(each.model.path).resolve() for each in trained} == {demo.BASES / corpus}
    assert {each.data.corpus for each in trained} == {corpus}


AVX2 = ("ATEN_CPU_CAPABILITY=avx2", "ONEDNN_MAX_CPU_ISA=AVX2", "MKL_ENABLE_INSTRUCTIONS=AVX2")
SSE41 = ("ATEN_CPU_CAPABILITY=default", "ONEDNN_MAX_CPU_ISA=SSE41", "MKL_CBWR=COMPATIBLE")


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_the_demo_has_one_report_whatever_the_instructions_of_the_processor(tmp_path):
    reports = set()
    for number, variables in enumerate([(), AVX2, SSE41]):
        folder = tmp_path / str(number)
        demonstrate = (
            f"from training.demo import demonstrate as d; d(overrides=['output={folder}'])"
        )
        settings = os.environ | dict(each.split("=") for each in variables)
        subprocess.run(
            [sys.executable, "-c", demonstrate], cwd=REPOSITORY, env=settings, check=True
        )
        reports.add((folder / "report.md").read_bytes())
    assert len(reports) == 1
