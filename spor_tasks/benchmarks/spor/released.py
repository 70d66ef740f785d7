"""The sets that were released with the paper, flaws and all, each proved by its digest."""

from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path

from spor_tasks.aspects import order_invariance
from spor_tasks.aspects.arms import ARMS
from spor_tasks.core.codec import to_row
from spor_tasks.core.files import encode_row, read_packaged
from spor_tasks.core.sample import Deferred, Sample, SampleSet, SetName, Sets
from spor_tasks.corpora import jsonl, sources
from spor_tasks.corpora.e2e import reader as e2e
from spor_tasks.corpora.webnlg import reader as webnlg

CORPORA = ("webnlg", "e2e")

REBUILT = Path(__file__).with_name("rebuilt.json")
"""The digests of the sets that need not be there: most evaluations need no more of them."""


def path(name: str) -> str:
    """Return where a released set such as ``test_e2e_systematicity`` lies in the repository."""
    kind, corpus, _ = name.split("_", maxsplit=2)
    return f"dataset_{corpus}/{kind}/{name}/dataset.jsonl"


def file_name(split: str, name: SetName) -> str:
    """Return the name of a released set: ``test``, or an arm."""
    aspect, corpus, _, part = name
    kind = "test" if split == "test" else "train"
    words = [kind, corpus, aspect.replace("_", "-")]
    if part and aspect == "productivity":
        words.append(f"N={part.removeprefix('n')}")
    if part and aspect == "order_invariance" and kind == "test":
        words.append(part)
    if aspect != "rule_learnability" and kind == "train":
        words.append(split)
    return "_".join(words)


def load(name: SetName) -> Sets:
    """Return released sets, from the published repository's tree in ``SPOR.data_dir()``.

    Three of the sets need not be there, since they follow from the corpus: WebNLG's two arms of
    order invariance, the first of which is rule learnability's too, and E2E's Match.

    Raises:
        CorpusError: a file is missing or is not the published one.
    """
    folder = sources.SPOR.data_dir()
    *arms, test = (
        SampleSet(split, _samples(file_name(split, name), name.corpus, folder))
        for split in (*ARMS[name.aspect], "test")
    )
    return Sets(name, tuple(arms), test)


@cache
def _samples(name: str, corpus: str, folder: Path) -> Sequence[Sample]:
    if sha256 := read_packaged(REBUILT).get(name):
        return Deferred(partial(_read, name, corpus, folder), sha256)
    return _read(name, corpus, folder)


@cache  # as the parts of an aspect share arms, and to align one takes seconds
def _read(name: str, corpus: str, folder: Path) -> tuple[Sample, ...]:
    file = path(name)
    if sources.SPOR.files()[file].role == "rebuilt" and not (folder / file).is_file():
        samples = _train(corpus, folder)
        if name.endswith("match"):
            samples = order_invariance.matched(samples)
        content = b"".join(encode_row(to_row(sample)) for sample in samples)
        sources.SPOR.check(file, content, where=f"{file}, rebuilt")
        return samples
    return jsonl.parse_samples(sources.SPOR.read_published(file, folder), corpus, where=file)


@cache  # several sets are made of it
def _train(corpus: str, folder: Path) -> tuple[Sample, ...]:
    return webnlg.read_train(folder) if corpus == "webnlg" else e2e.read_train(folder)
