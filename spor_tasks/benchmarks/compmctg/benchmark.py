"""CompMCTG as a benchmark: its sets, its tables, and what was published beside them."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from statistics import fmean
from typing import Any

from spor_tasks.benchmarks.compmctg import averages, discrimination, folder, own, paper, splits
from spor_tasks.benchmarks.compmctg import sets as declared
from spor_tasks.benchmarks.compmctg.pooled import number_of_shown, pooled, together
from spor_tasks.core.contracts import Gap, SetName
from spor_tasks.core.errors import SporError
from spor_tasks.results.comparisons import Comparison
from spor_tasks.results.grid import Grid, by_metric, label, section_title


class CompMCTG:
    """What the registry knows as ``compmctg``; the methods are described at the contract."""

    name = declared.BENCHMARK
    title = declared.TITLE
    groups: Mapping[str, str] = {declared.BENCHMARK: declared.TITLE}
    source = "https://github.com/tqzhong/CG4MCTG"

    sets = staticmethod(declared.specs)
    find = staticmethod(declared.find)
    load = staticmethod(declared.load)
    published = staticmethod(paper.beside)
    build_splits = staticmethod(folder.build)
    check_splits = staticmethod(folder.check)
    own_names = staticmethod(own.names)
    own_sets = staticmethod(own.load)
    own_texts = staticmethod(own.texts)

    @property
    def paper(self) -> str:
        """Where the published numbers are from."""
        return str(paper.paper_facts()["source"])

    def recipe(self, name: SetName) -> Mapping[str, Any] | None:
        """Return the settings of the search that found a split, None where nothing is searched."""
        if discrimination.generation_of(name).protocol not in {"acd", "fewshot"}:
            return None
        return {"alpha": splits.facts()["alpha"], "seed": splits.facts()["seed"]}

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


def _place(row: Comparison) -> tuple[int, int]:
    """Return where a score stands: after the main score that it is a half of, or at the end."""
    reported, shown = row.spec.reported, row.spec.shown
    whole = row.metric
    for half in declared.HALVES:
        whole = whole.removesuffix(f"_{half}")
    at = reported.index(whole) if whole in reported else len(reported)
    return at, shown.index(row.metric)


def _header(column: tuple[str | None, str]) -> str:
    if gap := Gap.of(column[1]):
        return f"{_header((None, gap.one))} − i.d."
    return label(column[1]).replace(", id", ", i.d.").replace(", comp", ", comp.")


def _explained(grid: Grid, rows: Sequence[Comparison]) -> Grid:
    """Return the grid with a word on how splits were put together."""
    if discrimination.is_asked(rows[0].spec.name):
        return replace(grid, caption="; ".join([grid.caption, *_of_discrimination(rows)]))
    shown = " ".join(grid.header).lower()
    told = (
        grid.caption,
        together(rows),
        "Dist: the mean of the splits' own"
        if number_of_shown(rows) > 1 and "dist" in shown
        else "",
        "gap: how much lower comp. is, in % of i.d." if "gap" in shown else "",
        "gap, same values: in points, with i.d. texts weighed to ask for the values of comp. ones"
        if "same values" in shown
        else "",
        _without_codes(rows) if "acc" in shown else "",
        "published: other splits and other classifiers" if grid.paper else "",
    )
    return replace(grid, caption="; ".join(filter(None, told)))


def _of_discrimination(rows: Sequence[Comparison]) -> Iterator[str]:
    """Yield how splits were put together, and what a system scores that does not read its codes."""
    if put := together(rows):
        yield put
    if any("disc_gap" in row.spec.reported for row in rows):
        yield "gap: i.d. − comp., in points"
    with suppress(SporError):  # splits of one's own that are not on this machine
        split = declared.division(rows[0].spec.name)
        yield discrimination.chances(split)


def _without_codes(rows: Sequence[Comparison]) -> str:
    """Return what a system scores that ignores what is asked, where the splits are known."""
    names = dict.fromkeys(row.spec.name for row in rows if not row.published)
    try:
        found = [splits.without_codes(declared.division(name)) for name in names]
    except SporError:  # of one's own, or not on this machine
        return ""
    seen, unseen = map(fmean, zip(*found, strict=True)) if found else (math.nan, math.nan)
    if math.isnan(unseen):
        return ""
    return (
        f"a system that writes like its training texts, whatever is asked, has an accuracy of "
        f"{seen:.1f} i.d., {unseen:.1f} comp."
    )


COMPMCTG = CompMCTG()
