"""Every kind of model that lm-eval loads, on our tasks: its requests and its results."""

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import transformers

from spor_tasks.core.errors import ConfigError
from spor_tasks.evaluation.run import Evaluator
from spor_tasks.harness import host
from spor_tasks.results import runs
from tests.conftest import REPOSITORY
from tests.support.openai_server import serve
from tests.support.scored import scored
from tests.support.scripted import evaluate_folder, texts

MAIN = "spor_order_invariance_mini_main"
ATOMS = "spor_systematicity_mini"


BEAMS = {"max_gen_toks": 8, "num_beams": 5}


def test_our_own_model_searches_with_beams(checkpoint):
    result = evaluate_folder(checkpoint("gpt2"), ATOMS, model="spor-hf", gen_kwargs=BEAMS)
    assert len({*chain.from_iterable(map(texts, result["samples"][ATOMS]))}) > 1
    assert result["config"]["prompts_cut"] == {ATOMS: 0}
    assert result["configs"][ATOMS]["generation_kwargs"]["num_beams"] == 5


@pytest.mark.parametrize(("model", "task"), [("hf", ATOMS), ("dummy", ATOMS), ("dummy", MAIN)])
def test_other_models_refuse_beams_at_once(model, task, checkpoint):
    with pytest.raises(ConfigError) as caught:
        evaluate_folder(checkpoint("gpt2"), task, model=model, gen_kwargs=BEAMS)
    assert caught.value.where == task
    assert "spor-hf" in str(caught.value.remedy)


# --- Servers --------------------------------------------------------------------------------------


def api_arguments(server, path, **more):
    pytest.importorskip("tenacity", reason="lm-eval's extra `api` is not installed")
    return {
        "base_url": f"{server.url}/{path}",
        "model": "tiny",
        "tokenizer_backend": None,
        "tokenized_requests": False,
        **more,
    }


def shout(prompt):
    return f"\n{prompt[-20:-1].upper()}\nand more"


