"""The tables of CompMCTG: all splits of a protocol together."""

import math
from collections.abc import Iterator, Sequence
from statistics import fmean

from spor_tasks.benchmarks.compmctg import sets, splits
from spor_tasks.core.sample import SetName
from spor_tasks.results.facts import GAP
from spor_tasks.results.grid import Grid, section_title
from spor_tasks.results.rows import Comparison
from spor_tasks.results.tables import by_metric


def grids(rows: Sequence[Comparison]) -> Iterator[Grid]:
    """Yield the scores over all splits of a protocol, then those that break them down."""
    title = section_title(rows[0])
    is_main = {row.metric: _place(row)[0] < len(row.spec.reported) for row in rows}
    main = [row for row in rows if is_main[row.metric]]
    further = [row for row in rows if not is_main[row.metric] and row.kind != "published"]
    for name, part in ((title, main), (f"{title}, other scores", further)):
        if part:
            yield by_metric(name, sorted(part, key=_place), _header, _about(part, rows))


def _place(row: Comparison) -> tuple[int, int]:
    """Return where a score stands: after the main score that it is a half of, or at the end."""
    reported, (name, group) = row.spec.reported, row.spec.score(row.metric)
    at = reported.index(name) if name in reported and group != GAP else len(reported)
    return at, row.spec.displayed.index(row.metric)


def _header(row: Comparison) -> str:
    name, group = row.spec.score(row.metric)
    groups = {"id": ", i.d.", "comp": ", comp.", GAP: ", comp. − i.d."}
    return f"{row.spec.scores[name].label}{groups.get(group, '')}"


def _about(part: Sequence[Comparison], rows: Sequence[Comparison]) -> Iterator[str]:
    """Yield a word on how splits were put together, and on the scores of a table."""
    headers = " ".join({_header(row) for row in part}).lower()
    splits = max(row.size.splits for row in rows)
    yield _together(rows[0].spec.name, splits)
    if splits > 1 and "dist" in headers:
        yield "Dist: the mean of the splits' own"
    if "gap" in headers:
        yield "gap: how much lower comp. is, in % of i.d."
    if "same values" in headers:
        yield (
            "gap, same values: in points, with i.d. texts weighed to ask for the values of comp. "
            "ones"
        )
    if "acc" in headers:
        yield _without_codes(rows)
    if any(row.kind == "published" for row in part):
        yield "published: other splits and other classifiers"


def _together(name: SetName, number: int) -> str:
    """Return which splits of the protocol are put together; empty if it has only one."""
    splits = max(1, len(sets.split_names(name.corpus, name.protocol)), number)
    if splits == 1:
        return ""
    return (
        f"{number} of {splits} splits" if 0 < number < splits else f"all {splits} splits together"
    )


def _without_codes(rows: Sequence[Comparison]) -> str:
    """Return what a system scores that ignores what is asked, under all shipped splits."""
    accuracies = [splits.without_codes(split) for split in sets.shipped(rows[0].spec.name)]
    means = [fmean(half) for half in zip(*accuracies, strict=True)]
    if not means or math.isnan(means[1]):
        return ""
    return (
        f"a system that writes like its training texts, whatever is asked, has an accuracy of "
        f"{means[0]:.1f} i.d., {means[1]:.1f} comp."
    )
