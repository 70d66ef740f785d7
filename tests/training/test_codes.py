"""DCG and contrastive prefixes: their losses, what they train, and what reads their checkpoints."""

import copy
import itertools
import json
import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from lm_eval.api.instance import Instance
from lm_eval.config.evaluate_config import EvaluatorConfig
from safetensors.torch import load_file
from tokenizers import Regex, Tokenizer, pre_tokenizers
from tokenizers.models import WordLevel
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.sample import SetFacts, Sets
from spor_tasks.corpora.compmctg.linearize import codes
from spor_tasks.corpora.compmctg.reader import combination_in
from spor_tasks.corpora.embedded import COMPMCTG_MINI
from spor_tasks.corpora.embedded.attributes import SPACE
from spor_tasks.evaluation.checks import check
from spor_tasks.harness import host
from spor_tasks.models.checkpoints import Checkpoint, find_adapter
from spor_tasks.models.coded import CodedModel, Dcg, Prefixes, load
from spor_tasks.models.hf import SporHF, swap_adapter
from tests.conftest import REPOSITORY
from tests.support import tiny_gpt2
from tests.training.losses import objective_of
from training.bases import load_base
from training.batches import load_batch, load_batches
from training.config import ModelConfig, OptimizationConfig
from training.encoding import IGNORED, Row, Step
from training.objectives.codes import Coded
from training.objectives.likelihood import find_objective
from training.objectives.meta import support, without
from training.state import Training

SEEN = {each for each in SPACE.combinations if each[2] == "Food" or each[1:] == ("Past", "Music")}
KNOWN = [each for each in SPACE.combinations if each[2] != "Travel"]
CORPUS = tuple(one for one in COMPMCTG_MINI.part("train")[:36] if combination_in(one) in SEEN)
SETS = Sets(
    SetFacts(aspect="compmctg", corpus=SPACE.name, protocol="original"),
    {"train": CORPUS},
    CORPUS[:1],
)
SIZES = {
    "dcg": {"code_vectors": 2, "task_vectors": 3},
    "contrastive_prefix": {"length": 2, "width": 3},
}
KINDS = [*SIZES]


@pytest.fixture(params=["gpt2", "llama"])
def loaded(request, base):
    """Return a tiny base, of which the Llama's four heads share two of keys and values."""
    found = load_base(ModelConfig(str(base(request.param))))
    if request.param == "gpt2":
        return found
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 4}
    torch.manual_seed(0)
    model = LlamaForCausalLM(LlamaConfig(**found.model.config.to_dict() | heads))
    return replace(found, model=model)


def with_vectors(objective):
    """Return what the objective fits, in float64, with vectors that matter; fresh ones do not."""
    model = objective.model
    torch.manual_seed(1)
    for weight in model.vectors.parameters():
        weight.data.normal_(std=0.5)
    model.double().eval()
    return model


def test_contrasts_are_drawn_and_a_large_loss_is_finite(loaded):
    objective = objective_of("dcg", loaded, CORPUS, **SIZES["dcg"], contrasts=2, weight=1.0)
    model = with_vectors(objective)
    batch = load_batch(objective.rows.rows[:2], loaded.pad_id, model)
    with torch.no_grad():
        losses = []
        for seed in (0, 0, 1, 2, 3):
            torch.manual_seed(seed)
            losses.append(objective.loss(model, batch).item())
        assert losses[0] == losses[1]
        assert len({*losses}) > 2
        model.get_output_embeddings().weight.mul_(1e6)  # exp(−L) would be 0 in any precision
        assert math.isfinite(objective.loss(model, batch).item())


@pytest.mark.parametrize("name", ["cache", "past_key_values"])
def test_the_cache_has_the_name_that_the_base_calls_it(loaded, name, monkeypatch):
    objective = objective_of("contrastive_prefix", loaded, CORPUS, **SIZES["contrastive_prefix"])
    model = with_vectors(objective)
    ids = load_batch(objective.rows.rows[:2], loaded.pad_id, model).inputs["input_ids"]
    expected = model(ids).logits
    here = model._cache
    forward = loaded.model.forward
    renamed = {
        "cache": lambda cache=None, **inputs: forward(**{here: cache}, **inputs),
        "past_key_values": lambda past_key_values=None, **inputs: forward(
            **{here: past_key_values}, **inputs
        ),
    }
    monkeypatch.setattr(loaded.model, "forward", renamed[name])
    again = CodedModel(loaded.model, loaded.tokenizer, model.aspects, lambda *_: model.vectors)
    assert torch.equal(again(ids).logits, expected)


