"""Tasks of likelihoods: those of plain transformers, their tokens, and their requests."""

import math
from functools import cache

import pytest
import torch
from lm_eval.models.huggingface import HFLM
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

from spor_tasks.core.codec import sample_of
from spor_tasks.core.sample import Contrast, challenge_of
from spor_tasks.harness.tokens import Tokens
from spor_tasks.metrics.perplexity import PERPLEXITY
from spor_tasks.models.checkpoints import Checkpoint
from tests.support.scripted import evaluate_folder, load, simple

PAIRS, PPL = "logicnlg_mini_adversarial", "logicnlg_mini_ppl"


def requests(name, limit=3, **metadata):
    """Return the requests of the first documents of a task."""
    task = load(name, **metadata)
    task.build_all_requests(limit=limit, rank=0, world_size=1)
    return list(task.instances)


@cache
def plain(folder):
    """Return a checkpoint's model and tokenizer as transformers loads them."""
    kind = AutoModelForSeq2SeqLM if "t5" in folder.name else AutoModelForCausalLM
    return kind.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)


def own_likelihood(folder, prompt, text):
    """Return the log likelihood of a text and its end by transformers alone, and its tokens."""
    model, tokenizer = plain(folder)
    target = [*tokenizer(text, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id]
    source = tokenizer(prompt)["input_ids"]
    with torch.no_grad():
        if model.config.is_encoder_decoder:
            logits = model(torch.tensor([source]), labels=torch.tensor([target])).logits[0]
        else:
            logits = model(torch.tensor([[*source, *target]])).logits[0, len(source) - 1 : -1]
    logs = torch.log_softmax(logits.float(), dim=-1)
    return float(logs[range(len(target)), target].sum()), len(target)


@pytest.mark.parametrize("kind", ["llama", "gpt2", "t5"])
def test_a_likelihood_is_that_of_plain_transformers(kind, checkpoint):
    folder = checkpoint(kind)
    found = evaluate_folder(folder, PAIRS, PPL, batch_size=2)
    assert found["configs"][PAIRS]["metadata"]["spor"]["test"]["likelihood"]["tokens_counted"]
    for logged in found["samples"][PPL]:
        doc = logged["doc"]
        log, tokens = own_likelihood(folder, doc["prompt"], doc["target"])
        _, loss, counted = logged["ppl"]
        assert counted == tokens
        assert loss == pytest.approx(-log, rel=1e-4)
    values = [tuple(logged["ppl"]) for logged in found["samples"][PPL]]
    expected = PERPLEXITY.scores[0].totals.value(values)
    assert found["results"][PPL]["ppl,none"] == pytest.approx(expected)
    assert found["results"][PPL]["ppl_stderr,none"] > 0
    for logged in found["samples"][PAIRS]:
        doc = logged["doc"]
        other = challenge_of(sample_of(doc), Contrast).text
        true, false = (
            own_likelihood(folder, doc[prompt], text)
            for prompt, text in (("prompt", doc["target"]), ("prompt_2", other))
        )
        assert logged["adv_acc"] == 100 * (true[0] / true[1] > false[0] / false[1])


def test_tokens_are_counted_as_lm_eval_counts_them(checkpoint):
    folder = checkpoint("llama")
    model = HFLM(pretrained=str(folder), device="cpu")
    tokens = Tokens.of(Checkpoint(pretrained=str(folder)))
    pairs = [("a b :", "c d"), ("a b : ", "c"), ("a\n", " y z"), ("é", "ü</s>")]
    counts, _ = tokens.count(pairs, "causal")
    assert counts == [len(model._encode_pair(*pair)[1]) for pair in pairs]
    assert Tokens(None).count(pairs, "causal") == ([None] * 4, 0)


def test_both_sides_of_a_pair_follow_prompts_of_their_own_columns():
    found = requests(PAIRS, limit=20, prompt_style="causal")
    for first, second in zip(found[0::2], found[1::2], strict=True):
        sample = sample_of(first.doc)
        assert first.arguments == (first.doc["prompt"], sample.target)
        assert second.arguments == (first.doc["prompt_2"], challenge_of(sample, Contrast).text)
        assert first.request_type == "loglikelihood"
        same = sample.units == challenge_of(sample, Contrast).units
        assert same == (first.arguments[0] == second.arguments[0])


def test_template_and_sentence_are_one_text_for_models_that_write_both():
    for instance in requests("logicnlg_mini_c2f_adversarial"):
        template, separator, sentence = instance.arguments[1].partition(" [SEP] ")
        assert "[ENT]" in template
        assert separator
        assert "[ENT]" not in sentence
        assert not instance.arguments[0].endswith("Start describing :")


def test_in_context_both_sides_follow_the_same_demonstrations():
    pair = requests(f"{PAIRS}_icl_train")[:2]
    first, second = (request.arguments[0].split("\n\n") for request in pair)
    assert first[:-1] == second[:-1]
    assert len(first) == 5
    own = sample_of(pair[0].doc)
    assert all(str(own.about("title")) not in shown for shown in first[:-1])


def test_a_model_without_a_tokenizer_here_is_scored_without_tokens():
    scores = simple("dummy", PAIRS, limit=3)["results"][PAIRS]
    assert "adv_acc,none" not in scores
    assert 0 <= scores["adv_acc_byte,none"] <= 100
    assert math.isnan(scores["adv_acc_distinct,none"])
