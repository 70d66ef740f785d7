"""The values of the samples that lm-eval logged with a run."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

from spor_tasks.metrics.tally import Column
from spor_tasks.metrics.totals import Numbers
from spor_tasks.results.facts import Declared
from spor_tasks.results.stats import Clusters, clusters_of


@dataclass(frozen=True, slots=True)
class Logged:
    """The values of one run's samples by score, sorted by the samples' ids.

    Samples with the same units, or of the same table, form a cluster; these are their ``keys``.
    ``resampled`` are the scores of resamples, which runs on the same samples have in common.
    """

    ids: tuple[Hashable, ...]
    clusters: Clusters
    columns: Mapping[str, Column]
    keys: tuple[Hashable, ...] = ()
    resampled: Mapping[str, Numbers] = field(default_factory=dict)

    @classmethod
    def joined(cls, parts: Mapping[str, "Logged"], declared: Declared) -> "Logged":
        """Return the samples of several splits together; a sample may be in each of them.

        A score of some samples only may lack a verdict in a whole split, any other score may not.
        """
        keys = tuple(key for part in parts.values() for key in part.keys)
        names = dict.fromkeys(name for part in parts.values() for name in part.columns)
        columns = {}
        for name in names:
            known = [part.columns.get(name) for part in parts.values()]
            if all(known) or declared.scores[name].of_some:
                example = next(filter(None, known))
                columns[name] = Column.joined(
                    [
                        column or example.without_verdicts(len(part.ids))
                        for column, part in zip(known, parts.values(), strict=True)
                    ]
                )
        ids = tuple((split, id_) for split, part in parts.items() for id_ in part.ids)
        return cls(ids, clusters_of(keys), columns, keys)
