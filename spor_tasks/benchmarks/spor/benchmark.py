"""SPOR: its sets, shipped and of corpora of one's own, and its tables."""

from typing import Any

from spor_tasks.aspects import build
from spor_tasks.aspects.arms import ARMS
from spor_tasks.benchmarks import declared
from spor_tasks.benchmarks.declared import DeclaredSets
from spor_tasks.benchmarks.spor import released, strict, twins
from spor_tasks.core import named
from spor_tasks.core.contracts import TaskSpec
from spor_tasks.core.sample import SetName, Sets
from spor_tasks.corpora import sources


def _spec(benchmark: str, name: SetName, **fields: Any) -> TaskSpec:
    return declared.spec(benchmark, name, arms=ARMS[name.aspect], **fields)


class Spor(DeclaredSets):
    """The registered benchmark ``spor``."""

    name = "spor"
    title = "SPOR"
    groups = declared.aspects(name)
    source = "https://github.com/xzy-xzy/SPOR"
    paper = (
        "Xu & Wang 2024, Tables 2, 4, 5, 6; mean of three seeds; † and ‡ as printed there: two "
        "levels of significance of the difference, whose caption the text does not keep (commonly "
        "p < 0.05 and p < 0.01)"
    )
    specs = tuple(twins.with_twins(declared.specs(name, _spec)))
    files = sources.SPOR

    def find(self, name: SetName) -> TaskSpec:
        """Return the declaration of sets, shipped or of a corpus of one's own.

        Raises:
            SplitError: the aspect or part does not exist, or the corpus has no units.
        """
        if any(each.name == name for each in self.specs):
            return super().find(name)
        named.check_has_units(name.corpus)
        fields: dict[str, Any] = {"tags": ["spor_{corpus}", "spor_{aspect}_{corpus}"]}
        if threshold := build.threshold_of(name.aspect, name.part):
            fields |= {"part_title": f"N = {threshold}", "facets": {"N": str(threshold)}}
        return _spec(self.name, name, is_default=True, is_fixed=False, **fields)

    def read(self, name: SetName) -> Sets:
        """Return shipped sets, not those of a corpus of one's own."""
        spec = super().find(name)
        default = "published" if name.corpus in released.CORPORA else "strict"
        if name.protocol == twins.PROTOCOL:
            return twins.of_pair(self.load(name._replace(protocol=default)))
        return released.load(spec) if name.protocol == "published" else strict.load(spec)


SPOR = Spor()
