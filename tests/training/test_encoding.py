from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lm_eval.models.huggingface import HFLM
from transformers import AutoTokenizer, PreTrainedTokenizerBase

from spor_tasks.core.errors import ConfigError
from spor_tasks.core.sample import SplitPair
from spor_tasks.prompts.styles import PromptStyle
from training.config import OptimizationConfig
from training.data import TrainingPair, make_pairs
from training.encoding import IGNORED, Row, encode, plan_steps
from training.objectives.likelihood import Likelihood

END = 2  # of the tiny tokenizers
PLAIN = TrainingPair("a: Output:", "Bo sang.")
QUOTED = TrainingPair("a: Output:", '"Bo" sang.')
STYLES: dict[str, PromptStyle] = {
    "llama": "causal",
    "gpt2": "causal",
    "t5": "seq2seq",
    "bart": "seq2seq",
}
Base = Callable[..., Path]


def tokenizer_of(folder: Path) -> PreTrainedTokenizerBase:
    return AutoTokenizer.from_pretrained(folder)


def targets(row: Row) -> list[int]:
    return [label for label in row.labels if label != IGNORED]


@pytest.mark.parametrize("name", ["llama", "gpt2"])
def test_a_causal_row_is_prompt_and_text_as_one_string_and_an_end(base: Base, name: str) -> None:
    tokenizer = tokenizer_of(base(name))
    (row,) = encode([PLAIN], tokenizer, "causal", None).rows
    joined = tokenizer(PLAIN.prompt + PLAIN.text)["input_ids"]
    assert row.input_ids == joined
    assert tokenizer.decode(targets(row)) == PLAIN.text + "</s>"
    # every label is the token after the one that it is the label of
    assert all(
        label in (IGNORED, after) for label, after in zip(row.labels, joined[1:], strict=False)
    )
    assert row.labels[-1] == END
    assert len(targets(row)) == len(PLAIN.text) + 1


@pytest.mark.parametrize("name", ["t5", "bart"])
def test_a_seq2seq_row_is_a_prompt_and_an_ended_text(base: Base, name: str) -> None:
    tokenizer = tokenizer_of(base(name))
    (row,) = encode([PLAIN], tokenizer, "seq2seq", None).rows
    assert row.input_ids == tokenizer(PLAIN.prompt)["input_ids"]
    assert row.labels == tokenizer(text_target=PLAIN.text)["input_ids"]
    assert row.labels.count(END) == 1


def test_a_seq2seq_text_is_ended_where_the_tokenizer_does_not(base: Base) -> None:
    (row,) = encode([PLAIN], tokenizer_of(base("gpt2")), "seq2seq", None).rows
    assert row.labels[-1] == END
    assert row.labels.count(END) == 1


def test_no_token_spans_prompt_and_text_and_the_rows_where_one_would_are_counted(
    base: Base,
) -> None:
    tokenizer = tokenizer_of(base("llama"))
    rows = encode([PLAIN, QUOTED], tokenizer, "causal", None)
    prompt_ids = tokenizer(QUOTED.prompt)["input_ids"]
    # the case is real: tokenized as one string, the prompt's ids are no prefix
    assert tokenizer(QUOTED.prompt + QUOTED.text)["input_ids"][: len(prompt_ids)] != prompt_ids
    assert rows.rows[1].input_ids[: len(prompt_ids)] == prompt_ids
    assert tokenizer.decode(targets(rows.rows[1])) == QUOTED.text + "</s>"


def test_a_causal_prompt_that_the_tokenizer_ends_keeps_its_end_and_the_text_gets_one(
    base: Base,
) -> None:
    tokenizer = tokenizer_of(base("t5"))
    (row,) = encode([PLAIN], tokenizer, "causal", None).rows
    prompt_ids = tokenizer(PLAIN.prompt)["input_ids"]
    assert prompt_ids[-1] == END
    assert row.input_ids[: len(prompt_ids)] == prompt_ids
    assert targets(row).count(END) == 1


@pytest.mark.parametrize("name", STYLES)
def test_training_reads_the_very_ids_that_the_evaluation_reads(
    base: Base, invented: SplitPair, name: str
) -> None:
    style = STYLES[name]
    pairs = [
        *chain.from_iterable(
            make_pairs(arm.samples, style, Likelihood.pairs, limit=None, seed=0)
            for arm in invented.arms
        ),
        QUOTED,
    ]
    rows = encode(pairs, tokenizer_of(base(name)), style, None).rows
    harness = HFLM(pretrained=str(base(name)), device="cpu")
    assert len(rows) == 12
    for pair, row in zip(pairs, rows, strict=True):
        ids, _ = harness.tok_batch_encode([pair.prompt])
        evaluated = ids[0].tolist()
        unlabelled = sum(label == IGNORED for label in row.labels)
        if style == "causal":
            # the last token of the prompt is labelled: the text's first comes after it
            assert row.input_ids[: len(evaluated)] == evaluated
            assert unlabelled == len(evaluated) - 1
        else:
            assert row.input_ids == evaluated
            assert unlabelled == 0


