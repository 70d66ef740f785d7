"""Groups that cannot be told apart, of any relation."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from spor_tasks.report.leaderboard import _letters

PAIRS = list(combinations(range(7), 2))


@given(st.sets(st.sampled_from(PAIRS)))
def test_two_systems_share_a_letter_exactly_where_they_are_alike(
    pairs: set[tuple[int, int]],
) -> None:
    alike = {i: {j for j in range(7) if (min(i, j), max(i, j)) in pairs} for i in range(7)}
    letters = _letters(alike)
    assert all(letters.values())
    for i, j in PAIRS:
        assert bool(set(letters[i]) & set(letters[j])) == ((i, j) in pairs)


@given(st.sets(st.sampled_from(PAIRS)))
def test_no_letter_says_what_another_says_already(pairs: set[tuple[int, int]]) -> None:
    alike = {i: {j for j in range(7) if (min(i, j), max(i, j)) in pairs} for i in range(7)}
    letters = _letters(alike)
    groups = [
        {i for i in letters if letter in letters[i]} for letter in set("".join(letters.values()))
    ]
    assert not any(one < other for one in groups for other in groups)
