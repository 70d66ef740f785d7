"""Checkpoints that lack weights, embeddings beyond the tokenizer, and texts that batches change."""

import copy
import json
import logging
import shutil
from pathlib import Path

import peft
import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from spor_tasks.core.errors import ConfigError
from spor_tasks.evaluation.run import Evaluator
from spor_tasks.harness import host
from spor_tasks.models import quantization, whole
from spor_tasks.models.checkpoints import Checkpoint
from spor_tasks.models.hf import SporHF, swap_adapter
from tests.support.checkpoints import *  # noqa: F403 - pytest takes fixtures from here
from tests.support.families import save_family
from tests.support.scripted import evaluate_folder
from tests.support.soak import some
from tests.support.tiny_bases import make_model, make_tokenizer

MINI = "spor_systematicity_mini"
AUTO = {True: transformers.AutoModelForSeq2SeqLM, False: transformers.AutoModelForCausalLM}


def by_spor_hf(base, adapter=None, **more):
    return SporHF(str(base), device="cpu", peft=adapter and str(adapter), **more)


def by_hf(base, adapter=None):
    adapters = {"peft": str(adapter)} if adapter else {}
    return whole.check_hf(Checkpoint.read({"pretrained": str(base), **adapters}), writes=False)


WAYS = pytest.mark.parametrize("way", [by_spor_hf, by_hf])


def damaged(folder, target, how):
    """Copy a checkpoint, whose file of weights has other names, or lacks some."""
    shutil.copytree(folder, target)
    (file,) = target.glob("*model.safetensors")
    weights = load_file(file)
    changed = how(dict(sorted(weights.items())))
    assert changed.keys() != weights.keys()
    save_file(changed or {"nothing": torch.zeros(1)}, file, {"format": "pt"})
    return target


def without_nine(weights):
    return dict([*weights.items()][9:])


def renamed(weights):
    return {f"other.{name}": weight for name, weight in weights.items()}


def without_all(_):
    return {}


def replaced(old, new):
    return lambda weights: {name.replace(old, new): each for name, each in weights.items()}


def without_b(weights):
    return {name: each for name, each in weights.items() if "lora_B" not in name}


# --- Missing weights ------------------------------------------------------------------------------


@WAYS
@pytest.mark.parametrize("kind", ["llama", "gpt2", "t5", "bart"])
@pytest.mark.parametrize("how", [without_nine, renamed, without_all])
def test_a_base_that_lacks_weights_is_refused(way, kind, how, checkpoint, tmp_path):
    folder = damaged(checkpoint(kind), tmp_path / "base", how)
    with pytest.raises(ConfigError, match=r"lacks \d+ weights? of its architecture") as caught:
        way(folder)
    assert caught.value.where == str(folder)


@WAYS
@pytest.mark.filterwarnings("ignore:You passed `quantization_config`")  # as lm-eval does
@pytest.mark.parametrize("form", ["bin", "shards", "bits"])
def test_other_forms_of_weights_are_read_too(way, form, checkpoint, tmp_path):
    folder = Path(shutil.copytree(checkpoint(), tmp_path / "base"))
    model = AUTO[False].from_pretrained(folder)
    file = folder / "model.safetensors"
    if form == "shards":
        file.unlink()
        model.save_pretrained(folder, max_shard_size="20KB")
        file = folder / "model.safetensors.index.json"
    elif form == "bits":
        settings = quantization.settings("nf4")
        model = AUTO[False].from_pretrained(folder, quantization_config=settings)
        model.save_pretrained(folder)
    else:
        file.unlink()
        file = folder / "pytorch_model.bin"
        torch.save(model.state_dict(), file)
    way(folder)
    lost = "model.layers.1.mlp.up_proj.weight"
    if form == "shards":
        index = json.loads(file.read_text())
        shard = index["weight_map"][lost]
        left = {key: each for key, each in index["weight_map"].items() if each != shard}
        file.write_text(json.dumps(index | {"weight_map": left}))
    elif form == "bits":
        weights = load_file(file)
        kept = {key: each for key, each in weights.items() if not key.startswith(lost)}
        save_file(kept, file, {"format": "pt"})
    else:
        torch.save({key: each for key, each in model.state_dict().items() if key != lost}, file)
    # transformers itself fails where it would draw four bits
    fault = "cannot be loaded" if (form, way) == ("bits", by_spor_hf) else "weights? of its archi"
    with pytest.raises(ConfigError, match=fault):
        way(folder)


