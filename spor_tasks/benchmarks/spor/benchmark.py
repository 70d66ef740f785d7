"""SPOR: its sets, shipped and of corpora of one's own, and its tables."""

from contextlib import suppress
from functools import cached_property
from typing import Any

from spor_tasks.aspects import build
from spor_tasks.benchmarks import declared
from spor_tasks.benchmarks.declared import DeclaredSets
from spor_tasks.benchmarks.spor import released, strict, twins
from spor_tasks.core import named
from spor_tasks.core.contracts import TaskSpec
from spor_tasks.core.errors import SplitError
from spor_tasks.core.sample import Sets


class Spor(DeclaredSets):
    """The registered benchmark ``spor``."""

    name = "spor"

    @cached_property
    def specs(self) -> tuple[TaskSpec, ...]:
        """The shipped sets, with those of twins."""
        return tuple(twins.with_twins(declared.specs(self.name)))

    def find(self, aspect: str, corpus: str, protocol: str, part: str | None = None) -> TaskSpec:
        """Return the declaration of sets, shipped or of a corpus of one's own.

        Raises:
            SplitError: the aspect or part does not exist, or the corpus has no units.
        """
        with suppress(SplitError):
            return super().find(aspect, corpus, protocol, part)
        named.check_has_units(corpus)
        fields: dict[str, Any] = {"tags": ["spor_{corpus}", "spor_{aspect}_{corpus}"]}
        if threshold := build.threshold_of(aspect, part):
            fields |= {"part_title": f"N = {threshold}", "facets": {"N": str(threshold)}}
        name = (self.name, aspect, corpus, protocol, part)
        return declared.spec(*name, is_default=True, is_fixed=False, **fields)

    def read(self, spec: TaskSpec) -> Sets:
        """Return shipped sets, not those of a corpus of one's own."""
        sets = super().find(**spec.sets.named).sets
        if sets.protocol == twins.PROTOCOL:
            default = "published" if sets.corpus in released.CORPORA else "strict"
            original = self.find(sets.aspect, sets.corpus, default, sets.part)
            return twins.of_pair(self.load(original), spec)
        return released.load(spec) if spec.sets.protocol == "published" else strict.load(spec)


SPOR = Spor()
