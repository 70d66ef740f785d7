"""ToTTo: its sets, each part of which is one of the paper's four inputs, and its tables.

The development set is what is scored; the references of the test set are not public.
"""

from collections.abc import Sequence
from functools import partial
from typing import cast

from spor_tasks.benchmarks.declared import DeclaredSets
from spor_tasks.core.contracts import TaskSpec
from spor_tasks.core.digests import sha256_of_text
from spor_tasks.core.sample import Deferred, Sample, Sets
from spor_tasks.corpora.embedded import TOTTO_MINI
from spor_tasks.corpora.totto import reader
from spor_tasks.corpora.totto.linearize import TableInput, in_variant


class ToTTo(DeclaredSets):
    """The registered benchmark ``totto``."""

    name = "totto"

    def read(self, spec: TaskSpec) -> Sets:
        """Return training set and test set with the input of the part.

        The training set is changed as it is read: it may not fit in memory.
        """
        variant = cast("TableInput", spec.sets.facets["input"])
        change = partial(in_variant, variant=variant)
        train: Sequence[Sample] = tuple(map(change, TOTTO_MINI.part("train")))
        test = TOTTO_MINI.part("test")
        if spec.sets.corpus == self.name:
            file = reader.part("train")
            sha256 = file.sha256 and sha256_of_text(f"{variant} {file.sha256}")
            train = Deferred(lambda: file, sha256, change)
            test = reader.part("dev" if spec.sets.protocol == "published" else "test")
        return Sets(spec.sets, {"train": train}, tuple(map(change, test)))


TOTTO = ToTTo()
