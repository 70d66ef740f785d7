"""Whether a text is likeliest under its own combination: by hand, and of systems made up."""

import itertools
import json
import math
import pickle
import random
from collections.abc import Callable, Iterable

import pytest

from spor_tasks.core.sample import AttributeValue, Rivals, Sample
from spor_tasks.metrics.base import Tally, score_info
from spor_tasks.metrics.discrimination import DISCRIMINATION
from spor_tasks.metrics.groups import HALVES
from spor_tasks.metrics.likelihood import Likelihood
from tests.support.scores import values_of

ASPECTS = {"sentiment": ("Negative", "Positive"), "topic": ("Books", "Music", "Movies")}
COMBINATIONS = tuple(itertools.product(*ASPECTS.values()))
OVER_HALVES = [
    f"{name}_{half}" for name in ("disc_acc", "disc_acc_within", "disc_aspects") for half in HALVES
]
SEEN = {COMBINATIONS[number] for number in (0, 2, 4)}

Combination = tuple[str, ...]


def units(combination: Combination) -> tuple[AttributeValue, ...]:
    return tuple(map(AttributeValue, ASPECTS, combination))


def sample(own: Combination, *, halves: bool = True) -> Sample:
    others = [each for each in COMBINATIONS if each != own]
    alike = tuple((each in SEEN) == (own in SEEN) for each in others)
    context = {"unseen": own not in SEEN} if halves else {}
    rivals = Rivals(tuple(map(units, others)), alike)
    return Sample(" ".join(own), "amazon", units(own), ("a text",), context, rivals)


def scores(asked: Iterable[tuple[Sample, Callable[[Combination], float]]]) -> dict[str, float]:
    """Return the scores of a system that says how likely a sample's text is under each."""
    infos = (*DISCRIMINATION.scores, *map(score_info, OVER_HALVES))
    tally = Tally(infos)
    for each, likelihood in asked:
        rivals = each.challenge
        assert isinstance(rivals, Rivals)
        given = (tuple(unit[-1] for unit in of) for of in (each.units, *rivals.units))
        logs = tuple(Likelihood(likelihood(combination), None, 6) for combination in given)
        (evidence,) = DISCRIMINATION.judge([each], [logs])
        assert repr(pickle.loads(pickle.dumps(evidence))) == repr(evidence)  # noqa: S301
        json.dumps(evidence.details)
        tally.add(values_of(DISCRIMINATION, each, evidence, OVER_HALVES))
    return {score.name: score.value for score in tally.scores(DISCRIMINATION.signature)}


def test_the_likeliest_combination_and_value_win() -> None:
    logs = dict(zip(COMBINATIONS, (-1.0, -1.2, -9.0, -9.0, -1.1, -9.0), strict=True))
    found = scores([(sample(COMBINATIONS[0]), logs.__getitem__)])
    assert (found["disc_acc"], found["disc_acc_id"]) == (100, 100)
    assert found["disc_aspects"] == 50  # of Music there are two likely ones
    assert "disc_acc_comp" not in found
    assert math.isnan(found["disc_gap"])


def test_only_rivals_of_its_own_half_count_within_the_half() -> None:
    logs = dict(zip(COMBINATIONS, (-2.0, -1.0, -3.0, -9.0, -9.0, -9.0), strict=True))
    found = scores([(sample(COMBINATIONS[0]), logs.__getitem__)])
    assert (found["disc_acc"], found["disc_acc_within"]) == (0, 100)
    assert found["disc_acc_within_id"] == 100


def test_a_system_that_reads_no_code_scores_chance_to_the_last_digit() -> None:
    found = scores((sample(own), lambda _: -30.1) for own in COMBINATIONS)
    for end in ("", "_id", "_comp"):
        assert found[f"disc_acc{end}"] == pytest.approx(100 / 6, abs=1e-12)
        assert found[f"disc_acc_within{end}"] == pytest.approx(100 / 3, abs=1e-12)
        assert found[f"disc_aspects{end}"] == pytest.approx((50 + 100 / 3) / 2, abs=1e-12)
    assert found["disc_gap"] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("knows_seen_alone", [False, True])
def test_a_system_that_knows_each_value_has_no_gap_and_one_of_seen_combinations_has(
    knows_seen_alone: bool,  # noqa: FBT001
) -> None:
    rng = random.Random(0)

    def asked() -> Iterable[tuple[Sample, Callable[[Combination], float]]]:
        for own in COMBINATIONS * 300:
            noise = {value: rng.gauss(0, 1) for of in ASPECTS.values() for value in of}

            def log(
                each: Combination, own: Combination = own, noise: dict[str, float] = noise
            ) -> float:
                known = sum(
                    2.0 * (value == true) + noise[value]
                    for value, true in zip(each, own, strict=True)
                )
                return known - 9.0 * (knows_seen_alone and each not in SEEN)

            yield sample(own), log

    found = scores(asked())
    within = found["disc_acc_within_id"] - found["disc_acc_within_comp"]
    assert abs(within) < 5  # what it prefers takes nothing from this
    assert (found["disc_gap"] > 70) == knows_seen_alone
    assert (abs(found["disc_gap"]) < 5) != knows_seen_alone
    assert found["disc_acc_id"] - found["disc_acc_comp"] == pytest.approx(found["disc_gap"])


def test_without_halves_there_is_neither_a_half_nor_a_gap() -> None:
    found = scores([(sample(own, halves=False), lambda _: -1.0) for own in COMBINATIONS])
    assert math.isnan(found.get("disc_gap", math.nan))
    assert not [name for name in found if name.endswith(("_id", "_comp"))]


def test_a_half_of_one_combination_has_no_rivals_within() -> None:
    own = sample(COMBINATIONS[0])
    alone = Sample(
        own.id,
        own.corpus,
        own.units,
        own.references,
        own.context,
        Rivals(tuple(units(each) for each in COMBINATIONS[1:]), (False,) * 5),
    )
    assert "disc_acc_within" not in scores([(alone, lambda _: -1.0)])


def test_what_is_no_number_has_no_verdict_and_what_is_impossible_loses() -> None:
    broken = scores([(sample(COMBINATIONS[0]), lambda _: math.nan)])
    assert all(math.isnan(broken[name]) for name in ("disc_acc", "disc_aspects"))
    own = COMBINATIONS[0]
    lost = scores([(sample(own), lambda each: -math.inf if each == own else -4.0)])
    assert lost["disc_acc"] == 0
    nothing = scores([(sample(own), lambda _: -math.inf)])
    assert nothing["disc_acc"] == pytest.approx(100 / 6)


def test_the_gap_has_an_error_of_both_halves() -> None:
    totals = score_info("disc_gap").totals
    rows = (
        [(100.0, 1, 0, 0)] * 6
        + [(0.0, 1, 0, 0)] * 4
        + [(0, 0, 100.0, 1)] * 3
        + [(0, 0, 0.0, 1)] * 7
    )
    assert totals.value(rows) == pytest.approx(30)
    spread = math.sqrt(100 * (60 * 40 / 1000 + 30 * 70 / 1000))
    assert totals.stderr(rows) == pytest.approx(spread, rel=0.06)
