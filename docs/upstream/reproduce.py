"""Count the outputs of lm-eval's `hf` that are those of plain `generate`: all 24 should be.

It needs lm-eval with its extra `hf`, no network and a few seconds. The models are tiny and random,
so that they end some texts early and others not, and read single bytes. In lm-eval 0.4.13 three
faults lower the counts; greedy decoding of causal models is right:

A. Stop strings and beams: the criterion keeps one verdict a sample, while beams are rows of their
   own. The search of all rows ends when every sample seems done (7 and 7, batches of 1 and 8).
B. Length after an encoder: `max_gen_toks` is added to the encoder's padded length, and the sum is
   `max_length`, which counts the decoder's tokens alone (16 and 16).
C. Padding of an encoder is on the left, which changes outputs with absolute positions (24 and 9).

`hf-generation.diff` mends all three: `patch -p1` in the folder that contains `lm_eval`. It judges
each row by its own new text, gives `max_new_tokens`, and moves an encoder's padding to the right.
"""

import logging
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import transformers
from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import PreTrainedModel, PreTrainedTokenizerFast

PROMPTS = ["x" * (3 * number % 17) + f" item {number}" for number in range(24)]
NEW_TOKENS = 24
SPECIAL: dict[str, Any] = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
SIZE = 3 + 256
BEAMS = {"do_sample": False, "num_beams": 5, "early_stopping": False, "length_penalty": 1.0}
GREEDY = {"do_sample": False}


def tokenizer(template: str) -> PreTrainedTokenizerFast:
    """Return a tokenizer of bytes that puts special tokens around a text as the template says."""
    words = ["<pad>", "<s>", "</s>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    inner = Tokenizer(models.BPE(vocab={word: i for i, word in enumerate(words)}, merges=[]))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    inner.post_processor = processors.TemplateProcessing(
        single=template, special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=inner,
        **dict(zip(("pad_token", "bos_token", "eos_token"), words[:3], strict=True)),
    )


def gpt2() -> PreTrainedModel:
    """Return a causal model."""
    size = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 256}
    config = transformers.GPT2Config(vocab_size=SIZE, **size, **SPECIAL)
    return transformers.GPT2LMHeadModel(config)


def bart() -> PreTrainedModel:
    """Return an encoder-decoder with absolute positions."""
    config = transformers.BartConfig(
        vocab_size=SIZE,
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        max_position_embeddings=256,
        decoder_start_token_id=2,
        forced_eos_token_id=None,
        **SPECIAL,
    )
    return transformers.BartForConditionalGeneration(config)


def t5() -> PreTrainedModel:
    """Return an encoder-decoder with relative positions, which do not mind the padding's side."""
    size = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4}
    config = transformers.T5Config(vocab_size=SIZE, decoder_start_token_id=0, **size, **SPECIAL)
    return transformers.T5ForConditionalGeneration(config)


class Case(NamedTuple):
    """A model that shows a fault; weights are scaled so that its outputs differ, and end."""

    name: str
    make: Callable[[], PreTrainedModel]
    template: str
    seed: int
    scale: int
    end_scale: int
    decoding: dict[str, Any]
    stop: str | None = None
    agree: Callable[[str, str], bool] = str.__eq__

    def model(self) -> PreTrainedModel:
        """Return the model, always the same."""
        torch.manual_seed(self.seed)
        model = self.make().eval()
        for parameter in model.parameters():
            parameter.data.mul_(self.scale if parameter.dim() > 1 else 1)
        model.get_output_embeddings().weight.data[SPECIAL["eos_token_id"]].mul_(self.end_scale)
        return model


def plain(case: Case, model: PreTrainedModel, tokens: PreTrainedTokenizerFast) -> list[str]:
    """Return what `generate` writes for each prompt on its own, up to the stop string."""
    stops = {"stop_strings": [case.stop], "tokenizer": tokens} if case.stop else {}
    texts = []
    for prompt in PROMPTS:
        encoded = tokens(prompt, return_tensors="pt")
        output = model.generate(
            input_ids=encoded.input_ids,
            attention_mask=encoded.attention_mask,
            max_new_tokens=NEW_TOKENS,
            **stops,
            **case.decoding,
        )[0]
        start = 0 if model.config.is_encoder_decoder else encoded.input_ids.shape[1]
        text = tokens.decode(output[start:], skip_special_tokens=True)
        texts.append(text.split(case.stop)[0] if case.stop else text)
    return texts


def harness(
    case: Case, model: PreTrainedModel, tokens: PreTrainedTokenizerFast, batch: int
) -> list[str]:
    """Return what `hf` writes."""
    until = [case.stop] if case.stop else []
    kwargs = {**case.decoding, "max_gen_toks": NEW_TOKENS, "until": until}
    requests = [Instance("generate_until", {}, (prompt, kwargs), 0) for prompt in PROMPTS]
    texts: list[str] = HFLM(pretrained=model, tokenizer=tokens, batch_size=batch).generate_until(
        requests, disable_tqdm=True
    )
    return texts


def continues(actual: str, expected: str) -> bool:
    """Return whether a text begins with another, which may end in half a letter."""
    return actual.startswith(expected.rstrip("\ufffd"))


CASES = (
    Case("A: causal, 5 beams, a stop string", gpt2, "$A", 1, 8, 4, BEAMS, stop="9"),
    Case("B: T5, greedy", t5, "$A </s>", 0, 15, 2, GREEDY),
    Case("C: BART, greedy, but for length", bart, "<s> $A </s>", 0, 15, 4, GREEDY, agree=continues),
)


def main() -> None:
    """Print a line for each fault and batch size."""
    logging.disable(logging.WARNING)
    for case in CASES:
        model, tokens = case.model(), tokenizer(case.template)
        expected = plain(case, model, tokens)
        for batch in (1, 8):
            number = sum(map(case.agree, harness(case, model, tokens, batch), expected))
            print(f"{case.name:<33}  batch {batch}: {number:>2} of {len(PROMPTS)}")


if __name__ == "__main__":
    main()
