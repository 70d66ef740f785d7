"""Print how many samples of each set have a twin, and why the others have none.

`python -m spor_tasks.twins [CORPUS …]`; the sets are the shipped test sets of SPOR.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator

from spor_tasks.core.contracts import Sets
from spor_tasks.core.registry import registry
from spor_tasks.core.sample import Sample
from spor_tasks.twins.mapping import CORPORA, Twins, Untwinned, twins_of

_PROTOCOLS = {"published", "strict"}  # not the twins of these


def _rows(corpus: str) -> Iterator[str]:
    twins = twins_of(corpus)
    lexicon = twins.lexicon
    yield (
        f"{corpus}: {len(lexicon.kinds)} entities, {len(lexicon.in_two_kinds)} of two kinds, "
        f"{len(lexicon.words)} invented words"
    )
    source = registry().get("corpus", corpus).read()
    yield _row("training samples", source.train, twins)
    yield _row("other samples", source.test, twins)
    benchmark: Sets = registry().get("benchmark", "spor")
    for spec in benchmark.sets():
        if spec.name.corpus == corpus and spec.name.protocol in _PROTOCOLS:
            yield _row(str(spec.name), benchmark.load(spec.name).test.samples, twins)


def _row(name: str, samples: Iterable[Sample], twins: Twins) -> str:
    results = [twins.twin(sample) for sample in samples]
    reasons = Counter(twin.reason for twin in results if isinstance(twin, Untwinned))
    kept = len(results) - reasons.total()
    share = f"{kept / max(len(results), 1):.1%}"
    told = "; ".join(f"{reason}: {number}" for reason, number in reasons.most_common())
    return f"  {name}: {kept} of {len(results)} ({share}){' - ' if told else ''}{told}"


def main(corpora: Iterable[str]) -> None:
    """Print a line for each set of these corpora."""
    for corpus in corpora:
        for row in _rows(corpus):
            sys.stdout.write(f"{row}\n")


if __name__ == "__main__":
    main(sys.argv[1:] or CORPORA)
