"""Sentences that the model in training writes, as rows whose likelihood can be computed."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from transformers import GenerationConfig

from spor_tasks.core.sample import Sample
from spor_tasks.prompts.styles import prompt
from spor_tasks.text import filters
from training.bases import Base
from training.batches import Model
from training.encoding import Row, causal_row


@dataclass(frozen=True, slots=True)
class Written:
    """Texts that a model wrote for some samples, and rows of the prompts and the very tokens."""

    texts: tuple[str, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes texts of at most so many tokens, with the tokens' own probabilities or greedily.

    Samples are drawn from torch's random state.
    """

    base: Base
    max_tokens: int

    def write(self, model: Model, samples: Sequence[Sample], *, sampling: bool) -> Written:
        """Return a text for each sample; the model is in training again afterwards, if it was."""
        prompts = self.base.tokenizer([prompt(sample, self.base.style) for sample in samples])
        read: list[list[int]] = prompts["input_ids"]
        training = model.training
        model.eval()
        try:
            with torch.no_grad():
                output = self._generate(model, read, sampling=sampling)
        finally:
            model.train(training)
        written = [self._until_end(ids) for ids in output]
        texts = self.base.tokenizer.batch_decode(written, skip_special_tokens=True)
        rows = map(self._row, samples, read, written)
        return Written(tuple(filters.first_line(text).strip() for text in texts), tuple(rows))

    def _generate(
        self, model: Model, prompts: Sequence[list[int]], *, sampling: bool
    ) -> list[list[int]]:
        width = max(map(len, prompts))
        ids = torch.tensor([[self.base.pad_id] * (width - len(each)) + each for each in prompts])
        mask = torch.tensor([[0] * (width - len(each)) + [1] * len(each) for each in prompts])
        settings = GenerationConfig(
            do_sample=sampling,
            top_k=0 if sampling else None,
            max_new_tokens=self.max_tokens,
            eos_token_id=self.base.tokenizer.eos_token_id,
            pad_token_id=self.base.pad_id,
            decoder_start_token_id=getattr(model.config, "decoder_start_token_id", None),
        )
        output = model.generate(
            input_ids=ids.to(model.device),
            attention_mask=mask.to(model.device),
            generation_config=settings,
        )
        begin = 1 if model.config.is_encoder_decoder else width
        written: list[list[int]] = output[:, begin:].tolist()
        return written

    def _until_end(self, ids: list[int]) -> list[int]:
        """Return the tokens up to the end token, which is one of them."""
        end = self.base.tokenizer.eos_token_id
        return ids[: ids.index(end) + 1] if end in ids else ids

    def _row(self, sample: Sample, read: list[int], written: list[int]) -> Row:
        is_causal = self.base.style == "causal"
        row = causal_row(read, written) if is_causal else Row(read, written)
        return row._replace(sample=sample.id)
