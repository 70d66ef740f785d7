"""What kinds of entities the samples of a corpus are about."""

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple, TypeAlias

from spor_tasks.core.sample import Sample

Kind: TypeAlias = Literal["person", "place", "organisation", "work", "dish", "thing", "vocabulary"]
"""``thing`` is any other name, such as that of a ship; ``vocabulary`` is not a name at all."""


class Mention(NamedTuple):
    """An entity in its raw form, and the kind that its place in a sample says it is.

    Of several kinds the one with the largest sum of weights is an entity's.
    """

    entity: str
    kind: Kind
    weight: int = 1


class CorpusKinds(NamedTuple):
    """What is known of the entities of a corpus.

    ``mentions`` yields those of a sample. ``kept`` are words, in lower case, that stay wherever
    they are part of a name, and ``countries`` tells whether names of countries and peoples are
    entities in every value, not only in names.
    """

    mentions: Callable[[Sample], Iterator[Mention]]
    kept: frozenset[str] = frozenset()
    countries: bool = False
