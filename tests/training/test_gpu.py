"""What only a GPU can do, where there is one."""

from types import SimpleNamespace
from unittest.mock import patch

import pytest
import torch

from tests.support.result_files import adapter_in
from training import lora, processes
from training.lora import train

SETTINGS = (
    *("data.corpus=mini", "data.limit=12", "lora.lora_dropout=0"),
    *("optimization.epochs=2", "optimization.learning_rate=1e-2"),
)
ALONE = {"num_processes": 1, "process_index": 0, "is_main_process": True}
ON_CPU = SimpleNamespace(**ALONE, device=torch.device("cpu"), wait_for_everyone=lambda: None)
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")


@pytest.mark.parametrize("way", ["packing=false", "packing=true", "cuda_graphs=true"])
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_gpu_learns_what_a_cpu_does(configure, precision, way):
    judged = ("selection.policy=dev-best", "selection.samples=2")
    computed = (f"optimization.precision={precision}", f"optimization.{way}")
    config = configure(*SETTINGS, *judged, *computed)
    kind = torch.cuda.CUDAGraph
    replayed = patch.object(kind, "replay", autospec=True, side_effect=kind.replay)
    broken = patch.object(lora, "save_weights", side_effect=KeyboardInterrupt)
    with broken, replayed as replay, pytest.raises(KeyboardInterrupt):
        train(config, progress=False)
    assert replay.called == (way == "cuda_graphs=true")
    found = train(config, progress=False)  # goes on from what is saved
    found = adapter_in(found.folder)
    assert found.log.device.name == torch.cuda.get_device_name()
    assert found.log.device.peak_memory_bytes > 0
    assert len(found.selection["scores"]) == 2

    cpu = configure(*SETTINGS, f"output={found.folder}-cpu")
    with patch.object(processes, "join", return_value=ON_CPU):
        expected = train(cpu, progress=False)
    tolerance = 1e-3 if precision == "float32" else 2e-2
    assert found.losses == pytest.approx(expected.losses, rel=tolerance)
