"""The protocols against the published code's numbers, and against enumeration."""

import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.benchmarks.compmctg import protocols, splits
from spor_tasks.benchmarks.compmctg.protocols import (
    TooLargeError,
    divergence,
    hill_climb,
    hold_out,
    is_eligible,
    most_divergent,
    partition,
)
from spor_tasks.core.errors import ConfigError, SplitError
from spor_tasks.corpora.compmctg.spaces import (
    AMAZON,
    FYELP,
    MIXTURE,
    PUBLISHED,
    YELP,
    Combination,
    Space,
    read_space,
)
from tests.oracles import climb
from tests.support import golden

HIGHEST = {  # of half of the combinations, and of as many as the largest aspect has values
    (YELP, 4): (0.5, 32),
    (YELP, 2): (0.627959, 4),
    (MIXTURE, 4): (1, 14),
    (AMAZON, 6): (1, 62),
    (FYELP, 5): (0.541397, 40),
}


def combinations(texts: list[str]) -> list[Combination]:
    return [tuple(text.split()) for text in texts]


def test_the_spaces_have_the_papers_sizes() -> None:
    assert [len(space.combinations) for space in PUBLISHED] == [40, 12, 8, 8]


def test_divergence_and_eligibility_are_those_of_the_published_code(golden_dir: Path) -> None:
    for row in golden.read(golden_dir / "compmctg", "partitions", rows=75):
        seen, unseen = (combinations(row[side]) for side in ("id", "comp"))
        assert divergence(seen, unseen) == pytest.approx(row["D"], abs=1e-9)
        assert divergence(unseen, seen) == pytest.approx(row["D_reverse"], abs=1e-9)
        assert divergence(seen, unseen, 0.5) == pytest.approx(row["D_coef0.5"], abs=1e-9)
        assert is_eligible(seen, unseen, both_ways=True) == row["eligible"]


@pytest.mark.parametrize(("space", "size"), HIGHEST, ids=lambda it: getattr(it, "name", it))
def test_the_highest_divergence_is_that_of_enumeration(space: Space, size: int) -> None:
    found = most_divergent(space, size, most=10, seed=0)
    highest, ties = HIGHEST[space, size]
    assert found.divergence == pytest.approx(highest, abs=1e-6)
    assert found.ties == ties
    assert len({*found.partitions}) == min(10, found.ties)
    for seen, unseen in found.partitions:
        assert len(seen) == size
        assert is_eligible(seen, unseen, both_ways=True)
        assert divergence(seen, unseen) == pytest.approx(found.divergence, abs=1e-9)


def test_the_highest_divergence_of_halves_of_fyelp_is_proved() -> None:
    found = most_divergent(FYELP, 20, most=10, seed=splits.SEED)
    assert found.divergence == pytest.approx(0.3310007363974443, abs=1e-9)
    assert found.ties == 1560
    assert {round(divergence(*each), 9) for each in found.partitions} == {0.331000736}
    assert found.partitions == splits.shipped(FYELP, "acd")


@given(
    st.lists(st.integers(2, 3), min_size=2, max_size=3),
    st.data(),
)
def test_search_and_enumeration_agree_on_any_space(sizes: list[int], data: st.DataObject) -> None:
    space = Space(
        "any", {f"a{i}": tuple(f"{i}{v}" for v in range(size)) for i, size in enumerate(sizes)}
    )
    everything = space.combinations
    size = data.draw(st.integers(1, min(4, len(everything) - 1)))
    highest = max(
        (
            divergence(*each)
            for seen in itertools.combinations(everything, size)
            if is_eligible(*(each := partition(space, seen)), both_ways=True)
        ),
        default=None,
    )
    if highest is None:
        with pytest.raises(SplitError):
            most_divergent(space, size, most=1, seed=0)
    else:
        found = most_divergent(space, size, most=1, seed=0)
        assert found.divergence == pytest.approx(highest, abs=1e-9)


