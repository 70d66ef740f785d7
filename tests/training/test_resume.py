"""Recorded losses, and a run that was cut off goes on to the bytes of an uninterrupted one."""

import itertools
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from spor_tasks.core.folders import read_manifest
from tests.conftest import REPOSITORY
from tests.golden.record import TRAININGS
from tests.support.soak import soak
from training import lora
from training.batches import load_batches
from training.config import learned_settings, parse_config
from training.data import TrainingPair
from training.encoding import Rows, encode
from training.objectives import base as objective

NAMES = [
    *("lora/llama", "lora/bart", "lora/packing", "full", "adversarial", "reward", "coarse_to_fine"),
    *("dcg", "meta/published", "meta/contrastive_prefix"),
]
OTHERS = TRAININGS.keys() - NAMES
LOSSES = json.loads((REPOSITORY / "tests" / "golden" / "losses.json").read_text("utf-8"))


@pytest.fixture(scope="module", autouse=True)
def _encoded_once() -> Iterator[None]:
    """Tokenize equal pairs once, which takes most of the time of these trainings."""
    known: dict[object, Rows] = {}

    def encode_once(pairs: Iterable[TrainingPair], tokenizer: Any, *how: Any) -> Rows:  # noqa: ANN401
        key = (tuple(pairs), tokenizer.name_or_path, *how)
        if key not in known:
            known[key] = encode(key[0], tokenizer, *how)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(objective, "encode", encode_once)
        yield


@pytest.mark.parametrize("name", [*NAMES, *map(soak, sorted(OTHERS))])
def test_a_run_goes_on_to_the_same_losses_and_bytes(
    name: str, base: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base_name, *settings = TRAININGS[name]

    def train(to: str) -> lora.TrainingResult:
        own = (f"model.path={base(base_name)}", f"output={tmp_path / to}")
        config = parse_config("{}", (*settings, "optimization.save_steps=1", *own))
        return lora.train(config, progress=False)

    whole = train("whole")
    assert whole.losses == pytest.approx(LOSSES[name], rel=1e-4)
    batches = itertools.count(1)

    def at_the_third(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - passed on
        if next(batches) == 3:
            raise KeyboardInterrupt
        return load_batches(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(lora, "load_batches", at_the_third)
        with pytest.raises(KeyboardInterrupt):
            train("cut")
    assert not (tmp_path / "cut").exists()
    torch.manual_seed(99)  # as in another process
    cut = train("cut")
    assert cut.losses == whole.losses
    found, expected = (read_manifest(result.folder) for result in (cut, whole))
    assert (found["resumed_from"], expected["resumed_from"]) == (2, 0)
    assert found.get("counts") == expected.get("counts")
    (weights,) = whole.folder.glob("*.safetensors")
    assert (cut.folder / weights.name).read_bytes() == weights.read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"cut", "whole"}


@pytest.mark.parametrize(("name", "may_change"), [("compmctg", True), ("dcg", False)])
def test_a_batch_may_be_divided_unless_the_loss_depends_on_it(name: str, may_change: bool) -> None:  # noqa: FBT001
    _, *settings = TRAININGS[name]
    divided = ("optimization.batch_size=4", "optimization.gradient_accumulation=2")
    whole, parts = (
        learned_settings(parse_config("{}", ("model.path=base", *settings, *more)))
        for more in ((), divided)
    )
    assert (whole == parts) == may_change
