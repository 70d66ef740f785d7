"""Sets that have each test sample twice: about its own and about invented entities.

They are the default sets of a corpus with the test samples that have twins, and the same arms, so
that what was trained for those sets is evaluated on these.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from spor_tasks.core.contracts import Gap, SetName, SetSpec, of_twin
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import Sample, Split, SplitPair
from spor_tasks.twins import CORPORA, twins_of

PROTOCOL = "twin"

_LEFT_OUT = frozenset({"cwio", "performance"})
"""Parts of order invariance: the one is neither good nor bad, the other is asked by productivity
and systematicity too."""

_IN_CONTEXT = frozenset(
    {("systematicity", None), ("productivity", "n3"), ("rule_learnability", None)}
)
"""Aspects and parts with tasks in context."""


def specs(originals: Iterable[SetSpec]) -> Iterator[SetSpec]:
    """Yield the sets with twins of those that have some."""
    for spec in originals:
        if spec.is_default and spec.name.corpus in CORPORA and spec.name.part not in _LEFT_OUT:
            yield _of_twins(spec)


def _of_twins(spec: SetSpec) -> SetSpec:
    scores = [name for own in spec.reported for name in (own, of_twin(own))]
    return replace(
        spec,
        name=spec.name._replace(protocol=PROTOCOL),
        task=f"{spec.task}_{PROTOCOL}",
        title=f"{spec.title}, and twins",
        scores=(*spec.scores, *map(of_twin, spec.scores)),
        reported=tuple(scores),
        gaps=tuple(Gap(own, of_twin(own)) for own in spec.reported),
        outputs=2 * spec.outputs,
        is_default=False,
        decodings=(),
        in_context=(spec.name.aspect, spec.name.part) in _IN_CONTEXT,
        version=1.0,
        tags=(f"{spec.benchmark}_{spec.name.corpus}_{PROTOCOL}",),
    )


def original_of(name: SetName, originals: Iterable[SetSpec]) -> SetName:
    """Return the name of the default sets that those with twins are made of."""
    return next(
        spec.name
        for spec in originals
        if spec.is_default and spec.name._replace(protocol=PROTOCOL) == name
    )


def load(original: SplitPair) -> SplitPair:
    """Return sets with the same arms, and the test samples that have twins, with these.

    Raises:
        SplitError: no test sample has a twin.
    """
    twins = twins_of(original.corpus)
    pairs = [(sample, twins.twin(sample)) for sample in original.test.samples]
    test = tuple(replace(sample, twin=twin) for sample, twin in pairs if isinstance(twin, Sample))
    left_out = Counter(twin.reason for _, twin in pairs if not isinstance(twin, Sample))
    if not test:
        raise SplitError(
            f"no test sample of {original.aspect} on {original.corpus} has a twin",
            each=tuple(f"{count:,}: {reason}" for reason, count in left_out.most_common()),
        )
    return replace(
        original,
        protocol=PROTOCOL,
        test=Split("test", test),
        untested=(*original.untested, *left_out.most_common()),
    )
