"""Each requirement of the aspects, broken one at a time, and the samples it is broken in."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from spor_tasks.aspects import check, named
from spor_tasks.aspects.arms import ARMS
from spor_tasks.core.contracts import SetName
from spor_tasks.core.errors import SplitError
from tests.oracles.requirements import broken
from tests.support.soak import some
from tests.support.strategies import pool, sets

WORDS = ("ab", "abc", "abx", "ba", "bay", "bc")


def shown(report: check.CheckResult) -> dict[str, dict[str, list[str]]]:
    """Each violation with the samples that show it, as the words they were made from."""
    word = {pool([word])[0].id: word for word in WORDS}
    return {
        violation.words: {
            split: [word[sample] for sample in samples]
            for split, samples in violation.samples.items()
        }
        for violation in report.violations
    }


def counted(
    atom: Sequence[str], combination: Sequence[str], test: Sequence[str], limit: float = 0.02
) -> check.CheckResult:
    """What is counted in sets of one word per sample, one data unit per letter."""
    arms = {"atom": pool(atom), "combination": pool(combination)}
    pair = sets("systematicity", pool(test), **arms)
    return check.systematicity(pair, limit=limit)


def test_sets_that_are_what_they_should_be_have_no_violations() -> None:
    report = counted(["a", "b", "cx"], ["abx", "c"], ["ab", "bc"])
    assert report.holds
    assert report.counts == {
        "missing_atoms": (0, 0),
        "test_samples_shown": (0, 0),
        "pairs_in_atom": 0,
        "atom_samples_with_pairs": 0,
        "test_samples_touched": 0,
        "test_samples_given_away": 0,
        "occurrences": (3, 3),
        "divergence": 0,
        "limit": 0.02,
        "pairs_in_combination": 1,
    }


def test_test_pairs_in_atom_are_counted_over_the_whole_set() -> None:
    # ab and bc occur in Atom: abc is touched (ac does not occur), bc is given away, cd is neither.
    report = counted(["abx", "bay", "bc", "d", "ad"], ["a", "b", "c", "d"], ["abc", "bc", "cd"])
    assert report.counts["pairs_in_atom"] == 2
    assert report.counts["atom_samples_with_pairs"] == 3
    assert report.counts["test_samples_touched"] == 2
    assert report.counts["test_samples_given_away"] == 1
    assert shown(report) == {
        "2 test pairs occur in Atom": {"atom": ["abx", "bay", "bc"], "test": ["abc", "bc"]},
        "1 test samples have every pair in Atom": {"test": ["bc"]},
        "1 training samples have exactly the units of a test sample": {"atom": ["bc"]},
        "atoms occur 9 times in Atom but 4 times in Combination": {},
        "the divergence of the arms is 0.0203, more than 0.02": {},
    }


def test_missing_atoms_are_named_by_arm() -> None:
    report = counted(["a", "a"], ["b", "c"], ["ab", "bc"])
    assert report.counts["missing_atoms"] == (2, 1)
    assert shown(report) == {
        "2 atoms do not occur in Atom": {"test": ["ab", "bc"]},
        "1 atoms do not occur in Combination": {"test": ["ab"]},
        "the divergence of the arms is 1.0000, more than 0.02": {},
    }


def test_a_test_sample_among_the_training_samples_is_a_violation() -> None:
    report = counted(["a", "b"], ["ba"], ["ab"])
    assert report.counts["test_samples_shown"] == (0, 1)
    assert shown(report) == {
        "1 training samples have exactly the units of a test sample": {"combination": ["ba"]}
    }


def test_a_divergence_beyond_the_limit_is_a_violation() -> None:
    given = (["a", "a", "a", "b"], ["abx", "b", "by"], ["ab"])
    report = counted(*given)
    assert report.counts["divergence"] == pytest.approx(1 - 2 * (3 / 16) ** 0.5)
    assert shown(report) == {"the divergence of the arms is 0.1340, more than 0.02": {}}
    assert counted(*given, limit=0.14).holds


def test_an_arm_without_any_atom_cannot_be_compared() -> None:
    with pytest.raises(SplitError, match="without units"):
        counted(["x"], ["ab"], ["ab"])


# The parts of order invariance share their arms, which take seconds to align; productivity's sets
# are checked where they are compared with the released ones.
STRICT = [
    name
    for name in [spec.name for spec in named.available()]
    if name.protocol == "strict"
    and name.corpus != "mini"
    and name.aspect in ARMS
    and name.aspect != "productivity"
    and name.part not in ("cwio", "performance")
]


@pytest.mark.real_data
@pytest.mark.parametrize("name", some(STRICT, 2), ids=map(str, STRICT))
def test_every_strict_set_holds(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, name: SetName
) -> None:
    monkeypatch.setenv("SPOR_DATA_DIR", str(data_dir))
    assert broken(named.load(*name)) == []
