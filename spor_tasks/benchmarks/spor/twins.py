"""Sets that have each test sample twice: about its own and about invented entities.

They are the default sets of a corpus with the test samples that have twins, and the same arms, so
that what was trained for those sets is evaluated on these.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from spor_tasks.benchmarks import declared
from spor_tasks.core.contracts import Gap, TaskSpec
from spor_tasks.core.sample import Sample, Sets
from spor_tasks.metrics.groups import TWINS
from spor_tasks.twins import CORPORA, twins_of

PROTOCOL = "twin"

_LEFT_OUT = frozenset({"cwio", "performance"})
"""Parts of order invariance: the one is neither good nor bad, the other is asked by productivity
and systematicity too."""

_IN_CONTEXT = frozenset(
    {("systematicity", None), ("productivity", "n3"), ("rule_learnability", None)}
)
"""Aspects and parts with tasks in context."""

_QUESTION = "How much lower is the score on twins about invented entities?"

_VERSIONS = {"viggo": 2.0}  # from then on without samples whose twins kept `Nintendo`


def with_twins(originals: Iterable[TaskSpec]) -> Iterator[TaskSpec]:
    """Yield the sets, and then those with twins."""
    originals = tuple(originals)
    yield from originals
    for spec in originals:
        sets, own = spec.sets, spec.judging
        has_twins = sets.corpus in CORPORA and sets.part not in _LEFT_OUT
        if not has_twins or not spec.release.is_default:
            continue
        twin = declared.spec(
            spec.benchmark,
            sets.aspect,
            sets.corpus,
            PROTOCOL,
            sets.part,
            is_default=False,
            title=f"{spec.title}, and twins",
            question=f"{spec.asking.question} {_QUESTION}",
            in_context=(sets.aspect, sets.part) in _IN_CONTEXT,
            trained_on=dict(spec.trained_on.named),
            version=round(_VERSIONS.get(sets.corpus, 1.0) + spec.release.version - 2.0, 1),
            tags=[f"{spec.benchmark}_{{corpus}}_{PROTOCOL}"],
        )
        gaps = tuple(Gap(score, score._replace(group=TWINS)) for score in own.reported)
        judging = replace(
            own,
            scores=(*own.scores, *(score._replace(group=TWINS) for score in own.scores)),
            reported=tuple(score for gap in gaps for score in gap),
            gaps=gaps,
            outputs=2 * own.outputs,
        )
        yield replace(twin, judging=judging)


def of_pair(pair: Sets, spec: TaskSpec) -> Sets:
    """Return sets with the same arms, and the test samples that have twins, with these."""
    twins = twins_of(spec.sets.corpus)
    pairs = [(sample, twins.twin(sample)) for sample in pair.test]
    reasons = Counter(twin.reason for _, twin in pairs if not isinstance(twin, Sample))
    return Sets(
        spec.sets,
        pair.arms,
        tuple(replace(sample, twin=twin) for sample, twin in pairs if isinstance(twin, Sample)),
        (*pair.untested, *reasons.most_common()),
    )
