"""A step in bfloat16: equal to autocast's own, by fewer operators."""

from collections import Counter

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tests.training.losses import different_rows, gradients, without_dropout
from training.adapters import add_lora
from training.bases import load_base
from training.batches import load_batch, target_loss
from training.config import ModelConfig, OptimizationConfig
from training.objectives.base import backpropagate
from training.state import Training

BFLOAT16 = OptimizationConfig(precision="bfloat16")
CAST = torch.ops.aten._to_copy.default
READ = torch.ops.aten._local_scalar_dense.default  # of a step's number: it starts nothing


class Operators(TorchDispatchMode):
    """Counts what is started in its block."""

    def __enter__(self):
        self.found = Counter()
        return super().__enter__()

    def __torch_dispatch__(self, operator, _, positional=(), named=None):
        self.found[operator] += 1
        return operator(*positional, **(named or {}))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", ["llama", "gpt2", "t5"])
def test_without_dropout_losses_and_gradients_are_those_of_autocast(base, invented, name, dtype):
    loaded = load_base(ModelConfig(str(base(name)), dtype=dtype))
    run = Training(without_dropout(loaded), BFLOAT16)
    assert run.factors.keys() == run.weights.keys()
    rows = different_rows(loaded, invented)
    batches = [load_batch(some, loaded.pad_id, run.model) for some in (rows[:2], rows[2:])]
    expected = torch.zeros(())
    for batch in batches:
        with torch.autocast("cpu", torch.bfloat16):
            loss = target_loss(run.model, batch) / 7
        loss.backward()
        expected += loss.detach()
    wanted = gradients(run.model)
    found = backpropagate(run, target_loss, batches, [7, 7])
    assert found.item() == expected.item()
    for weight, gradient in gradients(run.model).items():
        assert torch.equal(gradient, wanted[weight]), weight
    assert {weight.dtype for weight in run.weights.values()} == {torch.float32}


def test_casts_and_updates_do_not_grow_with_the_adapted_modules(base, invented):
    casts, updates = [], []
    for targets in (["q_proj"], "all-linear"):
        loaded = load_base(ModelConfig(str(base("llama")), dtype="bfloat16"))
        model = add_lora(loaded.model, {"target_modules": targets}, "causal")
        run = Training(model, BFLOAT16)
        batch = load_batch(different_rows(loaded, invented), loaded.pad_id, model)
        with Operators() as step:
            backpropagate(run, target_loss, [batch], [7])
        run.optimizer.step()  # which also makes its state
        with Operators() as update:
            run.optimizer.step()
        casts.append(step.found[CAST])
        updates.append(sum(count for each, count in update.found.items() if each != READ))
    assert casts[0] == casts[1] > 0
    assert updates[0] == updates[1] > 0
