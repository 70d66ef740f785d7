"""Sentences that the model in training writes, as rows whose likelihood can be computed."""

from collections.abc import Sequence

import torch
from transformers import GenerationConfig

from spor_tasks.core.sample import Sample
from spor_tasks.models.generation import padded, without_own_settings
from spor_tasks.prompts.styles import prompt
from spor_tasks.text import filters
from training.bases import Base
from training.batches import Model
from training.encoding import Row, causal_row


def write(
    model: Model, base: Base, samples: Sequence[Sample], max_tokens: int, *, sampling: bool
) -> tuple[list[str], list[Row]]:
    """Return a text of at most so many tokens for each sample, and rows of the very tokens.

    Texts are drawn with the tokens' own probabilities from torch's random state, or greedy. The
    model is in training again afterwards, if it was.
    """
    prompts = base.tokenizer([prompt(sample, base.style) for sample in samples])["input_ids"]
    end, training = base.tokenizer.eos_token_id, model.training
    ids, mask = padded(prompts, base.pad_id)
    settings = GenerationConfig(
        do_sample=sampling,
        top_k=0 if sampling else None,
        max_new_tokens=max_tokens,
        eos_token_id=end,
        pad_token_id=base.pad_id,
        decoder_start_token_id=getattr(model.config, "decoder_start_token_id", None),
    )
    model.eval()
    try:
        with torch.no_grad(), without_own_settings(model):
            output = model.generate(
                input_ids=ids.to(model.device),
                attention_mask=mask.to(model.device),
                generation_config=settings,
            )
    finally:
        model.train(training)
    begin = 1 if model.config.is_encoder_decoder else ids.shape[1]
    written = [
        ids[: ids.index(end) + 1] if end in ids else ids for ids in output[:, begin:].tolist()
    ]
    row = causal_row if base.style == "causal" else Row
    rows = [
        row(read, ids)._replace(sample=sample.id)
        for sample, read, ids in zip(samples, prompts, written, strict=True)
    ]
    texts = base.tokenizer.batch_decode(written, skip_special_tokens=True)
    return [filters.first_line(text).strip() for text in texts], rows
