"""`spor eval --models`: what it takes, what it refuses at once, and what a failure costs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spor_tasks import cli
from spor_tasks.core.errors import ConfigError
from spor_tasks.evaluation import evaluate
from spor_tasks.evaluation.evaluator import Evaluator
from spor_tasks.evaluation.models import Model, read_models
from spor_tasks.results import reading

TASK = "spor_systematicity_mini"
METADATA = '{"fewshot_arm": "combination"}'


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spare this process lm-eval's logging."""
    monkeypatch.setattr(evaluate, "setup_logging", lambda: None)


def run(*arguments: object) -> int:
    short = ("--limit", 2, "--gen_kwargs", "max_gen_toks=4", "--device", "cpu")
    return cli.main(["eval", "--tasks", TASK, *map(str, (*short, *arguments))])


def test_a_file_is_lines_or_a_yaml_list(tmp_path: Path) -> None:
    expected = [{"pretrained": "base"}, {"pretrained": "base", "peft": "adapters/1", "dtype": "x"}]
    lines = tmp_path / "models.txt"
    lines.write_text("# all\npretrained=base\n\n  pretrained=base,peft=adapters/1,dtype=x\n")
    assert [entry.arguments for entry in read_models([str(lines)])] == expected
    listed = tmp_path / "models.yaml"
    listed.write_text(
        "- pretrained=base\n- {pretrained: base, peft: adapters/1, dtype: x}  # the second\n"
    )
    assert [entry.arguments for entry in read_models([str(listed)])] == expected
    given = ["pretrained=base", str(lines)]
    assert list(read_models(given)) == [
        Model(expected[0], "--models"),
        Model(expected[0], f"{lines}, entry 1"),
        Model(expected[1], f"{lines}, entry 2"),
    ]


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("models.txt", None, "models.txt: cannot be read"),
        ("models.txt", "# none yet\n", "models.txt: has no models"),
        ("models.txt", "pretrained=a\nsome/folder\n", "entry 2: 'some/folder' is not a model"),
        ("models.txt", "peft=a\n", "entry 1: 'peft=a' is not a model"),
        ("models.yaml", "pretrained: a\n", "must be a list"),
        ("models.yaml", "- 3\n", "entry 1: 3 is not a model"),
        ("models.yaml", "- [\n", "is not valid YAML"),
    ],
)
def test_a_bad_file_is_an_error_that_says_where(
    name: str, text: str | None, complaint: str, tmp_path: Path
) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(ConfigError) as caught:
        list(read_models([str(tmp_path / name)]))
    assert complaint in str(caught.value)


def test_each_model_gets_its_result(
    checkpoint: Callable[..., Path], lora: Callable[[str], Path], tmp_path: Path
) -> None:
    base = f"pretrained={checkpoint()}"
    file = tmp_path / "models.txt"
    file.write_text(f"{base}\n{base},peft={lora('llama')}\n")
    out = tmp_path / "out"
    assert run("--models", file, "--output_path", out, "--metadata", METADATA) == 0
    found = reading.collect([out]).results
    assert {result.model for result in found} == {
        str(checkpoint()),
        f"{checkpoint()} + {lora('llama')}",
    }
    assert len({tuple(result.signature.items()) for result in found}) == 1
    assert len(list(out.rglob("samples_*.jsonl"))) == 0  # nobody asked for them


def test_every_bad_entry_is_named_before_anything_is_loaded(
    checkpoint: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(evaluate, "Evaluator", None)
    good = f"pretrained={checkpoint()}"
    file = tmp_path / "models.txt"
    file.write_text(f"{good}\npretrained={tmp_path}\n{good}\n{good},peft=/no/such/adapter\n")
    assert run("--models", file) == 2
    told = capsys.readouterr().err
    assert f"{file}, entry 2: {tmp_path}: has no config.json" in told
    assert f"{file}, entry 3: repeats an earlier entry" in told
    assert f"{file}, entry 4: /no/such/adapter: there is no such folder" in told


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--use_cache", "cache"), "cannot be used with --use_cache"),
        (("--model_args", "pretrained=a"), "cannot be used with --model_args"),
        (("--log_samples",), "--output_path"),
        (("--tasks", "hellaswag"), "only the tasks of this package"),
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


def test_one_that_fails_does_not_stop_the_others(
    checkpoint: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    models = [str(checkpoint("llama", seed)) for seed in (0, 1)]
    evaluate = Evaluator.evaluate

    def failing(self: Evaluator, arguments: dict[str, Any], *rest: Any, **options: Any) -> Any:  # noqa: ANN401
        if arguments["pretrained"] == models[0]:
            raise RuntimeError("out of memory")
        return evaluate(self, arguments, *rest, **options)

    monkeypatch.setattr(Evaluator, "evaluate", failing)
    out = tmp_path / "out"
    given = [f"pretrained={model}" for model in models]
    assert run("--models", *given, "--output_path", out) == 2
    assert "1 of 2 models failed: --models: out of memory" in capsys.readouterr().err
    assert [result.model for result in reading.collect([out]).results] == models[1:]
