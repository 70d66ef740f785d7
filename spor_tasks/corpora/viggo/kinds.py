"""The kinds of ViGGO's values: names of games and developers, and dates; all else is vocabulary."""

from collections.abc import Iterator, Mapping

from spor_tasks.core.sample import Sample
from spor_tasks.corpora.kinds import CorpusKinds, Kind, Mention

_KINDS: Mapping[str, Kind] = {
    "developer": "organisation",
    "release year": "thing",
    "exp release date": "thing",
}


def mentions(sample: Sample) -> Iterator[Mention]:
    """Yield the name and every value of a sample."""
    if name := sample.about("name"):
        yield Mention(name, "work")
    for unit in sample.units:
        yield Mention(unit[-1], _KINDS.get(unit[0], "vocabulary"))


KINDS = CorpusKinds(
    mentions, kept=frozenset({"games", "interactive", "nintendo", "playstation", "software"})
)
