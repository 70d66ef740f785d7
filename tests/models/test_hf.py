"""`spor-hf` against plain `generate`, one prompt at a time, which is what it must equal."""

import json
import logging
import shutil
import string
from collections import Counter
from functools import cache
from pathlib import Path

import peft
import pytest
import torch
import transformers
from tokenizers import Tokenizer, decoders
from transformers import PreTrainedTokenizerFast

from spor_tasks.core.errors import ConfigError
from spor_tasks.corpora.compmctg.linearize import START
from spor_tasks.harness import host
from spor_tasks.harness.tokens import Tokens
from spor_tasks.models import hf
from spor_tasks.models.hf import SporHF
from spor_tasks.prompts.pairs import TrainingPair
from spor_tasks.text import filters, gpt2
from spor_tasks.text.filters import END
from tests.support import damage
from tests.support.scripted import evaluate_folder
from training.bases import load_base
from training.config import ModelConfig
from training.encoding import encode

KINDS = ("llama", "gpt2", "t5", "bart")
NEW_TOKENS = 24
GREEDY = {"do_sample": False}
BEAMS = {**GREEDY, "num_beams": 5, "early_stopping": False, "length_penalty": 1.0}
DECODINGS = {"greedy": GREEDY, "beams": BEAMS}
PROMPTS = tuple("x" * (3 * number % 17) + f" item {number}" for number in range(12))


def requests(prompts, task="", **settings):
    return [host.request({}, prompt, settings, n, task) for n, prompt in enumerate(prompts)]


def load(folder, **settings):
    return SporHF(pretrained=str(folder), device="cpu", **settings)


def written(model, asked):
    return model.generate_until(asked, disable_tqdm=True)


@cache
def plain(folder, decoding, adapter=None, stop=None):
    """Return what `generate` itself writes for each prompt, and how many tokens that takes."""
    sees_prompt = not transformers.AutoConfig.from_pretrained(folder).is_encoder_decoder
    kinds = (transformers.AutoModelForSeq2SeqLM, transformers.AutoModelForCausalLM)
    model = kinds[sees_prompt].from_pretrained(folder)
    model = peft.PeftModel.from_pretrained(model, adapter) if adapter else model
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    settings = {"max_new_tokens": NEW_TOKENS, "pad_token_id": tokenizer.pad_token_id}
    if stop:
        settings |= {"stop_strings": [stop], "tokenizer": tokenizer}
    texts, lengths = [], []
    for prompt in PROMPTS:
        encoded = tokenizer(prompt, return_tensors="pt", return_token_type_ids=False)
        (output,) = model.eval().generate(**encoded, **settings, **DECODINGS[decoding])
        new = output[encoded.input_ids.shape[1] if sees_prompt else 0 :]
        texts.append(tokenizer.decode(new, skip_special_tokens=True))
        lengths.append(len(new))
    return texts, lengths


