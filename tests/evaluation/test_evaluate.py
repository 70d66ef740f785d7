"""`spor eval`: beside `lm_eval`, for one model and for several, and what it refuses."""

import sys
from pathlib import Path
from unittest.mock import Mock

import lm_eval.__main__
import lm_eval.tasks
import pytest

from spor_tasks import cli
from spor_tasks.core.errors import ConfigError
from spor_tasks.evaluation.models import read_models
from spor_tasks.evaluation.run import Evaluator
from spor_tasks.harness import host, stubs, task_files
from spor_tasks.results import runs
from tests.conftest import REPOSITORY
from tests.support import commands
from tests.support.checkpoints import Checkpoint, Lora
from tests.support.openai_server import serve

MINI = "spor_systematicity_mini"
SHORT = ("--device", "cpu", "--limit", "2", "--gen_kwargs", "max_gen_toks=8")


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    commands.without_other_tasks(monkeypatch, tmp_path)
    monkeypatch.setattr(lm_eval.__main__, "setup_logging", lambda: None)


def run(*arguments: object) -> int:
    return cli.main(["eval", *map(str, arguments)])


def test_lm_eval_and_spor_eval_give_one_result(
    checkpoint: Checkpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """lm-eval's own command knows our tasks by stubs or by their folder."""

    def arguments(way: str, model: str = "hf") -> list[str]:
        base = ("--tasks", MINI, "--model", model, "--model_args", f"pretrained={checkpoint()}")
        return [*base, *SHORT, "--output_path", str(tmp_path / way)]

    stubs.register(tmp_path / "stubs")
    for way, folder in (("by stubs", tmp_path / "stubs"), ("by folder", task_files.FOLDER)):
        monkeypatch.setattr(
            sys, "argv", ["lm_eval", "--include_path", str(folder), *arguments(way)]
        )
        lm_eval.__main__.cli_evaluate()
    manager = Mock(wraps=lm_eval.tasks.TaskManager)
    monkeypatch.setattr(lm_eval.tasks, "TaskManager", manager)
    assert run(*arguments("spor", "spor-hf")) == 0
    assert not manager.call_args.kwargs["include_defaults"], "indexing all tasks takes seconds"

    by_stubs, by_folder, spor = (
        runs.collect([tmp_path / way]).runs[0] for way in ("by stubs", "by folder", "spor")
    )
    assert by_stubs.scores == by_folder.scores == spor.scores
    assert by_stubs.signature == by_folder.signature
    assert spor.signature == {**by_stubs.signature, "backend": "spor-hf"}


def test_tasks_of_the_user_stand_beside_ours(
    checkpoint: Checkpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (file,) = task_files.expand([MINI])
    (tmp_path / "mine.yaml").write_text(f"include: {file.path}\ntask: {MINI}_mine\n")
    own = ("--tasks", f"{MINI}_mine,{MINI}", "--include_path", tmp_path)
    assert run(*own, "--model_args", f"pretrained={checkpoint()}", *SHORT) == 0
    printed = capsys.readouterr().out
    assert f"|{MINI}_mine|" in printed
    assert f"|{MINI} " in printed


def test_settings_may_be_in_a_file(checkpoint: Checkpoint, tmp_path: Path) -> None:
    config = tmp_path / "run.yaml"
    config.write_text(
        f"tasks: [{MINI}]\n"
        f"model_args: {{pretrained: {checkpoint()}}}\n"
        "model: hf\n"
        "metadata: {prompt_style: seq2seq}\n"
    )
    assert run("--config", config, *SHORT, "--output_path", tmp_path / "out") == 0
    (result,) = runs.collect([tmp_path / "out"]).runs
    assert result.signature["prompt_style"] == "seq2seq"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("--tasks spor_systematicity_webnl", "Did you mean spor_systematicity_webnlg"),
        ("--tasks spor_systematicity_mni", "`spor tasks list`"),
        pytest.param(
            "--tasks hellaswagg",
            "Tasks not found: hellaswagg",
            marks=pytest.mark.skipif(host.IS_NEW, reason="lm-eval 0.5 passes over unknown tasks"),
        ),
        ("--model hf", "error: tasks: "),
        ("--config missing.yaml", "error: missing.yaml: "),
        ('--tasks MINI --metadata {"fewshot_arm":"molecule"}', "fewshot_arm=molecule"),
        ('--tasks MINI --metadata {"facts_model":"/no/such/folder"}', "cannot be loaded"),
        ("--tasks MINI --model_args pretrained=/no/such/folder", "no such folder"),
        (f"--tasks MINI --model_args pretrained={REPOSITORY}", "has no config.json"),
        ('--tasks spor_mini --metadata {"corpus":"webnlg"}', "error: "),
        ("--tasks MINI --limit 0", "error: limit: "),
        ("--tasks MINI --limit=-1", "error: limit: "),
        ("--tasks MINI --num_fewshot=-1", "error: num_fewshot: "),
        ("--tasks spor_mini_icl --num_fewshot 0", "error: num_fewshot: "),
        ("--tasks MINI --gen_kwargs num_beams=5", "hf does not support the beam search"),
        ("--tasks MINI --model vllm --gen_kwargs num_beams=2", "vllm does not support the beam"),
        # At these lm-eval would fail after loading a model.
        ("--tasks MINI --model vllm --model_args pretrained=a,peft=b", "lora_local_path="),
        ("--tasks MINI --model spor-vllm --model_args pretrained=a,peft=b", "lora_local_path="),
        ("--tasks MINI --model hf --model_args pretrained=a,lora_local_path=b", "peft="),
        ("--tasks MINI --model spor-hf --model_args pretrained=a,lora_local_path=b", "peft="),
        ("--tasks MINI --model local-chat-completions --model_args model=a", "apply_chat_template"),
        ("--model local-completions --tasks ASKING,tokenizer_backend=None", "log likelihoods"),
        ("--model openai-chat-completions --apply_chat_template --tasks ASKING", "log likelihoods"),
        ("--tasks MINI --model_args BASE --apply_chat_template", "error: apply_chat_template: "),
        ("--tasks MINI --model_args BASE --log_samples", "output_path"),
        ("--tasks MINI --models BASE --log_samples", "output_path"),
        ("--tasks MINI --models BASE --use_cache cache", "cannot be used with --use_cache"),
        ("--tasks MINI --models BASE --model_args BASE", "cannot be used with --model_args"),
        ("--tasks hellaswag --models BASE", "cannot be used with the task hellaswag"),
    ],
)
def test_bad_input_is_refused_before_a_model_is_loaded(
    arguments: str,
    complaint: str,
    checkpoint: Checkpoint,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(Evaluator, "evaluate", None)
    given = arguments.replace("MINI", MINI).replace("BASE", f"pretrained={checkpoint()}")
    given = given.replace("ASKING", "logicnlg_mini_ppl --model_args model=m")
    assert run(*given.split(" ")) == 2
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize(("word", "status"), [("--num_fewshot", 0), ("--taskss", 2)])
def test_the_parser_is_lm_evals(word: str, status: int, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run(*(["--taskss", MINI] if status else ["--help"]))
    assert ended.value.code == status
    assert word in "".join(capsys.readouterr())


def test_a_server_needs_a_tokenizer_or_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--tasks", MINI, "--model", "local-completions", "--model_args", "model=a") == 2
    assert "tokenizer_backend=None" in capsys.readouterr().err


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


# --- Several models -------------------------------------------------------------------------------


def test_a_list_of_models_is_lines_or_yaml(tmp_path: Path) -> None:
    expected = [{"pretrained": "base"}, {"pretrained": "base", "peft": "adapters/1", "dtype": "x"}]
    lines, listed = tmp_path / "models.txt", tmp_path / "models.yaml"
    lines.write_text("# all\npretrained=base\n\n  pretrained=base,peft=adapters/1,dtype=x\n")
    listed.write_text(
        "- pretrained=base\n- {pretrained: base, peft: adapters/1, dtype: x}  # the second\n"
    )
    assert list(read_models([str(listed)])) == expected
    assert list(read_models(["pretrained=base", str(lines)])) == [expected[0], *expected]


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("models.txt", None, ""),
        ("models.txt", "# none yet\n", ""),
        ("models.txt", "pretrained=a\nsome/folder\n", ", entry 2"),
        ("models.txt", "peft=a\n", ", entry 1"),
        ("models.yaml", "pretrained: a\n", ""),
        ("models.yaml", "- 3\n", ", entry 1"),
        ("models.yaml", "- [\n", ""),
    ],
)
def test_a_bad_list_is_an_error_that_names_the_place(
    name: str, text: str | None, place: str, tmp_path: Path
) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(ConfigError) as caught:
        list(read_models([str(tmp_path / name)]))
    assert caught.value.where == f"{tmp_path / name}{place}"


