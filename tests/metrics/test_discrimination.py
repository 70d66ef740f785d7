"""A text is likeliest under its own combination, or not: by hand, and of invented systems."""

import itertools
import json
import math
from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest

from spor_tasks.core.sample import AttributeValue, Rivals, Sample
from spor_tasks.metrics.base import Tally, score_info
from spor_tasks.metrics.discrimination import DISCRIMINATION
from spor_tasks.metrics.groups import HALVES
from spor_tasks.metrics.likelihood import Likelihood
from tests.support.scores import judge, values_of

ASPECTS = {"sentiment": ("Negative", "Positive"), "topic": ("Books", "Music", "Movies")}
COMBINATIONS = tuple(itertools.product(*ASPECTS.values()))
SEEN = {COMBINATIONS[number] for number in (0, 2, 4)}
OVER_HALVES = [
    f"{name}_{half}" for name in ("disc_acc", "disc_acc_within", "disc_aspects") for half in HALVES
]

Combination = tuple[str, ...]
System = Callable[[Combination], float]


def units(combination: Combination) -> tuple[AttributeValue, ...]:
    return tuple(map(AttributeValue, ASPECTS, combination))


def sample(own: Combination, *, halves: bool = True) -> Sample:
    rivals = [each for each in COMBINATIONS if each != own]
    alike = tuple((each in SEEN) == (own in SEEN) for each in rivals)
    context = {"unseen": own not in SEEN} if halves else {}
    challenge = Rivals(tuple(map(units, rivals)), alike)
    return Sample(" ".join(own), "amazon", units(own), ("a text",), context, challenge)


FIRST = sample(COMBINATIONS[0])


def scores(cases: Iterable[tuple[Sample, System]]) -> dict[str, float]:
    """Return the scores of systems, which give the log likelihood of a text by combination."""
    tally = Tally((*DISCRIMINATION.scores, *map(score_info, OVER_HALVES)))
    for each, log_of in cases:
        assert isinstance(each.challenge, Rivals)
        combinations = (
            tuple(unit[-1] for unit in of) for of in (each.units, *each.challenge.units)
        )
        logs = tuple(Likelihood(log_of(combination), None, 6) for combination in combinations)
        judgement = judge(DISCRIMINATION, each, *logs)
        json.dumps(judgement.details)
        tally.add(values_of(DISCRIMINATION, each, judgement, OVER_HALVES))
    return {score.name: score.value for score in tally.scores(DISCRIMINATION.signature)}


def system(*logs: float) -> System:
    return dict(zip(COMBINATIONS, logs, strict=True)).__getitem__


def test_the_likeliest_combination_and_value_win() -> None:
    values = scores([(FIRST, system(-1.0, -1.2, -9.0, -9.0, -1.1, -9.0))])
    assert (values["disc_acc"], values["disc_acc_id"]) == (100, 100)
    assert values["disc_aspects"] == 50  # two combinations with Music are likely
    assert "disc_acc_comp" not in values
    assert math.isnan(values["disc_gap"])


def test_only_rivals_of_its_own_half_count_within_the_half() -> None:
    values = scores([(FIRST, system(-2.0, -1.0, -3.0, -9.0, -9.0, -9.0))])
    assert values["disc_acc"] == 0
    assert values["disc_acc_within"] == values["disc_acc_within_id"] == 100
    alone = replace(FIRST, challenge=Rivals(tuple(map(units, COMBINATIONS[1:])), (False,) * 5))
    assert "disc_acc_within" not in scores([(alone, lambda _: -1.0)])


def test_a_system_that_reads_no_code_scores_chance_to_the_last_digit() -> None:
    whole = scores((sample(own, halves=False), lambda _: -30.1) for own in COMBINATIONS)
    assert not [name for name in whole if name.endswith(("_id", "_comp"))]
    assert math.isnan(whole.get("disc_gap", math.nan))
    values = scores((sample(own), lambda _: -30.1) for own in COMBINATIONS)
    for end in ("", "_id", "_comp"):
        assert values[f"disc_acc{end}"] == pytest.approx(100 / 6, abs=1e-12)
        assert values[f"disc_acc_within{end}"] == pytest.approx(100 / 3, abs=1e-12)
        assert values[f"disc_aspects{end}"] == pytest.approx((50 + 100 / 3) / 2, abs=1e-12)
    assert values["disc_gap"] == pytest.approx(0, abs=1e-12)


def test_the_gap_is_of_a_system_that_knows_seen_combinations_alone() -> None:
    """Its preference for seen combinations decides all but what is within a half."""
    own_first = [(sample(own), lambda each, own=own: float(each == own)) for own in COMBINATIONS]
    assert scores(own_first)["disc_gap"] == 0
    values = scores(
        (sample(own), lambda each, own=own: (each == own) + 9.0 * (each in SEEN))
        for own in COMBINATIONS
    )
    assert (values["disc_acc_id"], values["disc_acc_comp"], values["disc_gap"]) == (100, 0, 100)
    assert values["disc_acc_within_id"] == values["disc_acc_within_comp"] == 100


def test_no_number_has_no_verdict_and_an_impossible_text_loses() -> None:
    broken = scores([(FIRST, lambda _: math.nan)])
    assert all(math.isnan(broken[name]) for name in ("disc_acc", "disc_aspects"))
    lost = scores([(FIRST, lambda each: -math.inf if each == COMBINATIONS[0] else -4.0)])
    assert lost["disc_acc"] == 0
    assert scores([(FIRST, lambda _: -math.inf)])["disc_acc"] == pytest.approx(100 / 6)


def test_the_gap_has_an_error_of_both_halves() -> None:
    totals = score_info("disc_gap").totals
    seen, unseen = [(100.0, 1, 0, 0)] * 6 + [(0.0, 1, 0, 0)] * 4, [(0, 0, 100.0, 1)] * 3
    rows = [*seen, *unseen, *[(0, 0, 0.0, 1)] * 7]
    assert totals.value(rows) == pytest.approx(30)
    spread = math.sqrt(100 * (60 * 40 / 1000 + 30 * 70 / 1000))
    assert totals.stderr(rows) == pytest.approx(spread, rel=0.06)
