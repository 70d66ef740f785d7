import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spor_tasks.aspects import search
from spor_tasks.benchmarks.spor import shipped
from spor_tasks.core import files
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import Sample, SplitPair
from spor_tasks.corpora.e2e import E2E
from spor_tasks.corpora.embedded import MINI
from spor_tasks.corpora.webnlg import WEBNLG

SETTINGS = search.Settings(chains=1, moves=2_000, combination_moves=1_000)


@pytest.fixture(scope="module")
def samples() -> tuple[Sample, ...]:
    return MINI.everything()


@pytest.fixture(scope="module")
def found(samples: tuple[Sample, ...]) -> SplitPair:
    return search.systematicity(samples, SETTINGS, seed=5)


@pytest.fixture
def content(samples: tuple[Sample, ...], found: SplitPair) -> dict[str, Any]:
    return dict(shipped.pack(found, samples, shipped.Recipe(SETTINGS, 5)))


@pytest.fixture
def put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[object], None]:
    """Return what lets a content be the package's one list."""
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    monkeypatch.setattr(shipped, "SETS", (("mini", None),))
    return lambda content: files.write_json(tmp_path / "systematicity_mini.json", content)


def test_what_was_packed_is_loaded_from_the_same_samples_alone(
    put: Callable[[object], None],
    content: dict[str, Any],
    samples: tuple[Sample, ...],
    found: SplitPair,
) -> None:
    put(content)
    assert shipped.load("mini", samples) == found
    assert shipped.recipe("mini") == shipped.Recipe(SETTINGS, 5)
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
    with pytest.raises(SplitError, match="systematicity_e2e_algorithm_1"):
        shipped.recipe("mini")
    with pytest.raises(SplitError, match="systematicity_webnlg_algorithm_1"):
        shipped.load("webnlg", (), part="algorithm_1")


def test_every_list_has_its_name_and_all_are_small() -> None:
    assert {path.stem for path in shipped.FOLDER.glob("*")} == {
        shipped.name(*known) for known in shipped.SETS
    }
    assert sum(path.stat().st_size for path in shipped.FOLDER.glob("*")) < 50_000


@pytest.fixture(scope="module")
def pools(data_dir: Path) -> dict[str, tuple[Sample, ...]]:
    return {corpus.name: corpus.read(data_dir).samples for corpus in (WEBNLG, E2E)}


@pytest.mark.soak
@pytest.mark.real_data
def test_the_quick_one_of_the_shipped_sets_is_found_again(
    pools: dict[str, tuple[Sample, ...]],
) -> None:
    settings, seed = shipped.recipe("e2e", "algorithm_1")
    again = search.systematicity(pools["e2e"], settings, seed)
    assert again == shipped.load("e2e", pools["e2e"], "algorithm_1")
