import random
from pathlib import Path

import pytest

from spor_tasks.aspects import check, search
from spor_tasks.benchmarks.spor import shipped
from spor_tasks.core import files
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import Sample, SplitPair
from spor_tasks.corpora.e2e import E2E
from spor_tasks.corpora.mini import worlds as mini
from spor_tasks.corpora.webnlg import WEBNLG

SETTINGS = search.Settings(chains=1, moves=2_000, combination_moves=1_000)


@pytest.fixture(scope="module")
def samples() -> tuple[Sample, ...]:
    return mini.samples()


@pytest.fixture(scope="module")
def found(samples: tuple[Sample, ...]) -> SplitPair:
    return search.systematicity(samples, SETTINGS, seed=5)


def put(folder: Path, monkeypatch: pytest.MonkeyPatch, content: object) -> None:
    """Let this be the package's one list."""
    monkeypatch.setattr(shipped, "FOLDER", folder)
    monkeypatch.setattr(shipped, "SETS", (("mini", None),))
    files.write_json(folder / "systematicity_mini.json", content)


def test_what_was_packed_is_loaded(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    samples: tuple[Sample, ...],
    found: SplitPair,
) -> None:
    put(tmp_path, monkeypatch, shipped.pack(found, samples, shipped.Recipe(SETTINGS, 5)))
    assert shipped.load("mini", samples) == found
    assert shipped.recipe("mini") == shipped.Recipe(SETTINGS, 5)


def test_other_samples_are_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    samples: tuple[Sample, ...],
    found: SplitPair,
) -> None:
    put(tmp_path, monkeypatch, shipped.pack(found, samples, shipped.Recipe(SETTINGS, 5)))
    shuffled = random.Random(0).sample(samples, len(samples))
    for others in (samples[1:], shuffled, mini.samples(1)):
        with pytest.raises(SplitError, match="other samples than these"):
            shipped.load("mini", others)


def test_a_damaged_list_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    samples: tuple[Sample, ...],
    found: SplitPair,
) -> None:
    content = shipped.pack(found, samples, shipped.Recipe(SETTINGS, 5))
    content["splits"]["test"]["members"] = content["splits"]["atom"]["members"]
    put(tmp_path, monkeypatch, content)
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


@pytest.mark.real_data
def test_the_pools_are_those_of_the_paper(pools: dict[str, tuple[Sample, ...]]) -> None:
    assert {corpus: len(pool) for corpus, pool in pools.items()} == {
        "webnlg": 13_211 + 2_140,
        "e2e": 6_735 + 1_635,
    }
    for pool in pools.values():
        assert len({sample.id for sample in pool}) == len(pool)


# Per set: samples, units, distinct unit sets and atoms of the test set; samples of Atom; test pairs
# in Combination; share of test samples of which Combination shows a pair.
FLOORS = {
    ("webnlg", None): (6_000, 20_000, 6_000, 2_500, 6_000, 6_000, 0.9),
    ("e2e", None): (900, 2_800, 600, 30, 3_300, 4_000, 0.9),
    ("e2e", "algorithm_1"): (159, 489, 69, 11, 3_300, 3_500, 0.9),
}


@pytest.mark.real_data
@pytest.mark.parametrize(("corpus", "part"), shipped.SETS)
def test_shipped_sets_are_sound_and_large(
    pools: dict[str, tuple[Sample, ...]], corpus: str, part: str | None
) -> None:
    pair = shipped.load(corpus, pools[corpus], part)
    report = check.systematicity(pair)
    assert report.violations == ()
    (atom, combination), test = (arm.samples for arm in pair.arms), pair.test.samples
    shown = {two for sample in combination for two in pairs(sample)}
    counts = (
        len(test),
        sum(len(sample.units) for sample in test),
        len({frozenset(sample.units) for sample in test}),
        len({unit for sample in test for unit in sample.units}),
        len(atom),
        report.pairs_in_combination,
        sum(not shown.isdisjoint(pairs(sample)) for sample in test) / len(test),
    )
    assert all(count >= floor for count, floor in zip(counts, FLOORS[corpus, part], strict=True)), (
        counts
    )


def pairs(sample: Sample) -> set[frozenset[object]]:
    return {frozenset((u, v)) for u in sample.units for v in sample.units if u != v}


@pytest.mark.real_data
def test_the_quick_one_of_the_shipped_sets_is_found_again(
    pools: dict[str, tuple[Sample, ...]],
) -> None:
    settings, seed = shipped.recipe("e2e", "algorithm_1")
    again = search.systematicity(pools["e2e"], settings, seed)
    assert again == shipped.load("e2e", pools["e2e"], "algorithm_1")
