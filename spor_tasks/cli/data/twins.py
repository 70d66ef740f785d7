"""`spor data twins`: count the samples that have fictional twins."""

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from spor_tasks.cli.arguments import Commands, add_json

if TYPE_CHECKING:
    from spor_tasks.core.sample import Sample
    from spor_tasks.twins import Twins

_PROTOCOLS = {"published", "strict"}  # those of sets without twins


def add(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "twins", help="count the samples that have fictional twins, and why others have none"
    )
    parser.add_argument(
        "corpora", nargs="*", metavar="CORPUS", help="a corpus that has twins (default: all)"
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Print the counts of each corpus as soon as they are known, or all of them as JSON."""
    from spor_tasks.twins import CORPORA

    counted = map(_counted, options.corpora or CORPORA)
    if options.json:
        print(json.dumps([asdict(each) for each in counted], indent=2, ensure_ascii=False))
        return
    for each in counted:
        print(
            f"\n{each.corpus}: {each.entities:,} entities, {len(each.in_two_kinds)} of two kinds; "
            f"{each.words:,} invented words"
        )
        for one in each.sets:
            print(f"  {one.name}: {one.twins:,} of {one.samples:,}")
            for reason, number in one.without.items():
                print(f"      {number:>6,}  {reason}")


@dataclass(frozen=True, slots=True)
class _Set:
    name: str
    samples: int
    twins: int
    without: dict[str, int]


@dataclass(frozen=True, slots=True)
class _Corpus:
    corpus: str
    entities: int
    in_two_kinds: tuple[str, ...]
    words: int
    sets: tuple[_Set, ...]


def _counted(corpus: str) -> _Corpus:
    from spor_tasks.twins import twins_of

    twins = twins_of(corpus)
    lexicon = twins.lexicon
    sets = tuple(_count(name, samples, twins) for name, samples in _samples(corpus))
    in_two_kinds = tuple(sorted(lexicon.in_two_kinds))
    return _Corpus(corpus, len(lexicon.kinds), in_two_kinds, len(lexicon.words), sets)


def _samples(corpus: str) -> Iterator[tuple[str, Iterable["Sample"]]]:
    """Yield the samples of the corpus, and those that its sets without twins test."""
    from spor_tasks.aspects import named
    from spor_tasks.core.registry import registry

    source = registry().get("corpus", corpus).read()
    yield "training samples", source.train
    yield "other samples", source.test
    for spec in named.available():
        if spec.name.corpus == corpus and spec.name.protocol in _PROTOCOLS:
            yield str(spec.name), named.load(*spec.name).test.samples


def _count(name: str, samples: Iterable["Sample"], twins: "Twins") -> _Set:
    from spor_tasks.twins import Untwinned

    results = [twins.twin(sample) for sample in samples]
    without = Counter(twin.reason for twin in results if isinstance(twin, Untwinned))
    return _Set(name, len(results), len(results) - without.total(), dict(without.most_common()))
