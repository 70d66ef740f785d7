"""Our tasks inside lm-eval: what they show a model, what they count, what they write down."""

import json
import logging
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import peft
import pytest
import transformers
from lm_eval import simple_evaluate
from lm_eval.api.task import Task

from spor_tasks import __version__
from spor_tasks.aspects import named
from spor_tasks.core.digests import digest
from spor_tasks.core.errors import ConfigError, SplitError
from spor_tasks.core.folders import write_manifest
from spor_tasks.core.weights import digest_weights
from spor_tasks.harness import plan, task_files
from spor_tasks.prompts.styles import prompt
from spor_tasks.results import runs
from tests.support.result_files import adapter_manifest

MINI = "spor_systematicity_mini"


def load(name: str = MINI, **metadata: object) -> Task:
    return task_files.manager(metadata).load(name)["tasks"][name]


def context(task: Task, number: int = 0, shots: int = 0) -> str:
    task.set_fewshot_seed(1234)
    text = task.fewshot_context(task.eval_docs[number], num_fewshot=shots)
    assert isinstance(text, str)
    return text


def evaluate(folder: Path, model_args: Mapping[str, Any], **settings: Any) -> dict[str, Any]:  # noqa: ANN401
    """Evaluate two samples of the mini task and return what lm-eval would write to a file."""
    arguments = {"pretrained": str(folder), **model_args}
    return simple_evaluate(  # type: ignore[no-any-return]
        model="hf",
        model_args=arguments,
        tasks=[MINI],
        task_manager=task_files.manager(arguments),
        limit=2,
        device="cpu",
        gen_kwargs={"max_gen_toks": 8},
        **settings,
    )


def manifest(adapter: Path, base: Path, **changes: object) -> dict[str, Any]:
    pair = named.load("systematicity", "mini")
    facts = {
        "protocol": pair.protocol,
        "test_sha256": digest(pair.test.samples),
        "arm": "combination",
        "arm_sha256": digest(pair.arms[1].samples),
        "violations": ["2 atoms do not occur in Atom"],
        "pairs": 36,
        "selection": {"policy": "dev-best", "scores": [{"parent": 1.0}], "epoch": 1},
    }
    return adapter_manifest(adapter, base, **facts | changes)


# --- What a model is shown ------------------------------------------------------------------------


def test_a_prompt_is_the_papers_for_either_kind_of_model() -> None:
    causal, seq2seq = load(), load(prompt_style="seq2seq")
    assert context(causal) == context(seq2seq) + " Output:"
    assert context(seq2seq).startswith("translate from Triple to Text: <head> ")


@pytest.mark.parametrize(("kind", "style"), [("llama", "causal"), ("t5", "seq2seq")])
def test_the_prompt_is_that_of_the_model(
    kind: str, style: str, checkpoint: Callable[..., Path]
) -> None:
    task = load(pretrained=str(checkpoint(kind)))
    assert task.config.metadata["spor"]["prompt_style"] == style
    assert context(task).endswith(" Output:") == (style == "causal")


@pytest.mark.parametrize(("asked", "arm"), [({}, 0), ({"fewshot_arm": "combination"}, 1)])
def test_demonstrations_come_from_the_first_arm_or_the_one_asked_for(
    asked: dict[str, str], arm: int
) -> None:
    pair = named.load("systematicity", "mini")
    shown, others = (
        {prompt(sample, "causal") + sample.references[0] for sample in split.samples}
        for split in (pair.arms[arm], pair.arms[1 - arm])
    )
    task = load(**asked)
    *drawn, last = context(task, shots=30).split("\n\n")
    assert last == context(task)
    assert len(drawn) == 30
    assert set(drawn) <= shown
    assert not set(drawn) <= others


def test_a_draw_depends_on_the_seed_the_task_and_the_sample_alone() -> None:
    """So neither several processes, nor --limit, nor the order of the samples change a prompt."""

    def contexts(numbers: Iterable[int], seed: int = 1234, name: str = MINI) -> dict[int, str]:
        task = load(MINI)
        task.config.task = name
        task.set_fewshot_seed(seed)
        docs = task.eval_docs
        return {i: task.fewshot_context(docs[i], num_fewshot=3) for i in numbers}

    everything = contexts(range(6))
    assert contexts([5, 3, 1]) == {number: everything[number] for number in (1, 3, 5)}
    assert contexts([4]) == {4: everything[4]}
    assert contexts([4], seed=1)[4] != everything[4]
    shown = {text.rpartition("\n\n")[0] for text in everything.values()}
    assert len(shown) == 6
    other = contexts([4], name="another")[4]
    assert other.rpartition("\n\n")[2] == everything[4].rpartition("\n\n")[2]
    assert other != everything[4]


def test_a_demonstration_to_a_seq2seq_model_says_where_its_text_begins() -> None:
    demonstration, prompt = context(load(prompt_style="seq2seq"), shots=1).split("\n\n")
    assert demonstration.count(" Output: ") == 1
    assert " Output:" not in prompt


def test_an_arm_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError, match="fewshot_arm=atoms is not an arm") as caught:
        load(fewshot_arm="atoms")
    assert caught.value.remedy == "Use atom or combination."


def test_a_test_set_that_is_not_the_tasks_own_is_refused() -> None:
    with pytest.raises(SplitError, match="the test set has the SHA-256"):
        load(test_sha256="0" * 64)


def test_a_benchmark_that_there_is_not_is_refused() -> None:
    with pytest.raises(ConfigError) as caught:
        load(benchmark="sporr")
    assert "sporr" in caught.value.what
    assert "spor" in str(caught.value.remedy)


