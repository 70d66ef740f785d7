"""The sets that were released with the paper, flaws and all, each proved by its digest."""

from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

from spor_tasks.aspects import order_invariance
from spor_tasks.core.codec import to_row
from spor_tasks.core.contracts import TaskSpec
from spor_tasks.core.files import encode_row, read_packaged
from spor_tasks.core.sample import Deferred, Sample, SetFacts, Sets
from spor_tasks.core.words import joined
from spor_tasks.corpora import jsonl, sources
from spor_tasks.corpora.e2e import reader as e2e
from spor_tasks.corpora.webnlg import reader as webnlg

CORPORA = ("webnlg", "e2e")

REBUILT = Path(__file__).with_name("rebuilt.json")
"""The digests of the sets that need not be there: most evaluations need no more of them."""


class Dataset(NamedTuple):
    """A released test set or arm."""

    name: str
    """Such as ``test_e2e_systematicity``."""
    corpus: str
    path: str
    """Where it lies in the repository."""
    is_matched: bool
    """Whether units are in the order of the text."""


def dataset(split: str, sets: SetFacts) -> Dataset:
    """Return a released set: ``test``, or an arm."""
    aspect, corpus, kind = sets.aspect, sets.corpus, "test" if split == "test" else "train"
    threshold = f"N={sets.facets['N']}" if aspect == "productivity" else None
    part = sets.part if aspect == "order_invariance" and kind == "test" else None
    arm = split if aspect != "rule_learnability" and kind == "train" else None
    name = joined("_", kind, corpus, aspect.replace("_", "-"), threshold, part, arm)
    return Dataset(name, corpus, f"dataset_{corpus}/{kind}/{name}/dataset.jsonl", split == "match")


def load(spec: TaskSpec) -> Sets:
    """Return released sets, from the published repository's tree in ``SPOR.data_dir()``.

    Three of the sets need not be there, since they follow from the corpus: WebNLG's two arms of
    order invariance, the first of which is rule learnability's too, and E2E's Match.

    Raises:
        CorpusError: a file is missing or is not the published one.
    """
    folder = sources.SPOR.data_dir()
    arms = {arm: _samples(dataset(arm, spec.sets), folder) for arm in spec.arms}
    return Sets(spec.sets, arms, _samples(dataset("test", spec.sets), folder))


@cache
def _samples(of: Dataset, folder: Path) -> Sequence[Sample]:
    if sha256 := read_packaged(REBUILT).get(of.name):
        return Deferred(partial(_read, of, folder), sha256)
    return _read(of, folder)


@cache  # as the parts of an aspect share arms, and to align one takes seconds
def _read(of: Dataset, folder: Path) -> tuple[Sample, ...]:
    file = of.path
    if sources.SPOR.files()[file].role == "rebuilt" and not (folder / file).is_file():
        samples = _train(of.corpus, folder)
        if of.is_matched:
            samples = order_invariance.matched(samples)
        content = b"".join(encode_row(to_row(sample)) for sample in samples)
        sources.SPOR.check(file, content, where=f"{file}, rebuilt")
        return samples
    return jsonl.parse_samples(sources.SPOR.read_published(file, folder), of.corpus, where=file)


@cache  # several sets are made of it
def _train(corpus: str, folder: Path) -> tuple[Sample, ...]:
    return webnlg.read_train(folder) if corpus == "webnlg" else e2e.read_train(folder)
