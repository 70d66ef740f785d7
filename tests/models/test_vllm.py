"""vLLM itself on our tasks, against transformers: the same outputs, scores and names.

It has an environment of its own (docs/evaluate.md), so that these tests skip in any other.
"""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import peft
import pytest
import torch

from spor_tasks.results import runs
from tests.support.scored import scored
from tests.support.tiny_bases import make_model, make_tokenizer

pytestmark = [
    pytest.mark.skipif(
        find_spec("vllm") is None, reason="vLLM is not installed: docs/evaluate.md says how"
    ),
    pytest.mark.timeout(900),
]

TASKS = (
    *("spor_systematicity_mini", "spor_systematicity_mini_icl_atom"),
    "spor_order_invariance_mini_main",
)


class Made(NamedTuple):
    """The folders of a tiny base, and of two adapters of it."""

    base: Path
    adapters: tuple[Path, ...]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a base whose heads are as wide as vLLM asks for on a CPU."""
    folder = tmp_path_factory.mktemp("tiny")
    tokenizer = make_tokenizer("llama", merges=())
    torch.manual_seed(0)
    model = make_model("llama", len(tokenizer), width=64, heads=2, positions=4096)
    for parameter in model.parameters():  # fresh weights are so small that it repeats itself
        parameter.data.mul_(12 if parameter.dim() > 1 else 1)
    model.save_pretrained(folder / "base")
    tokenizer.save_pretrained(folder / "base")
    adapters = (folder / "first", folder / "second")
    for adapter in adapters:
        config = peft.LoraConfig(
            r=8, task_type="CAUSAL_LM", target_modules=["q_proj", "v_proj"], init_lora_weights=False
        )
        tuned = peft.get_peft_model(model, config)
        tuned.save_pretrained(adapter)
        model = tuned.unload()
    return Made(folder / "base", adapters)


@pytest.fixture(scope="module")
def both(made, tmp_path_factory):
    """Return the results of vLLM and of transformers: the first adapter, the second, the base."""
    folder = tmp_path_factory.mktemp("results")
    environment = {"HF_HUB_OFFLINE": "1", "VLLM_CPU_KVCACHE_SPACE": "1"}
    for kind, argument, settings, more in (
        (
            "spor-vllm",
            "lora_local_path",
            "dtype=float32,max_model_len=4096,enforce_eager=True",
            ("--batch_size", "auto"),
        ),
        ("spor-hf", "peft", "dtype=float32", ("--batch_size", "4", "--device", "cpu")),
    ):
        base = f"pretrained={made.base},{settings}"
        command = [
            *(str(Path(sys.executable).parent / "spor"), "eval", "--model", kind, *more),
            *("--tasks", ",".join(TASKS), "--limit", "4", "--gen_kwargs", "max_gen_toks=16"),
            *("--models", *(f"{base},{argument}={adapter}" for adapter in made.adapters), base),
            *("--log_samples", "--output_path", str(folder / kind)),
        ]
        with (folder / f"{kind}.log").open("w") as log:
            done = subprocess.run(
                command,
                env={**os.environ, **environment, "VLLM_LOGGING_LEVEL": "INFO"},
                stdout=log,
                stderr=subprocess.STDOUT,
                check=False,
            )
        assert done.returncode == 0, (folder / f"{kind}.log").read_text()[-5000:]
    return folder.joinpath


def test_outputs_and_scores_are_transformers(both, made):
    """Greedy, in context and in pairs; with either adapter, and without."""
    found, expected = (scored(both(kind)) for kind in ("spor-vllm", "spor-hf"))
    names = {f"{made.base} + {adapter}" for adapter in made.adapters} | {str(made.base)}
    assert found.keys() == {(name, task) for name in names for task in TASKS}
    assert found == expected
    for task in TASKS:
        different = {tuple(found[name, task]) for name in names}
        assert len(different) == len(names), "an adapter that changes nothing shows nothing"
    ours, theirs = (
        {(result.model, result.task): result.scores for result in runs.collect([both(kind)]).runs}
        for kind in ("spor-vllm", "spor-hf")
    )
    assert ours == theirs


def test_the_base_is_loaded_once_and_results_name_the_package(both):
    assert both("spor-vllm.log").read_text().count("Initializing a V1 LLM engine") == 1
    for result in runs.collect([both("spor-vllm")]).runs:
        assert result.signature["backend"] == "spor-vllm"
        assert result.signature["dtype"] == "float32"
        assert result.log.versions.keys() & {"vllm", "vllm-cpu"}
