from dataclasses import replace
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lm_eval.models.huggingface import HFLM
from transformers import AutoTokenizer

from spor_tasks.core.errors import ConfigError
from spor_tasks.prompts.pairs import TrainingPair
from training.config import OptimizationConfig
from training.demo import BASES
from training.encoding import IGNORED, encode, plan_steps
from training.objectives.likelihood import Likelihood

END = 2  # of the tiny tokenizers
PLAIN = TrainingPair("a: Output:", "Bo sang.")
QUOTED = TrainingPair("a: Output:", '"Bo" sang.')
STYLES = {"llama": "causal", "gpt2": "causal", "t5": "seq2seq", "bart": "seq2seq"}


def targets(row):
    return [label for label in row.labels if label != IGNORED]


@pytest.mark.parametrize(
    ("name", "style"),
    # Of the last two one does not end a text by itself, and the other ends a prompt.
    [*STYLES.items(), ("gpt2", "seq2seq"), ("t5", "causal")],
)
def test_a_row_begins_with_the_ids_of_the_evaluation_and_learns_the_text_and_one_end(
    base, invented, name, style
):
    samples = [sample for samples in invented.arms.values() for sample in samples]
    pairs = [pair for sample in samples for pair in Likelihood.pairs(sample, style)]
    pairs += [PLAIN, QUOTED]
    tokenizer = AutoTokenizer.from_pretrained(base(name))
    rows = encode(pairs, tokenizer, style, None).rows
    harness = HFLM(pretrained=str(base(name)), device="cpu")
    assert len(rows) == len(pairs) == 13
    for pair, row in zip(pairs, rows, strict=True):
        ids = tokenizer(pair.prompt)["input_ids"]
        if style == STYLES[name]:
            assert harness.tok_batch_encode([pair.prompt])[0][0].tolist() == ids
        learned = targets(row)
        assert (learned[-1], learned.count(END)) == (END, 1)
        if style == "causal":
            # The last token of the prompt is labelled: the text's first comes after it.
            assert row.input_ids == ids + learned[:-1]
            assert row.labels == [IGNORED] * (len(ids) - 1) + learned
            assert tokenizer.decode(learned) == pair.text + "</s>"
        else:
            text = tokenizer(text_target=pair.text)["input_ids"]
            assert (row.input_ids, row.labels) == (
                ids,
                [each for each in text if each != END] + [END],
            )
    if (name, style) == ("llama", "causal"):
        joined = tokenizer(QUOTED.prompt + QUOTED.text)["input_ids"]
        assert joined[: len(ids)] != ids, "a token spans both"
        assert rows[-2].input_ids == tokenizer(PLAIN.prompt + PLAIN.text)["input_ids"]


@pytest.mark.parametrize("name", ["llama", "t5"])
def test_pairs_that_are_too_long_are_left_out_and_counted(base, name):
    tokenizer = AutoTokenizer.from_pretrained(base(name))
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
def test_a_long_prompt_loses_the_end_of_its_table(base, name, less):
    tokenizer, style = AutoTokenizer.from_pretrained(base(name)), STYLES[name]
    whole = encode([TABLE], tokenizer, style, None)
    most = whole.rows[0].length - less
    rows = encode([TABLE, PLAIN], tokenizer, style, most, BEFORE)
    assert (len(rows.rows), rows.too_long, rows.cut) == (2, 0, 1)
    row = rows.rows[0]
    assert most - 1 <= row.length <= most
    assert targets(row) == targets(whole.rows[0])
    shown = tokenizer.decode(row.input_ids, skip_special_tokens=True)
    assert shown.startswith("<table> <cell> one")
    assert "</table> Output:" in shown
    fitting = encode([TABLE], tokenizer, style, most + less, BEFORE)
    assert (fitting.rows, fitting.cut) == (whole.rows, 0)
    without = encode([PLAIN, TrainingPair("a" * 60, "o")], tokenizer, style, 40, BEFORE)
    assert (len(without.rows), without.too_long, without.cut) == (1, 1, 0)


def test_a_tokenizer_without_an_end_token_is_refused(base):
    tokenizer = AutoTokenizer.from_pretrained(base("llama"))
    tokenizer.eos_token = None
    with pytest.raises(ConfigError, match="no end token"):
        encode([PLAIN], tokenizer, "causal", None)


@pytest.mark.parametrize(("known", "is_read"), [(9, True), (1, False)])
def test_pairs_that_the_tokenizer_does_not_know_are_refused(known, *, is_read):
    tokenizer = AutoTokenizer.from_pretrained(BASES / "mini")
    pairs = [PLAIN, *[TrainingPair("in in in in in in", "in in in")] * known]
    if is_read:
        assert encode(pairs, tokenizer, "causal", None).rows
        return
    with pytest.raises(ConfigError, match=r"% of the tokens .* <unknown>") as error:
        encode(pairs, tokenizer, "causal", None)
    assert "model.path" in str(error.value.remedy)


SETTINGS = st.builds(
    OptimizationConfig,
    batch_size=st.integers(1, 7),
    gradient_accumulation=st.integers(1, 3),
    epochs=st.integers(1, 3),
    group_by_length=st.booleans(),
    seed=st.integers(0, 5),
)
LENGTHS = st.lists(st.integers(1, 30), min_size=1, max_size=40)


@given(LENGTHS, SETTINGS, st.integers(1, 20))
def test_every_epoch_takes_every_pair_once_whatever_the_size_of_batches(lengths, settings, limit):
    steps = plan_steps(lengths, settings)
    size = settings.batch_size * settings.gradient_accumulation
    assert settings.epochs
    for epoch in range(settings.epochs):
        mine = [step for step in steps if step.epoch == epoch]
        batches = list(chain.from_iterable(step.batches for step in mine))
        assert sorted(chain.from_iterable(batches)) == list(range(len(lengths)))
        assert max(map(len, batches)) <= settings.batch_size
        assert len(mine) == -(-len(lengths) // size)
        for step in mine:
            inside = [lengths[number] for number in chain.from_iterable(step.batches)]
            assert inside == sorted(inside)
            assert step.size == len(inside)
    assert [step.epoch for step in steps] == sorted(step.epoch for step in steps)
    whole = plan_steps(lengths, replace(settings, batch_size=size, gradient_accumulation=1))
    taken = [tuple(chain.from_iterable(step.batches)) for step in steps]
    assert taken == [step.batches[0] for step in whole]
    assert plan_steps(lengths, replace(settings, max_steps=limit)) == steps[:limit]
    endless = replace(settings, epochs=None, max_steps=len(steps) + 1)
    assert plan_steps(lengths, endless)[:-1] == steps


def test_grouping_by_length_pads_less_and_keeps_the_order_of_batches_random():
    lengths = [1 + 37 * number % 101 for number in range(200)]

    def padding(*, grouped):
        settings = OptimizationConfig(epochs=1, batch_size=5, group_by_length=grouped)
        steps = plan_steps(lengths, settings)
        assert steps != plan_steps(lengths, replace(settings, seed=1))
        batches = [step.batches[0] for step in steps]
        longest = [max(lengths[number] for number in batch) for batch in batches]
        assert longest != sorted(longest)
        return sum(5 * length for length in longest) - sum(lengths)

    assert 10 * padding(grouped=True) < padding(grouped=False)