def test_only_models_of_transformers_load_the_module_that_tells_them():
    """What the tasks know of the backend. In a process of its own, for others load it here."""
    script = (
        "from lm_eval.api.registry import get_model\n"
        "from spor_tasks.models.backends import backend\n"
        "for name in ('dummy', 'local-completions', 'openai-chat-completions'): get_model(name)\n"
        "assert backend(None) == backend('dummy')\n"
        "get_model('hf')\n"
        "assert backend(None) == backend('hf')\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("concurrent", [1, 4])
def test_a_server_of_completions_is_sent_the_prompts(concurrent, checkpoint, lora, tmp_path):
    """The metadata names the model that it serves."""
    metadata = {"pretrained": str(checkpoint()), "peft": str(lora("llama"))}
    with serve(shout) as server:
        arguments = api_arguments(server, "completions", num_concurrent=concurrent)
        Evaluator("local-completions").evaluate(
            [arguments], [MAIN], tmp_path, metadata=metadata, limit=3
        )
    (result,) = runs.collect([tmp_path]).runs
    assert result.model == f"{checkpoint()} + {lora('llama')}"
    assert result.signature["backend"] == "local-completions"
    (pairs,) = scored(tmp_path).values()
    prompts = [body["prompt"] for body in server.requests]
    assert sorted(chain.from_iterable(pairs)) == sorted(each[-20:-1].upper() for each in prompts)
    assert len(pairs) == 3
    for body in server.requests:
        assert (body["max_tokens"], body["temperature"]) == (128, 0)
        assert body["stop"][0].strip() == "translate from"
        assert body.keys().isdisjoint({"num_beams", "no_repeat_ngram_size", "length_penalty"})


@pytest.mark.parametrize("multiturn", [False, True])
def test_a_server_of_chats_is_sent_demonstrations_as_turns(*, multiturn):
    with serve(shout) as server:
        result = evaluate_folder(
            None,
            ATOMS,
            model="local-chat-completions",
            model_args=api_arguments(server, "chat/completions"),
            num_fewshot=2,
            apply_chat_template=True,
            fewshot_as_multiturn=multiturn,
        )
    # lm-eval sends the longest context first.
    rows = sorted(result["samples"][ATOMS], key=lambda row: -len(row["arguments"][0][0]))
    assert len(server.requests) == len(rows) == 3
    for body, row in zip(server.requests, rows, strict=True):
        roles = [message["role"] for message in body["messages"]]
        assert roles == (["user", "assistant"] * 2 + ["user"] if multiturn else ["user"])
        assert body["messages"][-1]["content"].endswith(row["doc"]["prompt"])
        assert body["messages"][-1]["content"].count("translate from") == (1 if multiturn else 3)


# --- vLLM, of which only the arguments are checked here -------------------------------------------


@dataclass
class SamplingParams:
    """Those of vLLM's that are set here; it refuses any other, such as beams."""

    max_tokens: int
    temperature: float
    stop: list[str] = field(default_factory=list)
    skip_special_tokens: bool = True
    spaces_between_special_tokens: bool = True


END = 2
TOKENS = (36, 103, END)


@pytest.fixture
def vllm(monkeypatch):
    """A package that stands in for vLLM, and writes its calls down; lm-eval imports it once."""
    calls = list[dict[str, Any]]()

    class LLM:
        llm_engine = SimpleNamespace(
            model_config=SimpleNamespace(
                max_model_len=2048, try_get_generation_config=lambda: {"eos_token_id": END}
            )
        )

        def __init__(self, **kwargs):
            calls.append(kwargs)

        def generate(self, prompts, **kwargs):
            calls.append({"prompts": prompts, **kwargs})
            written = SimpleNamespace(text="A text.\nMore", token_ids=TOKENS)
            return [SimpleNamespace(outputs=[written])] * len(prompts)

    def tokenizer(name, **_):
        return transformers.AutoTokenizer.from_pretrained(name)

    contents = {
        "vllm": {"LLM": LLM, "SamplingParams": SamplingParams, "TokensPrompt": dict},
        "vllm.lora": {},
        "vllm.lora.request": {"LoRARequest": lambda *parts: parts},
        "vllm.renderers": {},
        "vllm.renderers.hf": {"resolve_chat_template": lambda **_: None},
        "vllm.tokenizers": {"get_tokenizer": tokenizer},
    }
    installed = importlib.metadata.version
    for name, content in contents.items():
        module = ModuleType(name)
        module.__spec__ = importlib.machinery.ModuleSpec(name, None)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name, module)
    versions = {"vllm": "0.15.0"}
    monkeypatch.setattr(
        importlib.metadata, "version", lambda name: versions.get(name) or installed(name)
    )
    return calls


