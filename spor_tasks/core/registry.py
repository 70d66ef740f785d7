"""Benchmarks, corpora, metrics and objectives by name, so that the library need not import them.

An entry is a line of :data:`ENTRIES`, or an entry point of an installed package in the group
``spor_tasks.<kind>``. Its object is imported on first use.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pkgutil import resolve_name
from typing import Any, Literal, TypeAlias

from spor_tasks.core.errors import ConfigError

Kind: TypeAlias = Literal["benchmark", "corpus", "metric", "objective"]


@dataclass(frozen=True, slots=True)
class Entry:
    """A name and its object, as ``module:attribute``."""

    kind: Kind
    name: str
    target: str


ENTRIES = (
    Entry("benchmark", "spor", "spor_tasks.benchmarks.spor.benchmark:SPOR"),
    Entry("benchmark", "logicnlg", "spor_tasks.benchmarks.logicnlg.benchmark:LOGICNLG"),
    Entry("benchmark", "totto", "spor_tasks.benchmarks.totto.benchmark:TOTTO"),
    Entry("benchmark", "compmctg", "spor_tasks.benchmarks.compmctg.benchmark:COMPMCTG"),
    Entry("corpus", "webnlg", "spor_tasks.corpora.webnlg:WEBNLG"),
    Entry("corpus", "e2e", "spor_tasks.corpora.e2e:E2E"),
    Entry("corpus", "viggo", "spor_tasks.corpora.viggo:VIGGO"),
    Entry("corpus", "logicnlg", "spor_tasks.corpora.logicnlg:LOGICNLG"),
    Entry("corpus", "logicnlg_mini", "spor_tasks.corpora.embedded:LOGICNLG_MINI"),
    Entry("corpus", "fyelp", "spor_tasks.corpora.compmctg:FYELP"),
    Entry("corpus", "amazon", "spor_tasks.corpora.compmctg:AMAZON"),
    Entry("corpus", "yelp", "spor_tasks.corpora.compmctg:YELP"),
    Entry("corpus", "mixture", "spor_tasks.corpora.compmctg:MIXTURE"),
    Entry("corpus", "compmctg_mini", "spor_tasks.corpora.embedded:COMPMCTG_MINI"),
    Entry("corpus", "mini", "spor_tasks.corpora.embedded:MINI"),
    Entry("corpus", "totto", "spor_tasks.corpora.totto:TOTTO"),
    Entry("corpus", "totto_mini", "spor_tasks.corpora.embedded:TOTTO_MINI"),
    Entry("metric", "parent", "spor_tasks.metrics.parent:PARENT"),
    Entry("metric", "parent_full_table", "spor_tasks.metrics.parent:PARENT_FULL_TABLE"),
    Entry("metric", "chrf", "spor_tasks.metrics.chrf:CHRF"),
    Entry("metric", "coverage", "spor_tasks.metrics.coverage:COVERAGE"),
    Entry("metric", "facts", "spor_tasks.metrics.facts:FACTS"),
    Entry("metric", "order", "spor_tasks.metrics.order:ORDER_INVARIANCE"),
    Entry("metric", "cwio", "spor_tasks.metrics.order:CWIO"),
    Entry("metric", "copy_rule", "spor_tasks.metrics.copy_rule:COPY_RULE"),
    Entry("metric", "logicnlg_bleu", "spor_tasks.metrics.sentence_bleu:LOGICNLG_BLEU"),
    Entry("metric", "nli_acc", "spor_tasks.metrics.nli:NLI_ACC"),
    Entry("metric", "sp_acc", "spor_tasks.metrics.sp_acc:SP_ACC"),
    Entry("metric", "truth", "spor_tasks.metrics.truth:TRUTH"),
    Entry("metric", "totto", "spor_tasks.metrics.totto:TOTTO"),
    Entry("metric", "totto_real", "spor_tasks.metrics.totto:TOTTO_REAL"),
    Entry("metric", "bleurt", "spor_tasks.metrics.bleurt:BLEURT"),
    Entry("metric", "mini_attributes", "spor_tasks.metrics.mini_attributes:MINI_ATTRIBUTES"),
    Entry("metric", "compmctg", "spor_tasks.metrics.compmctg:ATTRIBUTES"),
    Entry("metric", "mctg_ppl", "spor_tasks.metrics.compmctg:TEXT_PERPLEXITY"),
    Entry("metric", "distinct", "spor_tasks.metrics.distinct:DISTINCT"),
    Entry("metric", "adversarial", "spor_tasks.metrics.adversarial:ADVERSARIAL"),
    Entry("metric", "perplexity", "spor_tasks.metrics.perplexity:PERPLEXITY"),
    Entry("metric", "discrimination", "spor_tasks.metrics.discrimination:DISCRIMINATION"),
    Entry("metric", "empty", "spor_tasks.metrics.empty:EMPTY"),
)


class Registry:
    """Entries by kind and name; the object of each is imported when it is asked for.

    Raises:
        ConfigError: two entries of a kind have one name.
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._targets: dict[tuple[Kind, str], str] = {}
        for entry in entries:
            target = self._targets.setdefault((entry.kind, entry.name), entry.target)
            if target != entry.target:
                raise ConfigError(
                    f"two entries have the name {entry.name!r}: {target} and {entry.target}",
                    where=f"registry of {entry.kind} entries",
                    remedy="Rename one of them, or uninstall the package that it comes from.",
                )

    def names(self, kind: Kind) -> tuple[str, ...]:
        """Return the names of a kind, those of this package first."""
        return tuple(name for of, name in self._targets if of == kind)

    def get(self, kind: Kind, name: str) -> Any:  # noqa: ANN401 - each kind has its own contract
        """Return the object with this name.

        Raises:
            ConfigError: there is no such entry, or it cannot be imported.
        """
        if (kind, name) not in self._targets:
            raise ConfigError(
                f"there is no {kind} {name!r}", remedy=f"Use one of {', '.join(self.names(kind))}."
            )
        target = self._targets[kind, name]
        try:
            return _resolved(target)
        except (ImportError, AttributeError, ValueError) as error:
            raise ConfigError(
                f"cannot be imported: {error}", where=f"{kind} {name!r} ({target})"
            ) from error


_resolved = cache(resolve_name)  # for prompts ask for the corpus of each sample


@cache
def registry() -> Registry:
    """Return the entries of this package and of installed ones, without those of training.

    Raises:
        ConfigError: two entries of a kind have one name.
    """
    return Registry([*ENTRIES, *installed("benchmark", "corpus", "metric")])


def installed(*kinds: Kind) -> Iterator[Entry]:
    """Yield the entries of other packages: their entry points of the groups ``spor_tasks.KIND``."""
    points = metadata.entry_points()
    for kind in kinds:
        for point in points.select(group=f"spor_tasks.{kind}"):
            yield Entry(kind, point.name, point.value)
