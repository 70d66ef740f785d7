"""The kinds of E2E's values: names of restaurants and of what is near; all else is vocabulary."""

from collections.abc import Iterator

from spor_tasks.core.sample import Sample
from spor_tasks.corpora.kinds import CorpusKinds, Mention


def mentions(sample: Sample) -> Iterator[Mention]:
    """Yield the name and every value of a sample."""
    if name := sample.about("name"):
        yield Mention(name, "work")
    for unit in sample.units:
        yield Mention(unit[-1], "work" if unit[0] == "near" else "vocabulary")


KINDS = CorpusKinds(
    mentions,
    kept=frozenset(
        {"bar", "cafe", "cuisine", "hotel", "house", "indian", "inn", "noodle", "vegetarian"}
    ),
)
