"""Every kind of model that lm-eval loads, on our tasks: what it is asked, and what comes of it."""

import importlib.metadata
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import lm_eval
import pytest
import transformers
from lm_eval.api.registry import get_model

from spor_tasks.core.errors import ConfigError
from spor_tasks.evaluation.run import Evaluator
from spor_tasks.harness import host, task_files
from spor_tasks.results import runs
from tests.evaluation import one_of_several
from tests.support.openai_server import Server, serve
from tests.support.scripted import texts

MAIN = "spor_order_invariance_mini_main"
ATOMS = "spor_systematicity_mini"
BEAMS = {"num_beams": 5}


def evaluate(
    model: str,
    arguments: dict[str, Any],
    task: str,
    **settings: Any,  # noqa: ANN401
) -> dict[str, Any]:
    return lm_eval.simple_evaluate(  # type: ignore[no-any-return]
        model=model,
        model_args=arguments,
        tasks=[task],
        task_manager=task_files.manager(arguments, model_type=model),
        **{"limit": 3, **settings},
    )


def outputs(result: dict[str, Any], task: str) -> list[list[str]]:
    return [texts(row) for row in result["samples"][task]]


# --- Beams ----------------------------------------------------------------------------------------


FEW = {"device": "cpu", "gen_kwargs": {"max_gen_toks": 8, **BEAMS}}


def test_our_own_model_searches_with_beams(checkpoint: Callable[..., Path]) -> None:
    result = evaluate("spor-hf", {"pretrained": str(checkpoint("gpt2"))}, ATOMS, **FEW)
    assert len(set(chain.from_iterable(outputs(result, ATOMS)))) > 1
    assert result["config"]["prompts_cut"] == {ATOMS: 0}
    assert result["configs"][ATOMS]["generation_kwargs"]["num_beams"] == 5


@pytest.mark.parametrize(("model", "task"), [("hf", ATOMS), ("dummy", ATOMS), ("dummy", MAIN)])
def test_other_models_refuse_beams_before_prompts_are_built(
    model: str, task: str, checkpoint: Callable[..., Path]
) -> None:
    arguments = {"pretrained": str(checkpoint("gpt2"))} if model == "hf" else {}
    with pytest.raises(ConfigError) as caught:
        evaluate(model, arguments, task, **FEW)
    assert caught.value.where == task
    assert "spor-hf" in str(caught.value.remedy)


def test_a_dummy_runs_what_is_decoded_greedily() -> None:
    assert outputs(evaluate("dummy", {}, MAIN), MAIN) == [["lol", "lol"]] * 3


# --- Servers --------------------------------------------------------------------------------------


