"""CUDA graphs, as far as they can be tried without a GPU: the shapes, and what is refused."""

import pytest
import torch

from spor_tasks.core.errors import ConfigError
from training.bases import load_base
from training.batches import load_batch, target_losses
from training.config import ModelConfig
from training.encoding import IGNORED, Row
from training.graphs import in_few_shapes

ROWS = [Row([5, 6, 7, 8], [IGNORED, IGNORED, 8, 9]), Row([6, 5], [IGNORED, 7])]


@pytest.mark.parametrize("name", ["llama", "gpt2"])
def test_padding_to_few_shapes_changes_no_loss(base, name):
    loaded = load_base(ModelConfig(str(base(name))))
    loaded.model.eval()
    batch = load_batch(ROWS, loaded.pad_id, loaded.model)
    padded = in_few_shapes(batch)
    assert padded.inputs["input_ids"].shape == (2, 64)
    assert padded.labels.shape == padded.positions.shape == (512,)
    with torch.no_grad():
        expected = target_losses(loaded.model, batch)
        found = target_losses(loaded.model, padded)
    assert found[: len(expected)].tolist() == pytest.approx(expected.tolist(), rel=1e-5)
    assert not found[len(expected) :].any()


def test_a_cpu_needs_no_graphs(tune):
    plain = tune("optimization.epochs=2", to="plain")
    assert tune("optimization.epochs=2", "optimization.cuda_graphs=true").losses == plain.losses


@pytest.mark.parametrize(
    ("settings", "name", "fault"),
    [
        (("optimization.packing=true",), "llama", "with optimization.packing"),
        (("objective=adversarial",), "llama", "with objective=adversarial"),
        (("method=full",), "llama", "with method=full"),
        ((), "t5", "with an encoder"),
    ],
)
def test_graphs_are_refused_where_they_are_not_known_to_hold(tune, settings, name, fault):
    with pytest.raises(ConfigError, match=f"cuda_graphs cannot be used {fault}"):
        tune("optimization.cuda_graphs=true", *settings, name=name)
