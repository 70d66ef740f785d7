"""Sentences that the model in training writes, as rows whose likelihood can be computed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from transformers import GenerationConfig

from spor_tasks.core.sample import Sample
from spor_tasks.prompts.styles import prompt
from spor_tasks.text import filters
from training.bases import Base
from training.batches import Model
from training.encoding import IGNORED, Row


@dataclass(frozen=True, slots=True)
class Written:
    """What a model wrote for some samples: texts, and rows of the prompts and the very tokens."""

    texts: tuple[str, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes texts of at most so many tokens, with the tokens' own probabilities or greedily.

    What is sampled is drawn from torch's random state.
    """

    base: Base
    max_tokens: int

    @property
    def pad_id(self) -> int:
        """The padding token."""
        return self.base.pad_id

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
        said = [list(self._ended(ids)) for ids in output]
        texts = self.base.tokenizer.batch_decode(said, skip_special_tokens=True)
        return Written(
            tuple(filters.first_line(text).strip() for text in texts),
            tuple(
                self._row(sample.id, *row) for sample, *row in zip(samples, read, said, strict=True)
            ),
        )

    def _generate(
        self, model: Model, prompts: Sequence[list[int]], *, sampling: bool
    ) -> list[list[int]]:
        width = max(map(len, prompts))
        ids = torch.tensor([[self.pad_id] * (width - len(each)) + each for each in prompts])
        mask = torch.tensor([[0] * (width - len(each)) + [1] * len(each) for each in prompts])
        settings = GenerationConfig(
            do_sample=sampling,
            top_k=0 if sampling else None,
            max_new_tokens=self.max_tokens,
            eos_token_id=self.base.tokenizer.eos_token_id,
            pad_token_id=self.pad_id,
            decoder_start_token_id=getattr(model.config, "decoder_start_token_id", None),
        )
        output = model.generate(
            input_ids=ids.to(model.device),
            attention_mask=mask.to(model.device),
            generation_config=settings,
        )
        begin = 1 if model.config.is_encoder_decoder else width
        found: list[list[int]] = output[:, begin:].tolist()
        return found

    def _ended(self, ids: Sequence[int]) -> Iterator[int]:
        """Yield the tokens up to the end token, which is one of them."""
        for token in ids:
            yield token
            if token == self.base.tokenizer.eos_token_id:
                return

    def _row(self, sample: str, read: list[int], said: list[int]) -> Row:
        if self.base.style == "seq2seq":
            return Row(read, said, sample)
        return Row(read + said[:-1], [IGNORED] * (len(read) - 1) + said, sample)