def test_a_second_batch_is_contrasted_with_the_combinations_that_it_may_have(loaded, monkeypatch):
    settings = OptimizationConfig(batch_size=4)
    of = {"of": "dcg", "of_settings": SIZES["dcg"]}
    objective = objective_of("meta", loaded, CORPUS, settings, **of)
    run, step = Training(with_vectors(objective), settings), Step(0, ((0, 8, 3, 6),))
    batches = load_batches(step, objective.rows.rows, loaded.pad_id, run.model)
    current = {objective.combinations[sample] for sample in batches[0].samples}
    pools = []

    def loss(coded, model, _):
        pools.append({*coded.pool})
        return model.vectors.task_vectors.sum()

    monkeypatch.setattr(Coded, "loss", loss)
    objective.step(run, batches, 1)
    assert pools == [SEEN, {*support([*current], [*objective.pools])}]
    assert len(pools[1]) < len(SEEN)


# --- The published model -------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_losses_gradients_and_texts_are_those_of_the_published_model(kind):
    record = json.loads((REPOSITORY / "tests" / "data" / "compmctg_codes.json").read_text("utf-8"))
    tokenizer = word_tokenizer(record["tokens"])
    vectors = partial(Prefixes, width=8) if kind == "contrastive_prefix" else Dcg
    model = CodedModel(tiny_gpt2.make(3, 48), tokenizer, record["aspects"], vectors)
    rng = np.random.RandomState(11)
    for name in record[kind]["gradients"]:
        _, weight = named_as_published(model, name)
        drawn = 0.3 * rng.standard_normal(tuple(weight.shape))
        with torch.no_grad():
            weight.copy_(torch.tensor(drawn, dtype=torch.float32))
    model.double().eval()
    given = [model.encode(codes(each)) for each in record["combinations"]]
    rows = [
        Row(ids + text, [IGNORED] * (len(ids) - 1) + [*text, 0])
        for ids, text in zip(given, record["texts"], strict=True)
    ]
    batch = without(load_batch(rows, 0, model), 0)
    objective = object.__new__(find_objective(kind))
    objective.how = objective.settings()
    objective.pool = [*map(tuple, record["seen"])]
    loss = objective.loss(model, batch) / len(batch.labels)
    loss.backward()
    assert loss.item() == pytest.approx(record[kind]["loss"], rel=1e-6)
    for name, norm in record[kind]["gradients"].items():
        gradient, _ = named_as_published(model, name)
        assert gradient.norm().item() == pytest.approx(norm, rel=1e-5), name
    begun = torch.tensor([ids + record["texts"][0][:4] for ids in given])
    settings = {"max_new_tokens": 10, "eos_token_id": 99, "pad_token_id": 0}
    written = model.generate(begun, attention_mask=torch.ones_like(begun), **settings)
    assert written[:, -10:].tolist() == record[kind]["written"]


def word_tokenizer(words):
    split = pre_tokenizers.Split(Regex(r"<\|\w+\|>|\w+"), "removed", invert=True)
    tokenizer = Tokenizer(WordLevel({word: number for number, word in enumerate(words)}))
    tokenizer.pre_tokenizer = split
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer)


def named_as_published(model, name):
    """Return the gradient and the weight, or their part, that has a name in the published code."""
    if "dcg" in name:
        own = {"mlp.0.weight": "code_map.weight", "mlp.0.bias": "code_map.bias"}
        found = model.vectors.get_parameter(own.get(name.partition("dcg_")[2], "task_vectors"))
        return found.grad, found
    _, _, layer, _, part, aspect, value, kind = name.split(".")
    every = [(name, each) for name, values in model.aspects.items() for each in values]
    place = (every.index((aspect, value)), int(layer))
    if part == "prefix_mlp":
        found = model.vectors.map if kind == "weight" else model.vectors.map_bias
    else:
        found = model.vectors.inner
        place += (("prefix_keys_embeddings", "prefix_values_embeddings").index(part),)
    return found if found.grad is None else found.grad[place], found[place]


# --- Runs and their checkpoints ------------------------------------------------------------------


@pytest.fixture
def learn(tune):
    """Train vectors on a tiny base, and return their folder."""

    def run(kind, name="gpt2"):
        settings = (
            *("data.aspect=compmctg", f"data.corpus={SPACE.name}", "data.arm=train"),
            *("method=codes", f"objective={kind}", f"objective_settings={json.dumps(SIZES[kind])}"),
            *("optimization.batch_size=4", "optimization.max_steps=4"),
            "optimization.learning_rate=3e-2",
        )
        return tune(*settings, pair=SETS, name=name).folder

    return run