FAMILIES = (
    "mvp gemma mixtral mamba rwkv qwen3 phi phi3 gpt_neox olmo2 opt bloom stablelm cohere granite "
    "glm4 starcoder2 marian mt5 gemma2 gemma3_text deepseek_v3 gpt_oss lfm2 helium pegasus led umt5"
)


@pytest.mark.parametrize("family", some(FAMILIES.split(), 4))
def test_a_whole_checkpoint_is_taken(family, tmp_path):
    save_family(family, tmp_path)
    if family == "mvp":  # a buffer of zeros, which old checkpoints lack
        weights = load_file(tmp_path / "model.safetensors")
        assert weights.pop("final_logits_bias").any() == False  # noqa: E712 - of torch
        save_file(weights, tmp_path / "model.safetensors", {"format": "pt"})
    by_spor_hf(tmp_path)
    assert by_hf(tmp_path) == ()


@pytest.mark.parametrize("kind", ["llama", "t5"])
@pytest.mark.parametrize(
    "how",
    [
        *(without_nine, renamed, without_all, without_b),
        replaced("base_model.model.", "base_model.model.language_model."),
        replaced(".1.", ".5."),
    ],
)
def test_an_adapter_that_does_not_fit_is_refused(kind, how, checkpoint, lora, tmp_path):
    folder = damaged(lora(kind), tmp_path / "adapter", how)
    for way in (by_spor_hf, by_hf):
        with pytest.raises(ConfigError, match=r"lacks \d+ weights? for this base") as caught:
            way(checkpoint(kind), folder)
        assert caught.value.where == str(folder)


@WAYS
def test_an_adapter_of_a_deeper_base_is_refused(way, checkpoint, lora, tmp_path):
    def deeper(weights):
        more = {key.replace(".1.", ".2."): each.clone() for key, each in weights.items()}
        return more | weights

    folder = damaged(lora("llama"), tmp_path / "adapter", deeper)
    with pytest.raises(ConfigError, match=r"has \d+ weights without a place in this base"):
        way(checkpoint(), folder)


def test_an_adapter_that_does_not_fit_is_not_swapped_in(checkpoint, lora, tmp_path):
    bad = damaged(lora("llama"), tmp_path / "adapter", without_b)
    with pytest.raises(ConfigError, match="lacks 4 weights"):
        swap_adapter(by_spor_hf(checkpoint()), str(bad))


@pytest.mark.parametrize(
    "changes",
    [
        *({}, {"modules_to_save": ["lm_head"]}, {"modules_to_save": ["norm"]}),
        *({"init_lora_weights": "pissa"}, {"bias": "all"}),
    ],
)
def test_the_next_adapter_has_nothing_of_the_one_before(changes, checkpoint, tmp_path):
    base = tmp_path / "base"
    biased = transformers.AutoConfig.from_pretrained(checkpoint(), attention_bias=True)
    AUTO[False].from_config(biased).save_pretrained(base)
    make_tokenizer("llama", merges=()).save_pretrained(base)
    config = peft.LoraConfig(r=2, **PLACES, **changes)
    model = by_spor_hf(base, adapter_of(base, config, tmp_path / "adapter"))
    is_swapped = swap_adapter(model, None)
    assert is_swapped == (not changes)
    if is_swapped:
        bare = by_spor_hf(base).model.state_dict()
        assert all(torch.equal(bare[key], each) for key, each in model.model.state_dict().items())


PLACES = {"target_modules": ["q_proj", "v_proj"]}
ADAPTERS = {
    "prompt": peft.PromptTuningConfig(num_virtual_tokens=4),
    "encoder": peft.PromptEncoderConfig(num_virtual_tokens=4, encoder_hidden_size=8),
    "saved": peft.LoraConfig(r=2, modules_to_save=["lm_head"], **PLACES),
    "vblora": peft.VBLoRAConfig(r=2, num_vectors=8, vector_length=8, **PLACES),
    "prefix": peft.PrefixTuningConfig(num_virtual_tokens=4),
    "ia3": peft.IA3Config(),
    "dora": peft.LoraConfig(r=2, use_dora=True, **PLACES),
    "bias": peft.LoraConfig(r=2, bias="all", **PLACES),
    "rows": peft.LoraConfig(r=2, trainable_token_indices={"embed_tokens": [5]}, **PLACES),
    "adalora": peft.AdaLoraConfig(total_step=10, **PLACES),
    "loha": peft.LoHaConfig(**PLACES),
    "lokr": peft.LoKrConfig(**PLACES),
    "oft": peft.OFTConfig(r=0, oft_block_size=4, **PLACES),
    "vera": peft.VeraConfig(r=4, **PLACES),
    "norms": peft.LNTuningConfig(),
}


