"""CUDA graphs, as far as they can be tried without a GPU: the shapes, and what is refused."""

from unittest.mock import MagicMock

import pytest
import torch

from spor_tasks.core.errors import ConfigError
from training.bases import load_base
from training.batches import Batch, load_batch, target_losses
from training.config import ModelConfig
from training.encoding import IGNORED, Row
from training.graphs import Graphs, in_few_shapes

ROWS = [Row([5, 6, 7, 8], [IGNORED, IGNORED, 8, 9]), Row([6, 5], [IGNORED, 7])]


@pytest.mark.parametrize("name", ["llama", "gpt2"])
def test_padding_to_few_shapes_changes_no_loss(base, name):
    loaded = load_base(ModelConfig(str(base(name))))
    loaded.model.eval().requires_grad_()
    batch = load_batch(ROWS, loaded.pad_id, loaded.model)
    padded = in_few_shapes(batch)
    assert padded.inputs["input_ids"].shape == (2, 64)
    assert padded.labels.shape == padded.positions.shape == (512,)
    expected, found = (losses_and_gradient(loaded.model, each) for each in (batch, padded))
    assert found[0][: len(expected[0])] == pytest.approx(expected[0], rel=1e-5)
    assert not any(found[0][len(expected[0]) :])
    torch.testing.assert_close(found[1], expected[1])


class Recorded:
    """Stands for a CUDA graph: repeats, on the tensors of its capture, what was computed in it."""

    capturing = None

    def __enter__(self):
        Recorded.capturing = self

    def __exit__(self, *_):
        Recorded.capturing = None

    def replay(self):
        self.loss.copy_(mean(*self.inputs))


def mean(batch, divisor):
    tokens = batch.inputs["input_ids"].sum()
    return tokens * (batch.labels.clamp(min=0) * (batch.positions + 1)).sum() / divisor


def test_a_shape_is_computed_then_captured_then_repeated(monkeypatch):
    calls = []

    def compute(batch, divisor):
        calls.append(len(batch.labels))
        loss = mean(batch, divisor)
        if graph := Recorded.capturing:
            graph.inputs, graph.loss = (batch, divisor), loss
        return loss

    for name in ("Stream", "current_stream", "stream", "graph_pool_handle"):
        monkeypatch.setattr(torch.cuda, name, MagicMock())
    monkeypatch.setattr(torch.cuda, "CUDAGraph", Recorded)
    monkeypatch.setattr(torch.cuda, "graph", lambda graph, **_: graph)
    monkeypatch.setattr("training.graphs._MOST", 1)
    repeated = Graphs()
    for number, targets in enumerate((3, 2, 3, 600, 600, 5), start=1):
        ids = torch.full((2, 10), number)
        labels, positions = torch.arange(targets), torch.arange(targets) % 20
        batch = Batch({"input_ids": ids}, labels, positions, (), ())
        loss = repeated.add_gradient(compute, batch, number)
        assert loss.item() == pytest.approx(mean(in_few_shapes(batch), number).item())
    assert calls == [512, 512, 1024, 1024]  # one shape may have a graph, and is repeated


def losses_and_gradient(model, batch):
    model.zero_grad()
    losses = target_losses(model, batch)
    losses.sum().backward()
    return losses.tolist(), next(model.parameters()).grad.clone()


def test_a_cpu_needs_no_graphs(tune):
    plain = tune("optimization.epochs=2", to="plain")
    assert tune("optimization.epochs=2", "optimization.cuda_graphs=true").losses == plain.losses


def test_graphs_are_refused_with_a_base_that_they_do_not_fit(tune):
    with pytest.raises(ConfigError, match="cuda_graphs cannot be used with an encoder"):
        tune("optimization.cuda_graphs=true", name="t5")


@pytest.mark.parametrize(
    ("setting", "needed"),
    [
        ("optimization.packing=true", "optimization.packing=false"),
        ("objective=adversarial", "objective=likelihood"),
        ("method=full", "method=lora"),
        ("model.quantization=nf4", "model.quantization=null"),
    ],
)
def test_settings_that_graphs_do_not_fit_are_refused_when_they_are_read(configure, setting, needed):
    with pytest.raises(ConfigError, match=f"cuda_graphs needs {needed}"):
        configure("optimization.cuda_graphs=true", setting)
