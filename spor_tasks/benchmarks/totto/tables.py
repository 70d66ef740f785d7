"""The tables of ToTTo: each score, its halves and their gap, beside what was published."""

from collections.abc import Callable, Iterator, Sequence

from spor_tasks.results.facts import GAP
from spor_tasks.results.grid import Grid, full_title, section_title
from spor_tasks.results.rows import Comparison
from spor_tasks.results.tables import by_metric

_PUBLISHED = ("totto_bleu", "totto_parent")
_REAL = ("totto_bleu_real", "totto_parent_real")
_REAL_REFERENCES = "real references"
_FURTHER: tuple[str, ...] = ()  # all scores that no other table has
_TABLES = (
    ("", "references padded to three, as published", _PUBLISHED),
    (_REAL_REFERENCES, "without the pads", _REAL),
    ("other scores", "ours without the pads", _FURTHER),
)


def grids(rows: Sequence[Comparison]) -> Iterator[Grid]:
    """Yield the paper's results of each input, other scores, and its ablation of the inputs.

    The ablation is without published systems that have only one input.
    """
    parts = {row.part: row for row in rows if row.kind != "published"}
    for part, first in parts.items():
        yield from _tables(full_title(first), [row for row in rows if row.part == part], _header)
    if len(parts) > 1:
        several = {row.name for row in rows if row.kind == "published" and row.part}
        compared = [row for row in rows if row.kind != "published" or row.name in several]
        inputs = {row.part: row.spec.part_title or "subtable" for row in compared}
        yield from _tables(
            f"{section_title(rows[0])}, by input",
            [row for row in compared if row.metric in (*_PUBLISHED, *_REAL)],
            lambda row: f"{_header(row)}, {inputs[row.part]}",
        )


def _tables(
    title: str, rows: Sequence[Comparison], header: Callable[[Comparison], str]
) -> Iterator[Grid]:
    """Yield tables in which halves and their gap follow the score of all samples."""
    ordered = sorted(rows, key=_place)
    for name, about, scores in _TABLES:
        if part := [row for row in ordered if _scores_of_table(row) == scores]:
            yield by_metric(_named(title, name), part, header, _about(about, part))


def _place(row: Comparison) -> tuple[int, int]:
    scores = row.spec.displayed
    return scores.index(row.spec.score(row.metric).name), scores.index(row.metric)


def _scores_of_table(row: Comparison) -> tuple[str, ...]:
    name = row.spec.score(row.metric).name
    return next((scores for _, _, scores in _TABLES if name in scores), _FURTHER)


def _header(row: Comparison) -> str:
    name, group = row.spec.score(row.metric)
    label = row.spec.scores[name].label.removesuffix(f", {_REAL_REFERENCES}")
    return _named(label, "non-overlap" if group == "nonoverlap" else group)


def _named(*parts: str) -> str:
    return ", ".join(filter(None, parts))


def _about(about: str, rows: Sequence[Comparison]) -> Iterator[str]:
    """Yield a word on the references, the gap and the published rows."""
    yield about
    if any(row.spec.score(row.metric).group == GAP for row in rows):
        yield "gap: non-overlap − overlap"
    if any(row.kind == "published" for row in rows):
        yield "ours of the development set, the published rows of the hidden test set"