def test_a_task_file_that_names_no_benchmark_is_of_spor() -> None:
    (file,) = task_files.expand([MINI])
    metadata = {key: value for key, value in file.content["metadata"].items() if key != "benchmark"}
    found = plan.resolve(metadata)
    assert (found.spec.benchmark, found.spec.task) == ("spor", MINI)


# --- What is written down -------------------------------------------------------------------------


def test_a_result_says_what_was_evaluated_and_on_what(
    checkpoint: Callable[..., Path], tmp_path: Path
) -> None:
    file = tmp_path / "results.json"
    file.write_text(json.dumps(evaluate(checkpoint(), {}, log_samples=False), default=str))
    (result,) = runs.read(file)
    pair = named.load("systematicity", "mini")
    assert (result.task, result.aspect, result.corpus) == (MINI, "systematicity", "mini")
    assert result.adapter is None
    assert result.n == 2
    assert set(result.scores) == {
        "parent",
        "parent_precision",
        "parent_recall",
        "parent_full_table",
        "chrf",
        "coverage",
        "empty",
    }
    assert result.signature["test_sha256"] == digest(pair.test.samples)
    assert result.signature["spor_tasks"] == __version__
    facts = json.loads(file.read_text())["configs"][MINI]["metadata"]["spor"]
    assert facts["fewshot_arm"] == "atom"
    assert facts["arms"] == {arm.name: digest(arm.samples) for arm in pair.arms}


def test_outputs_can_be_had_without_scores(checkpoint: Callable[..., Path]) -> None:
    result = evaluate(checkpoint(), {}, predict_only=True)
    assert result["results"][MINI]["bypass,none"] == 999
    assert len(result["samples"][MINI]) == 2


@pytest.fixture
def adapter(tmp_path: Path, checkpoint: Callable[..., Path]) -> Path:
    """A LoRA adapter of the tiny model, with the manifest that training writes."""
    base = checkpoint()
    model = transformers.AutoModelForCausalLM.from_pretrained(base)
    folder = tmp_path / "adapter"
    peft.get_peft_model(model, peft.LoraConfig(r=2, task_type="CAUSAL_LM")).save_pretrained(folder)
    write_manifest(folder, manifest(folder, base))
    return folder


def test_a_result_names_the_adapter_it_was_reached_with(
    adapter: Path, checkpoint: Callable[..., Path], tmp_path: Path
) -> None:
    file = tmp_path / "results.json"
    file.write_text(json.dumps(evaluate(checkpoint(), {"peft": str(adapter)}), default=str))
    (result,) = runs.read(file)
    assert result.adapter is not None
    assert (result.adapter.arm, result.seed) == ("combination", 3)
    assert result.adapter.adapter_sha256 == digest_weights(adapter)
    facts = json.loads(file.read_text())["configs"][MINI]["metadata"]["spor"]["adapter"]
    assert facts["violations"] == ["2 atoms do not occur in Atom"]
    assert facts["pairs"] == 36
    assert facts["selection"]["scores"] == [{"parent": 1.0}]


def test_an_adapter_that_was_trained_on_another_split_is_refused_unless_that_is_meant(
    adapter: Path, checkpoint: Callable[..., Path]
) -> None:
    base = checkpoint()
    changed = {"corpus": "webnlg", "arm_sha256": "0" * 64}
    write_manifest(adapter, manifest(adapter, base, **changed))
    arguments = {"pretrained": str(base), "peft": str(adapter)}
    with pytest.raises(
        ConfigError, match="was trained on combination of systematicity webnlg, SHA-256 000"
    ) as caught:
        load(**arguments)
    assert "allow_split_mismatch=true" in str(caught.value.remedy)
    assert load(**arguments, allow_split_mismatch=True)


def test_an_adapter_serves_every_task_whose_split_has_its_arm(
    adapter: Path, checkpoint: Callable[..., Path]
) -> None:
    base = checkpoint()
    original = named.load("order_invariance", "mini", part="main").arms[0]
    changed = {"arm": original.name, "arm_sha256": digest(original.samples)}
    write_manifest(adapter, manifest(adapter, base, **changed))
    arguments = {"pretrained": str(base), "peft": str(adapter)}
    for task in ("order_invariance_mini_cwio", "rule_learnability_mini"):
        assert load(f"spor_{task}", **arguments)
    with pytest.raises(ConfigError, match="not atom or combination here"):
        load(**arguments)


def test_a_permission_that_is_neither_yes_nor_no_is_refused(
    adapter: Path, checkpoint: Callable[..., Path]
) -> None:
    with pytest.raises(ConfigError, match="allow_split_mismatch=no is neither true nor false"):
        load(pretrained=str(checkpoint()), peft=str(adapter), allow_split_mismatch="no")


def test_an_adapter_of_another_program_is_evaluated_with_a_warning(
    adapter: Path, checkpoint: Callable[..., Path], caplog: pytest.LogCaptureFixture
) -> None:
    (adapter / "spor.json").unlink()
    with caplog.at_level(logging.WARNING, logger="spor_tasks"):
        task = load(pretrained=str(checkpoint()), peft=str(adapter))
    assert "does not say what it was trained on" in caplog.text
    assert task.config.metadata["spor"]["adapter"] == {
        "arm": None,
        "arm_sha256": None,
        "violations": None,
        "pairs": None,
        "seed": None,
        "settings": None,
        "settings_sha256": None,
        "selection": None,
        "adapter_sha256": digest_weights(adapter),
        "base_model": None,
    }
