"""The sets that were released with the paper, flaws and all, each proved by its digest."""

from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path

from spor_tasks.aspects import order_invariance, productivity
from spor_tasks.core.codec import to_row
from spor_tasks.core.errors import SplitError
from spor_tasks.core.files import encode_row
from spor_tasks.core.sample import Deferred, Sample, Split, SplitPair
from spor_tasks.corpora import jsonl, sources
from spor_tasks.corpora.e2e import reader as e2e
from spor_tasks.corpora.webnlg import reader as webnlg

CORPORA = ("webnlg", "e2e")

# Per aspect and part: the arms, then the test set, and the names that they were released under.
_SETS: Mapping[str, Mapping[str | None, Mapping[str, str]]] = {
    "systematicity": {
        None: {
            "atom": "train_{corpus}_systematicity_atom",
            "combination": "train_{corpus}_systematicity_combination",
            "test": "test_{corpus}_systematicity",
        },
    },
    "productivity": {
        f"n{n}": {
            "invisible": f"train_{{corpus}}_productivity_N={n}_invisible",
            "visible": f"train_{{corpus}}_productivity_N={n}_visible",
            "test": f"test_{{corpus}}_productivity_N={n}",
        }
        for n in productivity.THRESHOLDS
    },
    "order_invariance": {
        part: {
            "original": "train_{corpus}_order-invariance_original",
            "match": "train_{corpus}_order-invariance_match",
            "test": f"test_{{corpus}}_order-invariance_{part}",
        }
        for part in order_invariance.PARTS
    },
    "rule_learnability": {
        None: {
            "original": "train_{corpus}_rule-learnability",
            "test": "test_{corpus}_rule-learnability",
        },
    },
}

SETS = tuple((aspect, part) for aspect, parts in _SETS.items() for part in parts)
"""Every aspect with each of its parts; None where it has none."""

# The digests of the sets that need not be there: most evaluations need no more of them.
_REBUILT = {
    "train_e2e_order-invariance_match": (
        "f9d4e5a17dc7f1c675274d8be86d78b8ad48d7ee3cecb1a6caa53aace550041d"
    ),
    "train_webnlg_order-invariance_match": (
        "73f541968938639cb22f3d8e5b1820b5e759bb835ed7bd258e60430081cf6ab9"
    ),
    **dict.fromkeys(
        ("train_webnlg_order-invariance_original", "train_webnlg_rule-learnability"),
        "78485a77b0a5f591d0852ce51b3aa633abc6592116099885eea1da9b1ea3f345",
    ),
}


def path(name: str) -> str:
    """Return where a released set such as ``test_e2e_systematicity`` lies in the repository."""
    kind, corpus, _ = name.split("_", maxsplit=2)
    return f"dataset_{corpus}/{kind}/{name}/dataset.jsonl"


def load(
    aspect: str, corpus: str, folder: Path | None = None, *, part: str | None = None
) -> SplitPair:
    """Return the released sets of one aspect, its part where it has several, and corpus.

    ``folder`` holds the published repository's tree; by default it is ``SPOR.data_dir()``.
    Three of the sets need not be there, since they follow from the corpus: WebNLG's two arms of
    order invariance, the first of which is rule learnability's too, and E2E's Match.

    Raises:
        SplitError: no such sets were released.
        CorpusError: a file is missing or is not the published one.
    """
    if (aspect, part) not in SETS or corpus not in CORPORA:
        requested = " ".join(filter(None, [aspect, part]))
        raise SplitError(
            f"no sets of {requested!r} on {corpus!r} were released",
            remedy=f"There are those of {', '.join(' '.join(filter(None, s)) for s in SETS)}, each "
            f"on {', '.join(CORPORA)}.",
        )
    folder = folder or sources.SPOR.data_dir()
    *arms, test = (
        Split(name, _samples(released.format(corpus=corpus), corpus, folder))
        for name, released in _SETS[aspect][part].items()
    )
    return SplitPair(aspect, corpus, "published", tuple(arms), test, part)


@cache
def _samples(name: str, corpus: str, folder: Path) -> Sequence[Sample]:
    if sha256 := _REBUILT.get(name):
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
