"""Correlations of resamples against scipy's, on the rows of each resample written out."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from spor_tasks.metrics.correlation import Codes, _weights, levels, standard
from spor_tasks.metrics.totals import Numbers

RESAMPLES = 8
INPUTS, SYSTEMS = 5, 4


@st.composite
def outputs(draw: st.DrawFn) -> tuple[Codes, Codes, Numbers, Numbers]:
    """Inputs and systems that all occur, and two columns with many ties."""
    count = draw(st.integers(INPUTS, 30))
    numbers = st.lists(st.integers(0, 4), min_size=count, max_size=count)
    one, other = (np.array(draw(numbers), float) for _ in range(2))
    codes = np.array(draw(st.permutations(range(count))))
    return codes % INPUTS, codes // INPUTS % SYSTEMS, one, other


def by_scipy(one: Numbers, other: Numbers) -> list[float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.ConstantInputWarning)
        return [
            correlate(one, other).statistic
            for correlate in (stats.pearsonr, stats.spearmanr, stats.kendalltau)
        ]


def means(column: Numbers, systems: Codes, count: int) -> Numbers:
    return np.array([column[systems == system].mean() for system in range(count)]).round(12)


@given(outputs(), st.integers(0, 99))
def test_each_resample_correlates_as_its_rows_do(
    drawn: tuple[Codes, Codes, Numbers, Numbers], seed: int
) -> None:
    inputs, systems, one, other = drawn
    count = int(systems.max()) + 1
    found = {
        level.over: level.correlate(standard(one), standard(other))
        for level in levels(inputs, systems, RESAMPLES, seed)
    }
    assert set(found) == ({"texts", "systems"} if count > 2 else {"texts"})
    for number, weights in enumerate(_weights(INPUTS, RESAMPLES, seed)):
        rows = np.repeat(np.arange(len(one)), weights[inputs].astype(int))
        expected = by_scipy(one[rows], other[rows])
        assert found["texts"][:, number] == pytest.approx(expected, nan_ok=True)
        if "systems" not in found:
            continue
        here = systems[rows]
        if len(np.unique(here)) < count:
            expected = [np.nan] * 3
        else:
            expected = by_scipy(*(means(column[rows], here, count) for column in (one, other)))
        assert found["systems"][:, number] == pytest.approx(expected, abs=1e-6, nan_ok=True)


def test_resamples_are_the_data_and_then_as_many_inputs_as_there_are() -> None:
    weights = _weights(7, 2000, seed=0)
    assert (weights[0] == 1).all()
    assert (weights.sum(axis=1) == 7).all()
    assert weights[1:].mean(axis=0) == pytest.approx(1, abs=0.1)
    assert weights[1:].var(axis=0) == pytest.approx(6 / 7, abs=0.1)
