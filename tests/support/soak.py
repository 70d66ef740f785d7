"""Cases that take long and whose like is tried in every run; `make soak` runs them too."""

from itertools import islice

import pytest


def soak(*values):
    """Return a case of a test that only a long run tries."""
    return pytest.param(*values, marks=pytest.mark.soak)


def some(cases, quick):
    """Return the cases of a test with one argument, of which a short run tries the first ones."""
    each = iter(cases)
    return [*islice(each, quick), *map(soak, each)]