@pytest.mark.parametrize("decoding", DECODINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_plain_generate(kind, decoding, checkpoint, lora):
    """Of one prompt and of eight at a time, with an adapter, and up to a string to stop at."""

    def generate(model, *until, prompts=PROMPTS):
        settings = {**DECODINGS[decoding], "max_gen_toks": NEW_TOKENS, "until": list(until)}
        return written(model, requests(prompts, **settings))

    texts, lengths = plain(checkpoint(kind), decoding)
    assert len(set(texts)) > len(PROMPTS) / 3, "outputs that hardly differ show nothing"
    assert min(lengths) < NEW_TOKENS / 2 < max(lengths), "some must end early, some must not"
    batched = load(checkpoint(kind), batch_size=8)
    assert generate(batched) == texts
    assert generate(load(checkpoint(kind), batch_size=1), prompts=PROMPTS[:8]) == texts[:8]
    settings = {**DECODINGS[decoding], "max_gen_toks": NEW_TOKENS, "until": [], "keeps_end": True}
    marked = written(batched, requests(PROMPTS, **settings))
    assert [text.removesuffix(END) for text in marked] == texts
    for text, length in zip(marked, lengths, strict=True):
        assert "\ufffd" in text or text.endswith(END) == (length < NEW_TOKENS)

    adapted, lengths = plain(checkpoint(kind), decoding, lora(kind))
    assert adapted != texts, "an adapter that changes nothing shows nothing"
    assert min(lengths) < max(lengths)
    tuned = load(checkpoint(kind), batch_size=8, peft=str(lora(kind)))
    assert generate(tuned) == adapted

    half = len(texts) / 2
    stop = min(string.printable, key=lambda char: abs(half - sum(char in text for text in texts)))
    stopped, _ = plain(checkpoint(kind), decoding, stop=stop)
    assert 0 < sum(stop in text for text in stopped) < len(PROMPTS)
    assert generate(batched, stop) == [text.split(stop)[0] for text in stopped]


@pytest.mark.parametrize(("kind", "stop"), [("t5", "a"), ("bart", "s")])
def test_no_text_ends_by_the_name_of_the_start_token(kind, stop, checkpoint):
    """That of T5 is `<pad>`, and `</s>` that of BART."""
    texts, _ = plain(checkpoint(kind), "greedy")
    asked = requests(PROMPTS, **GREEDY, max_gen_toks=NEW_TOKENS, until=[stop, "\n"])
    found = written(load(checkpoint(kind), batch_size=8), asked)
    assert found == [text.split(stop)[0].split("\n")[0] for text in texts]


@pytest.mark.parametrize("kind", ["gpt2", "bart"])
def test_the_head_gets_states_of_its_own(kind, checkpoint):
    """Otherwise torch copies the vocabulary's weights for each prompt, in bfloat16 on a CPU."""
    model, strides = load(checkpoint(kind), batch_size=8), []
    head = model.model.get_output_embeddings()
    head.register_forward_hook(lambda _, states, __: strides.append(states[0].stride()))
    written(model, requests(PROMPTS[:8], max_gen_toks=3, until=[]))
    width = head.weight.shape[1]
    assert strides
    assert set(strides) == {(width, width, 1)}


def test_a_row_ends_at_its_filters(checkpoint, monkeypatch):
    """The tiny model writes line breaks by chance; a row goes on until it has said something."""
    model = load(checkpoint("gpt2"), batch_size=8)
    asked = requests(PROMPTS, **GREEDY, max_gen_toks=NEW_TOKENS, until=[])
    whole = written(model, asked)
    # A letter stands for the line break, which so few random bytes hardly have.
    letter = Counter("".join(whole)).most_common(1)[0][0]
    monkeypatch.setattr(
        hf, "is_complete", lambda names, text: names and letter in text.strip(letter)
    )
    for request in asked:
        request.filters = filters.DEFAULT
    stopped = written(model, asked)
    assert sum(map(len, stopped)) < sum(map(len, whole))
    for long, short in zip(whole, stopped, strict=True):
        assert long.startswith(short)
        assert long == short or letter in short.strip(letter)
    keys = {"do_sample", "max_gen_toks", "until"}
    assert all(request.args[1].keys() == keys for request in asked)


FURTHER = {
    "min_new_tokens": 20,
    "encoder_no_repeat_ngram_size": 1,
    "suppress_tokens": [*range(40, 80)],
    "bad_words_ids": [[90], [91], [92]],
    "exponential_decay_length_penalty": [1, 5.0],
    "watermarking_config": {"greenlist_ratio": 0.25, "bias": 9.0},
    "guidance_scale": 3.0,
    "stop_strings": ["a", "e"],
    "prompt_lookup_num_tokens": 3,
    "sequence_bias": [[[50], 9.0]],
    "temperature": 3.0,
}


@pytest.mark.parametrize("kind", ["bart", "gpt2"])
def test_no_setting_of_a_checkpoint_acts(kind, checkpoint, tmp_path):
    texts = []
    for name, own in (("plain", {}), ("set", FURTHER)):
        folder = tmp_path / name
        shutil.copytree(checkpoint(kind), folder)
        file = folder / "generation_config.json"
        before = json.loads(file.read_text()) if file.exists() else {}
        file.write_text(json.dumps(before | own))
        texts.append(written(load(folder, batch_size=3), requests(PROMPTS[:6], **GREEDY, until=[])))
    assert texts[0] == texts[1]
    assert any(texts[0])


@pytest.mark.parametrize("name", ["hf", "spor-hf"])
def test_greedy_tasks_are_always_greedy(name, checkpoint, tmp_path):
    """A checkpoint with the generation settings of BART-large: four beams and more."""
    folder = tmp_path / "base"
    shutil.copytree(checkpoint("t5" if name == "hf" else "bart"), folder)
    file = folder / "generation_config.json"
    own = {
        "num_beams": 4,
        "no_repeat_ngram_size": 3,
        "early_stopping": True,
        "length_penalty": 2.0,
        "repetition_penalty": 1.3,
        "min_length": 12,
        "forced_bos_token_id": 1,
        "top_k": 7,
    }
    file.write_text(json.dumps(json.loads(file.read_text()) | own))
    task = "spor_systematicity_mini"
    result = evaluate_folder(
        folder, task, model=name, limit=6, batch_size=1, gen_kwargs={"max_gen_toks": 24}
    )
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    neutral = {
        "num_beams": 1,
        "no_repeat_ngram_size": 0,
        "early_stopping": False,
        "length_penalty": 1.0,
        "repetition_penalty": 1.0,
        "min_length": 0,
    }
    same = {"neutral": [], "own": []}
    for row in result["samples"][task]:
        ids = tokenizer(row["doc"]["prompt"], return_tensors="pt").input_ids
        # lm-eval's hf lets a decoder write as many tokens more as the encoder reads.
        limit = 24 if name == "spor-hf" else 24 + ids.shape[1] - 1
        for key, settings in (("neutral", neutral), ("own", {})):
            (output,) = model.generate(ids, do_sample=False, max_new_tokens=limit, **settings)
            expected = tokenizer.decode(output, skip_special_tokens=True)
            same[key].append(expected.startswith(row["resps"][0][0]))
    assert all(same["neutral"])
    assert not all(same["own"])
    facts = result["configs"][task]["metadata"]["spor"]["generation"]
    assert facts.items() >= neutral.items()
    assert facts["forced_bos_token_id"] == 1  # which the model needs
    assert "top_k" not in facts  # without sampling it has no effect


def test_an_encoder_is_padded_on_the_right_where_a_prompt_is_cut(checkpoint):
    model = load(checkpoint("t5"))
    end = model.tokenizer.eos_token_id
    ids, mask = model.tok_batch_encode(["abcdef", "ab"], left_truncate_len=5)
    letters = model.tokenizer("abcdef").input_ids[:-1]
    assert ids.tolist() == [[*letters[2:], end], [*letters[:2], end, 0, 0]]
    assert mask.tolist() == [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]


def test_long_prompts_are_counted_and_lose_the_end_that_the_task_names(
    checkpoint, monkeypatch, caplog
):
    model = load(checkpoint("llama"), max_length=40, batch_size=2)
    long = requests(("a" * 40, "b" * 25, "c"), "long", max_gen_toks=16)
    fitting = requests(("d", "e" * 23), "fitting", max_gen_toks=16)
    repeated = long[1:2]  # to fill up a process's share
    seen = []
    encode = model.tok_batch_encode

    def tok_batch_encode(texts, **more):
        seen.extend(texts)
        return encode(texts, **more)

    with caplog.at_level(logging.WARNING, logger="spor_tasks.models.hf"):
        written(model, [*long, *fitting, *repeated])
        assert model.get_model_info()["prompts_cut"] == {"long": 2, "fitting": 0}
        written(model, long[2:])
        assert model.get_model_info()["prompts_cut"] == {"long": 0, "fitting": 0}
        monkeypatch.setattr(model, "tok_batch_encode", tok_batch_encode)
        tables = ("a" * 30 + "! Text:", "b! Text:")
        written(model, requests(tables, "table", max_gen_toks=16, cut_before=["!"]))
    assert sorted(seen) == ["a" * 16 + "! Text:", "b! Text:"]
    warned = [each.args for each in caplog.records if each.name == "spor_tasks.models.hf"]
    assert warned == [(2, 5, "their beginning"), (1, 2, "the end of their table")]


def test_the_tokenizers_end_token_serves_a_model_that_names_none(checkpoint):
    model = load(checkpoint("llama"), batch_size=4)
    asked = requests(PROMPTS[:4], **GREEDY, max_gen_toks=NEW_TOKENS, until=[])
    named = written(model, asked)
    model.model.generation_config.eos_token_id = None
    assert written(model, asked) == named


def test_four_bits_are_those_of_training(checkpoint):
    base = load_base(ModelConfig(str(checkpoint()), quantization="nf4"))
    model = load(checkpoint(), quantization="nf4", dtype="float32")
    assert model.get_model_info()["quantization"] == "nf4"
    assert load(checkpoint()).get_model_info()["quantization"] is None
    reduced = 0
    for name, weight in model.model.named_parameters():
        assert torch.equal(weight, base.model.get_parameter(name))
        reduced += weight.dtype == torch.uint8
    assert reduced
    assert written(model, requests(PROMPTS[:4], **GREEDY, max_gen_toks=8, until=[]))
    with pytest.raises(ConfigError, match="quantization=int3 is unknown"):
        load(checkpoint(), quantization="int3")


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("base/tokenizer.json", "no text"),
        ("base/model.safetensors", "a pickle"),
        ("adapter/adapter_config.json", "half of it"),
        ("adapter/adapter_model.safetensors", "an empty file"),
    ],
)
def test_a_damaged_folder_is_refused(file, kind, checkpoint, lora, tmp_path):
    base = Path(shutil.copytree(checkpoint(), tmp_path / "base"))
    adapter = Path(shutil.copytree(lora("llama"), tmp_path / "adapter"))
    damage.replace(tmp_path / file, kind)
    with pytest.raises(ConfigError) as caught:
        load(base, peft=str(adapter))
    assert str(caught.value.where).startswith(str(tmp_path))