def api_arguments(server: Server, path: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    pytest.importorskip("tenacity", reason="lm-eval's extra `api` is not installed")
    return {
        "base_url": f"{server.url}/{path}",
        "model": "tiny",
        "tokenizer_backend": None,
        "tokenized_requests": False,
        **more,
    }


def shout(prompt: str) -> str:
    return f"\n{prompt[-20:-1].upper()}\nand more"


def test_only_models_of_transformers_load_the_module_that_tells_them() -> None:
    """What the tasks know of the backend. In a process of its own, for others load it here."""
    script = (
        "from lm_eval.api.registry import get_model\n"
        "from spor_tasks.harness.backends import backend\n"
        "for name in ('dummy', 'local-completions', 'openai-chat-completions'): get_model(name)\n"
        "assert backend(None) == backend('dummy')\n"
        "get_model('hf')\n"
        "assert backend(None) == backend('hf')\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("concurrent", [1, 4])
def test_a_server_of_completions_is_sent_the_prompts(concurrent: int) -> None:
    with serve(shout) as server:
        arguments = api_arguments(server, "completions", num_concurrent=concurrent)
        result = evaluate("local-completions", arguments, MAIN)
    documents = [row["doc"] for row in result["samples"][MAIN]]
    both = [[document["prompt"], document["prompt_2"]] for document in documents]
    assert outputs(result, MAIN) == [[prompt[-20:-1].upper() for prompt in pair] for pair in both]
    assert sorted(body["prompt"] for body in server.requests) == sorted(chain.from_iterable(both))
    for body in server.requests:
        assert (body["max_tokens"], body["temperature"]) == (128, 0)
        assert body["stop"] == ["\ntranslate from ", "\nWrite a short English text"]
        assert body.keys().isdisjoint({"num_beams", "no_repeat_ngram_size", "length_penalty"})


def test_a_served_adapter_is_named_by_the_metadata(
    checkpoint: Callable[..., Path], lora: Callable[[str], Path], tmp_path: Path
) -> None:
    metadata = {"pretrained": str(checkpoint()), "peft": str(lora("llama"))}
    with serve(shout) as server:
        Evaluator("local-completions").evaluate(
            [api_arguments(server, "completions")], [MAIN], tmp_path, metadata=metadata, limit=2
        )
    (result,) = runs.collect([tmp_path]).runs
    assert result.model == f"{checkpoint()} + {lora('llama')}"
    assert result.signature["backend"] == "local-completions"


@pytest.mark.parametrize("multiturn", [False, True])
def test_a_server_of_chats_is_sent_demonstrations_as_turns(*, multiturn: bool) -> None:
    with serve(shout) as server:
        result = evaluate(
            "local-chat-completions",
            api_arguments(server, "chat/completions"),
            ATOMS,
            num_fewshot=2,
            apply_chat_template=True,
            fewshot_as_multiturn=multiturn,
        )
    assert len(server.requests) == len(outputs(result, ATOMS)) == 3
    for body, row in zip(server.requests, sorted_by_prompt(result), strict=True):
        roles = [message["role"] for message in body["messages"]]
        assert roles == (["user", "assistant"] * 2 + ["user"] if multiturn else ["user"])
        assert body["messages"][-1]["content"].endswith(row["doc"]["prompt"])
        assert body["messages"][-1]["content"].count("translate from") == (1 if multiturn else 3)


def sorted_by_prompt(result: dict[str, Any]) -> list[dict[str, Any]]:
    """The logged rows in the order in which lm-eval asks a server: longest context first."""
    rows: list[dict[str, Any]] = result["samples"][ATOMS]
    return sorted(rows, key=lambda row: -len(row["arguments"][0][0]))


# --- vLLM, of which only the arguments are checked here -------------------------------------------


@dataclass
class SamplingParams:
    """Those of vLLM's that are set here; it refuses any other, such as beams."""

    max_tokens: int
    temperature: float
    stop: list[str] = field(default_factory=list)
    skip_special_tokens: bool = True
    spaces_between_special_tokens: bool = True


GREEDY: dict[str, Any] = {"do_sample": False, "until": []}
END = 2
TOKENS = (36, 103, END)


class VllmCalls(list[dict[str, Any]]):
    """What vLLM was called with."""


@pytest.fixture(scope="module")
def vllm_package() -> Iterator[VllmCalls]:
    """A package that stands in for vLLM, and writes its calls down; lm-eval imports it once."""
    calls = VllmCalls()

    class LLM:
        llm_engine = SimpleNamespace(
            model_config=SimpleNamespace(
                max_model_len=2048, try_get_generation_config=lambda: {"eos_token_id": END}
            )
        )

        def __init__(self, **kwargs: Any) -> None:  # noqa: ANN401
            calls.append(kwargs)

        def generate(self, prompts: list[Any], **kwargs: Any) -> list[SimpleNamespace]:  # noqa: ANN401
            calls.append({"prompts": prompts, **kwargs})
            written = SimpleNamespace(text="A text.\nMore", token_ids=TOKENS)
            return [SimpleNamespace(outputs=[written])] * len(prompts)

    def tokenizer(name: str, **_: object) -> transformers.PreTrainedTokenizerBase:
        return transformers.AutoTokenizer.from_pretrained(name)

    contents: dict[str, dict[str, Any]] = {
        "vllm": {"LLM": LLM, "SamplingParams": SamplingParams, "TokensPrompt": dict},
        "vllm.lora": {},
        "vllm.lora.request": {"LoRARequest": lambda *parts: parts},
        "vllm.renderers": {},
        "vllm.renderers.hf": {"resolve_chat_template": lambda **_: None},
        "vllm.tokenizers": {"get_tokenizer": tokenizer},
    }
    monkeypatch = pytest.MonkeyPatch()
    for name, content in contents.items():
        module = ModuleType(name)
        module.__spec__ = importlib.machinery.ModuleSpec(name, None)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name, module)
    installed = importlib.metadata.version
    monkeypatch.setattr(
        importlib.metadata,
        "version",
        lambda name: "0.15.0" if name == "vllm" else installed(name),
    )
    yield calls
    monkeypatch.undo()


@pytest.fixture
def vllm(vllm_package: VllmCalls) -> VllmCalls:
    vllm_package.clear()
    return vllm_package


@pytest.mark.skipif(host.IS_NEW, reason="lm-eval 0.5 imports more of vLLM than is replaced here")
def test_vllm_is_given_the_adapter_and_decodes_greedily(
    vllm: VllmCalls, checkpoint: Callable[..., Path], lora: Callable[[str], Path]
) -> None:
    arguments = {"pretrained": str(checkpoint()), "lora_local_path": str(lora("llama"))}
    result = evaluate("vllm", arguments, MAIN, batch_size="auto")
    built, asked = vllm
    assert (built["model"], built["enable_lora"]) == (arguments["pretrained"], True)
    assert asked["lora_request"][-1] == arguments["lora_local_path"]
    assert len(asked["prompts"]) == 6
    for decoding in asked["sampling_params"]:
        assert (decoding.max_tokens, decoding.temperature) == (128, 0)
        assert "\ntranslate from " in decoding.stop
    assert outputs(result, MAIN) == [["A text.", "A text."]] * 3
    facts = result["configs"][MAIN]["metadata"]["spor"]
    assert facts["prompt_style"] == "causal"
    assert facts["generation"].keys() == {"do_sample", "max_gen_toks", "until"}
    assert facts["adapter"]["adapter_sha256"]
    with pytest.raises(ConfigError, match="does not search with beams"):
        evaluate("vllm", arguments, ATOMS, gen_kwargs=BEAMS)


@pytest.mark.skipif(host.IS_NEW, reason="lm-eval 0.5 imports more of vLLM than is replaced here")
@pytest.mark.usefixtures("vllm")
def test_spor_vllm_decodes_the_tokens_as_transformers(
    checkpoint: Callable[..., Path], lora: Callable[[str], Path]
) -> None:
    arguments = {"pretrained": str(checkpoint()), "lora_local_path": str(lora("llama"))}
    (found,) = Evaluator("spor-vllm", batch_size=2).evaluate([arguments], [ATOMS], limit=3)
    generation = found["configs"][ATOMS]["metadata"]["spor"]["generation"]
    assert generation.keys() == {"do_sample", "max_gen_toks", "until"}  # none of transformers' own
    tokenizer = transformers.AutoTokenizer.from_pretrained(arguments["pretrained"])
    model = get_model("spor-vllm")(**arguments)
    (text,) = model.generate_until([host.request({}, "A", GREEDY, 0)], disable_tqdm=True)
    assert text == tokenizer.decode(TOKENS[:-1])


@pytest.mark.skipif(host.IS_NEW, reason="lm-eval 0.5 imports more of vLLM than is replaced here")
def test_adapters_of_a_base_that_vllm_has_loaded_are_swapped(
    vllm: VllmCalls, checkpoint: Callable[..., Path], lora: Callable[[str], Path], tmp_path: Path
) -> None:
    base = {"pretrained": str(checkpoint())}
    second = shutil.copytree(lora("llama"), tmp_path / "second")
    tuned = [{**base, "lora_local_path": str(each)} for each in (lora("llama"), second)]
    shared = Evaluator("vllm", batch_size="auto")
    for number, arguments in enumerate((base, tuned[0], tuned[1], base, tuned[0])):
        shared.evaluate([arguments], [ATOMS], tmp_path / str(number), limit=2)
    assert [call["enable_lora"] for call in vllm if "model" in call] == [False, True]
    asked = [call["lora_request"] for call in vllm if "prompts" in call]
    paths = [tuned[0]["lora_local_path"], tuned[1]["lora_local_path"]]
    assert [each and each[-1] for each in asked] == [None, paths[0], paths[1], None, paths[0]]
    # vLLM takes an adapter with a known name or number for the known one.
    requests = [each for each in asked if each]
    assert len({each[0] for each in requests}) == len({each[1] for each in requests}) == 3
    (second_file,) = (tmp_path / "2").rglob("results_*.json")
    assert json.loads(second_file.read_text())["model_name"] == paths[1]


# --- Several processes ----------------------------------------------------------------------------


@pytest.mark.soak
def test_two_processes_give_the_numbers_of_one(
    checkpoint: Callable[..., Path], tmp_path: Path
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    command = [sys.executable, one_of_several.__file__, str(checkpoint("gpt2")), str(two), port]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    one_of_several.main(str(checkpoint("gpt2")), one)

    assert sorted(path.name for path in two.glob("process_*")) == [
        "process_0_of_2",
        "process_1_of_2",
    ]
    expected, actual = (json.loads((folder / "result.json").read_text()) for folder in (one, two))
    assert repr(expected) == repr(actual), "NaN is not equal to itself, but it is written alike"
    assert expected["cut"] == {one_of_several.TASKS[0]: 2, one_of_several.TASKS[1]: 2}
