"""Adapters that are merged into their base, against the same ones beside it."""

import json

import peft
import pytest
import transformers

from spor_tasks.core.errors import ConfigError
from spor_tasks.harness import host
from spor_tasks.models.checkpoints import ADAPTER_CONFIG, CODED
from spor_tasks.models.hf import SporHF, swap_adapter

PROMPTS = [f"{'item ' * (number % 5)}{number}" for number in range(6)]


def loaded(base, adapter, **settings):
    return SporHF(str(base), device="cpu", batch_size=3, peft=str(adapter), **settings)


def written(model):
    settings = {"until": [], "max_gen_toks": 12, "do_sample": False}
    asked = [host.request({}, prompt, settings, n) for n, prompt in enumerate(PROMPTS)]
    return model.generate_until(asked, disable_tqdm=True)


@pytest.fixture
def adapted(checkpoint, tmp_path):
    """Return the base of a kind, and a random adapter of it by a config of peft."""

    def make(config, kind="gpt2"):
        model = transformers.AutoModelForCausalLM.from_pretrained(checkpoint(kind))
        config.task_type = "CAUSAL_LM"
        peft.get_peft_model(model, config).save_pretrained(tmp_path / "adapter")
        return checkpoint(kind), tmp_path / "adapter"

    return make


@pytest.mark.parametrize("kind", ["llama", "gpt2", "t5", "bart"])
def test_it_writes_the_same_and_the_result_says_so(kind, checkpoint, lora):
    beside, merged = (loaded(checkpoint(kind), lora(kind), merge=way) for way in (None, True))
    bare = SporHF(str(checkpoint(kind)), device="cpu", batch_size=3)
    assert written(merged) == written(beside) != written(bare)
    named = [each.get_model_info()["adapter_merged"] for each in (bare, beside, merged)]
    assert named == [False, False, True]
    assert type(merged.model) is type(bare.model)
    assert not swap_adapter(merged, None)


REFUSED = {
    "prompt": (peft.PromptTuningConfig(num_virtual_tokens=4), "changes no weights"),
    "prefix": (peft.PrefixTuningConfig(num_virtual_tokens=4), "changes no weights"),
    "tied": (
        peft.LoraConfig(r=2, target_modules=["wte"], init_lora_weights=False),
        "other probabilities",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_adapter_that_cannot_be_merged_is_refused(name, adapted):
    config, why = REFUSED[name]
    base, adapter = adapted(config)
    with pytest.raises(ConfigError, match=why) as caught:
        loaded(base, adapter, merge=True)
    assert caught.value.where == str(adapter)
    assert caught.value.remedy


def test_what_changes_no_weights_of_the_base_is_refused_before_it_is_loaded(
    checkpoint, lora, tmp_path
):
    facts = {"peft_type": CODED, "kind": "dcg", "sizes": {}, "aspects": {}}
    (tmp_path / ADAPTER_CONFIG).write_text(json.dumps(facts))
    for adapter, settings, why in (
        (tmp_path, {}, "changes no weights"),
        (lora("llama"), {"quantization": "nf4"}, "four bits"),
        ("", {}, "there is no adapter"),
        (lora("llama"), {"merge": "yes"}, "merge=yes is unknown"),
    ):
        with pytest.raises(ConfigError, match=why):
            loaded(checkpoint(), adapter, **{"merge": True, **settings})
