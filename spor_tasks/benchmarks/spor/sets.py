"""The sets of SPOR, shipped and of corpora of one's own."""

from collections.abc import Mapping
from typing import Any

from spor_tasks.aspects import build, named
from spor_tasks.aspects.arms import ARMS
from spor_tasks.benchmarks import declared
from spor_tasks.benchmarks.declared import DeclaredSets
from spor_tasks.benchmarks.spor import released, strict, twins
from spor_tasks.core.contracts import SetName, SetSpec
from spor_tasks.core.sample import SplitPair
from spor_tasks.corpora.sources import SPOR

BENCHMARK = "spor"
TITLES: Mapping[str, str] = declared.aspects(BENCHMARK)
"""The aspects' names in titles, in the paper's order."""


def _spec(benchmark: str, name: SetName, **fields: Any) -> SetSpec:  # noqa: ANN401 - any field
    number = (name.part or "").removeprefix("n")
    title = f"N = {number}" if name.aspect == "productivity" else name.part
    return declared.spec(benchmark, name, arms=ARMS[name.aspect], part_title=title, **fields)


class _Sets(DeclaredSets):
    specs = tuple(twins.with_twins(declared.specs(BENCHMARK, _spec)))
    files = SPOR

    def find(self, name: SetName) -> SetSpec:
        """Return the declaration of sets, shipped or of a corpus of one's own.

        Raises:
            SplitError: the aspect or part does not exist, or the corpus has no units.
        """
        if any(each.name == name for each in self.specs):
            return super().find(name)
        named.check_has_units(name.corpus)
        build.require_known(name.aspect, name.part)
        tags = ["spor_{corpus}", "spor_{aspect}_{corpus}"]
        return _spec(BENCHMARK, name, is_default=True, is_fixed=False, tags=tags)

    def read(self, name: SetName) -> SplitPair:
        """Return shipped sets, not those of a corpus of one's own."""
        super().find(name)
        default = "published" if name.corpus in released.CORPORA else "strict"
        if name.protocol == twins.PROTOCOL:
            return twins.of_pair(self.load(name._replace(protocol=default)))
        read = released.load if name.protocol == "published" else strict.load
        return read(name.aspect, name.corpus, part=name.part)


_SETS = _Sets()
specs, find, load = _SETS.sets, _SETS.find, _SETS.load