@pytest.mark.skipif(host.IS_NEW, reason="lm-eval 0.5 imports more of vLLM than is replaced here")
def test_vllm_swaps_adapters_and_its_tokens_are_decoded_as_transformers_does(
    vllm, checkpoint, lora, tmp_path
):
    base = {"pretrained": str(checkpoint())}
    second = shutil.copytree(lora("llama"), tmp_path / "second")
    paths = [str(lora("llama")), str(second)]
    tuned = [{**base, "lora_local_path": path} for path in paths]
    shared = Evaluator("spor-vllm", batch_size="auto")
    text = transformers.AutoTokenizer.from_pretrained(checkpoint()).decode(TOKENS[:-1])
    for number, arguments in enumerate((base, tuned[0], tuned[1], base, tuned[0])):
        (result,) = shared.evaluate([arguments], [MAIN], tmp_path / str(number), limit=2)
        (written,) = scored(tmp_path / str(number)).values()
        assert written == [(text, text)] * 2
    spor = result["configs"][MAIN]["metadata"]["spor"]
    assert spor["prompt"]["style"] == "causal"
    assert spor["generation"].keys() == {"do_sample", "max_gen_toks", "until"}
    assert spor["adapter"]["adapter_sha256"]
    built = [call for call in vllm if "model" in call]
    assert [(call["model"], call["enable_lora"]) for call in built] == [
        (base["pretrained"], False),
        (base["pretrained"], True),
    ]
    generated = [call for call in vllm if "prompts" in call]
    adapters = [call["lora_request"] for call in generated]
    assert [each and each[-1] for each in adapters] == [None, *paths, None, paths[0]]
    # vLLM takes an adapter with a known name or number for the known one.
    requests = [each for each in adapters if each]
    assert len({each[0] for each in requests}) == len({each[1] for each in requests}) == 3
    for call in generated:
        assert len(call["prompts"]) == 4
        for decoding in call["sampling_params"]:
            assert (decoding.max_tokens, decoding.temperature) == (128, 0)
            assert "\ntranslate from " in decoding.stop
    (second_file,) = (tmp_path / "2").rglob("results_*.json")
    assert json.loads(second_file.read_text())["model_name"] == paths[1]
    result = evaluate_folder(checkpoint(), MAIN, model="vllm")
    assert [texts(row) for row in result["samples"][MAIN]] == [["A text.", "A text."]] * 3
    with pytest.raises(ConfigError, match="does not search with beams"):
        evaluate_folder(checkpoint(), ATOMS, model="vllm", gen_kwargs=BEAMS)
    with pytest.raises(ConfigError, match="does not mark where a text ends"):
        evaluate_folder(checkpoint(), ATOMS, model="vllm", gen_kwargs={"keeps_end": True})
    chats = shutil.copytree(checkpoint(), tmp_path / "chats")
    (chats / "chat_template.jinja").write_text(
        "{% if messages[0].role == 'system' %}{{ raise_exception('no such role') }}{% endif %}"
        "{{ messages[0].content }}"
    )
    for model in ("vllm", "spor-vllm"):
        asked = {"apply_chat_template": True, "system_instruction": "Be brief."}
        result = evaluate_folder(chats, MAIN, model=model, **asked)
        for row in result["samples"][MAIN]:
            assert all(prompt.startswith("Be brief.\n\n") for prompt, _ in row["arguments"])
        facts = result["configs"][MAIN]["metadata"]["spor"]
        assert facts["prompt"]["system_message"] == "first user turn"


# --- Several processes ----------------------------------------------------------------------------


@pytest.mark.soak
def test_two_processes_give_the_numbers_of_one(checkpoint, tmp_path):
    tasks = (MAIN, "spor_order_invariance_mini_cwio")
    launch = "--multi_gpu --num_processes 2 --num_machines 1 --mixed_precision no"
    launcher = [
        str(Path(sys.executable).parent / "accelerate"),
        *f"launch {launch} --dynamo_backend no --main_process_port 0 -m".split(),
    ]
    for name, prefix in (("one", [sys.executable, "-m"]), ("two", launcher)):
        command = [
            *(*prefix, "spor_tasks.cli", "eval", "--model", "spor-hf", "--tasks", ",".join(tasks)),
            *("--model_args", f"pretrained={checkpoint('gpt2')},max_length=600"),
            *("--device", "cpu", "--batch_size", "4", "--limit", "7", "--num_fewshot", "1"),
            *("--gen_kwargs", "max_gen_toks=24", "--log_samples"),
            *("--output_path", str(tmp_path / name)),
        ]
        environment = {**os.environ, "ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1"}
        done = subprocess.run(
            command, env=environment, cwd=REPOSITORY, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    one, two = (runs.collect([tmp_path / name]).runs for name in ("one", "two"))
    assert [result.task for result in one] == sorted(tasks)
    assert repr([each.scores for each in one]) == repr([each.scores for each in two])  # with NaN
    assert scored(tmp_path / "one") == scored(tmp_path / "two")
    for result in (*one, *two):
        cut = json.loads(result.file.read_text())["config"]["prompts_cut"]
        assert cut == dict.fromkeys(tasks, 2)
