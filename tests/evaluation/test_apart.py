"""A model reads a prompt and a text in the tokens that training gives them."""

import pytest
from tokenizers import Tokenizer, decoders
from transformers import PreTrainedTokenizerFast

from spor_tasks.corpora.compmctg.linearize import START
from spor_tasks.evaluation.hf import SporHF
from spor_tasks.harness.tokens import Tokens
from spor_tasks.text import gpt2
from training.data import TrainingPair
from training.encoding import encode

PROMPTS = (f"{START} Negative Past", f"{START} Negative Present")
TEXTS = ("The soup was cold.", "horrible soup.", "yes, it is")


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    made = Tokenizer.from_str(gpt2.tokenizer().to_str())
    made.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=made, eos_token=START)


class Reader(SporHF):
    """The part of a model that reads prompts and texts."""

    backend, _model = "causal", None

    def __init__(self, tokenizer: PreTrainedTokenizerFast) -> None:
        self.tokenizer = tokenizer

    def tok_encode(self, string: str, **_: object) -> list[int]:
        ids: list[int] = self.tokenizer(string, add_special_tokens=False)["input_ids"]
        return ids


@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("text", [*TEXTS, " a b"])
def test_it_reads_the_tokens_that_it_was_trained_on(
    tokenizer: PreTrainedTokenizerFast, prompt: str, text: str
) -> None:
    prompt_ids, text_ids = Reader(tokenizer)._encode_pair(prompt, text)
    (row,) = encode([TrainingPair(prompt, text)], tokenizer, "causal", None).rows
    assert prompt_ids + text_ids == row.input_ids
    assert text_ids == [label for label in row.labels if label >= 0][:-1]
    assert tokenizer.decode(text_ids) == text


def test_blanks_between_them_belong_to_the_text_as_in_lm_eval(
    tokenizer: PreTrainedTokenizerFast,
) -> None:
    pair = Reader(tokenizer)._encode_pair(f"{PROMPTS[0]} ", "horrible")
    assert [*map(tokenizer.decode, pair)] == [PROMPTS[0], " horrible"]


def test_texts_that_would_lose_their_beginning_are_counted(
    tokenizer: PreTrainedTokenizerFast,
) -> None:
    requests = [(prompt, text) for prompt in PROMPTS for text in TEXTS]
    assert Tokens(tokenizer).count(requests, "causal")[1] == 4
    assert Tokens(None).count(requests, "causal")[1] == 0
