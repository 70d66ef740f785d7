"""The sets of ToTTo; each part is one of the paper's four inputs.

The development set is what is scored; the references of the test set are not public.
"""

from collections.abc import Sequence
from functools import partial
from typing import cast

from spor_tasks.benchmarks import declared
from spor_tasks.benchmarks.declared import Changed, DeclaredSets
from spor_tasks.core.contracts import SetName
from spor_tasks.core.sample import Sample, Split, SplitPair
from spor_tasks.corpora.embedded import TOTTO_MINI
from spor_tasks.corpora.sources import TOTTO
from spor_tasks.corpora.totto import reader
from spor_tasks.corpora.totto.linearize import Variant, in_variant

BENCHMARK = "totto"
TITLE = "ToTTo"

HALVES = ("overlap", "nonoverlap")
"""Whether the training set has a table with the same header."""


class _Sets(DeclaredSets):
    specs = tuple(declared.specs(BENCHMARK))
    files = TOTTO

    def read(self, name: SetName) -> SplitPair:
        """Return training set and test set with the input of the part.

        The training set is changed as it is read: it may not fit in memory.
        """
        variant = cast("Variant", name.part or "subtable_metadata")
        change = partial(in_variant, variant=variant)
        train: Sequence[Sample] = tuple(map(change, TOTTO_MINI.part("train")))
        test = TOTTO_MINI.part("test")
        if name.corpus == BENCHMARK:
            train = Changed(reader.part("train"), change, variant)
            test = reader.part("dev" if name.protocol == "published" else "test")
        arm = Split("train", train)
        return SplitPair(*name[:3], (arm,), Split("test", tuple(map(change, test))), name.part)


_SETS = _Sets()
specs, find, load = _SETS.sets, _SETS.find, _SETS.load
