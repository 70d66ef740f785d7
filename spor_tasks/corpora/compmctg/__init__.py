"""CompMCTG (Zhong et al., ACL 2024): texts with combinations of attributes never seen together."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from spor_tasks.core.sample import Sample
from spor_tasks.corpora.base import Corpus
from spor_tasks.corpora.compmctg import reader, spaces
from spor_tasks.corpora.compmctg.linearize import example, linearize, preamble
from spor_tasks.corpora.compmctg.outputs import read_outputs
from spor_tasks.corpora.compmctg.spaces import Space


def _parts(space: Space, folder: Path | None) -> Mapping[str, tuple[Sample, ...]]:
    """Return the texts for generators, and those for classifiers if their file is there.

    The test sets of the benchmark have no texts: they are made of the space.
    """
    generators, classifiers = (reader.file_of(space.name, part, folder) for part in ("gen", "cls"))
    test = tuple(reader.read(classifiers, space)) if classifiers.is_file() else ()
    return {"train": tuple(reader.read(generators, space)), "test": test}


def corpus_of(space: Space) -> Corpus:
    """Return the corpus of a published space."""
    return Corpus(
        name=space.name,
        parts=partial(_parts, space),
        linearize=linearize,
        units="attributes",
        preamble=preamble,
        example=partial(example, space=space),
        read_labelled=lambda rows, split: read_outputs(rows, space, split),
    )


FYELP, AMAZON, YELP, MIXTURE = map(corpus_of, spaces.PUBLISHED)
