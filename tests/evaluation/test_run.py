"""Models one after another in one process: each as if it were alone, the base loaded once."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import peft
import pytest
import transformers
from lm_eval.api.registry import get_model
from lm_eval.loggers import EvaluationTracker

from spor_tasks.core.errors import ConfigError, ResultError
from spor_tasks.evaluation.run import Evaluator
from spor_tasks.results import runs
from spor_tasks.results.samples import find

TASK = "spor_systematicity_mini"
SHORT: dict[str, Any] = {"limit": 3, "gen_kwargs": {"max_gen_toks": 8}}


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Return the list in which the arguments of every model that is really loaded get noted."""
    noted: list[dict[str, Any]] = []

    def noting(kind: str) -> Any:  # noqa: ANN401
        class Noting(get_model(kind)):  # type: ignore[misc]
            def __init__(self, **arguments: Any) -> None:  # noqa: ANN401
                noted.append(arguments)
                super().__init__(**arguments)

        return Noting

    monkeypatch.setattr("spor_tasks.evaluation.run.get_model", noting)
    return noted


@pytest.fixture
def checkpoints(
    checkpoint: Callable[..., Path], lora: Callable[[str], Path], tmp_path: Path
) -> list[dict[str, str]]:
    """Return the arguments of a base, and of two adapters of it that differ in their modules."""
    model = transformers.AutoModelForCausalLM.from_pretrained(checkpoint())
    config = peft.LoraConfig(
        r=4, task_type="CAUSAL_LM", target_modules=["k_proj", "o_proj"], init_lora_weights=False
    )
    peft.get_peft_model(model, config).save_pretrained(tmp_path / "second")
    bare = {"pretrained": str(checkpoint())}
    adapters = (lora("llama"), tmp_path / "second")
    return [bare, *({**bare, "peft": str(adapter)} for adapter in adapters)]


def outputs(folder: Path) -> list[str]:
    (result,) = runs.collect([folder]).runs
    samples = find(result)
    assert samples
    return [text for record in samples.records() for text in record.scored]


def test_swapped_adapters_write_what_they_write_alone(
    checkpoints: list[dict[str, str]], tmp_path: Path, loads: list[dict[str, Any]]
) -> None:
    bare, first, second = checkpoints
    shared = Evaluator("spor-hf", batch_size=2, device="cpu")
    found = []
    for number, arguments in enumerate((bare, first, second, first, bare)):
        shared.evaluate([arguments], [TASK], tmp_path / str(number), **SHORT)
        found.append(outputs(tmp_path / str(number)))
    assert len(loads) == 1
    for number, arguments in ((1, first), (2, second)):
        alone = Evaluator("spor-hf", batch_size=2, device="cpu")
        alone.evaluate([arguments], [TASK], tmp_path / f"alone {number}", **SHORT)
        assert outputs(tmp_path / f"alone {number}") == found[number]
    assert len({tuple(texts) for texts in found[:3]}) == 3
    assert found[3:] == [found[1], found[0]]


def test_the_files_are_lm_evals_own_and_name_the_checkpoint(
    checkpoint: Callable[..., Path], lora: Callable[[str], Path], tmp_path: Path
) -> None:
    shared = Evaluator("spor-hf", batch_size=2, device="cpu")
    bare = {"pretrained": str(checkpoint())}
    models = [bare, {**bare, "peft": str(lora("llama"))}]
    results = shared.evaluate(models, [TASK], tmp_path, **SHORT)
    assert [result["config"]["model_args"] for result in results] == models
    files = {json.loads(file.read_text())["model_name"] for file in tmp_path.rglob("results_*")}
    assert files == {arguments.get("peft", arguments["pretrained"]) for arguments in models}
    for file in tmp_path.rglob("results_*.json"):
        content = json.loads(file.read_text())
        assert content["config"]["model"] == content["model_source"] == "spor-hf"
        assert content["config"]["prompts_cut"] == {TASK: 0}
        assert content["config"]["batch_size"] == 2
    names = {result.model for result in runs.collect([tmp_path]).runs}
    assert names == {bare["pretrained"], f"{bare['pretrained']} + {lora('llama')}"}