def adapter_of(base, config, folder):
    """Save an adapter that changes what the base says."""
    config = copy.deepcopy(config)
    model = AUTO[transformers.AutoConfig.from_pretrained(base).is_encoder_decoder]
    config.task_type = "SEQ_2_SEQ_LM" if model is AUTO[True] else "CAUSAL_LM"
    torch.manual_seed(1)
    tuned = peft.get_peft_model(model.from_pretrained(base), config)
    for parameter in tuned.parameters():
        if parameter.requires_grad:
            parameter.data += 0.3 * torch.randn_like(parameter)
    tuned.save_pretrained(folder)
    return folder


@pytest.mark.filterwarnings("ignore:Unsupported layer type")  # peft's, of norms
@pytest.mark.parametrize("kind", some(ADAPTERS, 4))
def test_adapters_of_every_kind_are_taken_if_nothing_is_missing(kind, checkpoint, tmp_path):
    folder = adapter_of(checkpoint(), ADAPTERS[kind], tmp_path / "whole")
    by_spor_hf(checkpoint(), folder)
    assert by_hf(checkpoint(), folder) == ()
    bad = damaged(folder, tmp_path / "bad", lambda weights: dict([*weights.items()][1:]))
    for way in (by_spor_hf, by_hf):
        with pytest.raises(ConfigError, match=r"lacks \d+ weights? for this base"):
            way(checkpoint(), bad)


@pytest.mark.filterwarnings("ignore:Found missing adapter keys")  # peft's
def test_tasks_refuse_what_hf_has_loaded(checkpoint, lora, tmp_path):
    """As with lm-eval's own command, which loads a model before it builds our tasks."""
    base = damaged(checkpoint(), tmp_path / "base", without_nine)
    adapter = damaged(lora("llama"), tmp_path / "adapter", without_b)
    with pytest.raises(ConfigError, match="lacks 9 weights"):
        evaluate_folder(base, MINI)
    with pytest.raises(ConfigError, match="lacks 4 weights"):
        evaluate_folder(checkpoint(), MINI, model_args={"peft": str(adapter)})


# --- Embeddings and tokenizer ---------------------------------------------------------------------


@pytest.fixture(params=some(["llama", "t5", "gpt2", "bart"], 2))
def wide(request, tmp_path):
    """Return the folder of a base with more embeddings than its tokenizer has tokens."""
    torch.manual_seed(0)
    model = make_model(request.param, 320, width=32, heads=4)
    for parameter in model.parameters():
        parameter.data.mul_(8 if parameter.dim() > 1 else 1)
    model.save_pretrained(tmp_path / "wide")
    make_tokenizer(request.param, merges=(), padded=True).save_pretrained(tmp_path / "wide")
    return tmp_path / "wide"


@pytest.mark.filterwarnings("ignore:Model has `tie_word_embeddings=True`")  # peft's, in training
@pytest.mark.parametrize("trained", ["embeddings", "head", "neither"])
def test_an_adapter_has_the_logits_of_training(wide, trained, tmp_path):
    config = transformers.AutoConfig.from_pretrained(wide)
    names = {"llama": "embed_tokens", "gpt2": "wte"}
    whole_modules = {"embeddings": [names.get(config.model_type, "shared")], "head": ["lm_head"]}
    lora = peft.LoraConfig(
        r=2,
        target_modules=r".*(q_proj|c_attn|\.q)",
        fan_in_fan_out=config.model_type == "gpt2",
        modules_to_save=whole_modules.get(trained),
    )
    folder = adapter_of(wide, lora, tmp_path / "adapter")
    plain = AUTO[config.is_encoder_decoder].from_pretrained(wide)
    tuned = peft.PeftModel.from_pretrained(plain, str(folder)).eval()
    ids = torch.arange(3, 30)[None]
    more = {"labels": ids} if config.is_encoder_decoder else {}
    loaded = by_spor_hf(wide, folder, batch_size=2)
    with torch.no_grad():
        expected, found = (each(input_ids=ids, **more).logits for each in (tuned, loaded.model))
    assert expected.shape[-1] == 320
    assert torch.equal(expected, found)

    bare = by_spor_hf(wide)
    assert swap_adapter(bare, str(folder)), (
        "nothing is resized, so the base need not be loaded again"
    )
    with torch.no_grad():
        assert torch.equal(expected, bare.model(input_ids=ids, **more).logits)

    if trained == "neither":
        (note,) = by_hf(wide, folder)
        assert note.startswith("hf cuts the 320 embeddings of the base to the 259 tokens")
    else:
        with pytest.raises(ConfigError, match="trained with other embeddings: hf cuts") as caught:
            by_hf(wide, folder)
        assert "spor-hf" in caught.value.remedy


