"""The three ways to run a task: bare `lm_eval`, `lm_eval --include_path`, and `spor eval`."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import lm_eval.__main__
import lm_eval.tasks
import pytest

from spor_tasks import cli
from spor_tasks.cli import evaluate
from spor_tasks.core.errors import ConfigError
from spor_tasks.harness import host, stubs, task_files
from spor_tasks.results import runs
from tests.conftest import REPOSITORY
from tests.support.openai_server import serve

MINI = "spor_systematicity_mini"
BIN = Path(sys.executable).parent


@pytest.fixture
def settings(checkpoint: Callable[..., Path]) -> list[str]:
    return [
        *("--model_args", f"pretrained={checkpoint()}"),
        *("--device", "cpu"),
        *("--limit", "2"),
        *("--gen_kwargs", "max_gen_toks=8"),
    ]


@pytest.fixture
def registered() -> Iterator[None]:
    """The installed lm-eval knows our tasks, and afterwards is as it was."""
    folder = stubs.folder()
    before = stubs.registered(folder)
    stubs.register(folder)
    yield
    if not before:
        stubs.remove()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Spare the seconds that lm-eval takes to index its own tasks, and this process its logging."""
    monkeypatch.setattr(stubs, "folder", lambda: tmp_path / "no stubs")
    ours_alone = partial(lm_eval.tasks.TaskManager, include_defaults=False)
    monkeypatch.setattr(lm_eval.tasks, "TaskManager", ours_alone)
    for module in (lm_eval.utils, lm_eval.__main__):
        monkeypatch.setattr(module, "setup_logging", lambda: None)


def run(*arguments: object) -> int:
    return cli.main(["eval", *map(str, arguments)])