# --- Prompts and texts in tokens of their own -----------------------------------------------------


CODED = (f"{START} Negative Past", f"{START} Negative Present")
TEXTS = ("The soup was cold.", "horrible soup.", "yes, it is")


@pytest.fixture(scope="module")
def tokenizer():
    made = Tokenizer.from_str(gpt2.tokenizer().to_str())
    made.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=made, eos_token=START)


class Reader(SporHF):
    """The part of a model that reads prompts and texts."""

    backend, _model = "causal", None

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer

    def tok_encode(self, string, **_):
        return self.tokenizer(string, add_special_tokens=False)["input_ids"]


@pytest.mark.parametrize("prompt", CODED)
@pytest.mark.parametrize("text", [*TEXTS, " a b"])
def test_it_reads_as_in_training(tokenizer, prompt, text):
    prompt_ids, text_ids = Reader(tokenizer)._encode_pair(prompt, text)
    (row,) = encode([TrainingPair(prompt, text)], tokenizer, "causal", None).rows
    assert prompt_ids + text_ids == row.input_ids
    assert text_ids == [label for label in row.labels if label >= 0][:-1]
    assert tokenizer.decode(text_ids) == text


def test_blanks_between_them_belong_to_the_text(tokenizer):
    pair = Reader(tokenizer)._encode_pair(f"{CODED[0]} ", "horrible")
    assert [*map(tokenizer.decode, pair)] == [CODED[0], " horrible"]


def test_texts_that_lose_their_beginning_are_counted(tokenizer):
    requests = [(prompt, text) for prompt in CODED for text in TEXTS]
    assert Tokens(tokenizer).count(requests, "causal")[1] == 4
    assert Tokens(None).count(requests, "causal")[1] == 0