def test_embeddings_grow_for_tokens_that_were_added(checkpoint, tmp_path):
    tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoint())
    tokenizer.add_tokens(["[ENT]", "[SEP]"])
    tokenizer.save_pretrained(tmp_path / "tokenizer")
    model = AUTO[False].from_pretrained(checkpoint())
    model.resize_token_embeddings(261, mean_resizing=False)
    model.save_pretrained(tmp_path / "grown")
    rows = {"embed_tokens": [259, 260], "lm_head": [259, 260]}
    config = peft.LoraConfig(r=2, trainable_token_indices=rows, **PLACES)
    folder = adapter_of(tmp_path / "grown", config, tmp_path / "adapter")
    loaded = by_spor_hf(checkpoint(), folder, tokenizer=str(tmp_path / "tokenizer"))
    assert loaded.model.get_input_embeddings().weight.shape[0] == 261
    arguments = {"pretrained": str(checkpoint()), "peft": str(folder)}
    assert (
        whole.check_hf(
            Checkpoint.read({**arguments, "tokenizer": str(tmp_path / "tokenizer")}), writes=True
        )
        == ()
    )


# --- Batches --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rwkv(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rwkv")
    save_family("rwkv", folder)
    return folder


PROMPTS = [f"{'item ' * (number % 5)}{number}" for number in range(6)]


def written(model):
    settings = {"until": [], "max_gen_toks": 12, "do_sample": False}
    asked = [host.request({}, prompt, settings, n) for n, prompt in enumerate(PROMPTS)]
    return model.generate_until(asked, disable_tqdm=True)


@pytest.mark.filterwarnings("ignore:Position ids are not supported")  # peft's
@pytest.mark.parametrize("kind", ["prompt", "encoder", "rwkv", "none"])
def test_what_a_batch_would_change_is_read_alone(kind, checkpoint, rwkv, tmp_path, caplog):
    base = rwkv if kind == "rwkv" else checkpoint("gpt2")
    is_tuned = kind in ADAPTERS
    adapter = adapter_of(base, ADAPTERS[kind], tmp_path / "adapter") if is_tuned else None
    with caplog.at_level(logging.WARNING, logger="spor_tasks.models.hf"):
        batched = by_spor_hf(base, adapter, batch_size=6)
        assert written(batched) == written(by_spor_hf(base, adapter, batch_size=1))
    warned = sum("one prompt after another" in each.getMessage() for each in caplog.records)
    assert warned == (kind != "none")
    assert batched.batch_size == (6 if kind == "none" else 1)
    assert batched.get_model_info()["reads_alone"] == (kind != "none")


def test_a_swapped_adapter_is_read_alone_too(checkpoint, tmp_path):
    model = by_spor_hf(checkpoint("gpt2"), batch_size=6)
    assert model.batch_size == 6
    assert swap_adapter(model, str(adapter_of(checkpoint("gpt2"), ADAPTERS["prompt"], tmp_path)))
    assert model.batch_size == 1


@pytest.mark.parametrize("kind", ["bart", "rwkv", "prompt"])
def test_hf_refuses_what_a_batch_would_change(kind, checkpoint, rwkv, tmp_path):
    base = {"bart": checkpoint("bart"), "rwkv": rwkv}.get(kind, checkpoint("gpt2"))
    more = {}
    if kind == "prompt":
        more = {"peft": str(adapter_of(base, ADAPTERS[kind], tmp_path / "adapter"))}
    for name in ("hf", "huggingface", "hf-auto"):
        with pytest.raises(ConfigError, match="texts depend on the batch") as caught:
            Evaluator(name, device="cpu").evaluate([{"pretrained": str(base), **more}], [MINI])
        assert "spor-hf" in caught.value.remedy
    assert whole.check_hf(Checkpoint.read({"pretrained": str(base), **more}), writes=False) == ()


def test_the_result_says_that_texts_exceed_their_limit(checkpoint):
    result = evaluate_folder(checkpoint("t5"), MINI)
    (note,) = result["configs"][MINI]["metadata"]["spor"]["notes"]
    assert note == "hf lets a text exceed its limit by the length of its batch's prompts"
    result = evaluate_folder(checkpoint("t5"), MINI, model="spor-hf")
    assert result["configs"][MINI]["metadata"]["spor"]["notes"] == []
