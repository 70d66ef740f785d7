"""Every split by its name: aspect, corpus, protocol and, where there are several, part."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

from spor_tasks.benchmarks.spor import embedded, released, strict
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import SplitPair
from spor_tasks.corpora import sources


class SplitName(NamedTuple):
    """What a split is asked for by."""

    aspect: str
    corpus: str
    protocol: str
    part: str | None = None

    def __str__(self) -> str:
        return " ".join(filter(None, self))


@cache
def available() -> tuple[SplitName, ...]:
    """Return the names of all splits; the first of an aspect and corpus is its default."""
    return (
        *(
            SplitName(aspect, corpus, "published", part)
            for aspect, part in released.SETS
            for corpus in released.CORPORA
        ),
        *(SplitName(aspect, corpus, "strict", part) for aspect, corpus, part in strict.SETS),
        *(SplitName(aspect, embedded.CORPUS, "strict", part) for aspect, part in embedded.SETS),
    )


def load(
    aspect: str, corpus: str, protocol: str | None = None, part: str | None = None
) -> SplitPair:
    """Return a split, from :func:`sources.data_dir` where it is made of files.

    Equal calls return the same object, which nobody can change. Without ``protocol`` it is the
    default one, ``published`` where there is such a split; without ``part`` it is the first.

    Raises:
        SplitError: there is no split of that name; the error lists those there are.
        CorpusError: a file is missing or is not the published one.
    """
    for name in available():
        if (
            name[:2] == (aspect, corpus)
            and protocol in (None, name.protocol)
            and part in (None, name.part)
        ):
            return _load(name, sources.data_dir())
    asked = " ".join(filter(None, [aspect, corpus, protocol, part]))
    raise SplitError(
        f"there is no split {asked!r}", remedy=f"There are {', '.join(map(str, available()))}."
    )


@cache
def _load(name: SplitName, folder: Path) -> SplitPair:
    if name.corpus == embedded.CORPUS:
        return embedded.load(name.aspect, part=name.part)
    load_sets = strict.load if name.protocol == "strict" else released.load
    return load_sets(name.aspect, name.corpus, folder, part=name.part)
