"""Rows that have ended leave a batch, against a batch in which they stay."""

import pytest
import torch
import transformers
from peft import LoraConfig, get_peft_model

from spor_tasks.harness import host
from spor_tasks.models import leaving
from spor_tasks.models.generation import StopAtLength
from spor_tasks.models.hf import SporHF
from spor_tasks.models.leaving import Leaving

KINDS = ("llama", "gpt2", "t5", "bart")
LIMITS = [3, 9, 1, 4, 9, 12, 2, 7]
IDS = torch.arange(3, 43).view(8, 5)


def opened(folder):
    is_seq2seq = transformers.AutoConfig.from_pretrained(folder).is_encoder_decoder
    kinds = (transformers.AutoModelForCausalLM, transformers.AutoModelForSeq2SeqLM)
    return kinds[is_seq2seq].from_pretrained(folder).eval(), 1 if is_seq2seq else IDS.shape[1]


def rows_read(model):
    """Return a list to which each pass of a model adds its number of rows."""
    found = []
    head = model.get_output_embeddings()
    head.register_forward_hook(lambda _, states, __: found.append(len(states[0])))
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_reads_what_is_still_written_and_writes_the_same(kind, checkpoint, monkeypatch):
    model, start = opened(checkpoint(kind))
    read, texts = rows_read(model), []
    for caches in (leaving._CACHES, ()):  # of no other is it known where rows are
        monkeypatch.setattr(leaving, "_CACHES", caches)
        stop = Leaving([StopAtLength(LIMITS, start)], len(IDS), "cpu")
        with stop.around(model):
            settings = {"max_new_tokens": 20, "do_sample": False, "pad_token_id": 0}
            written = model.generate(
                IDS, attention_mask=IDS > 0, eos_token_id=258, stopping_criteria=[stop], **settings
            )
        assert written.shape[1] == start + max(LIMITS)
        texts.append(written)
    assert torch.equal(*texts)
    steps = max(LIMITS)
    assert read == [sum(limit > n for limit in LIMITS) for n in range(steps)] + [len(IDS)] * steps


def test_few_rows_of_many_stay(checkpoint):
    """Until there are so many that it is worth it to copy the cache."""
    model, start = opened(checkpoint())
    read = rows_read(model)
    stop = Leaving([StopAtLength([2, 4, 4, *[6] * 45], start)], 48, "cpu")
    with stop.around(model):
        ids = torch.full((48, start), 5)
        model.generate(
            ids, attention_mask=ids, stopping_criteria=[stop], max_new_tokens=6, pad_token_id=0
        )
    assert read == [48, 48, 48, 48, 45, 45]


DECODINGS = {
    "greedy": {"do_sample": False},
    "beams": {"do_sample": False, "num_beams": 3, "early_stopping": False},
    "drawn by seeds": {"do_sample": True, "top_k": 20, "sampling_seed": 1},
    "drawn": {"do_sample": True, "temperature": 0.7, "top_p": 0.9},
    "drawn, with tokens banned": {"do_sample": True, "min_p": 0.02, "no_repeat_ngram_size": 2},
    "punished": {"do_sample": False, "repetition_penalty": 1.3, "no_repeat_ngram_size": 2},
}


def test_none_leaves_an_adapter_that_looks_for_its_tokens_in_each_row(checkpoint, tmp_path):
    base = transformers.AutoModelForCausalLM.from_pretrained(checkpoint("llama"))
    config = LoraConfig(alora_invocation_tokens=[35], task_type="CAUSAL_LM")
    get_peft_model(base, config).save_pretrained(tmp_path)
    model = SporHF(str(checkpoint("llama")), peft=str(tmp_path), device="cpu", batch_size=8)
    settings = {"until": [*"aeiou"], "max_gen_toks": 16}
    asked = [host.request({}, f"{'x' * n} item", settings, n) for n in range(8)]
    read = rows_read(model.model)
    assert len(model.generate_until(asked, disable_tqdm=True)) == 8
    assert {*read} == {8}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", DECODINGS)
def test_all_outputs_are_as_if_rows_stayed(kind, how, checkpoint, monkeypatch):
    model = SporHF(str(checkpoint(kind)), device="cpu", batch_size=99)  # more than there are
    read, found, passes = rows_read(model.model), [], []
    settings = {"until": ["a", "e", "o"], "max_gen_toks": 16, **DECODINGS[how]}
    asked = [host.request({}, f"{'x' * n} item", settings, n) for n in range(8)]
    for caches in (leaving._CACHES, ()):
        monkeypatch.setattr(leaving, "_CACHES", caches)
        torch.manual_seed(0)
        found.append(model.generate_until(asked, disable_tqdm=True))
        passes.append(sum(read))
        read.clear()
    assert found[0] == found[1]
    assert passes[0] < passes[1] or how == "beams"
