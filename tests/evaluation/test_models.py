"""`spor eval --models`: what it takes, and what it refuses at once."""

from collections.abc import Callable
from pathlib import Path

import lm_eval.utils
import pytest

from spor_tasks import cli
from spor_tasks.core.errors import ConfigError
from spor_tasks.evaluation.models import Model, read_models
from spor_tasks.evaluation.run import Evaluator
from spor_tasks.results import runs

TASK = "spor_systematicity_mini"


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spare this process lm-eval's logging."""
    monkeypatch.setattr(lm_eval.utils, "setup_logging", lambda: None)


def run(*arguments: object) -> int:
    short = ("--limit", 2, "--gen_kwargs", "max_gen_toks=4", "--device", "cpu")
    return cli.main(["eval", "--tasks", TASK, *map(str, (*short, *arguments))])


def test_a_file_is_lines_or_a_yaml_list(tmp_path: Path) -> None:
    expected = [{"pretrained": "base"}, {"pretrained": "base", "peft": "adapters/1", "dtype": "x"}]
    lines = tmp_path / "models.txt"
    lines.write_text("# all\npretrained=base\n\n  pretrained=base,peft=adapters/1,dtype=x\n")
    listed = tmp_path / "models.yaml"
    listed.write_text(
        "- pretrained=base\n- {pretrained: base, peft: adapters/1, dtype: x}  # the second\n"
    )
    assert [entry.arguments for entry in read_models([str(listed)])] == expected
    assert list(read_models(["pretrained=base", str(lines)])) == [
        Model(expected[0], "pretrained=base"),
        Model(expected[0], f"{lines}, entry 1"),
        Model(expected[1], f"{lines}, entry 2"),
    ]


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
def test_a_bad_file_is_an_error_that_names_the_place(
    name: str, text: str | None, place: str, tmp_path: Path
) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(ConfigError) as caught:
        list(read_models([str(tmp_path / name)]))
    assert caught.value.where == f"{tmp_path / name}{place}"


def test_each_model_gets_its_result(
    checkpoint: Callable[..., Path], lora: Callable[[str], Path], tmp_path: Path
) -> None:
    base = f"pretrained={checkpoint()}"
    file = tmp_path / "models.txt"
    file.write_text(f"{base}\n{base},peft={lora('llama')}\n")
    out = tmp_path / "out"
    metadata = '{"fewshot_arm": "combination"}'
    assert run("--models", file, "--output_path", out, "--metadata", metadata) == 0
    found = runs.collect([out]).runs
    names = {str(checkpoint()), f"{checkpoint()} + {lora('llama')}"}
    assert {result.model for result in found} == names
    assert len({tuple(result.signature.items()) for result in found}) == 1
    assert len(list(out.rglob("samples_*.jsonl"))) == 0  # nobody asked for them


def test_every_bad_entry_is_named_before_anything_is_loaded(
    checkpoint: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(Evaluator, "evaluate", None)
    good = f"pretrained={checkpoint()}"
    file = tmp_path / "models.txt"
    file.write_text(f"{good}\npretrained={tmp_path}\n{good},peft=/no/such/adapter\n")
    assert run("--models", file) == 2
    printed = capsys.readouterr().err
    assert f"{file}, entry 2: {tmp_path}: has no config.json" in printed
    assert f"{file}, entry 3: /no/such/adapter: there is no such folder" in printed


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--use_cache", "cache"), "cannot be used with --use_cache"),
        (("--model_args", "pretrained=a"), "cannot be used with --model_args"),
        (("--log_samples",), "--output_path"),
        (("--tasks", "hellaswag"), "cannot be used with the task hellaswag"),
    ],
)
def test_what_does_not_go_together_is_refused(
    arguments: tuple[str, ...],
    complaint: str,
    checkpoint: Callable[..., Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run("--models", f"pretrained={checkpoint()}", *arguments) == 2
    assert complaint in capsys.readouterr().err
