"""The loss of a batch, padded or packed, is that of its pairs one by one."""

import pytest
import torch
import transformers

from spor_tasks.core.errors import ConfigError
from tests.training.losses import (
    assert_equal_gradients,
    different_rows,
    gradients,
    plain_loss,
    without_dropout,
)
from training import batches
from training.bases import load_base
from training.batches import check_packing, load_batch, load_batches, target_loss
from training.config import ModelConfig
from training.encoding import Row, Step

PADDED = [(name, False) for name in ("llama", "gpt2", "t5", "bart")]
PACKED = [(name, True) for name in ("llama", "gpt2", "t5")]


@pytest.fixture
def prepare(base, invented):
    """Return a tiny base by name, with an adapter and rows of different lengths."""

    def make(name):
        loaded = load_base(ModelConfig(str(base(name))))
        rows = different_rows(loaded, invented)
        assert len({len(row.input_ids) for row in rows}) > 2
        return loaded, without_dropout(loaded), rows

    return make


@pytest.mark.parametrize(("name", "packing"), [*PADDED, *PACKED])
def test_loss_and_gradient_are_the_plain_ones(prepare, name, *, packing):
    base, model, rows = prepare(name)
    loss = target_loss(model, load_batch(rows, base.pad_id, model, packing=packing))
    loss.backward()
    found = gradients(model)
    expected = torch.stack([plain_loss(model, row) for row in rows]).sum()
    expected.backward()
    plain = gradients(model)

    assert loss.item() == pytest.approx(expected.item(), rel=1e-5)
    assert len(found) >= 16
    assert_equal_gradients(found, plain)


@pytest.mark.parametrize("name", ["llama", "t5"])
def test_long_packed_rows_are_divided_and_their_loss_is_the_same(prepare, monkeypatch, name):
    base, model, rows = prepare(name)
    step, longest = Step(0, ((0, 1, 2, 3),)), max(len(row.input_ids) for row in rows)

    def losses_with(limit):
        monkeypatch.setattr(batches, "_LONGEST_ROW", limit)
        packed = load_batches(step, rows, base.pad_id, model, packing=True)
        assert all(batch.inputs["input_ids"].shape[1] <= max(limit, longest) for batch in packed)
        return [target_loss(model, batch).item() for batch in packed]

    whole, parts, single = losses_with(10**6), losses_with(2 * longest), losses_with(1)
    assert (len(whole), len(single)) == (1, 4)
    assert 1 < len(parts) < 4
    assert sum(parts) == pytest.approx(whole[0], rel=1e-5)
    assert sum(single) == pytest.approx(whole[0], rel=1e-5)


def test_packing_is_exact_within_a_window_that_slides():
    sizes = {"vocab_size": 50, "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 2, "sliding_window": 4}
    # So wide a range that what a pair must not see would move its losses by 10 %.
    config = transformers.MistralConfig(**sizes, **heads, initializer_range=1.0)
    model = transformers.MistralForCausalLM(config)
    rows = [Row(list(range(3, 3 + length)), [*range(4, 4 + length)]) for length in (9, 15)]
    check_packing(model, rows, pad_id=0)


@pytest.mark.parametrize(
    ("name", "ignored", "fault"),
    [
        ("bart", None, r"a pair's losses differ by \d"),
        ("gpt2", "position_ids", r"a pair's losses differ by \d"),
        ("gpt2", "input_ids", "it raised ValueError: You have"),
    ],
)
def test_packing_is_refused_where_pairs_would_not_stand_alone(
    prepare, monkeypatch, name, ignored, fault
):
    """BART counts its positions from the start of the row, as does a decoder without others."""
    base, model, rows = prepare(name)
    inner = model.base_model.model
    forward = inner.forward

    def ignoring(*args, **inputs):
        if "position_ids" not in inputs and name == "gpt2":  # a pair alone
            return forward(*args, **inputs)
        return forward(*args, **{key: value for key, value in inputs.items() if key != ignored})

    monkeypatch.setattr(inner, "forward", ignoring)
    with pytest.raises(ConfigError, match=fault):
        check_packing(model, rows, base.pad_id)
