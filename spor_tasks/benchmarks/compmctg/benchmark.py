"""CompMCTG as a benchmark: its sets, its tables, and what was published beside them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from spor_tasks.benchmarks.compmctg import averages, folder, paper, sets, splits, statistics
from spor_tasks.benchmarks.compmctg.pooled import number_of_splits, pooled
from spor_tasks.core.contracts import Figures, Gap, SetName, SetSpec
from spor_tasks.core.sample import SplitPair
from spor_tasks.results.comparisons import Comparison
from spor_tasks.results.grid import Grid, by_metric, label, section_title


class CompMCTG:
    """What the registry knows as ``compmctg``; the methods are described at the contract."""

    name = sets.BENCHMARK
    title = sets.TITLE
    groups: Mapping[str, str] = {sets.BENCHMARK: sets.TITLE}
    source = "https://github.com/tqzhong/CG4MCTG"
    build_splits = staticmethod(folder.build)
    check_splits = staticmethod(folder.check)

    @property
    def paper(self) -> str:
        """Where the published numbers are from."""
        return str(paper.paper_facts()["source"])

    def sets(self) -> tuple[SetSpec, ...]:
        """Return the shipped sets."""
        return sets.specs()

    def find(self, name: SetName) -> SetSpec:
        """Return what is said of sets."""
        return sets.find(name)

    def load(self, name: SetName) -> SplitPair:
        """Return shipped sets."""
        return sets.load(name)

    def recipe(self, name: SetName) -> Mapping[str, Any] | None:
        """Return the settings of the search that found a split, None where nothing is searched."""
        if name.protocol not in {"acd", "fewshot"}:
            return None
        return {"alpha": splits.facts()["alpha"], "seed": splits.facts()["seed"]}

    def statistics(self) -> Iterator[Figures]:
        """Yield what the corpora come to, beside the paper's numbers."""
        return statistics.statistics()

    def grids(self, rows: Sequence[Comparison]) -> Iterator[Grid]:
        """Yield the scores over all splits of a protocol, then those that break them down."""
        found = pooled(rows)
        main, others = list[Comparison](), list[Comparison]()
        for row in found:
            (main if _place(row)[0] < len(row.spec.reported) else others).append(row)
        title = section_title(rows[0])
        if main:
            yield _explained(by_metric(title, sorted(main, key=_place), _header), rows)
        if others := [row for row in others if not row.published]:
            grid = by_metric(f"{title}, other scores", sorted(others, key=_place), _header)
            yield _explained(grid, rows)

    def overall(self, rows: Sequence[Comparison]) -> Iterator[Grid]:
        """Yield the paper's averages over datasets."""
        return averages.grids(rows)

    def published(self, rows: Iterable[Comparison]) -> tuple[Comparison, ...]:
        """Return the published rows for the protocols that ours are about."""
        return paper.beside(rows)


def _place(row: Comparison) -> tuple[int, int]:
    """Return where a score stands: after the main score that it is a half of, or at the end."""
    reported, shown = row.spec.reported, row.spec.shown
    whole = row.metric
    for half in sets.HALVES:
        whole = whole.removesuffix(f"_{half}")
    at = reported.index(whole) if whole in reported else len(reported)
    return at, shown.index(row.metric)


def _header(column: tuple[str | None, str]) -> str:
    if gap := Gap.of(column[1]):
        return f"{_header((None, gap.one))} − i.d."
    return label(column[1]).replace(", id", ", i.d.").replace(", comp", ", comp.")


def _explained(grid: Grid, rows: Sequence[Comparison]) -> Grid:
    """Return the grid with a word on how splits were put together."""
    count = number_of_splits(rows)
    shown = " ".join(grid.header).lower()
    told = (
        grid.caption,
        f"all {count} splits together" if count > 1 else "",
        "Dist: the mean of the splits' own" if count > 1 and "dist" in shown else "",
        "gap: how much lower comp. is, in % of i.d." if "gap" in shown else "",
        "published: other splits and other classifiers" if grid.paper else "",
    )
    return replace(grid, caption="; ".join(filter(None, told)))


COMPMCTG = CompMCTG()
