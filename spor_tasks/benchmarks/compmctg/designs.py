"""The texts that CompMCTG asks for, and the labelled texts of training under a split.

The requests need no file. Training texts are read when they are needed.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from spor_tasks.benchmarks.compmctg import splits
from spor_tasks.benchmarks.compmctg.splits import Partition
from spor_tasks.core.digests import sha256_of, sha256_of_text
from spor_tasks.core.errors import ConfigError, CorpusError, SplitError
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import Deferred, Sample, SetFacts, Sets
from spor_tasks.corpora.compmctg import reader
from spor_tasks.corpora.compmctg.linearize import PREFIXES
from spor_tasks.corpora.compmctg.spaces import PUBLISHED as SPACES
from spor_tasks.corpora.compmctg.spaces import Space, read_request
from spor_tasks.corpora.embedded import COMPMCTG_MINI, attributes

MINI = COMPMCTG_MINI.name

REPEATS = 10
"""How often each beginning and combination is asked for, as published."""


@dataclass(frozen=True, eq=False)
class Design:
    """The requests of a corpus: beginnings of texts of its space, and how often each is repeated.

    ``own_folder`` has the files of a space of one's own.
    """

    space: Space
    prefixes: Sequence[str] = PREFIXES
    repeats: int = REPEATS
    own_folder: Path | None = None

    def file(self, part: str) -> Path:
        """Return where a file is: ``gen``, ``cls`` or ``unseen``."""
        if self.own_folder:
            return self.own_folder / f"{part}.jsonl"
        return reader.file_of(self.space.name, part)


SHIPPED = {space.name: Design(space) for space in SPACES} | {
    MINI: Design(attributes.SPACE, attributes.PREFIXES, attributes.REPEATS)
}
"""The designs of the published corpora, and of the embedded one."""


MOST_REQUESTS = 200_000
"""The most texts that a space of one's own may ask for; published ones have up to 42,000."""


@cache
def own(path: Path, _sha256: str) -> Design:
    """Return the design of a space in a YAML file, read again only if its digest changes.

    Raises:
        ConfigError: the file is malformed, or has the name of a corpus.
    """
    request = read_request(path)
    if request.space.name in registry().names("corpus"):
        raise ConfigError(
            f"has the name of the corpus {request.space.name}",
            where=path,
            remedy="Rename the file.",
        )
    prefixes, repeats = request.beginnings or PREFIXES, request.repeats or REPEATS
    if (number := repeats * len(prefixes) * len(request.space.combinations)) > MOST_REQUESTS:
        raise ConfigError(
            f"asks for {number:,} texts, more than {MOST_REQUESTS:,}",
            where=path,
            remedy="Lower `repeats`, or list fewer `beginnings` or values.",
        )
    return Design(request.space, prefixes, repeats, path.parent)


def pair(facts: SetFacts, design: Design) -> Sets:
    """Return the requests, marked under some splits, and the arm if it is a single split.

    Splits are shipped ones, or those of a file.

    Raises:
        SplitError: there is no such split.
        CorpusError: the file is needed, and is missing or malformed.
    """
    base = facts.facets["protocol"]
    under = splits.shipped(design.space, base) if base == facts.protocol else ()
    under = under or splits.read(design.file("unseen"), design.space, base)
    number = int(facts.part or 0)
    if number >= len(under):
        raise SplitError(
            f"there is no split {str(facts)!r}",
            remedy=f"The file has {len(under)} splits of this protocol, numbered from 0.",
        )
    if facts.part is not None:
        under = under[number : number + 1]
    marks = {
        combination: "".join(str(int(combination in split.unseen)) for split in under)
        for combination in design.space.combinations
    }

    def marked(request: Sample) -> Sample:
        """Return a request that says whether it is unseen: a 0 or 1 for each of several splits."""
        mark = marks[reader.combination_in(request)]
        unseen = mark if len(mark) > 1 else mark == "1"
        return replace(request, context={**request.context, "unseen": unseen})

    arms: dict[str, Sequence[Sample]] = {}
    if len(under) == 1 and design.space.name == MINI:
        arms["train"] = _of_seen(COMPMCTG_MINI.part("train"), under[0])
    elif len(under) == 1:
        path, sha256 = design.file("gen"), None
        if path.is_file():
            sha256 = sha256_of_text(json.dumps([sorted(under[0].unseen), sha256_of(path)]))
        arms["train"] = Deferred(lambda: _read(path, design.space, under[0]), sha256)
    return Sets(facts, arms, Deferred(lambda: _requests(design), None, marked))


@cache
def _requests(design: Design) -> tuple[Sample, ...]:
    """Return the texts that are asked for; the first ones have all combinations."""
    corpus = design.space.name
    return tuple(
        Sample(
            sha256_of_text(json.dumps([corpus, combination, prefix, repeat]))[:16],
            corpus,
            reader.units_of(design.space, combination),
            (),
            {"prefix": prefix, "repeat": repeat},
        )
        for repeat in range(design.repeats)
        for prefix in design.prefixes
        for combination in design.space.combinations
    )


def _of_seen(samples: Iterable[Sample], split: Partition) -> tuple[Sample, ...]:
    combinations = {*split.seen}
    return tuple(sample for sample in samples if reader.combination_in(sample) in combinations)


def _read(path: Path, space: Space, split: Partition) -> tuple[Sample, ...]:
    """Return the labelled texts of seen combinations.

    Raises:
        CorpusError: the file is missing or malformed, or has no text with a value that seen
            combinations have.
    """
    texts = _of_seen(_texts(path, space), split)
    needed = dict.fromkeys(unit for each in split.seen for unit in reader.units_of(space, each))
    present = {unit for sample in texts for unit in sample.units}
    if lacking := [" ".join(unit) for unit in needed if unit not in present]:
        raise CorpusError(
            f"of the combinations that the split shows, no text has the {', '.join(lacking)}",
            where=path,
            remedy="Add texts with each value, or leave the value out of the space.",
        )
    return texts


@cache
def _texts(path: Path, space: Space) -> tuple[Sample, ...]:
    return tuple(reader.read(path, space))