def test_what_swapping_would_change_is_loaded_anew(
    checkpoint: Callable[..., Path],
    lora: Callable[[str], Path],
    tmp_path: Path,
    loads: list[dict[str, Any]],
) -> None:
    """A tokenizer shorter than the embeddings has lm-eval cut these, for adapters alone."""
    bare = {"pretrained": str(checkpoint("t5"))}
    tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoint("t5"))
    tokenizer.add_tokens(["one more"])
    tokenizer.save_pretrained(tmp_path / "tokenizer")
    bare["tokenizer"] = str(tmp_path / "tokenizer")
    tuned = {**bare, "peft": str(lora("t5"))}
    shared = Evaluator("spor-hf", batch_size=2, device="cpu")
    for number, arguments in enumerate((tuned, tuned, bare, bare)):
        shared.evaluate([arguments], [TASK], tmp_path / str(number), **SHORT)
    assert [arguments.get("peft") for arguments in loads] == [tuned["peft"], None]
    assert outputs(tmp_path / "0") == outputs(tmp_path / "1")


def test_another_base_takes_the_place_of_the_first(
    checkpoint: Callable[..., Path], tmp_path: Path, loads: list[dict[str, Any]]
) -> None:
    folders = [str(checkpoint("llama", seed)) for seed in (0, 1)]
    shown: list[Any] = []
    found = Evaluator("hf", batch_size=2).evaluate(  # on whatever device there is
        [{"pretrained": folder} for folder in folders],
        [TASK],
        on_result=lambda *result: shown.append(result),
        **SHORT,
    )
    assert [result["results"][TASK]["sample_len"] for result in found] == [3, 3]
    assert shown == [*zip([{"pretrained": folder} for folder in folders], found, strict=True)]
    assert [arguments["pretrained"] for arguments in loads] == folders
    assert list(tmp_path.iterdir()) == []


def test_one_that_fails_does_not_stop_the_others(
    checkpoint: Callable[..., Path], tmp_path: Path
) -> None:
    models = [{"pretrained": str(tmp_path / "none")}, {"pretrained": str(checkpoint())}]
    evaluator = Evaluator("spor-hf", device="cpu")
    with pytest.raises(ConfigError):
        evaluator.evaluate(models[:1], [TASK], **SHORT)
    with pytest.raises(ResultError) as caught:
        evaluator.evaluate(models, [TASK], tmp_path / "out", **SHORT)
    assert caught.value.where == "1 of 2 models failed"
    assert str(tmp_path / "none") in caught.value.what
    (result,) = runs.collect([tmp_path / "out"]).runs
    assert result.model == str(checkpoint())


def test_results_that_cannot_be_written_are_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loads: list[dict[str, Any]]
) -> None:
    (tmp_path / "file").touch()
    evaluator = Evaluator("dummy")
    with pytest.raises(ConfigError, match="cannot be written"):
        evaluator.evaluate([{}], [TASK], tmp_path / "file" / "out", limit=2)
    assert loads == []  # nothing was evaluated in vain

    def full_disk(*_: object, **__: object) -> None:
        """Write nothing and warn, as lm-eval does."""

    monkeypatch.setattr(EvaluationTracker, "save_results_samples", full_disk)
    with pytest.raises(ResultError, match=f"samples of {TASK}"):
        evaluator.evaluate([{}], [TASK], tmp_path / "out", limit=2)
    evaluator.evaluate([{}], [TASK], tmp_path / "out", limit=2, log_samples=False)
    monkeypatch.setattr(EvaluationTracker, "save_results_aggregated", full_disk)
    monkeypatch.setattr(EvaluationTracker, "date_id", "none", raising=False)
    with pytest.raises(ResultError, match="the results"):
        evaluator.evaluate([{}], [TASK], tmp_path / "out", limit=2, log_samples=False)