@pytest.mark.parametrize("name", ["llama", "t5"])
def test_pairs_that_are_too_long_are_left_out_and_counted(base: Base, name: str) -> None:
    tokenizer = tokenizer_of(base(name))
    pairs = [PLAIN, TrainingPair("a: Output:", "o" * 50), TrainingPair("a" * 60, "o")]
    full = encode(pairs, tokenizer, STYLES[name], None)
    cut = encode(pairs, tokenizer, STYLES[name], 40)
    assert (len(full.rows), full.too_long) == (3, 0)
    assert (cut.rows, cut.too_long) == (full.rows[:1], 2)
    longest = full.rows[1].length
    assert encode(pairs[:2], tokenizer, STYLES[name], longest).too_long == 0
    assert encode(pairs[:2], tokenizer, STYLES[name], longest - 1).too_long == 1


TABLE = TrainingPair("<table> <cell> one <cell> two <cell> three </table> Output:", "three and one")
BEFORE = ("</table>",)


@pytest.mark.parametrize("name", ["llama", "t5"])
@pytest.mark.parametrize("less", [1, 7, 20])
def test_a_long_prompt_loses_the_end_of_its_table_and_the_text_nothing(
    base: Base, name: str, less: int
) -> None:
    tokenizer, style = tokenizer_of(base(name)), STYLES[name]
    whole = encode([TABLE], tokenizer, style, None)
    most = whole.rows[0].length - less
    rows = encode([TABLE, PLAIN], tokenizer, style, most, BEFORE)
    assert (len(rows.rows), rows.too_long, rows.cut) == (2, 0, 1)
    row = rows.rows[0]
    assert most - 1 <= row.length <= most
    assert [label for label in row.labels if label != IGNORED] == [
        label for label in whole.rows[0].labels if label != IGNORED
    ]
    shown = tokenizer.decode(row.input_ids, skip_special_tokens=True)
    assert shown.startswith("<table> <cell> one")
    assert "</table> Output:" in shown


def test_what_fits_is_not_cut_nor_what_has_no_table(base: Base) -> None:
    tokenizer = tokenizer_of(base("llama"))
    (row,) = encode([TABLE], tokenizer, "causal", None).rows
    fitting = encode([TABLE], tokenizer, "causal", row.length, BEFORE)
    assert (fitting.rows, fitting.cut) == ((row,), 0)
    without = encode([PLAIN, TrainingPair("a" * 60, "o")], tokenizer, "causal", 40, BEFORE)
    assert (len(without.rows), without.too_long, without.cut) == (1, 1, 0)


def test_a_training_set_of_which_nothing_is_short_enough_is_refused(base: Base) -> None:
    with pytest.raises(ConfigError, match="none of the 1 training pairs has at most 3 tokens"):
        encode([PLAIN], tokenizer_of(base("llama")), "causal", 3)


def test_a_tokenizer_without_an_end_token_is_refused(base: Base) -> None:
    tokenizer = tokenizer_of(base("llama"))
    tokenizer.eos_token = None
    with pytest.raises(ConfigError, match="no end token"):
        encode([PLAIN], tokenizer, "causal", None)


SETTINGS = st.builds(
    OptimizationConfig,
    batch_size=st.integers(1, 7),
    gradient_accumulation=st.integers(1, 3),
    epochs=st.integers(1, 3),
    group_by_length=st.booleans(),
    seed=st.integers(0, 5),
)
LENGTHS = st.lists(st.integers(1, 30), min_size=1, max_size=40)


@given(LENGTHS, SETTINGS)
def test_every_epoch_takes_every_pair_once(
    lengths: list[int], settings: OptimizationConfig
) -> None:
    steps = plan_steps(lengths, settings)
    assert settings.epochs
    for epoch in range(settings.epochs):
        mine = [step for step in steps if step.epoch == epoch]
        batches = list(chain.from_iterable(step.batches for step in mine))
        assert sorted(chain.from_iterable(batches)) == list(range(len(lengths)))
        assert max(map(len, batches)) <= settings.batch_size
        size = settings.batch_size * settings.gradient_accumulation
        assert len(mine) == -(-len(lengths) // size)
        assert sum(step.size for step in mine) == len(lengths)
        for step in mine:
            inside = [lengths[number] for number in chain.from_iterable(step.batches)]
            assert inside == sorted(inside)
    assert [step.epoch for step in steps] == sorted(step.epoch for step in steps)


@given(LENGTHS, SETTINGS)
def test_smaller_batches_make_the_same_steps(
    lengths: list[int], settings: OptimizationConfig
) -> None:
    size = settings.batch_size * settings.gradient_accumulation
    whole = replace(settings, batch_size=size, gradient_accumulation=1)
    small = plan_steps(lengths, settings)
    assert [tuple(chain.from_iterable(step.batches)) for step in small] == [
        step.batches[0] for step in plan_steps(lengths, whole)
    ]


@given(LENGTHS, SETTINGS, st.integers(1, 20))
def test_a_limit_of_steps_takes_the_first_ones(
    lengths: list[int], settings: OptimizationConfig, limit: int
) -> None:
    steps = plan_steps(lengths, settings)
    assert plan_steps(lengths, replace(settings, max_steps=limit)) == steps[:limit]
    endless = replace(settings, epochs=None, max_steps=len(steps) + 1)
    assert plan_steps(lengths, endless)[:-1] == steps
