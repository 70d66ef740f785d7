"""Experiments run for real, with tiny models: what is done once, kept, resumed, and reported."""

import contextlib
import io
import json
import os
import shutil
import socket
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest
import torch
from accelerate import PartialState
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spor_tasks.cli import main
from spor_tasks.core.errors import ConfigError
from spor_tasks.core.folders import read_manifest, write_manifest
from spor_tasks.evaluation.run import Evaluator
from spor_tasks.models import backends
from spor_tasks.results import runs
from tests.support.damage import SOAK
from tests.support.processes import forked, wait_until
from tests.support.result_files import adapter_in
from tests.support.strategies import VALUES, changed, places
from training import lora
from training.experiments import cells
from training.experiments import run as workers
from training.experiments.cells import look
from training.experiments.experiment import InContextConfig, ShownModel
from training.experiments.plan import expand, load_experiment
from training.experiments.run import _gpu as gpu_of
from training.experiments.run import plan, run

TEXT = """
name: tiny
output: {output}
models: [{{name: m, overrides: ["model.path={base}"]}}]
seeds: [0, 1]
overrides:
  - data.limit=4
  - optimization.max_steps=1
  - optimization.threads=1
  - selection.policy=last
sets:
  - {{aspect: systematicity, corpora: [mini], arms: [atom]}}
evaluation: {{limit: 2, batch_size: 2, device: cpu, dtype: float32}}
"""
NAMES = [f"m/systematicity-mini-strict/{last}" for last in ("atom-0", "atom-1", "untuned")]


@pytest.fixture
def file(base, tmp_path):
    """Return the file of an experiment of three cells."""
    path = tmp_path / "tiny.yaml"
    path.write_text(TEXT.format(output=tmp_path / "runs", base=base("llama")))
    return path


@pytest.fixture
def experiment(file):
    return load_experiment(file)


@pytest.fixture(scope="module")
def finished(base, tmp_path_factory):
    """Return the folder of an experiment that ran to its end; nobody may write there."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "tiny.yaml").write_text(TEXT.format(output=folder / "runs", base=base("llama")))
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert run(load_experiment(folder / "tiny.yaml"), progress=False)
    (folder / "printed.txt").write_text(printed.getvalue())
    return folder


@pytest.fixture
def done(monkeypatch):
    """Return the list in which every training and evaluation that is really done gets noted."""
    noted, train, evaluate = [], lora.train, Evaluator.evaluate

    def noting_training(config, **more):
        noted.append(f"train {config.output.parent.name}")
        train(config, **more)

    def noting_evaluation(evaluator, models, tasks, place, **more):
        noted.append(f"evaluate {place.parent.parent.name}")
        evaluate(evaluator, models, tasks, place, **more)

    monkeypatch.setattr(lora, "train", noting_training)
    monkeypatch.setattr(Evaluator, "evaluate", noting_evaluation)
    return noted


def statuses(experiment):
    return [look(cell).status for cell in expand(experiment)]


def test_an_experiment_is_done_once_and_then_reported(finished, done):
    experiment = load_experiment(finished / "tiny.yaml")
    assert statuses(experiment) == ["done"] * 3
    printed = (finished / "printed.txt").read_text()
    assert "Systematicity: mini, strict sets" in printed
    assert "\n3 done\n" in printed
    assert "## Systematicity" in (experiment.folder / "report.md").read_text()
    assert not list(experiment.folder.rglob("error.txt"))
    (adapter,) = (finished / "runs").glob(f"{NAMES[0]}/adapter")
    assert "| spor_systematicity_mini | parent |" in (adapter / "README.md").read_text()
    manifest = read_manifest(adapter)
    (file,) = (finished / "runs" / NAMES[0]).rglob("results_*.json")
    (config,) = json.loads(file.read_bytes())["configs"].values()
    facts = config["metadata"]["spor"]["adapter"]
    for fact in ("selection", "violations", "pairs"):
        assert facts[fact] == manifest[fact]
    before = {path: path.stat().st_mtime_ns for path in finished.rglob("*.safetensors")}
    assert run(experiment, progress=False)
    assert done == []
    assert {path: path.stat().st_mtime_ns for path in finished.rglob("*.safetensors")} == before


@pytest.fixture
def copy(finished, tmp_path):
    """Return the experiment with the finished one's folder, which may be spoilt."""
    kept = Path(shutil.copytree(finished / "runs", tmp_path / "kept"))
    yield load_experiment(finished / "tiny.yaml")
    shutil.rmtree(finished / "runs")
    shutil.copytree(kept, finished / "runs")