def test_the_seed_draws_which_of_the_best_are_returned() -> None:
    one, again, other = (most_divergent(YELP, 4, most=3, seed=seed) for seed in (1, 1, 2))
    assert one == again != other


def test_hold_out_leaves_out_each_combination_once() -> None:
    found = hold_out(MIXTURE)
    assert [unseen for _, unseen in found] == [(each,) for each in MIXTURE.combinations]
    assert all(is_eligible(*each) and not is_eligible(*each, both_ways=True) for each in found)


def test_a_space_too_large_to_prove_the_best_is_refused() -> None:
    large = Space("large", {f"a{i}": ("x", "y") for i in range(6)})
    with pytest.raises(TooLargeError):
        most_divergent(large, 32, most=1, seed=0)


def test_a_climb_reaches_what_the_published_code_reaches() -> None:
    reached = {(of, size): hill_climb(of, size, restarts=60, seed=0) for of, size in HIGHEST}
    for (space, size), found in reached.items():
        highest, ties = HIGHEST[space, size]
        assert found.divergence <= highest + 1e-6
        assert found.ties <= ties
        for split in found.partitions:
            assert is_eligible(*split)
            assert divergence(*split) == pytest.approx(found.divergence, abs=1e-9)
    for space, size in ((YELP, 4), (MIXTURE, 4), (AMAZON, 6)):
        assert reached[space, size].divergence == pytest.approx(HIGHEST[space, size][0])
    found = hill_climb(FYELP, 20, restarts=60, seed=0)
    assert found.divergence > 0.25
    assert found == hill_climb(FYELP, 20, restarts=60, seed=0)


def test_a_climb_goes_as_the_published_one(golden_dir: Path) -> None:
    same, lower = [], []
    for row in golden.read(golden_dir / "compmctg", "partitions", rows=75):
        if "hill_D" not in row or not row["eligible"]:
            continue
        space = next(each for each in PUBLISHED if each.name == row["dataset"].lower())
        seen, unseen, end = (
            [space.combinations.index(each) for each in combinations(row[key])]
            for key in ("id", "comp", "hill_id")
        )
        reached = protocols._Climb(space, protocols.ALPHA).up(seen, unseen)
        assert reached is not None
        same.append({*seen} == {*end})
        lower.append(reached < row["hill_D"] - 1e-9)
    assert (len(same), sum(same), sum(lower)) == (33, 25, 4)  # others differ by rounding


@pytest.mark.parametrize(
    ("space", "size", "starts"), [(YELP, 4, 2), (YELP, 2, 60), (MIXTURE, 4, 60)]
)
def test_the_plain_climb_gets_as_far_as_ours(space: Space, size: int, starts: int) -> None:
    ours = hill_climb(space, size, restarts=starts, seed=0).divergence
    plain = climb.search(space, size, restarts=starts, seed=0)
    assert plain == pytest.approx(ours, abs=1e-9)


def test_a_climb_without_an_eligible_start_says_so() -> None:
    with pytest.raises(SplitError):
        hill_climb(YELP, 1, restarts=20, seed=0)


@pytest.mark.parametrize(
    "text",
    ["aspects: [a]", "a: b", "aspects: {a: [x]}", "aspects: {a: [x, x]}", "aspects: {}", "["],
)
def test_a_space_of_ones_own_is_checked(tmp_path: Path, text: str) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(text, "utf-8")
    with pytest.raises(ConfigError) as caught:
        read_space(file)
    assert caught.value.where


def test_a_space_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(json.dumps({"aspects": {"mood": ["glad", "sad"], "size": ["S", "M"]}}), "utf-8")
    space = read_space(file)
    assert space.combinations == tuple(itertools.product(("glad", "sad"), ("S", "M")))
    assert space.combination({"mood": "sad", "size": "M"}, "here") == ("sad", "M")
    with pytest.raises(ConfigError, match="mood"):
        space.combination({"size": "M"}, "here")