def test_each_model_gets_its_result(checkpoint: Checkpoint, lora: Lora, tmp_path: Path) -> None:
    base = f"pretrained={checkpoint()}"
    file = tmp_path / "models.txt"
    file.write_text(f"{base}\n{base},peft={lora('llama')}\n")
    out = tmp_path / "out"
    more = ("--output_path", out, "--metadata", '{"fewshot_arm": "combination"}')
    assert run("--tasks", MINI, "--models", file, *SHORT, *more) == 0
    found = runs.collect([out]).runs
    names = {str(checkpoint()), f"{checkpoint()} + {lora('llama')}"}
    assert {result.model for result in found} == names
    assert len({tuple(result.signature.items()) for result in found}) == 1
    assert not list(out.rglob("samples_*.jsonl"))  # without --log_samples


def test_every_bad_model_is_named_before_one_is_loaded(
    checkpoint: Checkpoint,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(Evaluator, "evaluate", None)
    good = f"pretrained={checkpoint()}"
    file = tmp_path / "models.txt"
    file.write_text(f"{good}\npretrained={tmp_path}\n{good},peft=/no/such/adapter\n")
    assert run("--tasks", MINI, "--models", file) == 2
    printed = capsys.readouterr().err
    assert f"pretrained={tmp_path}: {tmp_path}: has no config.json" in printed
    assert "peft=/no/such/adapter: /no/such/adapter: there is no such folder" in printed
