"""Visible against the released sets, and against the published procedure taken literally."""

from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.aspects import check, named
from spor_tasks.aspects.numbers import Numbers, divergence_of_counts
from spor_tasks.aspects.productivity import build
from spor_tasks.benchmarks.spor import released
from spor_tasks.core import codec, digests, files
from spor_tasks.core.sample import DataUnit, Sample
from spor_tasks.corpora import sources
from spor_tasks.corpora.e2e import reader as e2e
from spor_tasks.corpora.webnlg import reader as webnlg
from tests.oracles.productivity import Method, published, try_in_turn
from tests.oracles.webnlg import read_test as read_webnlg_test
from tests.support.soak import soak
from tests.support.strategies import pools

PUBLISHED: dict[str, Method] = {"webnlg": "scarcest", "e2e": "longest"}
NAMES = ("train_{}_invisible", "train_{}_visible", "test_{}")


@cache
def corpora(folder: Path) -> dict[str, tuple[tuple[Sample, ...], tuple[Sample, ...]]]:
    """The training and the test samples of each corpus."""
    return {
        "webnlg": (webnlg.read_train(folder), read_webnlg_test(folder)),
        "e2e": (e2e.read_train(folder), e2e.read_test(folder)),
    }


def units_of(samples: list[Sample]) -> Counter[DataUnit]:
    return Counter(unit for sample in samples for unit in sample.units)


def replace_in_turn(
    train: tuple[Sample, ...], threshold: int, method: Method, limit: float
) -> list[Sample]:
    """Visible as the published procedure makes it, one Python step after another."""
    left = [sample for sample in train if len(sample.units) <= threshold]
    waiting = [sample for sample in train if len(sample.units) > threshold]
    invisible, added = units_of(left), list[Sample]()

    def surplus(sample: Sample, more: Sample | None = None) -> int:
        """How many occurrences of its units Visible has more than Invisible."""
        visible = units_of([*added, *left, *([more] if more else [])])
        return sum(visible[unit] - invisible[unit] for unit in sample.units)

    while waiting:
        if method == "longest":
            waiting = sorted(waiting, key=lambda sample: len(sample.units))
        else:
            waiting = sorted(waiting, key=lambda sample: -surplus(sample))
        new = waiting.pop()
        left = sorted(left, key=lambda sample: surplus(sample, new))
        room, out = len(new.units), list[Sample]()
        for sample in reversed(left):
            if len(sample.units) <= room:
                out.append(sample)
                room -= len(sample.units)
        kept = [sample for sample in left if sample not in out]
        if room == 0 and divergence_of_counts(invisible, units_of([*added, *kept, new])) <= limit:
            added.append(new)
            left = kept
    return added + left


@given(
    pools(always=[*"abcdefgh", "abcd", "efgh", "ab", "bc"]),
    st.integers(1, 3),
    st.sampled_from(tuple(PUBLISHED.values())),
    st.floats(0, 0.5),
)
def test_visible_is_what_the_published_procedure_makes(
    train: tuple[Sample, ...], threshold: int, method: Method, limit: float
) -> None:
    chosen = try_in_turn(Numbers([sample.units for sample in train]), threshold, limit, method)
    assert [train[i] for i in chosen] == replace_in_turn(train, threshold, method, limit)


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("corpus", "threshold", "of_released", "of_strict", "visible_sha256"),
    [
        ("webnlg", 3, (219, 228, 1_270), (222, 247, 1_321), "2fa24c2db85d7a4f"),
        soak("webnlg", 4, (153, 364, 2_153), (157, 384, 2_277), "9df5eaeb450018e3"),
        soak("webnlg", 5, (99, 381, 2_464), (99, 381, 2_464), "d703ebb422a10531"),
        soak("e2e", 3, (1_314, 665, 3_679), (1_314, 1_094, 5_709), "c25abc969a8130f1"),
        soak("e2e", 4, (1_002, 660, 4_069), (1_002, 2_392, 12_887), "a5c79d8ff49fa5e0"),
        ("e2e", 5, (477, 332, 2_105), (477, 814, 4_997), "e05c59187d18d783"),
    ],
)
def test_released_sets_are_rebuilt_to_the_byte_and_strict_ones_meet_every_requirement(
    data_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    corpus: str,
    *,
    threshold: int,
    of_released: tuple[int, int, int],
    of_strict: tuple[int, int, int],
    visible_sha256: str,
) -> None:
    """Counted are test samples, and Visible's samples of more than N units and their units."""
    monkeypatch.setenv("SPOR_DATA_DIR", str(data_dir))
    train, test = corpora(data_dir)[corpus]
    rebuilt = build(train, test, threshold, choose=published(PUBLISHED[corpus]))
    for split, name in zip(rebuilt.splits, NAMES, strict=True):
        path = released.path(name.format(f"{corpus}_productivity_N={threshold}"))
        rows = b"".join(files.encode_row(codec.to_row(sample)) for sample in split.samples)
        assert sources.blob_id(rows) == sources.SPOR.files()[path].blob
    exchanged = named.load("productivity", corpus, "strict", f"n{threshold}")
    for pair, expected in ((rebuilt, of_released), (exchanged, of_strict)):
        report = check.productivity(pair, threshold)
        assert report.violations == ()
        counts = (
            len(pair.test.samples),
            report.counts["long_in_visible"],
            report.counts["units_in_long"],
        )
        assert counts == expected
    assert digests.digest(exchanged.arms[1].samples).startswith(visible_sha256)
