"""Where a text mentions the units of a sample: by the strings that its corpus says tell them."""

from collections.abc import Callable
from functools import cache
from typing import TypeAlias

from spor_tasks.core.registry import registry
from spor_tasks.core.sample import Sample
from spor_tasks.text import align

Surface: TypeAlias = Callable[[Sample], tuple[tuple[str, ...], ...]]
"""For each unit of a sample, the strings of which any one in a text is its mention."""


@cache  # it is asked for every text
def surface_of(corpus: str) -> Surface | None:
    """Return what a corpus says its units are told by, if it is registered and says so."""
    if corpus not in registry().names("corpus"):
        return None
    return getattr(registry().get("corpus", corpus), "surface", None)


def locate(sample: Sample, text: str, *, strict: bool) -> tuple[int | None, ...]:
    """Return the token index at which a text mentions each unit, ``None`` where it does not.

    Where the corpus does not say what tells a unit, it is :func:`align.locate` that does.

    Raises:
        CorpusError: the sample lacks what its corpus looks at, such as a table.
    """
    if surface := surface_of(sample.corpus):
        return align.locate_any(surface(sample), text)
    return align.locate(sample.units, text, strict=strict)