@pytest.mark.usefixtures("registered", "quick")
def test_all_three_ways_give_one_result(
    settings: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def arguments(way: str, model: str = "hf") -> list[str]:
        return ["--model", model, "--tasks", MINI, *settings, "--output_path", str(tmp_path / way)]

    bare = subprocess.Popen(
        [BIN / "lm_eval", *arguments("bare")],
        env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    include = ["--include_path", str(task_files.FOLDER)]
    monkeypatch.setattr(sys, "argv", ["lm_eval", *include, *arguments("include")])
    lm_eval.__main__.cli_evaluate()
    assert run(*arguments("spor", "spor-hf")) == 0
    printed, _ = bare.communicate()
    assert bare.returncode == 0, printed
    assert f"{MINI}|" in printed

    found = {way: runs.collect([tmp_path / way]).runs[0] for way in ("bare", "include", "spor")}
    assert found["bare"].scores == found["include"].scores == found["spor"].scores
    assert found["bare"].signature == found["include"].signature
    assert found["spor"].signature == {**found["bare"].signature, "backend": "spor-hf"}


@pytest.mark.usefixtures("quick")
def test_tasks_of_the_user_stand_beside_ours(
    settings: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (file,) = task_files.expand([MINI])
    (own / "spor_systematicity_mine.yaml").write_text(
        f"include: {file.path}\ntask: spor_systematicity_mine\n"
    )
    names = f"spor_systematicity_mine,{MINI}"
    assert run("--tasks", names, "--include_path", own, "--model", "hf", *settings) == 0
    printed = capsys.readouterr().out
    assert "spor_systematicity_mine|" in printed
    assert f"{MINI}|" in printed


@pytest.mark.usefixtures("quick")
def test_what_a_file_says_is_known_too(
    settings: list[str], tmp_path: Path, checkpoint: Callable[..., Path]
) -> None:
    config = tmp_path / "run.yaml"
    config.write_text(
        f"tasks: [{MINI}]\n"
        f"model_args: {{pretrained: {checkpoint()}}}\n"
        "model: hf\n"
        "metadata: {prompt_style: seq2seq}\n"
    )
    out = tmp_path / "out"
    assert run("--config", config, *settings[2:], "--output_path", out) == 0
    (result,) = runs.collect([out]).runs
    assert result.signature["prompt_style"] == "seq2seq"


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--tasks", "spor_systematicity_webnl"], "Did you mean spor_systematicity_webnlg"),
        pytest.param(
            ["--tasks", "hellaswagg"],
            "Tasks not found: hellaswagg",
            marks=pytest.mark.skipif(host.IS_NEW, reason="lm-eval 0.5 passes over unknown tasks"),
        ),
        (["--model", "hf"], "error: tasks: "),
        (["--config", "missing.yaml"], "error: missing.yaml: "),
        (["--tasks", MINI, "--metadata", '{"fewshot_arm": "molecule"}'], "fewshot_arm=molecule"),
        (["--tasks", MINI, "--model_args", "pretrained=/no/such/folder"], "no such folder"),
        (["--tasks", MINI, "--model_args", f"pretrained={REPOSITORY}"], "has no config.json"),
        (["--tasks", "spor_mini", "--metadata", '{"corpus": "webnlg"}'], "error: "),
        (["--tasks", MINI, "--limit", "0"], "error: limit: "),
        (["--tasks", MINI, "--limit=-1"], "error: limit: "),
        (["--tasks", MINI, "--num_fewshot=-1"], "error: num_fewshot: "),
        (["--tasks", "spor_mini_icl", "--num_fewshot", "0"], "error: num_fewshot: "),
        (["--tasks", MINI, "--gen_kwargs", "num_beams=5"], "hf does not support the beam search"),
        (
            ["--tasks", "spor_mini", "--model", "vllm", "--gen_kwargs", "num_beams=2"],
            "vllm does not support the beam search",
        ),
    ],
)
def test_bad_input_is_told_before_a_model_is_loaded(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*arguments) == 2
    assert complaint in capsys.readouterr().err


@pytest.mark.usefixtures("quick")
def test_a_tokenizer_without_a_chat_template_is_told_before_the_model_is_loaded(
    settings: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--tasks", MINI, *settings, "--apply_chat_template") == 2
    assert "apply_chat_template: the tokenizer has no chat template" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("model", "arguments", "where", "remedy"),
    [
        ("vllm", "pretrained=base,peft=a", "model", "lora_local_path="),
        ("spor-vllm", "pretrained=base,peft=a", "model", "lora_local_path="),
        ("hf", "pretrained=base,lora_local_path=a", "model", "peft="),
        ("spor-hf", "pretrained=base,lora_local_path=a", "model", "peft="),
        ("local-completions", "model=served", "local-completions", "tokenizer_backend=None"),
        ("local-chat-completions", "model=served", "model", "apply_chat_template"),
    ],
)
def test_what_lm_eval_would_fail_at_late_is_told_before_a_model_is_loaded(
    model: str, arguments: str, where: str, remedy: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        evaluate.run(["--tasks", MINI, "--model", model, "--model_args", arguments])
    assert caught.value.where == where
    assert remedy in str(caught.value.remedy)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("concurrent", [1, 2])
def test_a_server_that_fails_is_an_error_and_no_result(
    concurrent: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("tenacity", reason="lm-eval's extra `api` is not installed")
    with serve(lambda _: None) as server:
        arguments = f"base_url={server.url}/completions,model=tiny,tokenizer_backend=None"
        model = ("--model", "local-completions", "--model_args")
        more = f"max_retries=1,num_concurrent={concurrent}"
        out = ("--output_path", tmp_path / "out", "--limit", 2)
        assert run("--tasks", MINI, *model, f"{arguments},{more}", *out) == 2
    assert "error: base_url: the server failed: " in capsys.readouterr().err
    assert list(tmp_path.rglob("*.json")) == []


@pytest.mark.usefixtures("quick")
def test_what_lm_eval_complains_of_is_told(
    settings: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--tasks", MINI, *settings, "--log_samples") == 2
    assert "output_path" in capsys.readouterr().err


def test_tasks_of_ours_need_no_index_of_lm_evals(
    settings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    manager, all_indexed = lm_eval.tasks.TaskManager, []

    def indexing(*given: object, include_defaults: bool = True, **more: object) -> object:
        all_indexed.append(include_defaults)
        return manager(*given, include_defaults=include_defaults, **more)

    monkeypatch.setattr(lm_eval.tasks, "TaskManager", indexing)
    monkeypatch.setattr(lm_eval.utils, "setup_logging", lambda: None)
    assert run("--tasks", f"{MINI},spor_productivity_mini", *settings) == 0
    assert all_indexed
    assert not any(all_indexed)


@pytest.mark.usefixtures("quick")
def test_help_is_lm_evals_own(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run("--help")
    assert ended.value.code == 0
    assert "--num_fewshot" in capsys.readouterr().out


def test_a_mistyped_argument_is_refused_by_lm_evals_parser(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lm_eval.utils, "setup_logging", lambda: None)
    with pytest.raises(SystemExit) as ended:
        run("--taskss", MINI)
    assert ended.value.code == 2
    assert "--taskss" in capsys.readouterr().err


def test_an_unknown_name_is_an_error_with_a_remedy() -> None:
    with pytest.raises(ConfigError) as caught:
        evaluate.run(["--tasks", "spor_systematicity_mni"])
    assert caught.value.where == "tasks"
    assert "spor tasks list" in str(caught.value.remedy)
