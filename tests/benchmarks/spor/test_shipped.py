import base64
import hashlib
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from spor_tasks.aspects import search
from spor_tasks.benchmarks.spor import shipped
from spor_tasks.core import files
from spor_tasks.core.digests import digest
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import Sample, SplitPair
from spor_tasks.corpora.embedded import MINI


@pytest.fixture(scope="module")
def samples() -> tuple[Sample, ...]:
    return tuple(MINI.everything())


@pytest.fixture(scope="module")
def found(samples: tuple[Sample, ...]) -> SplitPair:
    return search.systematicity(samples, 5, rounds=1).pair


@pytest.fixture
def content(samples: tuple[Sample, ...], found: SplitPair) -> dict[str, Any]:
    """What a file of the package holds of the sets."""

    def members(split: Sequence[Sample]) -> str:
        held = {sample.id for sample in split}
        bits = sum(1 << place for place, sample in enumerate(samples) if sample.id in held)
        return base64.b64encode(bits.to_bytes(len(samples) // 8 + 1, "little")).decode()

    ids = "\n".join(sample.id for sample in samples).encode()
    return {
        "pool": {"samples": len(samples), "sha256": hashlib.sha256(ids).hexdigest()},
        "splits": {
            split.name: {"sha256": digest(split.samples), "members": members(split.samples)}
            for split in found.splits
        },
    }


@pytest.fixture
def put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[object], None]:
    """Return what lets a content be the package's one list."""
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    monkeypatch.setattr(shipped, "SETS", (("mini", None),))
    return lambda content: files.write_json(tmp_path / "systematicity_mini.json", content)


def test_a_list_is_read_with_the_same_samples_alone(
    put: Callable[[object], None],
    content: dict[str, Any],
    samples: tuple[Sample, ...],
    found: SplitPair,
) -> None:
    put(content)
    assert shipped.load("mini", samples) == found
    shuffled = random.Random(0).sample(samples, len(samples))
    for others in (samples[1:], shuffled, samples[:700]):
        with pytest.raises(SplitError, match="other samples than these"):
            shipped.load("mini", others)


def test_a_damaged_list_is_refused(
    put: Callable[[object], None], content: dict[str, Any], samples: tuple[Sample, ...]
) -> None:
    content["splits"]["test"]["members"] = content["splits"]["atom"]["members"]
    put(content)
    with pytest.raises(SplitError, match="damaged") as caught:
        shipped.load("mini", samples)
    assert caught.value.where == "systematicity_mini: test"


def test_unknown_names_are_errors_that_list_the_known_ones() -> None:
    with pytest.raises(SplitError, match="systematicity_webnlg_algorithm_1"):
        shipped.load("webnlg", (), part="algorithm_1")


def test_every_list_has_its_name_and_all_are_small() -> None:
    assert {path.stem for path in shipped.FOLDER.glob("*")} == {
        shipped.name(*known) for known in shipped.SETS
    }
    assert sum(path.stat().st_size for path in shipped.FOLDER.glob("*")) < 50_000