def test_a_result_counts_if_whole_and_of_these_settings(copy, done):
    assert statuses(copy) == ["done"] * 3
    limited = replace(copy, evaluation=replace(copy.evaluation, limit=3))
    assert statuses(limited) == ["partly", "partly", "missing"]
    with patch.object(backends, "package_versions", return_value={"torch": "9"}):
        assert statuses(copy) == ["partly", "partly", "missing"]
    adapter = copy.folder / NAMES[0] / "adapter"
    write_manifest(adapter, read_manifest(adapter) | {"adapter_sha256": "of other weights"})
    (file,) = (copy.folder / NAMES[2]).rglob("results_*.json")
    file.write_bytes(file.read_bytes()[:200])  # cut short
    assert statuses(copy) == ["partly", "done", "missing"]
    assert run(copy, ["untuned"], progress=False)
    assert done == ["evaluate untuned"]
    assert statuses(copy) == ["partly", "done", "done"]


@settings(
    max_examples=20 * SOAK,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.data())
def test_any_manifest_of_an_adapter_leaves_a_plan(copy, data):
    adapter = copy.folder / NAMES[0] / "adapter"
    good = read_manifest(adapter)
    way = data.draw(st.sampled_from(list(places(good))))
    write_manifest(adapter, changed(good, way, data.draw(VALUES | st.just(...))))
    try:
        assert "done" in plan(copy)
    finally:
        write_manifest(adapter, good)


def test_an_adapter_of_other_settings_is_an_error_and_stays(copy, done, capsys):
    other = replace(copy, overrides=(*copy.overrides, "lora.r=4"))
    before = read_manifest(copy.folder / NAMES[0] / "adapter")
    assert not run(other, progress=False)
    assert done == []
    assert statuses(other) == ["conflict", "conflict", "done"]
    assert read_manifest(copy.folder / NAMES[0] / "adapter") == before
    assert "has settings.lora.r 8, and this experiment asks for 4" in plan(other)
    assert "2 conflict, 1 done" in capsys.readouterr().out
    assert run(other, ["atom-0"], overwrite=True, progress=False)
    assert done == ["train atom-0", "evaluate atom-0"]
    assert statuses(other) == ["done", "conflict", "done"]