def opened(base, folder, size):
    return SporHF(
        pretrained=str(base), peft=str(folder), device="cpu", batch_size=size, dtype="float32"
    )


SAMPLING = {"do_sample": True, "top_k": 20, "sampling_seed": 1, "num_beams": 1}
BEAMS = {"do_sample": False, "num_beams": 3}


def requests(settings):
    """Return requests with prompts of several lengths, and beginnings of texts."""
    settings = settings | {"max_gen_toks": 8, "repetition_penalty": 1.0}
    begun = [*itertools.product(KNOWN[:5], ("", "The road", "So"))]
    return [
        host.request({"id": str(number)}, codes(combination) + prefix, settings, number)
        for number, (combination, prefix) in enumerate(begun)
    ]


def likely():
    pairs = [(codes(each), one.references[0]) for each in KNOWN[:4] for one in CORPUS[:2]]
    return [Instance("loglikelihood", {}, pair, idx=0) for pair in pairs]


@pytest.mark.parametrize(("kind", "name"), [*zip(KINDS, ["gpt2", "llama"], strict=True)])
def test_a_checkpoint_writes_and_judges_the_same_at_any_batch_size(learn, base, kind, name):
    before = load_file(base(name) / "model.safetensors")
    folder = learn(kind, name=name)
    one, several = opened(base(name), folder, 1), opened(base(name), folder, 4)
    for settings in (SAMPLING, BEAMS):
        written = one.generate_until(requests(settings), disable_tqdm=True)
        assert written == several.generate_until(requests(settings), disable_tqdm=True)
        assert len({*written}) > 1
    logs = [log for log, _ in one.loglikelihood(likely(), disable_tqdm=True)]
    others = [log for log, _ in several.loglikelihood(likely(), disable_tqdm=True)]
    assert others == pytest.approx(logs, rel=1e-5)
    assert len({*logs}) == len(logs)
    after = one.model.base.state_dict()
    assert all(tensor.equal(after[key]) for key, tensor in before.items())


@pytest.mark.parametrize("kind", KINDS)
def test_saved_vectors_give_the_trained_logits(loaded, kind, tmp_path):
    objective = objective_of(kind, loaded, CORPUS, **SIZES[kind])
    model = with_vectors(objective).float()
    model.save(tmp_path, "a base", None)
    again = load(copy.deepcopy(model.base), loaded.tokenizer, tmp_path)
    ids = torch.tensor([objective.rows.rows[0].input_ids])
    with torch.no_grad():
        torch.testing.assert_close(again(ids).logits, model(ids).logits, rtol=1e-4, atol=1e-5)
    assert not [name for name, weight in again.base.named_parameters() if weight.requires_grad]
    with pytest.raises(ConfigError, match="its codes were cut off"):
        model(ids[:, 1:])


def test_the_codes_of_a_prompt_are_the_longest_that_it_begins_with(loaded):
    aspects = {"topic": ("Rain", "Rain or snow")}
    model = CodedModel(loaded.model, loaded.tokenizer, aspects, Dcg)
    short, long = (model.encode(codes([value])) for value in aspects["topic"])
    assert {*short} != {*long}
    assert len(short) == len(long) == model.width


def test_what_cannot_read_a_checkpoint_says_so(learn, base):
    folder = learn("dcg")
    given = {"pretrained": str(base("gpt2"))}
    for model, key in (("hf", "peft"), ("vllm", "lora_local_path")):
        settings = EvaluatorConfig(model=model, tasks=["compmctg_mini_acd"])
        with pytest.raises(ConfigError) as caught:
            check(settings, [given | {key: str(folder)}])
        assert caught.value.where == str(folder)
    with pytest.raises(ConfigError):
        find_adapter(Checkpoint.read(given | {"lora_local_path": str(folder)}))
    with pytest.raises(ConfigError) as caught:
        find_adapter(Checkpoint(pretrained=str(base("llama")), peft=str(folder)))
    assert caught.value.remedy
    assert find_adapter(Checkpoint.read(given | {"peft": str(folder)}))
    model = opened(base("gpt2"), folder, 1)
    assert not swap_adapter(model, None)
    prompt = codes(["Negative", "Hot", "Food"])
    with pytest.raises(ConfigError) as caught:
        model.generate_until([host.request({}, prompt, {"max_gen_toks": 2}, 0)])
    assert caught.value.remedy
