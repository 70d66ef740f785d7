"""What coarse-to-fine outputs may hold, step by step and as published."""

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import GenerationConfig

from spor_tasks.evaluation.generation import TemplateFirst, template_first
from tests.support.tiny_bases import make_tokenizer
from tests.support.tiny_gpt2 import make

ENT, SEP = 3, 4
PROMPT = [SEP, ENT]
ROWS = st.integers(0, 8).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(0, 5), min_size=width, max_size=width), min_size=1, max_size=4
    )
)


def allowed(written: Sequence[int]) -> Iterator[int]:
    """The tokens that may follow, by trying each."""
    for token in range(6):
        text = [*written, token]
        repeats = any(two == (ENT, ENT) for two in pairwise(text[-2:]))
        sentence = text[text.index(SEP) + 1 :] if SEP in text[:-1] else []
        if not repeats and not (sentence and sentence[-1] in {ENT, SEP}):
            yield token


@given(ROWS)
def test_each_row_may_go_on_as_the_rules_say_whatever_its_prompt(rows: list[list[int]]) -> None:
    ids = torch.tensor([PROMPT + row for row in rows])
    scores = torch.randn(len(rows), 6)
    before = scores.clone()
    found = TemplateFirst(ENT, SEP, len(PROMPT))(ids, scores)
    assert torch.equal(scores, before)
    for row, own, given_ in zip(rows, found, scores, strict=True):
        kept = own.isfinite().nonzero().flatten().tolist()
        assert kept == list(allowed(row))
        assert torch.equal(own[kept], given_[kept])


@pytest.mark.real_data
@pytest.mark.parametrize("name", ["decode_c2f_a", "decode_c2f_b"])
def test_a_tiny_model_writes_what_it_writes_with_the_published_code(
    golden_dir: Path, name: str
) -> None:
    """The published code pads on the left without a mask, so the padding is read here as well."""
    golden = json.loads((golden_dir / "logicnlg" / f"{name}.json").read_text())
    model = make(golden["seed"], 50259)
    model.generation_config.eos_token_id = None  # a row goes on while others do
    with torch.no_grad():
        for row, factor in golden["scaled_embedding_rows"].items():
            model.transformer.wte.weight[int(row)] *= factor
    for table in golden["rows"]:
        prompts = torch.tensor(table["prompt_ids"])
        expected = torch.tensor(table["sample_ids"])
        length = prompts.shape[1]
        found = model.generate(
            prompts,
            attention_mask=torch.ones_like(prompts),
            logits_processor=[TemplateFirst(50257, 50258, length)],
            generation_config=GenerationConfig(
                do_sample=False, max_new_tokens=expected.shape[1], pad_token_id=0
            ),
        )
        assert torch.equal(found[:, length:], expected)


def test_without_such_tokens_that_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    tokenizer = make_tokenizer("gpt2")
    tokenizer.name_or_path = "nameless"
    assert template_first(tokenizer, 0) == template_first(tokenizer, 1) == []
    assert len(caplog.records) == 1
    tokenizer.add_tokens(["[ENT]", "[SEP]"])
    assert len(template_first(tokenizer, 0)) == 1
    assert len(caplog.records) == 1