def test_a_dry_run_only_lists_cells(copy, finished, capsys):
    file = finished / "tiny.yaml"
    shutil.rmtree(copy.folder / NAMES[1])
    (copy.folder / NAMES[2] / "error.txt").write_text("OSError: it was too bad\n\nTraceback …")
    shutil.rmtree(copy.folder / NAMES[2] / "results")
    files = set(copy.folder.rglob("*"))
    assert main(["run", str(file), "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines() == [
        "m/systematicity-mini-strict/atom-0   done",
        "m/systematicity-mini-strict/atom-1   missing",
        "m/systematicity-mini-strict/untuned  failed    OSError: it was too bad",
        "",
        "3 cells: 2 trainings and 3 evaluations; 1 done, 1 missing, 1 failed",
    ]
    assert set(copy.folder.rglob("*")) == files
    assert main(["run", str(file), "--dry-run", "--only", "atom-1", "untuned"]) == 0
    assert "2 cells: 1 trainings and 2 evaluations" in capsys.readouterr().out
    orders = (["--only", "atom", "seeds=[1]"], ["seeds=[1]", "--workers", "2", "--only", "atom"])
    for order in (*orders, ["--only", "atom", "--workers", "2", "seeds=[1]"]):
        assert main(["run", str(file), "--dry-run", *order]) == 0
        assert "1 cells: 1 trainings and 1 evaluations" in capsys.readouterr().out


def test_a_cell_that_fails_is_named_and_others_are_done(file, experiment):
    command = ["run", str(file), "seeds=[0]"]
    with patch.object(lora, "train", side_effect=KeyboardInterrupt):
        assert main(command) == 130
    assert statuses(experiment) == ["missing"] * 3
    with patch.object(lora, "train", side_effect=RuntimeError("out of\nmemory")) as failing:
        assert main(command) == 1
        # Another worker of this run, which began before the cell failed, leaves it alone.
        assert not cells.complete(expand(experiment)[0], Evaluator("hf"), since=0)
    failing.assert_called_once()
    assert statuses(experiment) == ["failed", "missing", "done"]
    error = (experiment.folder / NAMES[0] / "error.txt").read_text()
    assert error.startswith("RuntimeError: out of memory\n\nTraceback")
    assert "RuntimeError: out of memory" in plan(experiment)
    assert main(command) == 0  # another run tries again
    assert statuses(experiment) == ["done", "missing", "done"]
    assert not (experiment.folder / NAMES[0] / "error.txt").exists()


def test_the_progress_of_workers_follows_each_cell_until_it_is_done(
    experiment, monkeypatch, capsys
):
    chosen, ended = expand(experiment), iter([*[False] * 9, True])
    states = {cell.name: iter(["running", "done"]) for cell in chosen}
    monkeypatch.setattr(workers, "_SECONDS", 0)
    monkeypatch.setattr(
        cells, "look", lambda cell: cells.CellState(next(states[cell.name]), "", {})
    )
    workers._watch(chosen, lambda: next(ended))
    written = capsys.readouterr().err.strip()
    last = written.rpartition("\r")[2]
    assert f"{len(chosen)}/{len(chosen)}" in last
    assert f"{len(chosen)} done" in last
    assert written.count(" done") <= 2  # when it is new, and at the end


def test_a_cell_belongs_to_a_worker_that_lives(experiment, done):
    endless = replace(experiment, overrides=(*experiment.overrides, "optimization.max_steps=9999"))
    (cell, *_) = expand(experiment)
    partial = experiment.folder / cell.name / ".adapter.partial"
    process = forked(run, endless, ["atom-0"], progress=False)
    try:
        wait_until(partial.exists, process)
        assert look(cell).status == "running"
        assert not run(experiment, ["atom-0"], progress=False)
        assert done == []
    finally:
        process.kill()
        process.join()
    assert look(cell).status == "missing"  # the lock is free
    # What it may have saved is of other settings.
    assert run(experiment, ["atom-0"], overwrite=True, progress=False)
    assert look(cell).status == "done"


def start_rank(rank, port, arguments, printed):
    """Be one of two processes as `accelerate launch` starts them."""
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2"}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    os.environ |= {"ACCELERATE_USE_CPU": "true"}
    PartialState._reset_state()
    with printed.open("a") as file, contextlib.redirect_stdout(file):
        return main(arguments)


def test_processes_that_share_a_cell_do_what_one_does(file, tmp_path):
    """Five pairs in steps of four: one process has no share of the last step.

    That the two pack their pairs, and the one does not, makes no difference either.
    """
    settings = [
        *("data.limit=5", "optimization.batch_size=2", "optimization.gradient_accumulation=2"),
        *("optimization.epochs=2", "optimization.max_steps=null", "lora.lora_dropout=0"),
        *("optimization.learning_rate=1e-2", "selection.policy=dev-best", "selection.samples=3"),
    ]
    command = ["run", str(file), "--only", "atom-0", *settings, "optimization.packing=true"]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    printed = tmp_path / "printed.txt"
    team = [forked(start_rank, rank, port, command, printed) for rank in range(2)]
    for process in team:
        process.join(120)
        assert process.exitcode == 0
    assert printed.read_text().count("\n1 done\n") == 1
    cell, *_ = expand(load_experiment(file, settings))
    assert len(list(cell.folder.rglob("results_*.json"))) == 1
    lora.train(replace(cell.training, output=tmp_path / "one"), progress=False)
    expected = adapter_in(tmp_path / "one")
    found = adapter_in(cell.training.output)
    assert (expected.log.device.processes, found.log.device.processes) == (1, 2)
    assert found.log.losses == pytest.approx(expected.log.losses, rel=1e-5)
    for here, there in zip(*(m.selection["scores"] for m in (found, expected)), strict=True):
        assert here == pytest.approx(there)
    assert not list(cell.folder.glob("*.unfinished"))


def test_workers_that_cannot_be_started_are_an_error(experiment, monkeypatch):
    """Submitit knows no such setting; a launched process starts none."""
    strange = replace(experiment, slurm={"slurm_partitoin": "gpu"})
    with pytest.raises(ConfigError, match=r"^slurm: "):
        run(strange, executor="slurm", workers=2)
    monkeypatch.setenv("RANK", "1")
    with pytest.raises(ConfigError, match=r"^--workers: "):
        run(experiment, workers=2)


def test_a_checkpoint_is_shown_demonstrations_and_not_trained(experiment, base, done):
    shown = InContextConfig(
        models=(ShownModel(name="shown", path=str(base("llama"))),),
        shots=3,
        prompt_style="instruction",
    )
    in_context = replace(experiment, models=(), in_context=shown)
    assert run(in_context, progress=False)
    assert done == ["evaluate shown-atom"]
    (cell,) = expand(in_context)
    ((task, file),) = look(cell).results.items()
    (result,) = runs.read(file)
    assert task == "spor_systematicity_mini_icl_atom"
    assert (result.asked.shown_arm, result.signature["prompt_style"]) == ("atom", "instruction")
    more = replace(in_context, in_context=replace(shown, shots=4))
    assert look(expand(more)[0]).status == "missing"  # other prompts, so another result


@pytest.mark.parametrize(
    ("named", "expected"),
    [("4,6", ["4", "6", "4", "6"]), ("MIG-1", ["MIG-1"] * 4), (None, ["0", "1", "2", "0"])],
)
def test_workers_get_gpus_of_their_own_while_there_are_any(named, expected, monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    monkeypatch.setattr("training.experiments.run.version", lambda _: "2.0")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if named:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", named)
    assert [gpu_of(number) for number in range(4)] == expected


def test_slurm_gets_the_settings_of_the_file(experiment, tmp_path, monkeypatch):
    """Commands stand for Slurm's: one keeps what is submitted, the other has it all done."""
    commands = {
        "srun": "exit 1",
        "sbatch": f'cat "$1" >> {tmp_path}/submitted; echo "Submitted batch job $$"',
        "sacct": "shift 4; echo 'JobID|State|NodeList';"
        ' for job; do [ $job = -j ] || echo "$job|FAILED|here"; done',
    }
    for name, script in commands.items():
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    settings = {"timeout_min": 30, "gpus_per_node": 2, "slurm_partition": "short"}
    assert not run(replace(experiment, slurm=settings), executor="slurm", workers=2)
    submitted = (tmp_path / "submitted").read_text()
    assert submitted.count("#!/bin/bash") == 2
    for line in ("time=30", "gpus-per-node=2", "partition=short", "job-name=tiny"):
        assert submitted.count(f"#SBATCH --{line}\n") == 2
    assert "submitit.core._submit" in submitted
    assert statuses(experiment) == ["missing"] * 3
