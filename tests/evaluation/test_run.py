"""Models one after another in one process: each as if it were alone, the base loaded once."""

import json
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
from tests.evaluation.outputs import scored
from tests.support.checkpoints import Checkpoint, Lora

TASK = "spor_systematicity_mini"
SHORT: dict[str, Any] = {"limit": 3, "gen_kwargs": {"max_gen_toks": 8}}


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Return the list of the arguments of every model that is loaded."""
    noted: list[dict[str, Any]] = []

    def noting(kind: str) -> Any:  # noqa: ANN401
        class Noting(get_model(kind)):  # type: ignore[misc]
            def __init__(self, **arguments: Any) -> None:  # noqa: ANN401
                noted.append(arguments)
                super().__init__(**arguments)

        return Noting

    monkeypatch.setattr("spor_tasks.evaluation.run.get_model", noting)
    return noted


def spor_hf() -> Evaluator:
    return Evaluator("spor-hf", batch_size=2, device="cpu")


def outputs(evaluator: Evaluator, arguments: dict[str, str], folder: Path) -> list[str]:
    evaluator.evaluate([arguments], [TASK], folder, **SHORT)
    (written,) = scored(folder).values()
    return [text for (text,) in written]


def test_swapped_adapters_write_what_they_write_alone(
    checkpoint: Checkpoint, lora: Lora, tmp_path: Path, loads: list[dict[str, Any]]
) -> None:
    """Two adapters of a base differ in their modules; files name each as lm-eval's own do."""
    model = transformers.AutoModelForCausalLM.from_pretrained(checkpoint())
    config = peft.LoraConfig(
        r=4, task_type="CAUSAL_LM", target_modules=["k_proj", "o_proj"], init_lora_weights=False
    )
    peft.get_peft_model(model, config).save_pretrained(tmp_path / "second")
    bare = {"pretrained": str(checkpoint())}
    first, second = ({**bare, "peft": str(each)} for each in (lora("llama"), tmp_path / "second"))
    shared = spor_hf()
    order = (bare, first, second, first, bare)
    found = [outputs(shared, each, tmp_path / str(number)) for number, each in enumerate(order)]
    assert len(loads) == 1
    assert len({tuple(texts) for texts in found[:3]}) == 3
    assert found[3:] == [found[1], found[0]]
    for number, arguments in ((1, first), (2, second)):
        assert outputs(spor_hf(), arguments, tmp_path / f"alone {number}") == found[number]
    for number, arguments in enumerate(order):
        (file,) = (tmp_path / str(number)).rglob("results_*.json")
        content = json.loads(file.read_text())
        assert content["model_name"] == arguments.get("peft", arguments["pretrained"])
        assert content["config"]["model"] == content["model_source"] == "spor-hf"
        assert content["config"]["model_args"] == arguments
        assert content["config"]["prompts_cut"] == {TASK: 0}
        assert content["config"]["batch_size"] == 2
        (result,) = runs.collect([file]).runs
        assert result.model == " + ".join(arguments.values())


def test_a_model_that_swapping_would_change_is_loaded_anew(
    checkpoint: Checkpoint, lora: Lora, tmp_path: Path, loads: list[dict[str, Any]]
) -> None:
    """A tokenizer shorter than the embeddings has lm-eval cut these, for adapters alone."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoint("t5"))
    tokenizer.add_tokens(["one more"])
    tokenizer.save_pretrained(tmp_path / "tokenizer")
    bare = {"pretrained": str(checkpoint("t5")), "tokenizer": str(tmp_path / "tokenizer")}
    tuned = {**bare, "peft": str(lora("t5"))}
    shared = spor_hf()
    order = (tuned, tuned, bare, bare)
    found = [outputs(shared, each, tmp_path / str(number)) for number, each in enumerate(order)]
    assert [arguments.get("peft") for arguments in loads] == [tuned["peft"], None]
    assert found[0] == found[1]


def test_one_that_fails_does_not_stop_the_others(
    checkpoint: Checkpoint, tmp_path: Path, loads: list[dict[str, Any]]
) -> None:
    good = [{"pretrained": str(checkpoint("llama", seed))} for seed in (0, 1)]
    missing = {"pretrained": str(tmp_path / "none")}
    evaluator = Evaluator("hf", batch_size=2)  # on whatever device there is
    with pytest.raises(ConfigError):
        evaluator.evaluate([missing], [TASK], **SHORT)
    passed: list[Any] = []
    settings = SHORT | {"on_result": lambda *result: passed.append(result)}
    models = [good[0], missing, good[1]]
    with pytest.raises(ResultError) as caught:
        evaluator.evaluate(models, [TASK], tmp_path / "out", **settings)
    assert caught.value.where == "1 of 3 models failed"
    assert missing["pretrained"] in caught.value.what
    assert [arguments for arguments, _ in passed] == good
    assert [result["results"][TASK]["sample_len"] for _, result in passed] == [3, 3]
    assert [each["pretrained"] for each in loads[1:]] == [each["pretrained"] for each in models]
    found = {result.model for result in runs.collect([tmp_path / "out"]).runs}
    assert found == {each["pretrained"] for each in good}


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
